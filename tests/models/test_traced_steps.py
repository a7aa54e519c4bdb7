"""Training steps as TensorFlow traces them: the model is shown, weights stand beside their layers, a loop closes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.graph import Mark
from tests.models.test_keras_models import PLUMBING, placed

STEPS = Path(__file__).parents[2] / "fixtures" / "steps"
TRUTH = json.loads((STEPS / "truth.json").read_text())
FILES = {"fit": STEPS / "fit", "step": STEPS / "step.pb", "loop": STEPS / "loop.pb"}
# fit updates by an optimizer, the others by assignments of their own, after a loss of three ops
SHOWN = {
    "fit": {"iterator", "IteratorGetNext", "city_id", "place", "flat", "all", "wide", "score", "compile_loss", "sgd"},
    "step": {"left", "right", "tower #1", "tower #2", "apart", "mix", "score", "Square", "Mean", "Identity", "updates"},
    "loop": {"state", "embed", "refine", "answer", "Square", "Mean", "Identity", "updates"},
}


def called(model: Model) -> dict[str, bool]:
    """What boxes of the first picture are called, and whether they are open."""
    scene = model.picture().scene
    said = {text.box: text.content for text in scene.texts if text.role in ("title", "label")}
    return {said[place]: box.open for place, box in enumerate(scene.boxes)}


@pytest.mark.parametrize("name", FILES)
def test_the_first_picture_is_the_model(name: str) -> None:
    boxes = called(load(FILES[name]))
    assert {name for name in boxes if not boxes[name]} == SHOWN[name] | {"gradients", "bookkeeping"}
    assert {name for name in boxes if boxes[name]} == {{"fit": "prices", "step": "pair", "loop": "fixed_point"}[name]}


@pytest.mark.parametrize("name", FILES)
def test_every_weight_stands_beside_its_layer_with_its_shape(name: str) -> None:
    beside = [
        (shape, re.sub(r"_\d+(?=/)", "", user))
        for _, shape, user in placed(load(FILES[name]))
        if not user.startswith(("gradient", "sgd", "adam", "Assign", "mul"))
    ]
    for layer, weights in TRUTH[name].items():
        found = {shape for shape, user in beside if f"/{layer}/" in user}
        assert found == {tuple(shape) for _, shape in weights}, layer


@pytest.mark.parametrize("name", FILES)
def test_no_plumbing_is_in_the_model(name: str) -> None:
    model = load(FILES[name])
    [around] = [box.row for box in model.picture().scene.boxes if box.open]
    hierarchy = model.hierarchy
    rows = range(around, int(hierarchy.end[around]))
    types = {
        hierarchy.graph.op_types[hierarchy.graph.op[hierarchy.node[row]]]
        for row in rows
        if hierarchy.node[row] >= 0 and hierarchy.mark[row] == Mark.NONE
    }
    assert not [op for op in types if PLUMBING.fullmatch(op)]


def test_the_loop_of_the_model_closes() -> None:
    model = load(FILES["loop"])
    calls = [row for row, bodies in model.hierarchy.calls.items() if {attr for attr, _ in bodies} == {"cond", "body"}]
    forward = [row for row in calls if "gradient" not in model.hierarchy.name[row]]
    assert len(forward) == 1
    document = model.to_json()
    assert any(edge.get("back") for group in document["groups"].values() for edge in group["edges"])
