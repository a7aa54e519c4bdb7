"""ONNX models: what is read of them, and what damaged and hostile ones give."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

import tbgraph
from graphviz_tb.color import make_colouring
from graphviz_tb.diff import diff
from graphviz_tb.errors import MalformedProto, NoGraph, ReadError
from graphviz_tb.formats.onnx import read_onnx
from graphviz_tb.formats.onnx_messages import (
    Attribute,
    Dimension,
    FunctionValue,
    GraphValue,
    ModelValue,
    NamedValue,
    NodeValue,
    Opset,
    ShapeOfType,
    TensorType,
    TensorValue,
    ValueType,
    decode_model,
)
from graphviz_tb.options import ReadOptions
from graphviz_tb.sources.streams import open_bytes
from graphviz_tb.words.paper import PaperWords
from tests.each import each
from tests.effort import part
from tests.formats.onnx_bytes import encode_message

FIXTURES = Path(__file__).parents[2] / "fixtures" / "onnx"
MODELS = sorted(FIXTURES.glob("*.onnx"))


def value(name: str, *sizes: int | str, dtype: int = 1) -> NamedValue:
    """Make an input or an output."""
    dims = tuple(Dimension(size) if isinstance(size, int) else Dimension(param=size) for size in sizes)
    return NamedValue(name, ValueType(TensorType(dtype, ShapeOfType(dims))))


def floats(name: str, *sizes: int) -> TensorValue:
    """Make an initialiser whose numbers differ."""
    count = 1
    for size in sizes:
        count *= size
    return TensorValue(name, sizes, 1, struct.pack(f"<{count}f", *(number + 1 for number in range(count))))


def bytes_of(graph: GraphValue, **fields: object) -> bytes:
    """Encode a model of a graph."""
    usual: dict[str, object] = {"ir_version": 8, "opsets": (Opset("", 17),), "graph": graph}
    return encode_message(ModelValue(**{**usual, **fields}))  # type: ignore[arg-type]


def node(op: str, inputs: str, outputs: str, name: str = "", **attributes: object) -> NodeValue:
    """Make a node; its values are separated by blanks, "-" is one that is left out."""
    made = [_attribute(key, content) for key, content in attributes.items()]
    taken = tuple("" if each == "-" else each for each in inputs.split())
    return NodeValue(name, op, inputs=taken, outputs=tuple(outputs.split()), attributes=tuple(made))


def _attribute(name: str, content: object) -> Attribute:
    if isinstance(content, GraphValue):
        return Attribute(name, 5, g=content)
    if isinstance(content, tuple):
        return Attribute(name, 7, ints=content)
    return Attribute(name, 2, i=content) if isinstance(content, int) else Attribute(name, 3, s=str(content).encode())


def load(graph: GraphValue, **fields: object) -> tbgraph.Model:
    """Load a model of a graph."""
    return tbgraph.load(bytes_of(graph, **fields))


@each("path", MODELS)
def test_all_fixtures_open_whole(path: Path) -> None:
    model = tbgraph.load(path)
    assert not model.notices
    assert len(model.render("svg")) > 1000


def test_parameters_and_multiply_adds() -> None:
    """c1 8·3·3·3 + 8, bn 2·8 and two buffers, dw 8·3·3, fc 10·8 + 10; each times its windows."""
    model = tbgraph.load(FIXTURES / "opset21.onnx")
    assert model.parameters == 216 + 8 + 16 + 72 + 90
    assert model.cost.under(0).macs == 16 * 16 * 216 + 16 * 16 * 72 + 80


def test_two_versions_of_the_operators_are_one_network() -> None:
    """Axes and limits are attributes in the old version, inputs in the new one."""
    assert not tbgraph.load(FIXTURES / "opset9.onnx").diff(FIXTURES / "opset21.onnx")


def test_shapes_are_inferred() -> None:
    shapes = tbgraph.load(FIXTURES / "opset21.onnx").shapes()
    assert shapes["c1", 0] == (None, 8, 16, 16)
    assert shapes["ReduceMean", 0] == (None, 8, 1, 1)
    assert shapes["Squeeze", 0] == (None, 8)


@pytest.mark.parametrize(("policy", "shape"), [("", (1, 2, 8, 6)), ("stretch", (1, 2, 8, 6)), ("not_larger", None)])
def test_the_sizes_that_an_image_is_resized_to_are_its_shape(policy: str, shape: tuple[int, ...] | None) -> None:
    sizes = TensorValue("sizes", (4,), 7, int64_data=(1, 2, 8, 6))
    given = {"keep_aspect_ratio_policy": policy} if policy else {}
    nodes = (node("Resize", "x - - sizes", "y", "up", **given), node("Relu", "y", "z", "act"))
    graph = GraphValue(nodes=nodes, initializers=(sizes,), inputs=(value("x", 1, 2, 4, 3),), outputs=(value("z"),))
    known = load(graph, opsets=(Opset("", 18),)).shapes().get(("up", 0))
    assert known == (shape or (None,) * 4)


def test_pairs_of_quantisation_are_no_boxes() -> None:
    model = tbgraph.load(FIXTURES / "quantised.onnx")
    assert not [op for op in model.op_types if "Quantize" in op]
    assert model.parameters == tbgraph.load(FIXTURES / "opset21.onnx").parameters
    graph = model.hierarchy.graph
    kernel = graph.graph_def.node[graph.index[0]["c1.w"]]
    assert kernel.attr["dtype"].type == 6  # int8
    assert graph.graph_def.node[graph.index[0]["c1"]].attr["quantized"].s == b"int8"


def test_bodies_and_functions_open() -> None:
    """Values from outside are arguments of a body, weights are in it."""
    model = tbgraph.load(FIXTURES / "control_flow.onnx")
    assert sorted(each.name for each in model.functions) == ["body", "else", "step", "then"]
    body = model.hierarchy.graph.graph_def.library.function[0]
    assert [arg.name for arg in body.signature.input_arg] == ["i", "go", "state", "x"]
    assert [each.op for each in body.node_def if each.op == "Parameter"] == ["Parameter"]
    assert model.shapes()["rnn/loop", 0] == (None, 8)
    functions = tbgraph.load(FIXTURES / "functions.onnx")
    assert functions.parameters == 16 * 32 + 32 + 32 * 16 + 16 + 16 * 4 + 4
    assert functions.shapes()["head", 0] == (None, 4)


def test_equal_names_in_two_branches_are_two_values() -> None:
    branches = [
        GraphValue(
            f"branch_{size}", (node("MatMul", "x w", "y"),), (floats("w", 4, size),), outputs=(value("y", 2, size),)
        )
        for size in (3, 5)
    ]
    chosen = node("If", "c", "z", then_branch=branches[0], else_branch=branches[1])
    graph = GraphValue("g", (chosen,), inputs=(value("c", dtype=9), value("x", 2, 4)), outputs=(value("z", 2, "n"),))
    assert load(graph).parameters == 4 * 3 + 4 * 5


def test_external_data_is_never_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of the file is one that everyone can read."""
    opened: list[str] = []
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: opened.append(str(self)) or real(self, *a, **k))
    model = tbgraph.load(FIXTURES / "sparse_external.onnx")
    assert model.parameters == 4 * 6 + 6 * 5
    assert not [each for each in opened if "passwd" in each]


# Scopes


def test_names_with_slashes_are_scopes() -> None:
    graph = GraphValue(
        nodes=(
            node("MatMul", "x onnx::MatMul_7", "/enc/fc/MatMul_output_0", "/enc/fc/MatMul"),
            node("Add", "enc.fc.bias /enc/fc/MatMul_output_0", "y", "/enc/fc/Add"),
        ),
        initializers=(floats("onnx::MatMul_7", 4, 6), floats("enc.fc.bias", 6)),
        inputs=(value("x", "N", 4),),
        outputs=(value("y", "N", 6),),
    )
    model = load(graph, producer="pytorch")
    names = {each.name for each in model.hierarchy.graph.graph_def.node}
    assert {"enc/fc/MatMul", "enc/fc/Add", "enc/fc/weight", "enc/fc/bias"} <= names
    assert model.parameters == 30


def listed(*names: str) -> dict[str, str]:
    """The list of parameters that PyTorch's newer exporter writes."""
    lines = "".join(f"p_{name.replace('.', '_')}: PARAMETER target='{name}'\n" for name in names)
    return {"pkg.torch.export.ExportedProgram.graph_signature": f"# inputs\n{lines}x: USER_INPUT\n"}


def _in_module(made: NodeValue, paths: str, classes: str, call: str = "") -> NodeValue:
    entries = {
        "pkg.torch.onnx.name_scopes": repr(["", *paths.split(), "op"]),
        "pkg.torch.onnx.class_hierarchy": repr([f"m.{kind}" for kind in ["Net", *classes.split(), "aten"]]),
        "pkg.torch.onnx.fx_node": call,
        "pkg.torch.onnx.stack_trace": 'File "/home/me/model.py", line 7, in forward\n    x = self.fc(x)',
    }
    return NodeValue(made.name, made.op_type, "", "", made.inputs, made.outputs, made.attributes, entries)


def test_modules_of_the_exporter_are_scopes() -> None:
    """A run of nodes of a module is a call; equal weights are stored once; a folded norm leaves its convolution."""
    relu = "act", "ReLU"
    graph = GraphValue(
        nodes=(
            _in_module(node("Conv", "x conv.weight", "a"), "bn", "BatchNorm2d", "batch_norm(%conv, %p_bn_weight)"),
            _in_module(node("Relu", "a", "b"), *relu),
            _in_module(node("Mul", "b one.gain", "c"), "one", "Gain", "mul(%b, %p_one_gain)"),
            _in_module(node("Mul", "c one.gain", "d"), "two", "Gain", "mul(%c, %p_two_gain)"),
            _in_module(node("Relu", "d", "y"), *relu),
        ),
        initializers=(floats("conv.weight", 8, 3, 1, 1), floats("one.gain", 8, 1, 1)),
        inputs=(value("x", 1, 3, 5, 5),),
        outputs=(value("y", 1, 8, 5, 5),),
    )
    model = load(graph, producer="pytorch")
    names = {each.name for each in model.hierarchy.graph.graph_def.node}
    assert {
        *("Net/Conv2d[conv]/Conv", "Net/Conv2d[conv]/weight", "Net/ReLU[act]/Relu", "Net/ReLU[act@2]/Relu"),
        *("Net/Gain[one]/gain", "Net/Gain[two]/gain"),
    } <= names
    assert model.parameters == 24 + 8 + 8
    conv = model.hierarchy.graph.graph_def.node[model.hierarchy.graph.index[0]["Net/Conv2d[conv]/Conv"]]
    assert list(conv.attr["_source"].list.s) == [b"model.py:7 x = self.fc(x)"]


@pytest.mark.parametrize(
    ("call", "word", "count"),
    [
        ("batch_norm(%conv, None, None, %b_bn_running_mean)", "", 24),
        ("batch_norm(%conv, %p_bn_weight, %p_bn_bias, %b_bn_running_mean)", "at least ", 24 + 8),
    ],
)
def test_a_folded_norm_has_the_weights_that_its_call_has(call: str, word: str, count: int) -> None:
    made = node("Conv", "x conv.weight conv.weight_bias", "y")
    graph = GraphValue(
        nodes=(_in_module(made, "bn", "BatchNorm2d", call),),
        initializers=(floats("conv.weight", 8, 3, 1, 1), floats("conv.weight_bias", 8)),
        inputs=(value("x", 1, 3, 5, 5),),
        outputs=(value("y", 1, 8, 5, 5),),
        metadata=listed("conv.weight"),
    )
    cost = load(graph, producer="pytorch").cost.under(0)
    assert (cost.bound_word("parameters"), cost.parameters) == (word, count)


def test_without_calls_a_folded_norm_may_have_had_weights_or_none() -> None:
    graph = GraphValue(
        nodes=(node("Conv", "x onnx::Conv_24 onnx::Conv_25", "y", "/conv/Conv"),),
        initializers=(floats("onnx::Conv_24", 8, 3, 1, 1), floats("onnx::Conv_25", 8)),
        inputs=(value("x", 1, 3, 5, 5),),
        outputs=(value("y", 1, 8, 5, 5),),
    )
    cost = load(graph, producer="pytorch").cost.under(0)
    assert (cost.bound_word("parameters"), cost.parameters) == ("about ", 32)


def test_parameters_that_no_output_needs_are_in_the_list_of_the_program() -> None:
    words = []
    for metadata in (listed("fc.weight"), listed("fc.weight", "pool.weight"), ()):
        graph = GraphValue(
            nodes=(_in_module(node("MatMul", "x fc.weight", "y"), "fc", "Linear", "linear(%x, %p_fc_weight)"),),
            initializers=(floats("fc.weight", 3, 4),),
            inputs=(value("x", 1, 3),),
            outputs=(value("y", 1, 4),),
            metadata=metadata,
        )
        cost = load(graph, producer="pytorch").cost.under(0)
        words.append((cost.bound_word("parameters"), cost.parameters))
    assert not load(graph, producer="tf2onnx").cost.under(0).lower_bounds()  # other producers store what is there
    assert words == [("", 12), ("at least ", 12), ("at least ", 12)]


def test_a_convolution_of_an_image_that_was_given_its_channel_says_both_sizes() -> None:
    graph = GraphValue(
        nodes=(
            _in_module(node("Unsqueeze", "x axes", "image"), "", ""),
            _in_module(node("Conv", "image sub.weight", "y"), "sub", "Conv2d"),
        ),
        initializers=(
            TensorValue("axes", (1,), 7, struct.pack("<q", 1)),
            floats("sub.weight", 8, 1, 3, 3),
        ),
        inputs=(value("x", 1, 24, 32),),
        outputs=(value("y", 1, 8, 22, 30),),
        values=(value("image", 1, 1, 24, 32),),
    )
    hierarchy = load(graph, producer="pytorch").hierarchy
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("Net/Conv2d[sub]")) == "3×3, 8"


def test_a_table_that_the_model_worked_out_is_a_buffer() -> None:
    graph = GraphValue(
        nodes=(
            _in_module(node("Add", "x attn.lifted_tensor_0", "a"), "attn", "Attn", "add(%x, %c_attn_lifted_tensor_0)"),
            _in_module(node("Mul", "a attn.gain", "y"), "attn", "Attn", "mul(%a, %p_attn_gain)"),
        ),
        initializers=(floats("attn.lifted_tensor_0", 8, 5, 5), floats("attn.gain", 8, 1, 1)),
        inputs=(value("x", 1, 8, 5, 5),),
        outputs=(value("y", 1, 8, 5, 5),),
    )
    assert load(graph, producer="pytorch").parameters == 8


def test_an_op_that_an_optimizer_made_is_in_the_modules_around_it() -> None:
    """x ─▶ Relu a.act ─▶ Split ─▶ Neg (of a)   Split ─▶ Identity ─▶ Abs (of a): Split and Identity have no metadata."""
    graph = GraphValue(
        nodes=(
            _in_module(node("Relu", "x", "b"), "a a.act", "Block ReLU"),
            node("Split", "b", "c d", "node_Split_7", axis=1),
            node("Floor", "d", "e", "node_Floor_8"),
            _in_module(node("Neg", "c", "f"), "a", "Block"),
            _in_module(node("Abs", "e", "g"), "a", "Block"),
            _in_module(node("Add", "f g", "y"), "a", "Block"),
        ),
        inputs=(value("x", 1, 4),),
        outputs=(value("y", 1, 2),),
    )
    ops = {each.op: each.name for each in load(graph, producer="pytorch").hierarchy.graph.graph_def.node}
    assert ops["onnx::Split"] == "Net/Block[a]/Split"
    assert ops["onnx::Floor"] == "Net/Block[a]/Floor"
    assert ops["onnx::Add"] == "Net/Block[a]/Add"


def test_a_tensor_that_nothing_says_to_be_a_parameter_is_a_bound() -> None:
    """x ─▶ Mul ◀─ table ─▶ y"""
    counted = []
    for name in ("layers.0.decay", "layers.0.weight"):
        nodes = (node("Mul", f"x {name}", "y", "/layers.0/Mul"),)
        inputs, outputs, tensors = (value("x", 2, 6),), (value("y", 2, 6),), (floats(name, 2, 6),)
        graph = GraphValue(nodes=nodes, initializers=tensors, inputs=inputs, outputs=outputs, metadata=listed(name))
        cost = load(graph, producer="pytorch").cost.under(0)
        counted.append((cost.bound_word("parameters"), cost.parameters))
    assert counted == [("at most ", 12), ("", 12)]


def test_a_buffer_that_joins_a_product_is_no_bias_where_the_exporter_says_so() -> None:
    """x ─▶ MatMul ◀─ fc.weight     MatMul ─▶ Sub ◀─ mean ─▶ y"""
    counted = []
    for call, name in (("sub(%mm, %b_mean)", "mean"), ("sub(%mm, %p_mean)", "mean"), ("", "mean"), ("", "fc.bias")):
        taken = node("Sub", f"mm {name}", "y", "/Sub")
        graph = GraphValue(
            nodes=(
                node("MatMul", "x fc.weight", "mm", "/fc/MatMul"),
                _in_module(taken, "", "", call) if call else taken,
            ),
            initializers=(floats("fc.weight", 3, 4), floats(name, 4)),
            inputs=(value("x", 2, 3),),
            outputs=(value("y", 2, 4),),
            metadata=listed("fc.weight"),
        )
        cost = load(graph, producer="pytorch").cost.under(0)
        counted.append((cost.bound_word("parameters"), cost.parameters))
    assert counted == [("", 12), ("", 16), ("at most ", 16), ("", 16)]


def test_a_model_that_may_lack_weights_says_so_without_results_and_without_weights() -> None:
    product, words = node("MatMul", "x fc.weight", "y", "/fc/MatMul"), []
    relu = node("Relu", "x", "y", "/Relu")
    for nodes, tensors, outputs in (
        ((product,), (floats("fc.weight", 3, 4),), ()),
        ((relu,), (), (value("y", 2, 3),)),
    ):
        graph = GraphValue(nodes=nodes, initializers=tensors, inputs=(value("x", 2, 3),), outputs=outputs)
        cost = load(graph, producer="pytorch").cost.under(0)
        words.append((cost.bound_word("parameters"), cost.parameters))
    assert words == [("at least ", 12), ("at least ", 0)]


def test_a_matrix_with_several_numbers_in_a_byte_has_the_sizes_that_its_op_states() -> None:
    """x ─▶ MatMulNBits ◀─ matrix of 4 bits, its scales and its zero points ─▶ y"""
    sizes = {"K": 32, "N": 8, "bits": 4, "block_size": 16}
    product = node("MatMulNBits", "x fc.weight_Q4 fc.weight_scales fc.weight_zero_points", "y", **sizes)
    graph = GraphValue(
        nodes=(replace(product, domain="com.microsoft"),),
        initializers=(
            TensorValue("fc.weight_Q4", (8, 2, 8), 2, bytes(128)),
            floats("fc.weight_scales", 16),
            TensorValue("fc.weight_zero_points", (8,), 2, bytes(8)),
        ),
        inputs=(value("x", 2, 32),),
        outputs=(NamedValue("y"),),
    )
    cost = load(graph).cost.under(0)
    assert (cost.bound_word("parameters"), cost.parameters, cost.macs) == ("", 32 * 8, 2 * 32 * 8)


def test_types_that_tensorflow_lacks_are_told_from_each_other() -> None:
    models = []
    for dtype in (18, 20):  # float8 without negative zero, of two layouts
        graph = GraphValue(
            nodes=(node("Cast", "fc.weight", "w", to=1), node("MatMul", "x w", "y")),
            initializers=(TensorValue("fc.weight", (3, 4), dtype, bytes(12)),),
            inputs=(value("x", 2, 3),),
            outputs=(value("y", 2, 4),),
        )
        models.append(bytes_of(graph))
    cost = load(graph).cost.under(0)
    assert (cost.parameters, cost.weight_bytes) == (3 * 4, 3 * 4)
    assert not diff(*models).same


def test_a_quantised_lstm_has_its_parameters_flops_and_units() -> None:
    whole = (("w", 2, 3, 16), ("r", 2, 4, 16), ("wz", 2), ("rz", 2))  # kernels are turned
    settings = {"hidden_size": 4, "direction": "bidirectional"}
    graph = GraphValue(
        nodes=(node("DynamicQuantizeLSTM", "x w r b - - - - ws wz rs rz", "y", **settings),),
        initializers=(*(TensorValue(name, sizes, 3) for name, *sizes in whole), floats("b", 2, 32), floats("ws", 2)),
        inputs=(value("x", 7, 1, 3),),
        outputs=(value("y", 7, 2, 1, 4),),
    )
    model = load(graph)
    assert (model.parameters, model.cost.under(0).flops) == (2 * (3 * 16 + 4 * 16 + 32), 2 * 7 * 2 * 16 * (3 + 4))
    assert "bi LSTM 2 × 4".encode() in model.render("svg", paper=True)


def test_a_quantised_weight_without_its_scale_is_another_model() -> None:
    models = []
    for scale in ("scale", "scalf"):
        graph = GraphValue(
            nodes=(node("DequantizeLinear", f"fc.weight_q {scale}", "w"), node("MatMul", "x w", "y")),
            initializers=(TensorValue("fc.weight_q", (16, 8), 3, bytes(128)), floats("scale", 1)),
            inputs=(value("x", 2, 16),),
            outputs=(value("y", 2, 8),),
        )
        models.append(bytes_of(graph))
    assert not diff(*models).same


def test_scales_of_a_dequantised_weight_are_no_parameters() -> None:
    graph = GraphValue(
        nodes=(
            node("DequantizeLinear", "fc.weight_q fc.weight_scale", "w", axis=0, block_size=4),
            node("MatMul", "x w", "y"),
        ),
        initializers=(TensorValue("fc.weight_q", (16, 8), 3, bytes(128)), floats("fc.weight_scale", 4, 8)),
        inputs=(value("x", 2, 16),),
        outputs=(value("y", 2, 8),),
    )
    assert load(graph).parameters == 16 * 8


def test_a_product_of_many_axes_is_counted_by_its_equation() -> None:
    graph = GraphValue(
        nodes=(node("Einsum", "x experts.weight", "y", equation="bd,edf->bef"),),
        initializers=(floats("experts.weight", 3, 8, 16),),
        inputs=(value("x", 4, 8),),
        outputs=(value("y", 4, 3, 16),),
    )
    assert load(graph).cost.under(0).macs == 4 * 3 * 8 * 16


# Files that are no good


def language_model(head: TensorValue) -> bytes:
    """tokens ─▶ Gather ◀─ table     Gather ─▶ MatMul ◀─ head ─▶ logits"""
    nodes = (node("Gather", "wte.weight tokens", "h", "/wte/Gather"), node("MatMul", f"h {head.name}", "y", "/head/M"))
    inputs, outputs = (value("tokens", 1, 4, dtype=7),), (value("y", 1, 4, 6),)
    tensors = (floats("wte.weight", 6, 3), head)
    graph = GraphValue(nodes=nodes, initializers=tensors, inputs=inputs, outputs=outputs, metadata=listed("wte.weight"))
    return bytes_of(graph, producer="pytorch")


def test_a_table_that_is_stored_once_more_is_one_weight_or_a_bound() -> None:
    table = struct.unpack("<18f", floats("", 6, 3).raw_data or b"")
    turned = [table[row * 3 + column] for column in range(3) for row in range(6)]
    equal = TensorValue("onnx::MatMul_9", (3, 6), 1, struct.pack("<18f", *turned))
    other = TensorValue("onnx::MatMul_9", (3, 6), 1, struct.pack("<18f", *reversed(turned)))
    elsewhere = TensorValue("onnx::MatMul_9", (3, 6), 1, data_location=1)
    named = TensorValue("head.weight", (3, 6), 1, data_location=1)
    counted = []
    for head in (equal, other, elsewhere, named):
        model = tbgraph.load(language_model(head))
        cost = model.cost.under(0)
        counted.append((cost.bound_word("parameters"), cost.parameters, cost.macs))
    assert counted == [("", 18, 72), ("", 36, 72), ("at most ", 36, 72), ("", 36, 72)]
    (untied,) = tbgraph.diff(language_model(equal), language_model(other))
    assert (untied.name, untied.detail["key"], untied.detail["old"]) == ("head/weight", "tied", True)


def test_the_users_of_a_weight_are_those_of_its_second_copy_too() -> None:
    table = struct.unpack("<18f", floats("", 6, 3).raw_data or b"")
    turned = [table[row * 3 + column] for column in range(3) for row in range(6)]
    model = tbgraph.load(language_model(TensorValue("onnx::MatMul_9", (3, 6), 1, struct.pack("<18f", *turned))))
    graph = model.hierarchy.graph
    (weight,) = graph.meaning.variables()
    assert [graph.name[user] for user in weight.users] == ["wte/Gather", "head/M"]
    colouring = make_colouring(model.hierarchy, model.facts, "structure", "light")
    assert all(colouring.fill_of((model.hierarchy.name.index(name),)).hued for name in ("wte", "head"))


@each(("name", "weights"), [("t145", 1), ("145", 1), ("logit_scale", 2), ("head.scale", 2)])
def test_a_number_with_a_counter_for_a_name_is_none_of_the_weights(name: str, weights: int) -> None:
    product, scaled = node("MatMul", "x w.weight", "y"), node("Mul", f"y {name}", "z")
    tensors = floats("w.weight", 5, 3), TensorValue(name, (), 1, struct.pack("<f", 2.5))
    graph = GraphValue(nodes=(product, scaled), initializers=tensors, inputs=(value("x", 4, 5),))
    model = load(graph, producer="pytorch")
    assert len(model.hierarchy.graph.meaning.weights) == weights


def test_what_an_exporter_worked_out_makes_the_count_a_lower_bound() -> None:
    product, words = node("MatMul", "x w.weight", "y"), {}
    for name, numbers in (
        ("onnx::Mul_7", (1.5, 2.5, 3.5)),  # of a weight, maybe
        ("onnx::Mul_7", (0.0, -1e9, 0.0)),  # a mask
        ("/Constant_1_output_0", (1.5, 2.5, 3.5)),  # a number in the program
    ):
        tensor = TensorValue(name, (4, 1, 3), 1, struct.pack("<3f", *numbers) * 4)
        graph = GraphValue(
            nodes=(product, node("Mul", f"y {name}", "z")),
            initializers=(floats("w.weight", 5, 3), tensor),
            inputs=(value("x", 4, 2, 5),),
            outputs=(value("z", 4, 2, 3),),
            metadata=listed("w.weight"),
        )
        model = tbgraph.load(bytes_of(graph, producer="pytorch"))
        words[name, numbers] = model.cost.under(0).bound_word("parameters"), model.cost.under(0).parameters
    assert list(words.values()) == [("at least ", 15), ("", 15), ("", 15)]


def test_coefficients_in_attributes_are_a_bound() -> None:
    linear = node("LinearClassifier", "x", "label scores", post_transform="NONE")
    graph = GraphValue(nodes=(linear,), inputs=(value("x", 1, 6),), outputs=(value("scores", 1, 2),))
    cost = load(graph).cost.under(0)
    assert (cost.bound_word("parameters"), cost.parameters) == ("at least ", 0)


def test_truncated_model_says_where() -> None:
    data = (FIXTURES / "opset21.onnx").read_bytes()
    for stop in range(40, len(data), 97):
        with pytest.raises(ReadError):
            tbgraph.load(data[:stop])
    with pytest.raises(MalformedProto, match="not a whole ONNX model: it is cut short or damaged"):
        decode_model(data[:-1], "m.onnx")


def test_damaged_model_is_read_or_refused() -> None:
    data = (FIXTURES / "control_flow.onnx").read_bytes()
    for place in part(range(0, len(data), 13), 4):
        damaged = bytearray(data)
        damaged[place] ^= 0x55
        try:
            tbgraph.load(bytes(damaged)).render("json")
        except tbgraph.TbGraphError:
            continue


def test_texts_that_are_not_utf8_are_read() -> None:
    graph = GraphValue(nodes=(_in_module(node("Relu", "in", "out"), "act", "ReLU"),), inputs=(value("in", 1),))
    data = encode_message(ModelValue(8, graph=graph)).replace(b"in", b"\xff!").replace(b"ReLU", b"Re\xfeU")
    read = decode_model(data, "m.onnx").graph
    assert read is not None
    assert read.inputs[0].name == read.nodes[0].inputs[0] == "\ufffd!"
    names = [each.name for each in tbgraph.load(data).hierarchy.graph.graph_def.node]
    assert "Net/Re\ufffdU[act]/Relu" in names


def test_large_values_are_cut_out_of_nodes_too() -> None:
    large = TensorValue("w", (5_000,), 1, b"abcd" * 5_000)
    constant = NodeValue("", "Constant", outputs=("w",), attributes=(Attribute("value", 4, t=large),))
    inner = GraphValue(nodes=(constant, node("Relu", "w", "y")))
    graph = GraphValue(nodes=(node("If", "c", "z", then_branch=inner),), initializers=(large,))
    data = encode_message(ModelValue(8, graph=graph))
    read = decode_model(data, "m.onnx").graph
    assert read is not None
    body = read.nodes[0].attributes[0].g
    assert body is not None
    assert [each.op_type for each in body.nodes] == ["Constant", "Relu"]
    for tensor in (read.initializers[0], body.nodes[0].attributes[0].t):
        assert tensor is not None
        assert (tensor.name, tensor.dims, tensor.raw_data) == ("w", (5_000,), b"")
        assert data[slice(*tensor.span)] == large.raw_data


def test_nested_graphs_end() -> None:
    graph = GraphValue(nodes=(node("Relu", "x", "y"),))
    for _ in range(40):
        graph = GraphValue(nodes=(node("If", "c", "y", then_branch=graph),))
    with pytest.raises(MalformedProto, match="nested too deep"):
        load(graph)


def test_model_without_graph_is_refused() -> None:
    opened = open_bytes(encode_message(ModelValue(8)), ReadOptions())
    with pytest.raises(NoGraph, match="has no graph"):
        read_onnx(opened, ReadOptions())


def test_odd_graphs_are_drawn() -> None:
    """Cycles, values that nothing gives, names given twice, lying sizes, names of a megabyte."""
    long = "n" * 1_000_000
    graph = GraphValue(
        nodes=(
            node("Add", "b x", "a"),
            node("Relu", "a", "b", long),
            node("Conv", "nothing -", "b", kernel_shape=(-3, 0), pads=(1,)),
            node("Reshape", "b sizes", "c"),
            node("Concat", "", "d", axis=9),
            node("Slice", "c sizes sizes sizes sizes", "e"),
            node("", "", ""),
            node("Split", "c", "f g", axis=-9),
        ),
        initializers=(
            TensorValue("sizes", (2,), 7, struct.pack("<2q", -(2**62), 2**62)),
            TensorValue("w", (-4, 2**62), 1, b"1234"),
            TensorValue("", (1,), 99, b""),
        ),
        inputs=(value("x", -5, 2**62, "N"), value("x")),
        outputs=(value("y"), value("a")),
    )
    model = load(graph)
    assert model.render("svg")
    assert model.parameters == 0


def test_functions_that_call_themselves_end() -> None:
    function = FunctionValue("f", "d", "", ("x",), ("y",), (NodeValue("", "f", "d", "", ("x",), ("y",)),))
    graph = GraphValue(nodes=(NodeValue("", "f", "d", "", ("x",), ("y",)),), inputs=(value("x", 1),))
    assert load(graph, functions=(function,)).render("svg")


def test_newer_version_has_a_notice() -> None:
    graph = GraphValue(nodes=(node("Relu", "x", "y"),), inputs=(value("x", 1),), outputs=(value("y", 1),))
    assert [each.code for each in load(graph, ir_version=99).notices] == ["newer-version"]
    (notice,) = load(graph, opsets=(Opset("", 999), Opset("org.example", 1))).notices
    assert notice.message.startswith("opset 999 of ONNX is newer")


def test_a_kernel_that_the_exporter_computed_may_be_a_copy() -> None:
    """`x @ w`, then `@ w.t()` or `@ w.expand(…)`: the file has both, and the second call has no parameter."""
    for name in ("t", "expand_1"):
        graph = GraphValue(
            nodes=(
                _in_module(node("MatMul", "x w", "a"), "", "", "matmul(%x, %p_w)"),
                _in_module(node("MatMul", f"a {name}", "y"), "", "", f"matmul(%a, %{name})"),
            ),
            initializers=(floats("w", 3, 4), floats(name, 4, 3)),
            inputs=(value("x", 1, 3),),
            outputs=(value("y", 1, 3),),
            metadata=listed("w"),
        )
        cost = load(graph, producer="pytorch").cost.under(0)
        assert (cost.bound_word("parameters"), cost.parameters) == ("at most ", 24)


@each(("numbers", "word", "count"), [((0.0,) * 4, "at least ", 12), ((0.5, 0.25, 2.0, 1.0), "about ", 16)])
def test_a_literal_that_a_product_takes_is_a_state_or_may_be_a_weight(
    numbers: tuple[float, ...], word: str, count: int
) -> None:
    literal = TensorValue("/cell/Constant_output_0", (1, 4), 1, struct.pack("<4f", *numbers))
    graph = GraphValue(
        nodes=(node("Gemm", "/cell/Constant_output_0 cell.weight_hh", "h"), node("Add", "h x", "y")),
        initializers=(floats("cell.weight_hh", 4, 3), literal),
        inputs=(value("x", 1, 3),),
        outputs=(value("y", 1, 3),),
    )
    cost = load(graph, producer="pytorch").cost.under(0)
    assert (cost.bound_word("parameters"), cost.parameters) == (word, count)


def test_a_tensor_of_another_producer_that_may_be_a_weight_makes_the_count_a_lower_bound() -> None:
    """A token and positions beside a product; scales of a quantised tensor are settings."""
    nodes = (
        node("Concat", "cls x", "h", axis=1),
        node("Add", "h pos", "k"),
        node("QuantizeLinear", "k s z", "q", axis=2),
        node("DequantizeLinear", "q s z", "d", axis=2),
        node("MatMul", "d w", "y"),
    )
    quantised = floats("s", 8), TensorValue("z", (8,), 3, bytes(8))
    words = []
    for left_out in ((), ("cls", "pos")):
        tensors = (floats("cls", 1, 1, 8), floats("pos", 1, 5, 8), floats("w", 8, 3), *quantised)
        graph = GraphValue(
            nodes=nodes,
            initializers=tuple(each for each in tensors if each.name not in left_out),
            inputs=(value("x", 1, 4, 8), *(value(name, 1, 5, 8) for name in left_out)),
            outputs=(value("y", 1, 5, 3),),
        )
        cost = load(graph).cost.under(0)
        words.append((cost.bound_word("parameters"), cost.parameters))
    assert words == [("at least ", 24), ("", 24)]


def test_peepholes_of_a_recurrent_cell_are_parameters() -> None:
    graph = GraphValue(
        nodes=(node("LSTM", "x w r b - - - p", "y", hidden_size=5),),
        initializers=(floats("w", 1, 20, 4), floats("r", 1, 20, 5), floats("b", 1, 40), floats("p", 1, 15)),
        inputs=(value("x", 7, 3, 4),),
        outputs=(value("y", 7, 1, 3, 5),),
    )
    assert load(graph).cost.under(0).parameters == 20 * 9 + 40 + 15
