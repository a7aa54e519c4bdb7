"""Measures of pictures have ceilings: a change that makes the drawing worse is noticed."""

from __future__ import annotations

from math import dist
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.model.scene import Route, Scene
from graphviz_tb.place.quality import _count_bends, _count_line_crossings, measure_quality
from tests.each import each
from tests.effort import part

REAL = Path(__file__).parents[2] / "fixtures" / "real"
# What trains the model stands at the right of a rule: this widens a picture by 70 to 200 px, and lets its lines cross
# those of the model to the right of their start. A line from one column to the next is never straight.
CEILINGS = [  # fixture, most crossings, least share of straight steps, most area in thousands of square pixels
    ("mnist_cnn.pbtxt", 1, 1.00, 202),
    ("cifar10_shapes.pb", 2, 0.92, 733),
    ("keras2_mnist.pb", 0, 1.00, 148),
    ("keras2_functional.pb", 2, 1.00, 224),
    ("transformer_block_v2.pb", 0, 1.00, 26),
    ("lstm_dynamic_rnn.pb", 0, 1.00, 166),
    ("lstm_static_unrolled.pb", 0, 0.66, 29),
    ("word2vec_nce.pb", 0, 0.66, 80),
    ("gan_scopes.pb", 1, 1.00, 156),  # its updates say their optimizer: a wider box
    ("xor.pbtxt", 1, 1.00, 117),
    ("while_v1.pb", 0, 0.00, 33),
    ("multi_device.pb", 0, 0.80, 178),
    ("func_library_v2.pb", 3, 1.00, 367),
]


@each(("name", "most", "straight", "area"), part(CEILINGS, 2), ids=lambda value: str(value))
def test_the_drawing_gets_no_worse(name: str, most: int, straight: float, area: int) -> None:
    found = measure_quality(graphviz_tb.load(REAL / name).picture(depth=0).scene)
    assert found.crossings <= most
    assert found.straight >= straight * found.steps
    assert found.width * found.height <= 1000 * area


def test_lines_that_meet_or_lie_side_by_side_do_not_cross() -> None:
    lines = [((0, 0), (0, 100)), ((0, 100), (100, 100)), ((10, 0), (10, 90)), ((-50, 300), (50, 200))]
    lines = [((0, 20), (-40, 20)), *lines, ((0, 70), (-40, 70))]  # these end on the first of those
    routes = tuple(Route(points, "data", 0, 1, 10) for points in lines)
    assert _count_line_crossings(routes) == 0
    assert _count_line_crossings((*routes, Route(((-5, 50), (5, 55)), "data", 2, 3, 10))) == 1


def test_lines_that_cross_twice_count_once() -> None:
    zigzag = Route(((0, 0), (100, 50), (0, 100)), "data", 0, 1, 10)
    assert _count_line_crossings((zigzag, Route(((50, 0), (50, 100)), "data", 2, 3, 10))) == 1


def test_a_point_on_a_straight_run_is_no_bend() -> None:
    assert _count_bends(((0, 0), (0, 5), (0, 5), (0, 9), (4, 13), (8, 17))) == 1


def test_the_flow_may_run_aside() -> None:
    along = Route(((0, 7), (50, 7)), "data", 0, 1, 10, main=True)
    scene = Scene(50, 10, "LR", (), (along,), (), (), ())
    assert (measure_quality(scene).straight, measure_quality(scene).steps) == (1, 1)


@pytest.mark.parametrize("name", ["lstm_static_unrolled.pb", "gan_scopes.pb", "keras2_mnist.pb", "cifar10_shapes.pb"])
def test_no_line_has_a_jog_so_short_that_it_looks_like_a_mistake(name: str) -> None:
    scene = graphviz_tb.load(REAL / name).picture().scene
    jogs = [
        dist(two, three)
        for route in scene.routes
        for one, two, three, four in zip(
            route.points, route.points[1:], route.points[2:], route.points[3:], strict=False
        )
        if one[0] == two[0] != three[0] == four[0]
    ]
    assert min(jogs) >= 14
