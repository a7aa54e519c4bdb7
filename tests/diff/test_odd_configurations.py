"""A Keras model may write anything for anything: whatever it writes can be compared with what it wrote before."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphviz_tb import diff
from tests.each import each
from tests.effort import part

ODD: list[Any] = [None, {}, {"a": 1}, [], [[1], {"b": []}], "", "float32", True, -1, 1e300, [None] * 3, ["a", 0]]
USUAL: dict[str, Any] = {
    "InputLayer": {"batch_shape": [None, 28, 28, 1], "dtype": "float32", "batch_input_shape": [None, 3]},
    "Dense": {"units": 2, "activation": "relu", "dtype": "float32", "use_bias": True},
    "Conv2D": {"filters": 4, "kernel_size": [3, 3], "strides": [1, 1], "padding": "same", "dilation_rate": [1, 1]},
    "BatchNormalization": {"axis": -1, "epsilon": 1e-3, "dtype": {"class_name": "DTypePolicy", "config": {}}},
}


def model(**changed: Any) -> bytes:
    """A model of one layer of each class; `changed` goes into the configuration of each."""
    layers = [
        {"class_name": kind, "config": {"name": f"layer_{at}", **config, **changed}}
        for at, (kind, config) in enumerate(USUAL.items())
    ]
    return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}}).encode()


@each("key", part(sorted({key for config in USUAL.values() for key in config}), 8))
def test_any_value_of_any_setting_is_compared(key: str) -> None:
    for value in ODD:
        changes = diff(model(), model(**{key: value}))
        assert changes.explain()
        assert changes.to_markdown()
        assert json.dumps(changes.to_json())
        back = diff(model(**{key: value}), model())
        assert changes.same is back.same
    assert not diff(model(**{key: {"a": 1}}), model(**{key: [2]})).same


@pytest.mark.parametrize("depth", [20, 59, 60, 61, 500])
def test_a_setting_counts_however_deep_it_lies(depth: int) -> None:
    def nested(leaf: int) -> bytes:
        return model(odd="DEEP").replace(b'"DEEP"', b"[" * depth + str(leaf).encode() + b"]" * depth)

    assert diff(nested(1), nested(1)).same
    assert not diff(nested(1), nested(2)).same


def test_another_class_of_a_layer_is_one_difference() -> None:
    old = model()
    changes = diff(old, old.replace(b'"BatchNormalization"', b'"LayerNormalization"'))
    assert [change.detail["key"] for change in changes] == ["op"]
    entries = [entry["key"] for place in changes.to_json()["ledger"] for entry in place["entries"]]
    assert entries.count("op") == 1
    assert "keras_class" not in entries
