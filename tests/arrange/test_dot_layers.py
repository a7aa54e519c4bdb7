"""What Graphviz prints becomes ranks: ports alone on the outer ones, waypoints where a line passes a height."""

from __future__ import annotations

import pytest

from graphviz_tb.arrange.component import Component
from graphviz_tb.arrange.dot import _dot_source, _parse_plain, _pin_ports, _ranks_from_plain, _x_at_height
from graphviz_tb.limits import MAX_BEST_DOT_BOXES
from tests.each import each


@pytest.mark.parametrize(
    ("ranks", "wanted"),
    [
        ([0, 1, 0], [1, 2, 0]),  # box 0 stood beside the port
        ([1, 2, 0], [1, 2, 0]),
        ([3, 2, 1], [3, 2, 0]),
        ([2, 1, 5], [2, 1, 0]),
    ],
)
def test_first_ports_are_alone_above_all(ranks: list[int], wanted: list[int]) -> None:
    assert _pin_ports(Component(3, (), first=frozenset({2})), ranks) == wanted


@pytest.mark.parametrize(
    ("ranks", "wanted"),
    [([0, 1, 1], [0, 1, 2]), ([0, 1, 2], [0, 1, 2]), ([0, 1, 7], [0, 1, 2]), ([3, 1, 0], [3, 1, 4])],
)
def test_last_ports_are_alone_below_all(ranks: list[int], wanted: list[int]) -> None:
    assert _pin_ports(Component(3, (), last=frozenset({2})), ranks) == wanted


def test_ports_alone_have_a_rank_too() -> None:
    assert _pin_ports(Component(2, (), first=frozenset({0, 1})), [4, 4]) == [0, 0]
    assert _pin_ports(Component(1, (), last=frozenset({0})), [3]) == [0]
    assert _pin_ports(Component(3, (), first=frozenset({1}), last=frozenset({2})), [0, 0, 0]) == [1, 0, 2]
    assert _pin_ports(Component(2, ()), [0, 1]) == [0, 1]


@each(("y", "x"), [(-1, 0), (0, 0), (1, 2), (2, 4), (3, 4), (4, 6), (9, 6)])
def test_a_line_is_where_its_points_say_at_each_height(y: float, x: float) -> None:
    assert _x_at_height([(0, 0), (4, 2), (4, 3), (6, 4)], y) == x


def test_a_level_piece_of_a_line_is_passed_at_its_beginning() -> None:
    assert _x_at_height([(1, 1), (5, 1), (6, 2)], 1) == 1
    assert _x_at_height([(1, 1), (5, 1), (8, 4)], 3) == 7


def test_graphs_of_one_output_are_told_apart_and_y_grows_downward() -> None:
    lines = ["graph 1 2 3", "node 0 1 2 .5 .2", "node 1 1 1 .5 .2"]
    lines += ["edge 0 1 2 1 2 1.5 1 solid", "edge 0 1 2 3 2 3 1 solid", "stop"]
    one, two = _parse_plain("\n".join([*lines, "graph 1 1 1", "node 0 4 5 .5 .2", "stop"]))
    assert one == ({0: (1, -2), 1: (1, -1)}, {(0, 1): [[(1, -2), (1.5, -1)], [(3, -2), (3, -1)]]})
    assert two == ({0: (4, -5)}, {})


def test_boxes_of_nearly_one_height_are_on_one_rank_from_left_to_right() -> None:
    nodes = {0: (1.0, 0.0), 1: (3.0, 1.001), 2: (1.0, 0.999), 3: (2.0, 2.0)}
    found = _ranks_from_plain(Component(4, ((0, 1), (0, 2), (1, 3))), (nodes, {}))
    assert found.ranks == [[0], [2, 1], [3]]


def test_parallel_lines_have_a_waypoint_each() -> None:
    # 0 ─▶ 1 ─▶ 2, and twice 0 ─▶ 2: once on the left of 1, once on its right
    nodes = {0: (1.0, 0.0), 1: (1.0, 1.0), 2: (1.0, 2.0)}
    sides = [[(1.0, 0.0), (0.0, 1.0), (1.0, 2.0)], [(1.0, 0.0), (2.0, 1.0), (1.0, 2.0)]]
    found = _ranks_from_plain(Component(3, ((0, 1), (1, 2), (0, 2), (0, 2))), (nodes, {(0, 2): sides}))
    assert found.ranks == [[0], [3, 1, 4], [2]]


def test_a_large_part_is_asked_for_a_quick_order() -> None:
    assert "nslimit" not in _dot_source(Component(MAX_BEST_DOT_BOXES, ()))
    assert "nslimit" in _dot_source(Component(MAX_BEST_DOT_BOXES + 1, ()))
