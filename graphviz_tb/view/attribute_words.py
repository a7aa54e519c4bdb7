"""Texts for attributes of nodes and their values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from graphviz_tb.algorithms.constants import first, held
from graphviz_tb.limits import ELEMENTS_OF_CARD, VALUE_OF_CARD, VALUE_REMEMBERED
from graphviz_tb.model.dtypes import dtype_word
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.measure import thousands
from graphviz_tb.model.tensors import message_word

if TYPE_CHECKING:
    from graphviz_tb.proto import AttrValue, TensorProto

LONGEST_TEXT, DIMENSIONS = 200, 40  # shown of a text in a constant, and of a shape


def attribute_words(
    graph: Graph, node: int, known: dict[bytes, list[Any]], some: Iterable[str] | None = None
) -> list[list[Any]]:
    """Return names and values of one node's attributes, or of `some` of them; `known` caches the texts of small
    values."""
    definition = graph.node_def(node)
    if definition is None:
        return []
    attributes = definition.attr
    names = sorted(attributes) if some is None else [name for name in some if name in attributes]
    return [[name, *described(attributes[name], known)] for name in names]


def config_words(config: Mapping[str, Any]) -> list[list[Any]]:
    """Return the options of a Keras layer and their values, all of them.

    >>> config_words({"units": 10, "strides": [1, 2], "rate": 0.5, "kernel": {"class_name": "Zeros", "config": {}}})
    [['units', '10'], ['strides', '[1, 2]'], ['rate', '0.5'], ['kernel', 'Zeros']]
    """
    return [[str(key), *shown_beginning(option_word(value))] for key, value in config.items() if key != "name"]


def option_word(value: Any) -> str:
    """Return the value of an option: an object as its class with its configuration."""
    if isinstance(value, Mapping) and isinstance(value.get("class_name"), str):
        inner = value.get("config")
        options = inner if isinstance(inner, Mapping) else {}
        words = ", ".join(f"{key} {option_word(each)}" for key, each in options.items() if each is not None)
        return f"{value['class_name']}({words})" if words else value["class_name"]
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def described(value: AttrValue, known: dict[bytes, list[Any]]) -> list[Any]:
    """Return the text of an attribute's value; small values are cached."""
    if value.ByteSize() > VALUE_REMEMBERED:
        return shown_beginning(value_word(value))
    message = value.SerializeToString()
    word = known.get(message)
    if word is None:
        word = known[message] = shown_beginning(value_word(value))
    return word


def shown_beginning(text: str) -> list[Any]:
    """Return a text; a long one as its beginning, cut between two elements of a list, and its length.

    >>> shown_beginning("ab"), shown_beginning("12, " * 300)[0][-10:]
    (['ab'], '12, 12, 12')
    """
    if len(text) <= VALUE_OF_CARD:
        return [text]
    end = text.rfind(", ", 0, VALUE_OF_CARD)
    return [text[: end if end > 0 else VALUE_OF_CARD], len(text)]


def value_word(value: AttrValue) -> str:
    """Return the text of an attribute's value.

    >>> from graphviz_tb.proto import AttrValue
    >>> value_word(AttrValue(type=1)), value_word(AttrValue(list={"i": [1, 2]})), value_word(AttrValue(b=True))
    ('float32', '[1, 2]', 'true')
    """
    for field, content in value.ListFields():  # at most one
        if field.name != "list":
            return item_word(field.name, content)
        items = [(kind.name, item) for kind, many in content.ListFields() for item in many[:VALUE_OF_CARD]]
        return f"[{', '.join(item_word(*pair) for pair in items)}]"
    return ""


def item_word(kind: str, item: Any) -> str:
    """Return the text of one value."""
    if kind == "type":
        return dtype_word(item)
    if kind == "shape":
        return message_word(item, DIMENSIONS)
    if kind == "s":
        return str(item[: 2 * VALUE_OF_CARD].decode("utf-8", "backslashreplace"))
    if kind == "tensor":
        return tensor_word(item)
    if kind == "func":
        return str(item.name)
    if kind == "b":
        return "true" if item else "false"
    return f"{item:.7g}" if kind == "f" else str(item)


def tensor_word(tensor: TensorProto) -> str:
    """Return type and shape of a tensor, and its first values."""
    word = f"{dtype_word(tensor.dtype)} {message_word(tensor.tensor_shape, DIMENSIONS)}"
    elements, count = first(tensor, ELEMENTS_OF_CARD), held(tensor)
    if not elements:
        return word
    more = f", … {thousands(count)} in all" if count > len(elements) else ""
    return f"{word}: {', '.join(map(element_word, elements))}{more}"


def element_word(value: Any) -> str:
    """Return a short form of a number, or the start of a text."""
    if isinstance(value, bytes):
        return f"“{value[:LONGEST_TEXT].decode('utf-8', 'backslashreplace')}”"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float | complex) else str(value)
