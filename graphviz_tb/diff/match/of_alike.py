"""Of several ops that are alike, the one that came or went is that which is wired as none was.

add = x + a, add_1 = add + b       now       add = a + b: the first is gone, whatever the second is called
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.by_variable import NUMBER
from graphviz_tb.diff.match.found import Apart, Findings, Reason, nodes
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.columns import Ints

ROUNDS = 16  # each exchange frees an op, for which there may be another one
ALIKE = 64  # so many members of a series are looked at one by one
Kind = tuple[int, int, str]  # the scope, the label and the name without its number


def of_alike(m: Matching) -> Findings:
    """Exchange a free op for one of its scope, kind and uncounted name, whose partner is wired more like it."""
    for _ in range(ROUNDS):
        exchanged = _exchanged(m)
        if not exchanged:
            return
        # The old node that had the partner, the one that gets it, and the partner.
        yield Apart(np.array([before for before, _, _ in exchanged if exists(before)], np.int32))
        yield nodes([(old, new) for _, old, new in exchanged], Reason.SPREAD)


def _exchanged(m: Matching) -> list[tuple[int, int, int]]:
    found: list[tuple[int, int, int]] = []
    taken: set[int] = set()
    free_old, free_new = m.left()
    here, there = _alike(m.a, free_old), _alike(m.b, free_new)
    for kind, members in here.items():
        for old in members:
            best = max(
                ((_score(m, old, new) - _score(m, before, new), -before, before, new)
                 for before in _beside(m.a, kind, m.to_b) if exists(new := int(m.to_b[before])) and new not in taken),
                default=None,
            )  # fmt: skip
            if best is not None and best[0] > 0:
                found.append((best[2], old, best[3]))
                taken.add(best[3])
    if found:
        return found
    used: set[int] = set()
    for kind, members in there.items():
        for new in members:
            best = max(
                ((_score(m, old, new) - _score(m, old, after), -after, old, new)
                 for after in _beside(m.b, kind, m.to_a) if exists(old := int(m.to_a[after])) and old not in used),
                default=None,
            )  # fmt: skip
            if best is not None and best[0] > 0:
                found.append((best[2], best[2], best[3]))
                used.add(best[2])
    return found


def _alike(side: GraphColumns, free: Ints) -> dict[Kind, list[int]]:
    kinds: dict[Kind, list[int]] = defaultdict(list)
    for node in free.tolist():
        kinds[_kind(side, node)].append(node)
    return {kind: members for kind, members in kinds.items() if len(members) <= ALIKE}


def _kind(side: GraphColumns, node: int) -> Kind:
    return int(side.scopes.of_node[node]), int(side.node_label[node]), NUMBER.sub("", side.scopes.node_leaf[node])


def _beside(side: GraphColumns, kind: Kind, partner: Ints) -> list[int]:
    """The matched nodes of a kind; none where there are too many."""
    own = side.scopes.own_nodes(kind[0])
    some = own[exists(partner[own]) & (side.node_label[own] == np.uint64(kind[1]))].tolist()
    return [node for node in some if _kind(side, node) == kind] if len(some) <= ALIKE else []


def _score(m: Matching, old: int, new: int) -> int:
    """How many inputs and users two nodes share, at the same places."""
    a, b = m.a.graph, m.b.graph
    taken = {
        (int(a.slot[edge]), int(m.to_b[a.source[edge]])) for edge in m.a.in_edges(old).tolist() if not a.control[edge]
    }
    given = {
        (int(a.slot[edge]), int(m.to_b[a.target[edge]])) for edge in m.a.out_edges(old).tolist() if not a.control[edge]
    }
    inputs = sum((int(b.slot[edge]), int(b.source[edge])) in taken for edge in m.b.in_edges(new).tolist())
    return inputs + sum((int(b.slot[edge]), int(b.target[edge])) in given for edge in m.b.out_edges(new).tolist())
