"""From the roots down: numbered series aligned by structure, then same name and op.

Scopes that hold the same are matched at once, so that only the way to what differs is walked.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphviz_tb.diff.functions import bag, dice
from graphviz_tb.diff.hashing import Hashes
from graphviz_tb.diff.matching import Matching, Reason
from graphviz_tb.diff.series import Words, align, between, runs_of
from graphviz_tb.diff.side import Side
from graphviz_tb.model.columns import Ints

MOST_TRIED = 256  # pairs of scopes of one part of a series that are compared
ALIKE = 0.5  # share of ops that two scopes of one series must have in common to be one, however changed


def descend(m: Matching, starts: Sequence[tuple[int, int]]) -> None:
    """Match below pairs of scopes by name.

    Before: the pairs are matched. After: what has the same name (or the same place in a numbered series) and the same
    op type below them is matched too.
    """
    queue = deque(starts)
    waiting: list[tuple[int, int]] = []
    while queue or waiting:
        last = not queue
        old, new = waiting.pop(0) if last else queue.popleft()
        if m.a.exact[old] == m.b.exact[new]:
            match_whole(m, old, new, Reason.NAME)
        elif not last and undecided(m, old, new):
            waiting.append((old, new))
        else:
            match_ops(m, old, new)
            queue.extend(match_children(m, old, new))


def undecided(m: Matching, old: int, new: int) -> bool:
    """Whether it cannot be told from two scopes alone which members of a series in them came or went.

    The slots of an optimizer are alike in every layer; the layers say which is new. They are looked at first.
    """
    there_a, there_b = free_children(m, old, new)
    for words, mine, others in shared_runs(there_a, there_b, m.a.exact, m.b.exact):
        if len(mine) == len(others) or words in m.decided:
            continue
        pairs = align_scopes(m, words, mine, others)
        if pairs is not None and (
            equal_neighbours(m.a, mine, {i for i, _ in pairs}) or equal_neighbours(m.b, others, {j for _, j in pairs})
        ):
            return True
    return False


def free_children(m: Matching, old: int, new: int) -> tuple[dict[str, int], dict[str, int]]:
    """The scopes directly in two scopes that have no partner, by the last segment of their name."""
    a, b = m.a.scopes, m.b.scopes
    return (
        {a.leaf[row]: row for row in a.children(old) if m.scope_to_b[row] < 0},
        {b.leaf[row]: row for row in b.children(new) if m.scope_to_a[row] < 0},
    )


def match_whole(m: Matching, old: int, new: int, reason: Reason) -> None:
    """Match everything below two scopes that hold the same, by the names below them."""
    a, b = m.a.scopes, m.b.scopes
    rows_a, names_a = a.scopes_below(old)
    rows_b, names_b = b.scopes_below(new)
    if len(rows_a) == len(rows_b):
        mine, other = rows_a[np.argsort(names_a, kind="stable")], rows_b[np.argsort(names_b, kind="stable")]
        free = (m.scope_to_b[mine] < 0) & (m.scope_to_a[other] < 0)
        mine, other = mine[free], other[free]
        m.scope_to_b[mine], m.scope_to_a[other], m.scope_reason[mine] = other, mine, reason
    nodes_a, nodes_b = a.nodes(old), b.nodes(new)
    order_a = np.lexsort((m.a.around(1)[nodes_a], m.a.node_label[nodes_a], a.below(old, nodes_a)))
    order_b = np.lexsort((m.b.around(1)[nodes_b], m.b.node_label[nodes_b], b.below(new, nodes_b)))
    if len(nodes_a) == len(nodes_b):
        m.pair_many(nodes_a[order_a], nodes_b[order_b], reason)


@dataclass(frozen=True, slots=True)
class Member:
    """A numbered sibling: its number, its scope's row or its node."""

    number: int
    id: int


def match_children(m: Matching, old: int, new: int) -> list[tuple[int, int]]:
    """Match the scopes directly in two matched scopes; give back the pairs made."""
    a, b = m.a.scopes, m.b.scopes
    there_a, there_b = free_children(m, old, new)
    made: list[tuple[int, int]] = []
    for words, mine, others in shared_runs(there_a, there_b, m.a.exact, m.b.exact):
        pairs = align_scopes(m, words, mine, others)
        if pairs is None:
            m.note(
                "series-limit", f"series {'N'.join(words)!r} is too long to be aligned: taken by number", a.name[old]
            )
            continue
        record(m, True, words, mine, others, pairs)
        for i, j in pairs:
            row, other = mine[i].id, others[j].id
            same = a.leaf[row] == b.leaf[other]
            m.pair_scopes(row, other, Reason.NAME if same else Reason.SERIES)
            made.append((row, other))
        _drop(there_a, mine)
        _drop(there_b, others)
    for leaf, row in there_a.items():
        if leaf in there_b:
            m.pair_scopes(row, there_b[leaf], Reason.NAME)
            made.append((row, there_b[leaf]))
    return made


def _drop(there: dict[str, int], members: Sequence[Member]) -> None:
    """Take members out of a table of names."""
    gone = {member.id for member in members}
    for leaf in [leaf for leaf, id in there.items() if id in gone]:
        del there[leaf]


def shared_runs(
    there_a: dict[str, int], there_b: dict[str, int], hash_a: Hashes, hash_b: Hashes
) -> list[tuple[Words, list[Member], list[Member]]]:
    """The series on both sides that differ in their numbers or in what their members are."""
    runs_b = runs_of(there_b)
    told = []
    for words, run in runs_of(there_a).items():
        other = runs_b.get(words)
        if other is None:
            continue
        mine = [Member(number, there_a[run[number]]) for number in sorted(run)]
        others = [Member(number, there_b[other[number]]) for number in sorted(other)]
        if [(one.number, hash_a[one.id]) for one in mine] != [(one.number, hash_b[one.id]) for one in others]:
            told.append((words, mine, others))
    return told


def likely_pairs(m: Matching, words: Words, mine: Sequence[Member], others: Sequence[Member]) -> dict[int, int]:
    """Places that go together if nothing speaks against it: as in an earlier series of these words, or by number."""
    known = m.shifts.get(words, {})
    place = {member.number: at for at, member in enumerate(others)}
    top = max(known, default=-1) if words in m.decided else -1
    wanted = [known.get(one.number, one.number if one.number > top else -1) for one in mine]
    return {at: place[number] for at, number in enumerate(wanted) if number in place}


def align_scopes(
    m: Matching, words: Words, mine: Sequence[Member], others: Sequence[Member]
) -> list[tuple[int, int]] | None:
    """Align the members of a series of scopes: same content, same structure, then alike."""
    tiers = [
        ([int(hashes_a[one.id]) for one in mine], [int(hashes_b[one.id]) for one in others])
        for hashes_a, hashes_b in ((m.a.exact, m.b.exact), (m.a.structural, m.b.structural))
    ]
    likely = likely_pairs(m, words, mine, others)
    pairs = align(tiers, likely)
    return None if pairs is None else sorted(pairs + alike_in_gaps(m, mine, others, pairs, likely))


def alike_in_gaps(
    m: Matching,
    mine: Sequence[Member],
    others: Sequence[Member],
    pairs: list[tuple[int, int]],
    likely: dict[int, int],
) -> list[tuple[int, int]]:
    """Between aligned members: likely ones, then in order, where they have most of their ops in common."""
    found: list[tuple[int, int]] = []
    for (a0, a1), (b0, b1) in between(pairs, (0, len(mine)), (0, len(others))):
        if a1 - a0 == b1 - b0:
            wanted = {at: b0 + at - a0 for at in range(a0, a1)}
        elif (a1 - a0) * (b1 - b0) <= MOST_TRIED:
            wanted = None
        else:
            wanted = {at: likely[at] for at in range(a0, a1) if b0 <= likely.get(at, -1) < b1}
            m.note("gap-limit", "a part of a series that changed too much to be aligned: taken by number")
        shares = {
            (i, j): alike(m, mine[i].id, others[j].id, likely.get(i) == j)
            for i in range(a0, a1)
            for j in (range(b0, b1) if wanted is None else [wanted[i]] if i in wanted else [])
        }
        found += heaviest(
            {pair: share + 0.001 * (likely.get(pair[0]) == pair[1]) for pair, share in shares.items() if share >= ALIKE}
        )
    return found


def heaviest(weights: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    """The pairs of greatest weight that ascend on both sides.

    >>> heaviest({(0, 0): 0.9, (0, 1): 1.0, (1, 1): 0.9})
    [(0, 0), (1, 1)]
    """
    best: list[tuple[float, tuple[tuple[int, int], ...]]] = []
    ordered = sorted(weights)
    for at, (i, j) in enumerate(ordered):
        before = [best[k] for k in range(at) if ordered[k][0] < i and ordered[k][1] < j]
        weight, chain = max(before, key=lambda one: one[0], default=(0.0, ()))
        best.append((weight + weights[i, j], (*chain, (i, j))))
    return list(max(best, key=lambda one: one[0], default=(0.0, ()))[1])


def alike(m: Matching, old: int, new: int, likely: bool) -> float:
    """The share of ops that two scopes have in common; for likely ones also that of the names in them."""
    nodes_a, nodes_b = m.a.scopes.nodes(old), m.b.scopes.nodes(new)
    share = dice(bag(m.a, nodes_a), bag(m.b, nodes_b))
    if not likely or share >= ALIKE:
        return share
    return max(
        share, dice(Counter(m.a.scopes.below(old, nodes_a).tolist()), Counter(m.b.scopes.below(new, nodes_b).tolist()))
    )


def record(
    m: Matching,
    scopes: bool,
    words: Words,
    mine: Sequence[Member],
    others: Sequence[Member],
    pairs: list[tuple[int, int]],
) -> None:
    """Remember which numbers shifted, and which members cannot be told from their neighbours."""
    caused = len(pairs) < max(len(mine), len(others))
    moved = {mine[i].number: others[j].number for i, j in pairs}
    known = m.shifts.setdefault(words, moved)
    m.caused[words] = m.caused.get(words, False) or caused
    if caused and any(known.get(number) != new for number, new in moved.items()):
        known.update(moved)
    for i, j in pairs:
        if mine[i].number != others[j].number:
            shifted = m.renumbered_scopes if scopes else m.renumbered
            shifted[mine[i].id] = caused
    if scopes:
        gone, come = (
            equal_neighbours(m.a, mine, {i for i, _ in pairs}),
            equal_neighbours(m.b, others, {j for _, j in pairs}),
        )
        if words not in m.decided:
            m.equals.update({("old", True, row): count for row, count in gone.items()})
            m.equals.update({("new", True, row): count for row, count in come.items()})
        if caused and not gone and not come:
            m.decided.add(words)


def equal_neighbours(side: Side, members: Sequence[Member], kept: set[int]) -> dict[int, int]:
    """For each member without a partner: how many neighbours in the series are the same, itself counted."""
    told: dict[int, int] = {}
    hashes = [int(side.structural[member.id]) for member in members]
    for at in range(len(members)):
        if at in kept:
            continue
        start, stop = at, at + 1
        while start and hashes[start - 1] == hashes[at]:
            start -= 1
        while stop < len(hashes) and hashes[stop] == hashes[at]:
            stop += 1
        if any(place in kept for place in range(start, stop)):
            told[members[at].id] = stop - start
    return told


def match_ops(m: Matching, old: int, new: int) -> None:
    """Match the nodes directly in two matched scopes."""
    there_a = by_leaf(m.a, m.a.scopes.own_nodes(old), m.to_b)
    there_b = by_leaf(m.b, m.b.scopes.own_nodes(new), m.to_a)
    for op, (mine_of, others_of) in by_op(m, there_a, there_b).items():
        around_a, around_b = m.a.around(2), m.b.around(2)
        for words, mine, others in shared_runs(mine_of, others_of, around_a, around_b):
            tiers = [
                ([int(hashes_a[one.id]) for one in mine], [int(hashes_b[one.id]) for one in others])
                for hashes_a, hashes_b in (
                    (around_a, around_b),
                    (m.a.around(1, "in"), m.b.around(1, "in")),
                    (m.a.node_label, m.b.node_label),
                    (m.a.labels.op, m.b.labels.op),
                )
            ]
            pairs = align(tiers, likely_pairs(m, words, mine, others))
            if pairs is None:
                m.note("series-limit", f"series {'N'.join(words)!r} of {op} is too long to be aligned: taken by number")
                continue
            record(m, False, words, mine, others, pairs)
            for i, j in pairs:
                same = mine[i].number == others[j].number
                m.pair(mine[i].id, others[j].id, Reason.NAME if same else Reason.SERIES)
            _drop(mine_of, mine)
            _drop(others_of, others)
        for leaf, node in mine_of.items():
            if leaf in others_of:
                m.pair(node, others_of[leaf], Reason.NAME)


def by_leaf(side: Side, nodes: Ints, partner: Ints) -> dict[str, int]:
    """Free nodes by the last segment of their name; of those that stand twice the first by label is taken."""
    leaves = side.scopes.node_leaf
    found: dict[str, int] = {}
    for node in nodes.tolist():
        if partner[node] < 0:
            leaf = leaves[node]
            if leaf in found:
                found[leaf] = min(found[leaf], node, key=lambda one: int(side.node_label[one]))
            else:
                found[leaf] = node
    return found


def by_op(
    m: Matching, there_a: dict[str, int], there_b: dict[str, int]
) -> dict[str, tuple[dict[str, int], dict[str, int]]]:
    """The same tables, op type by op type."""
    told: dict[str, tuple[dict[str, int], dict[str, int]]] = {}
    for which, side, there in ((0, m.a, there_a), (1, m.b, there_b)):
        words, column = side.graph.op_types, side.graph.op
        for leaf, node in there.items():
            told.setdefault(words[column[node]], ({}, {}))[which][leaf] = node
    return told
