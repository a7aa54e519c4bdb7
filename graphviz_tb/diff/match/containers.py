"""Match scopes from the bottom up: two correspond if most of their contents are matched (GumTree's containers)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np

from graphviz_tb.diff.columns.side import GraphColumns, Scopes
from graphviz_tb.diff.columns.values import base_name
from graphviz_tb.diff.match.by_name import match_from_roots, match_whole, nodes_by_leaf
from graphviz_tb.diff.match.matching import Findings, Matching, Reason, node_pairs, scope_pairs
from graphviz_tb.limits import MAX_FOLLOWED_PLACES
from graphviz_tb.model.columns import Ints, distinct_values, exists

MIN_COMMON_SHARE = 0.5  # GumTree's minDice


def match_containers(m: Matching) -> Findings:
    """Match unmatched scopes by the share of matched descendants, deepest first, then their contents by name."""
    rows_a, rows_b = _free_scopes(m)
    if not len(rows_a) or not len(rows_b):
        return
    free = FreeScopes(m, rows_b[exists(m.b.scopes.parent[rows_b])])
    made: dict[int, int] = {}
    # Deepest first: a scope and the only scope in it have equal nodes, and the inner scopes are partners.
    for old in rows_a[np.argsort(-m.a.scopes.depth[rows_a], kind="stable")].tolist():
        best = free.best_scope(old)
        if best is not None and free.is_around_inner(old, best, made):
            free.take(best)
            made[old] = best
    yield scope_pairs(list(made.items()), Reason.CONTENT)
    yield from match_from_roots(m, list(made.items()))


class FreeScopes:
    """The unmatched scopes of the new graph.

    Nested scopes with equal nodes, of which there may be thousands, have equal shares. They are a run, identified by
    its outermost row; `left` has the free rows of a run, the deepest last.
    """

    def __init__(self, m: Matching, rows: Ints) -> None:
        self.m = m
        self.first_a, self.first_b = _runs(m.a.scopes).tolist(), _runs(m.b.scopes).tolist()
        self.free: set[int] = set(rows.tolist())
        self.left: dict[int, list[int]] = defaultdict(list)
        self.named: dict[tuple[int, str], list[int]] = defaultdict(list)  # `left`, by last segment of the name too
        for row in rows.tolist():
            self.left[self.first_b[row]].append(row)
            self.named[self.first_b[row], m.b.scopes.leaf[row]].append(row)
        self.known: dict[int, list[tuple[float, int]]] = {}

    def take(self, row: int) -> None:
        """Mark a scope as matched."""
        self.free.discard(row)

    def best_scope(self, old: int) -> int | None:
        """Return the free scope with the largest share of nodes in common with `old`; None if no share is enough."""
        leaf, depth = self.m.a.scopes.leaf[old], self.m.b.scopes.depth
        run = self.first_a[old]
        if run not in self.known:
            self.known[run] = self.shares_by_run(run)
        # By share, then by equal last segment, then the deepest, then the first row.
        best = (0.0, False, 0, 0)
        for share, first in self.known[run]:
            if share < best[0]:
                break
            named_row = self.last_free(self.named.get((first, leaf), []))
            row = self.last_free(self.left[first]) if named_row is None else named_row
            if row is not None:
                best = max(best, (share, named_row is not None, int(depth[row]), -row))
        return -best[3] if best[0] else None

    def is_around_inner(self, old: int, new: int, made: Mapping[int, int]) -> bool:
        """Return whether `new` encloses the partner of the only scope in `old`, or `old` has no such scope. Otherwise
        the move of the content would be reported twice."""
        inner = made.get(old + 1, -1) if self.first_a[old + 1 : old + 2] == [self.first_a[old]] else -1
        if not exists(inner):
            return True
        parent = self.m.b.scopes.parent
        return self.first_b[new] == self.first_b[inner] or new in (parent[inner], parent[self.first_b[inner]])

    def shares_by_run(self, old: int) -> list[tuple[float, int]]:
        """Return the runs with enough nodes in common with an old scope, best first: Dice coefficient and run."""
        a, b = self.m.a.scopes, self.m.b.scopes
        partners = self.m.to_b[a.nodes(old)]
        partners = partners[exists(partners)]
        size, rows = a.size(old), np.sort(b.of_node[partners])
        # A scope of more nodes cannot reach the share, even with all partners.
        runs = self.runs_around(distinct_values(rows), 2 * len(rows) / MIN_COMMON_SHARE - size)
        # The rows under a scope are one run: count the partners in it.
        shared = np.searchsorted(rows, b.end[runs]) - np.searchsorted(rows, runs)
        share = 2 * shared / (size + b.node_start[b.end[runs]] - b.node_start[runs])
        enough = share >= MIN_COMMON_SHARE
        return sorted(zip(share[enough].tolist(), runs[enough].tolist(), strict=True), reverse=True)

    def runs_around(self, rows: Ints, most: float) -> Ints:
        """Return the runs of unmatched scopes that are or enclose some rows, of up to `most` nodes."""
        b = self.m.b.scopes
        seen: set[int] = set()
        for row in rows.tolist():
            run = self.first_b[row]
            # Runs around a seen run were seen too.
            while run not in seen and b.size(run) <= most:
                seen.add(run)
                around = int(b.parent[run])
                if not exists(around):
                    break
                run = self.first_b[around]
        found = sorted(run for run in seen if run in self.left)
        return np.array(found, np.int32)

    def last_free(self, rows: list[int]) -> int | None:
        """Return the last of some rows that is still free."""
        while rows and rows[-1] not in self.free:
            rows.pop()
        return rows[-1] if rows else None


def _runs(scopes: Scopes) -> Ints:
    """Return for each scope the outermost scope with the same nodes."""
    sizes, rows = scopes.sizes(), np.arange(len(scopes), dtype=np.int32)
    # In preorder, the only scope in a scope comes right after it.
    same = np.concatenate(([False], (scopes.parent[1:] == rows[:-1]) & (sizes[1:] == sizes[:-1])))
    return np.maximum.accumulate(np.where(same, 0, rows)).astype(np.int32)


def _free_scopes(m: Matching) -> tuple[Ints, Ints]:
    """Return the scopes of compared blocks without a partner, old and new."""
    old, new = m.block_pair()
    in_a = ~exists(m.scope_to_b) & exists(old[m.a.scopes.block])
    in_b = ~exists(m.scope_to_a) & exists(new[m.b.scopes.block])
    return np.flatnonzero(in_a).astype(np.int32), np.flatnonzero(in_b).astype(np.int32)


def match_wrapped(m: Matching) -> Findings:
    """Match a block with a scope of the other side that has the same content: all of it was wrapped, or unwrapped."""
    a, b = m.a, m.b
    for root in a.scopes.roots:
        other = int(m.scope_to_b[root])
        if not exists(other):
            continue
        inner = (_is_same_inside(a, root, b, other), _is_same_inside(b, other, a, root))
        if exists(inner[0]):
            yield from match_whole(m, root, inner[0], Reason.SUBTREE)
        elif exists(inner[1]):
            yield from match_whole(m, inner[1], other, Reason.SUBTREE)
        # If the content was edited too: the scope with nearly all nodes, and nearly the same names.
        elif exists(around := _scope_around_all(a, root, b, other)):
            yield from match_from_roots(m, [(root, around)])
        elif exists(around := _scope_around_all(b, other, a, root)):
            yield from match_from_roots(m, [(around, other)])


def _scope_around_all(side: GraphColumns, root: int, partner: GraphColumns, other: int) -> int:
    """Return the scope with nearly all nodes of `other` whose children have mostly the names of those of `root`; -1 for
    none, or if `root` has such a scope itself."""
    if exists(_innermost_holder(side, root)):
        return -1
    found, below = -1, other
    while exists(below := _innermost_holder(partner, below)):
        found = below
        names, there = _uncounted_children(side, root), _uncounted_children(partner, found)
        if names and 2 * len(names & there) >= len(names | there):
            return found
    return -1


def _innermost_holder(side: GraphColumns, row: int) -> int:
    """Return the child of a scope that has at least 90 % of its nodes, -1 for none."""
    scopes = side.scopes
    least = 0.9 * scopes.size(row)
    return next((child for child in scopes.children(row) if scopes.size(child) >= max(least, 1)), -1)


def _uncounted_children(side: GraphColumns, row: int) -> set[str]:
    """Return the last segments, without counters, of the direct children of a scope."""
    scopes = side.scopes
    leaves = [scopes.leaf[child] for child in scopes.children(row)]
    leaves += [scopes.node_leaf[node] for node in scopes.own_nodes(row).tolist()]
    return set(map(base_name, leaves))


def _is_same_inside(side: GraphColumns, root: int, partner: GraphColumns, other: int) -> int:
    """Return a scope below `other` with content equal to that of `root` and most nodes of `other`; -1 for none."""
    scopes = partner.scopes
    same = (
        other
        + 1
        + np.flatnonzero(partner.exact_scope_hashes[other + 1 : scopes.end[other]] == side.exact_scope_hashes[root])
    )
    # More than half: a large graph that contains a copy of a small one does not wrap it.
    most = (row for row in same.tolist() if 2 * scopes.size(row) > scopes.size(other))
    return next(most, -1)


def match_followers(m: Matching) -> Findings:
    """Match the remaining nodes of a scope with nodes of equal name and op in the scope where their siblings went."""
    # Free nodes by new scope, cached: the nodes of thousands of scopes may have moved there.
    free_by_scope: dict[int, tuple[dict[str, int], dict[str, int]]] = {}
    for old, new in _ways_between_scopes(m):
        if new not in free_by_scope:
            rows = [row for row in m.b.scopes.children(new) if not exists(m.scope_to_a[row])]
            free = nodes_by_leaf(m.b, m.b.scopes.own_nodes(new), m.to_a)
            free_by_scope[new] = free, {m.b.scopes.leaf[row]: row for row in rows}
        there_b, inside = free_by_scope[new]
        there_a = nodes_by_leaf(m.a, m.a.scopes.own_nodes(old), m.to_b)
        same_name = [(node, there_b[leaf]) for leaf, node in there_a.items() if leaf in there_b]
        same_op = [(node, other) for node, other in same_name if m.a.labels.op[node] == m.b.labels.op[other]]
        yield node_pairs(same_op, Reason.NAME)
        scopes = []
        for row in m.a.scopes.children(old):
            other = inside.get(m.a.scopes.leaf[row], -1)
            if exists(other) and m.free_scopes(row, other):
                scopes.append((row, other))
        yield scope_pairs(scopes, Reason.NAME)
        yield from match_from_roots(m, scopes)


def _ways_between_scopes(m: Matching) -> list[tuple[int, int]]:
    """Return pairs of scopes that are not partners but share matched children, most children first."""
    a, b = m.a.scopes, m.b.scopes
    old, new = m.matched_pairs()
    rows = np.flatnonzero(exists(m.scope_to_b) & exists(a.parent))
    # The scopes around matched nodes and scopes on either side; `away` where these are no partners.
    old_scopes = np.concatenate((a.of_node[old], a.parent[rows])).astype(np.int64)
    new_scopes = np.concatenate((b.of_node[new], b.parent[m.scope_to_b[rows]])).astype(np.int64)
    moved = (m.scope_to_b[old_scopes] != new_scopes) & exists(new_scopes)
    pairs, counts = np.unique(np.stack((old_scopes[moved], new_scopes[moved])), axis=1, return_counts=True)
    has_free = _has_free_children(m)
    ways: list[tuple[int, int]] = []
    places: Counter[int] = Counter()
    for number in np.argsort(-counts, kind="stable").tolist():
        old_scope, new_scope = int(pairs[0, number]), int(pairs[1, number])
        # Most children first, so that the limit only drops pairs with few of them.
        if has_free[old_scope] and places[old_scope] < MAX_FOLLOWED_PLACES:
            places[old_scope] += 1
            ways.append((old_scope, new_scope))
    return ways


def _has_free_children(m: Matching) -> np.ndarray:
    """Return which old scopes have free children."""
    a = m.a.scopes
    free = np.zeros(len(a), bool)
    free[a.of_node[~exists(m.to_b)]] = True
    rows = np.flatnonzero(~exists(m.scope_to_b) & exists(a.parent))
    free[a.parent[rows]] = True
    return free
