"""Names become scopes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.fold.scopes import _scopes_unseen_by_tensorboard
from graphviz_tb.proto import GraphDef
from tests.conftest import cpu_seconds

Rule = Callable[..., Model]


def tree(model: Model) -> list[tuple[str, str]]:
    """(parent, name) of every row but the root, marks included."""
    hierarchy = model.hierarchy
    return [(hierarchy.name[hierarchy.parent[row]], hierarchy.name[row]) for row in range(1, len(hierarchy))]


def test_an_op_that_is_a_scope_moves_into_it(rule: Rule) -> None:
    # x ─▶ dense ─▶ dense/relu ─▶ y
    assert tree(rule("op_is_scope")) == [
        ("", "x"),
        ("", "dense"),
        ("dense", "dense/(dense)"),
        ("dense", "dense/relu"),
        ("", "y"),
    ]


def test_both_are_found_where_the_strict_name_is_taken(rule: Rule) -> None:
    # x ─▶ dense ─▶ dense/(dense) ─▶ dense/relu
    model = rule("op_is_scope_clash")
    assert [name for parent, name in tree(model) if parent == "dense"] == [
        "dense/((dense))",
        "dense/(dense)",
        "dense/relu",
    ]
    (row,) = (row for row in model.metagraph().children if model.hierarchy.name[row] == "dense")
    assert sum(edge.tensors for edge in model.metagraph((row,)).edges) == 2


def test_a_scope_of_marks_only_is_not_made(rule: Rule) -> None:
    # x ─▶ shape/reshape ◀─ shape/target        sizes/a ─▶ split ◀─ sizes/b
    found = tree(rule("constant_scope"))
    assert ("", "sizes") not in found
    assert ("", "sizes/a") in found
    assert ("shape", "shape/target") in found


def test_a_name_that_begins_with_a_slash_lies_in_a_scope_without_a_name() -> None:
    assert tree(graphviz_tb.load(GraphDef(node=[{"name": "/m/a"}, {"name": "b"}]))) == [
        ("", ""),
        ("", "/m"),
        ("/m", "/m/a"),
        ("", "b"),
    ]


@pytest.mark.slow
def test_deep_names_need_no_stack() -> None:
    deep = "/".join(f"s{at}" for at in range(10_000))
    model = graphviz_tb.load(
        GraphDef(node=[{"name": f"{deep}/a", "op": "A"}, {"name": "b", "op": "B", "input": [f"{deep}/a"]}])
    )
    assert model.hierarchy.depth.max() == 10_001
    assert len(model.picture().scene.boxes) >= 2
    assert len(model.metagraph().edges) == 1


def test_whole_numbers_come_first_for_tensorboard() -> None:
    # as JavaScript orders the names of an object; not below a scope, and not "07"
    names = ["x", "10", "s/3", "07", "9", "s/2", str(10**20), str(10**19), "0"]
    graph = GraphDef(node=[{"name": name, "op": "A"} for name in names])
    theirs = graphviz_tb.load(graph, preset="tensorboard")
    assert [name for _, name in tree(theirs)] == [
        "0", "9", "10", str(10**19), str(10**20), "x", "s", "s/3", "s/2", "07"
    ]  # fmt: skip
    assert [name for parent, name in tree(graphviz_tb.load(graph, folds=False)) if not parent] == [
        "x", "10", "s", "07", "9", str(10**20), str(10**19), "0"
    ]  # fmt: skip


def test_a_scope_stands_where_its_op_of_the_same_name_does() -> None:
    # s and s/t are ops and scopes; x lies between them and what else is in these
    names = ["s", "s/t", "x", "s/t/a", "s/b"]
    model = graphviz_tb.load(GraphDef(node=[{"name": name, "op": "A"} for name in names]), folds=False)
    assert tree(model) == [
        ("", "s"), ("s", "s/(s)"), ("s", "s/t"), ("s/t", "s/t/(t)"), ("s/t", "s/t/a"), ("s", "s/b"), ("", "x")
    ]  # fmt: skip
    inner = graphviz_tb.load(GraphDef(node=[{"name": name, "op": "A"} for name in names[1:]]), folds=False)
    assert [name for parent, name in tree(inner) if not parent] == ["s", "x"]


def constants_around(depth: int, others: int) -> Model:
    """Constants that are scopes of the last name, each inside the one before, beside other names."""
    graph = GraphDef(node=[{"name": f"a{number}", "op": "Relu"} for number in range(others)])
    graph.node.add(name="/".join("z" * (depth + 1)), op="Relu")
    for level in range(1, depth + 1):
        graph.node.add(name="/".join("z" * level), op="Const")
    return graphviz_tb.load(graph, preset="tensorboard")


def test_the_scopes_of_the_last_name_alone_are_not_seen() -> None:
    graph = constants_around(3, 2).hierarchy.graph
    marks = np.flatnonzero(graph.mark).tolist()
    assert len(marks) == 3
    assert _scopes_unseen_by_tensorboard(graph, marks) == {"z", "z/z", "z/z/z"}
    inside = GraphDef(node=[{"name": "z/z/x", "op": "Relu"}, {"name": "z/z/z/z", "op": "Relu"}])
    for name in ("z", "z/z", "z/z/z"):
        inside.node.add(name=name, op="Const")
    seen = graphviz_tb.load(inside, preset="tensorboard").hierarchy.graph
    assert _scopes_unseen_by_tensorboard(seen, np.flatnonzero(seen.mark).tolist()) == {"z/z/z"}


@pytest.mark.slow
def test_names_are_not_searched_again_for_each_scope_of_the_last() -> None:
    def seconds(depth: int) -> float:
        graph = constants_around(depth, 20_000).hierarchy.graph
        marks = np.flatnonzero(graph.mark).tolist()
        return cpu_seconds(lambda: _scopes_unseen_by_tensorboard(graph, marks))

    assert seconds(400) < 4 * seconds(20)


def test_a_long_name_of_a_function_is_not_put_before_each_of_its_nodes() -> None:
    # a name of 100,000 letters and 3,000 nodes: 300 MB
    graph = GraphDef(node=[{"name": "c", "op": "Const"}, {"name": "x", "op": "A", "input": ["c"]}])
    function = graph.library.function.add()
    function.signature.name = "f" * 100_000
    for number in range(3_000):
        function.node_def.add(name=f"{number}", op="B")
    tracemalloc.start()
    graphviz_tb.load(graph, preset="tensorboard")
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
