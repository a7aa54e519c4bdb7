"""From matched nodes to those beside them: what feeds the same input, what uses the same output; constants go with
the op that uses them, since TensorFlow counts their names (`Const_3`)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.found import Apart, Findings, Reason, nodes
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.places import FreePlacePairs
from graphviz_tb.limits import MAX_MATCH_SPREAD


def spread(m: Matching, same_label: bool = True) -> Findings:
    """Match free neighbours of matched nodes until nothing moves.

    Before: some nodes are matched. After: a free node is matched where it is the only one with its op type (and its
    attributes, first) at its place beside a matched node, on both sides.
    """
    free = min(map(len, m.left()))
    beside: list[FreePlacePairs] = []
    for _ in range(MAX_MATCH_SPREAD):
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
    m.note("spread-limit", f"matches were spread over {MAX_MATCH_SPREAD} steps and no further")


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


def constants(m: Matching) -> Findings:
    """Match constants that have one user each by their users, whatever was matched before.

    Before: most ops are matched. After: a constant is matched with the one at the same input of its user's partner.
    """
    there = single_uses(m.b)
    pairs = []
    for (user, slot), node in single_uses(m.a).items():
        other = there.get((int(m.to_b[user]), slot), -1)
        if exists(other) and int(m.to_b[node]) != other:
            pairs.append((node, other))
    before = m.to_a[[other for _, other in pairs]]
    # Both ends are freed first: a constant may hold the partner that its user says is another's.
    yield Apart(np.array([*(node for node, _ in pairs), *before[exists(before)].tolist()], np.int32))
    yield nodes(pairs, Reason.SPREAD)


def single_uses(side: GraphColumns) -> dict[tuple[int, int], int]:
    """The constants that feed one input alone, by the user and the place of the input."""
    graph = side.graph
    data = np.flatnonzero(~graph.control & side.constants()[graph.source])
    once = np.bincount(graph.source[data], minlength=len(side))[graph.source[data]] == 1
    edges = data[once]
    keys = zip(graph.target[edges].tolist(), graph.slot[edges].tolist(), strict=True)
    return dict(zip(keys, graph.source[edges].tolist(), strict=True))
