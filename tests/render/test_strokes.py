"""Lines are drawn as strokes: they leave and come straight, and bend no more than an eye follows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import atan2, dist, pi, radians
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.model.drawing import Curve, DrawingPoint, PathStep
from graphviz_tb.model.scene import Route
from graphviz_tb.model.theme import THEMES
from graphviz_tb.render.lines import _corner_arc, draw_route, rounded_outline

REAL = Path(__file__).parents[2] / "fixtures" / "real"
FIXTURES = ("gan_scopes.pb", "keras2_functional.pb", "multi_device.pb", "mnist_cnn.pbtxt", "while_v1.pb", "xor.pbtxt")
RADIUS, LEAST = 12, 9  # px: of nineteen curves in twenty, and of all but one in a hundred


def test_curves_have_the_radius_that_an_eye_follows() -> None:
    found = sorted(
        radius
        for name in FIXTURES
        for line in graphviz_tb.load(REAL / name).picture().scene.routes
        if line.source != line.target
        for radius in radii(line)
    )
    assert len(found) > 200
    assert found[len(found) // 20] >= RADIUS
    assert found[len(found) // 100 + 1] >= LEAST


@pytest.mark.parametrize("grow", [1, 10, 60])
def test_a_line_leaves_and_comes_straight(grow: int) -> None:
    bent = ((0, 0), (0, 1), (10, 11), (90, 11 + grow), (100, 21 + grow), (100, 40 + grow))
    steps = rounded_outline(bent)
    first, last = curves(steps)[0], curves(steps)[-1]
    assert first[1][0] == pytest.approx(0)  # its first handle stands straight below its start
    assert last[-2][0] == pytest.approx(last[-1][0])
    assert steps[-1] == ("L", bent[-1])


def test_an_arc_is_part_of_a_circle() -> None:
    command, handles = _corner_arc((0, 0), (0, 20), (20, 20))
    assert command == "C"
    for place in places([(0, 0), *list(pairwise(handles))[::2]]):
        assert dist(place, (20, 0)) == pytest.approx(20, rel=1e-3)


def radii(line: Route) -> Iterator[float]:
    """The least radius of each curve of a line that turns by more than 8°."""
    stroke = draw_route(line, THEMES["light"], chosen=False).shapes[0]
    assert isinstance(stroke, Curve)
    for handles in curves(stroke.steps):
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = *handles[:2], *handles[-2:]
        turn = atan2(dy - cy, dx - cx) - atan2(by - ay, bx - ax)
        if abs((turn + pi) % (2 * pi) - pi) > radians(8):
            yield min(circle(*three) for three in windows(places(handles)))


def curves(steps: tuple[PathStep, ...]) -> list[list[DrawingPoint]]:
    """The start, handles and end of each curve of an outline."""
    found = []
    for (_, before), (command, numbers) in pairwise(steps):
        if command in ("Q", "C"):
            ends = list(pairwise(numbers))[::2]
            found.append([(before[-2], before[-1]), *ends])
    return found


def places(handles: list[DrawingPoint]) -> list[DrawingPoint]:
    """Places along a Bézier curve, by de Casteljau."""
    found = []
    for part in range(21):
        left = list(handles)
        while len(left) > 1:
            left = [(a[0] + (b[0] - a[0]) * part / 20, a[1] + (b[1] - a[1]) * part / 20) for a, b in pairwise(left)]
        found.append(left[0])
    return found


def windows(line: list[DrawingPoint]) -> list[tuple[DrawingPoint, DrawingPoint, DrawingPoint]]:
    """Three places in a row."""
    return list(zip(line[::2], line[1::2], line[2::2], strict=False))


def circle(a: DrawingPoint, b: DrawingPoint, c: DrawingPoint) -> float:
    """The radius of the circle through three places."""
    area = abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2
    return dist(a, b) * dist(b, c) * dist(a, c) / (4 * area) if area else 1e9
