"""The arguments of a layer's calls: switches, factors, slices. A tensor has no value here, only its position, because
edges of the graph show where it is from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from graphviz_tb.limits import NUMBERS_SHOWN
from graphviz_tb.model.layers import TENSORS
from graphviz_tb.read.keras.between import HEADS, QUERY_VALUE_KEY
from graphviz_tb.read.keras.possible import hashed, is_deep
from graphviz_tb.read.keras.references import KEYS, inbound, is_reference

TENSOR = "tensor"  # written for each tensor
SLICE = frozenset(("start", "stop", "step"))
CONSTANT = "_CONSTANT_VALUE"  # Keras 2: the first argument of a call, if it is not a tensor
NUMBERS = frozenset(("__numpy__", "__tensor__"))  # Keras 3: an array written out

Arguments = dict[str, Any]  # of one call, by name or position as text


def call_arguments(json_layer: Mapping[str, Any]) -> Iterator[Arguments]:
    """Yield the arguments of each call of a layer: values by name, and in `tensors` the arguments that are tensors.

    >>> keras_2 = {"inbound_nodes": [[["x", 0, 0, {"y": 2.0, "name": None, "mask": ["m", 0, 0]}]]]}
    >>> list(call_arguments(keras_2))
    [{'y': 2.0, 'tensors': [0, 'mask']}]
    >>> part = {"class_name": "__slice__", "config": {"start": None, "stop": 3, "step": None}}
    >>> x = {"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}}
    >>> list(call_arguments({"inbound_nodes": [{"args": [x, [part, 0]], "kwargs": {"training": False}}]}))
    [{'1': [':3', 0], 'training': False, 'tensors': [0]}]
    """
    nodes, attends = json_layer.get("inbound_nodes"), str(json_layer.get("class_name")) in HEADS
    for node, taken in zip(nodes if isinstance(nodes, list) else (), inbound(json_layer) or (), strict=True):
        found = keras_3(node) if isinstance(node, dict) and KEYS & node.keys() else keras_2(node)
        values = {key: hashed(value) if is_deep(value) else in_plain_values(value) for key, value in found}
        said = {key: value for key, value in values.items() if value is not None and not only_tensors(value)}
        places = [source.argument for source in taken if source.name != CONSTANT]
        yield {**said, TENSORS: [QUERY_VALUE_KEY.get(each, each) for each in places] if attends else places}


def keras_3(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the arguments of a Keras 3 call: those by position, then those by name."""
    args, named = node.get("args"), node.get("kwargs")
    yield from ((str(place), value) for place, value in enumerate(args if isinstance(args, list) else ()))
    yield from named.items() if isinstance(named, dict) else ()


def keras_2(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arguments of a Keras 2 call: those by name, and the first one if it is not a tensor."""
    waiting = [node]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list) and len(value) >= 3 and (value[0] == CONSTANT or is_reference(value)):
            if value[0] == CONSTANT:
                yield "0", value[2]
            for named in value[3:]:
                # `name` only names the op that a function makes.
                parts = named.items() if isinstance(named, dict) else ()
                yield from ((key, part) for key, part in parts if key != "name")
        elif isinstance(value, list):
            waiting += reversed(value)


def in_plain_values(value: Any) -> Any:
    """Write a value as a program does: tuples as lists, slices with colons, the word "tensor" for each tensor.

    >>> in_plain_values({"class_name": "__tuple__", "items": [1, {"start": 1, "stop": None, "step": 2}]})
    [1, '1::2']
    """
    if isinstance(value, list):
        return TENSOR if is_reference(value) else [in_plain_values(part) for part in value]
    if not isinstance(value, dict):
        return value
    kind, config = value.get("class_name"), value.get("config")
    if value.keys() == SLICE:
        return colons(value)
    if kind == "__slice__" and isinstance(config, dict):
        return colons(config)
    if kind == "__keras_tensor__":
        return TENSOR
    if kind == "__tuple__":
        return in_plain_values(value.get("items"))
    if kind == "__ellipsis__":
        return "..."
    if kind in NUMBERS and isinstance(config, dict):
        return in_few_letters(config.get("value"))
    return {key: in_plain_values(part) for key, part in value.items()}


def colons(parts: Mapping[str, Any]) -> str:
    """Write a slice as Python does.

    >>> colons({"start": None, "stop": None, "step": None}), colons({"start": 1, "stop": -1, "step": 2})
    (':', '1:-1:2')
    """
    start, stop, step = ("" if parts.get(key) is None else str(parts[key]) for key in ("start", "stop", "step"))
    return f"{start}:{stop}{':' + step if step else ''}"


def in_few_letters(numbers: Any) -> Any:
    """Return a small array as it is, and a hash of a large one."""
    text = json.dumps(numbers, sort_keys=True)
    return numbers if text.count(",") < NUMBERS_SHOWN else f"#{sha256(text.encode()).hexdigest()[:8]}"


def only_tensors(value: Any) -> bool:
    """Return whether an argument is a tensor, or a list of tensors only."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list) and part:
            waiting += part
        elif part != TENSOR:
            return False
    return True
