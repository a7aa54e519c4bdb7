"""Keep a lane for the main path: other lines go round it on one side, and it runs in the middle of equal items."""

from __future__ import annotations

from itertools import pairwise

from graphviz_tb.arrange.layered.reroute import Rerouter
from graphviz_tb.arrange.layered.state import RankState
from graphviz_tb.arrange.part import Component, Ranks

LANE_PASSES = 2  # a third rarely moves anything
LANE_CROSSING_WEIGHT = 3  # a line crosses two others rather than the main path


def lane_items(part: Component, layers: Ranks) -> list[int]:
    """Return the items of the main path, one for each rank, from its first rank on."""
    lane: list[int] = []
    for edge in part.spine:
        lane += layers.chains[edge][1 if lane else 0 :]
    return lane


def keep_lane(state: RankState, lane: list[int], paths: list[list[int]]) -> None:
    """Lead other paths round the lane if that costs few crossings; then center the lane among the items that could swap
    places with it and among its neighbours that end there."""
    if not lane:
        return
    inside = set(lane)
    others = [path for path in paths if not inside.intersection(path)]
    # counts crossings of the lane more than once
    rerouter = Rerouter(state, others, set(pairwise(lane)), LANE_CROSSING_WEIGHT)
    passes = LANE_PASSES
    while passes and rerouter.reroute_changed():
        passes -= 1
    for item in lane:
        swap_to_middle(state, item)
        center_among_ends(state, item)


def swap_to_middle(state: RankState, item: int) -> None:
    """Swap an item with the middle one of those with equal neighbours.

    >>> state = RankState(5, [[0], [1, 2, 3], [4]], [[0, 1, 4], [0, 2, 4], [0, 3, 4]])
    >>> swap_to_middle(state, 1)
    >>> state.ranks[1]
    [2, 1, 3]
    """
    row = state.ranks[state.rank[item]]
    above, below = set(state.above[item]), set(state.below[item])
    if state.rank[item] in state.held or not (above or below):
        return
    alike = [other for other in row if set(state.above[other]) == above and set(state.below[other]) == below]
    # Equal neighbours: an exchange changes no crossing.
    middle = alike[(len(alike) - 1) // 2]
    here, there = state.place[item], state.place[middle]
    row[here], row[there] = middle, item
    state.place[item], state.place[middle] = there, here


def center_among_ends(state: RankState, item: int) -> None:
    """Center an item among its neighbours in the rank that end where it continues: they have the same adjacent items on
    one side, and none on the other.

    >>> state = RankState(5, [[0], [1, 2, 3], [4]], [[0, 1], [0, 2], [0, 3, 4]])
    >>> center_among_ends(state, 3)
    >>> state.ranks[1]
    [1, 3, 2]
    """
    row, here = state.ranks[state.rank[item]], state.place[item]
    if state.rank[item] in state.held:
        return
    for near, far in ((state.above, state.below), (state.below, state.above)):
        own = set(near[item])
        low = high = here
        while low and own and not far[row[low - 1]] and set(near[row[low - 1]]) == own:
            low -= 1
        while high + 1 < len(row) and own and not far[row[high + 1]] and set(near[row[high + 1]]) == own:
            high += 1
        if low < high:
            row.insert((low + high) // 2, row.pop(here))
            for at in range(low, high + 1):
                state.place[row[at]] = at
            return
