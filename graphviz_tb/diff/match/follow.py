"""Content that went elsewhere as a whole: into a new scope, out of an old one."""

from __future__ import annotations

from collections import Counter

import numpy as np

from graphviz_tb.diff.columns.hashing import joined
from graphviz_tb.diff.columns.side import Side
from graphviz_tb.diff.match.by_name import by_leaf, descend, match_whole
from graphviz_tb.diff.match.matching import Matching, Reason
from graphviz_tb.model.columns import Ints

SHARE = 0.5
MOST_PLACES = 8  # scopes that the content of one may have gone to


def wrapped(m: Matching, whole: bool = False) -> None:
    """Match the content of a block with that of one scope of the other side: everything went into it, or out of it.

    The scope must hold the same, or (unless `whole`), where most of the block found no partner, most of the same
    names and ops.
    """
    for block, other in blocks(m):
        old, new = m.a.scopes.roots[block], m.b.scopes.roots[other]
        if m.a.exact[old] == m.b.exact[new]:
            continue
        inner = inner_scope(m.a, old, m.b, new, m.to_b, m.scope_to_a, whole)
        if inner >= 0:
            went(m, old, inner)
            continue
        inner = inner_scope(m.b, new, m.a, old, m.to_a, m.scope_to_b, whole)
        if inner >= 0:
            went(m, inner, new)


def blocks(m: Matching) -> list[tuple[int, int]]:
    """The pairs of blocks that are matched."""
    roots = np.array(m.a.scopes.roots)
    partner = m.scope_to_b[roots]
    held = np.flatnonzero(partner >= 0)
    return list(zip(held.tolist(), m.b.scopes.block[partner[held]].tolist(), strict=True))


def went(m: Matching, old: int, new: int) -> None:
    """Match what is in two scopes that are not one."""
    if m.a.exact[old] == m.b.exact[new]:
        match_whole(m, old, new, Reason.SUBTREE)
    else:
        descend(m, [(old, new)])


def inner_scope(one: Side, root: int, two: Side, other: int, partner: Ints, taken: Ints, whole: bool) -> int:
    """The free scope below `other` that the content of `root` is in; -1 for none."""
    rows = np.arange(other + 1, int(two.scopes.end[other]))
    rows = rows[taken[rows] < 0]
    same = rows[(two.exact[rows] == one.exact[root]) & (2 * two.scopes.sizes()[rows] > two.scopes.size(other))]
    if len(same):
        return int(same[0])
    nodes = one.scopes.nodes(root)
    if whole or not len(nodes) or 2 * int((partner[nodes] < 0).sum()) <= len(nodes):
        return -1
    rows = rows[2 * two.scopes.sizes()[rows] >= len(nodes)]
    mine = joined(one.scopes.below(root, nodes), one.labels.op[nodes])
    scored = []
    for row in rows[:MOST_PLACES].tolist():
        inside = two.scopes.nodes(row)
        shared = int(np.isin(joined(two.scopes.below(row, inside), two.labels.op[inside]), mine).sum())
        scored.append((2 * shared / (len(nodes) + len(inside)), row))
    share, row = max(scored, default=(0.0, -1))
    return row if share > SHARE else -1


def follow(m: Matching) -> None:
    """Match what is left in a scope with what has its name and op where its siblings went.

    Before: some children of a scope are matched with children of another. After: so are those of the same name.
    """
    for old, new in ways(m):
        there_a = by_leaf(m.a, m.a.scopes.own_nodes(old), m.to_b)
        there_b = by_leaf(m.b, m.b.scopes.own_nodes(new), m.to_a)
        for leaf, node in there_a.items():
            other = there_b.get(leaf, -1)
            if other >= 0 and m.a.labels.op[node] == m.b.labels.op[other]:
                m.pair(node, other, Reason.NAME)
        inside = {m.b.scopes.leaf[row]: row for row in m.b.scopes.children(new) if m.scope_to_a[row] < 0}
        made = []
        for row in m.a.scopes.children(old):
            other = inside.get(m.a.scopes.leaf[row], -1)
            if other >= 0 and m.free_scopes(row, other):
                m.pair_scopes(row, other, Reason.NAME)
                made.append((row, other))
        descend(m, made)


def ways(m: Matching) -> list[tuple[int, int]]:
    """From which scopes to which (not their partners) matched children went, most children first."""
    a, b = m.a.scopes, m.b.scopes
    old, new = m.together()
    rows = np.flatnonzero((m.scope_to_b >= 0) & (a.parent >= 0))
    start = np.concatenate((a.of_node[old], a.parent[rows])).astype(np.int64)
    stop = np.concatenate((b.of_node[new], b.parent[m.scope_to_b[rows]])).astype(np.int64)
    away = (m.scope_to_b[start] != stop) & (stop >= 0)
    pairs, counts = np.unique(np.stack((start[away], stop[away])), axis=1, return_counts=True)
    free = free_children(m)
    told: list[tuple[int, int]] = []
    places: Counter[int] = Counter()
    for at in np.argsort(-counts, kind="stable").tolist():
        one, two = int(pairs[0, at]), int(pairs[1, at])
        if free[one] and places[one] < MOST_PLACES:
            places[one] += 1
            told.append((one, two))
    return told


def free_children(m: Matching) -> np.ndarray:
    """Which old scopes have free children."""
    a = m.a.scopes
    told = np.zeros(len(a), bool)
    told[a.of_node[m.to_b < 0]] = True
    rows = np.flatnonzero((m.scope_to_b < 0) & (a.parent >= 0))
    told[a.parent[rows]] = True
    return told
