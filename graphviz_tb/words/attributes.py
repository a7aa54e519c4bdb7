"""Texts for attributes of nodes and their values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from graphviz_tb.graphs.tensors import first_elements, stored_element_count
from graphviz_tb.limits import MAX_CACHED_VALUE_BYTES, MAX_CARD_ELEMENTS, MAX_CARD_VALUE_LETTERS
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.measure import group_thousands
from graphviz_tb.model.tensors import dtype_label, shape_proto_text

if TYPE_CHECKING:
    from graphviz_tb.proto import AttrValue, NodeDef, TensorProto

SOURCE_ATTR, SOURCE_LABEL = "_source", "source"  # as in the file (formats/exported.py), and as shown
SOURCE_SEPARATOR = " › "  # between the lines of calls
MAX_TEXT_LETTERS, MAX_DIMENSIONS_SHOWN = 200, 40  # of a text in a constant; of a shape


def attribute_texts(
    graph: Graph, node: int, known: dict[bytes, list[Any]], some: Iterable[str] | None = None
) -> list[list[Any]]:
    """Return the names and values of a node's attributes, or only of `some`; `known` caches the texts of small
    values."""
    definition = graph.node_def(node)
    if definition is None:
        return []
    attributes = definition.attr
    if SOURCE_ATTR in attributes and some is None:
        lines = [SOURCE_LABEL, *_shorten_value(SOURCE_SEPARATOR.join(source_of_definition(definition)))]
        plain = [name for name in sorted(attributes) if name != SOURCE_ATTR]
        return [*([name, *_cached_value_text(attributes[name], known)] for name in plain), lines]
    names = sorted(attributes) if some is None else [name for name in some if name in attributes]
    return [[name, *_cached_value_text(attributes[name], known)] for name in names]


def source_of_definition(definition: NodeDef) -> list[str]:
    """Return the lines of the program that made an op, outermost call first; [] if the file has none."""
    if SOURCE_ATTR not in definition.attr:
        return []
    return [line.decode("utf-8", "replace") for line in definition.attr[SOURCE_ATTR].list.s]


def config_texts(config: Mapping[str, Any]) -> list[list[Any]]:
    """Return the options of a Keras layer and their values, all of them.

    >>> config_texts({"units": 10, "strides": [1, 2], "rate": 0.5, "kernel": {"class_name": "Zeros", "config": {}}})
    [['units', '10'], ['strides', '[1, 2]'], ['rate', '0.5'], ['kernel', 'Zeros']]
    """
    return [[str(key), *_shorten_value(_option_text(value))] for key, value in config.items() if key != "name"]


def _option_text(value: Any) -> str:
    """Return the value of an option as text; an object as its class and its configuration."""
    if isinstance(value, Mapping) and isinstance(value.get("class_name"), str):
        inner = value.get("config")
        options = inner if isinstance(inner, Mapping) else {}
        words = ", ".join(f"{key} {_option_text(option)}" for key, option in options.items() if option is not None)
        return f"{value['class_name']}({words})" if words else value["class_name"]
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _cached_value_text(value: AttrValue, known: dict[bytes, list[Any]]) -> list[Any]:
    """Return the text of an attribute's value; cached if the value is small."""
    if value.ByteSize() > MAX_CACHED_VALUE_BYTES:
        return _shorten_value(_value_text(value))
    message = value.SerializeToString()
    word = known.get(message)
    if word is None:
        word = known[message] = _shorten_value(_value_text(value))
    return word


def _shorten_value(text: str) -> list[Any]:
    """Return [text]; for a long text its beginning, cut between two elements of a list, and its length.

    >>> _shorten_value("ab"), _shorten_value("12, " * 300)[0][-10:]
    (['ab'], '12, 12, 12')
    """
    if len(text) <= MAX_CARD_VALUE_LETTERS:
        return [text]
    end = text.rfind(", ", 0, MAX_CARD_VALUE_LETTERS)
    return [text[: end if end > 0 else MAX_CARD_VALUE_LETTERS], len(text)]


def _value_text(value: AttrValue) -> str:
    """Return the text of an attribute's value.

    >>> from graphviz_tb.proto import AttrValue
    >>> _value_text(AttrValue(type=1)), _value_text(AttrValue(list={"i": [1, 2]})), _value_text(AttrValue(b=True))
    ('float32', '[1, 2]', 'true')
    """
    for field, content in value.ListFields():  # at most one
        if field.name != "list":
            return _item_text(field.name, content)
        items = [(kind.name, item) for kind, many in content.ListFields() for item in many[:MAX_CARD_VALUE_LETTERS]]
        return f"[{', '.join(_item_text(*pair) for pair in items)}]"
    return ""


def _item_text(kind: str, item: Any) -> str:
    if kind == "type":
        return dtype_label(item)
    if kind == "shape":
        return shape_proto_text(item, MAX_DIMENSIONS_SHOWN)
    if kind == "s":
        return str(item[: 2 * MAX_CARD_VALUE_LETTERS].decode("utf-8", "backslashreplace"))
    if kind == "tensor":
        return _tensor_value_text(item)
    if kind == "func":
        return str(item.name)
    if kind == "b":
        return "true" if item else "false"
    return f"{item:.7g}" if kind == "f" else str(item)


def _tensor_value_text(tensor: TensorProto) -> str:
    """Return type and shape of a tensor, and its first values."""
    word = f"{dtype_label(tensor.dtype)} {shape_proto_text(tensor.tensor_shape, MAX_DIMENSIONS_SHOWN)}"
    elements, count = first_elements(tensor, MAX_CARD_ELEMENTS), stored_element_count(tensor)
    if not elements:
        return word
    more = f", … {group_thousands(count)} in all" if count > len(elements) else ""
    return f"{word}: {', '.join(map(_element_text, elements))}{more}"


def _element_text(value: Any) -> str:
    """Return a short form of a number, or the start of a text."""
    if isinstance(value, bytes):
        return f"“{value[:MAX_TEXT_LETTERS].decode('utf-8', 'backslashreplace')}”"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float | complex) else str(value)
