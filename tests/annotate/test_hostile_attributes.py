"""Attributes of another kind than the op has: no shape is found, and the graph is drawn."""

from __future__ import annotations

from random import Random

import pytest

from graphviz_tb import load
from graphviz_tb.proto import GraphDef
from tests.fuzz.families import graphs


def test_a_list_of_shapes_where_a_shape_is_meant() -> None:
    graph = GraphDef(node=[{"name": "a", "op": "Placeholder"}, {"name": "b", "op": "Relu", "input": ["a"]}])
    graph.node[0].attr["shape"].list.shape.add().dim.add(size=10**18)
    assert load(graph).picture().render("svg")


@pytest.mark.parametrize("seed", range(60))
def test_attributes_of_any_kind(seed: int) -> None:
    model = load(graphs.attributes(Random(seed)))
    assert model.picture().render("svg")
    assert model.render("json")
