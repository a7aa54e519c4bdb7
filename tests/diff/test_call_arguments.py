"""What a call of a Keras layer is given counts like the layer's configuration, in both ways that Keras writes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphviz_tb import diff
from tests.effort import part

KINDS = ("Multiply", "Attend", "GetItem")


def model(*nodes: Any, kind: str = "Multiply", config: Any = None) -> bytes:
    """x ─▶ op, called as the nodes say ─▶ y, with a mask m beside."""
    inputs = [{"class_name": "InputLayer", "name": name, "config": {"name": name, "batch_shape": [None, 8]},
               "inbound_nodes": []} for name in "xm"]  # fmt: skip
    op = {"class_name": kind, "name": "op", "config": {"name": "op", **(config or {})}, "inbound_nodes": list(nodes)}
    ends = {"input_layers": [["x", 0, 0], ["m", 0, 0]], "output_layers": [["op", 0, 0]]}
    return json.dumps({"class_name": "Functional", "config": {"name": "n", "layers": [*inputs, op], **ends}}).encode()


def tensor(name: str) -> dict[str, Any]:
    return {"class_name": "__keras_tensor__", "config": {"shape": [None, 8], "keras_history": [name, 0, 0]}}


def keras_3(*args: Any, **named: Any) -> dict[str, Any]:
    return {"args": list(args), "kwargs": named}


def keras_2(**named: Any) -> list[Any]:
    return [["x", 0, 0, named]]


def cut(start: Any = None, stop: Any = None, step: Any = None, kind: str = "__slice__") -> dict[str, Any]:
    parts = {"start": start, "stop": stop, "step": step}
    return {"class_name": kind, "config": parts} if kind else parts


def array(*values: float) -> dict[str, Any]:
    return {"class_name": "__numpy__", "config": {"value": list(values), "dtype": "float32"}}


def packed(*items: Any) -> dict[str, Any]:
    return {"class_name": "__tuple__", "items": list(items)}


def said(old: bytes, new: bytes) -> list[tuple[Any, ...]]:
    """What is told of each argument, the others of one layer behind the first."""
    found = []
    for change in diff(old, new):
        assert change.kind == "changed"
        found += [(part["key"], part["old"], part["new"]) for part in (change.detail, *change.detail.get("with", ()))]
    return found


@pytest.mark.parametrize(
    ("old", "new", "words"),
    part([
        (keras_2(y=2.0, name=None), keras_2(y=3.0, name=None), ("argument y", 2.0, 3.0)),
        (keras_2(use_causal_mask=True), keras_2(), ("argument use_causal_mask", True, None)),
        (keras_2(training=False), keras_2(), ("argument training", False, None)),
        (keras_2(a={"b": [1, {"c": 2}]}), keras_2(a={"b": [1, {"c": 3}]}), ("argument a.b.1.c", 2, 3)),
        (
            keras_2(slice_spec=packed(cut(kind=""), 0)),
            keras_2(slice_spec=packed(cut(1, kind=""), 0)),
            ("argument slice_spec", [":", 0], ["1:", 0]),
        ),
        (
            [["_CONSTANT_VALUE", -1, 1.0, {"y": ["x", 0, 0]}]],
            [["_CONSTANT_VALUE", -1, 2.0, {"y": ["x", 0, 0]}]],
            ("argument 0", 1.0, 2.0),
        ),
        (keras_3(tensor("x"), 2.0), keras_3(tensor("x"), 3.0), ("argument 1", 2.0, 3.0)),
        (keras_3(tensor("x"), -1), keras_3(tensor("x")), ("argument 1", -1, None)),
        (keras_3(tensor("x"), training=True), keras_3(tensor("x")), ("argument training", True, None)),
        (
            keras_3(tensor("x"), packed(cut(), cut(0, 4))),
            keras_3(tensor("x"), packed(cut(), cut(0, 8, 2))),
            ("argument 1", [":", "0:4"], [":", "0:8:2"]),
        ),
        (keras_3(tensor("x"), array(1.0, 2.0)), keras_3(tensor("x"), array(1.0, 3.0)),
         ("argument 1", [1.0, 2.0], [1.0, 3.0])),
        (keras_3([tensor("x"), 2]), keras_3([tensor("x"), 4]), ("argument 0", ["tensor", 2], ["tensor", 4])),
        (
            keras_3(tensor("x"), attention_mask=tensor("m")),
            keras_3(tensor("x"), value=tensor("m")),
            ("tensor arguments", [0, "attention_mask"], [0, "value"]),
        ),
    ], 3),
)  # fmt: skip
@pytest.mark.parametrize("kind", KINDS)
def test_an_argument_of_a_call_counts(old: Any, new: Any, words: tuple[Any, ...], kind: str) -> None:
    assert said(model(old, kind=kind), model(new, kind=kind)) == [words]
    assert diff(model(old, kind=kind), model(old, kind=kind)).same
    (change,) = diff(model(new, kind=kind), model(old, kind=kind))
    assert (change.detail["old"], change.detail["new"]) == words[:0:-1]


def test_a_query_is_the_first_argument_of_an_attention_by_whatever_it_is_given() -> None:
    by_place, by_name = keras_3(tensor("x"), tensor("m")), keras_3(query=tensor("x"), value=tensor("m"))
    old, new = (model(node, kind="MultiHeadAttention") for node in (by_place, by_name))
    assert diff(old, new).same
    masked = model(keras_3(tensor("x"), attention_mask=tensor("m")), kind="MultiHeadAttention")
    assert said(old, masked) == [("tensor arguments", [0, 1], [0, "attention_mask"])]


def test_what_one_of_several_calls_is_given() -> None:
    two = [keras_3(tensor("x"), training=False)] * 2
    other = keras_3(tensor("x"), training=True)
    assert said(model(*two), model(two[0], other)) == [("call 2: argument training", False, True)]
    assert said(model(*two), model(other, other)) == [("argument training", False, True)]


def test_an_array_of_thousands_of_numbers_counts() -> None:
    old, new = ([0.0] * 3000 + [end] for end in (1.0, 2.0))
    ((key, before, after),) = said(*(model(keras_3(tensor("x"), array(*each))) for each in (old, new)))
    assert key == "argument 1"
    assert before != after
    assert before.startswith("#")


def test_what_only_names_something_in_a_call_is_no_edit() -> None:
    assert diff(model(keras_2(y=2.0, name="a")), model(keras_2(y=2.0, name="b"))).same
    assert diff(model(keras_3(tensor("x"), mask=None)), model(keras_3(tensor("x")))).same


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ({"c": {"pre": True, "dim": 4}}, {"c": {"pre": False, "dim": 4}}, ("c.pre", True, False)),
        ({"c": {"pre": True}}, {"c": {}}, ("c.pre", True, None)),
        ({"c": {"a": {"b": 0}}}, {"c": {"a": {"b": 1}}}, ("c.a.b", 0, 1)),
        ({"c": [{"a": 1}, {"a": 2}]}, {"c": [{"a": 1}, {"a": 3}]}, ("c.1.a", 2, 3)),
        ({"c": packed(1, 2)}, {"c": packed(1, 3)}, ("c", [1, 2], [1, 3])),
        ({"c": {"name": "rms"}}, {"c": {"name": "layer"}}, ("c.name", "rms", "layer")),
    ],
)
def test_a_nested_setting_is_told_by_its_keys(old: Any, new: Any, words: tuple[Any, ...]) -> None:
    assert said(model(keras_2(), config=old), model(keras_2(), config=new)) == [words]


def test_names_of_layers_in_a_configuration_are_no_settings() -> None:
    old, new = ({"c": {"name": name, "trainable": True, "units": 3}} for name in ("dense", "dense_1"))
    assert diff(model(keras_2(), config=old), model(keras_2(), config=new)).same


def test_a_whole_object_that_came_is_told_with_what_is_false() -> None:
    text = diff(model(keras_2()), model(keras_2(), config={"c": {"pre": False, "dim": 0, "none": None}})).explain()
    assert "c nothing → dim 0, pre false" in text


def custom(count: int) -> bytes:
    """A sequence of layers of a class that a package registered."""
    layers = [{"module": None, "class_name": "Block", "registered_name": "lm>Block", "config": {"name": f"b_{at}"}}
              for at in range(count)]  # fmt: skip
    return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}}).encode()


def test_the_same_says_what_the_form_does_not_show() -> None:
    assert "what Block ×3 computes" in diff(custom(3), custom(3)).left_out
    assert "what Block computes" in diff(custom(1), custom(1)).explain()
    assert not any("computes" in word for word in diff(model(keras_2()), model(keras_2())).left_out)


def test_another_total_is_never_the_same() -> None:
    """A rule of a class that counts parameters by what nothing else shows: the shape that the layer was built with."""

    def built(size: int) -> bytes:
        dense = {
            "class_name": "Dense",
            "config": {"name": "d", "units": 2},
            "build_config": {"input_shape": [None, size]},
        }
        return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": [dense]}}).encode()

    (change,) = diff(built(4), built(8))
    assert (change.old, change.detail) == ("m/d", {"key": "parameters", "old": 10, "new": 18})
    (back,) = diff(built(8), built(4))
    assert (back.detail["old"], back.detail["new"]) == (18, 10)
    assert "m/d  parameters 10 → 18" in diff(built(4), built(8)).explain()
    assert diff(built(4), built(4)).same
