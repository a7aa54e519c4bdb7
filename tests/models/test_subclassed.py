"""Subclassed models as `.keras`: the JSON has no layers, so they are told by its configuration and its weights."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.errors import NoGraph
from graphviz_tb.keras import weights as weights_file
from graphviz_tb.read.source import read_source
from tests.effort import part

MODELS = Path(__file__).parents[2] / "fixtures" / "models"
Require = Callable[..., None]

DENSE = {"class_name": "Dense", "config": {"name": "head", "trainable": True, "units": 3}}
SPINE = {
    "class_name": "Functional",
    "config": {
        "name": "spine",
        "trainable": True,
        "layers": [
            {"class_name": "InputLayer", "config": {"name": "x", "batch_shape": [None, 4]}, "inbound_nodes": []},
            {"class_name": "Dense", "config": {"name": "y", "units": 5}, "inbound_nodes": [[["x", 0, 0, {}]]]},
        ],
        "input_layers": [["x", 0, 0]],
        "output_layers": [["y", 0, 0]],
    },
}


def wrapped(**config: Any) -> dict[str, Any]:
    return {"class_name": "Mine", "config": {"name": "mine", **config}, "registered_name": "lab>Mine"}


def archive(model: dict[str, Any], weights: bytes | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr("config.json", json.dumps(model))
        if weights is not None:
            made.writestr("model.weights.h5", weights)
    return buffer.getvalue()


def hdf5(**variables: tuple[int, ...]) -> bytes:
    """`vars/0` of each object, named by its path with `__` for slashes."""
    import h5py
    import numpy as np

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        for path, shape in variables.items():
            file.create_dataset(path.replace("__", "/") + "/vars/0", data=np.zeros(shape, np.float32))
    return buffer.getvalue()


@pytest.mark.parametrize("version", ["keras3", "keras2"])
def test_each_layer_has_its_name_and_its_weights(version: str, require: Require) -> None:
    require("h5py")
    truth = json.loads((MODELS / version / "truth.json").read_text())["subclassed"]
    layers = read_source(MODELS / version / "subclassed.keras").layers
    told = {path: layer.parameters for path, layer in layers.items() if "/" in path}
    counts = {path: layer["parameters"] for path, layer in truth.items()}
    if version == "keras3":
        assert told == counts
    else:  # Keras 2 keeps no names: what is in a list is called by its class
        assert sorted(told.values()) == sorted(counts.values())  # type: ignore[type-var]
        assert {path.rpartition("/")[2] for path in told} == {"dense", *(f"dense_{at}" for at in range(1, 5))}
    root = next(layer for path, layer in layers.items() if "/" not in path)
    assert root.class_name == "Residual"
    assert root.parameters == sum(counts.values())


def test_the_notice_says_that_calls_are_not_known(require: Require) -> None:
    require("h5py")
    loaded = read_source(MODELS / "keras3" / "subclassed.keras")
    assert [each.code for each in loaded.notices] == ["unconnected-layers"]
    assert not [edge for node in loaded.graph_def.node for edge in node.input]


def test_layers_in_a_configuration_are_drawn_without_weights() -> None:
    loaded = read_source(
        json.dumps(wrapped(backbone=SPINE, parts=[DENSE, {"class_name": "Zeros", "config": {}}])).encode()
    )
    assert [(node.name, list(node.input)) for node in loaded.graph_def.node] == [
        ("mine/spine/x", []),
        ("mine/spine/y", ["mine/spine/x"]),
        ("mine/head", []),
    ]
    assert loaded.layers["mine/spine"].parameters == 4 * 5 + 5
    assert loaded.layers["mine"].class_name == "Mine"


def test_a_configuration_and_weights_become_one_tree(require: Require) -> None:
    require("h5py")
    weights = hdf5(head=(5, 3), blocks__gate=(7,), blocks__gate_10=(9,), blocks__gate_2=(8,), optimizer=(4,))
    loaded = read_source(archive(wrapped(head=DENSE), weights))
    assert {path: (layer.class_name, layer.parameters) for path, layer in loaded.layers.items()} == {
        "mine/head": ("Dense", 15),
        "mine/gate": ("Layer", 7),
        "mine/gate_2": ("Layer", 8),
        "mine/gate_10": ("Layer", 9),
        "mine": ("Mine", 15 + 7 + 8 + 9),
    }
    assert [node.name for node in loaded.graph_def.node] == ["mine/gate", "mine/gate_2", "mine/gate_10", "mine/head"]


def test_what_a_class_of_keras_holds_is_part_of_it(require: Require) -> None:
    require("h5py")
    inside = {f"layers__gru__cell{at}": (4, size) for at, size in enumerate((2, 3))}
    layers = read_source(archive(wrapped(), hdf5(layers__gru=(1,), **inside))).layers
    assert {path: layer.parameters for path, layer in layers.items()} == {"mine/gru": 1 + 8 + 12, "mine": 21}


def test_damaged_weights_are_no_layers(require: Require) -> None:
    require("h5py")
    for weights in (b"", b"\x89HDF\r\n\x1a\n" + bytes(200), hdf5(a=(2,))[:900]):
        with pytest.raises(NoGraph, match="not in its JSON, and its weights could not be read: they are damaged"):
            read_source(archive(wrapped(), weights))


@pytest.mark.parametrize("packed", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_of_packed_weights_is_none_of_the_archive(packed: int, require: Require) -> None:
    require("h5py")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out:
        out.writestr("config.json", json.dumps(wrapped(head=DENSE)))
        out.writestr("model.weights.h5", hdf5(head=(5, 3)), packed)
        start = out.getinfo("model.weights.h5").header_offset + 60
    damaged = bytearray(made.getvalue())
    damaged[start : start + 40] = bytes(40)
    loaded = read_source(bytes(damaged))
    assert [node.name for node in loaded.graph_def.node] == ["mine/head"]
    assert "its weights could not be read: they are damaged" in loaded.notices[0].message


def test_a_name_in_the_weights_that_is_no_text(require: Require) -> None:
    require("h5py")
    import h5py

    weights = io.BytesIO()
    with h5py.File(weights, "w") as file:
        file["a/vars/0"] = [0.0] * 3
        file[b"b\xfe/vars/0"] = [0.0] * 4
        file["a/vars"].attrs.create("name", b"n\xff", dtype=h5py.string_dtype())
    layers = read_source(archive(wrapped(), weights.getvalue())).layers
    assert {path: layer.parameters for path, layer in layers.items()} == {"mine/n?": 3, "mine/b?": 4, "mine": 7}


def test_a_fault_of_ours_is_no_damage_of_the_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: object) -> None:
        raise IndexError("ours")

    monkeypatch.setattr("graphviz_tb.keras.model.conceptual_graph", fault)
    with pytest.raises(IndexError, match="ours"):
        read_source(archive(wrapped(head=DENSE), b""))


def test_without_h5py_the_hint_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights_file, "find_spec", lambda name: None)
    with pytest.raises(NoGraph) as caught:
        read_source(MODELS / "keras3" / "subclassed.keras")
    assert "pip install h5py" in str(caught.value.hint)


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_weights_are_read_however_they_are_packed(packed: int, require: Require, tmp_path: Path) -> None:
    require("h5py")
    source = zipfile.ZipFile(MODELS / "keras3" / "subclassed.keras")
    with zipfile.ZipFile(tmp_path / "m.keras", "w", packed) as made:
        for name in source.namelist():
            made.writestr(name, source.read(name))
    assert read_source(tmp_path / "m.keras").layers == read_source(MODELS / "keras3" / "subclassed.keras").layers


def test_a_file_that_keeps_the_library_busy_is_given_up(require: Require, monkeypatch: pytest.MonkeyPatch) -> None:
    require("h5py")
    monkeypatch.setattr(weights_file, "MAX_HDF5_SECONDS", 0.001)
    with pytest.raises(NoGraph, match="reading them takes more than"):
        read_source(MODELS / "keras3" / "subclassed.keras")


def test_the_rule_of_an_op_is_not_that_of_a_layer() -> None:
    # a layer Conv2D that is called with nothing: no kernel tells its shape
    conv = {"class_name": "Conv2D", "config": {"name": "c", "trainable": True, "filters": 4, "kernel_size": [3, 3]}}
    assert load(json.dumps(wrapped(conv=conv)).encode()).shapes() == {("mine/c", 0): None}


@pytest.mark.parametrize("kind", part([["Dense"], {"a": 1}, None, 7], 3), ids=str)
def test_the_name_of_a_class_may_be_anything(kind: object, require: Require, tmp_path: Path) -> None:
    require("h5py")
    source = zipfile.ZipFile(MODELS / "keras3" / "subclassed.keras")
    with zipfile.ZipFile(tmp_path / "m.keras", "w") as made:
        for name in source.namelist():
            data = source.read(name)
            made.writestr(name, json.dumps(json.loads(data) | {"class_name": kind}) if name == "config.json" else data)
    assert load(tmp_path / "m.keras").picture().render("svg")


def test_weights_of_the_model_and_of_a_block_count_next_to_their_layers(require: Require) -> None:
    require("h5py")
    stored = hdf5(block=(), block__dense=(4, 5), head=(5, 2), **{"": (7,)})
    made = load(archive(wrapped(), stored))
    assert made.cost.under(0).parameters == 1 + 4 * 5 + 5 * 2 + 7
