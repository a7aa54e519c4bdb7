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


@pytest.mark.parametrize("size", [-(2**62), -(2**62) - 3, -(2**63)])
def test_a_number_as_far_below_zero_as_what_stands_for_the_unknown(size: int) -> None:
    # Attributes and constants hold numbers of 64 bits; of the lowest, some are symbols while shapes are worked out.
    graph = GraphDef()
    graph.node.add(name="listed", op="ImmutableConst").attr["shape"].list.i.extend([size, 2])
    graph.node.add(name="x", op="Placeholder")
    const = graph.node.add(name="c", op="Const").attr["value"].tensor
    const.dtype = 9
    const.int64_val.append(size)
    const.tensor_shape.dim.add(size=1)
    for op in ("Reshape", "Fill", "Tile", "ExpandDims", "Slice"):
        graph.node.add(name=op, op=op, input=["c", "c", "c"] if op == "Fill" else ["x", "c", "c"])
        graph.node.add(name=f"{op}_used", op="Neg", input=[op])
    model = load(graph)
    assert ("listed", 0) not in model.shapes() or model.shapes()["listed", 0] is None
    assert model.costs()
    assert model.render("json")
