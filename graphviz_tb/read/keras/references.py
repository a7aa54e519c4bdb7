"""References in the JSON of a Keras model: a layer, which call of it, and which output of that call.

Keras 2 writes lists `[layer, call, output]`, followed by the keyword arguments; Keras 3 writes the arguments of each
call, in which each tensor has such a list as its `keras_history`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from graphviz_tb.model.tensors import Shape
from graphviz_tb.read.keras.shapes import shape_from_json

KERAS_3_CALL_KEYS = frozenset(("args", "kwargs"))  # of a call, as Keras 3 writes it
CallArgument = int | str  # of a call: its position, or its name


class Reference(NamedTuple):
    """An output of a call of a layer in the same model, the argument that takes it, and its stated shape."""

    name: str
    call: int = 0
    output: int = 0
    argument: CallArgument = 0
    stated: Shape = None


def inbound_calls(json_layer: Mapping[str, Any]) -> list[list[Reference]] | None:
    """Return the calls of a layer, each a list of references; None if the JSON does not list them (a sequence)."""
    nodes = json_layer.get("inbound_nodes")
    if not isinstance(nodes, list):
        return None
    return [list(_call_references(node)) for node in nodes]


def listed_references(value: Any) -> Iterator[Reference]:
    """Yield the inputs or outputs that a model lists: `[name, call, output]` in nested lists and dicts, or names."""
    yield from _keras_2_references(value, bare=True)


def _call_references(node: Any) -> Iterator[Reference]:
    # Keras 2 writes a dict for a call with a dict of tensors.
    if not isinstance(node, dict) or not KERAS_3_CALL_KEYS & node.keys():
        yield from _keras_2_references(node, bare=not isinstance(node, dict))
        return
    args, kwargs = (node.get(key) for key in ("args", "kwargs"))
    for position, value in enumerate(args if isinstance(args, list) else ()):
        yield from _keras_3_references(value, position)
    for name, value in kwargs.items() if isinstance(kwargs, dict) else ():
        yield from _keras_3_references(value, name)


def _keras_3_references(value: Any, argument: CallArgument) -> Iterator[Reference]:
    """Yield the tensors in one argument of a Keras 3 call, in the order in which Keras flattens it."""
    waiting = [value]
    # The stack is filled from the end, so tensors keep their order.
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            tensor = value["config"] if isinstance(value.get("config"), dict) else {}
            history = tensor.get("keras_history")
            if isinstance(history, list):
                shape = shape_from_json(tensor.get("shape"))
                yield from (each._replace(stated=shape) for each in _keras_2_references(history, argument))
            else:
                waiting += _values_by_key(value)
        elif isinstance(value, list):
            waiting += reversed(value)


def _keras_2_references(value: Any, argument: CallArgument = 0, bare: bool = False) -> Iterator[Reference]:
    """Yield every [name, call, output] in nested lists and dicts; if `bare`, a name is the first output of a layer."""
    waiting: list[tuple[Any, CallArgument]] = [(value, argument)]
    while waiting:
        value, argument = waiting.pop()
        if isinstance(value, str) and bare and argument == 0:
            yield Reference(value)
        elif isinstance(value, dict):
            waiting += [(each, argument) for each in _values_by_key(value)]
        elif isinstance(value, list):
            if is_keras_2_reference(value):
                yield Reference(value[0], value[1] if isinstance(value[1], int) else 0, value[2], argument)
                # Keras 2: keyword arguments of the call, which may contain tensors too.
                keywords = [pair for more in value[3:] if isinstance(more, dict) for pair in more.items()]
                waiting += [(each, name) for name, each in reversed(keywords)]
            else:
                waiting += [(each, argument) for each in reversed(value)]


def is_keras_2_reference(value: Any) -> bool:
    """Return whether a list is [name, call, output], with or without keyword arguments after it."""
    return len(value) >= 3 and isinstance(value[0], str) and isinstance(value[2], int)


def _values_by_key(value: Mapping[str, Any]) -> list[Any]:
    """Return the values of a dict by descending key: Keras takes tensors in the order of their keys."""
    return [value[key] for key in sorted(value, reverse=True)]
