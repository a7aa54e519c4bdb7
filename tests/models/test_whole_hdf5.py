"""A whole Keras model in an HDF5 file: the model of its JSON, with what the weights say of classes without a rule."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.errors import TooLarge, UnknownFormat
from graphviz_tb.keras import files, weights
from graphviz_tb.read.source import read_source
from graphviz_tb.sources import bounds
from tests.effort import part
from tests.models.test_own_classes import OWN, model_with
from tests.timing import seconds

Require = Callable[..., None]


def whole(model: dict[str, Any] | None, **variables: tuple[int, ...]) -> bytes:
    """The HDF5 file of a model whose variables lie at a path, with `__` for slashes."""
    import h5py
    import numpy as np

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        if model is not None:
            file.attrs["model_config"] = json.dumps(model)
            file.attrs["training_config"] = json.dumps({"loss": "mse"})
        for path, shape in variables.items():
            file.create_dataset("model_weights/" + path.replace("__", "/"), data=np.zeros(shape, np.float32))
    return buffer.getvalue()


def around(inner: dict[str, Any]) -> dict[str, Any]:
    """A model of one model."""
    layers = [
        {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [None, 24]}, "inbound_nodes": []},
        {**inner, "name": "m", "inbound_nodes": [[["in", 0, 0, {}]]]},
    ]
    return {"class_name": "Functional", "config": {"name": "outer", "layers": layers, "input_layers": [["in", 0, 0]]}}


FIXTURES = Path(__file__).parents[2] / "fixtures" / "models"


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/*.h5")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_layer_keeps_what_keras_says(path: Path, require: Require) -> None:
    require("h5py")
    truth = json.loads((path.parent / "truth.json").read_text())[path.stem]
    layers = read_source(path).layers
    assert {name: layers[name].parameters for name in truth} == {name: one["parameters"] for name, one in truth.items()}


KNOWN = 24 * 24 + 24  # of the layer "fc"
MODELS = {
    "keras 3": (
        model_with(OWN),
        {"fc__m__fc__kernel": (24, 24), "fc__m__fc__bias": (24,), "scale__m__scale__a": (24,)},
    ),
    "keras 2": (model_with(OWN), {"fc__fc__kernel:0": (24, 24), "scale__scale__alpha:0": (24,)}),
    "a layer in a model": (around(model_with(OWN)), {"m__fc__kernel": (24, 24), "m__scale__alpha": (24,)}),
    "layers in a layer": (
        model_with(OWN),
        {"scale__scale__up__k:0": (2, 4), "scale__scale__down__k:0": (4, 4)},
    ),
}


@pytest.mark.parametrize("case", part(MODELS, 2))
def test_it_is_the_model_of_its_json_and_the_weights_say_the_rest(case: str, require: Require, tmp_path: Path) -> None:
    require("h5py")
    model, variables = MODELS[case]
    path = tmp_path / "model.h5"
    path.write_bytes(whole(model, **variables))
    found, described = load(path), load(json.dumps(model).encode())
    assert read_source(path).graph_def.node == read_source(json.dumps(model).encode()).graph_def.node
    assert found.cost.under(0).parameters == KNOWN + 24
    assert "parameters" in described.cost.under(0).lower_bounds()
    assert "parameters" not in found.cost.under(0).lower_bounds()


def layered(name: str, *layers: dict[str, Any], **config: Any) -> dict[str, Any]:
    return {"class_name": "Sequential", "config": {"name": name, "layers": list(layers), **config}}


def dense(name: str, units: int) -> dict[str, Any]:
    return {"class_name": "Dense", "config": {"name": name, "units": units, "use_bias": False}}


OWN_FIRST = {"class_name": "Own", "registered_name": "m>Own", "config": {"name": "own", "batch_input_shape": [None, 9]}}


def test_what_a_sequence_was_built_with_is_given_to_its_first_layer_alone() -> None:
    model = layered("m", OWN_FIRST, dense("d", 3), build_input_shape=[None, 400])
    assert "parameters" in load(json.dumps(model).encode()).cost.under(0).lower_bounds()
    assert not load(json.dumps(model).encode()).cost.under(0).parameters


@pytest.mark.parametrize("again", [False, True])
def test_a_layer_in_two_models_has_its_weights_once_where_the_file_says_so(again: bool) -> None:
    shared = {**dense("d", 3), **({"shared_object_id": 2} if again else {})}
    a = layered("a", {"class_name": "InputLayer", "config": {"name": "x", "batch_shape": [None, 4]}}, dense("d", 3))
    b = layered("b", {"class_name": "InputLayer", "config": {"name": "y", "batch_shape": [None, 3]}}, shared)
    counted = load(json.dumps(layered("m", a, b)).encode()).cost.under(0).parameters
    assert counted == 12 + (0 if again else 9)


def test_a_layer_that_is_called_as_the_model_around_it_keeps_its_own(require: Require) -> None:
    require("h5py")
    inner = {"class_name": "Own", "registered_name": "m>Own", "config": {"name": "a"}, "inbound_nodes": []}
    model = {"class_name": "Functional", "config": {"name": "m", "layers": [{**layered("b", inner), "name": "b"}]}}
    found = load(whole(model, b__a__b__kernel=(4, 5)))
    assert found.cost.under(0).parameters == 20


def test_how_it_is_compiled_is_left_out_where_it_cannot_be_read(require: Require, tmp_path: Path) -> None:
    require("h5py")
    import h5py

    path = tmp_path / "model.h5"
    path.write_bytes(whole(model_with(OWN)))
    with h5py.File(path, "a") as file:
        file.attrs["training_config"] = "nope"
    assert read_source(path).layers["m"].parameters == read_source(whole(model_with(OWN))).layers["m"].parameters


@pytest.mark.slow
def test_paths_of_a_thousand_scopes_take_no_time(require: Require) -> None:
    items = [
        ("model_weights/" + "/".join(f"s{at}" for at in range(1000)) + f"/v{one}", [1], None) for one in range(500)
    ]
    with seconds(2):
        files._file_by_layer(items)


def test_packed_or_in_memory_it_is_the_same(require: Require) -> None:
    require("h5py")
    data = whole(model_with(OWN), scale__a=(24,))
    assert load(gzip.compress(data)).cost.under(0) == load(data).cost.under(0)


def test_how_it_is_compiled_is_part_of_its_configuration(require: Require) -> None:
    require("h5py")
    assert read_source(whole(model_with(OWN))).layers["m"].config["loss"] == "mse"


def test_weights_alone_are_no_model(require: Require) -> None:
    require("h5py")
    with pytest.raises(UnknownFormat, match="without a Keras model"):
        load(whole(None, dense__kernel=(2, 3)))


@pytest.mark.parametrize("cut", part([9, 200, 1500], 3))
def test_a_damaged_file_is_refused(cut: int, require: Require) -> None:
    require("h5py")
    with pytest.raises(UnknownFormat, match="damaged"):
        load(whole(model_with(OWN), fc__kernel=(24, 24))[:cut])


def test_a_root_that_says_no_model_is_refused(require: Require) -> None:
    require("h5py")
    with pytest.raises(UnknownFormat, match="no Keras model"):
        load(whole({"tasks": []}))


def test_without_h5py_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "has_h5py", lambda: False)
    with pytest.raises(UnknownFormat, match="read with h5py") as caught:
        load(b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert weights.INSTALL_H5PY in str(caught.value.hint)


def test_json_that_would_fill_memory_is_refused_before_it_is_parsed(
    require: Require, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("h5py")
    monkeypatch.setattr(bounds, "FREE_MEMORY_BYTES", 0)
    monkeypatch.setattr(bounds, "MEMORY_PER_BYTE", 0)
    for parses in ("_valid_json_or_null", "_outermost_name", "conceptual_graph"):
        monkeypatch.setattr(files, parses, lambda *_: pytest.fail("it was parsed"))
    with pytest.raises(TooLarge):
        load(whole(model_with(OWN)))
