"""Levels that are too long: which stretches become segments, and where they are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest

from graphviz_tb.fold.flow.box import FlowBox, make_group
from graphviz_tb.fold.flow.invariants import (
    _cut_into_pieces,
    _name_checksum,
    cut_into_segments,
    enforce_limits,
    narrow_to_limit,
    total_child_count,
)
from graphviz_tb.model.hierarchy import GroupOrigin
from tests.fold.boxes import context, rows, wired


def names(boxes: list[FlowBox]) -> list[str]:
    """Rows by name; groups as the names of what they hold, in brackets."""
    return [f"({' '.join(names(box.members))})" if box.members else box.name for box in boxes]


def grouped(*inside: str) -> FlowBox:
    """A group by name."""
    return make_group(GroupOrigin.NAME, rows(*inside), 1000)


def test_stretches_of_three_boxes_between_groups_are_segments() -> None:
    # a b [c d e] f g h, and a group of two at the end of it
    boxes = [*rows("a", "b"), grouped("c", "d"), *rows("e", "f", "g"), grouped("h", "i")]
    assert names(narrow_to_limit(boxes, context(soft=5), 5)) == ["a", "b", "(c d)", "(e f g)", "(h i)"]
    assert names(narrow_to_limit(boxes, context(soft=7), 7)) == names(boxes)


def test_a_large_box_is_in_no_segment() -> None:
    boxes = [*rows("a"), *rows("b", ops=201), *rows("c", "d", "e")]
    assert names(narrow_to_limit(boxes, context(), 3)) == ["a", "b", "(c d e)"]
    boxes[1] = rows("b", ops=200)[0]
    assert all(name.startswith("(") or name in "abcde" for name in names(narrow_to_limit(boxes, context(most=3), 3)))
    assert names(narrow_to_limit([*boxes, grouped("g")], context(), 3)) == ["(a b c d e)", "(g)"]


def test_what_is_allowed_is_not_cut_without_meaning() -> None:
    # six boxes where five are the aim: cut only if six are not allowed, or five are all that is
    boxes = rows(*"abcdef")
    assert names(narrow_to_limit(boxes, context(most=6), 5)) == list("abcdef")
    assert len(narrow_to_limit(boxes, context(most=5), 5)) < 6
    assert len(narrow_to_limit(boxes, context(most=5), 4)) < 6


def test_feeders_count_as_boxes() -> None:
    one, two, three, four = rows(*"abcd")
    one.feeders, two.feeders = [two, three], [four]
    assert (total_child_count([one]), total_child_count([two]), total_child_count([four, three])) == (1 + 2 + 1, 2, 2)


@pytest.mark.parametrize(("count", "pieces"), [(20, 2), (23, 4), (100, 12), (48, 12), (7, 3)])
def test_a_stretch_is_cut_near_equal_parts_before_boxes_of_least_checksum(count: int, pieces: int) -> None:
    boxes = rows(*(f"n{number}" for number in range(count)))
    found = _cut_into_pieces(boxes, pieces)
    assert [box for piece in found for box in piece] == boxes
    size, done = count / pieces, 0
    for piece, following in pairwise(found):
        # From 0.6 to 1.4 of an equal part, and one box at least.
        low, high = max(int(done + 0.6 * size), done + 1), int(done + 1.4 * size)
        done += len(piece)
        assert low <= done <= high
        assert _name_checksum(following[0]) == min(_name_checksum(box) for box in boxes[low : high + 1])
    assert 0.1 * size <= len(found[-1]) <= 1.5 * size


@pytest.mark.parametrize(("count", "most"), [(12, 3), (15, 3), (16, 4), (400, 12)])
def test_pieces_have_four_boxes_or_more_and_there_are_twelve_at_most(count: int, most: int) -> None:
    found = cut_into_segments(rows(*(f"n{number}" for number in range(count))), context(soft=500))
    assert abs(len(found) - most) <= 1 + most // 4
    assert all(box.how == GroupOrigin.SEGMENT for box in found if box.members)


def test_a_piece_that_is_still_too_wide_is_cut_again() -> None:
    found = cut_into_segments(rows(*(f"n{number}" for number in range(400))), context(soft=16))
    assert all(total_child_count(box.members) <= 16 for box in found)
    assert any(inner.members for box in found for inner in box.members)


def test_a_tall_stack_has_ranges_of_about_equal_length() -> None:
    members = rows(*(f"n{number}" for number in range(50)), symbol=3)
    tall = make_group(GroupOrigin.REPEAT, members, 4)
    tall.unit = 3
    [found] = enforce_limits([tall], context(most=40))
    assert all(part.how == GroupOrigin.SEGMENT for part in found.members)
    assert len(found.members) in (2, 3, 4)
    assert [row for part in found.members for row in part.members] == members
    low = make_group(GroupOrigin.REPEAT, members[:40], 4)
    low.unit = 3
    assert enforce_limits([low], context(most=40))[0].members == members[:40]


def test_a_member_of_a_stack_is_one_box_with_its_feeders() -> None:
    one, two, feeder = rows(*"abf")
    two.feeders = [feeder]
    pair = make_group(GroupOrigin.REPEAT, [one, two], 4)
    pair.unit = 3
    [found] = enforce_limits([pair], context())
    assert found.members[0] is one
    assert found.members[1].members == [feeder, two]
    assert two.feeders == []


def test_groups_inside_keep_to_their_bounds() -> None:
    wide = make_group(GroupOrigin.NAME, rows(*(f"n{number}" for number in range(41))), 4)
    fits = make_group(GroupOrigin.NAME, rows(*(f"n{number}" for number in range(40))), 4)
    held = make_group(GroupOrigin.NAME, [wide, fits], 5)
    [found] = enforce_limits([held], context(soft=16, most=40))
    assert total_child_count(found.members[0].members) <= 16
    assert len(found.members[1].members) == 40


def test_separate_flows_are_in_no_common_segment() -> None:
    # b0 ─▶ b1 ─▶ b2 and b3 ─▶ b4 ─▶ b5, then a stack
    dag = wired(7, (0, 1), (1, 2), (3, 4), (4, 5), (2, 6), (5, 6))
    dag.boxes[6].how = GroupOrigin.REPEAT
    assert names(narrow_to_limit(dag.boxes, context(), 3)) == ["(b0 b1 b2 b3 b4 b5)", "b6"]
    assert names(narrow_to_limit(dag.boxes, context(), 3, dag)) == ["(b0 b1 b2)", "(b3 b4 b5)", "b6"]


def test_branches_of_a_cell_are_one_segment() -> None:
    # a stack ─▶ b1 ─▶ b2 ─▶ b3, a stack ─▶ b4 ─▶ b5, and b6 reads what is given to the level; they meet in a stack
    dag = wired(8, (0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (3, 7), (5, 7), (6, 7))
    dag.boxes[0].how = dag.boxes[7].how = GroupOrigin.REPEAT
    assert names(narrow_to_limit(dag.boxes, context(), 3, dag)) == ["b0", "(b1 b2 b3 b4 b5 b6)", "b7"]


def test_boxes_of_which_none_feeds_another_are_no_segment() -> None:
    dag = wired(5, (0, 1), (0, 2), (0, 3), (0, 4))
    dag.boxes[0].how = GroupOrigin.REPEAT
    assert names(narrow_to_limit(dag.boxes, context(), 3, dag)) == ["b0", "b1", "b2", "b3", "b4"]
