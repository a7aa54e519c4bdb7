"""Time for graphs that repeat one thing thousands of times: no more than in proportion to the graph."""

from __future__ import annotations

import time
from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.graphs.calls import uncalled_functions
from graphviz_tb.proto import GraphDef
from tests.timing import within


def seconds(*nodes: dict[str, Any], preset: str = "default") -> tuple[graphviz_tb.Model, float]:
    """The model of such nodes, and the processor time that it took."""
    graphviz_tb.load(GraphDef(node=[{"name": "a", "op": "Foo"}]), preset=preset)  # the first imports modules
    graph = GraphDef(node=nodes)
    start = time.process_time()
    model = graphviz_tb.load(graph, preset=preset)
    return model, time.process_time() - start


@pytest.mark.slow
def test_what_thousands_of_nodes_take_through_one_constant_is_bounded() -> None:
    inputs = [{"name": f"a{number}", "op": "Foo"} for number in range(2000)]
    middle = {"name": "c", "op": "FooConst", "input": [node["name"] for node in inputs]}
    users = [{"name": f"b{number}", "op": "Bar", "input": ["c"]} for number in range(2000)]
    model, _ = seconds(*inputs, middle, *users, preset="tensorboard")
    # The first users have all inputs, as TensorBoard shows them; four million edges would fill memory.
    assert model.hierarchy.graph.edge_count == 100_000 + 10 * 4000
    assert [notice.code for notice in model.notices if notice.code == "mark-limit"] == ["mark-limit"]


@pytest.mark.slow
def test_deep_scopes_are_looked_for_among_gradients_once() -> None:
    _, took = seconds({"name": "a_1/" * 6000 + "x", "op": "MatMul"})
    assert within(took, 6)


def weights(count: int, shared: str = "") -> list[dict[str, Any]]:
    """Variables `v0` … that are read by `r0` …; their full names are `v0/`, then `shared`."""
    dtype = {"dtype": {"type": 1}}
    nodes: list[dict[str, Any]] = []
    for number in range(count):
        attr = {**dtype, "shared_name": {"s": f"v{number}/{shared}".encode()}} if shared else dtype
        nodes.append({"name": f"v{number}", "op": "VarHandleOp", "attr": attr})
        nodes.append({"name": f"r{number}", "op": "ReadVariableOp", "input": [f"v{number}"], "attr": dtype})
    return nodes


@pytest.mark.slow
def test_deep_names_of_weights_are_compared_with_deep_scopes_quickly() -> None:
    deep = {"name": "a_1/" * 3000 + "x", "op": "Foo", "input": [f"r{number}" for number in range(20)]}
    _, took = seconds(*weights(20, shared="b/" * 3000 + "w"), deep)
    assert within(took, 9)


@pytest.mark.slow
def test_the_scopes_around_one_user_of_many_weights_are_listed_once() -> None:
    deep = {"name": "a/" * 10000 + "x", "op": "Foo", "input": [f"r{number}" for number in range(5000)]}
    _, took = seconds(*weights(5000), deep, {"name": "q_1/x", "op": "Foo"})
    assert within(took, 9)


@pytest.mark.slow
def test_one_name_of_many_nodes_is_looked_for_in_series_once() -> None:
    names = [name for number in range(1, 10001) for name in ("x", f"x_{number}")]
    model, took = seconds(*({"name": name, "op": "Foo"} for name in names))
    assert "x_[0-10000]" in model.hierarchy.name
    assert within(took, 6)


def function(name: str, callee: str = "") -> dict[str, Any]:
    """A function that calls another one."""
    return {"signature": {"name": name}, "node_def": [{"name": "c", "op": callee or "NoOp"}]}


@pytest.mark.slow
def test_a_chain_of_functions_that_many_uncalled_ones_begin_is_followed_once() -> None:
    chain = [function(f"g{number}", f"g{number + 1}") for number in range(10_000)]
    heads = [function(f"f{number}", "g0") for number in range(10_000)]
    library = {"function": [*chain, function("g10000"), *heads]}
    hierarchy = graphviz_tb.load(GraphDef(node=[{"name": "x", "op": "NoOp"}], library=library)).hierarchy
    start = time.process_time()
    uncalled = uncalled_functions(hierarchy)
    assert within(time.process_time() - start, 5)
    assert {hierarchy.name[row] for row in uncalled} == {f"f{number}" for number in range(10_000)}


@pytest.mark.slow
def test_thousands_of_edges_into_a_deep_scope_do_not_climb_level_by_level() -> None:
    inputs = [{"name": f"y{number}", "op": "Foo"} for number in range(30000)]
    deep = {"name": "a/" * 10000 + "x", "op": "AddN", "input": [node["name"] for node in inputs]}
    _, took = seconds(*inputs, deep)
    assert within(took, 9)
