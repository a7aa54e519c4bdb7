"""A line that skips boxes ends on the side of its box that faces its track, and parts from the main path at a dot."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.model.scene import Point, Route, Scene
from graphviz_tb.model.skeleton import Skeleton, Wire
from graphviz_tb.place.side_entries import _parting_point, part_late
from graphviz_tb.proto import GraphDef

#  x ─▶ a ─▶ b ─▶ sum
#  └───────────────▲
INPUTS = {"x": "", "a": "x", "b": "a", "sum": "b x"}
OPS = {"x": "Placeholder", "sum": "AddV2"}


def residual_scene(folder: Path, direction: str = "BT") -> tuple[Scene, Route]:
    nodes = [
        f'node {{ name: "{name}" op: "{OPS.get(name, "Relu")}" '
        + "".join(f'input: "{i}" ' for i in inputs.split())
        + "}"
        for name, inputs in INPUTS.items()
    ]
    path = folder / "residual.pbtxt"
    path.write_text("\n".join(nodes))
    scene = graphviz_tb.load(path).picture(direction=direction, depth=0).scene
    number = {box.address: at for at, box in enumerate(scene.boxes)}
    [skip] = [r for r in scene.routes if (r.source, r.target) == (number["x"], number["sum"])]
    return scene, skip


def test_a_skip_ends_on_a_side_and_parts_at_a_dot(tmp_path: Path) -> None:
    scene, skip = residual_scene(tmp_path)
    box = scene.boxes[skip.target]
    x, y = skip.points[-1]
    assert x in (box.x, box.x + box.width)
    assert y == box.y + box.height // 2
    assert skip.parting is not None
    [main] = [r for r in scene.routes if r.source == skip.source and r is not skip]
    assert main.points[0] == skip.points[0]
    assert main.parting is None


def test_a_skip_ends_on_a_side_where_the_flow_runs_aside(tmp_path: Path) -> None:
    scene, skip = residual_scene(tmp_path, "LR")
    box = scene.boxes[skip.target]
    x, y = skip.points[-1]
    assert y in (box.y, box.y + box.height)
    assert abs(x - box.x - box.width // 2) <= 1


@pytest.mark.parametrize("direction", ["BT", "TB", "LR"])
def test_a_box_beside_the_main_path_leads_straight_to_the_side_of_the_next_box(direction: str) -> None:
    # x ─▶ a ─▶ sum, and x ─▶ proj, a longer name, ─▶ sum
    graph = GraphDef()
    for name, inputs in (("x", ()), ("y", ("x",)), ("a", ("y",)), ("projection", ("x",)), ("sum", ("a", "projection"))):
        graph.node.add(name=name, op=OPS.get(name, "Relu"), input=inputs)
    scene = graphviz_tb.load(graph).picture(direction=direction, depth=0).scene
    number = {box.address: at for at, box in enumerate(scene.boxes)}
    [line] = [r for r in scene.routes if (r.source, r.target) == (number["projection"], number["sum"])]
    assert len(line.points) == 3
    box, (x, y) = scene.boxes[line.target], line.points[-1]
    across = 0 if direction != "LR" else 1
    low, high = ((box.x, box.x + box.width), (box.y, box.y + box.height))[across]
    assert (x, y)[across] in (low, high)


def test_all_runs_are_along_an_axis(tmp_path: Path) -> None:
    for direction in ("BT", "LR"):
        scene, _ = residual_scene(tmp_path, direction)
        assert all(a[0] == b[0] or a[1] == b[1] for route in scene.routes for a, b in pairwise(route.points))


def test_lines_that_run_on_together_part_where_the_shorter_one_ends() -> None:
    main = [(5, 90), (5, 70), (80, 70), (80, 20)]
    assert _parting_point([(5, 90), (5, 70), (40, 70), (40, 20)], main) == (40, 70)
    assert _parting_point([(6, 90), (6, 20)], main) is None


def test_a_line_parts_where_it_turns_not_with_a_step_aside() -> None:
    def routes(*more: Point) -> dict[int, tuple[Point, ...]]:
        return {0: ((40, 90), (40, 0)), 1: ((40, 90), (40, 80), (53, 80), (53, 50), (90, 50), (90, 0)), 2: more}

    skeleton = Skeleton(4, (), tuple(Wire(at, -1, (at // 2, at + 1)) for at in range(3)), (), (), (), main_path=(0,))
    assert part_late(skeleton, routes((5, 9), (5, 0))) == {1: ((40, 90), (40, 50), (90, 50), (90, 0))}
    assert part_late(skeleton, routes((46, 90), (46, 0))) == {}  # it would cross that line
