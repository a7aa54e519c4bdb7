"""One line along the flow of a level: where boxes stand in it, what crosses each place, and what tokens tell."""

from __future__ import annotations

from itertools import pairwise

import pytest

from graphviz_tb.fold.flow.box import Dag, SymbolTable
from graphviz_tb.fold.flow.order import (
    _order_by_demand,
    _start_of_last_part,
    box_depths,
    box_tokens,
    compute_flow_order,
    count_crossing_lines,
    ignore_far_lines,
)
from tests.each import each
from tests.fold.boxes import rows, wired


def chain(first: int, stop: int) -> list[tuple[int, int]]:
    """Boxes one after the other."""
    return list(pairwise(range(first, stop)))


def cut(dag: Dag, far: int | None = None, broadcast: tuple[int, ...] = (), memory: tuple[int, ...] = ()) -> list[int]:
    """How many lines cross behind each box, these standing in the order of their numbers."""
    places = list(range(len(dag)))
    return count_crossing_lines(dag, box_depths(dag), places, places, broadcast, memory, far)


def test_a_box_crosses_each_place_up_to_its_last_user_once() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3 ─▶ 4, and 0 ─▶ 3
    dag = wired(5, *chain(0, 5), (0, 3))
    assert cut(dag) == [1, 2, 2, 1, 0]
    assert cut(dag, far=3) == [1, 1, 1, 1, 0]
    assert cut(dag, far=4) == [1, 2, 2, 1, 0]
    assert cut(dag, broadcast=(0,)) == [0, 1, 1, 1, 0]
    assert cut(dag, memory=(0,)) == [0, 1, 1, 1, 0]
    assert ignore_far_lines(dag, compute_flow_order(dag), 3).cut() == [1, 1, 1, 1, 0]


def test_lines_to_a_collector_count_nowhere() -> None:
    dag = wired(26, *chain(0, 25), *((box, 25) for box in range(0, 24, 3)))
    assert cut(dag) == [1] * 24 + [0, 0]


@each(
    ("first", "second", "begins"),
    # four boxes, which the first tower has with the two behind it, and a tenth of the level
    [(5, 5, 5), (2, 5, 2), (1, 5, 0), (5, 3, 0), (4, 4, 4), (30, 6, 30), (60, 6, 0)],
)
def test_before_the_last_of_two_towers_no_place_is_narrow(first: int, second: int, begins: int) -> None:
    join = first + second
    dag = wired(join + 2, *chain(0, first), *chain(first, join), (first - 1, join), (join - 1, join), (join, join + 1))
    places = list(range(len(dag)))
    assert _start_of_last_part(dag, places, ()) == begins
    assert cut(dag)[0] == (2 if begins else 1)


@pytest.mark.parametrize(
    ("lengths", "begins"), [([2, 2, 2], 4), ([2, 2], 0), ([2, 2, 1], 0), ([1, 1, 1], 0), ([3, 3, 3, 3], 9)]
)
def test_equal_ways_that_meet_first_of_all_are_parts_too(lengths: list[int], begins: int) -> None:
    starts = [sum(lengths[:number]) for number in range(len(lengths))]
    join = sum(lengths)
    lines = [line for start, length in zip(starts, lengths, strict=True) for line in chain(start, start + length)]
    lines += [(start + length - 1, join) for start, length in zip(starts, lengths, strict=True)]
    dag = wired(join + 3, *lines, *chain(join, join + 3))
    assert _start_of_last_part(dag, list(range(join + 3)), ()) == begins


def test_a_broadcast_joins_no_parts() -> None:
    # box 0 is read by two towers of four, 1 … 4 and 5 … 8, which meet in 9
    lines = [(0, 1), (0, 5), *chain(1, 5), *chain(5, 9), (4, 9), (8, 9)]
    places = list(range(10))
    assert _start_of_last_part(wired(10, *lines), places, ()) == 0
    assert _start_of_last_part(wired(10, *lines), places, (0,)) == 5


def line(dag: Dag, first: tuple[int, ...] = (), then: tuple[int, ...] = ()) -> tuple[list[int], list[int]]:
    """The order of demand, and which boxes are on the side."""
    found, place, side = _order_by_demand(dag, box_depths(dag), first, then)
    assert [found[spot] for spot in place] == list(range(len(dag)))
    return found, [box for box in range(len(dag)) if side[box]]


def test_inputs_stand_before_what_needs_them_the_deepest_first() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 4, and 3 ─▶ 4
    assert line(wired(5, *chain(0, 3), (2, 4), (3, 4))) == ([0, 1, 2, 3, 4], [])
    assert line(wired(5, (3, 4), *chain(0, 3), (2, 4))) == ([0, 1, 2, 3, 4], [])


def test_side_outputs_stand_behind_the_last_box_that_they_need() -> None:
    # 0 ─▶ … ─▶ 5, 6 ─▶ 7 behind 2; 8 takes from 1 and 3; 9 ─▶ 10 needs nothing here
    dag = wired(11, *chain(0, 6), (2, 6), (6, 7), (1, 8), (3, 8), (9, 10))
    assert line(dag) == ([0, 1, 2, 6, 7, 3, 8, 4, 5, 9, 10], [6, 7, 8, 9, 10])


@each("ends", [(5, 6, 7), (7, 5, 6), (6, 7, 5)])
def test_side_outputs_behind_one_box_stand_in_the_order_of_what_else_they_need(ends: tuple[int, int, int]) -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3 ─▶ 4, and three boxes of which each takes 3 and one of 0, 1, 2, whatever their numbers
    taken = [(source, end) for source, end in enumerate(ends)]
    order = compute_flow_order(wired(9, *chain(0, 5), (4, 8), *taken, *((3, end) for end in ends)))
    assert [box for box in order.line if box in ends] == list(ends)


def test_the_first_boxes_stand_before_all_others_with_what_they_need() -> None:
    # 5 ─▶ 4, which 1 and 3 read; 6 takes from 4 alone
    dag = wired(7, *chain(0, 4), (5, 4), (4, 1), (4, 3), (4, 6))
    assert line(dag, (4,)) == ([5, 4, 6, 0, 1, 2, 3], [6])
    assert line(dag, (4,), (2,)) == ([5, 4, 6, 0, 1, 2, 3], [6])
    assert line(dag, (), (4,))[0][:2] == [5, 4]


def of_tokens(dag: Dag, far: int = 64) -> list[int]:
    """The tokens of boxes that all are one op, each a number from 0 on as they are met."""
    for box in dag.boxes:
        box.symbol = 7
    known: dict[int, int] = {}
    return [
        known.setdefault(token, len(known)) for token in box_tokens(dag, compute_flow_order(dag), SymbolTable(), far)
    ]


def test_equal_distances_are_equal_tokens() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3 ─▶ 4, with 0 ─▶ 2 and 2 ─▶ 4
    assert of_tokens(wired(5, *chain(0, 5), (0, 2), (2, 4))) == [0, 1, 2, 1, 2]
    assert of_tokens(wired(6, *chain(0, 6), (0, 3), (1, 5)), far=3) == [0, 1, 1, 2, 1, 2]
    assert of_tokens(wired(6, *chain(0, 6), (0, 3), (1, 5)), far=4) == [0, 1, 1, 2, 1, 3]


def test_a_side_output_between_changes_no_distance() -> None:
    # 0 ─▶ 1 ─▶ 2 ─▶ 3 with 0 ─▶ 2, 1 ─▶ 3, and 4 hanging on 1
    assert of_tokens(wired(5, *chain(0, 4), (0, 2), (1, 3), (1, 4)))[2:] == [2, 3, 3] or of_tokens(
        wired(5, *chain(0, 4), (0, 2), (1, 3), (1, 4))
    ) == [0, 1, 2, 3, 3]


def test_one_source_outside_counts_as_right_before_the_first_box() -> None:
    # 0 and 1 read one value, as 1 and 2 read what 0 gives
    one = wired(3, *chain(0, 3), (0, 2), outside=[[9], [9], []])
    assert of_tokens(one) == [0, 1, 1]
    # of several the number counts alone, and no far source is like them
    two = wired(3, *chain(0, 3), outside=[[9], [], [8]])
    assert of_tokens(two) == [0, 1, 2]
    far = wired(4, *chain(0, 4), (0, 3), outside=[[9], [8], [], []])
    assert of_tokens(far, far=2) == [0, 1, 2, 3]


def test_a_block_at_the_beginning_is_fed_as_its_equals_are() -> None:
    blocks = wired(3, *chain(0, 3))
    for box, large in zip(blocks.boxes, rows("a", "b", "c", ops=5), strict=True):
        box.ops = large.ops
    assert of_tokens(blocks) == [0, 0, 0]
    assert of_tokens(wired(3, *chain(0, 3))) == [0, 1, 1]


def test_how_far_away_a_broadcast_stands_changes_no_token() -> None:
    # 0 ─▶ … ─▶ 22, and 23, which every fourth of them reads
    dag = wired(24, *chain(0, 23), *((23, box) for box in range(2, 23, 4)))
    assert compute_flow_order(dag).broadcast == {23}
    found = of_tokens(dag)
    assert len(set(found)) == 3  # the two beginnings are one, then readers and others
    assert len({found[compute_flow_order(dag).place[box]] for box in range(2, 23, 4)}) == 1
