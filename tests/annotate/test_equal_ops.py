"""Equal ops with equal inputs are inferred and counted once: whether they are changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.annotate.costs import hierarchy_costs, totals
from graphviz_tb.annotate.infer import engine
from graphviz_tb.annotate.tensors import TensorDecoder
from graphviz_tb.model.hierarchy import Hierarchy
from tests.annotate.test_costs import model, node, placeholder
from tests.each import each
from tests.effort import part

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOLDERS = ("real", "steps", "shapes", "rules", "models")
GRAPHS = sorted(path for folder in FOLDERS for path in FIXTURES.glob(f"{folder}/**/*.pb*"))


def found(hierarchy: Hierarchy) -> Iterator[Any]:
    """All that inference and costs say of a graph, symbols as they were numbered."""
    tensors = TensorDecoder(hierarchy.graph)
    costs = hierarchy_costs(hierarchy, tensors.inference)
    yield [tensors.inference.outputs_of_node(node) for node in range(len(hierarchy.graph))]
    yield costs.own, costs.counted, costs.uncounted
    yield tensors.inference_notices()


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MAX_CACHED_OPS", 0)
    monkeypatch.setattr(totals, "MAX_CACHED_OPS", 0)


@each("path", part(GRAPHS, 15), ids=lambda path: path.name)
def test_what_is_remembered_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hierarchy = load(path).hierarchy
    remembered = list(found(hierarchy))
    forget(monkeypatch)
    assert list(found(hierarchy)) == remembered


def test_equal_ops_have_their_own_unknown_sizes() -> None:
    # x ─▶ a, b: each finds how many different elements there are, two numbers; c and d do the same with them
    nodes = [placeholder("x", 6), *(node(name, "Unique", "x") for name in "ab")]
    graph = model(*nodes, node("c", "Relu", "a"), node("d", "Relu", "a")).hierarchy.graph
    inference = TensorDecoder(graph).inference
    a, b, c, d = (inference.first_output(graph.index[0][name]).shape for name in "abcd")
    assert a != b
    assert a == c == d


def test_each_contradiction_of_equal_ops_is_told() -> None:
    wrong = {"_output_shapes": {"list": {"shape": [{"dim": [{"size": 7}]}]}}}
    odd = model(placeholder("x", 6), *(node(name, "Relu", "x", **wrong) for name in "abc"))
    odd.shapes()
    list(odd.costs())
    (notice,) = odd.facts.odd()
    assert notice.count == 3


@pytest.mark.parametrize("attr", ["transpose_b", "_output_shapes"])
def test_an_attribute_that_says_something_sets_ops_apart(attr: str) -> None:
    value = {"transpose_b": {"b": True}, "_output_shapes": {"list": {"shape": [{"dim": [{"size": 4}, {"size": -1}]}]}}}
    nodes = [placeholder("x", 4, 4), placeholder("w", 4, 4), node("a", "MatMul", "x", "w")]
    graph = model(*nodes, node("b", "MatMul", "x", "w", **{attr: value[attr]})).hierarchy.graph
    numbers = TensorDecoder(graph).inference.definitions
    assert numbers.number_of(graph.index[0]["a"]) != numbers.number_of(graph.index[0]["b"])


def test_where_an_op_runs_sets_it_not_apart() -> None:
    # a on the CPU, b on the GPU beside x, with another name and input
    text = """node { name: "x" op: "NoOp" } node { name: "a" op: "Relu" input: "x" device: "/cpu:0" }
    node { name: "b" op: "Relu" input: "a" device: "/gpu:0" attr { key: "_class" value { list { s: "loc:@x" } } } }"""
    graph = load(text.encode()).hierarchy.graph
    numbers = TensorDecoder(graph).inference.definitions
    assert numbers.number_of(graph.index[0]["a"]) == numbers.number_of(graph.index[0]["b"])
