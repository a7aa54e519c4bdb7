"""Gradients and updates stand at the right of a rule, and their lines cross it once."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.model.scene import Box, Scene
from graphviz_tb.model.skeleton import TARGET_TRAINS, Skeleton, Wire
from graphviz_tb.place.bands import Band
from graphviz_tb.place.lanes import training_rules
from tests.each import each

REAL = Path(__file__).parents[2] / "fixtures" / "real"
TRAINED = ["mnist_cnn.pbtxt", "xor.pbtxt", "gan_scopes.pb", "keras2_functional.pb", "while_v1.pb"]


def test_training_is_right_of_the_model_at_any_depth() -> None:
    for name in TRAINED:
        for scene in (graphviz_tb.load(REAL / name).picture(depth=depth).scene for depth in (0, "auto")):
            rule = scene.rules[0]
            outer = [box for box in scene.boxes if box.depth == 0 and box.area == "main"]
            right = [box.address for box in outer if box.x > rule.x1]
            left = [box.address for box in outer if box.x + box.width < rule.x1]
            assert set(right) >= {box.address for box in outer if box.address.lower().startswith(("gradient", "train"))}
            assert right
            assert left
            assert len(right) + len(left) >= len(outer) - 1, "a box without lines may stand anywhere"


@pytest.mark.parametrize("direction", ["BT", "TB", "LR", "RL"])
def test_the_rule_has_one_heading_on_its_far_side(direction: str) -> None:
    scene = graphviz_tb.load(REAL / "mnist_cnn.pbtxt").picture(direction=direction).scene
    (rule, *_), (heading,) = scene.rules, [text for text in scene.texts if text.content == "Training"]
    (train,) = (box for box in scene.boxes if box.address == "train")
    if direction in ("BT", "TB"):
        assert rule.x1 == rule.x2 < min(heading.x, train.x)
    else:
        assert rule.y1 == rule.y2 < min(heading.y - heading.size, train.y)


def test_where_the_flow_runs_up_the_heading_is_above_what_trains_the_model() -> None:
    scene = graphviz_tb.load(REAL / "cifar10_shapes.pb").picture().scene
    (rule, *_), (heading,) = scene.rules, [text for text in scene.texts if text.content == "Training"]
    assert min(rule.y1, rule.y2) < heading.y
    assert heading.y <= min(box.y for box in scene.boxes if box.x > rule.x1)


@each(
    ("name", "source", "target"), [("keras2_mnist.pb", "gradients", "Adam"), ("gan_scopes.pb", "gradients", "updates")]
)
def test_updates_are_below_the_gradients(name: str, source: str, target: str) -> None:
    scene = graphviz_tb.load(REAL / name).picture(depth=0).scene
    gradients, updates = _box(scene, source), _box(scene, target)
    assert gradients.y + gradients.height < updates.y
    numbers = {scene.boxes.index(gradients), scene.boxes.index(updates)}
    (line,) = (route for route in scene.routes if {route.source, route.target} == numbers)
    assert not line.back, "the flow of training is that of the model mirrored"


def test_lines_that_join_before_the_gradients_say_their_total_once() -> None:
    model = graphviz_tb.load(REAL / "mnist_cnn.pbtxt")
    scene = model.picture(depth=0).scene
    train = next(number for number, box in enumerate(scene.boxes) if box.address == "train")
    joining = [route for route in scene.routes if route.target == train]
    assert len(joining) > 3
    # All but that of the loss end on one track.
    (end,) = {route.points[-1] for route in joining if scene.boxes[route.source].address != "cross_entropy"}
    edges = {edge for edge in model.metagraph((0,)).edges if edge.training == TARGET_TRAINS}
    total = sum(len(edge.carried_tensors) for edge in edges if edge.source != _position(model, "cross_entropy"))
    (label,) = (text for text in scene.texts if text.role == "edge" and "tensors" in text.content)
    assert label.content == f"{total} tensors"
    highest = min(max(y for _, y in route.points[1:-1]) for route in joining if route.points[-1] == end)
    assert end[1] < label.y < highest, "at the part that all have in common"


def _position(model: graphviz_tb.Model, name: str) -> int:
    level = model.metagraph((0,))
    return next(place for place, row in enumerate(level.children) if model.hierarchy.name[row] == name)


def test_nothing_stands_apart_inside_what_trains_the_model() -> None:
    scene = graphviz_tb.load(REAL / "lstm_dynamic_rnn.pb").picture(open_all=True, max_open=600).scene
    inner = {number for number, box in enumerate(scene.boxes) if box.address.startswith(("gradients", "clip"))}
    assert not [text for text in scene.texts if text.content == "Training" and text.box in inner]


@pytest.mark.parametrize("name", ["keras2_mnist.pb", "saver_meta.pb", "multi_device.pb"])
def test_bookkeeping_has_no_line_and_stands_with_what_trains_the_model(name: str) -> None:
    for direction in ("BT", "LR"):
        scene = graphviz_tb.load(REAL / name).picture(direction=direction).scene
        books = _box(scene, "bookkeeping")
        rule = scene.rules[-1]
        assert books.x > rule.x1 if direction == "BT" else books.y > rule.y1
        assert not any(scene.boxes[end] is books for route in scene.routes for end in (route.source, route.target))


def _box(scene: Scene, start: str) -> Box:
    return next(box for box in scene.boxes if box.address.startswith(start))


# b ─▶ c, which trains; a line runs up past the heading, or through it
@pytest.mark.parametrize(("line", "place"), [(400, 0), (310, 84)])
def test_the_heading_stands_where_no_line_of_training_runs(line: int, place: int) -> None:
    wires = (Wire(0, -1, (0, 1), False), Wire(1, -1, (1, 3, 2), False))
    skeleton = Skeleton(3, (), wires, (1,), (((0,), (1, 3), (2,)),), ((0,),))
    bands = [Band(0, 24), Band(24, 60), Band(60, 120)]
    boxes = [(0, 0, 80, 24), (0, 24, 80, 24), (300, 60, 80, 24), (line, 24, 0, 0)]
    (rule,) = training_rules(skeleton, boxes, [bands], [((line, 0), (line, 60))], {2, 3}, (64, 24))
    assert rule.x == 280
    assert rule.heading == place


@pytest.mark.parametrize(("top", "place"), [(0, 24), (10, 34), (80, 0)])
def test_the_heading_stands_beside_no_box(top: int, place: int) -> None:
    # c, which trains, is beside the open box a; gradients b are in the next rank
    wires = (Wire(0, -1, (0, 1), False), Wire(1, -1, (1, 2), True))
    skeleton = Skeleton(3, (), wires, (), (((0, 2), (1,)),), ((0,),))
    boxes = [(0, 0, 80, 200), (300, 240, 80, 24), (300, top, 80, 24)]
    (rule,) = training_rules(skeleton, boxes, [[Band(0, 200), Band(240, 264)]], [], {1, 2}, (64, 24))
    assert rule.heading == place


# b, which trains, is at the end of the level; the level is larger than its part, or as large
@pytest.mark.parametrize(("height", "bottom", "place"), [(-1, 700, 0), (700, 700, 700), (800, 700, 0), (500, 500, 0)])
def test_a_level_drawn_with_its_end_first_grows_a_little_for_the_heading(height: int, bottom: int, place: int) -> None:
    skeleton = Skeleton(2, (), (Wire(0, -1, (0, 1), False),), (), (((0,), (1,)),), ((0,),))
    boxes = [(0, 0, 80, 24), (300, bottom - 24, 80, 24)]
    bands = [Band(0, 24), Band(bottom - 24, bottom)]
    (rule,) = training_rules(skeleton, boxes, [bands], [], {1}, (64, 24), height)
    assert rule.heading == place
    assert rule.bottom == max(bottom, place + 24)


@pytest.mark.parametrize("name", ["multi_device.pb", "lstm_dynamic_rnn.pb", "cifar10_shapes.pb", "func_library_v2.pb"])
@pytest.mark.parametrize("direction", ["BT", "LR"])
def test_every_training_has_its_heading(name: str, direction: str) -> None:
    scene = graphviz_tb.load(REAL / name).picture(direction=direction).scene
    assert "Training" in [text.content for text in scene.texts]
