"""Scopes of layers are called as in the program: where Keras 3 made them, and only there."""

from __future__ import annotations

import pytest

from graphviz_tb import load
from graphviz_tb.errors import UnknownNode
from graphviz_tb.fold.labels import _scopes_with_counter, find_code_names
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.proto import GraphDef
from tests.each import each

LONG = "name_of_a_layer"
KERAS_2, KERAS_3 = "MatMul/ReadVariableOp", "Cast/ReadVariableOp"


def scopes(*names: str) -> Hierarchy:
    """An op in each scope; "dense!" is an op of that name."""
    nodes = [{"name": name[:-1] if name.endswith("!") else f"{name}/op", "op": "Relu"} for name in names]
    return load(GraphDef(node=nodes), folds=False, series_min=100).hierarchy


@each(
    ("names", "counted"),
    [
        (["dense_1"], {"dense_1": "dense"}),
        (["dense_1", "dense_1_2"], {"dense_1": "dense", "dense_1_2": "dense_1"}),
        (["dense!", "dense_1"], {}),
        (["x!", "dense!", "dense_1"], {}),
        (["dense", "dense_1"], {}),
        (["dense_1", "dense"], {}),
        (["a/dense_1", "b/dense"], {"a/dense_1": "a/dense"}),
        (["dense_0", "dense_x", "_1", "dense_1234567890"], {}),
        (["dense_123456789"], {"dense_123456789": "dense"}),
        ([f"block/{LONG}_7"], {f"block/{LONG}_7": f"block/{LONG}"}),
    ],
)
def test_a_scope_is_counted_where_its_name_without_the_number_is_free(
    names: list[str], counted: dict[str, str]
) -> None:
    made = scopes(*names)
    assert {made.name[row]: name for row, name in _scopes_with_counter(made).items()} == counted


def test_a_name_is_taken_in_its_own_function_only() -> None:
    # function `dense` holds scope dense_1; the main graph has an op of that name, function `other` a scope
    graph = GraphDef(node=[{"name": "tanh", "op": "Tanh"}, {"name": "last", "op": "Relu"}])
    for function, nodes in (("dense", ["dense_1/x", "y"]), ("other", ["tanh_1/x", "tanh"]), ("third", ["tanh_1/x"])):
        made = graph.library.function.add()
        made.signature.name = function
        for name in nodes:
            made.node_def.add(name=name, op="Relu")
    hierarchy = load(graph, folds=False).hierarchy
    found = {
        (hierarchy.name[hierarchy.ancestors(row)[0]], hierarchy.name[row]): name
        for row, name in _scopes_with_counter(hierarchy).items()
    }
    assert sorted(found.values()) == ["dense", "tanh"]
    assert len(found) == 2


def layers(*reads: tuple[str, str, str]) -> GraphDef:
    """x ─▶ MatMul in each scope, its weight read by such an op from such a variable."""
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
    for scope, read, variable in reads:
        handle = graph.node.add(name=f"v{len(graph.node)}", op="VarHandleOp")
        if variable:
            handle.attr["shared_name"].s = variable.encode()
        graph.node.add(name=f"{scope}/{read}", op="ReadVariableOp", input=[handle.name])
        graph.node.add(name=f"{scope}/MatMul", op="MatMul", input=["x", f"{scope}/{read}"])
    return graph


def called(graph: GraphDef) -> dict[str, str]:
    """What scopes are called that have another name."""
    hierarchy = load(graph, folds=False, series_min=100).hierarchy
    return {hierarchy.name[row]: name for row, name in find_code_names(hierarchy).items()}


@each(
    ("variables", "renamed"),
    [
        (["dense/kernel"], True),
        (["dense_1/kernel"], False),
        (["dense/kernel", "dense_1/kernel"], False),  # as many say one thing as the other
        (["dense/kernel", "dense/bias", "dense_1/kernel"], True),
        (["dense/kernel", "other/kernel"], True),
        (["other/kernel"], False),
    ],
)
def test_names_of_variables_decide(variables: list[str], renamed: bool) -> None:
    reads = [("dense_1", f"MatMul_{number}/ReadVariableOp", name) for number, name in enumerate(variables)]
    assert called(layers(*reads)) == ({"dense_1": "dense"} if renamed else {})


def frozen(*reads: str) -> GraphDef:
    """A product with a constant for a weight, read so."""
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
    for number, read in enumerate(reads):
        const = graph.node.add(name=f"dense_1/{read}/resource", op="Const")
        const.attr["value"].tensor.dtype = 1
        const.attr["value"].tensor.tensor_shape.dim.add(size=2)
        const.attr["value"].tensor.tensor_shape.dim.add(size=2)
        graph.node.add(name=f"dense_1/{read}", op="Identity", input=[const.name])
        graph.node.add(name=f"dense_1/MatMul_{number}", op="MatMul", input=["x", f"dense_1/{read}"])
    return graph


@pytest.mark.parametrize(
    ("reads", "renamed"), [([KERAS_3], True), ([KERAS_2], False), ([KERAS_2, KERAS_3], True), ([], False)]
)
def test_where_no_variable_has_a_name_the_way_a_weight_is_read_decides(reads: list[str], renamed: bool) -> None:
    assert called(frozen(*reads)) == ({"dense_1": "dense"} if renamed else {})


def test_a_variable_that_says_something_outweighs_how_others_are_read() -> None:
    graph = frozen(KERAS_3)
    graph.MergeFrom(layers(("dense_1", "MatMul_9/ReadVariableOp", "dense_1/kernel")))
    del graph.node[len(frozen(KERAS_3).node)]  # x, a second time
    assert called(graph) == {}


def test_gradients_are_called_as_their_layers() -> None:
    graph = layers(("dense_1", KERAS_3, "dense/kernel"))
    graph.node.add(name="gradient_tape/dense_1/MatMul", op="MatMul", input=["dense_1/MatMul"])
    graph.node.add(name="gradient_tape/relu_1/Mul", op="Mul", input=["gradient_tape/dense_1/MatMul"])
    assert called(graph) == {"dense_1": "dense", "gradient_tape/dense_1": "dense"}


@pytest.mark.parametrize("option", ["main", "aux", "open"])
def test_both_names_of_a_layer_are_known_and_no_third(option: str) -> None:
    graph = layers(("dense_1", KERAS_3, "dense/kernel"))
    for name in ("dense_1", "dense"):
        load(graph, **{option: (name,)}).picture()
    with pytest.raises(UnknownNode, match="'lost'"):
        load(graph, **{option: ("lost",)}).picture()
