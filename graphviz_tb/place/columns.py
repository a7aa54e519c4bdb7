"""The x of each item of one part: near its neighbours, long edges straight.

Minimizes the weighted sum of the horizontal lengths of all links, as Gansner et al. 1993 do, rank by rank: with the
neighbouring ranks held, the best places of one rank are an isotonic regression under absolute deviations, found exactly
by pooling adjacent violators (Ayer et al. 1955), where a pool stands at its weighted median. One rule for ties: the middle
between lower and upper median, rounded down.
"""

from __future__ import annotations

from collections.abc import Sequence

Link = tuple[int, int, int]  # neighbour, where the own left edge would be best relative to the neighbour's, weight
Entry = tuple[int, int]  # place, weight
Links = Sequence[Sequence[Link]]

ROUNDS = 2


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
    first: list[int] = []  # of each pool: its first item, its wishes, its place
    wishes: list[list[Entry]] = []
    places: list[int] = []
    for at, item in enumerate(row):
        shift = start[at]
        near = links[item]
        if len(near) == 1:
            other, offset, weight = near[0]
            place = x[other] + offset - shift
            wish = [(place, weight)]
        elif near:
            wish = [(x[other] + offset - shift, weight) for other, offset, weight in near]
            wish.sort()
            place = median(wish)
        else:
            place = x[item] - shift
            wish = [(place, 1)]
        begin = at
        while places and places[-1] > place:
            begin = first.pop()
            places.pop()
            wish += wishes.pop()
            wish.sort()
            place = median(wish)
        first.append(begin)
        wishes.append(wish)
        places.append(place)
    first.append(len(row))
    for pool, place in enumerate(places):
        for at in range(first[pool], first[pool + 1]):
            x[row[at]] = place + start[at]


def median(wishes: Sequence[Entry]) -> int:
    """The weighted median of sorted wishes; between two of them the middle, rounded down.

    >>> median([(0, 1), (10, 1)]), median([(0, 1), (10, 2)])
    (5, 10)
    """
    half = sum([weight for _, weight in wishes])
    seen = 0
    for at, (place, weight) in enumerate(wishes):
        seen += 2 * weight
        if seen > half:
            return place
        if seen == half:
            return (place + wishes[at + 1][0]) // 2
    return 0
