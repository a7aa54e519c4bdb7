"""Content that went elsewhere as a whole: into a new scope, out of an old one."""

from __future__ import annotations

from collections import Counter

import numpy as np

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.by_name import by_leaf, descend, match_whole
from graphviz_tb.diff.match.by_variable import NUMBER
from graphviz_tb.diff.match.found import Findings, Reason, nodes, scopes
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.limits import MAX_FOLLOWED_PLACES


def wrapped(m: Matching) -> Findings:
    """Match the content of a block with that of a scope of the other side that holds the same: all went into it, or
    out of it."""
    a, b = m.a, m.b
    for root in a.scopes.roots:
        other = int(m.scope_to_b[root])
        if not exists(other):
            continue
        # What the block held may be in a scope now (a model was wrapped), or the other way round.
        inner = (same_inside(a, root, b, other), same_inside(b, other, a, root))
        if exists(inner[0]):
            yield from match_whole(m, root, inner[0], Reason.SUBTREE)
        elif exists(inner[1]):
            yield from match_whole(m, inner[1], other, Reason.SUBTREE)
        # With edits in it, it is the scope that holds nearly all, under nearly the same names.
        elif exists(around := scope_around_all(a, root, b, other)):
            yield from descend(m, [(root, around)])
        elif exists(around := scope_around_all(b, other, a, root)):
            yield from descend(m, [(around, other)])


def scope_around_all(side: GraphColumns, root: int, partner: GraphColumns, other: int) -> int:
    """Return the scope below `other` that holds nearly all of it, where most names in it are those below `root`, which
    has no such scope; -1 for none."""
    if exists(holding_all(side, root)):
        return -1
    found, below = -1, other
    while exists(below := holding_all(partner, below)):
        found = below
        names, there = uncounted_children(side, root), uncounted_children(partner, found)
        if names and 2 * len(names & there) >= len(names | there):
            return found
    return -1


def holding_all(side: GraphColumns, row: int) -> int:
    """The scope directly in a scope that holds nine in ten of its nodes, -1 for none."""
    scopes = side.scopes
    least = 0.9 * scopes.size(row)
    return next((child for child in scopes.children(row) if scopes.size(child) >= max(least, 1)), -1)


def uncounted_children(side: GraphColumns, row: int) -> set[str]:
    """The last segments, without counted numbers, of what is directly in a scope."""
    scopes = side.scopes
    leaves = [scopes.leaf[child] for child in scopes.children(row)]
    leaves += [scopes.node_leaf[node] for node in scopes.own_nodes(row).tolist()]
    return {NUMBER.sub("", leaf) for leaf in leaves}


def same_inside(side: GraphColumns, root: int, partner: GraphColumns, other: int) -> int:
    """Return the scope below `other`, with most of its nodes, whose content equals that of `root`; -1 for none."""
    scopes = partner.scopes
    same = other + 1 + np.flatnonzero(partner.exact[other + 1 : scopes.end[other]] == side.exact[root])
    # More than half of it: a copy of a small graph inside a large one is no wrapping.
    most = (row for row in same.tolist() if 2 * scopes.size(row) > scopes.size(other))
    return next(most, -1)


def follow(m: Matching) -> Findings:
    """Match nodes that are left in a scope with nodes of the same name and op where their siblings went.

    Before: some children of a scope are matched with children of another. After: so are those of the same name.
    """
    # What was free in each new scope, looked at once: all of a graph may have gone there, from thousands of scopes.
    known: dict[int, tuple[dict[str, int], dict[str, int]]] = {}
    for old, new in ways(m):
        if new not in known:
            rows = [row for row in m.b.scopes.children(new) if not exists(m.scope_to_a[row])]
            free = by_leaf(m.b, m.b.scopes.own_nodes(new), m.to_a)
            known[new] = free, {m.b.scopes.leaf[row]: row for row in rows}
        there_b, inside = known[new]
        there_a = by_leaf(m.a, m.a.scopes.own_nodes(old), m.to_b)
        same = [(node, there_b[leaf]) for leaf, node in there_a.items() if leaf in there_b]
        alike = [(node, other) for node, other in same if m.a.labels.op[node] == m.b.labels.op[other]]
        yield nodes(alike, Reason.NAME)
        made = []
        for row in m.a.scopes.children(old):
            other = inside.get(m.a.scopes.leaf[row], -1)
            if exists(other) and m.free_scopes(row, other):
                made.append((row, other))
        yield scopes(made, Reason.NAME)
        yield from descend(m, made)


def ways(m: Matching) -> list[tuple[int, int]]:
    """From which scopes to which (not their partners) matched children went, most children first."""
    a, b = m.a.scopes, m.b.scopes
    old, new = m.together()
    rows = np.flatnonzero(exists(m.scope_to_b) & exists(a.parent))
    # The scopes around matched nodes and scopes on either side; `away` where those are not matched with one another.
    start = np.concatenate((a.of_node[old], a.parent[rows])).astype(np.int64)
    stop = np.concatenate((b.of_node[new], b.parent[m.scope_to_b[rows]])).astype(np.int64)
    away = (m.scope_to_b[start] != stop) & exists(stop)
    pairs, counts = np.unique(np.stack((start[away], stop[away])), axis=1, return_counts=True)
    free = has_free_children(m)
    ways: list[tuple[int, int]] = []
    places: Counter[int] = Counter()
    for number in np.argsort(-counts, kind="stable").tolist():
        mine, other = int(pairs[0, number]), int(pairs[1, number])
        # Most children first, so that the bound leaves out only where few of them went.
        if free[mine] and places[mine] < MAX_FOLLOWED_PLACES:
            places[mine] += 1
            ways.append((mine, other))
    return ways


def has_free_children(m: Matching) -> np.ndarray:
    """Which old scopes have free children."""
    a = m.a.scopes
    free = np.zeros(len(a), bool)
    free[a.of_node[~exists(m.to_b)]] = True
    rows = np.flatnonzero(~exists(m.scope_to_b) & exists(a.parent))
    free[a.parent[rows]] = True
    return free
