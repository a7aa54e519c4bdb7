"""Long chains go on in further columns, at joints that few lines pass."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.arrange.level import ArrangeOptions, arrange
from graphviz_tb.model.metagraph import DrawingMask, Metaedge, Metagraph
from graphviz_tb.model.skeleton import Skeleton
from tests.arrange.levels import check


def level(count: int, *more: tuple[int, int]) -> Metagraph:
    """A chain of `count` boxes, with more edges."""
    edges = tuple(Metaedge(one, two, 1, 0, 0) for one, two in (*pairwise(range(count)), *more))
    return Metagraph(0, tuple(range(1, count + 1)), (2,) * count, edges, ())


def residual(blocks: int) -> Metagraph:
    """Blocks of four, each with a skip over it: 0 → 1 → 2 → 3 → 4, 0 → 4 → …"""
    return level(4 * blocks + 1, *((4 * at, 4 * at + 4) for at in range(blocks)))


def columns(skeleton: Skeleton) -> list[int]:
    """How many ranks each column of the first part has."""
    ends = (0, *skeleton.breaks[0], len(skeleton.parts[0]))
    return [end - start for start, end in pairwise(ends)]


def test_what_a_screen_shows_stays_in_one_column() -> None:
    assert arrange(level(16)).breaks == ()
    assert arrange(level(17)).breaks != ()


def test_columns_are_about_equal_and_no_thinner_than_one_to_two() -> None:
    found = columns(arrange(level(60)))
    assert max(found) - min(found) <= 1
    assert max(found) * 72 <= 2 * len(found) * (88 + 72)


def test_a_wide_level_stays_in_one_piece() -> None:
    rows = [(9 * at + one, 9 * at + 9 + one) for at in range(19) for one in range(9)]
    edges = tuple(Metaedge(one, two, 1, 0, 0) for one, two in rows)
    assert arrange(Metagraph(0, tuple(range(1, 181)), (2,) * 180, edges, ())).breaks == ()


def test_columns_begin_between_blocks() -> None:
    skeleton = arrange(residual(10))
    rank = {row[0]: r for r, row in enumerate(skeleton.parts[0])}
    joints = {rank[4 * at] + 1 for at in range(10)} | {rank[4 * at] for at in range(10)}
    assert skeleton.breaks[0]
    assert set(skeleton.breaks[0]) <= joints


def test_where_many_lines_pass_the_chain_stays_in_one_piece() -> None:
    skips = [(at, 39 - at) for at in range(8)]
    assert arrange(level(40, *skips)).breaks == ()


@pytest.mark.parametrize(("lanes", "goes_on"), [(3, True), (4, False)])
def test_three_lines_lead_on_to_the_next_column_and_four_are_too_many(lanes: int, goes_on: bool) -> None:
    # 0 ─▶ so many chains of 39 boxes beside each other ─▶ the last
    last = 39 * lanes + 1
    ends = [(0, lane + 1) for lane in range(lanes)] + [(last - lane - 1, last) for lane in range(lanes)]
    inner = [(box, box + lanes) for box in range(1, last - lanes)]
    edges = tuple(Metaedge(one, two, 1, 0, 0) for one, two in (*ends, *inner))
    found = arrange(Metagraph(0, tuple(range(1, last + 2)), (2,) * (last + 1), edges, ())).breaks
    assert bool(found) is goes_on


def test_it_can_be_left() -> None:
    assert arrange(level(60), ArrangeOptions(wrap=False)).breaks == ()


@given(st.integers(0, 59))
def test_a_node_that_moves_away_takes_no_other_to_another_column(moved: int) -> None:
    before = arrange(level(60))
    away = replace(level(60), mask=DrawingMask(out_extract=(moved,)))
    after = arrange(away)
    check(away, after)
    one, two = column_of(before), column_of(after)
    for part in after.parts:
        inside = [item for row in part for item in row if item < 60]
        assert all((one[a] < one[b]) == (two[a] < two[b]) for a, b in pairwise(inside))


def column_of(skeleton: Skeleton) -> dict[int, int]:
    """The column of each child in its part."""
    broken = skeleton.breaks or ((),) * len(skeleton.parts)
    return {
        item: sum(at <= rank for at in broken[p])
        for p, part in enumerate(skeleton.parts)
        for rank, row in enumerate(part)
        for item in row
        if item < skeleton.children
    }
