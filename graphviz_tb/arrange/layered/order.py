"""The order within ranks, with few crossings: medians and transposition of neighbours."""

from __future__ import annotations

from graphviz_tb.arrange.part import Layers, Part

ROUNDS = 12


def order(part: Part, layers: Layers) -> Layers:
    """Order each rank so that few lines cross.

    Before: any order. After: the same items on the same ranks.
    """
    count = part.count + sum(len(chain) - 2 for chain in layers.chains)
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for chain in layers.chains:
        for upper, lower in zip(chain, chain[1:], strict=False):
            below[upper].append(lower)
            above[lower].append(upper)
    ranks = [list(row) for row in layers.ranks]
    best, least = [list(row) for row in ranks], crossings(ranks, below)
    for turn in range(ROUNDS):
        if not least:
            break
        if turn % 2 == 0:
            for row, upper in zip(ranks[1:], ranks, strict=False):
                medians(row, upper, above)
        else:
            for row, lower in zip(ranks[-2::-1], ranks[:0:-1], strict=False):
                medians(row, lower, below)
        transpose(ranks, above, below)
        now = crossings(ranks, below)
        if now < least:
            best, least = [list(row) for row in ranks], now
    return Layers(best, layers.chains)


def medians(row: list[int], fixed: list[int], links: list[list[int]]) -> None:
    """Sort a rank by the medians of its neighbours' places in the fixed rank; items without neighbours stay."""
    place = {item: at for at, item in enumerate(fixed)}
    keyed = []
    slots = []
    for at, item in enumerate(row):
        found = sorted(place[other] for other in links[item])
        if found:
            keyed.append((found[(len(found) - 1) // 2] + found[len(found) // 2], item))
            slots.append(at)
    keyed.sort(key=lambda pair: pair[0])
    for at, (_, item) in zip(slots, keyed, strict=True):
        row[at] = item


def transpose(ranks: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Exchange neighbours while that lessens crossings."""
    place = {item: at for row in ranks for at, item in enumerate(row)}
    changed = [True] * len(ranks)
    for _ in range(6):
        again = False
        for r, row in enumerate(ranks):
            if not changed[r]:
                continue
            changed[r] = False
            for at in range(len(row) - 1):
                left, right = row[at], row[at + 1]
                if gain(left, right, above, place) + gain(left, right, below, place) > 0:
                    row[at], row[at + 1] = right, left
                    place[left], place[right] = at + 1, at
                    again = True
                    for near in range(max(r - 1, 0), min(r + 2, len(ranks))):
                        changed[near] = True
        if not again:
            break


def gain(left: int, right: int, links: list[list[int]], place: dict[int, int]) -> int:
    """How many crossings less when `left` and `right` change places."""
    result = 0
    for a in links[left]:
        for b in links[right]:
            result += (place[a] > place[b]) - (place[a] < place[b])
    return result


def crossings(ranks: list[list[int]], below: list[list[int]]) -> int:
    """The number of crossings (Barth, Jünger & Mutzel 2004, by insertion into a sorted list)."""
    from bisect import bisect_right, insort

    total = 0
    for row, lower in zip(ranks, ranks[1:], strict=False):
        place = {item: at for at, item in enumerate(lower)}
        seen: list[int] = []
        for item in row:
            ends = sorted(place[other] for other in below[item])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total
