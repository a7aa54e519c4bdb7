"""Sizes that say how long a shape is, or how many ways a slice has: no graph of a few ops takes memory or time."""

from __future__ import annotations

import tracemalloc

import pytest

from graphviz_tb import load
from graphviz_tb.annotate.costs.rules import RULES as COSTED
from graphviz_tb.annotate.infer.rules import RULES
from graphviz_tb.proto import GraphDef

HUGE = 2**31


def graph_of(*sizes: int) -> GraphDef:
    graph = GraphDef()
    node = graph.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = 3
    for size in sizes:
        node.attr["shape"].shape.dim.add(size=size)
    node.attr["shape"].shape.SetInParent()
    unknown = graph.node.add(name="u", op="Placeholder")
    unknown.attr["shape"].shape.unknown_rank = True
    return graph


@pytest.mark.parametrize("sizes", [(HUGE,), (HUGE, 2), (2, HUGE), (2**62,)], ids=str)
def test_every_op_whose_inputs_are_that_long(sizes: tuple[int, ...]) -> None:
    graph = graph_of(*sizes)
    for kind in sorted({*RULES, *COSTED}):
        for place, first in enumerate("ux"):
            graph.node.add(name=f"{kind}_{place}", op=kind, input=[first, "x", "x", "x"])
    tracemalloc.start()
    load(graph).costs()
    assert tracemalloc.get_traced_memory()[1] < 200e6
    tracemalloc.stop()


def test_ranks_do_not_double() -> None:
    graph = graph_of(2, 2)
    before = "x"
    for number in range(40):
        graph.node.add(name=f"g{number}", op="Gather", input=[before, before])
        before = f"g{number}"
    shapes = load(graph).shapes()
    assert shapes["g1", 0] == (2,) * 5
    assert shapes["g39", 0] is None
