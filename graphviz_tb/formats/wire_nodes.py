"""Write the nodes of a GraphDef as wire bytes. Making a message per node would take most of a reader's time; most
attributes are equal, and are encoded once.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import field
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from graphviz_tb.formats.packed_graph import LazyNodes, PackedGraph
from graphviz_tb.formats.protobuf import check_message_size
from graphviz_tb.formats.textproto.schema import encode_varint
from graphviz_tb.graphs.node_columns import NodeColumns, append_graph_columns, int32_array
from graphviz_tb.limits import MAX_SHOWN_NUMBERS, MAX_SOURCE_LINE_LETTERS
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import DTYPE_TABLE, MAX_DIMENSIONS
from graphviz_tb.proto import AttrValue, GraphDef, TensorShapeProto

DTYPE_NUMBERS = {dtype.name: number for number, dtype in DTYPE_TABLE.items()}
TensorSize = int | str | None  # a number, the name of an unknown size, or None
Sizes = tuple[TensorSize, ...] | None  # None, or more sizes than a tensor can have: the rank is unknown
NODE_FIELD, NAME_FIELD, OP_FIELD, INPUT_FIELD, ATTRIBUTE_FIELD = b"\x0a", b"\x0a", b"\x12", b"\x1a", b"\x2a"
KEY_FIELD, VALUE_FIELD, TEXT_FIELD = b"\x0a", b"\x12", b"\x12"
LENGTHS = [encode_varint(length) for length in range(1024)]
MAX_CACHED_CONTENT_BYTES = 64  # largest constant that is encoded once


def _field(tag: bytes, content: bytes) -> bytes:
    length = len(content)
    return tag + (LENGTHS[length] if length < 1024 else encode_varint(length)) + content


VARIABLE_NAME_KEYS = [_field(KEY_FIELD, key) for key in (b"_variable", b"shared_name")]


class Value(NamedTuple):
    """A tensor of a program: its shape and type."""

    sizes: Sizes = None
    dtype: str = ""


@dataclass(slots=True)
class NodeLists:
    """Nodes as columns: names, op types, attributes as wire bytes (equal bytes are one object), and the inputs of all
    nodes: those of node `at` end at `stops[at]`."""

    names: list[str] = field(default_factory=list)
    ops: list[str] = field(default_factory=list)
    attributes: list[bytes] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    stops: array[int] = field(default_factory=int32_array)

    def append(self, name: str, op: str, inputs: Sequence[str], attributes: bytes) -> None:
        self.names.append(name)
        self.ops.append(op)
        self.attributes.append(attributes)
        self.inputs += inputs
        self.stops.append(len(self.inputs))

    def extend(self, others: NodeLists) -> None:
        before = len(self.inputs)
        self.names += others.names
        self.ops += others.ops
        self.attributes += others.attributes
        self.inputs += others.inputs
        self.stops.extend([before + stop for stop in others.stops])

    def encoded_range(self, first: int, stop: int) -> bytes:
        """Return nodes as fields of their graph.

        >>> nodes = NodeLists()
        >>> nodes.append("y", "Relu", ["x"], encode_attribute("axis", 1))
        >>> made = GraphDef.FromString(nodes.encoded_range(0, 1)).node[0]
        >>> made.name, made.op, list(made.input), made.attr["axis"].i
        ('y', 'Relu', ['x'], 1)
        """
        encoded: list[bytes] = []
        for at in range(first, stop):  # often one
            inputs = self.inputs[self.stops[at - 1] if at else 0 : self.stops[at]]
            parts = [_field(NAME_FIELD, self.names[at].encode("utf-8", "replace")), _op_field(self.ops[at])]
            parts += [_field(INPUT_FIELD, text.encode("utf-8", "replace")) for text in inputs]
            encoded.append(_field(NODE_FIELD, b"".join([*parts, self.attributes[at]])))
        return b"".join(encoded)


class EncodedNodes(LazyNodes):
    """Nodes whose attributes are encoded; the rest is encoded on demand."""

    def __init__(self, nodes: NodeLists) -> None:
        super().__init__()
        self._nodes = nodes

    def __len__(self) -> int:
        return len(self._nodes.names)

    def encoded_range(self, first: int, stop: int) -> bytes:
        return self._nodes.encoded_range(first, stop)

    def may_have_attribute(self, key: str, at: int) -> bool:
        return key.encode() in self._nodes.attributes[at]

    def definition(self, at: int) -> bytes:
        return _op_field(self._nodes.ops[at]) + self._nodes.attributes[at]

    def attributes(self, at: int) -> bytes:
        return self._nodes.attributes[at]


def pack_nodes(nodes: NodeLists, name: str) -> PackedGraph:
    """Return the packed graph of nodes, without decoding them. Raises TooLarge."""
    check_message_size(sum(map(len, chain(nodes.names, nodes.inputs, nodes.attributes))), name)
    columns = NodeColumns()
    append_graph_columns(columns, nodes.names, nodes.ops, nodes.inputs, nodes.stops)
    return PackedGraph(EncodedNodes(nodes), GraphDef(), columns)


def encode_attribute(key: str, content: Any) -> bytes:
    """Return an attribute: a number, text, bool, a list of one of these types, or a message.

    >>> from graphviz_tb.proto import NodeDef
    >>> NodeDef.FromString(encode_attribute("pads", [1, 1]) + encode_attribute("mode", "same")).attr["mode"].s
    b'same'
    """
    if isinstance(content, str):
        return _attribute_field(key, _field(TEXT_FIELD, content.encode("utf-8", "replace")))
    if isinstance(content, float | int):
        return _encode_number(key, content)
    if isinstance(content, Sequence) and not isinstance(content, bytes):
        types = tuple(map(type, content))
        is_common = len(types) <= MAX_SHOWN_NUMBERS and str not in types
        return _encode_list(key, tuple(content), types) if is_common else _encode_message(key, content)
    return _encode_message(key, content)


def _attribute_field(key: str, value: bytes) -> bytes:
    return _field(ATTRIBUTE_FIELD, _field(KEY_FIELD, key.encode("utf-8", "replace")) + _field(VALUE_FIELD, value))


@lru_cache(maxsize=1024)
def _op_field(op: str) -> bytes:
    return _field(OP_FIELD, op.encode("utf-8", "replace"))


@lru_cache(maxsize=1024, typed=True)
def _encode_number(key: str, content: float | bool) -> bytes:
    return _encode_message(key, content)


@lru_cache(maxsize=1024)
def _encode_list(key: str, content: tuple[Any, ...], _types: tuple[type, ...]) -> bytes:
    return _encode_message(key, content)


def _encode_message(key: str, content: Any) -> bytes:
    """Return an attribute, encoded by way of its message."""
    if isinstance(content, AttrValue):
        return _attribute_field(key, content.SerializeToString())
    made = AttrValue()
    if isinstance(content, bool):
        made.b = content
    elif isinstance(content, int):
        made.i = max(-(2**63), min(content, 2**63 - 1))
    elif isinstance(content, float):
        made.f = content
    elif isinstance(content, bytes):
        made.s = content
    elif isinstance(content, Sequence):
        _set_list(made, content)
    return _attribute_field(key, made.SerializeToString())


def _set_list(message: AttrValue, content: Sequence[Any]) -> None:
    """Write a list; values of several types become texts."""
    kinds = {type(value) for value in content}
    message.list.SetInParent()
    if kinds <= {bool} and content:
        message.list.b.extend(content)
    elif kinds <= {int}:
        message.list.i.extend(max(-(2**63), min(value, 2**63 - 1)) for value in content)
    elif kinds <= {int, float}:
        message.list.f.extend(map(float, content))
    else:
        message.list.s.extend(str(value).encode("utf-8", "replace") for value in content)


def dtype_attribute(name: str) -> AttrValue:
    return AttrValue(type=DTYPE_NUMBERS.get(name, 0))


@lru_cache(maxsize=256)
def encode_dtype(key: str, name: str) -> bytes:
    """Return an attribute with a dtype; a dtype that TensorFlow lacks is written as text."""
    return (
        encode_attribute(key, name)
        if name and name not in DTYPE_NUMBERS
        else _encode_message(key, dtype_attribute(name))
    )


@lru_cache(maxsize=1024)
def encode_shape(key: str, sizes: Sizes) -> bytes:
    made = AttrValue()
    made.shape.SetInParent()
    set_shape(made.shape, sizes)
    return _encode_message(key, made)


@lru_cache(maxsize=1024)
def encode_outputs(outputs: tuple[Value, ...]) -> bytes:
    """Return the shapes and the types of outputs, as attributes."""
    if not outputs:
        return b""
    types = AttrValue()
    types.list.type.extend(DTYPE_NUMBERS.get(value.dtype, 0) for value in outputs)
    return _encode_shapes(outputs) + _encode_message("_output_types", types)


def _encode_shapes(outputs: tuple[Value, ...]) -> bytes:
    shapes = AttrValue()
    for value in outputs:
        set_shape(shapes.list.shape.add(), value.sizes)
    return _encode_message("_output_shapes", shapes)


def encode_variable(value: Value, name: str) -> bytes:
    """Return the attributes of a weight: its type, its shape, and its name in the program."""
    text = _field(VALUE_FIELD, _field(TEXT_FIELD, name.encode("utf-8", "replace")))
    own = [_field(ATTRIBUTE_FIELD, key + text) for key in VARIABLE_NAME_KEYS]
    return _encode_kind_of_variable(value) + b"".join(own)


@lru_cache(maxsize=1024)
def _encode_kind_of_variable(value: Value) -> bytes:
    return encode_dtype("dtype", value.dtype) + encode_shape("shape", value.sizes) + _encode_shapes((value,))


@lru_cache(maxsize=1024)
def encode_source(lines: tuple[str, ...]) -> bytes:
    if not lines:
        return b""
    made = AttrValue()
    made.list.s.extend(line[:MAX_SOURCE_LINE_LETTERS].encode("utf-8", "replace") for line in lines)
    return _encode_message("_source", made)


def encode_constant(dtype: str, sizes: Sizes, content: bytes | None) -> bytes:
    """Return the attributes of a constant: its type, and its value with the elements if they are known."""
    if content is None or len(content) <= MAX_CACHED_CONTENT_BYTES:
        return _encode_small_constant(dtype, sizes, content)
    return _encode_constant(dtype, sizes, content)


@lru_cache(maxsize=1024)
def _encode_small_constant(dtype: str, sizes: Sizes, content: bytes | None) -> bytes:
    return _encode_constant(dtype, sizes, content)


def _encode_constant(dtype: str, sizes: Sizes, content: bytes | None) -> bytes:
    made = AttrValue()
    made.tensor.dtype = DTYPE_NUMBERS.get(dtype, 0)
    made.tensor.tensor_shape.SetInParent()
    set_shape(made.tensor.tensor_shape, sizes)
    if content is not None:
        made.tensor.tensor_content = content
    return encode_dtype("dtype", dtype) + _encode_message("value", made)


def shortened_sizes(sizes: Sizes) -> Sizes:
    """Return sizes, at most one more than a tensor can have."""
    return sizes if sizes is None or len(sizes) <= MAX_DIMENSIONS else sizes[: MAX_DIMENSIONS + 1]


def set_shape(message: TensorShapeProto, sizes: Sizes) -> None:
    """Write sizes into a message; an unknown size is -1, with its name."""
    if sizes is None or len(sizes) > MAX_DIMENSIONS:
        message.unknown_rank = True
        return
    for size in sizes:
        if isinstance(size, int):
            message.dim.add(size=max(-1, min(size, 2**63 - 1)))
        else:
            message.dim.add(size=-1, name=size or "")
