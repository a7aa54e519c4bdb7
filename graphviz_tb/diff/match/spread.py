"""From matched nodes to those beside them: what feeds the same input, what uses the same output."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes, joined
from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.columns.side import Side
from graphviz_tb.diff.match.found import Findings, Reason, nodes
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.model.columns import Ints

ROUNDS = 200  # how far a match spreads, in steps


def spread(m: Matching, same_label: bool = True) -> Findings:
    """Match free neighbours of matched nodes until nothing moves.

    Before: some nodes are matched. After: a free node is matched where it is the only one with its op type (and its
    attributes, first) at its place beside a matched node, on both sides.
    """
    for _ in range(ROUNDS):
        free_a, free_b = m.left()
        if not len(free_a) or not len(free_b):
            return
        moved: list[tuple[int, int]] = []
        # With attributes first; by the op type alone only where that finds nothing more.
        for hash_a, hash_b in ((m.a.node_label, m.b.node_label), (m.a.labels.op, m.b.labels.op)):
            moved = one_step(m, hash_a, hash_b)
            if moved or same_label:
                break
        # From here on the op type alone may do.
        if not moved and same_label:
            same_label = False
            continue
        if not moved:
            return
        yield nodes(moved, Reason.SPREAD)
    m.note("spread-limit", f"matches were spread over {ROUNDS} steps and no further")


def one_step(m: Matching, label_a: Hashes, label_b: Hashes) -> list[tuple[int, int]]:
    """The nodes one edge away that go together."""
    mine = candidates(m.a, m.to_b, label_a, True)
    others = candidates(m.b, m.to_a, label_b, False)
    if not len(mine[0]) or not len(others[0]):
        return []
    _, in_a, in_b = np.intersect1d(mine[0], others[0], assume_unique=True, return_indices=True)
    return unambiguous(mine[1][in_a].tolist(), others[1][in_b].tolist())


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


def candidates(side: Side, partner: Ints, label: Hashes, old: bool) -> tuple[Hashes, Ints]:
    """Places beside matched nodes where exactly one free node of its label lies: hashes, and the nodes.

    A place is an input or an output of a matched node (named by its number on the old side), with the label.
    """
    graph = side.graph
    known = exists(partner)
    # Both sides name a matched node by its old number, so that keys can be compared.
    number = (np.arange(len(partner), dtype=np.int64) if old else partner.astype(np.int64)).view(np.uint64)
    feeds = np.flatnonzero(known[graph.target] & ~known[graph.source])
    uses = np.flatnonzero(known[graph.source] & ~known[graph.target])
    keys = np.concatenate(
        (
            joined(number[graph.target[feeds]], side.edge_hash[feeds], label[graph.source[feeds]]),
            # The complement: a place behind a node is never one before it.
            ~joined(number[graph.source[uses]], side.edge_hash[uses], label[graph.target[uses]]),
        )
    )
    nodes = np.concatenate((graph.source[feeds], graph.target[uses]))
    values, first, count = np.unique(keys, return_index=True, return_counts=True)
    return values[count == 1], nodes[first[count == 1]]
