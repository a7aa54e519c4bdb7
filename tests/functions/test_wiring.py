"""Where the edges of a call go on inside, for each kind of op that calls functions."""

from __future__ import annotations

from typing import Any

import pytest

from graphviz_tb.api.pipeline import Model, load
from graphviz_tb.expand.calls import _call_wiring
from graphviz_tb.model.graph import Function
from graphviz_tb.proto import GraphDef
from tests.flat import flatten


def function(name: str, args: int, *returned: str, nodes: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """`name` takes x0, x1, … and gives `returned` as y0, y1, …"""
    return {
        "signature": {
            "name": name,
            "input_arg": [{"name": f"x{at}", "type": 1} for at in range(args)],
            "output_arg": [{"name": f"y{at}", "type": 1} for at in range(len(returned))],
        },
        "node_def": nodes or [],
        "ret": {f"y{at}": made for at, made in enumerate(returned)},
    }


def call(op: str, inputs: int, **attrs: Any) -> dict[str, Any]:
    """A node `c` that is given i0, i1, …; an attribute that is a text names a function."""
    told = {
        key: {"func": {"name": value}} if isinstance(value, str) else {"list": {"type": [1] * value}}
        for key, value in attrs.items()
    }
    return {"name": "c", "op": op, "input": [f"i{at}" for at in range(inputs)], "attr": told}


def inputs(count: int) -> list[dict[str, Any]]:
    return [{"name": f"i{at}", "op": "Relu"} for at in range(count)]


def entries(model: Model, address: str = "c") -> set[tuple[str, str, bool]]:
    """`(child, neighbour, comes in)` of the bridges of an open call."""
    (path,) = model.names.find_paths(address)
    level, name = model.metagraph(path), model.hierarchy.name
    return {(name[level.children[one.child]], name[one.other], one.inbound) for one in level.bridges}


def made(node: dict[str, Any], *functions: dict[str, Any], users: tuple[str, ...] = ("c",)) -> Model:
    """i0, i1, … ─▶ c ─▶ u0, u1, … where u_k takes `users[k]`."""
    after = [{"name": f"u{at}", "op": "Abs", "input": [text]} for at, text in enumerate(users)]
    return load(GraphDef(node=[*inputs(len(node["input"])), node, *after], library={"function": list(functions)}))


ADD = {"name": "add", "op": "Add", "input": ["x0", "x1"]}
TWO = function("f", 2, "add:z:0", "x0", nodes=[ADD])


def test_a_call_hands_inputs_and_results_over_in_order() -> None:
    model = made(call("PartitionedCall", 2, f="f"), TWO, users=("c", "c:1"))
    assert entries(model) == {
        ("x0", "i0", True), ("x1", "i1", True), ("add", "u0", False), ("x0", "u1", False),
    }  # fmt: skip


def test_a_defun_is_called_by_its_name() -> None:
    node = {"name": "c", "op": "f", "input": ["i0", "i1"]}
    assert entries(made(node, TWO)) == {("x0", "i0", True), ("x1", "i1", True), ("add", "u0", False)}


def test_outputs_of_a_defun_inside_a_function_bear_the_functions_names() -> None:
    inner = {"name": "d", "op": "f", "input": ["x0", "x1"]}
    outer = function("g", 2, "d:y1:0", nodes=[inner])
    model = made(call("PartitionedCall", 2, f="g"), TWO, outer)
    assert ("d", "u0", False) in entries(model)
    assert entries(model, "c::d") == {("x0", "x0", True), ("x1", "x1", True), ("x0", "u0", False)}


def test_a_result_named_output_is_not_taken_for_the_calls_own() -> None:
    named = function("f", 2, "x0", "add:z:0", nodes=[ADD])
    for at, name in enumerate(("output", "z")):
        named["signature"]["output_arg"][at]["name"] = name
    named["ret"] = {"output": "x0", "z": "add:z:0"}
    outer = function("g", 2, "c1:output:1", nodes=[{**call("PartitionedCall", 0, f="f"), "name": "c1"}])
    outer["node_def"][0]["input"] = ["x0", "x1"]
    assert ("add", "u0", False) in entries(made(call("PartitionedCall", 2, f="g"), named, outer), "c::c1")


def test_a_loop_gives_what_its_body_gives() -> None:
    cond = function("k", 2, "x0")
    model = made(call("While", 2, cond="k", body="f"), cond, TWO, users=("c", "c:1"))
    rows = entries(model)
    assert rows == {(one, f"i{at}", True) for one in ("k", "f") for at in (0, 1)} | {
        ("f", "u0", False), ("f", "u1", False),
    }  # fmt: skip
    assert entries(model, "c::cond") == {("x0", "i0", True), ("x1", "i1", True)}


@pytest.mark.parametrize("op", ["If", "StatelessIf"])
def test_the_first_input_of_a_condition_chooses(op: str) -> None:
    other = function("g", 2, "x1", "x0")
    model = made(call(op, 3, then_branch="f", else_branch="g"), TWO, other)
    assert entries(model, "c::then_branch") == {("x0", "i1", True), ("x1", "i2", True), ("add", "u0", False)}
    assert entries(model, "c::else_branch") == {("x0", "i1", True), ("x1", "i2", True), ("x1", "u0", False)}


def test_every_branch_of_a_case() -> None:
    node = call("Case", 3)
    node["attr"] = {"branches": {"list": {"func": [{"name": "f"}, {"name": "g"}]}}}
    model = made(node, TWO, function("g", 2, "x1"))
    assert entries(model, "c::branches[1]") == {("x0", "i1", True), ("x1", "i2", True), ("x1", "u0", False)}
    assert {one for _, one, _ in entries(model)} == {"i1", "i2", "u0"}


def test_a_gradient_gives_none_of_the_functions_results() -> None:
    model = made(call("SymbolicGradient", 3, f="f"), TWO)
    assert entries(model) == {("x0", "i0", True), ("x1", "i1", True)}


def test_a_dataset_hands_its_elements_and_what_is_captured() -> None:
    # i0 a dataset of pairs, i1 captured, i2 how many in parallel
    three = function("f", 3, "add:z:0", nodes=[ADD])
    model = made(call("ParallelMapDatasetV2", 3, f="f", Targuments=1), three)
    assert entries(model) == {
        ("x0", "i0", True), ("x1", "i0", True), ("x2", "i1", True), ("add", "u0", False),
    }  # fmt: skip


def test_a_reduction_has_its_state_first() -> None:
    three = function("f", 3, "add:z:0", nodes=[ADD])
    model = made(call("ReduceDataset", 3, f="f", Tstate=1, Targuments=1), three)
    assert entries(model) == {
        ("x0", "i1", True), ("x1", "i0", True), ("x2", "i2", True), ("add", "u0", False),
    }  # fmt: skip


def test_functions_of_one_dataset_capture_one_after_the_other() -> None:
    attrs = {"key_func": "f", "reduce_func": "g", "Tkey_func_other_arguments": 1, "Treduce_func_other_arguments": 2}
    node = call("GroupByWindowDataset", 4, **attrs)
    library = {"function": [function("f", 2, "x0"), function("g", 3, "x0")]}
    graph = flatten(GraphDef(node=[*inputs(4), node], library=library))
    for attr, at, expected in (("key_func", 0, {1: [1]}), ("reduce_func", 1, {2: [1], 3: [2]})):
        found: Function = graph.functions[at]
        joined = _call_wiring(graph, 4, attr, found)
        assert {
            slot: joined.arguments_of_input(slot) for slot in range(1, 4) if joined.arguments_of_input(slot)
        } == expected


def test_an_op_nobody_knows_is_wired_only_where_the_numbers_agree() -> None:
    assert ("x1", "i1", True) in entries(made(call("OddCall", 2, f="f"), TWO))
    assert entries(made(call("OddCall", 4, f="f"), TWO)) == set()


def test_control_edges_end_at_the_call() -> None:
    node = call("PartitionedCall", 2, f="f")
    node["input"].append("^i0")
    model = made(node, TWO)
    assert all(one.control == 0 for one in model.metagraph(model.names.find_paths("c")[0]).bridges)
    edge = next(one for one in model.metagraph().edges if one.control)
    assert (edge.tensors, edge.control) == (1, 1)


def test_constants_stand_beside_the_arguments() -> None:
    node = call("While", 2, cond="k", body="f")
    graph = GraphDef(
        node=[{"name": "i0", "op": "Const"}, {"name": "i1", "op": "Relu"}, node],
        library={"function": [function("k", 2, "x0"), TWO]},
    )
    model = load(graph)
    for attr in ("cond", "body"):
        level = model.metagraph(model.names.find_paths(f"c::{attr}")[0])
        beside = {
            (model.hierarchy.name[level.children[one.child]], model.hierarchy.name[one.other])
            for one in level.annotations
            if one.kind == "constant"
        }
        assert beside == {("x0", "i0")}
