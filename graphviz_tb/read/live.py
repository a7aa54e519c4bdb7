"""Live TensorFlow objects: graphs, traced functions, Keras models. TensorFlow itself is not imported."""

from __future__ import annotations

from typing import Any

from graphviz_tb.ops.roles import GROUP_OPS, TRACED_RESULT_OPS
from graphviz_tb.read.callables import graph_holder, no_graph_error
from graphviz_tb.read.inline import VARIABLE_NAME_ATTR


def message_of_object(source: Any, signature: str | None = None) -> Any:
    """Return a serializable message of an object, with output shapes if TensorFlow knows them.

    Raises `RequestError`, which says what to call instead.
    """
    if isinstance(source, type):
        raise no_graph_error(source)
    if hasattr(source, "SerializeToString"):
        return source
    source = graph_holder(source, signature)
    graph = source if hasattr(source, "as_graph_def") else getattr(source, "graph", None)
    if not hasattr(graph, "as_graph_def"):
        raise no_graph_error(source)
    written = graph_def_with_shapes(graph)
    if not hasattr(written, "SerializeToString"):
        raise no_graph_error(written)
    message = annotate_captures(written, graph)
    return drop_traced_barriers(message) if hasattr(graph, "captures") else message


def graph_def_with_shapes(graph: Any) -> Any:
    """Return the GraphDef of a graph, with shapes if it can write them."""
    try:
        return graph.as_graph_def(add_shapes=True)
    except TypeError:  # a graph class that is not TensorFlow's
        return graph.as_graph_def()


def annotate_captures(message: Any, graph: Any) -> Any:
    """Write variable names and shapes on the placeholders of captured variables."""
    # `captures` pairs the outer handle with the placeholder inside the graph.
    variables = {id(variable.handle): variable for variable in variables_of_graph(graph)}
    called = {inner.op.name: variables.get(id(outer)) for outer, inner in getattr(graph, "captures", ())}
    for node in message.node if called else ():
        if (variable := called.get(node.name)) is not None:
            node.attr[VARIABLE_NAME_ATTR].s = variable.name.removesuffix(":0").encode()
            annotate_handle(node, variable)
    return message


def variables_of_graph(graph: Any) -> Any:
    """Return the variables of a graph; none if the program has dropped the model that holds them."""
    try:
        return tuple(getattr(graph, "variables", ()))
    except AssertionError:  # FuncGraph.variables: "Called a function referencing variables which have been deleted"
        return ()


def annotate_handle(node: Any, variable: Any) -> None:
    """Write dtype and shape of a variable on its handle, as TensorFlow does in saved functions."""
    dtype: Any = getattr(variable, "dtype", None)
    shape: Any = getattr(variable, "shape", None)
    if hasattr(dtype, "as_datatype_enum") and hasattr(shape, "as_proto"):
        node.attr["_handle_dtypes"].list.type.append(dtype.as_datatype_enum)
        node.attr["_handle_shapes"].list.shape.append(shape.as_proto())


def drop_traced_barriers(message: Any) -> Any:
    """Remove the NoOps of tracing that only the results of a traced function wait for."""
    waited = {each[1:] for node in message.node for each in node.input if each.startswith("^")}
    # NoOps without data inputs that some node waits for.
    barriers = {
        node.name
        for node in message.node
        if node.op in GROUP_OPS and node.name in waited and not tensor_inputs_of_live_node(node)
    }
    for node in message.node:
        if node.op not in TRACED_RESULT_OPS:
            barriers -= {each[1:] for each in node.input if each.startswith("^")}
    kept = [node for node in message.node if node.name not in barriers]
    if barriers:
        made = type(message)(versions=message.versions, library=message.library)
        made.node.extend(kept)
        for node in made.node:
            node.input[:] = [each for each in node.input if not (each.startswith("^") and each[1:] in barriers)]
        return made
    return message


def tensor_inputs_of_live_node(node: Any) -> list[str]:
    """Return the inputs that are tensors."""
    return [each for each in node.input if not each.startswith("^")]
