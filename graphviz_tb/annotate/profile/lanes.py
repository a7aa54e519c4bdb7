"""Levels of the slices of one lane: slices of one level never overlap.

nested    on a thread or stream executions nest: a slice is one level below the slice around it
packed    on a device without recorded threads: a slice is on the first free level
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from graphviz_tb.limits import MAX_LANE_LEVELS

SliceTimes = Iterable[tuple[int, int]]  # start and end, sorted by start, then the longest first
NO_LEVEL = -1  # too many slices at once


def nested_levels(times: SliceTimes) -> tuple[list[int], list[int]]:
    """Return the level of each slice and the slice around it, -1 for none.

    >>> nested_levels([(0, 10), (1, 4), (2, 3), (5, 6), (8, 12)])
    ([0, 1, 2, 1, 1], [-1, 0, 1, 0, -1])
    """
    levels: list[int] = []
    parents: list[int] = []
    open_now: list[tuple[int, int, int]] = []  # end, level, slice; the deepest last
    most: int = MAX_LANE_LEVELS
    for number, (start, end) in enumerate(times):
        open_now = [each for each in open_now if each[0] > start]
        level = open_now[-1][1] + 1 if open_now else 0
        parent = next((each[2] for each in reversed(open_now) if each[0] >= end), -1)
        if level >= most:
            level, parent = NO_LEVEL, -1
        else:
            open_now.append((end, level, number))
        levels.append(level)
        parents.append(parent)
    return levels, parents


def packed_levels(times: SliceTimes) -> list[int]:
    """Return the level of each slice.

    >>> packed_levels([(0, 10), (1, 4), (4, 6), (11, 12)])
    [0, 1, 1, 0]
    """
    levels: list[int] = []
    free = list(range(MAX_LANE_LEVELS))
    heapify(free)
    taken: list[tuple[int, int]] = []  # end, level
    for start, end in times:
        while taken and taken[0][0] <= start:
            heappush(free, heappop(taken)[1])
        level = heappop(free) if free else NO_LEVEL
        if level != NO_LEVEL:
            heappush(taken, (end, level))
        levels.append(level)
    return levels
