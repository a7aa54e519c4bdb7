"""Find the graph of a live TensorFlow object, or say what to call.

A function is traced if its input signature is known, a Keras model by the shapes of its inputs. A loaded SavedModel has
signatures, a `tf.Module` functions. Anything else raises `RequestError` with a hint.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import Any

from graphviz_tb.errors import Ambiguous, RequestError, UnknownChoice, WrongType

SERVING_DEFAULT = "serving_default"  # the signature that TensorFlow Serving calls
EXAMPLE_TENSOR_SPEC = "tf.TensorSpec([None, 8])"  # an example input
ACCEPTED_SOURCES = "give a path, bytes, a GraphDef, a tf.Graph or a ConcreteFunction"
CALL_METHOD = "__call__"
NO_SIGNATURE_MESSAGE = "no signature can be chosen here: the source has none"
# (attributes that identify the object, message, hint); `{name}` is the object's own name.
REFUSED_OBJECTS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("named_parameters", "state_dict"),
        "the PyTorch module {name!r} has no graph",
        "write one with SummaryWriter.add_graph(module, inputs) and give its log directory",
    ),
    (
        ("add_weight", "call"),
        "the layer {name!r} is no model",
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


def graph_holder(source: Any, signature: str | None = None) -> Any:
    """Return an object that has a graph: `source` itself, or a concrete function of it."""
    if source is None or isinstance(source, type):
        raise no_graph_error(source)
    if is_keras_model(source) or hasattr(source, "get_concrete_function"):
        made = (
            concrete_model_function(source)
            if is_keras_model(source)
            else concrete_function(source, identifier_or_f(source))
        )
    elif hasattr(source, "as_graph_def") or hasattr(source, "graph"):
        made = source
    elif isinstance(signatures := getattr(source, "signatures", None), Mapping) and signatures:
        return select_signature(signatures, signature)
    elif functions := tf_functions_of(source):
        return select_function(source, functions, signature)
    else:
        raise no_graph_error(source)
    if signature is not None:
        raise RequestError(NO_SIGNATURE_MESSAGE)
    return made


def is_keras_model(source: Any) -> bool:
    """Return whether an object is a Keras model."""
    return callable(getattr(source, "to_json", None)) and hasattr(source, "layers")


def concrete_function(function: Any, called: str) -> Any:
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


def concrete_model_function(model: Any) -> Any:
    # TensorFlow is not imported: a model that runs on it has loaded it already.
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


def select_signature(signatures: Mapping[str, Any], asked: str | None) -> Any:
    """Return the signature that was asked for, else the serving default, else the only one."""
    if asked is not None and asked not in signatures:
        raise UnknownChoice.among("signature", asked, signatures)
    if asked is None and SERVING_DEFAULT not in signatures and len(signatures) > 1:
        raise Ambiguous(f"signatures {quote_keys(signatures)}", hint=f"give signature={next(iter(signatures))!r}")
    return signatures[asked or (SERVING_DEFAULT if SERVING_DEFAULT in signatures else next(iter(signatures)))]


def tf_functions_of(source: Any) -> dict[str, Any]:
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


def select_function(source: Any, functions: Mapping[str, Any], asked: str | None) -> Any:
    """Return the function that was asked for, else the only one with a known signature."""
    if asked is not None and asked not in functions:
        raise UnknownChoice.among("function", asked, functions)
    known = [name for name, function in functions.items() if getattr(function, "input_signature", None) is not None]
    name = asked or (known[0] if len(known) == 1 else next(iter(functions)))
    if asked is None and len(known) != 1 and len(functions) > 1:
        raise Ambiguous(
            f"{class_with_article(source)} has functions {quote_keys(functions)}",
            hint=f"give one of them: load(module.{name})",
        )
    return concrete_function(functions[name], "module" if name == CALL_METHOD else f"module.{name}")


def no_graph_error(source: Any) -> WrongType:
    """Return the error for an object without a graph."""
    if source is None or isinstance(source, type):
        what = "None" if source is None else f"the class {source.__name__!r}"
        return WrongType(f"{what} is no graph", hint=ACCEPTED_SOURCES)
    for attributes, message, hint in REFUSED_OBJECTS:
        if all(hasattr(source, attribute) for attribute in attributes):
            words = {
                "name": object_name(source),
                "a_type": class_with_article(source),
                "short": identifier_or_f(source),
            }
            return WrongType(message.format(**words), hint=hint.format(**words))
    return WrongType(f"{class_with_article(source)} is no graph", hint=ACCEPTED_SOURCES)


def class_with_article(source: Any) -> str:
    """Return the class name of an object with its article.

    >>> class_with_article(3.5), class_with_article(3)
    ('a float', 'an int')
    """
    name = type(source).__name__.lstrip("_")
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"


def object_name(source: Any) -> str:
    """Return the name of an object, else that of its class."""
    name = getattr(source, "name", None) or getattr(source, "__name__", None)
    return name if isinstance(name, str) else type(source).__name__


def identifier_or_f(function: Any) -> str:
    """Return a function's name if it is an identifier, else "f"."""
    name = str(getattr(function, "__name__", "f"))
    return name if name.isidentifier() else "f"


def quote_keys(words: Mapping[str, Any]) -> str:
    """Return the keys, quoted."""
    return ", ".join(map(repr, words))
