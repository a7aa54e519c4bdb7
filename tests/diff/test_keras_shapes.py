"""Keras models: settings that follow from shapes, and wires of layers that somebody named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphviz_tb.diff import diff


def layer(kind: str, name: str, *inputs: str, **settings: Any) -> dict[str, Any]:
    """One layer of a functional model."""
    taken = [[source, 0, 0, {}] for source in inputs]
    return {"class_name": kind, "name": name, "config": {"name": name, **settings},
            "inbound_nodes": [taken] if taken else []}  # fmt: skip


def model(path: Path, *layers: dict[str, Any]) -> Path:
    """A functional model of layers, the last of which is its output."""
    inputs = [[each["name"], 0, 0] for each in layers if each["class_name"] == "InputLayer"]
    ends = [[layers[-1]["name"], 0, 0]]
    config = {"name": "net", "layers": layers, "input_layers": inputs, "output_layers": ends}
    path.write_text(json.dumps({"class_name": "Functional", "config": config}))
    return path


def strided(path: Path, strides: int) -> Path:
    """x (16×8) ─▶ convolution ─▶ reshape to its length ─▶ dense."""
    return model(
        path,
        layer("InputLayer", "x", batch_input_shape=[None, 16, 8]),
        layer("Conv1D", "conv", "x", filters=4, kernel_size=[1], strides=[strides], padding="same"),
        layer("Reshape", "rows", "conv", target_shape=[16 // strides, -1]),
        layer("Dense", "out", "rows", units=2),
    )


def test_a_setting_that_is_the_shape_of_what_comes_in_follows(tmp_path: Path) -> None:
    (change,) = diff(strided(tmp_path / "old.json", 2), strided(tmp_path / "new.json", 1))
    assert (change.new, change.detail["key"]) == ("net/conv", "strides")
    assert "target_shape" in [one.detail.get("key") for one in change.consequences]


def towers(path: Path, *order: str) -> Path:
    """Two towers, subtracted in an order."""
    return model(
        path,
        *(layer("InputLayer", side, batch_input_shape=[None, 8]) for side in order),
        *(layer("Dense", f"{side}_dense_0", side, units=4) for side in order),
        layer("Subtract", "score", *(f"{side}_dense_0" for side in order)),
    )


def test_branches_that_changed_sides_are_one_reordering(tmp_path: Path) -> None:
    (change,) = diff(towers(tmp_path / "old.json", "user", "item"), towers(tmp_path / "new.json", "item", "user"))
    assert (change.kind, change.new, change.detail["reordered"]) == ("rewired", "net/score", True)


def test_a_diff_is_one_line(tmp_path: Path) -> None:
    changes = diff(strided(tmp_path / "old.json", 2), strided(tmp_path / "new.json", 1))
    assert repr(changes).startswith("<Changes ")
    assert "\n" not in repr(changes)
    assert "1 change" in repr(changes)


def blocks(path: Path, after: bool) -> Path:
    """x ─▶ three residual blocks, each with a norm before its layer, and one behind the last; or after each sum."""
    layers, before = [layer("InputLayer", "x", batch_input_shape=[None, 8])], "x"
    for at in ("a", "b", "c"):
        if not after:
            layers.append(layer("LayerNormalization", f"{at}_norm", before))
        layers.append(layer("Dense", f"{at}_fc", before if after else f"{at}_norm", units=8))
        layers.append(layer("Add", f"{at}_sum", before, f"{at}_fc"))
        before = f"{at}_sum"
        if after:
            layers.append(layer("LayerNormalization", before := f"{at}_norm", f"{at}_sum"))
    if not after:
        layers.append(layer("LayerNormalization", "last_norm", before))
        before = "last_norm"
    return model(path, *layers, layer("Dense", "head", before, units=2))


def test_layers_that_somebody_named_keep_their_names_in_another_order(tmp_path: Path) -> None:
    pair = blocks(tmp_path / "old.json", False), blocks(tmp_path / "new.json", True)
    changes = diff(*pair)
    assert changes.kinds == {"removed": 1, "rewired": 1}
    assert changes[0].old == "net/last_norm"
    assert {leaf for leaf in ("norm", "sum") if any(leaf in name for name in changes[1].detail["order"]["new"])} == {
        "norm",
        "sum",
    }
    assert diff(*pair[::-1]).kinds == {"added": 1, "rewired": 1}


def enlarged(path: Path, size: int, interpolation: str) -> Path:
    """x (8×8×3) ─▶ enlarged."""
    return model(
        path,
        layer("InputLayer", "x", batch_input_shape=[None, 8, 8, 3]),
        layer("UpSampling2D", "up", "x", size=[size, size], interpolation=interpolation),
    )


def test_a_size_that_is_set_is_no_consequence(tmp_path: Path) -> None:
    (change,) = diff(enlarged(tmp_path / "old.json", 2, "nearest"), enlarged(tmp_path / "new.json", 4, "bilinear"))
    assert {part.key for part in change.setting.as_parts} == {"size", "interpolation"}
    assert "size" not in [one.detail.get("key") for one in change.consequences]


def thinned(path: Path, kind: str, rate: float) -> Path:
    """x (16×8) ─▶ dropout of a class."""
    return model(
        path,
        layer("InputLayer", "x", batch_input_shape=[None, 16, 8]),
        layer(kind, "drop", "x", rate=rate),
    )


def test_a_layer_of_another_class_says_the_settings_that_both_have(tmp_path: Path) -> None:
    old, new = thinned(tmp_path / "old.json", "Dropout", 0.1), thinned(tmp_path / "new.json", "SpatialDropout1D", 0.2)
    for first, second in ((old, new), (new, old)):
        (change,) = diff(first, second)
        assert [part.key for part in change.setting.as_parts] == ["op", "rate"]


def shared(path: Path, rate: float, *order: int) -> Path:
    """x and y ─▶ one layer, called twice ─▶ the results of its calls, subtracted in an order."""
    taken = [["encoder", number, 0, {}] for number in order]
    encoder = layer("Dropout", "encoder", "x", rate=rate)
    encoder["inbound_nodes"].append([["y", 0, 0, {}]])
    end = {**layer("Subtract", "join"), "inbound_nodes": [taken]}
    inputs = (layer("InputLayer", name, batch_input_shape=[None, 8]) for name in "xy")
    return model(path, *inputs, layer("Dense", "other", "x", units=2 + order[0]), encoder, end)


def test_results_of_one_layer_in_another_order_are_an_edit_beside_others(tmp_path: Path) -> None:
    changes = diff(shared(tmp_path / "old.json", 0.1, 0, 1), shared(tmp_path / "new.json", 0.2, 1, 0))
    (reordered,) = [change for change in changes if change.kind == "rewired"]
    assert (reordered.new, reordered.detail["reordered"]) == ("net/join", True)
    assert {change.new for change in changes} == {"net/join", "net/encoder", "net/other"}
