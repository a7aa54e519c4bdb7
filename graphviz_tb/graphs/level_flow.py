"""The flow of one level: its children in the order of their data, and scopes that are called repeatedly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from graphviz_tb.graphs.traversal import (
    longest_path_lengths,
    strong_components,
    topological_order,
    topological_order_with_cycles,
)
from graphviz_tb.model.columns import distinct_values
from graphviz_tb.model.hierarchy import SCOPE_ROW, STACK_KINDS, Hierarchy
from graphviz_tb.model.paths import RowPath, content_rows, owner_row
from graphviz_tb.ops.roles import FRAME_NEXT_OPS

# Children of a group in the order of its data flow.


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
    pairs = _child_data_pairs(hierarchy, owner_row(hierarchy, path))
    joined = {row for pair in pairs for row in pair}
    return _rank_rows([row for row in rows if row in joined], pairs)


def unconnected_children(hierarchy: Hierarchy, path: RowPath) -> list[int]:
    """Return the children of the group at `path` without data edges to siblings, in file order."""
    joined = {row for pair in _child_data_pairs(hierarchy, owner_row(hierarchy, path)) for row in pair}
    return [row for row in content_rows(hierarchy, path) if row not in joined]


def _child_data_pairs(hierarchy: Hierarchy, owner: int) -> list[tuple[int, int]]:
    """Return the pairs (source, target) of children of a group joined by data edges, each once."""
    if owner < 0:
        return []
    owned = hierarchy.owned_edges(owner)
    start, stop = hierarchy.edge_from[owned].astype(np.int64), hierarchy.edge_to[owned].astype(np.int64)
    kept = (start >= 0) & (stop >= 0) & (start != stop) & ~hierarchy.graph.control[owned]
    # Encode each pair as one number, so that numpy can sort and deduplicate them.
    return [divmod(pair, 1 << 32) for pair in distinct_values(start[kept] << 32 | stop[kept]).tolist()]


def _rank_rows(rows: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
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


# Scopes that are called repeatedly, such as modules in a PyTorch trace.
#
# A module called several times is one scope, so the level around it has cycles although the trace has none. Remove the
# scope that is entered most often from its strongly connected component, and repeat until no cycle is left.

MIN_REPEATED_CALLS, MAX_REPEATED_SCOPES = 2, 8  # entries into such a scope; such scopes per level


def repeatedly_called_scopes(hierarchy: Hierarchy, row: int) -> frozenset[int]:
    """Return the scopes of a level that are called most often on its cycles.

    The result does not depend on folding, nor on whether `row` is the group itself or a series or fold in it.
    """
    while hierarchy.kind[row] in STACK_KINDS:
        row = int(hierarchy.parent[row])
    known = hierarchy.called_again.get(row)
    if known is None:
        known = hierarchy.called_again[row] = _find_repeatedly_called(hierarchy, row)
    return known


def _find_repeatedly_called(hierarchy: Hierarchy, row: int) -> frozenset[int]:
    """Find the repeatedly called scopes directly below a scope or function."""
    # A control flow v1 loop is a real cycle.
    if not FRAME_NEXT_OPS.isdisjoint(hierarchy.graph.op_types):
        return frozenset()
    groups, members = [row], []
    for group in groups:  # grows while it is walked through
        children = hierarchy.children(group).tolist()
        groups += [child for child in children if hierarchy.kind[child] in STACK_KINDS]
        members += [child for child in children if hierarchy.kind[child] not in STACK_KINDS]
    scopes = {member for member in members if hierarchy.kind[member] == SCOPE_ROW}
    pairs = _member_data_pairs(hierarchy, groups, sorted(members)) if scopes else []
    called: set[int] = set()
    for _ in range(MAX_REPEATED_SCOPES):
        pairs = [pair for pair in pairs if called.isdisjoint(pair)]
        number = {end: position for position, end in enumerate(sorted({end for pair in pairs for end in pair}))}
        after: list[list[int]] = [[] for _ in number]
        for source, target in pairs:
            after[number[source]].append(number[target])
        if len(topological_order(after)) == len(after):
            break
        component = strong_components(after)
        entries = Counter(target for source, target in pairs if component[number[source]] == component[number[target]])
        repeated = [end for end, times in entries.items() if end in scopes and times >= MIN_REPEATED_CALLS]
        if not repeated:
            break
        called.add(max(repeated, key=lambda end: (entries[end], -end)))
    return frozenset(called)


def _member_data_pairs(hierarchy: Hierarchy, groups: list[int], members: list[int]) -> list[tuple[int, int]]:
    """Return the pairs of `members` (ascending) joined by data edges that `groups` own."""
    graph = hierarchy.graph
    edges = np.concatenate([hierarchy.owned_edges(group) for group in groups])
    edges = edges[(hierarchy.edge_from[edges] >= 0) & (hierarchy.edge_to[edges] >= 0) & ~graph.control[edges]]
    # The member around a node is the last one that starts at or before it.
    rows = np.array(members, np.int64)
    source, target = (
        rows[np.searchsorted(rows, hierarchy.row_of_node[ends[edges]], "right") - 1]
        for ends in (graph.source, graph.target)
    )
    return [divmod(pair, len(hierarchy)) for pair in distinct_values(source * len(hierarchy) + target).tolist()]
