"""Objects of a running TensorFlow, as doubles: what is traced, and what is refused with the call to make."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.errors import Ambiguous, RequestError, UnknownChoice
from graphviz_tb.proto import GraphDef
from tests.each import each

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
    (weight,) = load(SimpleNamespace(graph=graph)).hierarchy.graph.meaning.weights.values()
    assert (weight.variable, weight.dtype) == ("dense/kernel", "float32")
    assert graph.asked == {"add_shapes": True}


def test_a_function_is_traced_where_its_signature_is_known() -> None:
    concrete = SimpleNamespace(graph=Graph())
    function = SimpleNamespace(input_signature=("x",), get_concrete_function=lambda: concrete)
    assert load(function).hierarchy.op_count(0) == 2
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


def function(**known: Any) -> SimpleNamespace:
    """A `tf.function`."""
    concrete = SimpleNamespace(graph=Graph())
    return SimpleNamespace(**{"input_signature": None, "get_concrete_function": lambda: concrete, **known})


class Module:
    """A `tf.Module`."""

    submodules, with_name_scope = (), str

    def __init__(self, **functions: Any) -> None:
        self.__dict__.update(functions)


def test_the_only_known_function_of_a_module_is_traced() -> None:
    module = Module(run=function(input_signature=("x",)), helper=function())
    assert load(module).hierarchy.op_count(0) == 2


def test_several_functions_are_listed_and_one_is_chosen() -> None:
    module = Module(encode=function(input_signature=("x",)), decode=function(input_signature=("x",)))
    with pytest.raises(Ambiguous, match="'decode', 'encode'") as caught:
        load(module)
    assert caught.value.hint == "give one of them: load(module.decode)"
    assert load(module, signature="encode").hierarchy.op_count(0) == 2
    with pytest.raises(UnknownChoice, match="decode, encode"):
        load(module, signature="encod")


def test_a_loaded_model_is_its_signature() -> None:
    concrete = SimpleNamespace(graph=Graph())
    assert load(SimpleNamespace(signatures={"serving_default": concrete, "other": None})).hierarchy.op_count(0) == 2
    assert load(SimpleNamespace(signatures={"only": concrete})).hierarchy.op_count(0) == 2
    two = SimpleNamespace(signatures={"a": concrete, "b": concrete})
    with pytest.raises(Ambiguous, match="'a', 'b'"):
        load(two)
    assert load(two, signature="b").hierarchy.op_count(0) == 2


def test_a_loaded_function_is_the_one_it_was_saved_with() -> None:
    def retrace() -> None:
        raise AssertionError("Called a function referencing variables which have been deleted.")

    loaded = function(concrete_functions=[SimpleNamespace(graph=Graph())], get_concrete_function=retrace)
    assert load(loaded).hierarchy.op_count(0) == 2


def test_variables_that_are_gone_have_no_name() -> None:
    class Dropped(Graph):
        @property
        def variables(self) -> Any:
            raise AssertionError("Called a function referencing variables which have been deleted.")

        @variables.setter
        def variables(self, _: Any) -> None: ...

    assert load(SimpleNamespace(graph=Dropped())).hierarchy.op_count(0) == 2


def test_a_signature_of_what_has_none_is_refused() -> None:
    with pytest.raises(RequestError, match="no signature can be chosen here"):
        load(SimpleNamespace(graph=Graph()), signature="a")


class Net:
    named_parameters, state_dict = str, str


class Tensor:
    dtype, shape = "float32", (2,)


@each(
    ("source", "message", "hint"),
    [
        (None, "None is not a graph", "give a path"),
        (3, "an int is not a graph", "give a path"),
        (Module, "the class 'Module' is not a graph", "give a path"),
        (Module(), "the module 'Module' has no tf.function", "tf.function(module)"),
        (SimpleNamespace(name="d", add_weight=str, call=str), "the layer 'd' is not a model", "keras.Sequential"),
        (Net(), "the PyTorch module 'Net' has no graph", "SummaryWriter.add_graph"),
        (Tensor(), "a Tensor is a value, and no graph", "keras.Model(inputs, outputs)"),
        (test_barriers_of_tracing_are_left_out, "is not traced yet", "tf.function(test_barriers_of"),
        (lambda x: x, "the Python function '<lambda>' is not traced yet", "load(tf.function(f)."),
        (function(__name__="<lambda>"), "'f' is a function of many graphs", "load(f.get_concrete_function("),
    ],
)
def test_what_is_no_graph_says_what_to_call(source: Any, message: str, hint: str) -> None:
    with pytest.raises(RequestError) as caught:
        load(source)
    assert message in str(caught.value)
    assert hint in str(caught.value.hint)
