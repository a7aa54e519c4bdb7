"""Tests of two edits of one block of an exported program: each is a change of its own, or said in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.report.words import value_texts
from graphviz_tb.proto import GraphDef
from tests.diff.test_causes import graph

SCOPED, BARE = ("b/conv/", "b/norm/", "b/act/"), ("", "", "")
SILU, GELU = ("Sigmoid", "Mul"), ("Div", "Erf", "Add", "Mul", "Mul")


def block(
    scopes: Sequence[str] = SCOPED,
    act: Sequence[str] = ("Relu",),
    kernel: Sequence[int] = (16, 8, 3, 3),
    norm: bool = False,
    residual: bool = False,
    **settings: Sequence[int],
) -> GraphDef:
    """x ─▶ convolution ─▶ (norm) ─▶ activation of some ops ─▶ (+ x) ─▶ product ─▶ y; lists are settings of the
    convolution."""
    made = GraphDef()
    conv, normed, acted = scopes
    made.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    add_weight(made, f"{conv}weight", kernel)
    node = made.node.add(name=f"{conv}Conv", op="onnx::Conv", input=["x", f"{conv}weight"])
    for key, numbers in settings.items():
        node.attr[key].list.i.extend(numbers)
    last = node.name
    if norm:
        add_weight(made, f"{normed}scale", kernel[:1])
        made.node.add(name=f"{normed}Norm", op="onnx::LayerNormalization", input=[last, f"{normed}scale"])
        last = f"{normed}Norm"
    start = last
    for number, op in enumerate(act):
        also = [start] if op in ("Add", "Mul") and number else []
        made.node.add(name=f"{acted}{op}_{number}", op=f"onnx::{op}", input=[last, *also])
        last = f"{acted}{op}_{number}"
    if residual:
        made.node.add(name="sum", op="onnx::Add", input=["x", last])
        last = "sum"
    add_weight(made, "fc/weight", (4, kernel[0]))
    made.node.add(name="fc/Gemm", op="onnx::Gemm", input=[last, "fc/weight"]).attr["transB"].i = 1
    made.node.add(name="y", op="_Retval", input=["fc/Gemm"])
    return made


def add_weight(made: GraphDef, name: str, sizes: Sequence[int]) -> None:
    weight = made.node.add(name=name, op="Parameter")
    weight.attr["dtype"].type = 1
    for size in sizes:
        weight.attr["shape"].shape.dim.add(size=size)


EDITS: tuple[tuple[dict[str, Any], dict[str, Any], tuple[str, ...]], ...] = (
    ({}, {"act": SILU, "strides": [2, 2]}, ("Relu → Silu", "strides [1, 1] → [2, 2]")),
    ({}, {"act": SILU, "kernel": (16, 8, 5, 5)}, ("Relu → Silu", "kernel 3×3 → 5×5")),
    ({"norm": True}, {"act": SILU}, ("Relu → Silu", "− ")),
    ({"norm": True}, {"act": GELU}, ("Relu → Gelu", "− ")),
    ({"residual": True}, {"act": SILU}, ("Relu → Silu", "Add")),
    ({"act": GELU}, {"act": SILU, "strides": [2, 2]}, ("Gelu → Silu", "strides [1, 1] → [2, 2]")),
)


@pytest.mark.parametrize("scopes", [SCOPED, BARE], ids=["scopes", "bare"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("before", "after", "words"), EDITS)
def test_two_edits_of_a_block_are_two_changes(
    before: dict[str, Any], after: dict[str, Any], words: tuple[str, ...], turned: bool, scopes: Sequence[str]
) -> None:
    old, new = block(scopes, **before), block(scopes, **after)
    changes = diff(new, old).inverse() if turned else diff(old, new)
    assert len(changes) == 2
    assert [word for word in words if word not in changes.explain()] == []


@pytest.mark.parametrize("scopes", [SCOPED, BARE], ids=["scopes", "bare"])
def test_each_setting_of_a_convolution_is_said_beside_its_kernel(scopes: Sequence[str]) -> None:
    new = block(scopes, kernel=(24, 8, 5, 5), strides=[2, 2], kernel_shape=[5, 5])
    text = diff(block(scopes, kernel_shape=[3, 3]), new).explain()
    assert all(words in text for words in ("kernel 3×3 → 5×5", "filters 16 → 24", "strides [1, 1] → [2, 2]"))
    assert "kernel_shape" not in text  # the same numbers once more


def test_a_size_follows_from_the_change_that_says_it() -> None:
    """The weight of the product behind is wider because of the filters, not of the activation."""
    exchange, wider = diff(block(), block(act=SILU, kernel=(24, 8, 3, 3)))
    assert (exchange.key, wider.key) == ("op", "filters")
    assert not exchange.consequences
    assert [behind.name for behind in wider.consequences] == ["fc"]


def recurrent(op: str, gates: int, hidden: int) -> GraphDef:
    """x ─▶ recurrent layer ─▶ y, its weights as ONNX has them: directions × rows of gates × inputs."""
    made = GraphDef()
    made.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    add_weight(made, "rnn/kernel", (1, gates * hidden, 12))
    add_weight(made, "rnn/recurrent_kernel", (1, gates * hidden, hidden))
    add_weight(made, "rnn/bias", (1, 2 * gates * hidden))
    taken = ["x", "rnn/kernel", "rnn/recurrent_kernel", "rnn/bias"]
    made.node.add(name=f"rnn/{op}", op=f"onnx::{op}", input=taken).attr["hidden_size"].i = hidden
    made.node.add(name="y", op="_Retval", input=[f"rnn/{op}"])
    return made


def test_gates_are_no_units() -> None:
    (wider,) = diff(recurrent("LSTM", 4, 16), recurrent("LSTM", 4, 24))
    assert (wider.key, wider.detail["old"], wider.detail["new"]) == ("units", "16", "24")
    (other,) = diff(recurrent("LSTM", 4, 16), recurrent("GRU", 3, 24))
    text = diff(recurrent("LSTM", 4, 16), recurrent("GRU", 3, 24)).explain()
    assert other.key == "op"
    assert "LSTM → GRU" in text
    assert "units 16 → 24" in text


@pytest.mark.parametrize(("op", "words"), [("Tanh", "Relu → Tanh"), ("Relu", "renamed")])
def test_a_result_named_after_its_op_follows_from_the_op(op: str, words: str) -> None:
    """x ─▶ op ─▶ result `relu` or `tanh`; without another op the name of the result is what changed."""
    graphs = []
    for last, name in (("Relu", "relu"), (op, "tanh")):
        made = GraphDef()
        made.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
        made.node.add(name=f"net/{last}", op=f"onnx::{last}", input=["x"])
        made.node.add(name=name, op="_Retval", input=[f"net/{last}"])
        graphs.append(made)
    changes = diff(*graphs)
    assert len(changes) == 1
    assert words in changes.explain()


def test_long_lists_begin_with_the_numbers_that_differ() -> None:
    ten = [1.0] * 10
    assert value_texts(ten, [*ten[:9], 2.0]) == ("[9 equal …, 1.0]", "[9 equal …, 2.0]")
    assert value_texts(ten, [2.0, *ten[1:]])[1].endswith("1.0, … 2 more]")
    assert value_texts(ten, None) == ("[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, … 2 more]", "nothing")


def add_op(made: GraphDef, name: str, op: str, *inputs: str | float) -> str:
    """Add an op; numbers are constants of their own."""
    texts = []
    for number in inputs:
        text = number if isinstance(number, str) else f"{name}/{len(texts)}"
        if not isinstance(number, str):
            tensor = made.node.add(name=text, op="Const").attr["value"].tensor
            tensor.dtype = 1
            tensor.float_val.append(number)
        texts.append(text)
    made.node.add(name=name, op=f"onnx::{op}", input=texts)
    return name


def gelu(made: GraphDef, x: str, number: int, approximate: bool) -> str:
    """Write out what older exporters have for it."""
    name = f"g{number}"
    if approximate:
        cube = add_op(made, f"{name}/cube", "Pow", x, 3.0)
        small = add_op(made, f"{name}/small", "Mul", cube, 0.044715)
        inner = add_op(made, f"{name}/inner", "Add", x, small)
        inner = add_op(made, f"{name}/scaled", "Mul", inner, 0.7978845608)
        bent = add_op(made, f"{name}/Tanh", "Tanh", inner)
    else:
        bent = add_op(made, f"{name}/Erf", "Erf", add_op(made, f"{name}/Div", "Div", x, 1.4142135624))
    whole = add_op(made, f"{name}/Add", "Add", bent, 1.0)
    return add_op(made, f"{name}/half", "Mul", add_op(made, f"{name}/Mul", "Mul", x, whole), 0.5)


def feed_forward(act: str, bias: bool = True) -> GraphDef:
    """x ─▶ (product ─▶ (bias) ─▶ activation ─▶ product ─▶ (bias) ─▶ + what came in) twice ─▶ y"""
    made = GraphDef()
    last = made.node.add(name="x", op="Placeholder").name
    for block_number in range(2):
        start = last
        for part in ("up", "down"):
            scope = f"{part}_{block_number}"
            add_weight(made, f"{scope}/weight", (8, 8))
            last = add_op(made, f"{scope}/MatMul", "MatMul", last, f"{scope}/weight")
            if bias:
                add_weight(made, f"{scope}/bias", (8,))
                last = add_op(made, f"{scope}/Add", "Add", f"{scope}/bias", last)
            if part == "up" and act == "Relu":
                last = add_op(made, f"act_{block_number}", "Relu", last)
            elif part == "up":
                last = gelu(made, last, block_number, approximate=act == "tanh")
        last = add_op(made, f"Add_{block_number}", "Add", start, last)
    made.node.add(name="y", op="_Retval", input=[last])
    return made


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (("Relu", True), ("erf", False), ("op Relu → Gelu", "use_bias true → false")),
        (("Relu", False), ("tanh", True), ("op Relu → Gelu", "use_bias false → true")),
        (("erf", True), ("tanh", True), ("approximate none → tanh",)),
    ],
)
def test_an_activation_of_several_ops_is_one_beside_other_edits(
    before: tuple[str, bool], after: tuple[str, bool], words: tuple[str, ...], turned: bool
) -> None:
    old, new = feed_forward(*before), feed_forward(*after)
    changes = diff(new, old).inverse() if turned else diff(old, new)
    assert [word for word in words if word not in changes.explain()] == []
    assert len(changes) == len(words)


def first_layer(channels: int, stride: int) -> Any:
    """x ─▶ a convolution with its weight ─▶ Relu."""
    made = graph("x Placeholder", "conv/w VariableV2", "conv/Conv2D Conv2D x conv/w", "conv/Relu Relu conv/Conv2D")
    for node, shape in ((made.node[0], (-1, 8, 8, channels)), (made.node[1], (3, 3, channels, 4))):
        for size in shape:
            node.attr["shape"].shape.dim.add(size=size)
    made.node[2].attr["strides"].list.i.extend((1, stride, stride, 1))
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_a_stride_is_told_beside_another_input_of_the_program(turned: bool) -> None:
    pair = first_layer(3, 1), first_layer(5, 2)
    changes = diff(*(pair[::-1] if turned else pair))
    parts = [{part.key for part in change.setting.as_parts} for change in changes if change.setting]
    (stride,) = [keys for keys in parts if "strides" in keys]
    assert "shape" not in stride
    assert any("shape" in keys for keys in parts)
