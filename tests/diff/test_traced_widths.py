"""Widths of PyTorch modules, from the shapes of what their ops gave."""

from __future__ import annotations

from graphviz_tb import diff
from graphviz_tb.proto import GraphDef


def traced(inner: int, batch: int = 2, filters: int = 3) -> GraphDef:
    """Two blocks of a linear layer and its activation, and a convolution."""
    graph = GraphDef()
    before = ""
    for name, op, shape in (
        ("Net/Conv2d[conv]/9", "aten::_convolution", (batch, filters, 8, 8)),
        ("Net/Block[0]/Linear[up]/10", "aten::linear", (batch, 16, inner)),
        ("Net/Block[0]/SiLU[act]/11", "aten::silu", (batch, 16, inner)),
        ("Net/Block[1]/Linear[up]/12", "aten::linear", (batch, 16, inner)),
        ("Net/Block[1]/Linear[down]/13", "aten::linear", (batch, 16, 8)),
    ):
        node = graph.node.add(name=name, op=op, input=[before] if before else [])
        node.attr["_output_shapes"].list.shape.add(dim=[{"size": size} for size in shape])
        before = name
    return graph


def test_a_wider_module_is_told_by_its_name() -> None:
    (change,) = diff(traced(64), traced(96))
    assert (change.new, change.detail) == ("Net/Block[0]/Linear[up]", {"key": "units", "old": 64, "new": 96})
    assert change.also == (("Net/Block[1]/Linear[up]",) * 2,)
    (change,) = diff(traced(64), traced(64, filters=5))
    assert (change.new, change.detail["key"]) == ("Net/Conv2d[conv]", "filters")


def test_another_batch_makes_no_module_wider() -> None:
    assert not any(change.detail.get("key") in ("units", "filters") for change in diff(traced(64), traced(64, 4)))
    assert diff(traced(64), traced(64)).same


def test_the_same_says_that_a_trace_has_no_shapes_of_weights() -> None:
    assert diff(traced(64), traced(64)).left_out == ("shapes of weights",)
