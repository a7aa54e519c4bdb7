"""Match scopes from the bottom up: two correspond if most of their contents are matched (GumTree's containers)."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.scopes import Scopes
from graphviz_tb.diff.match.by_name import descend
from graphviz_tb.diff.match.found import Findings, Reason, scopes
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.columns import Ints

SHARE = 0.5  # GumTree's minDice


def containers(m: Matching) -> Findings:
    """Match free scopes by the share of matched descendants, the deepest first, then what is in them by name."""
    rows_a, rows_b = free_scopes(m)
    if not len(rows_a) or not len(rows_b):
        return
    free = Free(m, rows_b[exists(m.b.scopes.parent[rows_b])])
    made = []
    # The deepest first: a scope and the only scope in it hold the same nodes, and the inner one gets the inner one.
    for old in rows_a[np.argsort(-m.a.scopes.depth[rows_a], kind="stable")].tolist():
        best = free.best(old)
        if best is not None:
            free.take(best)
            made.append((old, best))
    yield scopes(made, Reason.CONTENT)
    yield from descend(m, made)
    kept = in_place(m)
    yield scopes(kept, Reason.NAME)
    yield from descend(m, kept)


def in_place(m: Matching) -> list[tuple[int, int]]:
    """Free scopes of one name in matched scopes, where all nodes directly in them that have a partner have it there:
    however much came or went in them, they are the same."""
    rows_a, rows_b = free_scopes(m)
    there = {(int(m.b.scopes.parent[row]), m.b.scopes.leaf[row]): row for row in rows_b.tolist()}
    made: dict[int, int] = {}
    for old in rows_a.tolist():  # in preorder: the scope around comes first
        around = int(m.a.scopes.parent[old])
        inside = made.get(around, int(m.scope_to_b[around])) if exists(around) else -1
        new = there.get((inside, m.a.scopes.leaf[old]), -1)
        partners = m.to_b[m.a.scopes.own_nodes(old)]
        partners = partners[exists(partners)]
        if exists(new) and len(partners) and (m.b.scopes.of_node[partners] == new).all():
            made[old] = new
    return list(made.items())


class Free:
    """The free scopes of the new graph, by their contents: of thousands of nested scopes with equal nodes, all have the
    same share of an old one.

    Such scopes are a run of rows, named by its first; `left` has its free rows, the deepest last.
    """

    def __init__(self, m: Matching, rows: Ints) -> None:
        self.m = m
        self.first_a, self.first_b = runs_of(m.a.scopes).tolist(), runs_of(m.b.scopes).tolist()
        self.free: set[int] = set(rows.tolist())
        self.left: dict[int, list[int]] = defaultdict(list)
        self.named: dict[tuple[int, str], list[int]] = defaultdict(list)  # `left`, by last segment of the name too
        for row in rows.tolist():
            self.left[self.first_b[row]].append(row)
            self.named[self.first_b[row], m.b.scopes.leaf[row]].append(row)
        self.known: dict[int, list[tuple[float, int]]] = {}

    def take(self, row: int) -> None:
        """A scope is free no more."""
        self.free.discard(row)

    def best(self, old: int) -> int | None:
        """The free scope that shares most of its nodes with `old`; None where none shares enough."""
        leaf, depth = self.m.a.scopes.leaf[old], self.m.b.scopes.depth
        run = self.first_a[old]
        if run not in self.known:
            self.known[run] = self.shares(run)
        # The share, then the same last segment, then the deepest; the least row decides the rest.
        best = (0.0, False, 0, 0)
        for share, first in self.known[run]:
            if share < best[0]:
                break
            named = self.last(self.named.get((first, leaf), []))
            row = self.last(self.left[first]) if named is None else named
            if row is not None:
                best = max(best, (share, named is not None, int(depth[row]), -row))
        return -best[3] if best[0] else None

    def shares(self, old: int) -> list[tuple[float, int]]:
        """The runs that share enough with an old scope, those that share most first: Dice coefficient, and the run."""
        a, b = self.m.a.scopes, self.m.b.scopes
        partners = self.m.to_b[a.nodes(old)]
        partners = partners[exists(partners)]
        size, rows = a.size(old), np.sort(b.of_node[partners])
        # So large may a scope be that holds all partners.
        runs = self.around(np.unique(rows), 2 * len(rows) / SHARE - size)
        # What is under a scope is one run of rows: so many of the partners are in it.
        shared = np.searchsorted(rows, b.end[runs]) - np.searchsorted(rows, runs)
        share = 2 * shared / (size + b.node_start[b.end[runs]] - b.node_start[runs])
        enough = share >= SHARE
        return sorted(zip(share[enough].tolist(), runs[enough].tolist(), strict=True), reverse=True)

    def around(self, rows: Ints, most: float) -> Ints:
        """The runs with free scopes around some scopes, themselves counted, of no more than so many nodes."""
        b = self.m.b.scopes
        seen: set[int] = set()
        for row in rows.tolist():
            run = self.first_b[row]
            # What is around a run that was seen was seen with it, and is no smaller.
            while run not in seen and b.size(run) <= most:
                seen.add(run)
                around = int(b.parent[run])
                if not exists(around):
                    break
                run = self.first_b[around]
        found = sorted(run for run in seen if run in self.left)
        return np.array(found, np.int32)

    def last(self, rows: list[int]) -> int | None:
        """The last of some rows that is still free."""
        while rows and rows[-1] not in self.free:
            rows.pop()
        return rows[-1] if rows else None


def runs_of(scopes: Scopes) -> Ints:
    """For each scope the outermost one around it that holds the same nodes."""
    sizes, rows = scopes.sizes(), np.arange(len(scopes), dtype=np.int32)
    # In preorder the only scope in another one comes right after it.
    same = np.concatenate(([False], (scopes.parent[1:] == rows[:-1]) & (sizes[1:] == sizes[:-1])))
    return np.maximum.accumulate(np.where(same, 0, rows)).astype(np.int32)


def free_scopes(m: Matching) -> tuple[Ints, Ints]:
    """Scopes without a partner whose blocks are compared."""
    old, new = m.block_pair()
    in_a = ~exists(m.scope_to_b) & exists(old[m.a.scopes.block])
    in_b = ~exists(m.scope_to_a) & exists(new[m.b.scopes.block])
    return np.flatnonzero(in_a).astype(np.int32), np.flatnonzero(in_b).astype(np.int32)
