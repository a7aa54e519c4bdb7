"""A law: each word of a paper, read back, equals what the graph says, over networks of every form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.model.hierarchy import OP_ROW, Hierarchy
from graphviz_tb.ops.signatures import kernel_size_between
from graphviz_tb.proto import GraphDef
from graphviz_tb.words.paper import PaperWords
from tests.each import each
from tests.effort import part

FIXTURES = Path(__file__).parents[2] / "fixtures"
NETWORKS = (
    "shapes/ResNet50.pb.gz",
    "shapes/MobileNetV3Small.pb.gz",
    "shapes/InceptionV3.pb.gz",
    "shapes/EfficientNetB0.pb.gz",
    "shapes/ConvNeXtTiny.pb.gz",
    "shapes/VGG16.pb.gz",
    "real/transformer_block_v2.pb",
    "real/frozen_mlp.pb",
    "real/gan_scopes.pb",
    "real/lstm_dynamic_rnn.pb",
    "real/cifar10_shapes.pb",
    "models/keras3/cnn.json",
    "models/keras3/attention.json",
    "models/keras2/rnn.json",
)
CONVOLUTION = re.compile(r"(?:dw )?k?(?P<kernel>\d+(?:×\d+)*)(?:, (?P<gives>[\d\u2009]+))?(?:, (?P<more>.*))?")
DENSE = re.compile(r"(?:(?P<takes>[\d\u2009]+) )?→ (?P<gives>[\d\u2009]+)(?:, .*)?")


def whole(text: str) -> int:
    return int(text.replace("\u2009", ""))


def kernel_of(hierarchy: Hierarchy, node: int) -> tuple[int, ...]:
    """The shape of the one kernel that a node multiplies with; () where there is none."""
    graph = hierarchy.graph
    shapes = dict(graph.meaning.shapes())
    first, stop = hierarchy.first_input_edge[node : node + 2].tolist()
    origins = [int(graph.meaning.origin[graph.source[edge]]) for edge in range(first, stop)]
    kernels = [shape for origin in origins if origin >= 0 and (shape := shapes.get(origin)) and len(shape) > 1]
    return tuple(size or 0 for size in kernels[0]) if kernels else ()


def layers_of(hierarchy: Hierarchy) -> Iterator[tuple[str, str, tuple[int, ...], Any]]:
    """Each op with words: its words, type, kernel and attributes."""
    paper, graph = PaperWords(hierarchy), hierarchy.graph
    for row in range(1, len(hierarchy)):
        node = int(hierarchy.node[row])
        if hierarchy.kind[row] != OP_ROW or hierarchy.mark[row] or not (said := paper.words_of_row(row)):
            continue
        yield said.partition(" · ")[0], graph.op_types[graph.op[node]], kernel_of(hierarchy, node), graph.node_def(node)


@each("path", part(NETWORKS, 3))
def test_words_of_layers_are_those_of_their_kernels(path: str) -> None:
    asked = 0
    for said, op, kernel, definition in layers_of(load(FIXTURES / path).hierarchy):
        if op in ("Conv2D", "DepthwiseConv2dNative") and kernel:
            read = CONVOLUTION.fullmatch(said)
            assert read is not None, said
            assert tuple(map(int, read["kernel"].split("×"))) == kernel[:-2]
            assert read["gives"] is None or whole(read["gives"]) == kernel[-1]
            strides = [*definition.attr["strides"].list.i][1:3]
            stride = re.search(r"/(\d+)(?:×(\d+))?", read["more"] or "")
            across = [int(stride[1]), int(stride[2] or stride[1])] if stride else [1, 1]
            assert across == strides
            asked += 1
        elif op == "MatMul" and len(kernel) == 2:
            read = DENSE.fullmatch(said)
            assert read is not None, said
            assert whole(read["gives"]) == kernel[0 if definition.attr["transpose_b"].b else 1]
            asked += 1
        elif op.startswith(("Gather", "ResourceGather")) and len(kernel) == 2:
            assert [whole(part) for part in said.split(" × ")] == list(kernel)
            asked += 1
    assert asked or path.endswith(".json")


@each("path", [path for path in NETWORKS if path.endswith(".json")])
def test_words_of_keras_layers_are_their_settings(path: str) -> None:
    hierarchy = load(FIXTURES / path).hierarchy
    paper = PaperWords(hierarchy)
    for name, layer in hierarchy.graph.layers.items():
        said = paper.words_of_row(hierarchy.name.index(name)) or ""
        config = layer.config
        if layer.class_name == "Conv2D":
            assert said.startswith(f"{'×'.join(map(str, config['kernel_size']))}, {config['filters']}")
            assert (f"/{config['strides'][0]}" in said) == (max(config["strides"]) > 1)
        elif layer.class_name == "Dense":
            assert f"→ {config['units']}" in said
        elif layer.class_name == "MultiHeadAttention":
            assert said == f"{config['num_heads']} heads × {config['key_dim']}"
        elif layer.class_name in ("LSTM", "GRU"):
            assert said == f"{layer.class_name} {config['units']}"
        elif layer.class_name == "Embedding":
            assert [whole(part) for part in said.split(" × ")] == [config["input_dim"], config["output_dim"]]
        elif layer.class_name == "Dropout":
            assert said == f"p {config['rate']:g}"


def test_words_of_a_trace_are_those_of_its_shapes() -> None:
    hierarchy = load(FIXTURES / "logdirs" / "torch_transformer").hierarchy
    paper = PaperWords(hierarchy)
    said = {
        hierarchy.name[row].rpartition("/")[2]: paper.words_of_row(row)
        for row in range(1, len(hierarchy))
        if "TransformerEncoderLayer[0]" in hierarchy.name[row] and hierarchy.can_open(row)
    }
    assert said["MultiheadAttention[self_attn]"] == "4 heads × 8"
    assert said["TransformerEncoderLayer[0]"] == "4 heads × 8, 32 → 64 → 32, ReLU"
    asked = 0
    for words, op, _, definition in layers_of(hierarchy):
        if op == "aten::linear":
            read = DENSE.fullmatch(words)
            assert read is not None
            assert whole(read["gives"]) == definition.attr["_output_shapes"].list.shape[0].dim[-1].size
            asked += 1
    assert asked


@each(
    ("op", "equation", "said"),
    [
        ("aten::bmm", "", "8 experts, top 2"),
        ("aten::einsum", "abc,acd->abd", "8 experts, top 2"),
        ("aten::einsum", "abc,cd->abd", "5 → 7, softmax"),  # a dense layer
        ("aten::einsum", "abc,...->abd", None),  # nothing is known of its kernel
    ],
)
def test_experts_of_a_trace_are_counted_by_the_shapes_of_results(op: str, equation: str, said: str | None) -> None:
    # x ─▶ product with a kernel for each of 8 experts ─▶ y, and the top 2 of its results
    graph = GraphDef()
    for name, kind, inputs, sizes in (
        ("input/x", "IO Node", [], (8, 4, 5)),
        ("moe/w", "prim::GetAttr", [], ()),
        ("moe/both", "prim::ListConstruct", ["input/x", "moe/w"], ()),
        ("moe/text", "prim::Constant", [], ()),
        ("moe/two", "prim::Constant", [], ()),
        ("moe/y", op, ["moe/text", "moe/both"] if equation else ["input/x", "moe/w"], (8, 4, 7)),
        ("moe/gate", "aten::softmax", ["moe/y"], (8, 4, 7)),
        ("moe/top", "aten::topk", ["moe/gate", "moe/two"], (8, 4, 2)),
    ):
        node = graph.node.add(name=name, op=kind, input=inputs)
        if sizes:
            node.attr["_output_shapes"].list.shape.add(dim=[{"size": size} for size in sizes])
    for name, value in (("moe/text", equation), ("moe/two", "2")):
        next(node for node in graph.node if node.name == name).attr["attr"].s = f"{{ value : {value}}}".encode()
    hierarchy = load(graph).hierarchy
    known = PaperWords(hierarchy).words_of_row(hierarchy.name.index("moe"))
    assert (known == said) if said else "experts" not in (known or "") and "→" not in (known or "")


@each("op", ["aten::_grouped_mm", "aten::_convolution"])
def test_a_layer_of_a_trace_whose_kernel_has_no_shape_hides_no_other(op: str) -> None:
    # x ─▶ router: a number for each of 8 experts; x ─▶ experts of unknown size: together no `5 → 8`
    graph = GraphDef()
    for name, kind, inputs, size in (
        ("input/x", "IO Node", [], 5),
        ("moe/router/w", "prim::GetAttr", [], 0),
        ("moe/router/scores", "aten::linear", ["input/x", "moe/router/w"], 8),
        ("moe/kernels", "prim::GetAttr", [], 0),
        ("moe/out", op, ["input/x", "moe/kernels"], 0),
        ("moe/y", "aten::mul", ["moe/out", "moe/router/scores"], 0),
    ):
        node = graph.node.add(name=name, op=kind, input=inputs)
        if size:
            node.attr["_output_shapes"].list.shape.add(dim=[{"size": 4}, {"size": size}])
    hierarchy = load(graph).hierarchy
    paper = PaperWords(hierarchy)
    assert paper.words_of_row(hierarchy.name.index("moe/router")) == "5 → 8"
    assert "5 → 8" not in (paper.words_of_row(hierarchy.name.index("moe")) or "")


@each(
    ("op", "heads", "said"),
    [
        ("aten::_native_multi_head_attention", "8", "8 heads × 32"),
        ("aten::_transformer_encoder_layer_fwd", "8", "8 heads × 32"),
        ("aten::_native_multi_head_attention", "0", None),
        ("aten::_native_multi_head_attention", "None", None),
    ],
)
def test_attention_that_is_one_op_of_a_trace_says_the_heads_that_it_is_given(
    op: str, heads: str, said: str | None
) -> None:
    graph = GraphDef()
    inputs = ["input/x"] * (3 if "native" in op else 1)
    for name, kind, taken in (
        ("input/x", "IO Node", []),
        ("net/width", "prim::Constant", []),
        ("net/heads", "prim::Constant", []),
        ("net/weight", "prim::GetAttr", []),
        ("net/attention", op, [*inputs, "net/width", "net/heads", "net/weight"]),
        ("net/dropout", "aten::dropout", ["net/attention"]),
    ):
        graph.node.add(name=name, op=kind, input=taken)
    for node in graph.node:
        value = {"net/width": "256", "net/heads": heads}.get(node.name)
        if value is not None:
            node.attr["attr"].s = f"{{ value : {value}}}".encode()
    hierarchy = load(graph).hierarchy
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("net")) == said


def test_parameters_of_a_trace_without_paths_are_not_one() -> None:
    # Numbered names, as after an export without scopes: each layer reads another weight.
    traced = load(FIXTURES / "logdirs" / "torch_transformer").hierarchy.graph.graph_def
    number = {node.name: f"n{place}" for place, node in enumerate(traced.node)}
    bare = GraphDef()
    for node in traced.node:
        copy = bare.node.add()
        copy.CopyFrom(node)
        copy.name = number[node.name]
        copy.ClearField("input")
        copy.input.extend(number.get(source, source) for source in node.input)
    hierarchy = load(bare).hierarchy
    paper = PaperWords(hierarchy)
    said = [paper.words_of_row(row) or "" for row in range(1, len(hierarchy))]
    assert any("32 → 64 → 32, ReLU" in words for words in said)
    assert not any("shared weights" in words for words in said)


def test_a_kernel_that_several_sizes_fit_is_not_said() -> None:
    assert kernel_size_between(32, 32, 1, 1, 1) == 3
    assert kernel_size_between(32, 16, 2, 1, 1) == 0  # 3 or 4


# What is not proven is not said: one op graph each, with the words of its last group.


def const(name: str, *values: float, whole_numbers: bool = False) -> dict[str, object]:
    dims = [{"size": len(values)}] if len(values) > 1 else []
    key, kind = ("int_val", 3) if whole_numbers else ("float_val", 1)
    tensor = {"dtype": kind, "tensor_shape": {"dim": dims}, key: list(values)}
    return {"name": name, "op": "Const", "attr": {"value": {"tensor": tensor}}}


def op(name: str, kind: str, *inputs: str) -> dict[str, object]:
    return {"name": name, "op": kind, "input": list(inputs)}


X = op("x", "Placeholder")
Y = op("y", "Placeholder")
SIGMOID = [X, Y, op("g/sig", "Sigmoid", "x")]
GATES: dict[str, tuple[list[dict[str, object]], str | None]] = {
    "silu": ([*SIGMOID, op("g/out", "Mul", "x", "g/sig")], "SiLU"),
    "quick gelu": (
        [
            X,
            const("g/factor", 1.702),
            op("g/scaled", "Mul", "x", "g/factor"),
            op("g/sig", "Sigmoid", "g/scaled"),
            op("g/out", "Mul", "x", "g/sig"),
        ],
        "GELU",
    ),
    "silu with a factor of one": (
        [
            X,
            const("g/beta", 1.0),
            op("g/scaled", "Mul", "g/beta", "x"),
            op("g/sig", "Sigmoid", "g/scaled"),
            op("g/out", "Mul", "x", "g/sig"),
        ],
        "SiLU",
    ),
    "swish with another factor": (
        [
            X,
            const("g/beta", 2.0),
            op("g/scaled", "Mul", "g/beta", "x"),
            op("g/sig", "Sigmoid", "g/scaled"),
            op("g/out", "Mul", "x", "g/sig"),
        ],
        "swish",
    ),
    "squared relu": ([X, op("g/act", "Relu", "x"), op("g/out", "Square", "g/act")], "ReLU²"),
    "squared relu as a power": (
        [X, const("g/two", 2.0), op("g/act", "Relu", "x"), op("g/out", "Pow", "g/act", "g/two")],
        "ReLU²",
    ),
    "squared relu as a product": ([X, op("g/act", "Relu", "x"), op("g/out", "Mul", "g/act", "g/act")], "ReLU²"),
    "relu that another group squares": ([X, op("g/act", "Relu", "x"), op("out", "Square", "g/act")], "ReLU"),
    "cubed relu": (
        [X, const("g/three", 3.0), op("g/act", "Relu", "x"), op("g/out", "Pow", "g/act", "g/three")],
        "ReLU",
    ),
    "relu that is also used as it is": (
        [X, op("g/act", "Relu", "x"), op("g/two", "Square", "g/act"), op("g/out", "AddV2", "g/act", "g/two")],
        "ReLU",
    ),
    "prelu": (
        [
            *[X, const("g/alpha", 0.1, 0.2), op("g/neg", "Neg", "x"), op("g/act", "Relu", "x")],
            *[op("g/low", "Relu", "g/neg"), op("g/scaled", "Mul", "g/alpha", "g/low")],
            op("g/out", "Sub", "g/act", "g/scaled"),
        ],
        "PReLU",
    ),
    "relu of both signs": (
        [
            *[X, op("g/neg", "Neg", "x"), op("g/act", "Relu", "x"), op("g/low", "Relu", "g/neg")],
            op("g/out", "ConcatV2", "g/act", "g/low"),
        ],
        "ReLU",
    ),
    "gate of another tensor": ([*SIGMOID, op("g/out", "Mul", "y", "g/sig")], "sigmoid"),
    "gelu": (
        [
            X,
            const("g/half", 0.5),
            const("g/root", 1.4142135),
            const("g/one", 1.0),
            op("g/div", "RealDiv", "x", "g/root"),
            op("g/erf", "Erf", "g/div"),
            op("g/plus", "AddV2", "g/erf", "g/one"),
            op("g/scaled", "Mul", "g/half", "x"),
            op("g/out", "Mul", "g/scaled", "g/plus"),
        ],
        "GELU",
    ),
    "an error function alone": ([X, op("g/erf", "Erf", "x"), op("g/out", "Neg", "g/erf")], None),
    "hard swish": (
        [
            X,
            const("g/three", 3.0),
            const("g/sixth", 1 / 6),
            op("g/plus", "AddV2", "x", "g/three"),
            op("g/clip", "Relu6", "g/plus"),
            op("g/scaled", "Mul", "g/clip", "g/sixth"),
            op("g/out", "Mul", "x", "g/scaled"),
        ],
        "hard swish",
    ),
    "a shifted clip is not ReLU6": (
        [X, const("g/three", 3.0), op("g/plus", "AddV2", "x", "g/three"), op("g/clip", "Relu6", "g/plus")],
        None,
    ),
    "tanh of a polynomial": (
        [
            X,
            const("g/three", 3.0),
            const("g/small", 0.044715),
            const("g/root", 0.7978),
            const("g/one", 1.0),
            op("g/cube", "Pow", "x", "g/three"),
            op("g/part", "Mul", "g/cube", "g/small"),
            op("g/sum", "AddV2", "x", "g/part"),
            op("g/inner", "Mul", "g/sum", "g/root"),
            op("g/tanh", "Tanh", "g/inner"),
            op("g/plus", "AddV2", "g/tanh", "g/one"),
            op("g/out", "Mul", "x", "g/plus"),
        ],
        "GELU",
    ),
    "an enlarged image": (
        [
            X,
            const("g/two", 2, 2, whole_numbers=True),
            op("g/shape", "StridedSlice", "x"),
            op("g/size", "Mul", "g/shape", "g/two"),
            op("g/resize", "ResizeNearestNeighbor", "x", "g/size"),
        ],
        "↑2 nearest",
    ),
    "an image of another size may be smaller": (
        [X, const("g/size", 8, 8, whole_numbers=True), op("g/resize", "ResizeBilinear", "x", "g/size")],
        "bilinear 8×8",
    ),
}


@each("case", sorted(GATES))
def test_only_what_is_proven_is_said(case: str) -> None:
    from graphviz_tb.proto import GraphDef

    nodes, expected = GATES[case]
    hierarchy = load(GraphDef(node=nodes)).hierarchy  # type: ignore[arg-type]
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("g")) == expected


@pytest.mark.parametrize("shared", [False, True])
def test_one_weight_in_two_layers_is_one_layer(shared: bool) -> None:
    """Two uses of a weight are no chain: `8 → 8 → 8` would be two layers."""
    from graphviz_tb.proto import GraphDef
    from tests.words.test_paper_words import product, weight

    two = "one_kernel" if shared else "two_kernel"
    nodes = [*product("g/one", "x", 8, 8), *([] if shared else [weight("g/two_kernel", 8, 8)])]
    nodes = [X, *nodes, op("g/act", "Relu", "g/one"), op("g/two", "MatMul", "g/act", f"g/{two}")]
    hierarchy = load(GraphDef(node=nodes)).hierarchy  # type: ignore[arg-type]
    said = PaperWords(hierarchy).words_of_row(hierarchy.name.index("g"))
    assert said == ("8 → 8, ReLU" if shared else "8 → 8 → 8, ReLU")
