"""The children of a group along the flow of its data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphviz_tb.algorithms.topological import longest_paths, topological_cut
from graphviz_tb.model.columns import distinct
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import Path, content_rows, owner_row


def along_flow(hierarchy: Hierarchy, path: Path) -> list[list[int]]:
    """The children of the group at `path`, rank by rank.

    After: no data edge leads from a rank to an earlier one, but for those that close a cycle; the children of one
    rank do not feed each other, and are in the order of the file. What has no edge is not in them (`unjoined`).

    >>> from graphviz_tb import load
    >>> from graphviz_tb.proto import GraphDef
    >>> a, b = {"name": "a", "op": "A", "input": ["b"]}, {"name": "b", "op": "B"}
    >>> hierarchy = load(GraphDef(node=[a, b])).hierarchy
    >>> [[hierarchy.name[row] for row in rank] for rank in along_flow(hierarchy, (0,))]
    [['b'], ['a']]
    """
    rows = content_rows(hierarchy, path)
    pairs = data_pairs(hierarchy, owner_row(hierarchy, path))
    joined = {row for pair in pairs for row in pair}
    return ranks([row for row in rows if row in joined], pairs)


def unjoined(hierarchy: Hierarchy, path: Path) -> list[int]:
    """The children of the group at `path` that no data edge joins to another, in the order of the file."""
    joined = {row for pair in data_pairs(hierarchy, owner_row(hierarchy, path)) for row in pair}
    return [row for row in content_rows(hierarchy, path) if row not in joined]


def data_pairs(hierarchy: Hierarchy, owner: int) -> list[tuple[int, int]]:
    """Which children of a group feed which, each pair once."""
    if owner < 0:
        return []
    owned = hierarchy.owned(owner)
    start, stop = hierarchy.edge_from[owned].astype(np.int64), hierarchy.edge_to[owned].astype(np.int64)
    kept = (start >= 0) & (stop >= 0) & (start != stop) & ~hierarchy.graph.control[owned]
    # A pair of rows as one number: sorted and made distinct by numpy, then taken apart.
    return [divmod(pair, 1 << 32) for pair in distinct(start[kept] << 32 | stop[kept]).tolist()]


def ranks(rows: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Put each row one rank below the last that feeds it; where only cycles are left, take the first row."""
    index = {row: number for number, row in enumerate(rows)}
    after: list[list[int]] = [[] for _ in rows]
    for source, target in pairs:
        after[index[source]].append(index[target])
    rank = longest_paths(after, topological_cut(after))
    levels: list[list[int]] = [[] for _ in range(max(rank, default=-1) + 1)]
    for number, row in enumerate(rows):
        levels[rank[number]].append(row)
    return [level for level in levels if level]
