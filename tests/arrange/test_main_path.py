"""The main path of a level is that of its data."""

from __future__ import annotations

import graphviz_tb
from graphviz_tb.proto import GraphDef

FLOAT, INT32 = 1, 3
SIZES = (  # longer than the way of the data
    ("shape", "Shape", {"T": FLOAT, "out_type": INT32}, ("x",)),
    ("length", "StridedSlice", {"T": INT32, "Index": INT32}, ("shape",)),
    ("steps", "Range", {"Tidx": INT32}, ("length",)),
    ("causal", "GreaterEqual", {"T": INT32}, ("steps", "steps")),
)


def main_path(*nodes: tuple[str, str, dict[str, int], tuple[str, ...]]) -> list[str]:
    """The names of the ops on the main path of a graph."""
    graph = GraphDef()
    for name, op, types, inputs in nodes:
        node = graph.node.add(name=name, op=op, input=inputs)
        for key, number in types.items():
            node.attr[key].type = number
    model = graphviz_tb.load(graph, folds=False)
    view = model.picture(depth=0).view
    chains = [view.skeleton.wires[wire].chain for wire in view.skeleton.main_path]
    items = [chains[0][0], *(chain[-1] for chain in chains)]
    return [model.hierarchy.name[view.metagraph.children[item]] for item in items]


def test_it_leads_by_no_sizes_and_masks() -> None:
    assert main_path(
        ("x", "Placeholder", {"dtype": FLOAT}, ()),
        *SIZES,
        ("scores", "MatMul", {"T": FLOAT}, ("x", "x")),
        ("masked", "SelectV2", {"T": FLOAT}, ("causal", "scores", "scores")),
        ("out", "Softmax", {"T": FLOAT}, ("masked",)),
    ) == ["x", "scores", "masked", "out"]


def test_it_begins_with_the_indices_that_become_data() -> None:
    assert main_path(
        ("ids", "Placeholder", {"dtype": INT32}, ()),
        ("rows", "Maximum", {"T": INT32}, ("ids", "ids")),
        ("table", "VariableV2", {"dtype": FLOAT}, ()),
        ("taken", "GatherV2", {"Tparams": FLOAT, "Tindices": INT32}, ("table", "rows")),
        ("out", "Relu", {"T": FLOAT}, ("taken",)),
    ) == ["ids", "rows", "taken", "out"]


def test_where_all_is_indices_it_is_the_longest() -> None:
    assert main_path(
        ("n", "Placeholder", {"dtype": INT32}, ()),
        ("a", "Neg", {"T": INT32}, ("n",)),
        ("b", "Neg", {"T": INT32}, ("a",)),
        ("c", "AddV2", {"T": INT32}, ("n", "b")),
    ) == ["n", "a", "b", "c"]


MASK = (  # longer than the way of the data, and of its type
    ("lengths", "Placeholder", {"dtype": INT32}, ()),
    ("one", "Const", {"dtype": FLOAT}, ()),
    ("floats", "Cast", {"SrcT": INT32, "DstT": FLOAT}, ("lengths",)),
    ("rest", "Sub", {"T": FLOAT}, ("one", "floats")),
    ("bias", "Mul", {"T": FLOAT}, ("rest", "one")),
    ("added", "AddV2", {"T": FLOAT}, ("scores", "bias")),
)


def test_it_leads_by_no_mask_of_numbers() -> None:
    assert main_path(
        ("x", "Placeholder", {"dtype": FLOAT}, ()),
        ("scores", "MatMul", {"T": FLOAT}, ("x", "x")),
        *MASK,
        ("out", "Softmax", {"T": FLOAT}, ("added",)),
    ) == ["x", "scores", "added", "out"]


def test_a_mask_longer_than_the_way_of_the_data_is_beside_it() -> None:
    assert main_path(
        *MASK[:-1],
        ("x", "Placeholder", {"dtype": FLOAT}, ()),
        ("added", "AddV2", {"T": FLOAT}, ("x", "bias")),
        ("out", "Softmax", {"T": FLOAT}, ("added",)),
    ) == ["x", "added", "out"]


def test_indices_become_data_with_weights() -> None:
    assert main_path(
        ("ids", "Placeholder", {"dtype": INT32}, ()),
        ("rows", "Cast", {"SrcT": INT32, "DstT": FLOAT}, ("ids",)),
        ("kernel", "VariableV2", {"dtype": FLOAT}, ()),
        ("made", "MatMul", {"T": FLOAT}, ("rows", "kernel")),
        ("scores", "Relu", {"T": FLOAT}, ("made",)),
        *MASK,
    ) == ["ids", "rows", "made", "scores", "added"]


TABLE = (  # longer than the way of the data, of its type, and computed from no input
    ("start", "Const", {"dtype": INT32}, ()),
    ("steps", "Range", {"Tidx": INT32}, ("start", "start", "start")),
    ("real", "Cast", {"SrcT": INT32, "DstT": FLOAT}, ("steps",)),
    ("angles", "Mul", {"T": FLOAT}, ("real", "real")),
    ("waves", "Sin", {"T": FLOAT}, ("angles",)),
    ("scaled", "Neg", {"T": FLOAT}, ("waves",)),
)


def test_it_begins_where_an_input_reaches() -> None:
    assert main_path(
        ("x", "Placeholder", {"dtype": FLOAT}, ()),
        *TABLE,
        ("scores", "MatMul", {"T": FLOAT}, ("x", "scaled")),
        ("out", "Softmax", {"T": FLOAT}, ("scores",)),
    ) == ["x", "scores", "out"]


def test_random_numbers_are_an_input() -> None:
    assert main_path(
        ("shape", "Const", {"dtype": INT32}, ()),
        ("noise", "RandomStandardNormal", {"dtype": FLOAT, "T": INT32}, ("shape",)),
        ("drawn", "Relu", {"T": FLOAT}, ("noise",)),
        ("painted", "Tanh", {"T": FLOAT}, ("drawn",)),
        ("x", "Placeholder", {"dtype": FLOAT}, ()),
        ("told", "ConcatV2", {"T": FLOAT, "Tidx": INT32}, ("painted", "x", "shape")),
        ("out", "Softmax", {"T": FLOAT}, ("told",)),
    ) == ["noise", "drawn", "painted", "told", "out"]


def test_without_an_input_it_begins_where_the_longest_begins() -> None:
    assert main_path(*TABLE, ("out", "Softmax", {"T": FLOAT}, ("scaled",)))[-4:] == ["angles", "waves", "scaled", "out"]
