"""What is left: the nearest pairs inside matched scopes, and nodes that kept their name but not their op type."""

from __future__ import annotations

from collections import defaultdict

from graphviz_tb.diff.columns.side import Side
from graphviz_tb.diff.match.matching import Matching, Reason

MOST = 4_096  # pairs that are compared in one scope
ENOUGH = 6  # points that make a pair


def same_names(m: Matching) -> None:
    """Match free nodes of one name in matched scopes whose op types differ."""
    for mine, others in free_by_scope(m):
        there = {m.b.scopes.node_leaf[new]: new for new in reversed(others)}
        for old in mine:
            new = there.get(m.a.scopes.node_leaf[old], -1)
            if new >= 0 and m.to_a[new] < 0:
                m.pair(old, new, Reason.SAME_NAME_OTHER_OP)


def assign(m: Matching) -> None:
    """Match what is left in matched scopes, nearest first (a greedy assignment, bounded)."""
    for mine, others in free_by_scope(m):
        if len(mine) * len(others) > MOST:
            where = m.a.scopes.name[int(m.a.scopes.of_node[mine[0]])]
            m.note("assignment-limit", f"{len(mine)} and {len(others)} nodes left in one scope: not compared", where)
            continue
        scored = sorted(
            (-points, old, new) for old in mine for new in others if (points := nearness(m, old, new)) >= ENOUGH
        )
        for _, old, new in scored:
            if m.to_b[old] < 0 and m.to_a[new] < 0:
                m.pair(old, new, Reason.ASSIGNED)


def free_by_scope(m: Matching) -> list[tuple[list[int], list[int]]]:
    """The free nodes of each pair of matched scopes, where both sides have some."""
    free_a, free_b = m.left()
    inside: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for node, scope in zip(free_a.tolist(), m.scope_to_b[m.a.scopes.of_node[free_a]].tolist(), strict=True):
        if scope >= 0:
            inside[scope][0].append(node)
    for node, scope in zip(free_b.tolist(), m.b.scopes.of_node[free_b].tolist(), strict=True):
        inside[scope][1].append(node)
    return [pair for _, pair in sorted(inside.items()) if pair[0] and pair[1]]


def nearness(m: Matching, old: int, new: int) -> int:
    """How much speaks for two free nodes being one: op 4, attributes 1, inputs and users in common 2 each."""
    same_op = m.a.labels.op[old] == m.b.labels.op[new]
    points = 4 * int(same_op) + int(m.a.node_label[old] == m.b.node_label[new])
    for of_a, of_b in ((feeds(m.a, old), feeds(m.b, new)), (users(m.a, old), users(m.b, new))):
        mapped = {(int(m.to_b[node]), where) for node, where in of_a}
        shared = len(mapped & of_b)
        if shared:
            points += 2 if shared < max(len(of_a), len(of_b)) else 3
    return points


def feeds(side: Side, node: int) -> set[tuple[int, int]]:
    """What comes in, and where."""
    edges = side.in_edges(node)
    return set(zip(side.graph.source[edges].tolist(), side.edge_hash[edges].tolist(), strict=True))


def users(side: Side, node: int) -> set[tuple[int, int]]:
    """Who uses it, and where."""
    edges = side.out_edges(node)
    return set(zip(side.graph.target[edges].tolist(), side.edge_hash[edges].tolist(), strict=True))
