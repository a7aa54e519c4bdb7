"""Live TensorFlow objects: graphs, traced functions, Keras models. TensorFlow itself is not imported."""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Mapping
from typing import Any

from graphviz_tb.errors import Ambiguous, RequestError, UnknownChoice, WrongType
from graphviz_tb.formats.contents import NO_SIGNATURE_MESSAGE
from graphviz_tb.ops.roles import TRACED_RESULT_OPS
from graphviz_tb.unwrap.calls import VARIABLE_NAME_ATTR, barrier_names, copy_without_barriers

# Find the graph of a live TensorFlow object, or say what to call.
#
# A function is traced if its input signature is known, a Keras model by the shapes of its inputs. A loaded SavedModel
# has signatures, a `tf.Module` functions. Anything else raises `RequestError` with a hint.

SERVING_DEFAULT = "serving_default"  # the signature that TensorFlow Serving calls
EXAMPLE_TENSOR_SPEC = "tf.TensorSpec([None, 8])"  # an example input
ACCEPTED_SOURCES = "give a path, bytes, a GraphDef, a tf.Graph or a ConcreteFunction"
CALL_METHOD = "__call__"
# (attributes that identify the object, message, hint); `{name}` is the object's own name.
REFUSED_OBJECTS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("named_parameters", "state_dict"),
        "the PyTorch module {name!r} has no graph",
        "give load(torch.export.export(module, inputs)), or the log directory of SummaryWriter.add_graph",
    ),
    (
        ("add_weight", "call"),
        "the layer {name!r} is not a model",
        "give a model of it: load(keras.Sequential([keras.Input((8,)), layer]))",
    ),
    (
        ("submodules", "with_name_scope"),
        "the module {name!r} has no tf.function",
        f"give load(tf.function(module).get_concrete_function({EXAMPLE_TENSOR_SPEC}))",
    ),
    (
        ("dtype", "shape"),
        "{a_type} is a value, and no graph",
        "give the function that works it out: tf.function(f).get_concrete_function(…), or keras.Model(inputs, outputs)",
    ),
    (
        ("__code__",),
        "the Python function {name!r} is not traced yet",
        f"give load(tf.function({{short}}).get_concrete_function({EXAMPLE_TENSOR_SPEC}))",
    ),
)


def _graph_holder(source: Any, signature: str | None = None) -> Any:
    """Return an object that has a graph: `source` itself, or a concrete function of it."""
    if source is None or isinstance(source, type):
        raise _no_graph_error(source)
    if _is_keras_model(source) or hasattr(source, "get_concrete_function"):
        holder = (
            _concrete_model_function(source)
            if _is_keras_model(source)
            else _concrete_function(source, _identifier_or_f(source))
        )
    elif hasattr(source, "as_graph_def") or hasattr(source, "graph"):
        holder = source
    elif isinstance(signatures := getattr(source, "signatures", None), Mapping) and signatures:
        return _select_signature(signatures, signature)
    elif functions := _tf_functions_of(source):
        return _select_function(source, functions, signature)
    else:
        raise _no_graph_error(source)
    if signature is not None:
        raise RequestError(NO_SIGNATURE_MESSAGE)
    return holder


def _is_keras_model(source: Any) -> bool:
    return callable(getattr(source, "to_json", None)) and hasattr(source, "layers")


def _concrete_function(function: Any, called: str) -> Any:
    """Return the concrete function of a `tf.function` with a known signature, or of a loaded one with a single
    trace."""
    loaded = getattr(function, "concrete_functions", None)
    # A function from `tf.saved_model.load` lists its traces.
    if isinstance(loaded, list) and len(loaded) == 1:
        return loaded[0]
    if getattr(function, "input_signature", None) is not None:
        return function.get_concrete_function()
    raise RequestError(
        f"{called!r} is a function of many graphs, one for each signature",
        hint=f"give one of them: load({called}.get_concrete_function({EXAMPLE_TENSOR_SPEC}))",
    )


def _concrete_model_function(model: Any) -> Any:
    # TensorFlow is not imported here: a user with such a model has imported it.
    """Return a concrete function that calls a built Keras model."""
    tensorflow, inputs = sys.modules.get("tensorflow"), getattr(model, "inputs", None)
    if tensorflow is None or not inputs:
        raise RequestError(
            f"the model {getattr(model, 'name', '')!r} does not say what it is called with",
            hint=f"give tf.function(model).get_concrete_function({EXAMPLE_TENSOR_SPEC}), or save it first",
        )
    specs = [tensorflow.TensorSpec(each.shape, each.dtype, name=each.name.partition(":")[0]) for each in inputs]

    def call(*tensors: Any) -> Any:
        return model(tensors[0] if len(tensors) == 1 else list(tensors))

    return tensorflow.function(call).get_concrete_function(*specs)


def _select_signature(signatures: Mapping[str, Any], asked: str | None) -> Any:
    """Return the requested signature, else the serving default, else the only signature."""
    if asked is not None and asked not in signatures:
        raise UnknownChoice.among("signature", asked, signatures)
    if asked is None and SERVING_DEFAULT not in signatures and len(signatures) > 1:
        raise Ambiguous(f"signatures {_quote_keys(signatures)}", hint=f"give signature={next(iter(signatures))!r}")
    return signatures[asked or (SERVING_DEFAULT if SERVING_DEFAULT in signatures else next(iter(signatures)))]


def _tf_functions_of(source: Any) -> dict[str, Any]:
    """Return the `tf.function`s of an object and its class, by name."""
    own = getattr(source, "__dict__", {})
    names = sorted({*own, *(name for kind in type(source).__mro__ for name in vars(kind))})
    # `getattr_static`: reading a property would run the user's code.
    held = {
        name: inspect.getattr_static(source, name, None)
        for name in names
        if not name.startswith("__") or name == CALL_METHOD
    }
    return {name: getattr(source, name) for name, value in held.items() if hasattr(value, "get_concrete_function")}


def _select_function(source: Any, functions: Mapping[str, Any], asked: str | None) -> Any:
    """Return the requested function, else the only function with a known signature."""
    if asked is not None and asked not in functions:
        raise UnknownChoice.among("function", asked, functions)
    known = [name for name, function in functions.items() if getattr(function, "input_signature", None) is not None]
    name = asked or (known[0] if len(known) == 1 else next(iter(functions)))
    if asked is None and len(known) != 1 and len(functions) > 1:
        raise Ambiguous(
            f"{_class_with_article(source)} has functions {_quote_keys(functions)}",
            hint=f"give one of them: load(module.{name})",
        )
    return _concrete_function(functions[name], "module" if name == CALL_METHOD else f"module.{name}")


def _no_graph_error(source: Any) -> WrongType:
    """Return the error for an object without a graph."""
    if source is None or isinstance(source, type):
        what = "None" if source is None else f"the class {source.__name__!r}"
        return WrongType(f"{what} is not a graph", hint=ACCEPTED_SOURCES)
    for attributes, message, hint in REFUSED_OBJECTS:
        if all(hasattr(source, attribute) for attribute in attributes):
            words = {
                "name": _object_name(source),
                "a_type": _class_with_article(source),
                "short": _identifier_or_f(source),
            }
            return WrongType(message.format(**words), hint=hint.format(**words))
    return WrongType(f"{_class_with_article(source)} is not a graph", hint=ACCEPTED_SOURCES)


def _class_with_article(source: Any) -> str:
    """Return the class name of an object with its article.

    >>> _class_with_article(3.5), _class_with_article(3)
    ('a float', 'an int')
    """
    name = type(source).__name__.lstrip("_")
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"


def _object_name(source: Any) -> str:
    name = getattr(source, "name", None) or getattr(source, "__name__", None)
    return name if isinstance(name, str) else type(source).__name__


def _identifier_or_f(function: Any) -> str:
    """Return a function's name if it is an identifier, else "f"."""
    name = str(getattr(function, "__name__", "f"))
    return name if name.isidentifier() else "f"


def _quote_keys(words: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, words))


def bytes_of_program(source: Any) -> bytes | None:
    """Return a program of `torch.export` as `torch.export.save` writes it; None for any other object. PyTorch is not
    imported here: a user with such a program has imported it."""
    torch = sys.modules.get("torch")
    kind = type(source)
    if torch is None or kind.__name__ != "ExportedProgram" or not kind.__module__.startswith("torch."):
        return None
    written = io.BytesIO()
    torch.export.save(source, written)
    return written.getvalue()


def message_of_object(source: Any, signature: str | None = None) -> Any:
    """Return a serializable message of an object, with output shapes if TensorFlow knows them.

    Raises `RequestError`, which says what to call instead.
    """
    if isinstance(source, type):
        raise _no_graph_error(source)
    if hasattr(source, "SerializeToString"):
        return source
    source = _graph_holder(source, signature)
    graph = source if hasattr(source, "as_graph_def") else getattr(source, "graph", None)
    if not hasattr(graph, "as_graph_def"):
        raise _no_graph_error(source)
    written = _graph_def_with_shapes(graph)
    if not hasattr(written, "SerializeToString"):
        raise _no_graph_error(written)
    message = _annotate_captures(written, graph)
    return _drop_traced_barriers(message) if hasattr(graph, "captures") else message


def _graph_def_with_shapes(graph: Any) -> Any:
    """Return the GraphDef of a graph, with shapes if it can write them."""
    try:
        return graph.as_graph_def(add_shapes=True)
    except TypeError:  # a graph class that is not TensorFlow's
        return graph.as_graph_def()


def _annotate_captures(message: Any, graph: Any) -> Any:
    """Write variable names and shapes on the placeholders of captured variables."""
    # `captures` pairs the outer handle with the placeholder inside the graph.
    variables = {id(variable.handle): variable for variable in _variables_of_graph(graph)}
    called = {inner.op.name: variables.get(id(outer)) for outer, inner in getattr(graph, "captures", ())}
    for node in message.node if called else ():
        if (variable := called.get(node.name)) is not None:
            node.attr[VARIABLE_NAME_ATTR].s = variable.name.removesuffix(":0").encode()
            _annotate_handle(node, variable)
    return message


def _variables_of_graph(graph: Any) -> Any:
    """Return the variables of a graph; none if the program has dropped the model that holds them."""
    try:
        return tuple(getattr(graph, "variables", ()))
    except AssertionError:  # FuncGraph.variables: "Called a function referencing variables which have been deleted"
        return ()


def _annotate_handle(node: Any, variable: Any) -> None:
    """Write dtype and shape of a variable on its handle, as TensorFlow does in saved functions."""
    dtype: Any = getattr(variable, "dtype", None)
    shape: Any = getattr(variable, "shape", None)
    if hasattr(dtype, "as_datatype_enum") and hasattr(shape, "as_proto"):
        node.attr["_handle_dtypes"].list.type.append(dtype.as_datatype_enum)
        node.attr["_handle_shapes"].list.shape.append(shape.as_proto())


def _drop_traced_barriers(message: Any) -> Any:
    """Remove the NoOps of tracing that only the results of a traced function wait for."""
    waited = {each[1:] for node in message.node for each in node.input if each.startswith("^")}
    barriers = barrier_names(message.node, lambda node: node.op in TRACED_RESULT_OPS) & waited
    if not barriers:
        return message
    made = type(message)(versions=message.versions, library=message.library)
    copy_without_barriers(message.node, made.node, barriers)
    return made
