"""The x of each item of one part: near its neighbours, long edges straight.

Minimizes the weighted sum of the horizontal lengths of all links, as Gansner et al. 1993 do, rank by rank: with the
neighbouring ranks held, the best places of one rank are an isotonic regression under absolute deviations, found exactly
by pooling adjacent violators (Ayer et al. 1955), where a pool stands at its weighted median. One rule for ties: the middle
between lower and upper median, rounded down.
"""

from __future__ import annotations

from collections.abc import Sequence

Link = tuple[
    int, int, int
]  # neighbour, where the own left edge would be best relative to the neighbour's, weight
Entry = tuple[int, int]  # place, weight
Links = Sequence[Sequence[Link]]

ROUNDS = 3


def columns(
    ranks: Sequence[Sequence[int]],
    widths: Sequence[int],
    between: Sequence[Sequence[int]],
    above: Links,
    below: Links,
) -> list[int]:
    """The left edge of each item (indexed like `widths`; items of other parts stay 0).

    Before: `between[r][k]` is the least distance from the left edge of item k of rank r to that of item k + 1. After: these
    distances hold.
    """
    x = [0] * len(widths)
    starts = []
    for row, steps in zip(ranks, between, strict=True):
        start = [0]
        for step in steps:
            start.append(start[-1] + step)
        starts.append(start)
        middle = (start[-1] + widths[row[-1]]) // 2
        for item, left in zip(row, start, strict=True):
            x[item] = left - middle
    last = len(ranks) - 1
    for turn in range(ROUNDS):
        for r in range(1, last + 1):
            settle(ranks[r], starts[r], x, above)
        for r in range(last - 1, -1, -1):
            settle(ranks[r], starts[r], x, below)
        if turn == ROUNDS - 1:
            both = [[*up, *down] for up, down in zip(above, below, strict=True)]
            for r in [*range(last + 1), *range(last - 1, -1, -1)]:
                settle(ranks[r], starts[r], x, both)
    return x


def settle(row: Sequence[int], start: Sequence[int], x: list[int], links: Links) -> None:
    """Give the items of one rank their best places with all others held."""
    pools: list[tuple[int, list[Entry], int]] = []  # first item, wishes, place
    for at, item in enumerate(row):
        shift = start[at]
        wishes = [(x[other] + offset - shift, weight) for other, offset, weight in links[item]]
        if not wishes:
            wishes = [(x[item] - shift, 1)]
        elif len(wishes) > 1:
            wishes.sort()
        first, place = at, median(wishes)
        while pools and pools[-1][2] > place:
            first, more, _ = pools.pop()
            wishes = sorted(more + wishes)
            place = median(wishes)
        pools.append((first, wishes, place))
    end = len(row)
    for first, _, place in reversed(pools):
        for at in range(first, end):
            x[row[at]] = place + start[at]
        end = first


def median(wishes: Sequence[Entry]) -> int:
    """The weighted median; between two of them the middle, rounded down.

    >>> median([(0, 1), (10, 1)]), median([(0, 1), (10, 2)])
    (5, 10)
    """
    if len(wishes) == 1:
        return wishes[0][0]
    total = 0
    for _, weight in wishes:
        total += weight
    seen = 0
    for at, (place, weight) in enumerate(wishes):
        seen += weight
        if 2 * seen > total:
            return place
        if 2 * seen == total:
            return (place + wishes[at + 1][0]) // 2
    return 0
