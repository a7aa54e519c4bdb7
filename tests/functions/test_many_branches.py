"""A call of very many functions: what it calls each of them, and how many ops they have, is found once."""

from __future__ import annotations

import pytest

from graphviz_tb.fold import fold_graph
from graphviz_tb.graphs.calls import OpCounter
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import is_valid_path, neighbour_path, path_address
from graphviz_tb.proto import GraphDef
from graphviz_tb.words.view import NodeLabels
from tests.flat import flatten
from tests.timing import seconds


def branching(name: str, count: int) -> Hierarchy:
    """A call of so many functions of two ops."""
    graph = GraphDef()
    node = graph.node.add(name=name, op="Case")
    for number in range(count):
        node.attr["branches"].list.func.add(name=f"f{number}")
        function = graph.library.function.add(signature={"name": f"f{number}"})
        function.node_def.add(name="x", op="Relu")
        function.node_def.add(name="y", op="Relu")
    return fold_graph(flatten(graph))


@pytest.mark.slow
def test_branches_by_what_the_call_calls_them() -> None:
    hierarchy = branching("c", 10_000)
    (call,), rows = hierarchy.calls, hierarchy.function_rows
    labels = NodeLabels(hierarchy, lambda path: None)
    with seconds(2):  # about 0.2
        found = [labels.node_label((call, row)) for row in rows]
        assert all(is_valid_path(hierarchy, (call, row)) for row in rows)
        assert all(neighbour_path(hierarchy, (call,), row + 1, inside=True) == (call, row + 1) for row in rows)
    assert [label.label for label in found] == [f"branches[{number}]" for number in range(10_000)]
    assert found[7].address == "c::branches[7]"
    assert path_address(hierarchy, (call, rows[7] + 1)) == "c::branches[7]/x"


@pytest.mark.slow
def test_ops_of_many_branches_deep_in_scopes() -> None:
    hierarchy = branching("a/" * 5000 + "c", 5000)
    with seconds(1):  # about 0.03
        through = OpCounter(hierarchy)
        assert {through(row) for row in range(5000)} == {10_000}
