"""How layers that came or went are called, what belongs to a gated unit, and one number in several constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphviz_tb import diff
from graphviz_tb.diff.changes.settings import merge_by_number
from graphviz_tb.diff.result import Changes
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import Setting
from graphviz_tb.proto import GraphDef
from tests.diff.test_causes import graph
from tests.diff.test_traced_widths import traced

FLOAT = 1


def weighted(nodes: tuple[str, ...], **weights: tuple[int, ...]) -> GraphDef:
    """A frozen graph: lines as in `graph`, and weights by the ops that take them, "__" in place of "/"."""
    made = graph(*nodes)
    for name, shape in weights.items():
        user = name.replace("__", "/")
        weight = made.node.add(name=f"{user}/kernel", op="Const")
        weight.attr["dtype"].type = weight.attr["value"].tensor.dtype = FLOAT
        weight.attr["value"].tensor.tensor_content = np.ones(shape, np.float32).tobytes()
        for size in shape:
            weight.attr["value"].tensor.tensor_shape.dim.add(size=size)
        next(node for node in made.node if node.name == user).input.append(weight.name)
    return made


def dense(name: str, source: str) -> tuple[str, ...]:
    return f"{name}/MatMul MatMul {source}", f"{name}/Relu Relu {name}/MatMul"


def towers(*more: str) -> GraphDef:
    """Two towers of a layer each, and another one in each of the towers `more`."""
    nodes: list[str] = ["x Placeholder"]
    shapes = {}
    for tower in ("item", "user"):
        nodes += dense(f"net/{tower}_0", "x")
        shapes[f"net__{tower}_0__MatMul"] = (8, 16)
        last = f"net/{tower}_0/Relu"
        if tower in more:
            nodes += dense(f"net/{tower}_new", last)
            shapes[f"net__{tower}_new__MatMul"] = (16, 16)
            last = f"net/{tower}_new/Relu"
        nodes.append(f"net/{tower}_out/Softmax Softmax {last}")
    return weighted(tuple(nodes), **shapes)


def headline(changes: Changes) -> str:
    return changes.explain().splitlines()[3].strip()


def tables(many: int) -> GraphDef:
    """Several tables in one scope, whose rows are stacked: table_0 is 10×4, table_1 20×4, …"""
    lookups = [f"net/embed/lookup_{at} GatherV2" for at in range(many)]
    rows = " ".join(f"net/embed/lookup_{at}" for at in range(many))
    shapes = {f"net__embed__lookup_{at}": (10 * (at + 1), 4) for at in range(many)}
    made = weighted((*lookups, f"net/embed/stack Pack {rows}", "net/out/Relu Relu net/embed/stack"), **shapes)
    for at in range(many):
        made.node.add(name=f"ids_{at}", op="Placeholder")
        next(node for node in made.node if node.name == f"net/embed/lookup_{at}").input.append(f"ids_{at}")
    return made


def test_one_more_table_of_several_is_an_embedding() -> None:
    assert any("Embedding(30, 4)" in str(change.detail.get("layers")) for change in diff(tables(2), tables(3)))
    assert any("Embedding(30, 4)" in str(change.detail.get("layers")) for change in diff(tables(3), tables(2)))


def test_a_new_layer_is_called_by_class_and_arguments() -> None:
    (change,) = changes = diff(towers(), towers("item"))
    assert headline(changes) == "+ Dense(16, relu)  net/item_new"
    assert change.detail["layers"] == ["Dense(16, relu)"]


def test_one_layer_at_two_places_is_one_change() -> None:
    (change,) = changes = diff(towers("item", "user"), towers())
    assert headline(changes) == "− Dense(16, relu) ×2: net/item_new, net/user_new"
    assert change.place_count == 2


def gated(gate: bool) -> GraphDef:
    """x ─▶ up ─▶ act ─▶ down, or act of gate, times up."""
    lines = ["x Placeholder", "ff/up/MatMul MatMul x", "ff/act/Sigmoid Sigmoid ff/up/MatMul"]
    if gate:
        lines[2] = "ff/act/Sigmoid Sigmoid ff/gate/MatMul"
        lines += ["ff/gate/MatMul MatMul x", "ff/mul Mul ff/act/Sigmoid ff/up/MatMul", "ff/down/MatMul MatMul ff/mul"]
    else:
        lines.append("ff/down/MatMul MatMul ff/act/Sigmoid")
    shapes = {f"ff__{name}__MatMul": (8, 8) for name in ("up", "down", *(["gate"] if gate else []))}
    return weighted((*lines, "end Softmax ff/down/MatMul"), **shapes)


@pytest.mark.parametrize("turn", [False, True])
def test_a_gated_unit_is_one_change(turn: bool) -> None:
    (change,) = diff(gated(turn), gated(not turn))
    assert change.kind == ("removed" if turn else "added")
    assert {"ff/gate", "ff/mul"} <= set(change.detail["parts"])


def number(key: str, old: Any, new: Any, leaf: str, blocks: str = "01", constant: bool = True) -> Change:
    """Another number at an op, or a layer, of several blocks."""
    first, *others = [f"net/block_{block}/att/{leaf}" for block in blocks]
    content = Setting(key, old, new, constant)
    return Change("changed", "attribute", first, first, 1, content, tuple((name, name) for name in others))


UNITS = number("units", "32", "64", "q", constant=False)


def test_one_number_in_several_constants_of_a_block_is_one_change() -> None:
    # A head of 16 in place of 8: twice as many units, half the angle, a scale of its root.
    others = [number("limit", 4, 8, "range"), number("y", 2.0, 1.0, "mul"), number("y", 0.3535534, 0.25, "scale")]
    (change,) = merge_by_number([*others, UNITS, number("stack", [0, 4], [0, 8], "cut/slice")])
    assert (change.name, change.detail["key"]) == ("net/block_0/att/q", "units")
    assert len(change.detail["with"]) == 4
    assert change.place_count == 10


@pytest.mark.parametrize(
    "other",
    [
        number("y", 0.5, 0.6, "add"),  # by another factor
        number("limit", 4, 8, "range", blocks="0"),  # in one of the blocks only
        number("epsilon", 1e-6, 2e-6, "norm"),  # set by itself
        number("mode", "SAME", "VALID", "pad"),
        Change("changed", "attribute", "net/head", "net/head", 1, Setting("units", "8", "16")),
    ],
)
def test_another_number_stays_a_change_of_its_own(other: Change) -> None:
    assert merge_by_number([UNITS, other]) == [UNITS, other]


def test_a_parameter_of_a_module_that_went() -> None:
    def with_bias(bias: bool) -> GraphDef:
        made = traced(64)
        up = next(node for node in made.node if node.name == "Net/Block[0]/Linear[up]/10")
        up.input.append("Net/Block[0]/Linear[up]/weight/w")
        made.node.add(name="Net/Block[0]/Linear[up]/weight/w", op="prim::GetAttr").attr["attr"].s = b"{ name : weight }"
        if bias:
            up.input.append("Net/Block[0]/Linear[up]/bias/b")
            made.node.add(name="Net/Block[0]/Linear[up]/bias/b", op="prim::GetAttr").attr["attr"].s = b"{ name : bias }"
        return made

    (change,) = diff(with_bias(True), with_bias(False))
    assert change.detail == {"key": "bias", "old": True, "new": False}


def test_an_activation_of_pytorch_is_called_by_its_class() -> None:
    def acting(op: str, kind: str) -> GraphDef:
        made = traced(64)
        for node in made.node:
            node.input[:] = [text.replace("SiLU[act]", f"{kind}[act]") for text in node.input]
            if "SiLU[act]" in node.name:
                node.name, node.op = node.name.replace("SiLU", kind), op
        return made

    (change,) = changes = diff(traced(64), acting("aten::gelu", "GELU"))
    assert (change.detail["old"], change.detail["new"]) == ("SiLU", "GELU")
    assert "renamed" not in changes.explain()  # its other name is part of it
