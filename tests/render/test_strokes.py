"""Lines are drawn as strokes: along the axes, with round corners."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import dist
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.model.drawing import Curve
from graphviz_tb.model.scene import Route
from graphviz_tb.model.theme import THEMES
from graphviz_tb.render.lines import BEND_RADIUS, draw_route, rounded_outline

REAL = Path(__file__).parents[2] / "fixtures" / "real"
FIXTURES = (
    "control_heavy.pb",
    "gan_scopes.pb",
    "keras2_functional.pb",
    "lstm_dynamic_rnn.pb",
    "multi_device.pb",
    "mnist_cnn.pbtxt",
    "while_v1.pb",
    "xor.pbtxt",
)


def lines() -> Iterator[Route]:
    for name in FIXTURES:
        yield from graphviz_tb.load(REAL / name).picture().scene.routes


@pytest.mark.parametrize("direction", ["BT", "LR"])
def test_every_stretch_is_along_an_axis(direction: str) -> None:
    for name in FIXTURES:
        for line in graphviz_tb.load(REAL / name).picture(direction=direction).scene.routes:
            assert all(one[0] == two[0] or one[1] == two[1] for one, two in pairwise(line.points)), (name, line.title)


def test_corners_are_round() -> None:
    found = sorted(
        dist(before[-2:], after[-2:])
        for line in lines()
        if line.source != line.target
        for shape in draw_route(line, THEMES["light"], chosen=True).shapes[:1]  # whole, also before it parts
        if isinstance(shape, Curve)
        for (_, before), (command, after) in pairwise(shape.steps)
        if command == "Q"
    )
    assert len(found) > 100
    assert found[len(found) // 10] >= BEND_RADIUS  # a jog between two lines has less room


def test_a_line_leaves_and_comes_straight() -> None:
    steps = rounded_outline([(0, 0), (0, 10), (90, 10), (90, 30)])
    assert [command for command, _ in steps] == ["M", "L", "Q", "L", "Q", "L"]
    assert steps[1][1][0] == 0
    assert steps[-1][1] == (90, 30)
    assert steps[-2][1][-2] == 90


def test_dashes_of_lines_that_share_their_way_to_an_arrow_fall_on_each_other() -> None:
    ways = (((0, 90), (0, 60), (40, 60), (40, 10)), ((80, 99), (80, 60), (40, 60), (40, 10)))
    shapes = [draw_route(Route(way, "control", 0, 1, 10), THEMES["light"], chosen=False).shapes[0] for way in ways]
    starts = [shape.steps[0] for shape in shapes if isinstance(shape, Curve)]
    assert starts[0] == starts[1]
    assert starts[0][1][0] == 40


def test_a_line_that_parts_from_another_begins_where_it_parts() -> None:
    line = Route(((5, 90), (5, 70), (40, 70), (40, 20)), "data", 0, 1, 20, parting=(5, 70))
    starts = [draw_route(line, THEMES["light"], chosen).shapes[0] for chosen in (False, True)]
    assert [shape.steps[0][1] for shape in starts if isinstance(shape, Curve)] == [(5, 70), (5, 90)]
