"""Names for cycles among PyTorch modules that are no loops: a module that is called again is one scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphviz_tb.algorithms.topological import topological
from graphviz_tb.group.flow.box import FlowBox, groups_of, walk
from graphviz_tb.limits import MODULES_COUNTED
from graphviz_tb.model.columns import span
from graphviz_tb.model.hierarchy import Hierarchy, How


def call_reused(boxes: Iterable[FlowBox], hierarchy: Hierarchy) -> None:
    """Name cycles among modules after the module that is called most often, with the number of calls, in place."""
    loops = [box for box in groups_of(list(boxes)) if box.how == How.LOOP]
    for box in loops if loops and hierarchy.graph.of_pytorch else ():
        rows = {row.row: row.name for row in walk(box.members) if row.row >= 0}
        times, row = most_used(hierarchy, list(rows))
        if times > 1:
            box.name = f"{rows[row]} used {times} times"


def most_used(hierarchy: Hierarchy, rows: Sequence[int]) -> tuple[int, int]:
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
        [number[source] for source in sources_of(hierarchy, node) if source in number and source != node]
        for node in place
    ]
    after: list[list[int]] = [[] for _ in place]
    for user, sources in enumerate(inputs):
        for source in sources:
            after[source].append(user)
    order = topological(after)
    if len(order) < len(after):
        return 0, -1
    around = list(place.values())
    return max(((entries(row, order, inputs, around), row) for row in rows[:MODULES_COUNTED]), key=lambda pair: pair[0])


def sources_of(hierarchy: Hierarchy, node: int) -> list[int]:
    """Return the nodes whose outputs a node takes."""
    graph = hierarchy.graph
    sources: list[int] = graph.source[slice(*span(graph.target, node, node + 1))].tolist()
    return sources


def entries(row: int, order: Sequence[int], inputs: Sequence[Sequence[int]], around: Sequence[int]) -> int:
    """Return how often a path enters a row at most.

    `order` is along the flow; node v takes from `inputs[v]` and is in the row `around[v]`.

    >>> entries(7, [0, 1, 2], [[], [0], [1]], [7, 8, 7])  # 7 ─▶ 8 ─▶ 7
    2
    """
    entered = [0] * len(around)
    for node in order:
        inside = around[node] == row
        entered[node] = max(
            (entered[source] + (inside and around[source] != row) for source in inputs[node]), default=int(inside)
        )
    return max(entered, default=0)
