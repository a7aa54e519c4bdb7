"""From matched nodes to those beside them: what feeds the same input, what uses the same output."""

from __future__ import annotations

from collections.abc import Iterable

from graphviz_tb.diff.match.found import Findings, Reason, nodes
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.places import FreePlacePairs
from graphviz_tb.limits import MATCH_SPREAD


def spread(m: Matching, same_label: bool = True) -> Findings:
    """Match free neighbours of matched nodes until nothing moves.

    Before: some nodes are matched. After: a free node is matched where it is the only one with its op type (and its
    attributes, first) at its place beside a matched node, on both sides.
    """
    free = min(map(len, m.left()))
    beside: list[FreePlacePairs] = []
    for _ in range(MATCH_SPREAD):
        if not free:
            return
        # With attributes first; by the op type alone only where that finds nothing more.
        if not beside:
            beside.append(FreePlacePairs(m, m.a.node_label, m.b.node_label))
        if len(beside) == 1 and not same_label:
            beside.append(FreePlacePairs(m, m.a.labels.op, m.b.labels.op))
        moved = next(filter(None, map(step, beside)), [])
        # From here on the op type alone may do.
        if not moved and same_label:
            same_label = False
            continue
        if not moved:
            return
        found = nodes(moved, Reason.SPREAD)
        yield found
        free -= len(moved)
        for each in beside:
            each.take(found.old, found.new)
    m.note("spread-limit", f"matches were spread over {MATCH_SPREAD} steps and no further")


def step(beside: FreePlacePairs) -> list[tuple[int, int]]:
    """The nodes one edge away that go together."""
    old, new = beside.alone()
    return unambiguous(old.tolist(), new.tolist())


def unambiguous(old: Iterable[int], new: Iterable[int]) -> list[tuple[int, int]]:
    """Pairs most places vote for; a node that two partners are proposed for goes to the one with more votes.

    >>> unambiguous([1, 1, 2], [5, 5, 5])
    [(1, 5)]
    """
    votes: dict[tuple[int, int], int] = {}
    for pair in zip(old, new, strict=True):
        votes[pair] = votes.get(pair, 0) + 1
    taken_a: set[int] = set()
    taken_b: set[int] = set()
    matched = []
    for mine, other in sorted(votes, key=lambda pair: (-votes[pair], pair)):
        if mine not in taken_a and other not in taken_b:
            matched.append((mine, other))
            taken_a.add(mine)
            taken_b.add(other)
    return matched
