"""No picture of any fixture has a fault that its coordinates can show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from geometry import faults

import graphviz_tb
from graphviz_tb.model.scene import Scene
from tests.each import each
from tests.effort import part

FIXTURES = Path(__file__).parents[2] / "fixtures"
GRAPHS = sorted([*FIXTURES.glob("real/*.pb*"), *FIXTURES.glob("rules/*.pb*")])
MOST = 600


@each("path", part(GRAPHS, 12), ids=lambda path: path.name)
def test_every_fixture_is_drawn_without_a_fault(path: Path) -> None:
    model = graphviz_tb.load(path)
    for choices in ({"depth": 0}, {}, {"open_all": True, "max_open": MOST}):
        for direction in ("BT", "LR"):
            scene = model.picture(direction=direction, **choices).scene
            assert faults(scene) == [], f"{choices} {direction}"


@pytest.mark.parametrize("direction", ["BT", "TB", "LR", "RL"])
def test_the_order_of_siblings_is_the_same_in_every_direction(direction: str) -> None:
    # The flow of a ─▶ b ─▶ c runs up, down, right, left.
    text = b'node{name:"a" op:"X"} node{name:"b" op:"X" input:"a"} node{name:"c" op:"X" input:"b"}'
    a, b, c = graphviz_tb.load(text).picture(direction=direction).scene.boxes
    along = {"BT": lambda box: -box.y, "TB": lambda box: box.y, "LR": lambda box: box.x, "RL": lambda box: -box.x}
    assert along[direction](a) < along[direction](b) < along[direction](c)


def scene() -> Scene:
    return graphviz_tb.load(FIXTURES / "real" / "mnist_cnn.pbtxt").picture(depth=1).scene


def test_the_checks_see_a_box_that_was_moved() -> None:
    good = scene()
    box = next(at for at, box in enumerate(good.boxes) if box.parent >= 0)
    moved = replace(good.boxes[box], x=good.boxes[box].x - 60, y=good.boxes[box].y - 30)
    assert faults(replace(good, boxes=(*good.boxes[:box], moved, *good.boxes[box + 1 :])))


def test_the_checks_see_a_line_through_a_box_and_a_title() -> None:
    good = scene()
    edge = good.routes[0]
    across = replace(edge, points=((0, 0), (good.width, good.height)), source=0, target=1)
    told = faults(replace(good, routes=(across,), ports=()))
    assert any("runs through text" in fault for fault in told)
    assert any("runs through " in fault and "text" not in fault for fault in told)


def test_the_checks_see_texts_that_overlap_or_leave_their_box() -> None:
    good = scene()
    wide = tuple(replace(text, width=text.width * 3) for text in good.texts)
    told = faults(replace(good, texts=wide))
    assert any("leaves its box" in fault for fault in told)
    assert any("overlaps" in fault for fault in told)


def test_the_checks_see_a_port_that_nobody_meets() -> None:
    good = scene()
    astray = tuple(replace(port, x=port.x + 1) for port in good.ports)
    assert len(faults(replace(good, ports=astray))) > len(good.ports)
