"""Objects of a running TensorFlow: graphs, traced functions, Keras models. Nothing of TensorFlow is imported here."""

from __future__ import annotations

import sys
from typing import Any

from graphviz_tb.errors import RequestError

VARIABLE = "_variable"  # attribute of a placeholder that represents a captured variable: the variable's name
MANNERS = "give a path, bytes, a GraphDef, a tf.Graph or a ConcreteFunction"


def message_of(source: Any) -> Any:
    """Before: an object. After: a message that can be serialized, with the shapes of all outputs where TensorFlow knows
    them; or `RequestError`, which says what to call.

    A function is traced if its input signature is known, a Keras model by the shapes of its inputs.
    """
    if hasattr(source, "SerializeToString"):
        return source
    if callable(getattr(source, "to_json", None)) and hasattr(source, "layers"):
        source = traced_model(source)
    elif hasattr(source, "get_concrete_function"):
        source = traced(source)
    graph = source if hasattr(source, "as_graph_def") else getattr(source, "graph", None)
    if not hasattr(graph, "as_graph_def"):
        raise RequestError(f"a {type(source).__name__} is no graph", hint=MANNERS)
    message = named(graph_def_of(graph), graph)
    return without_barriers(message) if hasattr(graph, "captures") else message


def graph_def_of(graph: Any) -> Any:
    """The GraphDef of a graph, with shapes where it can write them."""
    try:
        return graph.as_graph_def(add_shapes=True)
    except TypeError:  # a graph of someone else's
        return graph.as_graph_def()


def traced(function: Any) -> Any:
    """The concrete function of a `tf.function` whose signature is known."""
    if getattr(function, "input_signature", None) is not None:
        return function.get_concrete_function()
    name = getattr(function, "__name__", "function")
    raise RequestError(
        f"{name!r} is a function of many graphs, one for each signature",
        hint=f"give one of them: load({name}.get_concrete_function(tf.TensorSpec([None, 8])))",
    )


def traced_model(model: Any) -> Any:
    """The concrete function that calls a built Keras model."""
    tensorflow, inputs = sys.modules.get("tensorflow"), getattr(model, "inputs", None)
    if tensorflow is None or not inputs:
        raise RequestError(
            f"the model {getattr(model, 'name', '')!r} does not say what it is called with",
            hint="give tf.function(model).get_concrete_function(tf.TensorSpec([None, 8])), or save it first",
        )
    specs = [tensorflow.TensorSpec(each.shape, each.dtype, name=each.name.partition(":")[0]) for each in inputs]

    def call(*tensors: Any) -> Any:
        return model(tensors[0] if len(tensors) == 1 else list(tensors))

    return tensorflow.function(call).get_concrete_function(*specs)


def named(message: Any, graph: Any) -> Any:
    """Write on the placeholders of captured variables what the program calls these, and their shapes."""
    variables = {id(variable.handle): variable for variable in getattr(graph, "variables", ())}
    called = {inner.op.name: variables.get(id(outer)) for outer, inner in getattr(graph, "captures", ())}
    for node in message.node if called else ():
        if (variable := called.get(node.name)) is not None:
            node.attr[VARIABLE].s = variable.name.removesuffix(":0").encode()
            describe(node, variable)
    return message


def describe(node: Any, variable: Any) -> None:
    """Write dtype and shape of a variable on its handle, as TensorFlow does on arguments of saved functions."""
    dtype: Any = getattr(variable, "dtype", None)
    shape: Any = getattr(variable, "shape", None)
    if hasattr(dtype, "as_datatype_enum") and hasattr(shape, "as_proto"):
        node.attr["_handle_dtypes"].list.type.append(dtype.as_datatype_enum)
        node.attr["_handle_shapes"].list.shape.append(shape.as_proto())


def without_barriers(message: Any) -> Any:
    """The graph of a traced function without the NoOps for which nothing but its results waits: tracing makes them."""
    waited = {each[1:] for node in message.node for each in node.input if each.startswith("^")}
    barriers = {node.name for node in message.node if node.op == "NoOp" and node.name in waited and not data(node)}
    for node in message.node:
        if node.op != "Identity":
            barriers -= {each[1:] for each in node.input if each.startswith("^")}
    kept = [node for node in message.node if node.name not in barriers]
    if barriers:
        made = type(message)(versions=message.versions, library=message.library)
        made.node.extend(kept)
        for node in made.node:
            node.input[:] = [each for each in node.input if not (each.startswith("^") and each[1:] in barriers)]
        return made
    return message


def data(node: Any) -> list[str]:
    """The inputs that are tensors."""
    return [each for each in node.input if not each.startswith("^")]
