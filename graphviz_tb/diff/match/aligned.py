"""The members of numbered series on both sides, aligned: which is which, which came or went."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import groupby

from graphviz_tb.diff.columns.hashing import Hashes
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.found import Aligned, Member
from graphviz_tb.diff.match.functions import ALIKE, bag, dice
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.series import NameAffixes, align, between, runs_of
from graphviz_tb.limits import MAX_ALIGNED_PAIRS

Bags = Callable[[int], Counter[int]]  # the bag of a scope, counted once


def shared_runs(
    there_a: dict[str, int], there_b: dict[str, int], *hashes: tuple[Hashes, Hashes]
) -> list[tuple[NameAffixes, list[Member], list[Member]]]:
    """Return the series on both sides that differ in their numbers or, by all of some hashes, in their members."""
    runs_b = runs_of(there_b, there_a)
    runs = []
    for words, run in runs_of(there_a, there_b).items():
        other = runs_b.get(words)
        if other is None or (len(run) == 1 and run.keys() == other.keys()):  # one and the same: no series
            continue
        mine = [Member(number, there_a[run[number]]) for number in sorted(run)]
        others = [Member(number, there_b[other[number]]) for number in sorted(other)]
        # Equal numbers with equal content need no alignment: they are matched by name.
        if [member.number for member in mine] != [member.number for member in others] or not any(
            [hash_a[member.id] for member in mine] == [hash_b[member.id] for member in others]
            for hash_a, hash_b in hashes
        ):
            runs.append((words, mine, others))
    return runs


def likely_pairs(m: Matching, words: NameAffixes, mine: Sequence[Member], others: Sequence[Member]) -> dict[int, int]:
    """Places that go together if nothing speaks against it: as in an earlier series of these words, or by number; where
    no number is on both sides, of as many, by place."""
    known = m.shifts.get(words, {})
    place = {member.number: index for index, member in enumerate(others)}
    top = m.tops[words] if words in m.decided and known else -1
    wanted = [known.get(each.number, each.number if each.number > top else None) for each in mine]
    pairs = {index: place[number] for index, number in enumerate(wanted) if number in place}
    return pairs if pairs or len(mine) != len(others) else {index: index for index in range(len(mine))}


def align_scopes(
    m: Matching, words: NameAffixes, mine: Sequence[Member], others: Sequence[Member]
) -> list[tuple[int, int]] | None:
    """Align the members of a series of scopes: same content, same structure, then alike."""
    tiers = [
        ([int(hashes_a[member.id]) for member in mine], [int(hashes_b[member.id]) for member in others])
        for hashes_a, hashes_b in ((m.a.exact, m.b.exact), (m.a.structural, m.b.structural))
    ]
    likely = likely_pairs(m, words, mine, others)
    pairs = align(tiers, likely, m.common)
    return None if pairs is None else sorted(pairs + alike_in_gaps(m, mine, others, pairs, likely))


def alike_in_gaps(
    m: Matching,
    mine: Sequence[Member],
    others: Sequence[Member],
    pairs: list[tuple[int, int]],
    likely: dict[int, int],
) -> list[tuple[int, int]]:
    """Between aligned members: likely ones, then in order, where they have most of their ops in common."""
    more: list[tuple[int, int]] = []
    bags = cache(partial(bag_of, m.a)), cache(partial(bag_of, m.b))
    for (a0, a1), (b0, b1) in between(pairs, (0, len(mine)), (0, len(others))):
        # As many on both sides: nothing came or went between the aligned ones, each changed in its place.
        if a1 - a0 == b1 - b0:
            wanted = {number: b0 + number - a0 for number in range(a0, a1)}
        elif (a1 - a0) * (b1 - b0) <= MAX_ALIGNED_PAIRS:
            wanted = None
        else:
            wanted = {number: likely[number] for number in range(a0, a1) if b0 <= likely.get(number, -1) < b1}
            m.note("gap-limit", "a part of a series that changed too much to be aligned: taken by number")
        shares = {
            (i, j): common_share(m, bags, mine[i].id, others[j].id, likely.get(i) == j)
            for i in range(a0, a1)
            for j in (range(b0, b1) if wanted is None else [wanted[i]] if i in wanted else [])
        }
        more += heaviest(
            {pair: share + 0.001 * (likely.get(pair[0]) == pair[1]) for pair, share in shares.items() if share >= ALIKE}
        )
    return more


def heaviest(weights: dict[tuple[int, int], float]) -> list[tuple[int, int]]:
    """The pairs of greatest weight that ascend on both sides.

    >>> heaviest({(0, 0): 0.9, (0, 1): 1.0, (1, 1): 0.9})
    [(0, 0), (1, 1)]
    """
    # Chains by weight and last pair (negative: of equal weights the first pair counts), none heavier than one that
    # ends further right: both ascend.
    stairs: list[tuple[float, int, int]] = []
    before: dict[tuple[int, int], tuple[int, int] | None] = {}
    # Of pairs with one `i` the last first: none of them goes before another.
    for i, j in sorted(weights, key=lambda pair: (pair[0], -pair[1])):
        at = bisect_left(stairs, j, key=lambda stair: -stair[2])
        best = stairs[at - 1] if at else None
        before[i, j] = (-best[1], -best[2]) if best else None
        stair = (weights[i, j] + (best[0] if best else 0.0), -i, -j)
        end = bisect_left(stairs, stair, at)
        # A heavier chain may end in the same `j`.
        if at < end or at == len(stairs) or stairs[at][2] != -j:
            stairs[at:end] = [stair]
    chain = []
    pair = (-stairs[-1][1], -stairs[-1][2]) if stairs else None
    while pair:
        chain.append(pair)
        pair = before[pair]
    return chain[::-1]


def bag_of(side: GraphColumns, row: int) -> Counter[int]:
    """How often each op type occurs in a scope."""
    return bag(side, side.scopes.nodes(row))


def common_share(m: Matching, bags: tuple[Bags, Bags], old: int, new: int, likely: bool) -> float:
    """The share of ops that two scopes have in common; for likely ones also that of the names in them."""
    share = dice(bags[0](old), bags[1](new))
    if not likely or share >= ALIKE:
        return share
    names_a, names_b = (
        Counter(scopes.below(row, scopes.nodes(row)).tolist()) for scopes, row in ((m.a.scopes, old), (m.b.scopes, new))
    )
    return max(share, dice(names_a, names_b))


def series(
    m: Matching,
    scopes: bool,
    words: NameAffixes,
    mine: Sequence[Member],
    others: Sequence[Member],
    pairs: list[tuple[int, int]],
) -> Aligned:
    """A series as it was aligned; of scopes also which members cannot be distinguished from their neighbours."""
    gone = equal_neighbours(m.a, mine, {i for i, _ in pairs}) if scopes else {}
    come = equal_neighbours(m.b, others, {j for _, j in pairs}) if scopes else {}
    return Aligned(scopes, words, mine, others, pairs, gone, come)


def equal_neighbours(side: GraphColumns, members: Sequence[Member], kept: set[int]) -> dict[int, int]:
    """Return for each member without a partner how many of its neighbours in the series are equal, itself included."""
    counts: dict[int, int] = {}
    hashes = [int(side.structural[member.id]) for member in members]
    for _, run in groupby(range(len(members)), key=hashes.__getitem__):
        equal = list(run)
        left = [number for number in equal if number not in kept]
        # A run of which none was kept came or went as a whole: there is nothing to confuse it with.
        if len(left) < len(equal):
            counts.update({members[number].id: len(equal) for number in left})
    return counts
