"""Small Keras models in every form: what we tell of layers and weights is what Keras itself says (truth.json)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.graph import Mark
from tests.each import each

MODELS = Path(__file__).parents[2] / "fixtures" / "models"
TRUTH = {folder.name: json.loads((folder / "truth.json").read_text()) for folder in sorted(MODELS.iterdir())}
CONFIGURED = [(version, name) for version in TRUTH for name in TRUTH[version] if name != "subclassed"]
SAVED = sorted(path.parent for path in MODELS.glob("*/*_saved/saved_model.pb"))
PLUMBING = re.compile(r"VarHandleOp|ReadVariableOp|Assign.*|.*Save.*|.*Restore.*|MergeV2Checkpoints|NoOp|.*FullMatch")


def layers_of(version: str, name: str) -> dict[str, Any]:
    document = load(MODELS / version / f"{name}.json").to_json()
    return {node["name"]: node["layer"] for node in document["nodes"] if "layer" in node and node["kind"] == "op"}


@each(("version", "name"), CONFIGURED)
def test_class_shape_and_parameters_are_those_of_keras(version: str, name: str) -> None:
    truth, found = TRUTH[version][name], layers_of(version, name)
    own = {"Gain"} if name == "custom" else set()  # what only its code knows
    for path, layer in truth.items():
        told = found[path]
        assert told["class"] == layer["class"], path
        if layer["output"] is not None and layer["class"] not in own | {"InputLayer"}:
            assert told["outputs"][:1] == [layer["output"]] or told["class"] in own, path
        assert told["parameters"] == (None if layer["class"] in own else layer["parameters"]), path


@each(("version", "name"), CONFIGURED)
def test_the_configuration_is_the_files_own(version: str, name: str) -> None:
    config = json.loads((MODELS / version / f"{name}.json").read_text())["config"]
    found = layers_of(version, name)
    for layer in config["layers"]:
        if "layers" not in layer["config"]:
            assert (
                found[f"{config['name']}/{layer['config'].get('name', layer.get('name'))}"]["config"] == layer["config"]
            )


def placed(model: Model) -> list[tuple[str, tuple[int | None, ...] | None, str]]:
    """`(variable, shape, path of its user)` for each weight beside an op that uses its value."""
    graph, hierarchy = model.hierarchy.graph, model.hierarchy
    found = []
    for mark, host in zip(graph.beside.mark.tolist(), graph.beside.host.tolist(), strict=True):
        if (weight := graph.meaning.weights.get(mark)) is not None:
            row = int(hierarchy.row_of_node[host])
            function = int(graph.function[host])
            around = graph.functions[function].name + "/" if function >= 0 else ""
            found.append((weight.variable, weight.shape, around + hierarchy.name[row]))
    return found


@each("folder", SAVED, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_every_variable_stands_beside_its_layer(folder: Path) -> None:
    truth = TRUTH[folder.parent.name][folder.name.removesuffix("_saved")]
    model = load(folder)
    beside = placed(model)
    for path, layer in truth.items():
        name = path.rsplit("/", 1)[-1]
        for variable, shape in layer["weights"]:
            wanted = variable.removesuffix(":0")
            users = [(told, user) for said, told, user in beside if said == wanted or said.endswith("/" + wanted)]
            if not users:  # Keras 3 names what a subclassed model makes without its layer; then its attributes tell
                last = wanted.rsplit("/", 1)[-1]
                users = [(told, user) for said, told, user in beside if f"/{name}_" in user and said.endswith(last)]
            assert users, f"{variable} of {path} is nowhere"
            assert {told for told, _ in users} == {tuple(shape)}
            owners = [
                re.sub(r"_\d+\b", "", user) for _, user in users if "while" not in user and "standard" not in user
            ]
            assert all(re.sub(r"_\d+$", "", name) in owner for owner in owners), (variable, owners)


@each("folder", SAVED, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_a_saved_model_is_drawn_without_its_plumbing(folder: Path) -> None:
    model = load(folder)
    hierarchy = model.hierarchy
    ops = [hierarchy.graph.op_types[hierarchy.graph.op[node]] for node in hierarchy.node if node >= 0]
    drawn = [op for op, mark in zip(ops, hierarchy.mark[hierarchy.node >= 0], strict=True) if mark == Mark.NONE]
    assert not [op for op in drawn if PLUMBING.fullmatch(op)]
    (signature,) = [each for each in model.loaded.signatures if each.name == "serving_default"]  # type: ignore[union-attr]
    names = set(hierarchy.graph.name)
    assert {spec.key for spec in signature.inputs} <= names
    assert model.loaded.left_out > 0  # type: ignore[union-attr]


def test_variables_can_be_drawn_as_ops() -> None:
    folder = MODELS / "keras3" / "cnn_saved"
    few, many = load(folder), load(folder, show_variables=True)
    assert not many.hierarchy.graph.meaning.weights
    assert many.hierarchy.op_count(0) == few.hierarchy.op_count(0) + int((few.hierarchy.mark == Mark.WEIGHT).sum())


def test_a_shared_layer_says_how_often() -> None:
    assert layers_of("keras3", "siamese")["siamese/tower"]["telling"] == "8 · relu · 2 calls"
    weights = load(MODELS / "keras3" / "siamese_saved").hierarchy.graph.meaning.weights.values()
    assert {weight.uses for weight in weights if weight.variable == "tower/kernel"} == {2}


def rows_of(model: Model, layer: str) -> list[int]:
    """The scopes of a layer in an op graph, but not those in them: Keras 3 counts names up."""
    hierarchy = model.hierarchy
    names = re.compile(rf"(.*/)?{re.escape(layer)}(_\d+)?")
    found = [
        row
        for row in range(1, int(hierarchy.end[0]))
        if hierarchy.node[row] < 0 and names.fullmatch(hierarchy.name[row])
    ]
    return [row for row in found if not any(row != one and one <= row < hierarchy.end[one] for one in found)]


@each("folder", SAVED, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_parameters_count_at_the_layer_that_uses_them(folder: Path) -> None:
    truth = TRUTH[folder.parent.name][folder.name.removesuffix("_saved")]
    model = load(folder)
    assert model.cost.under(0).parameters == sum(layer["parameters"] for layer in truth.values())
    for path, layer in truth.items():
        rows = [] if path.count("/") > 1 else rows_of(model, path.rsplit("/", 1)[-1])
        if rows and layer["weights"]:
            counted = sum(model.cost.under(row).parameters for row in rows)
            assert counted == layer["parameters"], path


@each(("version", "name"), CONFIGURED)
def test_the_layers_of_a_keras_file_count_as_well(version: str, name: str) -> None:
    model = load(MODELS / version / f"{name}.json")
    known = [layer["parameters"] for layer in TRUTH[version][name].values() if layer["class"] != "Gain"]
    assert model.cost.under(0).parameters == sum(known)
    assert set(model.cost.uncounted) <= {"Gain"}  # a layer that is called Add is no op


def test_the_picture_says_how_much_is_left_out() -> None:
    model = load(MODELS / "keras3" / "cnn_saved")
    assert f"{model.loaded.left_out} ops left out" in model.picture().caption.facts  # type: ignore[union-attr]
    assert "left out" not in load(MODELS / "keras3" / "cnn.json").picture().caption.facts
