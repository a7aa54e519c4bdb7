"""Thousands of edits in one diff: none is looked for among all others."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.proto import GraphDef
from tests.timing import within


def word(number: int) -> str:
    """A name without a digit: what is so called is in no series."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def taken_out_of_scopes(count: int) -> tuple[Any, Any]:
    """Ops of many scopes that lie in one scope now, of each one that is known again and two that are not."""
    made = GraphDef(), GraphDef()
    for graph, around, twins in zip(made, ("{}x/", "flat/"), ("{}x/", "flat/{}"), strict=True):
        for at in range(count):
            known = f"{around.format(word(at))}{word(at)}q"
            graph.node.add(name=known, op=f"Op{at}", input=[graph.node[-1].name] if at else [])
            for leaf in "pr":
                graph.node.add(name=f"{twins.format(word(at))}{leaf}", op="Same")
    return made


def rates_of_gradients(count: int) -> tuple[Any, Any]:
    """Ops of gradients, each of which has another rate."""
    made = GraphDef(), GraphDef()
    for rate, graph in zip((0, 0.5), made, strict=True):
        graph.node.add(name="in", op="Placeholder")
        for at in range(count):
            op = graph.node.add(name=f"{word(at)}x/MatMul", op="MatMul", input=["in"])
            gradient = graph.node.add(name=f"gradients/{op.name}_grad", op="MatMul", input=[op.name])
            gradient.attr["rate"].f = at + rate
    return made


def one_more_of_each(count: int) -> tuple[Any, Any]:
    """Many series in one scope, each of equal members, of which one came."""
    made = GraphDef(), GraphDef()
    for graph, members in zip(made, (2, 3), strict=True):
        graph.node.add(name="in", op="Placeholder")
        for at in range(count):
            for member in range(members):
                graph.node.add(name=f"{word(at)}z_{member}/x", op=f"Op{at}", input=["in"])
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "count"), [(taken_out_of_scopes, 4000), (rates_of_gradients, 6000), (one_more_of_each, 5000)]
)
def test_edits_are_not_compared_with_all_others(pair: Callable[[int], tuple[Any, Any]], count: int) -> None:
    old, new = pair(count)
    start = process_time()
    assert diff(old, new)
    assert within(process_time() - start, 9)
