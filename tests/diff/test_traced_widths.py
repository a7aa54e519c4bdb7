"""Widths of PyTorch modules, from the shapes of what their ops gave."""

from __future__ import annotations

from graphviz_tb import diff
from graphviz_tb.proto import GraphDef


def traced(inner: int, batch: int = 2, filters: int = 3) -> GraphDef:
    """Two blocks of a linear layer and its activation, and a convolution."""
    graph = GraphDef()
    graph.node.add(name="x", op="IO Node")
    before = "x"
    for name, op, shape in (
        ("Net/Conv2d[conv]/9", "aten::_convolution", (batch, filters, 8, 8)),
        ("Net/Block[0]/Linear[up]/10", "aten::linear", (batch, 16, inner)),
        ("Net/Block[0]/SiLU[act]/11", "aten::silu", (batch, 16, inner)),
        ("Net/Block[1]/Linear[up]/12", "aten::linear", (batch, 16, inner)),
        ("Net/Block[1]/Linear[down]/13", "aten::linear", (batch, 16, 8)),
    ):
        node = graph.node.add(name=name, op=op, input=[before])
        node.attr["_output_shapes"].list.shape.add(dim=[{"size": size} for size in shape])
        before = name
    return graph


def test_a_wider_module_is_told_by_its_name() -> None:
    (change,) = diff(traced(64), traced(96))
    assert (change.new, change.detail) == ("Net/Block[0]/Linear[up]", {"key": "units", "old": 64, "new": 96})
    assert change.also == (("Net/Block[1]/Linear[up]",) * 2,)
    (change,) = diff(traced(64), traced(64, filters=5))
    assert (change.new, change.detail["key"]) == ("Net/Conv2d[conv]", "filters")


def test_another_batch_makes_no_module_wider() -> None:
    assert not any(change.detail.get("key") in ("units", "filters") for change in diff(traced(64), traced(64, 4)))
    assert diff(traced(64), traced(64)).same


def test_a_width_that_only_one_trace_has_recorded_is_no_change() -> None:
    unrecorded = traced(64)
    for node in unrecorded.node:
        node.attr.clear()
    assert diff(traced(64), unrecorded).same


def test_the_width_of_a_module_that_reads_both_ways_is_that_of_one_way() -> None:
    def reader(ways: str, size: int) -> GraphDef:
        graph = GraphDef()
        graph.node.add(name="x", op="IO Node")
        graph.node.add(name="Net/GRU[gru]/1", op="prim::Constant").attr["attr"].s = f"{{ value : {ways}}}".encode()
        inputs = ["x", *["Net/GRU[gru]/1"] * 8]
        node = graph.node.add(name="Net/GRU[gru]/2", op="aten::gru", input=inputs)
        node.attr["_output_shapes"].list.shape.add(dim=[{"size": each} for each in (2, 9, size)])
        return graph

    def said(old: GraphDef, new: GraphDef) -> set[str]:
        return {part.key for change in diff(old, new) if change.setting for part in change.setting.as_parts}

    assert "hidden_size" in said(reader("True", 32), reader("True", 64))
    assert "hidden_size" not in said(reader("False", 32), reader("True", 64))


def test_the_same_says_that_a_trace_has_no_shapes_of_weights_and_no_types_of_numbers() -> None:
    assert diff(traced(64), traced(64)).left_out == ("shapes of weights", "types of numbers")


def attention(axis: str) -> GraphDef:
    """Two blocks with a softmax over an axis; a trace has one constant for all uses of a number in a module."""
    graph = GraphDef()
    for block in "01":
        scope = f"Net/Block[{block}]/Attn[attn]"
        for name, value in (("7", "-1"), ("8", "-2")):
            graph.node.add(name=f"{scope}/{name}", op="prim::Constant").attr["attr"].s = (
                b"{ value : %s}" % value.encode()
            )
        taken = {"-1": "7", "-2": "8"}[axis]
        inputs = ["x", *(f"{scope}/{number}" for number in "78")]
        graph.node.add(name=f"{scope}/9", op="aten::transpose", input=inputs)
        graph.node.add(name=f"{scope}/10", op="aten::softmax", input=[f"{scope}/9", f"{scope}/{taken}"])
    graph.node.add(name="x", op="IO Node")
    return graph


def test_another_constant_is_a_setting_by_its_name_and_value() -> None:
    (change,) = diff(attention("-1"), attention("-2"))
    assert (change.kind, change.new, change.place_count) == ("changed", "Net/Block[0]/Attn[attn]", 2)
    assert change.detail == {"key": "dim", "old": "-1", "new": "-2"}
    assert diff(attention("-2"), attention("-2")).same


def tied(shared: bool) -> GraphDef:
    """An embedding and a head, whose weight is its own or that of the embedding."""
    graph = GraphDef()
    weights = ["Net/Embedding[embed]/weight/weight.1"]
    weights.append("Net/Embedding[embed]/weight/weight.3" if shared else "Net/Linear[head]/weight/weight")
    for weight in weights:
        graph.node.add(name=weight, op="prim::GetAttr").attr["attr"].s = b"{ name : weight }"
    graph.node.add(name="x", op="IO Node")
    graph.node.add(name="Net/Embedding[embed]/7", op="aten::embedding", input=[weights[0], "x"])
    graph.node.add(name="Net/Norm[norm]/8", op="aten::layer_norm", input=["Net/Embedding[embed]/7"])
    graph.node.add(name="Net/Linear[head]/9", op="aten::linear", input=["Net/Norm[norm]/8", weights[1]])
    return graph


def test_weights_that_two_modules_share_are_no_move() -> None:
    (change,) = diff(tied(False), tied(True))
    assert (change.kind, change.new) == ("changed", "Net/Linear[head]")
    assert change.detail == {"key": "weights", "old": "its own", "new": "shared with Net/Embedding[embed]"}
    (back,) = diff(tied(True), tied(False))
    assert back.detail["new"] == "its own"


def net(act: str = "GELU", rate: str = "0.1", bias: bool = True, drop: bool = True) -> GraphDef:
    """Two blocks of a linear layer, an activation and a dropout; the blocks share the constant that is the rate."""
    graph = GraphDef()
    graph.node.add(name="x", op="IO Node")
    rated, before, count = "Net/Block[0]/Dropout[drop]/1", "x", 2
    graph.node.add(name=rated, op="prim::Constant").attr["attr"].s = b"{ value : %s}" % rate.encode()
    for block in "01":
        scope = f"Net/Block[{block}]"
        layer = f"{scope}/Linear[fc]"
        given = ["weight", "bias"] if bias else ["weight"]
        for name in given:
            node = graph.node.add(name=f"Net/ModuleList[blocks]/{layer[4:]}/{name}/{name}.{count}", op="prim::GetAttr")
            node.attr["attr"].s = b"{ name : %s }" % name.encode()
        parameters = [f"Net/ModuleList[blocks]/{layer[4:]}/{name}/{name}.{count}" for name in given]
        graph.node.add(name=f"{layer}/input.{count}", op="aten::linear", input=[before, *parameters])
        graph.node.add(
            name=f"{scope}/{act}[act]/x.{count + 1}", op=f"aten::{act.lower()}", input=[f"{layer}/input.{count}"]
        )
        before = f"{scope}/{act}[act]/x.{count + 1}"
        if drop:
            graph.node.add(name=f"{scope}/Dropout[drop]/{count}", op="aten::dropout", input=[before, rated])
            before = f"{scope}/Dropout[drop]/{count}"
        count += 2
    graph.node.add(name="output/y", op="IO Node", input=[before])
    return graph


def test_a_constant_that_modules_share_is_a_setting_of_each() -> None:
    (change,) = diff(net(), net(rate="0.3"))
    assert change.detail == {"key": "p", "old": "0.1", "new": "0.3"}
    assert [change.new, *(new for _, new in change.also)] == [f"Net/Block[{block}]/Dropout[drop]" for block in "01"]


def test_a_module_of_another_class_is_known_by_its_attribute() -> None:
    (change,) = diff(net(), net(act="SiLU"))
    assert (change.old, change.new) == ("Net/Block[0]/GELU[act]", "Net/Block[0]/SiLU[act]")
    assert (change.detail["old"], change.detail["new"], change.place_count) == ("GELU", "SiLU", 2)


def test_a_parameter_that_is_not_there_is_a_setting() -> None:
    (change,) = diff(net(), net(bias=False))
    assert (change.new, change.place_count) == ("Net/Block[0]/Linear[fc]", 2)
    assert change.detail == {"key": "bias", "old": True, "new": False}


def test_modules_that_went_are_named_by_their_modules_wherever_they_were() -> None:
    (change,) = diff(net(), net(drop=False))
    assert (change.kind, change.old, change.place_count) == ("removed", "Net/Block[0]/Dropout[drop]", 2)
    changes = diff(net(), net(act="SiLU", rate="0.3"))
    assert {change.detail["key"] for change in changes} == {"op", "p"}


def levels(activation: str, *widths: int) -> GraphDef:
    """Linear layers behind an activation, in the list `down` of a program; their results go to ops of several types."""
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder")
    for level, (width, user) in enumerate(zip(widths, ("sin", "cos", "tanh"), strict=True)):
        scope, given = f"Net/Linear[down.{level}.t]", f"Net/{activation}_{level}"
        weight = graph.node.add(name=f"{scope}/weight", op="Parameter")
        weight.attr["_variable"].s = f"down.{level}.t.weight".encode()
        weight.attr["dtype"].type = 1
        for size in (width, 8):
            weight.attr["shape"].shape.dim.add(size=size)
        graph.node.add(name=given, op=f"aten::{activation}", input=["x"])
        graph.node.add(name=f"{scope}/linear", op="aten::linear", input=[given, weight.name])
        graph.node.add(name=f"Net/{level}", op=f"aten::{user}", input=[f"{scope}/linear"])
    return graph


def test_modules_of_a_list_whose_numbers_stayed_are_those_of_their_numbers() -> None:
    activation, width = diff(levels("silu", 16, 32, 64), levels("relu", 32, 64, 128))
    assert (activation.detail["key"], activation.place_count) == ("op", 3)
    assert (width.detail["key"], width.place_count) == ("units", 3)


def heads(apart: bool) -> GraphDef:
    """A head on each of two levels: one module that is called again, or a module each; containers are not called."""
    graph = GraphDef()
    graph.node.add(name="x", op="IO Node")
    for level in range(2):
        owner = f"Net/ModuleList[heads]/ModuleDict[{level if apart else 0}]/Linear[cls]"
        weight = graph.node.add(name=f"{owner}/weight/weight.{level}", op="prim::GetAttr").name
        graph.node.add(name=f"Net/Linear[cls]/{10 + level}", op="aten::linear", input=["x", weight])
    return graph


def test_a_module_that_is_called_again_shares_its_weights() -> None:
    (change,) = diff(heads(apart=False), heads(apart=True))
    words = [change.detail[word] for word in ("key", "old", "new")]
    assert words == ["weights", "shared with its first call", "its own"]
    assert diff(heads(apart=False), heads(apart=False)).same
