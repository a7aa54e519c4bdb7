"""Slices thinned to pixels: nothing in view is lost from the counts and the busy time, whatever the view."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.model.profile import Lane, Timeline
from graphviz_tb.page.profile import _slice_rows, _thin_slices


def timeline_of_lengths(lengths: list[int]) -> Timeline:
    """A timeline of one row, its slices one after the other."""
    durations = np.array(lengths, np.int64)
    zeros = np.zeros(len(lengths), np.int32)
    return Timeline(
        lanes=(Lane("/device:CPU:0", "t", False, 1),),
        names=("x",),
        nodes=((1,),),
        addresses=("x",),
        lane=zeros,
        level=zeros,
        start=np.cumsum(durations) - durations,
        duration=durations,
        name=zeros,
        node=zeros,
        kind=zeros.astype(np.uint8),
        parent=zeros - 1,
        waited=zeros.astype(np.int64),
    )


def timeline(rows: list[list[tuple[int, int]]]) -> Timeline:
    """A timeline of lanes of one level; of each the gap before a slice, and its length."""
    parts = [[(number, gap, length) for gap, length in row] for number, row in enumerate(rows)]
    flat = [each for part in parts for each in part]
    one = timeline_of_lengths([length for *_, length in flat])
    starts = [
        int(start)
        for part in parts
        for start in np.cumsum([0, *(length for *_, length in part)])[: len(part)]
        + np.cumsum([gap for _, gap, _ in part] or [0])[: len(part)]
    ]
    return replace(
        one,
        lanes=tuple(Lane("d", str(number), False, 1) for number in range(len(rows))),
        lane=np.array([number for number, *_ in flat], np.int32),
        start=np.array(starts, np.int64),
    )


lanes = st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40)), max_size=40), min_size=1, max_size=3)


@given(rows=lanes, first=st.integers(-5, 300), length=st.integers(1, 900), pixels=st.integers(1, 60))
def test_counts_and_busy_time_stay(rows: list[list[tuple[int, int]]], first: int, length: int, pixels: int) -> None:
    line = timeline(rows)
    last = first + length
    seen = (line.start <= last) & (line.start + line.duration >= first)
    found = _thin_slices(line, first, last, pixels, np.arange(len(line)) % 7 == 3)
    assert int(np.sum(found.count)) == int(np.count_nonzero(seen))
    assert int(np.sum(found.busy)) == int(np.sum(line.duration[seen]))
    assert bool(np.any(found.hit)) == bool(np.any(seen & (np.arange(len(line)) % 7 == 3)))
    row, end = _slice_rows(line)[found.slice], found.start + found.duration
    assert np.all((found.start[1:] >= end[:-1]) | (row[1:] != row[:-1]))
    assert np.all(found.busy <= found.duration)
    columns = length // max(1, length // pixels) + 2
    assert all(np.count_nonzero(row == each) <= 2 * columns + 2 for each in range(len(rows)))


def test_narrow_slices_are_drawn_as_one() -> None:
    found = _thin_slices(timeline_of_lengths([1, 1, 50]), 0, 100, 10)
    assert (found.count.tolist(), found.busy.tolist()) == ([2, 1], [2, 50])


def test_a_million_slices_are_few_rectangles() -> None:
    line = timeline_of_lengths([700, 40] * 500_000)
    found = _thin_slices(line, 0, line.end_time, 1000)
    assert len(found.start) <= 1002
    assert int(np.sum(found.count)) == 1_000_000
    near = _thin_slices(line, 1_000_000, 1_010_000, 1000)
    assert np.all(near.count == 1)
    assert len(near.start) < 40
