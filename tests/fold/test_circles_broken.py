"""Circles in the flow of a level: which box is taken out of one, and what moves aside beside them."""

from __future__ import annotations

import numpy as np
import pytest

from graphviz_tb.fold.flow.items import FlowSorting, _break_flow_cycles, _start_sorting
from tests.fold.boxes import rows

Pairs = list[tuple[int, int]]


def sorting(count: int, pairs: Pairs, variables: tuple[int, ...] = (), scopes: tuple[int, ...] = ()) -> FlowSorting:
    """So many boxes with such flow between them, in the order of their targets."""
    made = rows(*(f"b{number}" for number in range(count)))
    for number in scopes:
        made[number].scope = True
    source, target = np.array(sorted(pairs, key=lambda pair: pair[1]) or np.empty((0, 2)), np.int64).T
    return _start_sorting(made, source, target, [number in variables for number in range(count)])


def hub(neighbours: int) -> Pairs:
    """Box 0 in a circle with 1 and 2, and so many neighbours in all."""
    return [(0, 1), (1, 2), (2, 0), *((0, 3 + more) for more in range(neighbours - 2))]


@pytest.mark.parametrize(("neighbours", "away"), [(6, set()), (7, {0})])
def test_the_one_busy_box_of_a_circle_moves_aside(neighbours: int, away: set[int]) -> None:
    # more than three times as many neighbours as the others, which have two
    level = sorting(12, hub(neighbours))
    _break_flow_cycles(level, set().__contains__)
    assert level.away == away
    assert level.rings == ([] if away else [[0, 1, 2]])


def test_of_two_equally_busy_boxes_the_first_moves_aside() -> None:
    lines = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]
    lines += [(0, 5 + number) for number in range(5)] + [(2, 5 + number) for number in range(5)]
    level = sorting(12, lines)
    _break_flow_cycles(level, set().__contains__)
    assert level.away == {0}
    assert level.rings == []


def test_circles_inside_circles_are_opened_one_after_the_other() -> None:
    # 0 is busy in a circle of all, 3 in one that is left
    lines = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (5, 3)]
    lines += [(0, 6 + number) for number in range(9)] + [(3, 6 + number) for number in range(7)]
    level = sorting(16, lines)
    _break_flow_cycles(level, set().__contains__)
    assert level.away == {0, 3}


def test_a_series_that_was_asked_for_moves_aside_where_it_closes_a_circle() -> None:
    level = sorting(4, [(0, 1), (1, 0), (1, 2), (2, 3)])
    _break_flow_cycles(level, {1, 2}.__contains__)
    assert level.away == {1}


def test_a_loop_stays_whole_whatever_is_busy_in_it() -> None:
    level = sorting(12, [*hub(9)[:2], *hub(9)[3:]])
    level.back = [(2, 0)]
    _break_flow_cycles(level, set().__contains__)
    assert level.away == set()
    assert level.rings == [[0, 1, 2]]


def test_variables_close_no_circle() -> None:
    level = sorting(3, [(0, 1), (1, 2), (2, 0)], variables=(1,))
    _break_flow_cycles(level, set().__contains__)
    assert level.rings == []


def test_what_moved_aside_closes_no_circle() -> None:
    level = sorting(5, [(0, 1), (1, 0), (2, 3), (3, 2)])
    level.away = {1}
    _break_flow_cycles(level, set().__contains__)
    assert level.rings == [[2, 3]]


def test_what_feeds_storage_only_moves_aside_with_what_feeds_only_that() -> None:
    # 0 ─▶ 1 ─▶ (storage), 0 ─▶ 2; 3 ─▶ 4 ─▶ (storage); 5 holds what is stored, 6 is a scope that does
    level = sorting(7, [(0, 1), (0, 2), (3, 4)], scopes=(6,))
    level.set_storage_aside([1, 4], [5, 6])
    assert level.away == {1, 3, 4}
    assert level.stored == {1, 3, 4, 5}
    assert level.count_ops(level.stored) == 4


def test_what_feeds_what_is_aside_moves_aside_too() -> None:
    # 0 ─▶ 1 ─▶ 2, where 2 is aside already, and 0 ─▶ 3
    level = sorting(4, [(0, 1), (1, 2), (0, 3)])
    level.away = {2}
    level.set_storage_aside([], [])
    assert level.away == {1, 2}


def test_what_something_else_uses_too_stays() -> None:
    # 0 ─▶ (storage), 0 ─▶ 1 ─▶ 2
    level = sorting(3, [(0, 1), (1, 2)])
    level.set_storage_aside([0], [])
    assert level.away == set()


def test_a_store_that_something_uses_is_no_storage_alone() -> None:
    level = sorting(3, [(0, 1)])
    level.set_storage_aside([], [0, 2])
    assert level.stored == {2}


def test_what_has_no_flow_moves_aside() -> None:
    # 0 ─▶ 1, and 2 alone
    level = sorting(3, [(0, 1)])
    level.set_unconnected_aside()
    assert level.away == {2}
    nothing = sorting(3, [])
    nothing.set_unconnected_aside()
    assert nothing.away == set()
    rest = sorting(3, [(0, 1)])
    rest.away = {1}
    rest.set_unconnected_aside()
    assert rest.away == {1}


@pytest.mark.parametrize(("readers", "away"), [(0, True), (1, False), (2, True)])
def test_a_variable_that_one_box_reads_stays_beside_it(readers: int, away: bool) -> None:
    # 3 ─▶ 4, and variable 0, read by 3, by 4, or by both
    level = sorting(5, [(3, 4), *((0, 3 + number) for number in range(readers))], variables=(0,))
    level.set_unconnected_aside()
    assert (0 in level.away) is away


def test_what_only_variables_feed_has_no_flow_of_its_own() -> None:
    # 1 reads variable 0; 2 ─▶ 3
    level = sorting(4, [(0, 1), (2, 3)], variables=(0,))
    level.set_unconnected_aside()
    assert level.away == {1, 0}
