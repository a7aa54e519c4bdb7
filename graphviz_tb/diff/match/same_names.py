"""Match nodes that kept their name in a matched scope but not their op type."""

from __future__ import annotations

from collections import defaultdict

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.match.found import Findings, Reason, nodes
from graphviz_tb.diff.match.matching import Matching


def same_names(m: Matching) -> Findings:
    """Match free nodes of one name in matched scopes whose op types differ."""
    for mine, others in free_by_scope(m):
        there = {m.b.scopes.node_leaf[new]: new for new in reversed(others)}
        leaves = {m.a.scopes.node_leaf[old]: old for old in reversed(mine)}
        same = [(old, there[leaf]) for leaf, old in leaves.items() if leaf in there]
        yield nodes(same, Reason.SAME_NAME_OTHER_OP)


def free_by_scope(m: Matching) -> list[tuple[list[int], list[int]]]:
    """The free nodes of each pair of matched scopes, where both sides have some."""
    free_a, free_b = m.left()
    inside: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for node, scope in zip(free_a.tolist(), m.scope_to_b[m.a.scopes.of_node[free_a]].tolist(), strict=True):
        if exists(scope):
            inside[scope][0].append(node)
    for node, scope in zip(free_b.tolist(), m.b.scopes.of_node[free_b].tolist(), strict=True):
        inside[scope][1].append(node)
    return [pair for _, pair in sorted(inside.items()) if pair[0] and pair[1]]
