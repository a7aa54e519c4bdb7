"""Thin a timeline to the pixels that show it: adjacent narrow slices of one row become one.

row       a level of a lane: its slices never overlap
thinned   the visible slices of a row; wide ones alone, narrow ones that begin in one pixel column merged
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Bools, Ints, Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.profile import Timeline


@dataclass(frozen=True, slots=True, eq=False)
class ThinnedSlices:
    """The drawn slices by row and start. `count` slices are merged into one, `busy` is the sum of their durations in
    ns; `slice` is the longest of them, by index in the timeline, `hit` whether one of them is marked."""

    slice: Longs
    start: Longs
    duration: Longs
    count: Ints
    busy: Longs
    hit: Bools


def slice_rows(timeline: Timeline) -> Longs:
    """Return the row of each slice: lanes one after the other, each with its levels."""
    first = np.cumsum([0, *(lane.levels for lane in timeline.lanes)], dtype=np.int64)  # of each lane
    rows: Longs = first[timeline.lane] + timeline.level
    return rows


def thin_slices(timeline: Timeline, first: int, last: int, pixels: int, marked: Bools | None = None) -> ThinnedSlices:
    """Return the slices visible from `first` to `last` nanoseconds, on `pixels` columns.

    Only detail is lost: counts and busy times add up to those of all visible slices, and each row keeps about one slice
    for each column. Equal views give equal results.
    """
    place = _slices_in_view(timeline, first, last)
    start, duration = timeline.start[place], timeline.duration[place]
    column = max(1, (last - first) // max(1, pixels))  # nanoseconds
    begins = _starts_of_drawn(slice_rows(timeline)[place], start, duration, column)
    if not len(begins):
        return ThinnedSlices(place, start, duration, np.zeros(0, np.int32), duration, np.zeros(0, bool))
    ends = np.append(begins[1:], len(place))
    longest = np.maximum.reduceat(duration, begins)
    is_longest = np.flatnonzero(duration == np.repeat(longest, ends - begins))
    chosen = is_longest[np.searchsorted(is_longest, begins)]  # the first of them
    hit = np.zeros(len(begins), bool)
    if marked is not None:
        hit = np.logical_or.reduceat(marked[place], begins)
    return ThinnedSlices(
        slice=place[chosen],
        start=start[begins],
        duration=start[ends - 1] + duration[ends - 1] - start[begins],
        count=(ends - begins).astype(np.int32),
        busy=np.add.reduceat(duration, begins),
        hit=hit,
    )


def _slices_in_view(timeline: Timeline, first: int, last: int) -> Longs:
    """Return the indices of the slices visible at some time of a view."""
    end = timeline.start + timeline.duration
    seen: Longs = np.flatnonzero((timeline.start <= last) & (end >= first))
    return seen


def _starts_of_drawn(row: Longs, start: Longs, duration: Longs, column: int) -> NDArray[Any]:
    """Return where drawn slices begin: at each wide one, and at each narrow one in another column or row than the
    previous one."""
    if not len(row):
        return np.zeros(0, np.int64)
    wide = duration >= column
    place = start // column
    new = (row[1:] != row[:-1]) | wide[1:] | wide[:-1] | (place[1:] != place[:-1])
    return np.flatnonzero(np.concatenate(([True], new)))
