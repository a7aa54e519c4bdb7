"""Layers of classes of the program's own: the archive's weights say what they keep, never a class of the same name."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.keras import model as keras_model
from graphviz_tb.keras import weights as weights_file
from tests.models.test_subclassed import archive

Require = Callable[..., None]


def model_with(layer: dict[str, Any]) -> dict[str, Any]:
    """x [?, 24] ─▶ fc, Dense of 24 ─▶ a layer that is called "scale"."""
    own = {**layer, "config": {"name": "scale", **layer["config"]}, "inbound_nodes": [[["fc", 0, 0, {}]]]}
    layers = [
        {"class_name": "InputLayer", "config": {"name": "x", "batch_shape": [None, 24]}, "inbound_nodes": []},
        {"class_name": "Dense", "config": {"name": "fc", "units": 24}, "inbound_nodes": [[["x", 0, 0, {}]]]},
        own,
    ]
    ends = {"input_layers": [["x", 0, 0]], "output_layers": [["scale", 0, 0]]}
    return {"class_name": "Functional", "config": {"name": "m", "layers": layers, **ends}}


def weights(**objects: tuple[str, tuple[int, ...]]) -> bytes:
    """Objects under `layers`: their name ("": none is written), and the shape of their one variable."""
    import h5py
    import numpy as np

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        for path, (name, shape) in objects.items():
            group = file.create_group(f"layers/{path}/vars")
            if name:
                group.attrs["name"] = name
            group.create_dataset("0", data=np.zeros(shape, np.float32))
    return buffer.getvalue()


OWN = {
    "class_name": "LayerScale",
    "module": None,
    "registered_name": "mine>LayerScale",
    "config": {"projection_dim": 7},
}


def test_a_class_that_is_called_as_one_of_keras_keeps_what_the_archive_keeps(require: Require) -> None:
    require("h5py")
    stored = weights(dense=("fc", (24, 24)), layer_scale=("scale", (24,)))
    found = load(archive(model_with(OWN), stored))
    assert found.cost.under(0).parameters == 24 * 24 + 24 + 24
    assert found.cost.uncounted == {"LayerScale": 1}, "what it computes is in its code alone"


def test_without_names_in_the_archive_a_layer_is_that_of_its_class_and_number(require: Require) -> None:
    """As Keras 2 writes archives: `layer_scale_1` is the second of its class, whatever the model calls it."""
    require("h5py")
    model = model_with(OWN)
    second = {**OWN, "config": {"name": "other"}, "inbound_nodes": [[["scale", 0, 0, {}]]]}
    model["config"]["layers"].append(second)
    stored = weights(dense=("", (24, 24)), layer_scale=("", (24,)), layer_scale_1=("", (24, 3)))
    found = load(archive(model, stored))
    assert [found[name].cost.parameters for name in ("m/scale", "m/other")] == [24, 24 * 3]


def test_a_name_in_the_archive_counts_before_the_number(require: Require) -> None:
    require("h5py")
    stored = weights(dense=("fc", (24, 24)), layer_scale=("another", (99,)))
    assert load(archive(model_with(OWN), stored)).cost.under(0).parameters == 24 * 24 + 24


def test_what_it_holds_counts_with_it(require: Require) -> None:
    require("h5py")
    stored = weights(block=("scale", (24, 5)), **{"block/inner": ("proj", (5, 24)), "dense": ("fc", (24, 24))})
    block = {"class_name": "Block", "module": "mine", "registered_name": "mine>Block", "config": {}}
    assert load(archive(model_with(block), stored)).cost.under(0).parameters == 24 * 24 + 24 + 24 * 5 + 5 * 24


def test_without_the_weights_the_number_is_a_part_and_a_notice_says_how_to_get_the_rest(
    monkeypatch: pytest.MonkeyPatch, require: Require
) -> None:
    require("h5py")
    stored = weights(layer_scale=("scale", (24,)))
    monkeypatch.setattr(weights_file, "has_h5py", lambda: False)
    monkeypatch.setattr(keras_model, "has_h5py", lambda: False)
    found = load(archive(model_with(OWN), stored))
    assert found.cost.under(0).parameters == 24 * 24 + 24
    assert "parameters" in found.cost.under(0).lower_bounds()
    (notice,) = [notice for notice in found.notices if notice.code == "uncounted-parameters"]
    assert "pip install h5py" in notice.message


def test_an_adapter_of_low_rank_counts_beside_its_kernel() -> None:
    lora = {"class_name": "Dense", "config": {"units": 10, "lora_rank": 4}}
    found = load(archive(model_with(lora)))
    assert found.cost.under(0).parameters == (24 * 24 + 24) + (24 * 10 + 10) + 4 * (24 + 10)


@pytest.mark.parametrize("wrapper", [False, True], ids=["cell", "cell in a wrapper"])
def test_a_layer_around_a_cell_of_the_program_keeps_what_the_archive_keeps(wrapper: bool, require: Require) -> None:
    require("h5py")
    cell = {"class_name": "Cell", "module": None, "registered_name": "Cell", "config": {"name": "c", "u": 5}}
    layer: dict[str, Any] = {"class_name": "RNN", "config": {"cell": cell}}
    if wrapper:
        layer = {"class_name": "Bidirectional", "config": {"layer": layer}}
    stored = weights(rnn=("scale", (24, 5)), **{"rnn/cell": ("c", (5, 5)), "dense": ("fc", (24, 24))})
    assert load(archive(model_with(layer), stored)).cost.under(0).parameters == 24 * 24 + 24 + 24 * 5 + 5 * 5


def test_each_cell_of_a_recurrent_layer_counts_with_what_the_one_before_gives() -> None:
    # a GRU cell of 3 units (a bias for each kernel), then an LSTM cell of 2
    cells = [
        {"class_name": "GRUCell", "config": {"name": "a", "units": 3}},
        {"class_name": "LSTMCell", "config": {"name": "b", "units": 2}},
    ]
    stacked = {"class_name": "StackedRNNCells", "config": {"name": "s", "cells": cells}}
    found = load(archive(model_with({"class_name": "RNN", "config": {"cell": stacked}})))
    assert found.cost.under(0).parameters == (24 * 24 + 24) + 3 * 3 * (24 + 3 + 2) + 4 * 2 * (3 + 2 + 1)
