"""The shared state of all steps that fold a level."""

from __future__ import annotations

from dataclasses import field

from graphviz_tb.group.flow.box import FlowBox, SymbolNumbers
from graphviz_tb.group.flow.dag import Dag, Wiring
from graphviz_tb.group.flow.order import FlowOrder, order_of
from graphviz_tb.group.flow.words import Vocabulary
from graphviz_tb.limits import BOXES_LOOKED_AT, Meter
from graphviz_tb.model.frozen import dataclass

SOFT = 16  # boxes that a reader takes in at once
DEEPEST = 12  # groups in groups that are made by flow


# A region that holds most of its level costs more: where only a few boxes are peeled off at a time, as in random
# wiring, each further look gives next to nothing. Twelve of 1,600 boxes are still within the budget.
PEEL = 10


def budget_of(boxes: int) -> Meter:
    """The budget of a level of so many boxes: each may be looked at once, whatever else is."""
    return Meter(BOXES_LOOKED_AT + boxes)


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """`most` boxes may a group open to, `soft` are the aim; `known` remembers the inside of equal regions, `branches`
    that of equal branches and their symbols, `orders` the order of each graph."""

    vocabulary: Vocabulary
    symbols: SymbolNumbers
    budget: Meter
    soft: int = SOFT
    most: int = 40
    orders: dict[Dag, FlowOrder] = field(default_factory=dict)
    known: dict[tuple[int, ...], tuple[list[FlowBox], list[FlowBox]]] = field(default_factory=dict)
    branches: dict[Wiring, tuple[list[FlowBox], list[FlowBox], int]] = field(default_factory=dict)

    def order(self, dag: Dag) -> FlowOrder:
        """The order of a graph along its flow."""
        order = self.orders.get(dag)
        if order is None:
            order = self.orders[dag] = order_of(dag)
        return order
