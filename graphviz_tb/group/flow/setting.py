"""State shared by all steps of folding a level."""

from __future__ import annotations

from dataclasses import field

from graphviz_tb.group.flow.box import FlowBox, SymbolTable
from graphviz_tb.group.flow.dag import Dag, WiringKey
from graphviz_tb.group.flow.order import FlowOrder, compute_flow_order
from graphviz_tb.group.flow.words import Vocabulary
from graphviz_tb.limits import MAX_VISITED_BOXES, Meter
from graphviz_tb.model.frozen import dataclass

TARGET_CHILDREN = 16  # boxes that can be taken in at once
MAX_FLOW_DEPTH = 12  # nested groups made by flow


# Extra cost of a region that holds most of its level: in random wiring only a few boxes are peeled off at a time, and
# each further look gives next to nothing. Twelve of 1,600 boxes are still within the budget.
PEELING_COST = 10


def level_budget(boxes: int) -> Meter:
    """Return the budget of a level of so many boxes: each may be looked at once in any case."""
    return Meter(MAX_VISITED_BOXES + boxes)


@dataclass(frozen=True, slots=True, eq=False)
class FoldContext:
    """Limits and caches of one level.

    soft, most   boxes of a group: the aim, and the maximum
    orders       order of each graph
    known        content of equal regions, by tokens
    branches     content and symbols of equal branches, by wiring
    """

    vocabulary: Vocabulary
    symbols: SymbolTable
    budget: Meter
    soft: int = TARGET_CHILDREN
    most: int = 40
    orders: dict[Dag, FlowOrder] = field(default_factory=dict)
    known: dict[tuple[int, ...], tuple[list[FlowBox], list[FlowBox]]] = field(default_factory=dict)
    branches: dict[WiringKey, tuple[list[FlowBox], list[FlowBox], int]] = field(default_factory=dict)

    def order(self, dag: Dag) -> FlowOrder:
        """Return the order of a graph along its flow."""
        order = self.orders.get(dag)
        if order is None:
            order = self.orders[dag] = compute_flow_order(dag)
        return order
