"""Thousands of calls of functions that call functions: what each leads to is found once."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest

from graphviz_tb.annotate.tensors import TensorDecoder
from graphviz_tb.diff import diff
from graphviz_tb.diff.columns.side import callers_in_main
from graphviz_tb.proto import GraphDef
from tests.conftest import cpu_seconds
from tests.flat import flatten


def calls_of_a_chain(calls: int, functions: int) -> GraphDef:
    """Calls of the first function; each of these is a call of the next, the last an op."""
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}, {"name": "y", "op": "Relu", "input": ["x"]}])
    for number in range(calls):
        node = graph.node.add(name=f"c{number}", op="PartitionedCall", input=["x"])
        node.attr["f"].func.name = "f0"
    for number in range(functions):
        function = graph.library.function.add(ret={"o": "c:o:0"})
        function.signature.name = f"f{number}"
        function.signature.input_arg.add(name="a", type=1)
        function.signature.output_arg.add(name="o", type=1)
        last = number == functions - 1
        node = function.node_def.add(name="c", op="Foo" if last else "PartitionedCall", input=["a"])
        if not last:
            node.attr["f"].func.name = f"f{number + 1}"
    return graph


def closed_chain(calls: int, functions: int) -> GraphDef:
    """The same; the last function calls the first."""
    graph = calls_of_a_chain(calls, functions)
    node = graph.library.function[-1].node_def[0]
    node.op = "PartitionedCall"
    node.attr["f"].func.name = "f0"
    return graph


@pytest.mark.slow
@pytest.mark.parametrize("chain", [calls_of_a_chain, closed_chain])
def test_calls_in_calls_are_followed_once(chain: Callable[[int, int], GraphDef]) -> None:
    def seconds(count: int) -> float:
        graph = flatten(chain(count, count))

        def ask() -> None:
            decode = TensorDecoder(graph, infer=False).tensors_of_node
            assert {decode(node)("0").shape for node in range(len(graph))} == {None}

        return cpu_seconds(ask)

    assert seconds(2000) < 48 * seconds(125)  # 16 times as many


@pytest.mark.slow
def test_functions_that_came_behind_many_calls() -> None:
    def seconds(count: int) -> float:
        old, new = calls_of_a_chain(count, 10), calls_of_a_chain(count, count)
        return cpu_seconds(lambda: diff(old, new))

    assert seconds(1600) < 40 * seconds(100)


def test_callers_of_functions_that_call_each_other() -> None:
    """Each function is called from the main graph, and by the one before it."""
    count = 3000
    callers = {number: [number, count + number - 1][: number + 1] for number in range(count)}
    block = [0] * count + list(range(1, count + 1))
    tracemalloc.start()
    found = callers_in_main(callers, block, count)
    assert tracemalloc.get_traced_memory()[1] < 60e6
    tracemalloc.stop()
    assert found[:3] == [{0}, {0, 1}, {0, 1, 2}]
    assert sorted(found[-1]) == list(range(100))
