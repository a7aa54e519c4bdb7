"""Combine the best of several orders, rank by rank.

Distant parts of a drawing hardly influence each other, so one order is good here and another there. Each rank takes its
order from one of the candidates, or the mirror image, so that the sum of all crossings is least, and then the sideways
drift of lines: a shortest path through the ranks (Viterbi 1967).
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Collection, Sequence
from itertools import pairwise

from graphviz_tb.arrange.component import Row
from graphviz_tb.arrange.layered.reroute import RankState

CROSSING_WEIGHT = 1 << 20  # crossings count before any drift
FORBIDDEN_COST = 1 << 80  # more than all crossings: held ranks are not mirrored


def combine_orders(state: RankState, orders: list[list[Row]]) -> list[Row]:
    """Take for each rank the candidate's order that makes the whole best.

    `orders` have the same items on the same ranks. The result has at most as many crossings as the best of them.
    """
    choices = [_distinct_rows([order[r] for order in orders]) for r in range(len(state.ranks))]
    # cost[2 * k] for choice k as it is, cost[2 * k + 1] for its mirror image; `back`, by rank, the best choice above.
    cost = [0, 0] * len(choices[0])
    if 0 in state.held:
        cost[1] = FORBIDDEN_COST
    back: list[list[int]] = []
    for upper, lower in pairwise(choices):
        cost, best = _next_rank_costs(state, upper, lower, cost)
        back.append(best)
    if len(choices) - 1 in state.held:
        cost[1] = FORBIDDEN_COST
    choice = cost.index(min(cost))
    combined: list[Row] = []
    for r in range(len(choices) - 1, -1, -1):
        row = choices[r][choice // 2]
        combined.append(row[::-1] if choice % 2 else row[:])
        if r:
            choice = back[r - 1][choice]
    return combined[::-1]


def _distinct_rows(rows: list[Row]) -> list[Row]:
    """Return rows that differ, counting mirror images as equal."""
    kept: list[Row] = []
    seen: set[tuple[int, ...]] = set()
    for row in rows:
        key = tuple(row)
        if key not in seen and key[::-1] not in seen:
            seen.add(key)
            kept.append(row)
    return kept


def _next_rank_costs(
    state: RankState, upper: list[Row], lower: list[Row], cost: list[int]
) -> tuple[list[int], list[int]]:
    """Return, from the least cost to each choice of one rank (plain, mirrored), those of the next, and the best
    predecessors."""
    pairs = _crossable_pairs(state, upper[0], lower[0]) * CROSSING_WEIGHT
    total: list[int] = []
    back: list[int] = []
    place = state.place
    for row in lower:
        for number, item in enumerate(row):
            place[item] = number  # scratch values: the final order sets all places
        plain = [_count_crossings(other, place, state.below) * CROSSING_WEIGHT for other in upper]
        drift = [_sideways_drift(other, place, state.below, len(row)) for other in upper]
        for flip in (0, 1):
            sums = []
            for number, count in enumerate(plain):
                # Mirroring one rank crosses exactly the pairs that did not cross; mirroring both changes nothing.
                forward, mirrored = (pairs - count, count) if flip else (count, pairs - count)
                same, other = drift[number][::-1] if flip else drift[number]
                sums.append(cost[2 * number] + forward + same)
                sums.append(cost[2 * number + 1] + mirrored + other)
            least = min(sums)
            total.append(least)
            back.append(sums.index(least))
    return total, back


def _sideways_drift(row: Row, place: list[int], below: list[list[int]], wide: int) -> tuple[int, int]:
    """Return how far lines run sideways, in half places from the middle of the ranks: plain, and with one rank
    mirrored."""
    plain = mirrored = 0
    here = 1 - len(row)  # twice the distance from the middle, so that it is whole
    for item in row:
        for other in below[item]:
            there = 2 * place[other] + 1 - wide
            plain += abs(here - there)
            mirrored += abs(here + there)
        here += 2
    return plain, mirrored


def _crossable_pairs(state: RankState, upper: Row, lower: Row) -> int:
    """Count the pairs of lines between two ranks that share no end: each crosses in an order or in its mirror image."""
    down = [len(state.below[item]) for item in upper]
    count = sum(down)
    shared = sum(n * (n - 1) for n in down) + sum(len(state.above[i]) * (len(state.above[i]) - 1) for i in lower)
    return (count * (count - 1) - shared) // 2


def _count_crossings(row: Row, place: list[int], below: list[list[int]]) -> int:
    """Count the crossings below one rank, by insertion into a sorted list (Barth, Jünger & Mutzel 2004)."""
    total = 0
    seen: list[int] = []
    for item in row:
        near = below[item]
        if len(near) == 1:
            end = place[near[0]]
            total += len(seen) - bisect_right(seen, end)
            insort(seen, end)
        elif near:
            ends = sorted([place[other] for other in near])
            for end in ends:
                total += len(seen) - bisect_right(seen, end)
            for end in ends:
                insort(seen, end)
    return total


# Mirror the left parts of ranks whose right parts are fixed.


def choose_mirrored_rows(
    halves: Sequence[tuple[Row, Row]], chains: Sequence[Sequence[int]], held: Collection[int]
) -> list[Row]:
    """Return each rank as its left and its right half, the left one mirrored where that saves crossings; the ranks
    `held` stay as they are.

    >>> choose_mirrored_rows([([0], []), ([1, 2], [3]), ([4], [5])], [[0, 1], [0, 3], [0, 2], [1, 5], [2, 4]], ())
    [[0], [2, 1, 3], [4, 5]]
    """
    state = RankState(1 + max(max(chain) for chain in chains), [left + right for left, right in halves], chains)
    choices = [
        [left + right] if number in held or len(left) < 2 else [left + right, left[::-1] + right]
        for number, (left, right) in enumerate(halves)
    ]
    cost = [*range(len(choices[0]))]  # among equals the order as it is
    back: list[list[int]] = []
    for upper, lower in pairwise(choices):
        sums: list[list[int]] = []
        for number, row in enumerate(lower):
            for place, item in enumerate(row):
                state.place[item] = place
            crossings = [_count_crossings(other, state.place, state.below) * CROSSING_WEIGHT for other in upper]
            sums.append([here + crossed + number for here, crossed in zip(cost, crossings, strict=True)])
        cost = [min(found) for found in sums]
        back.append([found.index(min(found)) for found in sums])
    choice = cost.index(min(cost))
    rows = [choices[-1][choice]]
    for number in range(len(back) - 1, -1, -1):
        choice = back[number][choice]
        rows.append(choices[number][choice])
    return rows[::-1]
