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
    assert [change.detail[key] for key in ("key", "old", "new")] == ["op", change.old, change.new]


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
    assert trained.left_out == ("learning rate",)  # the step reads it from a variable
    assert "not in this form: learning rate" in trained.explain().splitlines()[0]


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


MOMENTUM = ("x Placeholder", "w VarHandleOp", "w/Read/ReadVariableOp ReadVariableOp w", "m/dense/Read ReadVariableOp w",
            "w/Init Fill", "w/Assign AssignVariableOp w w/Init", "m/dense/MatMul MatMul x m/dense/Read",
            "loss Mean m/dense/MatMul", "gradients/m/dense/MatMul_grad/MatMul MatMul x loss",
            "save/Restore RestoreV2", "save/Identity Identity save/Restore",
            "save/Assign AssignVariableOp w save/Identity",
            "save/Assign_1 AssignVariableOp w save/Identity")  # fmt: skip


def trained(optimizer: str, slots: list[str], decay: str = "") -> Any:
    """A training graph of TensorFlow 1: one weight, its slots with their initialisers, its update, a saver."""
    made = []
    for slot in slots:
        made += [f"w/{slot} VarHandleOp", f"w/{slot}/IsInitialized VarIsInitializedOp w/{slot}",
                 f"w/{slot}/Read/ReadVariableOp ReadVariableOp w/{slot}", f"w/{slot}/Fill Fill",
                 f"w/{slot}/Assign AssignVariableOp w/{slot} w/{slot}/Fill"]  # fmt: skip
    inputs = " ".join(f"w/{slot}" for slot in slots)
    grad = "gradients/m/dense/MatMul_grad/MatMul"
    made += [f"train/update_w/Apply ResourceApply{optimizer} w {inputs} {grad}{decay and ' ' + decay}"]
    return graph(*MOMENTUM, *made, *([f"{decay} Mul loss loss"] if decay else []))


@pytest.mark.parametrize(("optimizer", "slots"), [("Adam", ["Adam", "Adam_1"]), ("GradientDescent", [])])
def test_another_optimizer_with_its_slots(optimizer: str, slots: list[str]) -> None:
    changes = diff(trained("Momentum", ["Momentum"]), trained(optimizer, slots))
    (change,) = changes
    assert change.detail == {"key": "optimizer", "old": "Momentum", "new": optimizer}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("first", ["Adam", "Momentum"])
def test_one_of_two_optimizers_is_replaced(first: str, turned: bool) -> None:
    """The other optimizer, of the other weight, stays, whether it has fewer updates or as many."""
    pair = []
    for second, slots in (("RMSProp", ["RMSProp", "RMSProp_1"]), ("GradientDescent", [])):
        made = trained(first, [first])
        made.node.add(name="b", op="VarHandleOp")
        made.node.add(name="b/Read", op="ReadVariableOp", input=["b"])
        dense = next(node for node in made.node if node.name == "m/dense/MatMul")
        made.node.add(name="m/dense/BiasAdd", op="BiasAdd", input=[dense.name, "b/Read"])
        for node in made.node:
            if node.name != "m/dense/BiasAdd" and not node.name.startswith("gradients"):
                node.input[:] = ["m/dense/BiasAdd" if each == dense.name else each for each in node.input]
        for slot in slots:
            made.node.add(name=f"b/{slot}", op="VarHandleOp")
            made.node.add(name=f"b/{slot}/Fill", op="Fill")
            made.node.add(name=f"b/{slot}/Assign", op="AssignVariableOp", input=[f"b/{slot}", f"b/{slot}/Fill"])
        made.node.add(name="gradients/m/dense/BiasAdd_grad/BiasAddGrad", op="BiasAddGrad", input=["loss"])
        ends = ["b", *(f"b/{slot}" for slot in slots), "gradients/m/dense/BiasAdd_grad/BiasAddGrad"]
        made.node.add(name="other/update_b/Apply", op=f"ResourceApply{second}", input=ends)
        pair.append(made)
    (change,) = diff(*(pair[::-1] if turned else pair))
    words = ("RMSProp", "GradientDescent")
    assert (change.detail["old"], change.detail["new"]) == (words[::-1] if turned else words)


@pytest.mark.parametrize("turned", [False, True])
def test_another_optimizer_hides_no_clip(turned: bool) -> None:
    old, new = trained("Momentum", ["Momentum"]), trained("Adam", ["Adam", "Adam_1"])
    update = next(node for node in new.node if node.name == "train/update_w/Apply")
    slot = next(slot for slot, name in enumerate(update.input) if name.startswith("gradients"))
    new.node.add(name="clip/y", op="Const")
    new.node.add(name="clip", op="Minimum", input=[update.input[slot], "clip/y"])
    update.input[slot] = "clip"
    changes = diff(new, old) if turned else diff(old, new)
    said = {change.detail["key"]: (change.detail["old"], change.detail["new"]) for change in changes}
    words = ("Momentum", "Adam"), (None, "by value")
    assert said == {
        "optimizer": words[0][::-1] if turned else words[0],
        "clipping of gradients": words[1][::-1] if turned else words[1],
    }


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("scheduled", [False, True])
def test_another_optimizer_hides_no_number_of_the_training(scheduled: bool, turned: bool) -> None:
    """A bound of gradients, a learning rate and the number of a schedule are said beside another optimizer."""
    sides = []
    for optimizer, slots, clip, rate in (("Momentum", ["Momentum"], 1.0, 0.25), ("GradientDescent", [], 5.0, 0.5)):
        made = trained(optimizer, slots)
        update = next(node for node in made.node if node.name == "train/update_w/Apply")
        constants = ("clip/y", clip), ("rate/number", rate)
        for name, number in constants:
            tensor = made.node.add(name=name, op="Const").attr["value"].tensor
            tensor.dtype = FLOAT
            tensor.float_val.append(number)
        made.node.add(name="clip", op="Minimum", input=[update.input[-1], "clip/y"])
        made.node.add(name="rate/power", op="Pow", input=["rate/number", "rate/number"])
        taken = [update.input[0], *update.input[1:-1], "rate/power" if scheduled else "rate/number", "clip"]
        del update.input[:]
        update.input.extend(taken)
        sides.append(made)
    changes = diff(*(sides[::-1] if turned else sides))
    numbers = [("1.0", "5.0"), ("0.25", "0.5")]
    said = {(str(change.detail["old"]), str(change.detail["new"])) for change in changes}
    assert said == {pair[::-1] if turned else pair for pair in [*numbers, ("Momentum", "GradientDescent")]}


def attention(heads: int, key: int, bias: bool = True) -> Any:
    """Multi-head attention as Keras writes it: three projections, their products, one more.

    # x ─▶ query, key, value ─▶ einsum ─▶ output
    """
    made = GraphDef()
    made.node.add(name="x", op="Placeholder")
    ends = {}
    for part, shape in (("query", (32, heads, key)), ("key", (32, heads, key)), ("value", (32, heads, key)),
                        ("output", (heads, key, 32))):  # fmt: skip
        weight = made.node.add(name=f"m/att/{part}/Read", op="Const")
        weight.attr["value"].tensor.dtype = FLOAT
        for size in shape:
            weight.attr["value"].tensor.tensor_shape.dim.add(size=size)
        made.node.add(name=f"m/att/{part}/Identity", op="Identity", input=[weight.name])
        source = "x" if part != "output" else "m/att/einsum/Einsum"
        made.node.add(name=f"m/att/{part}/MatMul", op="MatMul", input=[source, f"m/att/{part}/Identity"])
        ends[part] = f"m/att/{part}/MatMul"
        if bias:
            ends[part] = made.node.add(name=f"m/att/{part}/Add", op="AddV2", input=[ends[part], f"b/{part}"]).name
            made.node.add(name=f"b/{part}", op="Placeholder")
        if part == "value":
            made.node.add(
                name="m/att/einsum/Einsum", op="Einsum", input=[ends[one] for one in ("query", "key", "value")]
            )
    made.node.add(name="m/norm/Rsqrt", op="Rsqrt", input=[ends["output"]])
    return made


@pytest.mark.parametrize(
    ("new", "word", "values"), [((2, 8), "num_heads", ("4", "2")), ((4, 16), "key_dim", ("8", "16"))]
)
def test_the_heads_of_an_attention(new: tuple[int, int], word: str, values: tuple[str, str]) -> None:
    (change,) = diff(attention(4, 8), attention(*new))
    assert (change.new, change.detail["key"]) == ("m/att", word)
    assert (change.detail["old"], change.detail["new"]) == values


def split_queries(*shape: int) -> Any:
    """Queries of some places, 2 examples and 40 channels that are brought to a shape before their product."""
    made = graph("x Placeholder", "y Placeholder", "att/q/shape Const", "att/q/Reshape Reshape x att/q/shape",
                 "att/q/Transpose Transpose att/q/Reshape", "att/BatchMatMulV2 BatchMatMulV2 att/q/Transpose y",
                 "att/Softmax Softmax att/BatchMatMulV2")  # fmt: skip
    for size in (shape[0], 2, 40):
        made.node[0].attr["shape"].shape.dim.add(size=size)
    tensor = made.node[2].attr["value"].tensor
    tensor.tensor_shape.dim.add(size=len(shape))
    tensor.int_val[:] = shape
    return made


def test_heads_are_counted_without_the_examples_that_share_their_axis() -> None:
    (change,) = diff(split_queries(10, 2 * 4, 40 // 4), split_queries(10, 2 * 2, 40 // 2))
    assert [change.detail[word] for word in ("key", "old", "new")] == ["num_heads", 4, 2]


def test_heads_are_told_beside_another_length() -> None:
    length, change = diff(split_queries(10, 2, 4, 10), split_queries(12, 2, 2, 20))
    assert length.name == "x"
    assert [change.detail[word] for word in ("key", "old", "new")] == ["num_heads", 4, 2]


def test_heads_are_said_beside_another_size_of_each() -> None:
    (change,) = diff(split_queries(-1, 10, 4, 10), split_queries(-1, 10, 2, 12))
    assert [change.detail[word] for word in ("key", "old", "new")] == ["num_heads", 4, 2]


def test_the_places_of_a_sequence_are_no_heads() -> None:
    (change,) = diff(split_queries(-1, 36, 8), split_queries(-1, 4, 8))
    assert change.detail["key"] == "shape"


def packed_queries(heads: int, size: int, behind: str = "BatchMatMulV2") -> Any:
    """Queries of any number of examples, brought to a shape of which a program computes the first number."""
    return graph("x Placeholder", "y Placeholder", "att/Shape Shape x", "att/batch StridedSlice att/Shape",
                 "att/shape/1=9 Const", f"att/shape/2={heads} Const", f"att/shape/3={size} Const",
                 "att/shape Pack att/batch att/shape/1 att/shape/2 att/shape/3", "att/Reshape Reshape x att/shape",
                 f"att/Product {behind} att/Reshape y", "att/Softmax Softmax att/Product")  # fmt: skip


def test_heads_are_said_where_a_program_computes_the_rest_of_the_shape() -> None:
    (change,) = diff(packed_queries(4, 4), packed_queries(2, 8))
    assert (change.new, [change.detail[word] for word in ("key", "old", "new")]) == ("att", ["num_heads", 4, 2])
    assert "num_heads" not in diff(packed_queries(4, 4, "Add"), packed_queries(2, 8, "Add")).explain()


def test_an_attention_is_one_layer() -> None:
    (change,) = [one for one in diff(attention(4, 8), attention(4, 8, bias=False)) if one.severity != "signature"]
    assert change.kind == "removed"
    assert change.detail["parts"] == [f"m/att/{part}/Add" for part in ("key", "output", "query", "value")]


def test_a_fixed_batch() -> None:
    old = graph("x Placeholder", "y Placeholder", "m/drop/Shape Shape x", "m/drop/Random RandomUniform m/drop/Shape",
                "m/drop/Mul Mul x m/drop/Random", "loss Mean m/drop/Mul y")  # fmt: skip
    new = graph("x Placeholder", "y Placeholder", "m/drop/Random RandomUniform m/drop/Shape", "m/drop/Shape=16 Const",
                "m/drop/Mul Mul x m/drop/Random", "loss Mean m/drop/Mul y")  # fmt: skip
    for made, size in ((old, -1), (new, 16)):
        for node in made.node[:2]:
            for dim in (size, 28):
                node.attr["shape"].shape.dim.add(size=dim)
    tensor = new.node[3].attr["value"].tensor
    tensor.tensor_shape.dim.add(size=2)
    tensor.int_val.append(28)
    (change,) = diff(old, new)
    assert (change.severity, change.place_count) == ("signature", 2)
    assert [change.detail[word] for word in ("key", "old", "new")] == ["batch size", "?", "16"]


def test_a_model_in_a_model_is_built_anew(tmp_path: Path) -> None:
    def model(count: int, units: int) -> str:
        def layer(kind: str, name: str, **config: Any) -> dict[str, Any]:
            return {"class_name": kind, "name": name, "config": {"name": name, **config}, "inbound_nodes": []}

        inner = [
            layer("InputLayer", f"input_{count}", batch_shape=[None, units]),
            layer("Dense", f"dense_{count}", units=2),
        ]
        first = layer("InputLayer", "input", batch_shape=[None, 4])
        fed = [layer("Dense", "wide", units=units), layer("Sequential", "decoder", layers=inner)]
        for before, one in zip((first, *fed), fed, strict=False):
            one["inbound_nodes"] = [[[before["name"], 0, 0, {}]]]
        config = {"name": "m", "layers": [first, *fed], "input_layers": [["input", 0, 0]],
                  "output_layers": [["decoder", 0, 0]]}  # fmt: skip
        return json.dumps({"class_name": "Functional", "config": config})

    for name, made in (("old", model(1, 8)), ("rebuilt", model(3, 8)), ("new", model(1, 16))):
        (tmp_path / f"{name}.json").write_text(made)
    assert diff(tmp_path / "old.json", tmp_path / "rebuilt.json").same
    (change,) = diff(tmp_path / "old.json", tmp_path / "new.json")
    assert (change.new, change.severity, change.detail["key"]) == ("m/wide", "attribute", "units")


@pytest.mark.parametrize("turned", [False, True])
def test_weights_of_several_layers_are_shared_no_more(turned: bool) -> None:
    """Both layers of a tower, under another name, with what gives their weights first values."""

    def made(own: bool) -> Any:
        lines, tower = ["p Placeholder", "q Placeholder"], "m/other" if own else "m/tower_1"
        for scope, given in (("m/tower", "p"), (tower, "q")):
            for layer in ("a", "b"):
                weight = f"{scope if own else 'm/tower'}/{layer}/w"
                if scope == "m/tower" or own:
                    lines += [f"{weight} VarHandleOp", f"{weight}/first Const",
                              f"{weight}/Set IsVariableInitialized {weight}",
                              f"{weight}/Assign AssignVariableOp {weight} {weight}/first"]  # fmt: skip
                lines += [f"{scope}/{layer}/Read ReadVariableOp {weight}",
                          f"{scope}/{layer}/MatMul MatMul {given} {scope}/{layer}/Read"]  # fmt: skip
                given = f"{scope}/{layer}/MatMul"
        return graph(*lines, f"m/dot/Mul Mul m/tower/b/MatMul {tower}/b/MatMul")

    sides = made(False), made(True)
    changes = diff(*(sides[::-1] if turned else sides))
    (own,) = (change for change in changes if change.severity == "op")
    values = ("its own", "shared with m/tower") if turned else ("shared with m/tower", "its own")
    assert (own.new, own.detail["key"]) == ("m/tower_1" if turned else "m/other", "weights")
    assert (own.detail["old"], own.detail["new"]) == values


def test_weights_are_shared_no_more() -> None:
    # p ─▶ tower, q ─▶ tower_1 with the weights of tower; then with its own
    def made(own: bool) -> Any:
        lines = ["p Placeholder", "q Placeholder", "m/tower/w VarHandleOp", "m/tower/Read ReadVariableOp m/tower/w",
                 "m/tower/MatMul MatMul p m/tower/Read", "m/tower/Relu Relu m/tower/MatMul",
                 f"m/tower_1/Read ReadVariableOp {'w2' if own else 'm/tower/w'}",
                 "m/tower_1/MatMul MatMul q m/tower_1/Read", "m/tower_1/Relu Relu m/tower_1/MatMul",
                 "m/dot/Mul Mul m/tower/Relu m/tower_1/Relu"]  # fmt: skip
        return graph(*lines, *(["w2 VarHandleOp"] if own else []))

    (change,) = diff(made(False), made(True))
    assert (change.severity, change.new) == ("op", "m/tower_1")
    assert change.detail == {"key": "weights", "old": "shared with m/tower", "new": "its own"}
    (back,) = diff(made(True), made(False))
    assert back.detail == {"key": "weights", "old": "its own", "new": "shared with m/tower"}


def test_what_leads_to_no_result_follows() -> None:
    # x ─▶ emb ─▶ pool ─▶ fc ─▶ Identity: the pool takes a mask now; another mask is computed, and nobody uses it
    def made(pool: str, *more: str) -> Any:
        return graph("x Placeholder", "m/emb/Gather ResourceGather x", *more, f"m/fc/MatMul MatMul m/pool/{pool}",
                     "Identity Identity m/fc/MatMul")  # fmt: skip

    mask = ["m/pool/NotEqual NotEqual x", "m/pool/Sum Sum m/emb/Gather m/pool/NotEqual"]
    new = made("Sum", *mask, "m/NotEqual NotEqual x", "m/Cast Cast m/NotEqual")
    (change,) = diff(made("Mean", "m/pool/Mean Mean m/emb/Gather"), new)
    assert (change.old, change.new) == ("m/pool", "m/pool")
    assert {one.name for one in change.consequences} == {"m/NotEqual", "m/Cast"}


def test_what_only_gradients_use_follows() -> None:
    # a ─▶ silu ─▶ b ─▶ silu: the gradient of a silu is made of ops by themselves, counted, that nothing else uses
    def made(*activations: str) -> Any:
        lines, before, count = ["x Placeholder", "one Const", "gradients/top Const"], "x", 0
        for number, word in enumerate(activations):
            act = f"m/act{number}"
            lines += [f"m/l{number}/MatMul MatMul {before}"]
            if word == "silu":
                ends = [f"sub_{count}", f"mul_{count}"]
                lines += [f"{act}/Sigmoid Sigmoid m/l{number}/MatMul",
                          f"{act}/out Mul {act}/Sigmoid m/l{number}/MatMul",
                          f"{ends[0]} Sub one {act}/Sigmoid", f"{ends[1]} Mul {act}/Sigmoid {ends[0]}"]  # fmt: skip
                lines += [f"gradients/{act}/grad Mul gradients/top {ends[1]}"]
                count += 1
            else:
                lines += [
                    f"{act}/out Tanh m/l{number}/MatMul",
                    f"gradients/{act}/grad TanhGrad gradients/top {act}/out",
                ]
            before = f"{act}/out"
        return graph(*lines, f"m/end/Softmax Softmax {before}")

    (change,) = diff(made("silu", "silu", "silu"), made("tanh", "silu", "silu"))
    assert change.detail["new"] == "Tanh"


def test_a_result_more_is_one_of_the_signature() -> None:
    old = graph("x Placeholder", "m/a/MatMul MatMul x", "Identity Identity m/a/MatMul")
    new = graph("x Placeholder", "m/a/MatMul MatMul x", "Identity Identity m/a/MatMul", "Identity_1 Identity x")
    (change,) = diff(old, new)
    assert (change.kind, change.severity) == ("added", "signature")


def test_functions_that_came_together() -> None:
    # nobody calls them: in a graph with variables they count all the same
    old, new = graph("x Placeholder", "w VarHandleOp"), graph("x Placeholder", "w VarHandleOp")
    for branch, op in (("then_branch", "Neg"), ("else_branch", "Exp")):
        function = new.library.function.add()
        function.signature.name = branch
        function.signature.input_arg.add(name="a", type=FLOAT)
        function.signature.output_arg.add(name="b", type=FLOAT)
        function.node_def.add(name="made", op=op, input=["a"])
        function.ret["b"] = "made:y:0"
    (change,) = diff(old, new)
    assert (change.kind, change.place_count) == ("added", 2)
    assert change.ops == 4  # an argument and an op in each
    assert change.detail["op_types"]
    frozen = graph("x Placeholder")
    left = copied(frozen)
    left.library.CopyFrom(new.library)
    assert diff(frozen, left).same


def test_a_name_given_in_the_optimizer_too_is_no_consequence() -> None:
    # x ─▶ net ─▶ loss, its gradient through a scope whose name is also one of the optimizer's
    def training(last: str, scope: str, *more: str) -> Any:
        return graph(
            "x Placeholder", "w VariableV2", "net/MatMul MatMul x w", *more, f"loss/Mean Mean {last}",
            "gradients/loss/Mean_grad/Tile Tile x", f"gradients/{scope}/Mul MatMulGrad gradients/loss/Mean_grad/Tile",
            f"opt/{scope}/Mul Mul gradients/{scope}/Mul", f"opt/{scope}/Add Add opt/{scope}/Mul",
            f"opt/Apply ApplyAdam w opt/{scope}/Add",
        )  # fmt: skip

    changes = diff(training("net/MatMul", "clip"), training("net/Relu", "norm", "net/Relu Relu net/MatMul"))
    assert set(told(changes)) == {("added", None, "net/Relu"), ("renamed", "gradients/clip", "gradients/norm")}


def test_causes_are_listed_in_the_order_of_the_forward_pass() -> None:
    # x ─▶ z_stem ─▶ a_head, both with another op type
    old = graph("x Placeholder", "z_stem/op Relu x", "a_head/op Relu z_stem/op", "y Exp a_head/op")
    new = graph("x Placeholder", "z_stem/op Tanh x", "a_head/op Elu z_stem/op", "y Exp a_head/op")
    assert [change.new for change in diff(old, new)] == ["z_stem/op", "a_head/op"]
    assert [change.new for change in diff(new, old)] == ["z_stem/op", "a_head/op"]
