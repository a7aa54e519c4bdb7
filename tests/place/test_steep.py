"""Lines between two ranks that must cross: the inner one keeps clear of the outer one up to its own turn."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.place.tracks import RankHop, _depth_at, _total_nearness, assign_tracks, cross_steeply

ACROSS = st.integers(0, 600)


def too_near(hops: list[RankHop], height: int) -> int:
    return sum(
        _total_nearness(hop, (hop.late, height - hop.early), [one for one in hops if one is not hop], height)
        for hop in hops
    )


@pytest.mark.parametrize("way", [1, -1])
def test_the_inner_of_two_crossing_lines_runs_beside_the_outer_one(way: int) -> None:
    outer, inner = RankHop(0, 0, 0, 356 * way, 10), RankHop(1, 0, 192 * way, 264 * way, 10)
    assign_tracks([outer, inner])
    assert too_near([outer, inner], 20)
    cross_steeply([outer, inner], 20)
    ends = (inner.start, inner.late), (inner.end, 20 - inner.early)
    assert all(abs(y - _depth_at(outer, x, 20)) >= 5 for x, y in ends)
    assert not too_near([outer, inner], 20)


@given(st.lists(st.tuples(ACROSS, ACROSS, st.integers(10, 60)), max_size=12), st.integers(0, 40))
def test_lines_stay_in_their_gap_and_come_no_nearer(lines: list[tuple[int, int, int]], spare: int) -> None:
    hops = [RankHop(number, 0, *line) for number, line in enumerate(lines)]
    assign_tracks(hops)
    height = max((hop.late + hop.early + hop.min_climb for hop in hops), default=1) + spare
    before = [replace(hop) for hop in hops]
    cross_steeply(hops, height)
    assert all(hop.late >= 0 and hop.early >= 0 and hop.late + hop.early < height for hop in hops)
    assert too_near([hop for hop in hops if hop.sideways > 48], height) <= too_near(
        [hop for hop in before if hop.sideways > 48], height
    )
