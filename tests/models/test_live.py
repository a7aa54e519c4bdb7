"""Objects of a running TensorFlow, as doubles: what is traced, and what is refused with the call to make."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.errors import RequestError
from graphviz_tb.proto import GraphDef

RESOURCE = 20


class Graph:
    """x ─▶ MatMul ◀─ ReadVariableOp ◀─ handle (captured)."""

    def __init__(self) -> None:
        handle, inner = object(), SimpleNamespace(op=SimpleNamespace(name="handle"))
        self.captures = [(handle, inner)]
        self.variables = [SimpleNamespace(handle=handle, name="dense/kernel:0")]
        self.asked: dict[str, Any] = {}

    def as_graph_def(self, **asked: Any) -> GraphDef:
        self.asked = asked
        return GraphDef(
            node=[
                {"name": "x", "op": "Placeholder"},
                {"name": "handle", "op": "Placeholder", "attr": {"dtype": {"type": RESOURCE}}},
                {"name": "read", "op": "ReadVariableOp", "input": ["handle"], "attr": {"dtype": {"type": 1}}},
                {"name": "product", "op": "MatMul", "input": ["x", "read"]},
            ]
        )


def test_a_captured_variable_bears_its_name() -> None:
    graph = Graph()
    (weight,) = load(SimpleNamespace(graph=graph)).hierarchy.graph.weights.values()
    assert (weight.variable, weight.dtype) == ("dense/kernel", "float32")
    assert graph.asked == {"add_shapes": True}


def test_a_function_is_traced_where_its_signature_is_known() -> None:
    concrete = SimpleNamespace(graph=Graph())
    function = SimpleNamespace(input_signature=("x",), get_concrete_function=lambda: concrete)
    assert load(function).hierarchy.ops(0) == 2
    unknown = SimpleNamespace(input_signature=None, get_concrete_function=lambda: concrete, __name__="f")
    with pytest.raises(RequestError) as caught:
        load(unknown)
    assert "get_concrete_function" in str(caught.value.hint)


def test_a_model_that_was_never_called_is_refused() -> None:
    with pytest.raises(RequestError, match="does not say what it is called with"):
        load(SimpleNamespace(to_json=str, layers=[], inputs=None, name="m"))


def test_barriers_of_tracing_are_left_out() -> None:
    # read ┄▶ NoOp ┄▶ result; the other NoOp is what an op waits for
    class Traced(Graph):
        def as_graph_def(self, **asked: Any) -> GraphDef:
            made = super().as_graph_def(**asked)
            made.node.add(name="barrier", op="NoOp", input=["^read"])
            made.node.add(name="group", op="NoOp", input=["^read"])
            made.node.add(name="after", op="Relu", input=["product", "^group"])
            made.node.add(name="result", op="Identity", input=["after", "^barrier"])
            return made

    names = load(SimpleNamespace(graph=Traced())).hierarchy.graph.name
    assert "barrier" not in names
    assert {"group", "after", "result"} <= set(names)
