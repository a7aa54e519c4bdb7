"""Regions, branches and ways of a level: what is a stack beside each other, and what stays in sight."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from graphviz_tb.fold.flow.box import Dag, FlowBox, make_dag, walk_boxes
from graphviz_tb.fold.flow.invariants import enforce_limits
from graphviz_tb.fold.flow.order import compute_flow_order
from graphviz_tb.fold.flow.regions import (
    _find_shared_inputs,
    _fold_flow,
    _fold_inside_region,
    _make_elements,
    _min_equal_branches,
    _stack_equal_boxes,
    _stack_parallel_parts,
)
from graphviz_tb.model.hierarchy import GroupOrigin
from tests.each import each
from tests.fold.boxes import context, rows, wired


def chain(first: int, stop: int) -> list[tuple[int, int]]:
    """Boxes one after the other."""
    return list(pairwise(range(first, stop)))


def sized(dag: Dag, ops: int, symbols: Sequence[int] = ()) -> Dag:
    """The same graph of boxes of so many ops, and of such structures."""
    boxes = [FlowBox(box.name, box.symbol, ops, box.row) for box in dag.boxes]
    for box, symbol in zip(boxes, symbols, strict=False):
        box.symbol = symbol
    return make_dag(boxes, dag.before, dag.outside)


def heights(boxes: Sequence[FlowBox]) -> list[int]:
    """The members of each stack, 0 for other boxes."""
    return [len(box.members) if box.is_repetition else 0 for box in boxes]


@each(("ops", "fewest"), [(1, 1 << 30), (2, 1 << 30), (3, 3), (19, 3), (20, 2), (500, 2)])
def test_three_equal_branches_are_a_stack_or_two_large_ones(ops: int, fewest: int) -> None:
    assert _min_equal_branches(FlowBox("", 1, ops)) == fewest


def test_a_stack_stands_in_the_place_of_its_first_member() -> None:
    boxes = [*rows("a"), *rows("b", "c", "d", symbol=9), *rows("e", "f", "g", symbol=8)]
    boxes = [boxes[0], boxes[1], boxes[4], boxes[2], boxes[5], boxes[3]]
    found = _stack_equal_boxes(boxes, context(), lambda box: 3)
    assert heights(found) == [0, 3, 0, 0]
    assert found[0] is boxes[0]
    assert found[1].sideways
    assert found[1].members == [boxes[1], boxes[3], boxes[5]]


@each(
    ("count", "ops", "most", "tall"),
    [(2, 3, 40, True), (2, 2, 40, False), (5, 2, 40, False), (5, 2, 5, False), (6, 2, 5, True), (4, 2, 3, False)],
)
def test_equal_parts_are_a_stack_where_they_are_large_or_the_level_is_too_wide(
    count: int, ops: int, most: int, tall: bool
) -> None:
    found = _stack_parallel_parts(rows(*"abcdefgh"[:count], ops=ops, symbol=4), context(most=most))
    assert heights(found) == ([count] if tall else [0] * count)


@each(
    ("ways", "needs", "shared"),
    [
        ([6, 6, 6], 0, True),
        ([6, 6], 0, False),
        ([6, 6, 6], 7, True),
        ([6, 6, 6], 8, False),
        ([3, 3, 6], 0, True),
        ([3, 3, 7], 0, False),
    ],
)
def test_small_inputs_that_parallel_ways_share_belong_to_none(ways: list[int], needs: int, shared: bool) -> None:
    # so many boxes ─▶ a rate, which every box of each way reads
    rate = needs
    lines, start = [*chain(0, needs + 1)], needs + 1
    for length in ways:
        lines += [*chain(start, start + length), *((rate, box) for box in range(start, start + length))]
        start += length
    dag = wired(start, *lines)
    assert _find_shared_inputs(dag, compute_flow_order(dag)) == (set(range(needs + 1)) if shared else set())


@each(
    ("count", "ops", "tall"),
    [(2, 20, []), (3, 20, [3]), (3, 19, [3]), (3, 3, [3]), (3, 2, []), (4, 1, [])],
)
def test_equal_branches_of_a_region_are_a_stack(count: int, ops: int, tall: list[int]) -> None:
    # so many boxes ─▶ the exit; three boxes are shown as they are
    dag = sized(wired(count + 1, *((box, count) for box in range(count))), ops, [7] * count)
    found = _fold_inside_region(dag, context(), 0)
    assert [height for height in heights(found) if height] == tall
    assert found[-1] is dag.boxes[-1]


def test_two_large_branches_beside_another_are_a_stack() -> None:
    dag = sized(wired(4, (0, 3), (1, 3), (2, 3)), 20, [7, 7])
    assert sorted(heights(_fold_inside_region(dag, context(), 0))) == [0, 0, 2]


def test_branches_of_several_boxes_are_groups_in_a_large_region_only() -> None:
    # branches 0 ─▶ … ─▶ 4 and 5 ─▶ … ─▶ 10, and the exit; twelve boxes can be seen at once
    small = wired(12, *chain(0, 5), *chain(5, 11), (4, 11), (10, 11))
    assert [box.how for box in _fold_inside_region(small, context(), 0)] == [GroupOrigin.NONE] * 12
    large = wired(13, *chain(0, 6), *chain(6, 12), (5, 12), (11, 12))
    assert [box.how for box in _fold_inside_region(large, context(), 0)] == [
        GroupOrigin.BRANCH,
        GroupOrigin.BRANCH,
        GroupOrigin.NONE,
    ]
    single = wired(9, *chain(0, 7), (6, 8), (7, 8))
    assert GroupOrigin.BRANCH not in [box.how for box in _fold_inside_region(single, context(), 0)]


def test_parts_that_nothing_joins_are_branches_beside_each_other() -> None:
    # two chains of five unlike boxes, and two boxes alone
    dag = wired(12, *chain(0, 5), *chain(5, 10))
    found = _fold_flow(dag, context(), 16)
    assert [box.how for box in found] == [GroupOrigin.BRANCH, GroupOrigin.BRANCH, GroupOrigin.NONE, GroupOrigin.NONE]
    assert [box.ops for box in found] == [5, 5, 1, 1]
    equal = sized(dag, 1, [*range(5), *range(5)])
    assert heights(_fold_flow(equal, context(), 16)) == [0, 0, 0, 0]  # four boxes are seen at once
    five = sized(wired(15, *chain(0, 5), *chain(5, 10), *chain(10, 12)), 1, [*range(5), *range(5)])
    assert heights(_fold_flow(five, context(), 16)) == [2, 0, 0, 0, 0]


def test_where_no_more_may_be_looked_at_the_order_alone_counts() -> None:
    # two chains of three: two branches, or six boxes
    dag = wired(6, *chain(0, 3), *chain(3, 6))
    assert [box.ops for box in _fold_flow(dag, context(), 16)] == [3, 3]
    assert [box.ops for box in _fold_flow(dag, context(), 16, depth=12)] == [3, 3]
    assert [box.ops for box in _fold_flow(dag, context(budget=5), 16)] == [1] * 6
    assert [box.ops for box in _fold_flow(dag, context(), 16, depth=13)] == [1] * 6
    assert [box.name for box in _fold_flow(wired(2, (1, 0)), context(budget=0), 16)] == ["b1", "b0"]


@pytest.mark.parametrize(("given", "shortcut"), [(0, True), (1, False), (2, False)])
def test_a_stretch_has_a_shortcut_where_its_last_box_takes_what_is_before_it(given: int, shortcut: bool) -> None:
    # 0 ─▶ [1 ─▶ 2 ─▶ 3] ─▶ 4, and a second line to 3; 5 hangs on 4
    dag = wired(6, *chain(0, 5), (given, 3), (4, 5))
    order = compute_flow_order(dag)
    found = _make_elements(dag, order, [0, 3, 4, 5], [10, 11, 12, 13, 14, 15], context(), 0)
    assert [(each.fork, each.shortcut, each.source, each.side) for each in found] == [
        (False, False, True, False),
        (True, shortcut, False, False),
        (False, False, False, False),
        (False, False, False, order.side[order.line[5]]),
    ]
    assert [each.cut for each in found] == [order.cut()[end] for end in (0, 3, 4, 5)]
    assert [tuple(box.symbol for box in each.boxes) for each in found] == [(0,), (1, 2, 3), (4,), (5,)]
    assert [each.symbol for each in found][::2] == [10, 14]


def test_a_box_that_is_given_something_from_outside_is_no_source() -> None:
    dag = wired(2, (0, 1), outside=[[9], []])
    found = _make_elements(dag, compute_flow_order(dag), [0, 1], [10, 11], context(), 0)
    assert [each.source for each in found] == [False, False]


def test_equal_stretches_are_folded_once_over_their_own_boxes() -> None:
    dag = wired(6, *chain(0, 6))
    kit = context()
    one, two = _make_elements(dag, compute_flow_order(dag), [2, 5], [7, 8, 9, 7, 8, 9], kit, 0)
    assert one.symbol == two.symbol
    assert [box.row for box in one.box.members] == [0, 1, 2]
    assert [box.row for box in two.box.members] == [3, 4, 5]
    assert len(kit.known) == 1


def fed(first: int, *lines: tuple[int, int]) -> Dag:
    """21 boxes, `first` the row of the first: three times five equal ones in a row, each with a feeder of its own,
    between two others."""
    ways = [line for start in (0, 7, 14) for line in chain(start, start + 7)]
    dag = sized(wired(21, *ways, *lines), 3, [8, 7, 7, 7, 7, 7, 9] * 3)
    for number, box in enumerate(dag.boxes):
        box.row = first + number
        box.feeders = [FlowBox("f", 6, 1, box.row + 1000)] if box.symbol == 7 else []
    return dag


@each(("lines", "regions"), [((), 0), (((0, 6), (6, 7), (7, 13), (13, 14), (14, 20)), 1)])
def test_what_equals_something_that_is_finished_holds_its_own_feeders(
    lines: tuple[tuple[int, int], ...], regions: int
) -> None:
    kit = context()
    for first in (0, 100):  # as an evaluation equals its model
        level = fed(first, *lines)
        found = enforce_limits(_fold_flow(level, kit, 16), kit)
        held = sorted(box.row for box in walk_boxes(found) if not box.members)
        assert held == sorted(row for box in level.boxes for row in (box.row, box.row + 1000)[: 1 + (box.symbol == 7)])
    assert (len(kit.known), len(kit.branches)) == (regions, not regions)
