"""Graphs as PyTorch writes them: parameters, numbers and lists are marks, ops bear the name of their kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.interpret.pytorch import pytorch_label
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.options import FlattenOptions
from graphviz_tb.proto import GraphDef, NodeDef
from tests.conftest import FIXTURES
from tests.each import each
from tests.flat import flatten
from tests.properties import laws

TRANSFORMER = FIXTURES / "logdirs" / "torch_transformer"
PAIR = FIXTURES / "logdirs" / "torch_pair"


def node(name: str, op: str, *inputs: str, attr: str = "{}") -> dict[str, object]:
    return {"name": name, "op": op, "input": inputs, "attr": {"attr": {"s": attr.encode()}}}


def graph_of(*nodes: dict[str, object], tensorboard: bool = False) -> Graph:
    return flatten(GraphDef(node=nodes), FlattenOptions(tensorboard=tensorboard))


def ordinary(graph: Graph) -> list[str]:
    return [name for name, mark in zip(graph.name, graph.mark, strict=True) if mark == Mark.NONE]


# x ─▶ size(0) ─▶ Int ─┐
#                  8 ──┴▶ [ , ] ─▶ view ◀─ x
RESHAPE = (
    node("input/x", "IO Node"),
    node("M/1", "prim::Constant", attr="{ value : 0}"),
    node("M/2", "aten::size", "input/x", "M/1"),
    node("M/3", "prim::NumToTensor", "M/2"),
    node("M/4", "aten::Int", "M/3"),
    node("M/5", "prim::Constant", attr="{ value : 8}"),
    node("M/6", "prim::ListConstruct", "M/4", "M/5"),
    node("M/7", "aten::view", "input/x", "M/6"),
)


def test_the_counting_of_sizes_is_one_mark() -> None:
    graph = graph_of(*RESHAPE)
    assert ordinary(graph) == ["input/x", "M/7"]
    assert graph.edge_count == 2 + 1 + 1 + 2 + 2
    assert [graph.name[mark] for mark in graph.beside.mark] == ["M/6"]
    assert {graph.name[mark]: [graph.name[at] for at in owners] for mark, owners in graph.within.items()} == {
        "M/1": ["M/2"],
        "M/2": ["M/3"],
        "M/3": ["M/4"],
        "M/4": ["M/6"],
        "M/5": ["M/6"],
    }
    assert graph.labels[6] == "[size, 8]"
    assert graph.labels[7] == "view"


def test_lists_of_tensors_and_sums_of_weights_stay_ops() -> None:
    graph = graph_of(
        node("input/x", "IO Node"),
        node("M/w/w", "prim::GetAttr", "M/w/self", attr="{ name :  w }"),
        node("M/v/v", "prim::GetAttr", "M/v/self", attr="{ name :  v }"),
        node("M/1", "aten::add", "M/w/w", "M/v/v"),
        node("M/2", "prim::ListConstruct", "M/1", "input/x"),
        node("M/3", "prim::ListConstruct", "M/w/w", "M/v/v"),
        node("M/4", "aten::lstm", "M/2", "M/3"),
    )
    assert ordinary(graph) == ["input/x", "M/1", "M/2", "M/4"]
    assert graph.labels[5] == "[w, v]"
    assert not graph.notices


def test_a_list_that_never_ends_is_an_op() -> None:
    graph = graph_of(
        node("1", "prim::ListConstruct", "2"), node("2", "prim::ListConstruct", "1"), node("3", "aten::cat", "1")
    )
    assert ordinary(graph) == ["1", "2", "3"]


def test_what_nobody_uses_stays_an_op() -> None:
    graph = graph_of(*RESHAPE[:7])
    assert "M/6" in ordinary(graph)


@each(
    ("op", "attr", "label"),
    [
        ("prim::Constant", "{ value : 0.1}", "0.1"),
        ("prim::Constant", "{ value :  trunc }", "trunc"),
        ("prim::Constant", "{ value : 9223372036854775807}", "end"),
        ("prim::Constant", "{}", "None"),
        ("prim::Constant", "\x00", "None"),
        ("prim::GetAttr", "{ name :  weight }", "weight"),
        ("prim::GetAttr", "", "parameter"),
        ("aten::_convolution", "{}", "convolution"),
        ("torchvision::nms", "{}", "nms"),
        ("aten::", "{}", "aten::"),
        ("prim::Constant", "{ value : " + "x" * 99 + "}", "x" * 39 + "…"),
    ],
)
def test_labels(op: str, attr: str, label: str) -> None:
    graph = graph_of(
        node("530", op, attr=attr), node("531", "aten::cat", "530"), node("output/output.1", "IO Node", "531")
    )
    assert graph.labels == {0: label, 1: "cat", 2: "output.1"}


def test_nested_lists_have_short_labels() -> None:
    nodes = [node("0", "prim::Constant", attr="{ value : 1}")]
    nodes += [node(str(at), "prim::ListConstruct", *[str(at - 1)] * 8) for at in range(1, 60)]
    assert max(map(len, graph_of(*nodes).labels.values())) == 40


def test_a_long_chain_of_helpers_is_quick() -> None:
    nodes = [node("0", "prim::Constant")]
    nodes += [node(str(at), "aten::Int", str(at - 1)) for at in range(1, 20_001)]
    graph = graph_of(*nodes, node("end", "aten::relu", "20000"))
    assert ordinary(graph) == ["end"]


def test_other_inputs_that_name_nothing_are_told() -> None:
    graph = graph_of(node("w", "prim::GetAttr", "self"), node("y", "aten::relu", "w", "nothing"))
    assert [(notice.code, notice.where, notice.count) for notice in graph.notices] == [("unknown-input", "nothing", 1)]


def test_the_tensorboard_preset_knows_nothing_of_this() -> None:
    graph = graph_of(*RESHAPE, tensorboard=True)
    assert not graph.labels
    kept = [name for name in ordinary(graph) if graph.kept[graph.name.index(name)]]
    assert kept == ["input/x", "M/2", "M/3", "M/4", "M/7"]  # any type with "Const" in it is a constant there


def scopes(model: Model) -> list[str]:
    hierarchy = model.hierarchy
    return [name for name, kind in zip(hierarchy.name, hierarchy.kind, strict=True) if name and kind == 0]


def test_a_transformer_reads_like_its_modules() -> None:
    model = load(TRANSFORMER)
    assert not model.notices
    layer = "Classifier/TransformerEncoder[encoder]/TransformerEncoderLayer[0]"
    assert {name.removeprefix(layer + "/") for name in scopes(model) if name.startswith(layer + "/")} == {
        "MultiheadAttention[self_attn]",
        *("Dropout[dropout]", "Dropout[dropout1]", "Dropout[dropout2]"),
        *("LayerNorm[norm1]", "LayerNorm[norm2]", "Linear[linear1]", "Linear[linear2]"),
    }
    assert not [name for name in scopes(model) if "ModuleList" in name]  # it held parameters only
    hierarchy = model.hierarchy
    top = [hierarchy.display_label(row) for row in hierarchy.children(0)]
    assert top == ["input/tokens", "output.1", "Classifier"]


def test_marks_are_called_by_what_they_are_in_the_picture() -> None:
    picture = load(TRANSFORMER).picture(open=("Classifier/Sequential[head]/Linear[0]",))
    texts = picture.scene.texts
    assert {"weight", "bias"} <= {text.content for text in texts if text.role == "stub"}
    assert "linear" in {text.content for text in texts}


@pytest.mark.parametrize("source", [TRANSFORMER, PAIR], ids=lambda path: path.name)
@pytest.mark.parametrize("preset", ["default", "tensorboard"])
def test_the_laws_hold_with_everything_open(preset: str, source: Path) -> None:
    model = load(source, preset=preset)
    laws.well_formed(model.hierarchy)
    picture = model.picture(open_all=True)
    laws.each_op_shows_once(picture)
    laws.edges_are_conserved(picture)
    laws.every_edge_is_drawn(picture)
    laws.bridges_are_conserved(picture)
    laws.boxes_have_room(picture.scene)


def test_a_value_between_thousands_of_blanks() -> None:
    """Three runs of blanks side by side were tried in every part."""
    blanks = b" " * 100_000
    found = [
        pytorch_label(NodeDef(op="prim::Constant", attr={"attr": {"s": text}}), [])
        for text in (
            b"{value:" + blanks + b"x",
            b"{" + blanks + b"value" + blanks + b":" + blanks + b"7" + blanks + b"}",
        )
    ]
    assert found == ["None", "7"]


def test_the_parameters_of_a_trace_are_of_unknown_size_and_each_counts_once() -> None:
    """The trace does not state their shapes, and reads one as often as its module is called."""
    reads = (
        node("M/Linear[fc]/weight/fc", "prim::GetAttr", attr="{ name : fc}"),
        node("M/Linear[fc]/weight/weight", "prim::GetAttr", "M/Linear[fc]/weight/fc", attr="{ name : weight}"),
        node("M/Linear[fc]/weight/weight.3", "prim::GetAttr", "M/Linear[fc]/weight/fc", attr="{ name : weight}"),
    )
    calls = (
        node("M/Linear[fc]/4", "aten::linear", "input/x", "M/Linear[fc]/weight/weight"),
        node("M/Linear[fc]/5", "aten::linear", "M/Linear[fc]/4", "M/Linear[fc]/weight/weight.3"),
    )
    cost = load(GraphDef(node=(node("input/x", "IO Node"), *reads, *calls))).cost.under(0)
    assert (cost.parameters, cost.unsized) == (0, 1)
    assert "parameters" in cost.lower_bounds()
