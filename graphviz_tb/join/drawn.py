"""The rows at which something of the graph is shown: marks are shown at the group that holds them."""

from __future__ import annotations

from collections.abc import Iterable

from graphviz_tb.model.hierarchy import Hierarchy


def drawn_row(hierarchy: Hierarchy, row: int) -> int:
    """Return the nearest row that is drawn as a box: the row itself, or the group that holds a mark. A mark outside of
    all groups is shown alone."""
    box = row
    while box > 0 and hierarchy.mark[box]:
        box = int(hierarchy.parent[box])
    return box if box > 0 else row


def rows_of_nodes(hierarchy: Hierarchy, nodes: Iterable[int]) -> tuple[int, ...]:
    """The rows at which nodes are shown, each once, in the order of the hierarchy."""
    rows = {drawn_row(hierarchy, int(hierarchy.row_of_node[node])) for node in nodes}
    return tuple(sorted(row for row in rows if row > 0))
