"""Causes and consequences on small graphs: which differences are one edit, and which only follow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.result import Changes
from graphviz_tb.proto import GraphDef
from tests.diff.pairs import FIXTURES, copied, graph_def

FLOAT, INT = 1, 3


def graph(*nodes: str) -> Any:
    """A graph from lines: name, op type, inputs."""
    made = GraphDef()
    for line in nodes:
        name, op, *inputs = line.split()
        node = made.node.add(name=name, op=op, input=inputs)
        if op == "Const":
            node.attr["value"].tensor.dtype = INT
            node.attr["value"].tensor.int_val.append(int(name.rpartition("=")[2] or 0) if "=" in name else 0)
            node.name = name.partition("=")[0]
    return made


def told(changes: Changes) -> list[tuple[str, str | None, str | None]]:
    return [(change.kind, change.old, change.new) for change in changes]


def test_an_optimizers_constants_are_one_edit() -> None:
    old = graph_def(FIXTURES / "edits" / "base.train.pb")
    new = copied(old)
    for node in new.node:
        tensor = node.attr["value"].tensor if node.op == "Const" and node.name.startswith("adam") else None
        if tensor is not None and tensor.dtype == FLOAT:
            value = np.frombuffer(tensor.tensor_content, "<f4") if tensor.tensor_content else tensor.float_val
            other = {0.9: 0.8, 0.1: 0.2}.get(round(float(value[0]), 4)) if len(value) == 1 else None
            if other is not None:
                tensor.ClearField("tensor_content")
                tensor.float_val[:] = [other]
    (change,) = diff(old, new)
    assert (change.detail["key"], change.detail["old"], change.detail["new"]) == ("beta", 0.9, 0.8)
    assert [(one["old"], one["new"]) for one in change.detail["with"]] == [(0.1, 0.2)]


LOSS = ("x Placeholder", "y Placeholder", "m/dense/MatMul MatMul x", "out Identity {}/Mean")


@pytest.mark.parametrize("turn", [False, True])
def test_a_loss_in_the_place_of_another(turn: bool) -> None:
    mse = ["mse/sub Sub m/dense/MatMul y", "mse/Square Square mse/sub", "mse/Mean Mean mse/Square"]
    huber = ["huber/sub Sub m/dense/MatMul y", "huber/Abs Abs huber/sub", "huber/Less Less huber/Abs",
             "huber/SelectV2 SelectV2 huber/Less huber/Abs huber/sub", "huber/Mean Mean huber/SelectV2"]  # fmt: skip
    pair = graph(*(line.format("mse") for line in LOSS), *mse), graph(*(line.format("huber") for line in LOSS), *huber)
    words = ["mse", "huber"]
    (change,) = diff(*(pair[::-1] if turn else pair))
    assert [change.old, change.new] == (words[::-1] if turn else words)
    assert change.detail["key"] == "op"


def test_a_constant_goes_with_its_user() -> None:
    old = graph("x Placeholder", "a/Sum Sum x Const", "b/Mean Mean a/Sum Const_1", "Const=3 Const", "Const_1=7 Const")
    new = graph("x Placeholder", "p/Abs Max x Const", "a/Sum Sum p/Abs Const_1", "b/Mean Mean a/Sum Const_2",
                "Const=5 Const", "Const_1=3 Const", "Const_2=7 Const")  # fmt: skip
    (change,) = diff(old, new)
    assert (change.kind, change.new) == ("added", "p")


def test_a_numbered_scope_alone_is_no_series() -> None:
    old = graph("x Placeholder", "m/conv_1/Conv2D Conv2D x", "m/conv_1/Relu Relu m/conv_1/Conv2D")
    new = graph("x Placeholder", "m/conv_1/Call Custom x", "m/conv_1/Shape Shape x",
                "m/conv_1/More Other m/conv_1/Call m/conv_1/Shape")  # fmt: skip
    changes = diff(old, new)
    assert "renamed" not in changes.kinds
    assert "moved" not in changes.kinds
    source = changes.source
    assert source is not None
    scopes = source.matching.a.scopes, source.matching.b.scopes
    row = scopes[0].name.index("m/conv_1")
    assert scopes[1].name[source.matching.scope_to_b[row]] == "m/conv_1"


def test_a_type_left_out_is_single_precision() -> None:
    old = graph("x Placeholder", "m/a/MatMul MatMul x", "m/b/MaxPool MaxPool m/a/MatMul")
    new = copied(old)
    for node in old.node[1:2]:
        node.attr["T"].type = 1
    for node in new.node[1:]:
        node.attr["T"].type = 19
    (change,) = diff(old, new)
    assert change.detail == {"key": "dtype", "old": "float32", "new": "float16", "casts": 0}


def test_two_edits_in_two_places_are_two() -> None:
    old = graph("x Placeholder", "m/a/Conv2D Conv2D x", "m/b/Relu Relu m/a/Conv2D", "m/c/Conv2D Conv2D m/b/Relu")
    new = copied(old)
    new.node[1].attr["padding"].s = b"SAME"
    new.node[3].attr["strides"].list.i[:] = [1, 2, 2, 1]
    assert [change.detail["key"] for change in diff(old, new)] == ["padding", "strides"]


def test_an_output_of_a_keras_model(tmp_path: Path) -> None:
    old = FIXTURES / "edits" / "base.json"
    model = json.loads(old.read_text())
    config = model.get("config", model)
    (name, *_), layer = config["output_layers"], config["layers"][-2]["config"]["name"]
    config["output_layers"] = [[name, 0, 0], [layer, 0, 0]]
    (tmp_path / "new.json").write_text(json.dumps(model))
    (change,) = diff(old, tmp_path / "new.json")
    assert (change.kind, change.severity) == ("signature-changed", "signature")
    (port,) = change.detail["ports"]
    assert (port["key"], port["old"]) == ("1", None)
    assert port["new"].endswith(f"/{layer}")


def test_a_transposed_convolution_is_the_model() -> None:
    made = graph("x Placeholder", "m/up/sizes Const", "m/up/kernel Const", "m/after/Relu Relu m/up/conv_transpose",
                 "m/up/conv_transpose Conv2DBackpropInput m/up/sizes m/up/kernel x")  # fmt: skip
    source = diff(made, made).source
    assert source is not None
    assert source.layers[0].forward.all()


def test_what_the_form_leaves_out_is_said() -> None:
    edits = FIXTURES / "edits"
    same = diff(edits / "base.frozen.pb", edits / "sgd.frozen.pb")
    assert "optimizer" in same.left_out
    assert "not in this form: dropout" in same.explain().splitlines()[0]
    assert same.to_json()["summary"]["left_out"] == list(same.left_out)
    trained = diff(edits / "base.train.pb", edits / "rebuilt.train.pb")
    assert not trained.left_out
    assert "form" not in trained.explain()


def test_the_layer_that_is_left_keeps_no_number() -> None:
    old = graph("x Placeholder", "m/dense/MatMul MatMul x", "m/dense/Relu Relu m/dense/MatMul",
                "m/dense_1/MatMul MatMul m/dense/Relu", "m/dense_1/Tanh Tanh m/dense_1/MatMul")  # fmt: skip
    new = graph("x Placeholder", "m/features/MatMul MatMul x", "m/features/Relu Relu m/features/MatMul",
                "m/dense/MatMul MatMul m/features/Relu", "m/dense/Tanh Tanh m/dense/MatMul")  # fmt: skip
    assert told(diff(old, new)) == [("renamed", "m/dense", "m/features")]


def test_a_dilated_convolution_is_said_so() -> None:
    old = graph("x Placeholder", "m/c/convolution Conv2D x", "m/c/BiasAdd BiasAdd m/c/convolution")
    new = graph("x Placeholder", "m/c/conv/block_shape=2 Const",
                "m/c/conv/SpaceToBatchND SpaceToBatchND x m/c/conv/block_shape",
                "m/c/convolution Conv2D m/c/conv/SpaceToBatchND", "m/c/BiasAdd BiasAdd m/c/conv/BatchToSpaceND",
                "m/c/conv/BatchToSpaceND BatchToSpaceND m/c/convolution m/c/conv/block_shape")  # fmt: skip
    new.node[1].attr["value"].tensor.tensor_shape.dim.add(size=1)
    for made, padding in ((old, b"SAME"), (new, b"VALID")):
        next(node for node in made.node if node.op == "Conv2D").attr["padding"].s = padding
    (change,) = diff(old, new)
    assert (change.detail["key"], change.detail["old"], change.detail["new"]) == ("dilation", [1], [2])
    (back,) = diff(new, old)
    assert (back.detail["key"], back.detail["old"], back.detail["new"]) == ("dilation", [2], [1])


def test_an_epsilon_is_known_by_what_follows() -> None:
    old = graph("x Placeholder", "ln1/e=3 Const", "ln1/add AddV2 x ln1/e", "ln1/Rsqrt Rsqrt ln1/add")
    new = graph("x Placeholder", "ln1/e=5 Const", "ln1/add AddV2 x ln1/e", "ln1/Rsqrt Rsqrt ln1/add")
    for made, value in ((old, 0.001), (new, 0.01)):
        made.node[1].attr["value"].tensor.Clear()
        made.node[1].attr["value"].tensor.dtype = FLOAT
        made.node[1].attr["value"].tensor.float_val.append(value)
    (change,) = diff(old, new)
    assert (change.detail["key"], change.detail["new"]) == ("epsilon", 0.01)
