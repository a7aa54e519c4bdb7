"""Objects of a running TensorFlow: graphs, traced functions, Keras models. Nothing of TensorFlow is imported here."""

from __future__ import annotations

from typing import Any

from graphviz_tb.ops.roles import GROUPS, TRACED_RESULTS
from graphviz_tb.read.callables import concrete, refusal

VARIABLE = "_variable"  # attribute of a placeholder that represents a captured variable: the variable's name


def message_of(source: Any, signature: str | None = None) -> Any:
    """Before: an object. After: a message that can be serialized, with the shapes of all outputs where TensorFlow knows
    them; or `RequestError`, which says what to call."""
    if isinstance(source, type):
        raise refusal(source)
    if hasattr(source, "SerializeToString"):
        return source
    source = concrete(source, signature)
    graph = source if hasattr(source, "as_graph_def") else getattr(source, "graph", None)
    if not hasattr(graph, "as_graph_def"):
        raise refusal(source)
    written = graph_def_of(graph)
    if not hasattr(written, "SerializeToString"):
        raise refusal(written)
    message = named(written, graph)
    return without_barriers(message) if hasattr(graph, "captures") else message


def graph_def_of(graph: Any) -> Any:
    """The GraphDef of a graph, with shapes where it can write them."""
    try:
        return graph.as_graph_def(add_shapes=True)
    except TypeError:  # a graph of someone else's
        return graph.as_graph_def()


def named(message: Any, graph: Any) -> Any:
    """Write on the placeholders of captured variables what the program calls these, and their shapes."""
    # `captures` pairs what is outside, the handle itself, with the placeholder that represents it inside.
    variables = {id(variable.handle): variable for variable in variables_of(graph)}
    called = {inner.op.name: variables.get(id(outer)) for outer, inner in getattr(graph, "captures", ())}
    for node in message.node if called else ():
        if (variable := called.get(node.name)) is not None:
            node.attr[VARIABLE].s = variable.name.removesuffix(":0").encode()
            describe(node, variable)
    return message


def variables_of(graph: Any) -> Any:
    """The variables that a graph uses; none where the program has dropped the model that holds them."""
    try:
        return tuple(getattr(graph, "variables", ()))
    except AssertionError:  # FuncGraph.variables: "Called a function referencing variables which have been deleted"
        return ()


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
    # NoOps that something waits for and that take nothing.
    barriers = {node.name for node in message.node if node.op in GROUPS and node.name in waited and not data(node)}
    for node in message.node:
        if node.op not in TRACED_RESULTS:
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
