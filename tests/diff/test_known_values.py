"""Tests of values that one exporter works out and another leaves to the runtime, and of data that only moves."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.known_values import fold_known_values
from graphviz_tb.diff.run import load_flat
from graphviz_tb.flatten import flatten
from graphviz_tb.interpret import interpret
from graphviz_tb.proto import GraphDef, NodeDef
from tests.each import each
from tests.effort import part

EXPORTED = Path(__file__).resolve().parents[2] / "fixtures" / "exported"
Array = np.ndarray[Any, Any]
# Changes between the two exporters of one model. Most differ only in the sharing of constants, the order of a product,
# padding, sizes and names of weights, which are none; others in what one of them has an op for.
MOST_CHANGES = dict.fromkeys(("conformer", "diffusion", "dlrm", "lstm", "maskrcnn", "t5", "unet", "wavenet"), 0)
MOST_CHANGES |= {"swin": 1, "vit": 2}
FEW_CHANGES = 3


def exported_twice() -> list[str]:
    return [path.name.partition(".")[0] for path in sorted(EXPORTED.glob("*.script.onnx.gz"))]


@pytest.mark.parametrize("name", part(exported_twice(), 6))
def test_two_exporters_of_one_model_differ_in_little(name: str) -> None:
    changes = diff(EXPORTED / f"{name}.dynamo.onnx.gz", EXPORTED / f"{name}.script.onnx.gz")
    assert len(list(changes)) <= MOST_CHANGES.get(name, FEW_CHANGES), changes.explain()


def test_ops_with_counted_names_are_those_at_the_same_place() -> None:
    """x ─▶ Slice [0:3], x ─▶ Slice [3:8] ─▶ Concat; two exporters write the slices in either order."""
    graphs = []
    for scope, names in (("Net/Roll[roll]/", ("Slice", "Slice_1")), ("roll/", ("Slice_1", "Slice"))):
        nodes = [NodeDef(name="x", op="Placeholder", attr={"dtype": {"type": 1}})]
        for name, start, end in zip(names, (0, 3), (3, 8), strict=True):
            cut = NodeDef(name=f"{scope}{name}", op="onnx::Slice", input=["x"])
            for key, number in (("starts", start), ("ends", end), ("axes", 0)):
                cut.attr[key].list.i.append(number)
            nodes.append(cut)
        taken = [f"{scope}{name}" for name in reversed(names)]
        nodes.append(NodeDef(name=f"{scope}Concat", op="onnx::Concat", input=taken))
        nodes.append(NodeDef(name="y", op="_Retval", input=[f"{scope}Concat"]))
        graphs.append(GraphDef(node=nodes))
    assert not list(diff(*graphs))
    assert not list(diff(*reversed(graphs)))


def called_twice(scopes: tuple[str, str], weight: str, ops: tuple[str, str]) -> GraphDef:
    """x ─▶ op of the first call ─▶ op of the second call ─▶ product with a weight of the first's module ─▶ y"""
    first, second = scopes
    sizes = {"dtype": {"type": 1}, "shape": {"shape": {"dim": [{"size": 3}]}}}
    nodes = [
        NodeDef(name="x", op="Placeholder", attr={"dtype": {"type": 1}}),
        NodeDef(name=weight, op="Parameter", attr=sizes),
        NodeDef(name=f"{first}/Act", op=ops[0], input=["x"]),
        NodeDef(name=f"{second}/Act", op=ops[1], input=[f"{first}/Act"]),
        NodeDef(name=f"{first}/Mul", op="onnx::Mul", input=[f"{second}/Act", weight]),
        NodeDef(name="y", op="_Retval", input=[f"{first}/Mul"]),
    ]
    return GraphDef(node=nodes)


def test_calls_are_counted_in_the_whole_program_and_containers_may_lack() -> None:
    listed = "Net/Head[heads.hm]/ReLU[act]", "Net/Head[heads.hm@2]/ReLU[act]"
    old = called_twice(listed, "Net/Head[heads.hm]/ReLU[act]/gain", ("onnx::Relu", "onnx::Tanh"))
    plain, weight = ("hm/act", "hm/act_1"), "heads.hm.act.gain"
    assert not list(diff(old, called_twice(plain, weight, ("onnx::Relu", "onnx::Tanh"))))
    (edit,) = diff(old, called_twice(plain, weight, ("onnx::Relu", "onnx::Sigmoid")))
    assert "heads.hm@2" in str(edit)
    assert list(diff(old, called_twice(plain, "heads.wh.act.gain", ("onnx::Relu", "onnx::Tanh"))))


@each("module", ["a@b", "a@", "@", "a@2@3", "a@" + "9" * 5000, "a@٣"])
def test_any_name_of_a_module_may_hold_what_marks_a_call(module: str) -> None:
    old = called_twice((f"Net/A[{module}]", f"Net/A[{module}@2]"), "Net/gain", ("onnx::Relu", "onnx::Tanh"))
    new = called_twice((module, f"{module}_1"), "gain", ("onnx::Relu", "onnx::Tanh"))
    assert diff(old, new) is not None


def test_shapes_that_a_graph_works_out_are_settings() -> None:
    graph = load_flat(EXPORTED / "gpt.script.onnx.gz", {}, 0).graph
    folded = fold_known_values(graph)
    assert "onnx::Shape" in graph.op_types
    assert not {"onnx::Shape", "onnx::Concat", "onnx::Sqrt"} & set(folded.op_types)
    shapes = [list(node.attr["shape"].list.i) for node in folded.graph_def.node if node.op == "onnx::Reshape"]
    assert shapes[0] == [1, 16, 4, 12]


def moving_graph(random: Random) -> GraphDef:
    """Return a graph of ops that only move a tensor."""
    made = GraphDef()
    numbers = np.empty([random.choice((1, 2, 3, 4)) for _ in range(random.randint(2, 4))])
    made.node.add(name="x", op="Placeholder")
    made.node[0].attr["dtype"].type = 1
    for size in numbers.shape:
        made.node[0].attr["shape"].shape.dim.add(size=size)
    last = "x"
    for number in range(random.randint(1, 6)):
        op = random.choice(("Reshape", "Transpose", "Slice", "Expand", "Identity"))
        node = made.node.add(name=f"step_{number}", op=f"onnx::{op}", input=[last])
        if op == "Reshape":
            shape = list(numbers.shape)
            random.shuffle(shape)
            shape.insert(random.randint(0, len(shape)), 1)
            node.attr["shape"].list.i.extend(shape)
        elif op == "Transpose":
            node.attr["perm"].list.i.extend(random.sample(range(numbers.ndim), numbers.ndim))
        elif op == "Slice":
            axis = random.randrange(numbers.ndim)
            start = random.randrange(numbers.shape[axis])
            for key, value in (("starts", start), ("ends", 2**63 - 1), ("axes", axis)):
                node.attr[key].list.i.append(value)
        elif op == "Expand":
            node.attr["shape"].list.i.extend(random.choice((2, 3)) if size == 1 else size for size in numbers.shape)
        numbers = moved(node, numbers)
        last = node.name
    made.node.add(name="sum", op="onnx::Relu", input=[last])
    made.node.add(name="output", op="_Retval", input=["sum"])
    return made


def moved(node: Any, x: Array) -> Array:
    """Return a tensor behind one op."""
    settings = {key: list(value.list.i) for key, value in node.attr.items() if not key.startswith("_")}
    match node.op.rpartition(":")[2]:
        case "Reshape":
            return x.reshape(settings["shape"])
        case "Transpose":
            return np.transpose(x, settings["perm"])
        case "Expand":
            return np.broadcast_to(x, settings["shape"])
        case "Slice":
            for start, end, axis in zip(settings["starts"], settings["ends"], settings["axes"], strict=True):
                x = np.moveaxis(np.moveaxis(x, axis, 0)[start:end], 0, axis)
            return x
    return x


def given(graph: Any) -> Array:
    """Return the tensor at the end."""
    values: dict[str, Array] = {}
    for node in graph.node:
        if node.op == "Placeholder":
            shape = [dim.size for dim in node.attr["shape"].shape.dim]
            values[node.name] = np.arange(np.prod(shape)).reshape(shape)
        else:
            values[node.name] = moved(node, values[node.input[0]])
    return values["output"]


@pytest.mark.parametrize("seed", range(60))
def test_data_that_moves_a_shorter_way_arrives_as_before(seed: int) -> None:
    made = moving_graph(Random(seed))
    graph = interpret(flatten(made))
    folded = fold_known_values(graph).graph_def
    assert len(folded.node) <= len(made.node)
    assert given(folded).tolist() == given(made).tolist()


def test_a_chance_is_no_constant() -> None:
    made = GraphDef()
    const = made.node.add(name="c", op="Const")
    const.attr["dtype"].type = 1
    const.attr["value"].tensor.dtype = 1
    const.attr["value"].tensor.float_val.append(1.0)
    made.node.add(name="r", op="onnx::RandomNormalLike", input=["c"])
    made.node.add(name="s", op="onnx::Sqrt", input=["r"])
    made.node.add(name="output", op="_Retval", input=["s"])
    ops = [node.op for node in fold_known_values(interpret(flatten(made))).graph_def.node]
    assert [op for op in ops if op != "Const"] == ["onnx::RandomNormalLike", "onnx::Sqrt", "_Retval"]


def padded(op: str, pads: list[int], mode: bytes = b"constant", filled: float = 0.0) -> Any:
    """Return x ─▶ Pad ─▶ op ─▶ output as it is folded."""
    made = GraphDef()
    made.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    pad = made.node.add(name="pad", op="onnx::Pad", input=["x"])
    pad.attr["pads"].list.i.extend(pads)
    pad.attr["mode"].s = mode
    pad.attr["value"].f = filled
    made.node.add(name="w", op="Parameter").attr["dtype"].type = 1
    made.node.add(name="op", op=op, input=["pad", "w"]).attr["pads"].list.i.extend([1, 1])
    made.node.add(name="output", op="_Retval", input=["op"])
    return {node.name: node for node in fold_known_values(interpret(flatten(made))).graph_def.node}


def test_zeros_around_the_input_of_a_convolution_are_its_padding() -> None:
    nodes = padded("onnx::Conv", [0, 0, 4, 0, 0, 0])
    assert "pad" not in nodes
    assert list(nodes["op"].input) == ["x", "w"]
    assert list(nodes["op"].attr["pads"].list.i) == [5, 1]


@each(
    "unlike",
    [
        ("onnx::MaxPool", [0, 0, 4, 0, 0, 0]),
        ("onnx::Conv", [0, 2, 4, 0, 0, 0]),  # of the channels
        ("onnx::Conv", [0, 0, -4, 0, 0, 0]),
        ("onnx::Conv", [0, 0, 4, 0, 0, 0], b"reflect"),
        ("onnx::Conv", [0, 0, 4, 0, 0, 0], b"constant", 1.0),
    ],
)
def test_any_other_padding_is_an_op(unlike: tuple[Any, ...]) -> None:
    assert list(padded(*unlike)["op"].input) == ["pad", "w"]


def test_a_constant_that_ops_share_is_one_of_each() -> None:
    """One exporter writes a factor once, the other at each of two products; another factor is an edit."""
    graphs = []
    for scope, factors in (("Net/A[a]/", (2.0, None)), ("a/", (2.0, 2.0)), ("a/", (2.0, 3.0))):
        made = GraphDef()
        made.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
        last, factor = "x", ""
        for number, value in enumerate(factors):
            if value is not None:
                factor = f"{scope}factor_{number}"
                tensor = made.node.add(name=factor, op="Const").attr["value"].tensor
                tensor.dtype = 1
                tensor.float_val.append(value)
            made.node.add(name=f"{scope}Mul_{number}", op="onnx::Mul", input=[last, factor])
            last = f"{scope}Mul_{number}"
        made.node.add(name="y", op="_Retval", input=[last])
        graphs.append(made)
    assert not list(diff(graphs[0], graphs[1]))
    (edit,) = diff(graphs[0], graphs[2])
    assert (edit.detail["old"], edit.detail["new"]) == (2.0, 3.0)


def product(folded: bool, sizes: tuple[int, int] = (3, 2), twice: bool = False) -> GraphDef:
    """x ─▶ product with a weight ─▶ times 6 ─▶ y; without folding the weight is turned and the 6 a product, too."""
    made = GraphDef()
    made.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    weight = made.node.add(name="fc/weight", op="Parameter")
    weight.attr["dtype"].type = 1
    for size in sizes if folded else reversed(sizes):
        weight.attr["shape"].shape.dim.add(size=size)
    for name, number in (("six", 6.0),) if folded else (("two", 2.0), ("three", 3.0)):
        constant = made.node.add(name=name, op="Const")
        constant.attr["dtype"].type = constant.attr["value"].tensor.dtype = 1
        constant.attr["value"].tensor.float_val.append(number)
    taken, factor = "fc/weight", "six"
    if not folded:
        made.node.add(name="fc/Transpose", op="onnx::Transpose", input=[taken]).attr["perm"].list.i.extend([1, 0])
        times = made.node.add(name="fc/Mul", op="onnx::Mul", input=["two", "three"])
        times.attr["_output_types"].list.type.append(1)
        times.attr["_output_shapes"].list.shape.add()
        taken, factor = "fc/Transpose", "fc/Mul"
    made.node.add(name="fc/MatMul", op="onnx::MatMul", input=["x", taken])
    made.node.add(name="Mul", op="onnx::Mul", input=["fc/MatMul", factor])
    made.node.add(name="y", op="_Retval", input=["Mul"])
    if twice:
        made.node.add(name="table", op="_Retval", input=["fc/weight"])
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_an_export_without_folding_is_the_same(turned: bool) -> None:
    pair = [product(True), product(False)]
    assert not list(diff(*(pair[::-1] if turned else pair)))


def test_an_edit_beside_an_export_without_folding_is_said_alone() -> None:
    (edit,) = diff(product(True), product(False, (3, 5)))
    assert (edit.detail["old"], edit.detail["new"]) == ("2", "5")


def test_a_weight_that_is_taken_as_it_is_too_is_not_turned() -> None:
    folded = fold_known_values(interpret(flatten(product(False, twice=True)))).graph_def
    assert "onnx::Transpose" in {node.op for node in folded.node}


@pytest.mark.parametrize("axis", [-1, 2, None])
def test_an_axis_is_counted_from_the_first(axis: int | None) -> None:
    made = GraphDef()
    given = made.node.add(name="x", op="Placeholder")
    given.attr["dtype"].type = 1
    for size in (2, 3, 4):
        given.attr["shape"].shape.dim.add(size=size)
    node = made.node.add(name="softmax", op="onnx::Softmax", input=["x"])
    if axis is not None:
        node.attr["axis"].i = axis
    made.node.add(name="output", op="_Retval", input=["softmax"])
    assert fold_known_values(interpret(flatten(made))).graph_def.node[1].attr["axis"].i == 2


def test_programs_in_two_forms_are_said_to_be() -> None:
    changes = diff(EXPORTED / "vit.pt2", EXPORTED / "vit.dynamo.onnx.gz")
    assert any("torch.export" in notice.message and "ONNX" in notice.message for notice in changes.notices)
    assert not any(
        "torch.export" in notice.message for notice in diff(EXPORTED / "vit.pt2", EXPORTED / "vit.pt2").notices
    )
