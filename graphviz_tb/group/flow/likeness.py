"""Equal structures between the same neighbours become one stack: towers, experts, heads."""

from __future__ import annotations

from graphviz_tb.group.flow.box import MIN_STACK_OPS, SymbolTable, make_stack
from graphviz_tb.group.flow.dag import Dag, contract_groups

MIN_ALIKE_BOXES = 3  # equal parallel boxes


def stack_same_neighbours(dag: Dag, symbols: SymbolTable) -> Dag:
    """Stack boxes of one symbol that have the same inputs and the same users."""
    alike: dict[tuple[int, tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for index, box in enumerate(dag.boxes):
        # Boxes without edges have no neighbours to compare.
        if box.ops >= MIN_STACK_OPS and (dag.before[index] or dag.after[index]):
            key = (box.symbol, tuple(sorted(dag.before[index])), tuple(sorted(dag.after[index])))
            alike.setdefault(key, []).append(index)
    return contract_groups(
        dag,
        [
            (members, make_stack(symbols, [dag.boxes[index] for index in members], key[0], sideways=True))
            for key, members in alike.items()
            if len(members) >= MIN_ALIKE_BOXES
        ],
    )
