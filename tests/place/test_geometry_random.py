"""The same on graphs that nobody drew: any scopes, cycles, hubs, marks, long and odd names, in every direction."""

from __future__ import annotations

from geometry import faults
from hypothesis import given
from hypothesis import strategies as st

import graphviz_tb
from graphviz_tb.proto import GraphDef

SEGMENTS = ["a", "b", "conv_1", "conv_2", "conv_3", "a_very_long_name_of_a_scope_that_cannot_fit_12", "층", "x y", "😀"]
OPS = ["Add", "Const", "NoOp", "VariableV2", "Assign", "ScalarSummary", "MatMul"]
NAMES = st.lists(st.sampled_from(SEGMENTS), min_size=1, max_size=4).map("/".join)


@st.composite
def graphs(draw: st.DrawFn) -> bytes:
    """A graph of up to 30 nodes; an input may name any node, before or after."""
    names = draw(st.lists(NAMES, min_size=1, max_size=30, unique=True))
    graph = GraphDef()
    for name in names:
        inputs = draw(st.lists(st.sampled_from(names), max_size=3))
        marks = draw(st.lists(st.sampled_from(["", "", "", "^", ":1"]), min_size=len(inputs), max_size=len(inputs)))
        told = [f"^{one}" if mark == "^" else one + mark for one, mark in zip(inputs, marks, strict=True)]
        node = graph.node.add(name=name, op=draw(st.sampled_from(OPS)))
        node.input.extend(told)
        if draw(st.booleans()):
            shape = node.attr["_output_shapes"].list.shape.add()
            for size in draw(st.lists(st.sampled_from([-1, 1, 128, 4096]), max_size=4)):
                shape.dim.add(size=size)
    return bytes(graph.SerializeToString(deterministic=True))


@given(graphs(), st.sampled_from(["BT", "TB", "LR", "RL"]), st.sampled_from([0, 1, 2, 9]))
def test_no_graph_is_drawn_with_a_fault(data: bytes, direction: str, depth: int) -> None:
    scene = graphviz_tb.load(data).picture(direction=direction, depth=depth).scene
    assert faults(scene) == []


@given(graphs(), st.integers(0, 2))
def test_few_marks_and_many(data: bytes, most: int) -> None:
    scene = graphviz_tb.load(data, min_nodes=3, min_degree=2).picture(max_annotations=most, depth=9).scene
    assert faults(scene) == []
