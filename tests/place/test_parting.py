"""Lines that join on their way to a box are told apart where it is open and they go on to different ports."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.model.scene import Point, Route, Scene
from graphviz_tb.model.skeleton import Wire
from graphviz_tb.place.level import _wires_by_port
from tests.each import each

REAL = Path(__file__).parents[2] / "fixtures" / "real"
NAMES = ["gan_scopes.pb", "saver_meta.pb", "keras2_mnist.pb", "multi_device.pb", "lstm_dynamic_rnn.pb", "xor.pbtxt"]


def upright(route: Route) -> list[tuple[int, int, int]]:
    """The vertical runs of a line: x, from y, to y."""
    runs: list[tuple[Point, Point]] = list(pairwise(route.points))
    return [(one[0], min(one[1], two[1]), max(one[1], two[1])) for one, two in runs if one[0] == two[0]]


def together(one: Route, two: Route) -> bool:
    """Whether two lines run on one another for 20 px or more."""
    return any(
        x == other and min(low, bottom) - max(high, top) >= 20
        for x, high, low in upright(one)
        for other, top, bottom in upright(two)
    )


def ends(route: Route) -> set[tuple[str, int, int]]:
    return {("from", route.source, route.source_port), ("to", route.target, route.target_port)}


def fused(scene: Scene) -> list[tuple[str, str]]:
    """Lines that run as one though neither end is the same."""
    return [
        (one.title, two.title)
        for one, two in combinations(scene.routes, 2)
        if not ends(one) & ends(two) and together(one, two)
    ]


@each("name", NAMES)
def test_no_two_lines_to_different_ports_run_as_one(name: str) -> None:
    assert fused(graphviz_tb.load(REAL / name).picture(depth=1).scene) == []


def test_lines_to_a_closed_box_still_join() -> None:
    scene = graphviz_tb.load(REAL / "cifar10_shapes.pb").picture(depth=0).scene
    joined = [(one, two) for one, two in combinations(scene.routes, 2) if together(one, two)]
    assert joined
    assert all(ends(one) & ends(two) for one, two in joined)


@pytest.mark.parametrize(
    ("opened", "parts"), [(0, {10: [0], 30: [1], 20: [2]}), (1, {10: [2], 20: [0], 30: [1]}), (7, {})]
)
def test_turned_lines_that_share_a_way_with_others_part_at_the_open_box(
    opened: int, parts: dict[int, list[int]]
) -> None:
    # Box 0 has two lines to box 1, and box 1 a turned one to box 0; each goes on to another row inside.
    wires = [Wire(-1, 0, (0, 5, 1), False), Wire(-1, 1, (0, 5, 1), False), Wire(-1, 2, (1, 5, 0), True)]
    view: Any = SimpleNamespace(
        skeleton=SimpleNamespace(wires=wires, falling=()),
        metagraph=SimpleNamespace(bridges=[SimpleNamespace(other=row) for row in (90, 91, 92)]),
    )
    # (row, comes in, on the first side): the number of its port
    inner = {
        0: {(90, False, False): 0, (91, False, False): 1, (92, True, False): 2},
        1: {(90, True, True): 1, (91, True, True): 2, (92, False, True): 0},
    }
    ports = {box: [(10, 0), (30, 0), (20, 0)] for box in (0, 1)}
    if opened == 1:
        ports[1] = [(10, 0), (20, 0), (30, 0)]
    assert _wires_by_port(view, [0, 1, 2], {opened: inner.get(opened, {})}, ports, 0) == parts
