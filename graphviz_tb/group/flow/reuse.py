"""Names for cycles among PyTorch modules that are no loops: a module that is called again is one scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphviz_tb.algorithms.topological import topological_order
from graphviz_tb.group.flow.box import FlowBox, walk_boxes, walk_groups
from graphviz_tb.limits import MAX_COUNTED_MODULES
from graphviz_tb.model.columns import sorted_value_range
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy


def name_reused_modules(boxes: Iterable[FlowBox], hierarchy: Hierarchy) -> None:
    """Name cycles among modules after the module that is called most often, with the number of calls, in place."""
    loops = [box for box in walk_groups(list(boxes)) if box.how == GroupOrigin.LOOP]
    for box in loops if loops and hierarchy.graph.is_pytorch else ():
        rows = {row.row: row.name for row in walk_boxes(box.members) if row.row >= 0}
        times, row = most_entered_row(hierarchy, list(rows))
        if times > 1:
            box.name = f"{rows[row]} used {times} times"


def most_entered_row(hierarchy: Hierarchy, rows: Sequence[int]) -> tuple[int, int]:
    """Return how often a path of the flow enters one of some rows at most, and the row; (0, -1) if the flow has a
    cycle."""
    place = {
        int(node): row
        for row in rows
        for node in hierarchy.node[row : int(hierarchy.end[row])].tolist()
        if node >= 0  # groups have none
    }
    number = {node: index for index, node in enumerate(place)}
    inputs = [
        [number[source] for source in node_sources(hierarchy, node) if source in number and source != node]
        for node in place
    ]
    after: list[list[int]] = [[] for _ in place]
    for user, sources in enumerate(inputs):
        for source in sources:
            after[source].append(user)
    order = topological_order(after)
    if len(order) < len(after):
        return 0, -1
    around = list(place.values())
    return max(
        ((max_entries(row, order, inputs, around), row) for row in rows[:MAX_COUNTED_MODULES]), key=lambda pair: pair[0]
    )


def node_sources(hierarchy: Hierarchy, node: int) -> list[int]:
    """Return the nodes whose outputs a node takes."""
    graph = hierarchy.graph
    sources: list[int] = graph.source[slice(*sorted_value_range(graph.target, node, node + 1))].tolist()
    return sources


def max_entries(row: int, order: Sequence[int], inputs: Sequence[Sequence[int]], around: Sequence[int]) -> int:
    """Return how often a path enters a row at most.

    `order` is along the flow; node v takes from `inputs[v]` and is in the row `around[v]`.

    >>> max_entries(7, [0, 1, 2], [[], [0], [1]], [7, 8, 7])  # 7 ─▶ 8 ─▶ 7
    2
    """
    entered = [0] * len(around)
    for node in order:
        inside = around[node] == row
        entered[node] = max(
            (entered[source] + (inside and around[source] != row) for source in inputs[node]), default=int(inside)
        )
    return max(entered, default=0)
