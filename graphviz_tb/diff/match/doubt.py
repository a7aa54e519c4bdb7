"""Graphs that have little in common: what went elsewhere on thin evidence is not the same after all."""

from __future__ import annotations

import numpy as np

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.match.found import Apart, Findings
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.columns import Bools

UNRELATED = "unrelated"  # the code of the notice
LITTLE = 0.4  # share of the smaller graph that is matched


def doubt(m: Matching) -> Findings:
    """Take back matches that lead from scope to scope, if the graphs are unrelated.

    After: of two graphs with little in common only what is at the same place is matched.
    """
    matched = int(exists(m.to_b).sum())
    if matched >= LITTLE * min(len(m.a), len(m.b)):
        return
    moved = moved_scopes(m)
    nodes, partners = m.together()
    away = nodes[moved[m.a.scopes.of_node[nodes]] | ~m.parents_match(nodes, partners)]
    yield Apart(away, np.flatnonzero(moved).astype(np.int32))
    m.note(UNRELATED, "the graphs have little in common: nothing was followed from scope to scope")


def moved_scopes(m: Matching) -> Bools:
    """Return the old scopes that are, or are inside, a scope that was matched with a scope elsewhere."""
    a, b = m.a.scopes, m.b.scopes
    moved = np.zeros(len(a), bool)
    # Rows are in preorder: a parent is decided before its children.
    for row, parent in enumerate(a.parent.tolist()):
        partner = int(m.scope_to_b[row])
        if not exists(parent):
            continue
        elsewhere = exists(partner) and m.scope_to_b[parent] != b.parent[partner]
        moved[row] = moved[parent] or elsewhere
    return moved
