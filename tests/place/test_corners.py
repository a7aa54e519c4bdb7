"""Cut corners and tracks: what makes a line one stroke."""

from __future__ import annotations

from itertools import pairwise
from math import atan2, degrees, dist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.model.skeleton import LevelGaps
from graphviz_tb.place.routes import _blunt_corners, _is_sharp
from graphviz_tb.place.tracks import (
    FLAT_LINE_PX,
    JOG_CLIMB,
    MAX_TRACK_ROOM,
    MIN_CLIMB,
    SHORT_JOG,
    RankHop,
    assign_tracks,
    gap_height,
)
from tests.effort import examples

downward = st.lists(st.tuples(st.integers(-200, 200), st.integers(30, 120)), min_size=3, max_size=8)


def turns(points: list[tuple[int, int]]) -> list[float]:
    ways = [degrees(atan2(b[1] - a[1], b[0] - a[0])) for a, b in pairwise(points) if a != b]
    return [abs((two - one + 180) % 360 - 180) for one, two in pairwise(ways)]


@examples(200)
@given(downward)
def test_no_sharp_corner_is_left_where_the_runs_are_long(steps: list[tuple[int, int]]) -> None:
    points = [(0, 0), (0, 40)]
    for aside, down in steps:  # aside, then straight down again, as lines run from gap to gap
        points.append((points[-1][0] + aside, points[-1][1] + down))
        points.append((points[-1][0], points[-1][1] + 40))
    cut = _blunt_corners(points, 1, 9)
    assert max(turns(cut)) <= 55
    assert (cut[0], cut[-1]) == (points[0], points[-1])
    assert dist(cut[-1], cut[-2]) >= 9


@pytest.mark.parametrize(("corner", "cut"), [((90, 100), False), ((110, 100), False), ((112, 100), True)])
def test_a_turn_of_more_than_48_degrees_is_sharp(corner: tuple[int, int], cut: bool) -> None:
    # straight down, then aside: 112 aside for 100 down is 48.2°
    assert _is_sharp((0, 0), (0, 100), (corner[0], 200)) is cut


def test_a_line_back_the_way_it_came_is_sharp() -> None:
    assert _is_sharp((0, 0), (0, 10), (0, 5))


def test_flat_lines_that_overlap_turn_one_above_the_other() -> None:
    hops = [RankHop(wire, 0, 20 * wire, 20 * wire + 200, 10) for wire in range(4)]
    assign_tracks(hops)
    assert [hop.early for hop in hops] == sorted({hop.early for hop in hops})
    assert [hop.late for hop in hops] == sorted({hop.late for hop in hops}, reverse=True)


def test_lines_that_run_apart_or_steeply_need_no_track() -> None:
    apart = [RankHop(0, 0, 0, 100, 10), RankHop(1, 0, 100, 200, 10)]
    steep = [RankHop(0, 0, 0, FLAT_LINE_PX, 10), RankHop(1, 0, 10, FLAT_LINE_PX + 10, 10)]
    for hops in (apart, steep):
        assign_tracks(hops)
        assert {(hop.late, hop.early) for hop in hops} == {(0, 0)}


def test_tracks_end_somewhere() -> None:
    hops = [RankHop(wire, 0, wire, wire + 500, 60) for wire in range(40)]
    assign_tracks(hops)
    assert max(hop.early for hop in hops) == max(hop.late for hop in hops) == MAX_TRACK_ROOM


def test_a_gap_is_as_high_as_what_passes_it_needs() -> None:
    gaps = LevelGaps()
    assert gap_height([], 9, 9, 0, gaps) == gaps.ranks
    assert gap_height([RankHop(0, 0, 0, 0, 10)], 9, 18, 0, gaps) == 28  # straight: both ends and a pixel
    assert gap_height([RankHop(0, 0, 0, SHORT_JOG - 1, 10)], 9, 18, 0, gaps) == 27 + JOG_CLIMB
    assert gap_height([RankHop(0, 0, 0, SHORT_JOG, 10)], 9, 18, 0, gaps) == 27 + MIN_CLIMB
    assert gap_height([RankHop(0, 0, 0, 900, 10)], 9, 9, 0, gaps) == gaps.most
    assert gap_height([RankHop(0, 0, 0, 900, 10)], 0, 9, gaps.beyond, gaps) == gaps.most - gaps.beyond
