"""Ops of whose outputs nothing is followed, as there is no room for more sizes, count as unknown."""

from __future__ import annotations

import pytest

import graphviz_tb
from graphviz_tb.proto import GraphDef


@pytest.mark.parametrize("op", ["Variable", "VariableV2", "VarHandleOp", "Const"])
def test_weights_whose_shapes_have_no_room(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphviz_tb.annotate.infer.symbols.MOST_CLAIMED", 0)
    graph = GraphDef()
    weight = graph.node.add(name="w", op=op)
    weight.attr["dtype"].type = 1
    weight.attr["shape"].shape.dim.extend([weight.attr["shape"].shape.Dim(size=1)] * 200)
    weight.attr["value"].tensor.dtype = 1
    weight.attr["value"].tensor.tensor_shape.dim.extend([weight.attr["shape"].shape.Dim(size=1)] * 200)
    graph.node.add(name="x", op="Placeholder")
    graph.node.add(name="y", op="MatMul", input=["x", "w"])
    model = graphviz_tb.load(graph)
    assert model.cost.under(0).flops >= 0
    assert b"w" in model.render("svg")
