"""Scopes from the bottom up: two scopes are one when most of what they hold is matched (GumTree's containers)."""

from __future__ import annotations

import numpy as np

from graphviz_tb.diff.columns.ids import exists
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
    free_b = np.zeros(len(m.b.scopes), bool)
    free_b[rows_b] = True
    free_b[list(m.b.scopes.roots)] = False
    made = []
    # The deepest first: a scope and the only scope in it hold the same nodes, and the inner one gets the inner one.
    for old in rows_a[np.argsort(-m.a.scopes.depth[rows_a], kind="stable")].tolist():
        best = best_container(m, old, free_b)
        if best is not None:
            free_b[best] = False
            made.append((old, best))
    yield scopes(made, Reason.CONTENT)
    yield from descend(m, made)


def best_container(m: Matching, old: int, free_b: np.ndarray) -> int | None:
    """The free scope of the new graph that shares most of its nodes with `old`; None where none shares enough."""
    a, b = m.a.scopes, m.b.scopes
    partners = m.to_b[a.nodes(old)]
    partners = partners[exists(partners)]
    if not len(partners):
        return None
    rows = np.sort(b.of_node[partners])
    around = b.around(np.unique(rows))
    free = around[free_b[around]]
    # What is under a scope is one run of rows: so many of the partners are in it.
    shared = np.searchsorted(rows, b.end[free]) - np.searchsorted(rows, free)
    # Dice coefficient, then the same last segment, then the deepest; the least row decides the rest.
    scored = [
        (2 * count / (a.size(old) + b.size(row)), a.leaf[old] == b.leaf[row], int(b.depth[row]), -row)
        for row, count in zip(free.tolist(), shared.tolist(), strict=True)
    ]
    best = max(scored, default=(0.0, False, 0, 0))
    return -best[3] if best[0] >= SHARE else None


def free_scopes(m: Matching) -> tuple[Ints, Ints]:
    """Scopes without a partner whose blocks are compared."""
    old, new = m.block_pair()
    in_a = ~exists(m.scope_to_b) & exists(old[m.a.scopes.block])
    in_b = ~exists(m.scope_to_a) & exists(new[m.b.scopes.block])
    return np.flatnonzero(in_a).astype(np.int32), np.flatnonzero(in_b).astype(np.int32)
