"""Children of a group in the order of its data flow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphviz_tb.algorithms.topological import longest_path_lengths, topological_order_with_cycles
from graphviz_tb.model.columns import distinct_values
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import RowPath, content_rows, owner_row


def children_in_ranks(hierarchy: Hierarchy, path: RowPath) -> list[list[int]]:
    """Return the children of the group at `path`, rank by rank.

    No data edge leads from a rank to an earlier one, except those that close a cycle. The children of one rank do not
    feed each other and keep file order. Children without data edges are left out (see `unconnected_children`).

    >>> from graphviz_tb import load
    >>> from graphviz_tb.proto import GraphDef
    >>> a, b = {"name": "a", "op": "A", "input": ["b"]}, {"name": "b", "op": "B"}
    >>> hierarchy = load(GraphDef(node=[a, b])).hierarchy
    >>> [[hierarchy.name[row] for row in rank] for rank in children_in_ranks(hierarchy, (0,))]
    [['b'], ['a']]
    """
    rows = content_rows(hierarchy, path)
    pairs = child_data_pairs(hierarchy, owner_row(hierarchy, path))
    joined = {row for pair in pairs for row in pair}
    return rank_rows([row for row in rows if row in joined], pairs)


def unconnected_children(hierarchy: Hierarchy, path: RowPath) -> list[int]:
    """Return the children of the group at `path` without data edges to siblings, in file order."""
    joined = {row for pair in child_data_pairs(hierarchy, owner_row(hierarchy, path)) for row in pair}
    return [row for row in content_rows(hierarchy, path) if row not in joined]


def child_data_pairs(hierarchy: Hierarchy, owner: int) -> list[tuple[int, int]]:
    """Return the pairs (source, target) of children of a group joined by data edges, each once."""
    if owner < 0:
        return []
    owned = hierarchy.owned_edges(owner)
    start, stop = hierarchy.edge_from[owned].astype(np.int64), hierarchy.edge_to[owned].astype(np.int64)
    kept = (start >= 0) & (stop >= 0) & (start != stop) & ~hierarchy.graph.control[owned]
    # Encode each pair as one number, so that numpy can sort and deduplicate them.
    return [divmod(pair, 1 << 32) for pair in distinct_values(start[kept] << 32 | stop[kept]).tolist()]


def rank_rows(rows: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Put each row one rank below the last row that feeds it; break cycles at their first row."""
    index = {row: number for number, row in enumerate(rows)}
    after: list[list[int]] = [[] for _ in rows]
    for source, target in pairs:
        after[index[source]].append(index[target])
    rank = longest_path_lengths(after, topological_order_with_cycles(after))
    levels: list[list[int]] = [[] for _ in range(max(rank, default=-1) + 1)]
    for number, row in enumerate(rows):
        levels[rank[number]].append(row)
    return [level for level in levels if level]
