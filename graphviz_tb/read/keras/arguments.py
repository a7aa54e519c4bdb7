"""The arguments of a layer's calls: switches, factors, slices. A tensor has no value here, only its position, because
edges of the graph show where it is from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from graphviz_tb.limits import MAX_SHOWN_NUMBERS
from graphviz_tb.model.layers import TENSOR_ARGUMENTS
from graphviz_tb.read.keras.between import MULTI_HEAD_CLASSES, QUERY_VALUE_KEY
from graphviz_tb.read.keras.possible import hash_value, is_nested_config
from graphviz_tb.read.keras.references import KERAS_3_CALL_KEYS, inbound_calls, is_keras_2_reference

TENSOR_WORD = "tensor"  # written for each tensor
SLICE_KEYS = frozenset(("start", "stop", "step"))
CONSTANT_NAME = "_CONSTANT_VALUE"  # Keras 2: the first argument of a call, if it is not a tensor
ARRAY_CLASSES = frozenset(("__numpy__", "__tensor__"))  # Keras 3: an array written out

CallArguments = dict[str, Any]  # of one call, by name or position as text


def call_arguments(json_layer: Mapping[str, Any]) -> Iterator[CallArguments]:
    """Yield the arguments of each call of a layer: values by name, and in `tensors` the arguments that are tensors.

    >>> keras_2 = {"inbound_nodes": [[["x", 0, 0, {"y": 2.0, "name": None, "mask": ["m", 0, 0]}]]]}
    >>> list(call_arguments(keras_2))
    [{'y': 2.0, 'tensors': [0, 'mask']}]
    >>> part = {"class_name": "__slice__", "config": {"start": None, "stop": 3, "step": None}}
    >>> x = {"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}}
    >>> list(call_arguments({"inbound_nodes": [{"args": [x, [part, 0]], "kwargs": {"training": False}}]}))
    [{'1': [':3', 0], 'training': False, 'tensors': [0]}]
    """
    nodes, attends = json_layer.get("inbound_nodes"), str(json_layer.get("class_name")) in MULTI_HEAD_CLASSES
    for node, taken in zip(nodes if isinstance(nodes, list) else (), inbound_calls(json_layer) or (), strict=True):
        found = (
            keras_3_arguments(node)
            if isinstance(node, dict) and KERAS_3_CALL_KEYS & node.keys()
            else keras_2_arguments(node)
        )
        values = {key: hash_value(value) if is_nested_config(value) else plain_value(value) for key, value in found}
        said = {key: value for key, value in values.items() if value is not None and not has_only_tensors(value)}
        places = [source.argument for source in taken if source.name != CONSTANT_NAME]
        yield {**said, TENSOR_ARGUMENTS: [QUERY_VALUE_KEY.get(each, each) for each in places] if attends else places}


def keras_3_arguments(node: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the arguments of a Keras 3 call: those by position, then those by name."""
    args, named = node.get("args"), node.get("kwargs")
    yield from ((str(place), value) for place, value in enumerate(args if isinstance(args, list) else ()))
    yield from named.items() if isinstance(named, dict) else ()


def keras_2_arguments(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arguments of a Keras 2 call: those by name, and the first one if it is not a tensor."""
    waiting = [node]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list) and len(value) >= 3 and (value[0] == CONSTANT_NAME or is_keras_2_reference(value)):
            if value[0] == CONSTANT_NAME:
                yield "0", value[2]
            for named in value[3:]:
                # `name` only names the op that a function makes.
                parts = named.items() if isinstance(named, dict) else ()
                yield from ((key, part) for key, part in parts if key != "name")
        elif isinstance(value, list):
            waiting += reversed(value)


def plain_value(value: Any) -> Any:
    """Write a value as a program does: tuples as lists, slices with colons, the word "tensor" for each tensor.

    >>> plain_value({"class_name": "__tuple__", "items": [1, {"start": 1, "stop": None, "step": 2}]})
    [1, '1::2']
    """
    if isinstance(value, list):
        return TENSOR_WORD if is_keras_2_reference(value) else [plain_value(part) for part in value]
    if not isinstance(value, dict):
        return value
    kind, config = value.get("class_name"), value.get("config")
    if value.keys() == SLICE_KEYS:
        return format_slice(value)
    if kind == "__slice__" and isinstance(config, dict):
        return format_slice(config)
    if kind == "__keras_tensor__":
        return TENSOR_WORD
    if kind == "__tuple__":
        return plain_value(value.get("items"))
    if kind == "__ellipsis__":
        return "..."
    if kind in ARRAY_CLASSES and isinstance(config, dict):
        return abbreviate_array(config.get("value"))
    return {key: plain_value(part) for key, part in value.items()}


def format_slice(parts: Mapping[str, Any]) -> str:
    """Write a slice as Python does.

    >>> format_slice({"start": None, "stop": None, "step": None}), format_slice({"start": 1, "stop": -1, "step": 2})
    (':', '1:-1:2')
    """
    start, stop, step = ("" if parts.get(key) is None else str(parts[key]) for key in ("start", "stop", "step"))
    return f"{start}:{stop}{':' + step if step else ''}"


def abbreviate_array(numbers: Any) -> Any:
    """Return a small array as it is, and a hash of a large one."""
    text = json.dumps(numbers, sort_keys=True)
    return numbers if text.count(",") < MAX_SHOWN_NUMBERS else f"#{sha256(text.encode()).hexdigest()[:8]}"


def has_only_tensors(value: Any) -> bool:
    """Return whether an argument is a tensor, or a list of tensors only."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list) and part:
            waiting += part
        elif part != TENSOR_WORD:
            return False
    return True
