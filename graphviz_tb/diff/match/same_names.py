"""What kept its name in a matched scope but not its op type."""

from __future__ import annotations

from collections import defaultdict

from graphviz_tb.diff.match.matching import Matching, Reason


def same_names(m: Matching) -> None:
    """Match free nodes of one name in matched scopes whose op types differ."""
    for mine, others in free_by_scope(m):
        there = {m.b.scopes.node_leaf[new]: new for new in reversed(others)}
        for old in mine:
            new = there.get(m.a.scopes.node_leaf[old], -1)
            if new >= 0 and m.to_a[new] < 0:
                m.pair(old, new, Reason.SAME_NAME_OTHER_OP)


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
