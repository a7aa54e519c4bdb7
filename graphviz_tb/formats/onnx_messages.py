"""Decode the messages of an ONNX model with the wire reader: no package `onnx`, and no values of weights.

Initialisers are most of a file and no picture shows their numbers: their bytes are stepped over, so a model of
gigabytes takes the time of its nodes. Small tensors keep theirs, since shapes, axes and paddings are tensors too.
External data is noted and never opened.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import field
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from graphviz_tb.errors import MalformedProto
from graphviz_tb.formats.protobuf import (
    BYTES_TYPE,
    FIXED32_TYPE,
    FIXED64_TYPE,
    VARINT_TYPE,
    CutError,
    IndexedBytes,
    parse_wire_varint,
    wire_spans,
)
from graphviz_tb.limits import MAX_MESSAGE_DEPTH, MAX_STORED_VALUE_BYTES
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import MAX_DIMENSIONS
from graphviz_tb.sources.bounds import MemoryBudget

# Types of elements by number (onnx.proto: TensorProto.DataType), from 1 on.
DTYPE_NAMES = (
    "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "float64",
    "uint32", "uint64", "complex64", "complex128", "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "uint4", "int4", "float4_e2m1fn", "float8_e8m0fnu", "uint2", "int2", "float6_e2m3",
    "float6_e3m2",
)  # fmt: skip
DTYPE_BY_NUMBER = dict(enumerate(DTYPE_NAMES, 1))
# Formats of `struct` for the elements of a tensor; halves by their bits, as `int32_data` has them.
FORM_BY_DTYPE = {
    **dict.fromkeys(("uint16", "float16", "bfloat16"), "<H"),
    **dict.fromkeys(("uint8", "bool"), "<B"),
    **dict(zip(("float32", "float64", "int64", "uint64", "int32"), ("<f", "<d", "<q", "<Q", "<i"), strict=True)),
    **dict(zip(("uint32", "int16", "int8"), ("<I", "<h", "<b"), strict=True)),
}
# Memory that a message takes at least, a node of the graph later more, and lists of numbers for each byte in the file.
BYTES_OF_MESSAGE, BYTES_OF_NODE, BYTES_PER_LISTED_BYTE = 150, 600, 10
EXTERNAL_LOCATION = 1  # `data_location` of a tensor whose values are in another file

ValueSizes = (
    tuple[int | str | None, ...] | None
)  # sizes: a number, the name of a symbol, unknown; None for an unknown rank


@dataclass(frozen=True, slots=True)
class Opset:
    """A version of the operators of a domain; "" is ONNX's own."""

    domain: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value."""

    key: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A stored tensor. Of large ones only name, type and size are kept, and where the raw values are in the file:
    `skipped` says so."""

    name: str = ""
    dims: tuple[int, ...] = ()
    data_type: int = 0
    raw_data: bytes | None = None
    float_data: tuple[float, ...] = ()
    int32_data: tuple[int, ...] = ()
    int64_data: tuple[int, ...] = ()
    double_data: tuple[float, ...] = ()
    uint64_data: tuple[int, ...] = ()
    string_data: tuple[bytes, ...] = ()
    external_data: tuple[Entry, ...] = ()
    data_location: int = 0
    skipped: bool = False
    span: tuple[int, int] | None = None

    @property
    def dtype(self) -> str:
        """The name of the element type; "" for an unknown one."""
        return DTYPE_BY_NUMBER.get(self.data_type, "")

    @property
    def is_external(self) -> bool:
        """Return whether the values are in another file."""
        return self.data_location == EXTERNAL_LOCATION

    def content(self) -> bytes | None:
        """Return the values as little-endian bytes; None if they are not kept, no numbers, or do not fill `dims`."""
        form = FORM_BY_DTYPE.get(self.dtype)
        if form is None or self.skipped or self.is_external or len(self.dims) > MAX_DIMENSIONS:
            return None
        size, count = struct.calcsize(form), 1
        for extent in self.dims:
            count *= max(0, extent)
        listed: tuple[Any, ...] = (
            self.float_data or self.int32_data or self.int64_data or self.double_data or self.uint64_data
        )
        if self.raw_data is None and listed:
            try:
                data = b"".join(struct.pack(form, number) for number in listed)
            except (struct.error, OverflowError):
                return None
        else:
            data = self.raw_data or b""
        return data if len(data) == size * count else None


@dataclass(frozen=True, slots=True)
class SparseTensorValue:
    """A sparse tensor: its values, and the shape of the whole."""

    values: TensorValue = TensorValue()
    dims: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Dimension:
    """One size of a type."""

    value: int | None = None
    param: str = ""


@dataclass(frozen=True, slots=True)
class ShapeOfType:
    """The sizes of a type."""

    dims: tuple[Dimension, ...] = ()


@dataclass(frozen=True, slots=True)
class TensorType:
    """The type of a tensor."""

    elem_type: int = 0
    shape: ShapeOfType | None = None


@dataclass(frozen=True, slots=True)
class ValueType:
    """The type of a value: of a tensor, or of a sequence, an optional or a map, of which only the kind is kept."""

    tensor: TensorType | None = None
    sparse: TensorType | None = None
    sequence: ValueType | None = None
    optional: ValueType | None = None


@dataclass(frozen=True, slots=True)
class NamedValue:
    """An input, an output or an inner value of a graph, and its type."""

    name: str = ""
    type: ValueType = ValueType()

    @property
    def dtype(self) -> str:
        """The name of the element type; "" for values that are not tensors."""
        tensor = self.type.tensor or self.type.sparse
        return DTYPE_BY_NUMBER.get(tensor.elem_type, "") if tensor else ""

    @property
    def dims(self) -> ValueSizes:
        """The sizes, symbols by name; None for an unknown rank."""
        tensor = self.type.tensor or self.type.sparse
        if tensor is None or tensor.shape is None:
            return None
        return tuple(
            dim.value if dim.value is not None and dim.value >= 0 else dim.param or None for dim in tensor.shape.dims
        )


@dataclass(frozen=True, slots=True)
class Attribute:
    """A setting of a node. `type` says which field is meant; old files leave it out."""

    name: str = ""
    type: int = 0
    f: float | None = None
    i: int | None = None
    s: bytes | None = None
    t: TensorValue | None = None
    g: GraphValue | None = None
    sparse: SparseTensorValue | None = None
    floats: tuple[float, ...] = ()
    ints: tuple[int, ...] = ()
    strings: tuple[bytes, ...] = ()
    tensors: tuple[TensorValue, ...] = ()
    graphs: tuple[GraphValue, ...] = ()
    ref_name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class NodeValue:
    """An operator: "" among its inputs and outputs is one that is left out. Each is equal to itself only."""

    name: str = ""
    op_type: str = ""
    domain: str = ""
    overload: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    metadata: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphValue:
    """A graph: that of the model, or a branch or body inside a node, which also sees the values around it."""

    name: str = ""
    nodes: tuple[NodeValue, ...] = ()
    initializers: tuple[TensorValue, ...] = ()
    sparse_initializers: tuple[SparseTensorValue, ...] = ()
    inputs: tuple[NamedValue, ...] = ()
    outputs: tuple[NamedValue, ...] = ()
    values: tuple[NamedValue, ...] = ()
    metadata: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """An operator that the file itself defines."""

    name: str = ""
    domain: str = ""
    overload: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    nodes: tuple[NodeValue, ...] = ()
    attribute_names: tuple[str, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    values: tuple[NamedValue, ...] = ()
    opsets: tuple[Opset, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelValue:
    """A whole model."""

    ir_version: int = 0
    producer: str = ""
    producer_version: str = ""
    domain: str = ""
    opsets: tuple[Opset, ...] = ()
    graph: GraphValue | None = None
    functions: tuple[FunctionValue, ...] = ()
    metadata: tuple[Entry, ...] = field(default=())


class Scalar(Enum):
    """Decoding of a field without a message."""

    TEXT = "text"
    BYTES = "bytes"
    INT = "int"
    FLOAT = "float"
    DOUBLE = "double"


class FieldRule(NamedTuple):
    """The attribute to fill from a field, and its decoding; `many` values make a tuple."""

    name: str
    kind: Scalar | type
    many: bool = False


def _many(name: str, kind: Scalar | type) -> FieldRule:
    return FieldRule(name, kind, many=True)


# Field numbers of onnx.proto; fields that no picture needs (documentation, devices, training) are stepped over.
FIELDS: dict[type, dict[int, FieldRule]] = {
    Opset: {1: FieldRule("domain", Scalar.TEXT), 2: FieldRule("version", Scalar.INT)},
    Entry: {1: FieldRule("key", Scalar.TEXT), 2: FieldRule("value", Scalar.TEXT)},
    TensorValue: {
        1: _many("dims", Scalar.INT),
        2: FieldRule("data_type", Scalar.INT),
        4: _many("float_data", Scalar.FLOAT),
        5: _many("int32_data", Scalar.INT),
        6: _many("string_data", Scalar.BYTES),
        7: _many("int64_data", Scalar.INT),
        8: FieldRule("name", Scalar.TEXT),
        9: FieldRule("raw_data", Scalar.BYTES),
        10: _many("double_data", Scalar.DOUBLE),
        11: _many("uint64_data", Scalar.INT),
        13: _many("external_data", Entry),
        14: FieldRule("data_location", Scalar.INT),
    },
    SparseTensorValue: {1: FieldRule("values", TensorValue), 3: _many("dims", Scalar.INT)},
    Dimension: {1: FieldRule("value", Scalar.INT), 2: FieldRule("param", Scalar.TEXT)},
    ShapeOfType: {1: _many("dims", Dimension)},
    TensorType: {1: FieldRule("elem_type", Scalar.INT), 2: FieldRule("shape", ShapeOfType)},
    ValueType: {
        1: FieldRule("tensor", TensorType),
        4: FieldRule("sequence", ValueType),
        8: FieldRule("sparse", TensorType),
        9: FieldRule("optional", ValueType),
    },
    NamedValue: {1: FieldRule("name", Scalar.TEXT), 2: FieldRule("type", ValueType)},
    Attribute: {
        1: FieldRule("name", Scalar.TEXT),
        2: FieldRule("f", Scalar.FLOAT),
        3: FieldRule("i", Scalar.INT),
        4: FieldRule("s", Scalar.BYTES),
        5: FieldRule("t", TensorValue),
        6: FieldRule("g", GraphValue),
        7: _many("floats", Scalar.FLOAT),
        8: _many("ints", Scalar.INT),
        9: _many("strings", Scalar.BYTES),
        10: _many("tensors", TensorValue),
        11: _many("graphs", GraphValue),
        20: FieldRule("type", Scalar.INT),
        21: FieldRule("ref_name", Scalar.TEXT),
        22: FieldRule("sparse", SparseTensorValue),
    },
    NodeValue: {
        1: _many("inputs", Scalar.TEXT),
        2: _many("outputs", Scalar.TEXT),
        3: FieldRule("name", Scalar.TEXT),
        4: FieldRule("op_type", Scalar.TEXT),
        5: _many("attributes", Attribute),
        7: FieldRule("domain", Scalar.TEXT),
        8: FieldRule("overload", Scalar.TEXT),
        9: _many("metadata", Entry),
    },
    GraphValue: {
        1: _many("nodes", NodeValue),
        2: FieldRule("name", Scalar.TEXT),
        5: _many("initializers", TensorValue),
        11: _many("inputs", NamedValue),
        12: _many("outputs", NamedValue),
        13: _many("values", NamedValue),
        15: _many("sparse_initializers", SparseTensorValue),
        16: _many("metadata", Entry),
    },
    FunctionValue: {
        1: FieldRule("name", Scalar.TEXT),
        4: _many("inputs", Scalar.TEXT),
        5: _many("outputs", Scalar.TEXT),
        6: _many("attribute_names", Scalar.TEXT),
        7: _many("nodes", NodeValue),
        9: _many("opsets", Opset),
        10: FieldRule("domain", Scalar.TEXT),
        11: _many("attributes", Attribute),
        12: _many("values", NamedValue),
        13: FieldRule("overload", Scalar.TEXT),
    },
    ModelValue: {
        1: FieldRule("ir_version", Scalar.INT),
        2: FieldRule("producer", Scalar.TEXT),
        3: FieldRule("producer_version", Scalar.TEXT),
        4: FieldRule("domain", Scalar.TEXT),
        7: FieldRule("graph", GraphValue),
        8: _many("opsets", Opset),
        14: _many("metadata", Entry),
        25: _many("functions", FunctionValue),
    },
}
WIRE_BY_SCALAR = {
    Scalar.TEXT: BYTES_TYPE,
    Scalar.BYTES: BYTES_TYPE,
    Scalar.INT: VARINT_TYPE,
    Scalar.FLOAT: FIXED32_TYPE,
    Scalar.DOUBLE: FIXED64_TYPE,
}
FORM_BY_SCALAR = {Scalar.FLOAT: "f", Scalar.DOUBLE: "d"}
OnnxMessageT = TypeVar("OnnxMessageT")
NAMED_KINDS = frozenset((NodeValue, NamedValue, TensorValue))  # none has an equal
MAX_REMEMBERED_BYTES = 2048  # of a message that is remembered for equal ones


def decode_model(data: IndexedBytes, name: str, budget: MemoryBudget | None = None) -> ModelValue:
    """Decode a model. Raises MalformedProto, and TooLarge if its values take more memory than the budget.

    >>> decode_model(bytes.fromhex("0808 3a0b 0a09 0a0178 2204 52656c75"), "m.onnx").graph.nodes[0].op_type
    'Relu'
    >>> decode_model(b"\\x08\\x08\\x3a\\x09\\x0a", "m.onnx")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    graphviz_tb.errors.MalformedProto: m.onnx: not a whole ONNX model: it is cut short or damaged (at byte 2)...
    """
    try:
        return MessageDecoder(data, budget or MemoryBudget(None, name)).decode(ModelValue, 0, len(data), 0)
    except CutError as cut:
        raise MalformedProto(
            f"{name}: not a whole ONNX model: it is cut short or damaged",
            offset=cut.offset,
            hint="copy or download it again",
        ) from None
    except RecursionError:
        raise MalformedProto(f"{name}: not a whole ONNX model: it is nested too deep", offset=None) from None


class MessageDecoder:
    """Decodes the messages in some bytes; equal small ones, such as types, modules and settings, become one value."""

    def __init__(self, data: IndexedBytes, budget: MemoryBudget) -> None:
        self.data, self.budget = data, budget
        self._decoded: dict[tuple[type, bytes], Any] = {}

    def decode(self, kind: type[OnnxMessageT], first: int, last: int, depth: int) -> OnnxMessageT:
        """Decode one message; those inside it by recursion, no deeper than protobuf goes."""
        if depth > MAX_MESSAGE_DEPTH:
            raise RecursionError
        self.budget.take(BYTES_OF_NODE if kind is NodeValue else BYTES_OF_MESSAGE)
        rules = FIELDS[kind]
        values: dict[str, Any] = {}
        for number, wire, start, begin, end in wire_spans(self.data, first, last):
            rule = rules.get(number)
            if rule is None:
                continue
            name, field_kind, many = rule
            # Large values of tensors; the strings of a message are never that long, or are cut below.
            if kind is TensorValue and end - begin > MAX_STORED_VALUE_BYTES:
                values["skipped"] = True
                if name == "raw_data":
                    values["span"] = begin, end
            elif isinstance(field_kind, Scalar):
                if field_kind is Scalar.TEXT and wire == BYTES_TYPE:  # most fields
                    found: Sequence[Any] = (str(self.data[begin:end], "utf-8", "replace"),)
                else:
                    found = _scalars(self.data, field_kind, wire, start, begin, end)
                if many:
                    self.budget.take(BYTES_PER_LISTED_BYTE * (end - begin))
                    values.setdefault(name, []).extend(found)
                elif found:
                    values[name] = found[0]
            elif wire != BYTES_TYPE:
                raise CutError(start)
            elif many:
                values.setdefault(name, []).append(self._decode_inner(field_kind, begin, end, depth))
            else:
                values[name] = self._decode_inner(field_kind, begin, end, depth)
        for name, value in values.items():
            if type(value) is list:
                values[name] = tuple(value)
        return kind(**values)

    def _decode_inner(self, kind: type[OnnxMessageT], first: int, last: int, depth: int) -> OnnxMessageT:
        if last - first > MAX_REMEMBERED_BYTES or kind in NAMED_KINDS:
            return self.decode(kind, first, last, depth + 1)
        key = kind, bytes(self.data[first:last])
        known: OnnxMessageT | None = self._decoded.get(key)
        if known is None:
            known = self._decoded[key] = self.decode(kind, first, last, depth + 1)
        else:
            self.budget.take(BYTES_OF_MESSAGE)  # the list of equal ones takes time and memory too
        return known


def _scalars(data: IndexedBytes, kind: Scalar, wire: int, start: int, first: int, last: int) -> Sequence[Any]:
    """Return the value of a field, or the values that are packed in it. Raises CutError for another wire type."""
    expected = WIRE_BY_SCALAR[kind]
    if kind is Scalar.BYTES and wire == BYTES_TYPE:
        return (bytes(data[first:last]),)
    if wire not in (expected, BYTES_TYPE):
        raise CutError(start)
    if expected == VARINT_TYPE:
        numbers = []
        position = first
        while position < last:
            number, position = parse_wire_varint(data, position, last)
            number &= (1 << 64) - 1
            numbers.append(number - (1 << 64) if number >> 63 else number)
        return numbers
    form = FORM_BY_SCALAR[kind]
    count, rest = divmod(last - first, struct.calcsize(f"<{form}"))
    if rest:
        raise CutError(start)
    return struct.unpack(f"<{count}{form}", data[first:last])
