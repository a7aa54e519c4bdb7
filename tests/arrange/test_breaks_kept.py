"""Where a chain may go on in a further column, and which breaks stay when boxes are moved by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphviz_tb.arrange.component import Ranks
from graphviz_tb.arrange.level import arrange
from graphviz_tb.arrange.wrap import _best_joint, _lines_between_ranks, _passed_places, _reduce_rows, carry_breaks
from tests.arrange.levels import level
from tests.each import each


def test_between_ranks_pass_boxes_and_lines() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3, and 0 ─▶ 2 by way of waypoint 4
    layers = Ranks([[0], [1, 4], [2], [3]], [[0, 1], [1, 2], [0, 4, 2], [2, 3]])
    assert _lines_between_ranks(layers) == [(0, 0), (1, 2), (1, 2), (1, 1)]
    # two boxes give to two: two on either side
    assert _lines_between_ranks(Ranks([[0, 1], [2, 3]], [[0, 2], [0, 3], [1, 3]]))[1] == (2, 3)


def test_where_too_many_lines_pass_they_are_counted_alone() -> None:
    layers = Ranks([[0], list(range(1, 9))], [[0, box] for box in range(1, 9)])
    assert _lines_between_ranks(layers)[1] == (8, 8)


@each(
    ("passing", "rank"),
    [
        ([9, 9, 3, 9, 9, 9, 3, 9, 9], 2),  # both as near: the first
        ([9, 9, 9, 3, 9, 9, 3, 9, 9], 3),
        ([9, 9, 3, 9, 9, 3, 9, 9, 9], 5),
        ([9, 1, 3, 9, 9, 9, 9, 1, 9], 2),  # 1 and 7 are too far away
        ([9, 9, 9, 9, 9, 9, 2, 1, 9], 6),
        ([9] * 9, 4),
    ],
)
def test_a_column_begins_where_least_passes_near_the_wanted_rank(passing: list[int], rank: int) -> None:
    assert _best_joint([(count, count) for count in passing], 4, 2) == rank


@each(
    ("rows", "breaks"),
    [
        ([[0], [1], [2], [3]], (2,)),
        ([[4], [0], [1], [2], [3]], (3,)),  # a box that was put in
        ([[0], [1], [4], [2], [3]], (3,)),
        ([[1], [2], [3]], (1,)),
        ([[0], [1], [3]], (2,)),
        ([[0], [2], [1], [3]], ()),
        ([[2], [3]], ()),
        ([[0], [1]], ()),
        ([[4]], ()),
        ([[0], [1, 2], [3]], ()),
    ],
)
def test_a_break_stays_where_what_was_above_still_is(rows: list[list[int]], breaks: tuple[int, ...]) -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3, the second column from 2 on
    plain = arrange(level(4, (0, 1), (1, 2), (2, 3)))
    old = replace(plain, children=5, breaks=((2,),))
    new = replace(old, parts=(tuple(tuple(row) for row in rows),))
    assert carry_breaks(old, new) == (breaks,)
    assert carry_breaks(plain, new) == ()


def test_a_column_without_items_is_none() -> None:
    # 0 │ 1 2 │ 3: a column that is empty, or has only a line that passes it, does not begin
    plain = arrange(level(4, (0, 1), (1, 2), (2, 3)))
    old = replace(plain, breaks=((1, 3),))
    assert carry_breaks(old, replace(old, parts=(((0,), (2,), (3,)),))) == ((1, 2),)
    assert carry_breaks(old, replace(old, parts=(((0,), (3,)),))) == ((1,),)
    assert carry_breaks(old, replace(old, parts=(((0,), (9,), (3,)),))) == ((2,),)


def test_a_part_made_of_two_keeps_no_break() -> None:
    plain = arrange(level(4, (0, 1), (2, 3)))
    old = replace(plain, breaks=((1,), (1,)))
    assert carry_breaks(old, replace(old, parts=(((0, 2), (1, 3)),))) == ((),)


def test_lines_pass_the_rows_that_are_added_to_each_rank_on_their_way() -> None:
    # 0 ─▶ 1 ─▶ 3, 0 ─▶ 2 ─▶ 3, 0 ─▶ 3 by way of 4; the rank in the middle has three rows, the last two
    layers = Ranks([[0], [1, 4, 2], [3]], [[0, 1], [1, 3], [0, 2], [2, 3], [0, 4, 3]])
    assert _passed_places(layers, [1, 1, 1]) == 0
    assert _passed_places(layers, [1, 3, 1]) == 5 * 2
    assert _passed_places(layers, [1, 3, 2]) == 5 * 2 + 3
    assert _passed_places(layers, [2, 1, 1]) == 3


@pytest.mark.parametrize(("found", "rows"), [(100, [1, 7]), (120, [1, 6]), (200, [1, 4]), (10_000, [1, 1])])
def test_where_too_much_is_found_there_are_fewer_rows(found: int, rows: list[int]) -> None:
    assert _reduce_rows([1, 7], found, 100) == rows
