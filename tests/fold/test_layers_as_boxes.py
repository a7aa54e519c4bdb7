"""A layer with its bias, norm and activation is one box."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from graphviz_tb import Model, load
from graphviz_tb.fold.flow import layers as flow_layers
from graphviz_tb.fold.flow.box import Dag, FlowBox, contract_groups
from graphviz_tb.model.hierarchy import LAYER_ORIGIN, SERIES_ROW
from graphviz_tb.proto import GraphDef
from graphviz_tb.words.paper import PaperWords
from tests.fold.nameless import Network
from tests.fold.networks import Writer, formed


def layers(model: Model) -> list[list[str]]:
    """The labels of the parts of each layer that is a group."""
    hierarchy = model.hierarchy
    found = [row for row in range(len(hierarchy)) if hierarchy.how[row] == LAYER_ORIGIN]
    return [sorted(hierarchy.display_label(part) for part in hierarchy.children(row).tolist()) for row in found]


def keras(path: Path, *layers_of_net: tuple[str, str, list[str], dict[str, object]]) -> Model:
    """A Keras model of layers: class, name, names of inputs, settings."""

    def tensor(name: str) -> dict[str, object]:
        config = {"shape": [None, 8, 8, 8], "dtype": "float32", "keras_history": [name, 0, 0]}
        return {"class_name": "__keras_tensor__", "config": config}

    listed: list[dict[str, object]] = [
        {
            "class_name": "InputLayer",
            "name": "x",
            "config": {"name": "x", "batch_shape": [None, 8, 8, 8]},
            "inbound_nodes": [],
        }
    ]
    for kind, name, inputs, config in layers_of_net:
        fed = [tensor(each) for each in inputs]
        args = [fed] if len(fed) > 1 else fed
        listed.append(
            {
                "class_name": kind,
                "name": name,
                "config": {"name": name, **config},
                "inbound_nodes": [{"args": args, "kwargs": {}}],
            }
        )
    last = layers_of_net[-1][1]
    net = {"name": "net", "layers": listed, "input_layers": [["x", 0, 0]], "output_layers": [[last, 0, 0]]}
    path.write_text(json.dumps({"class_name": "Functional", "config": net}))
    return load(path)


CONV: dict[str, object] = {"filters": 8, "kernel_size": [3, 3], "padding": "same"}
# x ─▶ c1 ─▶ n1 ─▶ a1 ─▶ c2 ─▶ n2 ─▶ + ─▶ a2        x ─▶ +
BLOCK = (
    ("Conv2D", "c1", ["x"], CONV),
    ("BatchNormalization", "n1", ["c1"], {}),
    ("ReLU", "a1", ["n1"], {}),
    ("Conv2D", "c2", ["a1"], CONV),
    ("BatchNormalization", "n2", ["c2"], {}),
    ("Add", "sum", ["n2", "x"], {}),
    ("ReLU", "a2", ["sum"], {}),
)


def test_a_layer_takes_its_norm_and_activation_but_no_sum(tmp_path: Path) -> None:
    model = keras(tmp_path / "net.json", *BLOCK)
    assert layers(model) == [["a1", "c1", "n1"], ["c2", "n2"]]
    hierarchy = model.hierarchy
    row = next(row for row in range(len(hierarchy)) if hierarchy.how[row] == LAYER_ORIGIN)
    assert hierarchy.display_label(row) == "c1"
    assert PaperWords(hierarchy).words_of_row(row) == "3×3, 8 · BN, ReLU"
    boxes = {box.row: box for box in model.picture().scene.boxes}
    assert not boxes[row].open
    assert boxes[row].kind == "scope"  # drawn as one layer, not as a pile


def test_repetitions_begin_with_a_layer_and_hold_its_norm_of_several_ops() -> None:
    # x ─▶ (conv ─▶ norm of seven ops ─▶ Relu) ×6 ─▶ Mean: what the norm computes with weights alone leads nothing
    w = Writer("nameless", random.Random(4))
    w.style, w.bias, w.width = "const", False, 8
    x = w.op("Placeholder", name="x")
    for _ in range(6):
        mean, variance, scale, shift = (w.weight(name, 8) for name in ("mean", "variance", "scale", "shift"))
        x = w.conv(x, 8, 3)
        factor = w.op("Mul", w.op("Rsqrt", w.op("AddV2", variance, w.constant())), scale)
        rest = w.op("Sub", shift, w.op("Mul", mean, factor))
        x = w.op("Relu", w.op("AddV2", w.op("Mul", x, factor), rest))
    w.op("Mean", x, w.constant(2, dtype=3))
    hierarchy = load(formed(w.graph, "nameless", random.Random(4))).hierarchy
    (stack,) = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == SERIES_ROW]
    types = hierarchy.graph.op_types
    for layer in hierarchy.children(stack).tolist():
        nodes = [node for node in hierarchy.node[layer : hierarchy.end[layer]].tolist() if node >= 0]
        held = [types[hierarchy.graph.op[node]] for node in nodes]
        assert {"Conv2D", "Rsqrt", "Relu"} <= {*held}
        assert held.count("Conv2D") == 1


def test_what_feeds_several_ends_a_layer(tmp_path: Path) -> None:
    # c1 feeds n1 and the sum: it stands alone.
    other = ("Add", "sum", ["n2", "c1"], {})
    model = keras(tmp_path / "net.json", *BLOCK[:5], other, BLOCK[6])
    assert layers(model) == [["c2", "n2"]]


def test_a_group_that_is_the_layer_needs_no_box_in_it(tmp_path: Path) -> None:
    assert layers(keras(tmp_path / "net.json", *BLOCK[:3])) == []


def test_tensorboard_has_no_layers(tmp_path: Path) -> None:
    keras(tmp_path / "net.json", *BLOCK)
    assert layers(load(tmp_path / "net.json", preset="tensorboard")) == []


def test_unrolled_cells_are_whole() -> None:
    # x, h ─▶ concat ─▶ product ─▶ + ─▶ split ─▶ gates ─▶ c = forget · c + in · new ─▶ h = out · tanh(c), many times
    w = Writer("scopes", random.Random(5))
    x, c = w.op("Placeholder", name="x"), w.op("Placeholder", name="c")
    weight, bias, h = w.weight("kernel", 32, 64), w.weight("bias", 64), c
    for _ in range(4):
        joined = w.op("ConcatV2", x, h, w.constant(name="axis", dtype=3))
        sums = w.op("BiasAdd", w.op("MatMul", joined, weight), bias)
        split = w.op("Split", w.constant(name="dim", dtype=3), sums)
        forget = w.op("Sigmoid", w.op("AddV2", f"{split}:2", w.constant(name="one")))
        new = w.op("Mul", w.op("Sigmoid", split), w.op("Tanh", f"{split}:1"))
        c = w.op("AddV2", w.op("Mul", c, forget), new)
        h = w.op("Mul", w.op("Tanh", c), w.op("Sigmoid", f"{split}:3"))
    w.op("Identity", h, name="out")
    for model, times in (load(w.graph), 4), (load("fixtures/real/lstm_static_unrolled.pb"), 8):
        hierarchy = model.hierarchy
        (stack,) = np.flatnonzero(hierarchy.kind == SERIES_ROW).tolist()
        cells = hierarchy.children(stack).tolist()
        assert [hierarchy.op_count(cell) for cell in cells] == [14] * times


def test_an_activation_with_a_gradient_of_its_own_is_part_of_the_layer() -> None:
    # As TensorFlow traces swish: the product is passed on with what its gradient needs.
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
    before = "x"
    for at in range(20):
        graph.node.add(name=f"w{at}", op="VariableV2")
        graph.node.add(name=f"a{at}", op="Conv2D", input=[before, f"w{at}"])
        graph.node.add(name=f"b{at}", op="Sigmoid", input=[f"a{at}"])
        graph.node.add(name=f"c{at}", op="Mul", input=[f"a{at}", f"b{at}"])
        graph.node.add(name=f"d{at}", op="Identity", input=[f"c{at}"])
        graph.node.add(name=f"e{at}", op="IdentityN", input=[f"c{at}", f"a{at}"])
        before = f"e{at}"
    assert layers(load(graph)) == [[f"{letter}{at}" for letter in "abcde"] for at in range(20)]


def test_a_layer_of_unknown_size_says_what_it_holds() -> None:
    # x ─▶ Conv2D ─▶ FusedBatchNormV3 ─▶ Relu, twice, with weights that are arguments without shapes
    w = Writer("scopes", random.Random(5))
    w.style, w.bias = "argument", False
    x, w.width = w.op("Placeholder", name="x"), 8
    for name in "ab":
        x = w.act(w.norm(w.conv(x, 8, name=f"{name}_conv"), name=f"{name}_bn"), name=f"{name}_act")
    for node in w.graph.node:
        if "shape" in node.attr:
            del node.attr["shape"]
    hierarchy = load(w.graph).hierarchy
    said = {PaperWords(hierarchy).words_of_row(row) for row in np.flatnonzero(hierarchy.how == LAYER_ORIGIN).tolist()}
    assert said == {"Conv2D · BN, ReLU"}


def test_weights_that_are_worked_out_for_a_bias_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    groups: list[tuple[Sequence[int], FlowBox]] = []

    def contract(dag: Dag, made: Sequence[tuple[Sequence[int], FlowBox]]) -> Dag:
        groups.extend(made)
        return contract_groups(dag, made)

    monkeypatch.setattr(flow_layers, "contract_groups", contract)
    # Mul ◀─ Abs, Mul ◀─ Sqrt ◀─ Abs: both ways lead to one op
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
    before = "x"
    for at in range(3):
        for name, dims in ((f"w{at}", (3, 3, 8, 8)), (f"beta{at}", (8,))):
            shape = {"shape": {"dim": [{"size": size} for size in dims]}}
            graph.node.add(name=name, op="VariableV2", attr={"shape": shape, "dtype": {"type": 1}})
        graph.node.add(name=f"conv{at}", op="Conv2D", input=[before, f"w{at}"])
        graph.node.add(name=f"abs{at}", op="Abs", input=[f"beta{at}"])
        graph.node.add(name=f"sqrt{at}", op="Sqrt", input=[f"abs{at}"])
        graph.node.add(name=f"mul{at}", op="Mul", input=[f"abs{at}", f"sqrt{at}"])
        graph.node.add(name=f"bias{at}", op="BiasAdd", input=[f"conv{at}", f"mul{at}"])
        graph.node.add(name=f"pool{at}", op=f"Pool{at}", input=[f"bias{at}"])
        before = f"pool{at}"
    parts = ("abs", "bias", "conv", "mul", "sqrt")
    assert layers(load(graph)) == [[f"{name}{at}" for name in parts] for at in range(3)]
    assert [(len(members), box.ops) for members, box in groups] == [(5, 5)] * 3


def test_two_roots_for_one_op_are_no_two_norms() -> None:
    # x ─▶ ClipByValue ─▶ Conv2D ─▶ Relu; both bounds are roots of weights
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}, {"name": "w", "op": "VariableV2"}])
    for at in "ab":
        graph.node.add(name=f"v{at}", op="VariableV2")
        graph.node.add(name=f"net/abs{at}", op="Abs", input=[f"v{at}"])
        graph.node.add(name=f"net/rsqrt{at}", op="Rsqrt", input=[f"net/abs{at}"])
    graph.node.add(name="net/clip", op="ClipByValue", input=["x", "net/rsqrta", "net/rsqrtb"])
    graph.node.add(name="net/conv", op="Conv2D", input=["net/clip", "w"])
    graph.node.add(name="net/relu", op="Relu", input=["net/conv"])
    hierarchy = load(graph).hierarchy
    labels = [hierarchy.display_label(row) for row in hierarchy.children(hierarchy.name.index("net")).tolist()]
    assert labels == ["absa", "rsqrta", "absb", "rsqrtb", "clip", "conv", "relu"]


def dilated(made: Network, top: str, dilation: int, kind: str) -> str:
    """A convolution of a row, whose data is cut into blocks where it is dilated, and an activation."""
    top = made.op("SpaceToBatchND", top) if dilation > 1 else top
    top = made.op("Squeeze", made.op("Conv2D", made.op("ExpandDims", top)))
    return made.op(kind, made.op("BiasAdd", made.op("BatchToSpaceND", top) if dilation > 1 else top))


def test_layers_are_alike_whatever_the_form_of_their_data() -> None:
    """Of two stacks of dilated convolutions, each first is not dilated."""
    made = Network()
    top = made.op("Conv2D", made.op("Placeholder"))
    for dilation in (1, 2, 4, 8) * 2:
        gated = made.op("Mul", dilated(made, top, dilation, "Tanh"), dilated(made, top, dilation, "Sigmoid"))
        top = made.op("AddV2", made.op("Conv2D", gated), top)
    made.chain(top, ("Relu", "Conv2D", "Softmax"))
    hierarchy = made.hierarchy()
    assert [len(hierarchy.children(row)) for row in range(len(hierarchy)) if hierarchy.kind[row] == SERIES_ROW] == [8]
    types = hierarchy.graph.op_types
    for row in np.flatnonzero(hierarchy.how == LAYER_ORIGIN).tolist():
        inside = [types[hierarchy.graph.op[hierarchy.node[part]]] for part in hierarchy.children(row).tolist()]
        assert inside.count("SpaceToBatchND") == inside.count("BatchToSpaceND")


def test_an_axis_dropped_behind_a_layer_alone_is_no_part_of_it() -> None:
    made = Network()
    top = made.chain(made.op("Placeholder"), ("Conv2D", "Relu", "Conv2D", "Squeeze", "Softmax"))
    hierarchy = made.hierarchy()
    row = int(hierarchy.row_of_node[[*hierarchy.graph.op_types].index("Squeeze")]) if top else 0
    assert hierarchy.how[hierarchy.parent[row]] != LAYER_ORIGIN
