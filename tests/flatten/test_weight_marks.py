"""Which nodes are weights at the edges of the rule: reads that nobody uses, biases of one number, empty constants."""

from __future__ import annotations

from typing import Any

import pytest

from graphviz_tb.interpret import variables
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.options import FlattenOptions
from graphviz_tb.proto import GraphDef
from tests.flat import flatten

FLOAT = {"type": 1}


def node(name: str, op: str, *inputs: str, **attr: Any) -> dict[str, Any]:
    return {"name": name, "op": op, "input": inputs, "attr": attr}


def constant(name: str, *sizes: int) -> dict[str, Any]:
    tensor = {"dtype": 1, "tensor_shape": {"dim": [{"size": size} for size in sizes]}}
    return node(name, "Const", dtype=FLOAT, value={"tensor": tensor})


def marks(*nodes: dict[str, Any]) -> dict[str, Mark]:
    graph: Graph = flatten(GraphDef(node=nodes))
    return {name: Mark(mark) for name, mark in zip(graph.name, graph.mark.tolist(), strict=True)}


def test_a_read_that_nobody_uses_hangs_on_its_variable() -> None:
    # handle ─▶ read ─▶ y, handle ─▶ shape/read
    found = marks(
        node("handle", "VarHandleOp", dtype=FLOAT),
        node("read", "ReadVariableOp", "handle", dtype=FLOAT),
        node("shape/read", "ReadVariableOp", "handle", dtype=FLOAT),
        node("y", "Relu", "read"),
    )
    assert found == {"handle": Mark.WEIGHT, "read": Mark.WEIGHT, "shape/read": Mark.WEIGHT, "y": Mark.NONE}


def test_where_nobody_uses_the_variable_at_all_something_is_drawn() -> None:
    found = marks(node("handle", "VarHandleOp", dtype=FLOAT), node("read", "ReadVariableOp", "handle", dtype=FLOAT))
    assert Mark.NONE in found.values()


def test_a_variable_that_only_an_unused_variable_takes_belongs_to_that() -> None:
    # used ─▶ y, used ─▶ unused ◀─ other
    graph: Graph = flatten(
        GraphDef(
            node=[
                node("used", "VariableV2", dtype=FLOAT),
                node("other", "VariableV2", dtype=FLOAT),
                node("unused", "VariableV2", "used", "other", dtype=FLOAT),
                node("y", "Relu", "used"),
            ]
        )
    )
    owners = {graph.name[mark]: [graph.name[at] for at in found] for mark, found in graph.within.items()}
    assert owners["other"] == ["unused"]
    assert "used" in owners["unused"]
    assert "used" not in owners


def test_a_variable_that_only_waits_for_an_op_is_drawn() -> None:
    found = marks(node("y", "Relu"), node("lonely", "VariableV2", "^y", dtype=FLOAT))
    assert found == {"y": Mark.NONE, "lonely": Mark.NONE}


def test_a_frozen_bias_of_one_number_is_a_weight_and_a_constant_of_one_is_none() -> None:
    found = marks(
        node("x", "Placeholder", dtype=FLOAT),
        constant("score/BiasAdd/ReadVariableOp/resource", 1),
        node("score/BiasAdd/ReadVariableOp", "Identity", "score/BiasAdd/ReadVariableOp/resource", T=FLOAT),
        node("score/BiasAdd", "BiasAdd", "x", "score/BiasAdd/ReadVariableOp"),
        constant("one", 1),
        node("shift", "BiasAdd", "x", "one"),
    )
    assert found["score/BiasAdd/ReadVariableOp/resource"] == Mark.WEIGHT
    assert found["one"] == Mark.CONSTANT


def test_an_empty_constant_is_no_weight() -> None:
    # a normalisation that is being trained takes no mean: [0] stands in its place
    found = marks(
        node("x", "Placeholder", dtype=FLOAT),
        constant("scale", 8),
        constant("none", 0),
        node("norm", "FusedBatchNormV3", "x", "scale", "scale", "none", "none"),
    )
    assert (found["scale"], found["none"]) == (Mark.WEIGHT, Mark.CONSTANT)


def test_the_first_node_of_a_file_may_be_a_variable() -> None:
    # handle ─▶ read ─▶ y ◀─ x, and handle is node 0
    graph = flatten(
        GraphDef(
            node=[
                node("handle", "VarHandleOp", dtype=FLOAT, shape={"shape": {"dim": [{"size": 3}]}}),
                node("read", "ReadVariableOp", "handle", dtype=FLOAT),
                node("x", "Placeholder", dtype=FLOAT),
                node("y", "Mul", "x", "read"),
            ]
        )
    )
    said = {graph.name[mark]: (weight.variable, weight.shape) for mark, weight in graph.meaning.weights.items()}
    assert set(said.values()) == {("handle", (3,))}, said


def test_a_node_without_a_name_reads_a_constant() -> None:
    # c ─▶ "" ─▶ y
    found = marks(constant("c", 3, 3), node("", "Identity", "c"), node("y", "MatMul", "c", ""))
    assert found["c"] == Mark.WEIGHT


def test_a_weight_is_followed_through_what_only_hands_it_on() -> None:
    # kernel ─▶ cast ─▶ identity ─▶ product ◀─ x
    found = marks(
        constant("kernel", 4, 4),
        node("cast", "Cast", "kernel"),
        node("identity", "Identity", "cast"),
        node("x", "Placeholder", dtype=FLOAT),
        node("product", "MatMul", "x", "identity"),
    )
    assert {name for name, mark in found.items() if mark == Mark.WEIGHT} == {"kernel", "cast", "identity"}


def standardiser(root: str) -> GraphDef:
    # (x - mean) / max(√variance, small), as Keras's Normalization does it
    return GraphDef(
        node=[
            node("x", "Placeholder", dtype=FLOAT),
            constant("sub/y", 1, 5),
            constant(f"{root}/x", 1, 5),
            constant("small"),
            node("sub", "Sub", "x", "sub/y"),
            node("cast", "Cast", f"{root}/x"),
            node(root, root, "cast"),
            node("max", "Maximum", root, "small"),
            node("ratio", "RealDiv", "sub", "max"),
        ]
    )


def test_what_a_normalisation_was_adapted_to_are_weights() -> None:
    graph = flatten(standardiser("Sqrt"))
    said = {(weight.variable, weight.label) for weight in graph.meaning.weights.values()}
    assert said == {("sub/y", "mean 1×5"), ("Sqrt/x", "variance 1×5")}


def test_other_differences_and_ratios_have_no_weights() -> None:
    assert not flatten(standardiser("Square")).meaning.weights


def shaped(*sizes: int) -> dict[str, Any]:
    return {"list": {"shape": [{"dim": [{"size": size} for size in sizes]}]}}


def test_what_is_assigned_to_a_variable_or_looked_up_in_it_tells_its_shape() -> None:
    # a handle of a dumped graph is a placeholder that states no shape
    table = node("table", "Placeholder", dtype={"type": 20})
    words = node("words", "Placeholder", dtype={"type": 9}, _output_shapes=shaped(-1, 8))
    taken = node("taken", "ResourceGather", "table", "words", dtype=FLOAT, _output_shapes=shaped(-1, 8, 5))
    step = node("step", "Neg", "taken", _output_shapes=shaped(30, 5))
    update = node("update", "AssignSubVariableOp", "table", "step", dtype=FLOAT)
    found = [
        {weight.shape for weight in flatten(GraphDef(node=nodes)).meaning.weights.values()}
        for nodes in ([table, words, taken], [table, words, taken, step, update])
    ]
    assert found == [{(None, 5)}, {(30, 5)}]


def test_what_a_function_was_handed_without_a_name_is_told() -> None:
    graph = flatten(
        GraphDef(
            node=[
                node("unknown", "_Arg", T={"type": 20}),
                node("unknown_0", "_Arg", T={"type": 9}),
                node("words", "_Arg", T={"type": 7}),
                node("find", "LookupTableFindV2", "unknown", "words", "unknown_0"),
            ]
        )
    )
    assert {graph.name[at]: label for at, label in graph.labels.items()} == {
        "unknown": "lookup table",
        "unknown_0": "captured value",
    }


def test_tables_and_captured_values_are_beside_their_users() -> None:
    # words ─▶ find ─▶ scaled/Sub, the table and its default into find, the mean into Sub
    nodes = [
        node("table", "HashTableV2"),
        node("other", "MutableHashTable"),
        node("unknown_0", "_Arg", T={"type": 9}),
        node("words", "_Arg", T={"type": 7}),
        node("scaled_sub_y", "_Arg", T={"type": 1}),
        node("scaled", "_Arg", T={"type": 1}),
        node("find", "LookupTableFindV2", "table", "words", "unknown_0"),
        node("keep", "LookupTableInsertV2", "other", "words", "find"),
        node("scaled/Sub", "Sub", "find", "scaled_sub_y"),
        node("sum", "Add", "scaled/Sub", "scaled"),
    ]
    found = marks(*nodes)
    beside = {name for name, mark in found.items() if mark == Mark.CONSTANT}
    assert beside == {"table", "other", "unknown_0", "scaled_sub_y"}
    drawn = flatten(GraphDef(node=nodes), FlattenOptions(show_variables=True))
    assert not drawn.mark.any()


def test_a_placeholder_called_like_its_user_is_an_input() -> None:
    found = marks(node("layer_x", "Placeholder"), node("layer", "Relu", "layer_x"))
    assert found["layer_x"] == Mark.NONE


def test_the_weight_of_an_argument_is_the_variable_whose_handle_went_through_other_ops() -> None:
    # handle ─▶ pass ─▶ call, in whose body: handle ─▶ read ─▶ y
    body = {
        "signature": {
            "name": "body",
            "input_arg": [{"name": "given", "type": 20}],
            "output_arg": [{"name": "result", "type": 1}],
        },
        "node_def": [
            node("read", "ReadVariableOp", "given", dtype=FLOAT),
            node("y", "Relu", "read:value:0", T=FLOAT),
        ],
        "ret": {"result": "y:activations:0"},
    }
    call = node("call", "StatefulPartitionedCall", "pass", f={"func": {"name": "body"}}, Tin={"list": {"type": [20]}})
    handle = node("handle", "VarHandleOp", dtype=FLOAT, shared_name={"s": b"kernel"})
    graph: Graph = flatten(
        GraphDef(node=[handle, node("pass", "Identity", "handle"), call], library={"function": [body]})
    )
    assert {weight.variable for weight in graph.meaning.weights.values()} == {"kernel"}


def test_what_is_multiplied_with_a_variable_is_no_weight() -> None:
    # zeros ─▶ MatMul ◀─ read ◀─ kernel: the state that a recurrent cell begins with
    found = marks(
        *(constant("zeros", 4, 8), node("kernel", "VarHandleOp"), node("read", "ReadVariableOp", "kernel")),
        *(node("product", "MatMul", "zeros", "read"), constant("table", 4, 8), node("x", "Placeholder")),
        node("other", "MatMul", "table", "x"),
    )
    assert found["zeros"] == Mark.CONSTANT
    assert found["read"] == Mark.WEIGHT
    # In a program with variables a constant that nothing reads was written by the program.
    assert found["table"] == Mark.CONSTANT


def test_a_name_that_says_nothing_in_its_last_segment_gives_way_to_the_role() -> None:
    # x, w ─▶ m/MatMul: the name of w is looked at without its scopes
    def role(name: str) -> str:
        graph = flatten(
            GraphDef(
                node=[
                    node("x", "Placeholder", dtype=FLOAT),
                    constant(name, 4, 8),
                    node("m/MatMul", "MatMul", "x", name, T=FLOAT),
                ]
            )
        )
        return graph.meaning.weights[graph.name.index(name)].role

    assert role("m/kernel") == role("Const_1/kernel") == ""
    assert role("m/unknown_3") == role("Const_1") != ""


def test_the_name_of_a_variable_is_read_once_for_all_that_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # one variable of a long name, and 50 reads of it
    handle = node("h", "VarHandleOp", dtype=FLOAT, shared_name={"s": b"v" * 1000})
    reads = [node(f"r{at}", "ReadVariableOp", "h", dtype=FLOAT) for at in range(50)]
    users = [node(f"y{at}", "Relu", f"r{at}") for at in range(50)]
    read: list[int] = []
    declared = variables._declared_weight_facts
    monkeypatch.setattr(variables, "_declared_weight_facts", lambda *given: read.append(given[1]) or declared(*given))
    weights = flatten(GraphDef(node=[handle, *reads, *users])).meaning.weights
    assert {weight.variable for weight in weights.values()} == {"v" * 1000}
    assert len(read) == 1 < len(weights)
