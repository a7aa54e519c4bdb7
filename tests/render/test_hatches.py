"""Hatches as lines."""

from __future__ import annotations

import time
from itertools import pairwise
from math import hypot

import pytest

from graphviz_tb.model.drawing import Drawing, Group, Hatch, Label, Pen, Section
from graphviz_tb.options import PictureOptions
from graphviz_tb.render.png import png_bytes
from graphviz_tb.render.svg import hatch_lines, replace_hatch
from tests.timing import within


def sheet(*shapes: Hatch | Label) -> Drawing:
    return Drawing(400, 400, "", "", "#FFFFFF", (Section("graph", (0, 0), (Group(shapes),)),))


def test_they_are_as_far_apart_as_in_svg_and_40_per_cent_of_the_colour() -> None:
    found = hatch_lines(Hatch(10, 20, 30, 12, 0, "#FF0000"), "#FFFFFF")
    assert found.pen == Pen("#FF9999")
    ends = [values for _, values in found.steps]
    starts, stops = ends[::2], ends[1::2]
    for (x, y), (to_x, to_y) in zip(starts, stops, strict=True):
        assert to_x - x == pytest.approx(y - to_y)
        assert 10 <= x < to_x <= 40
        assert 20 <= to_y < y <= 32
    along = [x + y for x, y in starts]
    assert {round(after - before, 1) for before, after in pairwise(along)} == {8.5}  # 6 px √2
    assert along[0] <= 30 + 8.5
    assert along[-1] >= 72 - 8.5


@pytest.mark.parametrize("radius", [0, 4.5, 6])
def test_none_leaves_the_rounded_corners(radius: float) -> None:
    """Every end is on the outline: on a side, or so far from the middle of a corner as that is round."""
    box = Hatch(0, 0, 30, 12, radius, "#FF0000")
    for _, (x, y) in hatch_lines(box, "#FFFFFF").steps:
        inner_x, inner_y = min(max(x, radius), 30 - radius), min(max(y, radius), 12 - radius)
        away = hypot(x - inner_x, y - inner_y)
        on_a_side = min(x, 30 - x, y, 12 - y) == pytest.approx(0, abs=0.02)
        assert on_a_side or away == pytest.approx(radius, abs=0.02)
        assert away <= radius + 0.02


def test_another_shape_stays() -> None:
    text, hatch = Label("a", 0, 9, 9, 7, "#000000"), Hatch(0, 0, 30, 12, 2, "#FF0000")
    assert replace_hatch(text, "#FFFFFF") == text
    assert replace_hatch(hatch, "#FFFFFF") == hatch_lines(hatch, "#FFFFFF")


@pytest.mark.slow
def test_thousands_cost_a_png_little() -> None:
    box = Hatch(0, 0, 100, 24, 4, "#FF0000")
    spent = []
    for shapes in ((), (box,) * 3000):
        start = time.process_time()
        png_bytes(sheet(*shapes), PictureOptions(scale=1))
        spent.append(time.process_time() - start)
    assert within(spent[1] - spent[0], 3)  # 5 s and more as patterns
