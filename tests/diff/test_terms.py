"""What a constant at an input of an op is called in programs: each rule, and one step beside it."""

from __future__ import annotations

from typing import Any

from graphviz_tb.diff import diff
from tests.diff.test_causes import FLOAT, graph
from tests.each import each

# scope, op type, place of the constant, what takes the result: its name, or that of the constant where no rule holds
RULES = [
    ("m/dropout", "GreaterEqual", 1, "SelectV2", "rate"),
    ("m/dropout", "GreaterEqual", 0, "SelectV2", "c"),
    ("m/dropout", "Greater", 1, "SelectV2", "c"),
    ("m/dropout", "Mul", 1, "SelectV2", "scale"),
    ("m/dropout", "Mul", 0, "SelectV2", "c"),
    ("m/layer_Norm", "AddV2", 1, "Pow", "epsilon"),
    ("m/layer_Norm", "AddV2", 0, "Pow", "c"),
    ("m/other", "AddV2", 1, "Pow", "c"),
    ("m/other", "AddV2", 1, "Rsqrt", "epsilon"),
    ("m/other", "AddV2", 1, "Sqrt", "epsilon"),
    ("m/other", "AddV2", 0, "Rsqrt", "c"),
    ("m/bn", "Mul", 1, "AssignSubVariableOp", "momentum"),
    ("m/bn_1", "Mul", 1, "AddV2", "momentum"),
    ("m/BatchNorm", "Mul", 1, "AddV2", "momentum"),
    ("m/bn", "Mul", 0, "AddV2", "c"),
    ("m/bn", "Mul", 1, "Relu", "c"),
    ("m/bnx", "Mul", 1, "AddV2", "c"),
    ("opt/Adam", "Pow", 0, "Mul", "beta"),
    ("opt/lamb", "Pow", 0, "Mul", "beta"),
    ("opt/LION", "Pow", 0, "Mul", "beta"),
    ("opt/adam", "Pow", 1, "Mul", "c"),
    ("opt/other", "Pow", 0, "Mul", "c"),
]


def made(scope: str, op: str, place: int, then: str, value: float) -> Any:
    """x and a constant ─▶ an op ─▶ what takes its result."""
    inputs = ["x", "x"]
    inputs[place] = f"{scope}/c"
    whole = graph("x Placeholder", f"{scope}/c Const", f"{scope}/op {op} {' '.join(inputs)}", f"end {then} {scope}/op")
    tensor = whole.node[1].attr["value"].tensor
    tensor.Clear()
    tensor.dtype = FLOAT
    tensor.float_val.append(value)
    return whole


@each(("scope", "op", "place", "then", "word"), RULES)
def test_the_word_of_a_program(scope: str, op: str, place: int, then: str, word: str) -> None:
    (change,) = diff(made(scope, op, place, then, 0.5), made(scope, op, place, then, 0.25))
    assert (change.detail["key"], change.detail["old"], change.detail["new"]) == (word, 0.5, 0.25)


def dense(width: int) -> Any:
    """x ─▶ a dense layer of three dimensions, as TensorFlow writes one, whose weights have no known shape."""
    scope = "m/fc/Tensordot"
    whole = graph("x Placeholder", "w Placeholder", f"{scope}/axis Const", f"{scope}/width Const",
                  f"{scope}/Shape Shape x", f"{scope}/Reshape Reshape x {scope}/Shape",
                  f"{scope}/MatMul MatMul {scope}/Reshape w",
                  f"{scope}/concat_1 ConcatV2 {scope}/Shape {scope}/width {scope}/axis",
                  f"{scope} Reshape {scope}/MatMul {scope}/concat_1", f"m/fc/Relu Relu {scope}")  # fmt: skip
    for node, sizes in ((whole.node[2], None), (whole.node[3], width)):
        tensor = node.attr["value"].tensor
        tensor.Clear()
        tensor.dtype = node.attr["dtype"].type = 3
        tensor.int_val.append(sizes or 0)
        if sizes:
            tensor.tensor_shape.dim.add(size=1)
    return whole


def test_the_width_of_a_dense_layer_whose_weights_have_no_shape() -> None:
    (change,) = diff(dense(64), dense(96))
    assert (change.new, change.detail["key"], change.detail["old"], change.detail["new"]) == (
        "m/fc",
        "units",
        "64",
        "96",
    )
