"""Masks, positions and shapes: which ops work them out, and the one box that they are drawn as."""

from __future__ import annotations

from pathlib import Path

import graphviz_tb
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy
from graphviz_tb.proto import GraphDef
from tests.each import each

EXPORTED = Path(__file__).parents[2] / "fixtures/exported"
FLOAT, UINT8, INT32, INT64, BOOL = 1, 4, 3, 9, 10
# name, op, the attributes that say types, inputs
CAUSAL = (
    ("x", "Placeholder", {"dtype": FLOAT}, ()),
    ("padding", "Placeholder", {"dtype": INT32}, ()),
    ("shape", "Shape", {"T": FLOAT, "out_type": INT32}, ("x",)),
    ("length", "StridedSlice", {"T": INT32, "Index": INT32}, ("shape",)),
    ("steps", "Range", {"Tidx": INT32}, ("length",)),
    ("real", "Cast", {"SrcT": INT32, "DstT": FLOAT}, ("steps",)),
    ("column", "ExpandDims", {"T": FLOAT, "Tdim": INT32}, ("real",)),
    ("causal", "GreaterEqual", {"T": FLOAT}, ("column", "real")),
    ("given", "Cast", {"SrcT": INT32, "DstT": BOOL}, ("padding",)),
    ("both", "LogicalAnd", {}, ("causal", "given")),
    ("scores", "MatMul", {"T": FLOAT}, ("x", "x")),
    ("masked", "SelectV2", {"T": FLOAT}, ("both", "scores", "scores")),
    ("out", "Softmax", {"T": FLOAT}, ("masked",)),
)
Nodes = tuple[tuple[str, str, dict[str, int], tuple[str, ...]], ...]


def graph_of(nodes: Nodes) -> GraphDef:
    graph = GraphDef()
    for name, op, types, inputs in nodes:
        node = graph.node.add(name=name, op=op, input=inputs)
        for key, number in types.items():
            node.attr[key].type = number
    return graph


def indexes(nodes: Nodes) -> set[str]:
    """The ops that do index arithmetic."""
    graph = graphviz_tb.load(graph_of(nodes)).hierarchy.graph
    return {graph.name[node] for node in graph.meaning.indexes().nonzero()[0]}


def test_whole_numbers_that_become_data_are_none_from_there_on() -> None:
    nodes: Nodes = (
        ("ages", "Placeholder", {"dtype": INT64}, ()),
        ("older", "AddV2", {"T": INT64}, ("ages", "ages")),
        ("real", "Cast", {"SrcT": INT64, "DstT": FLOAT}, ("older",)),
        ("squares", "Mul", {"T": FLOAT}, ("real", "real")),
    )
    assert indexes(nodes) == {"older"}


def test_a_mask_is_worked_out_from_sizes_and_whole_numbers() -> None:
    assert indexes(CAUSAL) == {"shape", "length", "steps", "real", "column", "causal", "given", "both"}


@each(
    "nodes",
    [
        # an image of bytes that is scaled
        (
            ("image", "Placeholder", {"dtype": UINT8}, ()),
            ("scaled", "Cast", {"SrcT": UINT8, "DstT": FLOAT}, ("image",)),
        ),
        # a class is what a model says
        (
            ("x", "Placeholder", {"dtype": FLOAT}, ()),
            ("class", "ArgMax", {"T": FLOAT, "output_type": INT64}, ("x",)),
            ("next", "AddV2", {"T": INT64}, ("class", "class")),
        ),
        # a counter is a variable
        (
            ("step", "VariableV2", {"dtype": INT64}, ()),
            ("next", "AddV2", {"T": INT64}, ("step", "step")),
            ("late", "Greater", {"T": INT64}, ("next", "next")),
        ),
        # the weights of a frozen graph are constants
        (
            ("ids", "Placeholder", {"dtype": INT64}, ()),
            ("table", "Const", {"dtype": FLOAT}, ()),
            ("taken", "GatherV2", {"Tparams": FLOAT, "Tindices": INT64}, ("table", "ids")),
            ("kernel", "Const", {"dtype": FLOAT}, ()),
            ("dense", "MatMul", {"T": FLOAT}, ("taken", "kernel")),
            ("class", "ArgMax", {"T": FLOAT, "output_type": INT64}, ("dense",)),
            ("right", "Equal", {"T": INT64}, ("class", "ids")),
        ),
        # nobody knows what it gives
        (
            ("n", "Placeholder", {"dtype": INT32}, ()),
            ("y", "MyOp", {"T": INT32}, ("n",)),
            ("z", "Neg", {"T": INT32}, ("y",)),
        ),
    ],
)
def test_data_is_none(nodes: Nodes) -> None:
    assert indexes(nodes) == set()


def groups(nodes: Nodes) -> dict[str, int]:
    """By name how many ops each such group of a graph holds."""
    hierarchy = graphviz_tb.load(graph_of(nodes)).hierarchy
    return {
        hierarchy.display_label(row): hierarchy.op_count(row)
        for row in (hierarchy.how == GroupOrigin.INDEX).nonzero()[0].tolist()
    }


def test_a_mask_is_one_box() -> None:
    assert groups(CAUSAL) == {"mask": 8}


def test_a_small_level_shows_the_ops_of_its_mask() -> None:
    assert groups((*CAUSAL[:3], *CAUSAL[10:])) == {}


def test_what_each_consumer_takes_is_one_box() -> None:
    apart = (
        *CAUSAL,
        ("sizes", "Shape", {"T": FLOAT, "out_type": INT32}, ("scores",)),
        ("batch", "StridedSlice", {"T": INT32, "Index": INT32}, ("sizes",)),
        ("packed", "Pack", {"T": INT32}, ("batch", "batch")),
        ("flat", "Reshape", {"T": FLOAT, "Tshape": INT32}, ("out", "packed")),
    )
    assert groups(apart) == {"mask": 8, "shape": 3}


def test_ends_that_nothing_uses_are_with_what_they_come_from() -> None:
    assert groups((*CAUSAL, ("batch", "StridedSlice", {"T": INT32, "Index": INT32}, ("shape",)))) == {"mask": 9}


def test_positions_are_counted() -> None:
    table = (
        *CAUSAL[:5],
        ("other", "AddV2", {"T": INT32}, ("steps", "steps")),
        ("rows", "Placeholder", {"dtype": FLOAT}, ()),
        ("taken", "GatherV2", {"Tparams": FLOAT, "Tindices": INT32}, ("rows", "other")),
        *((f"act{at}", "Relu", {"T": FLOAT}, (f"act{at - 1}" if at else "taken",)) for at in range(6)),
    )
    assert groups(table) == {"positions": 4}


# A mask that is added: nothing where it holds, a large negative number elsewhere.
ADDED: Nodes = (
    *CAUSAL[:8],
    ("least", "Const", {"dtype": FLOAT}, ()),
    ("scores", "MatMul", {"T": FLOAT}, ("x", "x")),
    ("kept", "Cast", {"SrcT": BOOL, "DstT": FLOAT}, ("causal",)),
    ("lost", "Mul", {"T": FLOAT}, ("kept", "least")),
    ("masked", "AddV2", {"T": FLOAT}, ("scores", "lost")),
    ("out", "Softmax", {"T": FLOAT}, ("masked",)),
    *((f"act{at}", "Relu", {"T": FLOAT}, (f"act{at - 1}" if at else "out",)) for at in range(3)),
)
# Slopes that count positions, and are added.
SLOPES: Nodes = (
    *CAUSAL[:1],
    *CAUSAL[2:7],
    ("apart", "Sub", {"T": FLOAT}, ("column", "real")),
    ("scores", "MatMul", {"T": FLOAT}, ("x", "x")),
    ("leaning", "AddV2", {"T": FLOAT}, ("scores", "apart")),
    *((f"act{at}", "Relu", {"T": FLOAT}, (f"act{at - 1}" if at else "leaning",)) for at in range(6)),
)
CHOSEN: Nodes = (
    *CAUSAL[:8],
    ("least", "Const", {"dtype": FLOAT}, ()),
    ("lost", "SelectV2", {"T": FLOAT}, ("causal", "least", "least")),
    *ADDED[9:10],
    *ADDED[12:],
)


def test_a_mask_of_floating_numbers_is_a_mask_and_counted_ones_are_positions() -> None:
    assert groups(ADDED) == {"mask": 8}
    assert groups(CHOSEN) == {"mask": 7}
    assert groups(SLOPES) == {"positions": 6}


def test_floating_numbers_made_of_given_ones_are_data_though_they_are_counted_too() -> None:
    # t ─▶ Cast ─▶ Mul ─▶ Sin: the time of a step of diffusion, at frequencies that are counted
    nodes: Nodes = (
        ("t", "Placeholder", {"dtype": INT32}, ()),
        ("steps", "Range", {"Tidx": INT32}, ("first", "last", "one")),
        *((name, "Const", {"dtype": INT32}, ()) for name in ("first", "last", "one")),
        ("rates", "Cast", {"SrcT": INT32, "DstT": FLOAT}, ("steps",)),
        ("time", "Cast", {"SrcT": INT32, "DstT": FLOAT}, ("t",)),
        ("phase", "Mul", {"T": FLOAT}, ("time", "rates")),
        ("sine", "Sin", {"T": FLOAT}, ("phase",)),
        ("x", "Placeholder", {"dtype": FLOAT}, ()),
        ("out", "MatMul", {"T": FLOAT}, ("sine", "x")),
    )
    assert "sine" not in indexes(nodes)
    assert "phase" not in indexes(nodes)


def test_zeros_of_a_shape_are_data() -> None:
    nodes: Nodes = (
        *CAUSAL[:1],
        *CAUSAL[2:4],
        ("none", "Const", {"dtype": FLOAT}, ()),
        ("zeros", "Fill", {"T": FLOAT, "index_type": INT32}, ("length", "none")),
        ("out", "AddV2", {"T": FLOAT}, ("x", "zeros")),
    )
    assert indexes(nodes) == {"shape", "length"}


@each(("name", "words"), [("llama.script.onnx.gz", {"mask", "shape"}), ("swin.dynamo.onnx.gz", {"mask"})])
def test_exported_programs_say_the_types_of_their_results(name: str, words: set[str]) -> None:
    hierarchy = graphviz_tb.load(EXPORTED / name).hierarchy
    folded = [row for row in range(len(hierarchy)) if hierarchy.how[row] == GroupOrigin.INDEX]
    assert {hierarchy.display_label(row) for row in folded} == words
    assert not any("Conv" in each or "MatMul" in each for row in folded for each in types_below(hierarchy, row))


def test_an_op_without_inputs_counts_positions_in_an_exported_program() -> None:
    graph = graphviz_tb.load(EXPORTED / "gpt.pt2").hierarchy.graph
    found = {graph.op_types[graph.op[node]] for node in graph.meaning.indexes().nonzero()[0].tolist()}
    assert found == {"aten::arange"}


def types_below(hierarchy: Hierarchy, row: int) -> set[str]:
    """The types of the ops in a group."""
    graph = hierarchy.graph
    nodes = [node for node in hierarchy.node[row : hierarchy.end[row]].tolist() if node >= 0]
    return {graph.op_types[graph.op[node]] for node in nodes}
