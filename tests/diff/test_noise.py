"""What is noise unless it is asked for, in the report and line by line."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.baseline import lines_of
from graphviz_tb.options import DiffOptions
from graphviz_tb.proto import GraphDef
from tests.diff.pairs import chain, copied


def noisy(word: str) -> tuple[Any, Any]:
    """a ─▶ b, and the same with a difference of one class."""
    old = chain("Placeholder", "Relu", names=("a", "b"))
    constant = old.node.add(name="c", op="Const")
    constant.attr["value"].tensor.dtype = 1
    constant.attr["value"].tensor.tensor_shape.dim.add(size=40)
    constant.attr["value"].tensor.float_val.extend(range(40))
    old.node.add(name="d", op="Add", input=["b", "c"])
    new = copied(old)
    node = new.node[1]
    if word == "shapes":
        node.attr["_output_shapes"].list.shape.add().dim.add(size=3)
    elif word == "devices":
        node.device = "/device:GPU:0"
    elif word == "colocation":
        node.attr["_class"].list.s.append(b"loc:@a")
    elif word == "versions":
        new.versions.producer = 27
    else:
        new.node[2].attr["value"].tensor.float_val[0] = 7
    return old, new


@pytest.mark.parametrize("word", [field.name for field in fields(DiffOptions)])
def test_each_class_of_noise_counts_where_it_is_asked_for(word: str) -> None:
    old, new = noisy(word)
    assert not diff(old, new, [word]).same
    assert not diff(old, new, ["all"]).same
    assert diff(old, new).same
    assert diff(old, new, [field.name for field in fields(DiffOptions) if field.name != word]).same


def test_lines_leave_noise_out() -> None:
    old, new = noisy("shapes")
    new.node[1].attr["_class"].list.s.append(b"loc:@a")
    new.node[1].attr["alpha"].f = 0.5
    assert lines_of(old).splitlines()[1] == "b Relu (a)"
    assert lines_of(new).splitlines()[1:3] == ["b Relu (a)", "b alpha=0.5"]


def test_each_setting_of_a_layer_is_a_line() -> None:
    def model(rate: float, scale: float) -> bytes:
        config = {"name": "drop", "rate": rate, "inner": {"scale": scale, "axes": [0, 1]}}
        layers = [{"class_name": "Dropout", "config": config}]
        return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}}).encode()

    old, new = (set(lines_of(model(*settings)).splitlines()) for settings in ((0.1, 1.0), (0.3, 2.0)))
    assert old - new == {"m/drop rate=0.1", "m/drop inner.scale=1.0"}
    assert new - old == {"m/drop rate=0.3", "m/drop inner.scale=2.0"}
    assert "m/drop inner.axes=[0, 1]" in old & new


def functions(*arguments: tuple[str, str]) -> Any:
    """Calls of functions f, g, … whose two arguments have such names: Relu of the first, less the second."""
    made = GraphDef(node=[{"name": "x", "op": "Placeholder"}, {"name": "y", "op": "Placeholder"}])
    for name, (first, second) in zip("fgh", arguments, strict=False):
        function = made.library.function.add()
        function.signature.name = name
        for argument in (first, second):
            function.signature.input_arg.add(name=argument, type=1)
        function.node_def.add(name="relu", op="Relu", input=[first])
        function.node_def.add(name=f"sub_{name}", op="Sub", input=["relu:activations:0", second])
        call = made.node.add(name=f"call_{name}", op="PartitionedCall", input=["x", "y"])
        call.attr["f"].func.name = name
    return made


def test_the_arguments_of_each_function_are_known_by_their_place() -> None:
    old = functions(("a", "b"), ("c", "d"), ("e", "f"))
    assert diff(old, functions(("p", "q"), ("r", "s"), ("t", "u"))).same
    changes = diff(old, functions(("p", "q"), ("r", "s"), ("u", "t")))
    assert changes.same
    swapped = copied(old)
    swapped.library.function[1].node_def[0].input[0] = "d"
    (change,) = diff(old, swapped)
    assert (change.kind, change.detail["function"]) == ("function-changed", "g")
    assert [inner.kind for inner in change.inside] == ["rewired"]


def test_what_changed_in_a_function_is_marked_in_it() -> None:
    old = functions(("a", "b"), ("c", "d"))
    new = copied(old)
    new.library.function[1].node_def[0].op = "Tanh"
    picture = diff(old, new).picture(open_all=True)
    marks = {
        box.address: mark.sign for box, mark in zip(picture.scene.boxes, picture.paint.boxes, strict=True) if mark.sign
    }
    assert {address for address, sign in marks.items() if sign == "~"} == {"call_g::relu"}


def test_an_input_that_comes_before_others_has_the_first_number() -> None:
    nodes = ("a", "b", "c")
    old, new = (
        GraphDef(
            node=[
                *({"name": name, "op": "Placeholder"} for name in nodes),
                {"name": "y", "op": "ConcatV2", "input": inputs},
            ]
        )
        for inputs in (["b", "c"], ["a", "b", "c"])
    )
    (change,) = diff(old, new)
    assert [(wire["input"], wire["old"], wire["new"]) for wire in change.detail["inputs"]] == [(0, None, "a")]
    (back,) = diff(new, old)
    assert [(wire["input"], wire["old"], wire["new"]) for wire in back.detail["inputs"]] == [(0, "a", None)]


@pytest.mark.parametrize(("op", "changes"), [("StatelessWhile", 1), ("StatelessIf", 1), ("StatelessRandomUniform", 0)])
def test_a_seed_is_noise_but_the_bound_of_a_loop_is_none(op: str, changes: int) -> None:
    # first, second ─▶ op: the second input of a loop is the bound of its steps, that of a random op its seed
    def step(bound: int) -> GraphDef:
        return GraphDef(
            node=[
                {"name": "first", "op": "Const", "attr": {"value": {"tensor": {"dtype": 3, "int_val": [0]}}}},
                {"name": "second", "op": "Const", "attr": {"value": {"tensor": {"dtype": 3, "int_val": [bound]}}}},
                {"name": "x", "op": op, "input": ["first", "second"]},
            ]
        )

    assert len(diff(step(10), step(20))) == changes


def test_a_setting_that_one_file_leaves_out_has_its_default() -> None:
    """SavedModels leave out what is the default of an op, graphs write it."""
    written = [("m/MatMul", "MatMul", "transpose_a", {"b": False}), ("m/Reshape", "Reshape", "Tshape", {"type": 3}),
               ("m/Squeeze", "Squeeze", "squeeze_dims", {"list": {}}),
               ("m/Pool", "AvgPool", "data_format", {"s": b"NHWC"}),
               ("m/Slice", "StridedSlice", "begin_mask", {"i": 0})]  # fmt: skip
    sides = GraphDef(), GraphDef(), GraphDef()
    for number, side in enumerate(sides):
        side.node.add(name="x", op="Placeholder")
        for name, op, key, value in written:
            attributes = {key: {"b": True} if number == 2 and key == "transpose_a" else value} if number else {}
            side.node.add(name=name, op=op, input=[side.node[-1].name], attr=attributes)
    assert not diff(sides[0], sides[1])
    assert not diff(sides[1], sides[0])
    for old in sides[:2]:
        (change,) = diff(old, sides[2])
        assert [change.detail[key] for key in ("key", "old", "new")] == ["transpose_a", False, True]
