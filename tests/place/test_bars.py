"""Branches stand side by side under one bar, and enter it straight."""

from __future__ import annotations

import random
from pathlib import Path

import graphviz_tb
from graphviz_tb.model.scene import Scene
from graphviz_tb.place.quality import measure_quality

KINDS = ["Relu", "Tanh", "Sigmoid", "Softplus", "Abs", "Exp", "Neg", "Sqrt"]


def _branched(path: Path, branches: list[list[str]], *, skip: bool = False, join: str = "Pack") -> Scene:
    """Draw x ─▶ branches of ops ─▶ join; with `skip`, x ─▶ join too."""
    lines, ends = ['node { name: "x" op: "Placeholder" }'], []
    for number, kinds in enumerate(branches):
        last = "x"
        for step, kind in enumerate(kinds):
            name = f"{kind.lower()}{number}{step}"
            lines.append(f'node {{ name: "{name}" op: "{kind}" input: "{last}" }}')
            last = name
        ends.append(last)
    inputs = " ".join(f'input: "{end}"' for end in [*ends, *(["x"] if skip else [])])
    lines += [f'node {{ name: "join" op: "{join}" {inputs} }}', 'node { name: "out" op: "Identity" input: "join" }']
    (path / "graph.pbtxt").write_text("\n".join(lines))
    return graphviz_tb.load(path / "graph.pbtxt").picture(open_all=True).scene


def _entries(scene: Scene) -> list[tuple[tuple[int, int], ...]]:
    join = next(number for number, box in enumerate(scene.boxes) if box.address == "join")
    return [route.points for route in scene.routes if route.target == join and scene.boxes[route.source].address != "x"]


def test_each_branch_enters_the_bar_straight(tmp_path: Path) -> None:
    for seed in range(12):
        chance = random.Random(seed)
        chosen = chance.sample(KINDS, 8)
        branches = [[chosen.pop() for _ in range(chance.choice((1, 1, 2)))] for _ in range(chance.choice((3, 4)))]
        scene = _branched(tmp_path, branches, skip=chance.random() < 0.4)
        (join,) = (box for box in scene.boxes if box.address == "join")
        lines = _entries(scene)
        assert len(lines) == len(branches)
        for points in lines:
            assert len({x for x, _ in points}) == 1, (seed, points)
            assert join.x < points[-1][0] < join.x + join.width


def test_branches_stand_in_the_order_of_what_the_bar_takes_whichever_is_the_longest(tmp_path: Path) -> None:
    for longest in range(4):
        branches = [[KINDS[2 * number]] for number in range(4)]
        branches[longest].append(KINDS[1])
        scene = _branched(tmp_path, branches)
        entered = {scene.boxes[route.source].address: route.points[-1][0] for route in scene.routes if route.arrow}
        ends = [f"{kinds[-1].lower()}{number}{len(kinds) - 1}" for number, kinds in enumerate(branches)]
        assert sorted(ends, key=entered.__getitem__) == ends


def test_all_branches_are_of_the_main_path_but_no_skip_beside_them(tmp_path: Path) -> None:
    scene = _branched(tmp_path, [["Relu"], ["Tanh", "Abs"], ["Exp"]], skip=True)
    names = [box.address for box in scene.boxes]
    aside = [(names[route.source], names[route.target]) for route in scene.routes if not route.main]
    assert aside == [("x", "join")]
    two = _branched(tmp_path, [["Relu"], ["Tanh", "Abs"]])
    assert [two.boxes[route.source].address for route in two.routes if not route.main] == ["x", "relu00"]


def test_two_branches_meet_in_a_box_as_it_is(tmp_path: Path) -> None:
    scene = _branched(tmp_path, [["Relu"], ["Tanh"]])
    (join,) = (box for box in scene.boxes if box.address == "join")
    assert join.width < 80


def test_lines_of_boxes_that_have_no_common_start_make_no_bar(tmp_path: Path) -> None:
    lines = [
        f'node {{ name: "x{n}" op: "Placeholder" }}\nnode {{ name: "{k}" op: "{k}" input: "x{n}" }}'
        for n, k in enumerate(KINDS[:4])
    ]
    inputs = " ".join(f'input: "{kind}"' for kind in KINDS[:4])
    (tmp_path / "graph.pbtxt").write_text("\n".join([*lines, f'node {{ name: "join" op: "Pack" {inputs} }}']))
    scene = graphviz_tb.load(tmp_path / "graph.pbtxt").picture(open_all=True).scene
    (join,) = (box for box in scene.boxes if box.address == "join")
    assert join.width < 80


def test_a_sign_stays_a_circle(tmp_path: Path) -> None:
    scene = _branched(tmp_path, [["Relu"], ["Tanh"], ["Exp"]], join="AddN")
    (join,) = (box for box in scene.boxes if box.address == "join")
    assert join.sign == "+"
    assert join.width == join.height


def test_a_line_that_is_no_branch_enters_the_bar_in_its_order(tmp_path: Path) -> None:
    lines = [f'node {{ name: "{name}" op: "Placeholder" }}' for name in "xy"]
    lines += [f'node {{ name: "{kind}" op: "{kind}" input: "x" }}' for kind in KINDS[:4]]
    lines += ['node { name: "dense" op: "Elu" input: "y" }']
    inputs = " ".join(f'input: "{name}"' for name in ["dense", *KINDS[:4]])
    lines += [f'node {{ name: "join" op: "Pack" {inputs} }}']
    lines += ['node { name: "out" op: "Concat" input: "join" input: "dense" }']
    (tmp_path / "graph.pbtxt").write_text("\n".join(lines))
    scene = graphviz_tb.load(tmp_path / "graph.pbtxt").picture(open_all=True).scene
    join = next(number for number, box in enumerate(scene.boxes) if box.address == "join")
    ends = sorted((route.points[-1][0], scene.boxes[route.source].x) for route in scene.routes if route.target == join)
    assert len(ends) == 5
    assert [x for _, x in ends] == sorted(x for _, x in ends)
    assert measure_quality(scene).crossings == 0
