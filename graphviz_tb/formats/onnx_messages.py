"""Decode the messages of an ONNX model: no package `onnx`, and no values of weights.

Initialisers are most of a file, and pictures do not show their values: these are cut out before protobuf decodes the
rest, so that only the nodes take time. Small tensors keep their values, since shapes, axes and paddings are tensors
too. External data is noted and never opened.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import field
from enum import Enum
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from google.protobuf.descriptor_pb2 import FileDescriptorProto, MessageOptions

from graphviz_tb.errors import MalformedProto
from graphviz_tb.formats.protobuf import BYTES_TYPE, CUT_REASON, DECODE_ERRORS, CutError, IndexedBytes, wire_spans
from graphviz_tb.formats.textproto.schema import encode_varint
from graphviz_tb.limits import MAX_MESSAGE_DEPTH, MAX_STORED_VALUE_BYTES
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import MAX_DIMENSIONS
from graphviz_tb.proto import message_classes
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
# Least memory of a message, of a node (with its node in the graph), and of a list entry.
BYTES_OF_MESSAGE, BYTES_OF_NODE, BYTES_OF_LISTED = 150, 600, 40
MAX_UNCOUNTED_ENTRIES = 8  # entries of a list that `BYTES_OF_MESSAGE` includes
SPAN_FIELD = (1 << 29) - 1  # the largest field number, which onnx.proto does not use
SPAN_TAG = encode_varint(SPAN_FIELD << 3)
EXTERNAL_LOCATION = 1  # `data_location` of a tensor whose values are in another file

# Each size is a number, the name of a symbol, or unknown; None for an unknown rank.
ValueSizes = tuple[int | str | None, ...] | None


@dataclass(frozen=True, slots=True)
class Opset:
    """A version of the operators of a domain; "" is ONNX's own."""

    domain: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A stored tensor. Of a large tensor only name, type and size are kept, and the first and last byte of its raw
    values in the file."""

    name: str = ""
    dims: tuple[int, ...] = ()
    data_type: int = 0
    raw_data: bytes = b""
    float_data: tuple[float, ...] = ()
    int32_data: tuple[int, ...] = ()
    int64_data: tuple[int, ...] = ()
    double_data: tuple[float, ...] = ()
    uint64_data: tuple[int, ...] = ()
    string_data: tuple[bytes, ...] = ()
    data_location: int = 0
    span: tuple[int, ...] = ()

    @property
    def dtype(self) -> str:
        """The name of the element type; "" for an unknown one."""
        return DTYPE_BY_NUMBER.get(self.data_type, "")

    @property
    def is_external(self) -> bool:
        """Return whether the values are in another file."""
        return self.data_location == EXTERNAL_LOCATION

    def content(self) -> bytes | None:
        """Return the values as little-endian bytes; None if they were not kept, are not numbers, or do not fill
        `dims`."""
        form = FORM_BY_DTYPE.get(self.dtype)
        if form is None or self.is_external or len(self.dims) > MAX_DIMENSIONS:
            return None
        size, count = struct.calcsize(form), 1
        for extent in self.dims:
            count *= max(0, extent)
        listed: tuple[Any, ...] = (
            self.float_data or self.int32_data or self.int64_data or self.double_data or self.uint64_data
        )
        if listed and not self.raw_data:
            try:
                data = struct.pack(f"<{len(listed)}{form[1]}", *listed)
            except (struct.error, OverflowError):
                return None
        else:
            data = self.raw_data
        return data if len(data) == size * count else None


@dataclass(frozen=True, slots=True)
class SparseTensorValue:
    """A sparse tensor: its non-zero values, and its shape."""

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
    """A setting of a node. `type` says which field has the value; old files omit it."""

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
    """An operator; "" is an omitted input or output. Nodes compare by identity."""

    name: str = ""
    op_type: str = ""
    domain: str = ""
    overload: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


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
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """An operator that the file itself defines."""

    name: str = ""
    domain: str = ""
    overload: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    nodes: tuple[NodeValue, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    values: tuple[NamedValue, ...] = ()
    opsets: tuple[Opset, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelValue:
    """A whole model."""

    ir_version: int = 0
    producer: str = ""
    domain: str = ""
    opsets: tuple[Opset, ...] = ()
    graph: GraphValue | None = None
    functions: tuple[FunctionValue, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


class Scalar(Enum):
    """The type of a field without a message, by its number in protobuf."""

    DOUBLE = 1
    FLOAT = 2
    INT = 3
    TEXT = 9
    BYTES = 12


class FieldRule(NamedTuple):
    """The attribute to fill from a field, and its type: a scalar, a message, `dict` for entries of a key and a text.
    `many` values make a tuple."""

    name: str
    kind: Scalar | type
    many: bool = False


def _many(name: str, kind: Scalar | type) -> FieldRule:
    return FieldRule(name, kind, many=True)


# Field numbers of onnx.proto; fields that no picture needs (documentation, devices, training) are stepped over.
FIELDS: dict[type, dict[int, FieldRule]] = {
    Opset: {1: FieldRule("domain", Scalar.TEXT), 2: FieldRule("version", Scalar.INT)},
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
        14: FieldRule("data_location", Scalar.INT),
        SPAN_FIELD: _many("span", Scalar.INT),
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
        9: _many("metadata", dict),
    },
    GraphValue: {
        1: _many("nodes", NodeValue),
        2: FieldRule("name", Scalar.TEXT),
        5: _many("initializers", TensorValue),
        11: _many("inputs", NamedValue),
        12: _many("outputs", NamedValue),
        13: _many("values", NamedValue),
        15: _many("sparse_initializers", SparseTensorValue),
        16: _many("metadata", dict),
    },
    FunctionValue: {
        1: FieldRule("name", Scalar.TEXT),
        4: _many("inputs", Scalar.TEXT),
        5: _many("outputs", Scalar.TEXT),
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
        4: FieldRule("domain", Scalar.TEXT),
        7: FieldRule("graph", GraphValue),
        8: _many("opsets", Opset),
        14: _many("metadata", dict),
        25: _many("functions", FunctionValue),
    },
}
# Messages that are decoded field by field, since hardly any are equal. Other messages are decoded once per distinct
# bytes.
TYPED_KINDS = (NodeValue, NamedValue, GraphValue, FunctionValue, TensorValue)
OnnxMessageT = TypeVar("OnnxMessageT")
ListT = TypeVar("ListT", bound=Sized)
MESSAGES_PER_BATCH = 256  # messages whose fields are taken together: the fields of one stay near in memory
MAX_REMEMBERED_BYTES = 2048  # largest message that is cached for equal ones


def decode_model(data: IndexedBytes, name: str, budget: MemoryBudget | None = None) -> ModelValue:
    """Decode a model. Raises MalformedProto, and TooLarge if its values take more memory than the budget.

    >>> decode_model(bytes.fromhex("0808 3a0b 0a09 0a0178 2204 52656c75"), "m.onnx").graph.nodes[0].op_type
    'Relu'
    >>> try:
    ...     decode_model(b"\\x08\\x08\\x3a\\x09\\x0a", "m.onnx")
    ... except MalformedProto as error:
    ...     print(error)
    m.onnx: not a whole ONNX model: it is cut short or damaged (at byte 2)
    """
    try:
        small = _without_large_values(data, ModelValue, 0, len(data))
        return MessageDecoder(budget or MemoryBudget(None, name)).decode(ModelValue, small)
    except RecursionError:
        raise MalformedProto(f"{name}: not a whole ONNX model: it is nested too deep", offset=None) from None
    except (CutError, *DECODE_ERRORS):
        account, offset = f"{name}: not a whole ONNX model: {CUT_REASON}", _damaged_byte(data)
    raise MalformedProto(account, offset=offset, hint="copy or download it again")


def _damaged_byte(data: IndexedBytes) -> int | None:
    """Return the first byte, at any depth, where no field begins; None if it is not found."""
    try:
        _without_large_values(data, ModelValue, 0, len(data), limit=-1)
    except CutError as cut:
        return cut.offset
    except RecursionError:
        pass
    return None


def _without_large_values(
    data: IndexedBytes, kind: type, first: int, last: int, depth: int = 0, limit: int = MAX_STORED_VALUE_BYTES
) -> bytes:
    """Return the bytes of a message without large values of tensors, at any depth. The field `span` has the first and
    last byte of raw values in the file."""
    if depth > MAX_MESSAGE_DEPTH:
        raise RecursionError
    rules = FIELDS[kind]
    pieces: list[bytes] = []
    unchanged_from = first  # start of the bytes that are copied unchanged
    for number, wire, start, begin, end in wire_spans(data, first, last, limit):
        rule = rules.get(number)
        replacement: list[bytes] = []
        if kind is TensorValue and end - begin > MAX_STORED_VALUE_BYTES:
            if rule is not None and rule.name == "raw_data":
                replacement = [SPAN_TAG, encode_varint(begin), SPAN_TAG, encode_varint(end)]
        elif rule is not None and rule.kind not in FIELDS:
            continue
        elif rule is not None and rule.kind in FIELDS:
            if wire != BYTES_TYPE:
                raise CutError(start)
            inner = _without_large_values(data, rule.kind, begin, end, depth + 1, limit)
            if len(inner) == end - begin:  # nothing is cut
                continue
            replacement = [encode_varint(number << 3 | BYTES_TYPE), encode_varint(len(inner)), inner]
        pieces += [data[unchanged_from:start], *replacement]
        unchanged_from = end
    return b"".join([*pieces, data[unchanged_from:last]]) if pieces else data[first:last]


@cache
def _message_classes() -> Mapping[type, Any]:
    """Return a class of protobuf for each kind of message."""
    file: Any = FileDescriptorProto(name="onnx", package="graphviz_tb.onnx")
    for kind, rules in FIELDS.items():
        message = file.message_type.add(name=kind.__name__)
        for number, (name, inner, many) in rules.items():
            described = message.field.add(name=name, number=number, label=3 if many else 1)
            if inner is dict:
                entry = message.nested_type.add(name="Entry", options=MessageOptions(map_entry=True))
                for place, part in enumerate(("key", "value"), 1):
                    entry.field.add(name=part, number=place, label=1, type=Scalar.TEXT.value)
                described.type_name = f".{file.package}.{kind.__name__}.Entry"
            elif inner in TYPED_KINDS:
                described.type_name = f".{file.package}.{inner.__name__}"
            else:
                described.type = inner.value if isinstance(inner, Scalar) else Scalar.BYTES.value
    classes = message_classes([file])
    return {kind: classes[kind.__name__] for kind in FIELDS}


class MessageDecoder:
    """Decodes messages; equal small messages, such as types and settings, become one object."""

    def __init__(self, budget: MemoryBudget) -> None:
        self.budget, self.depth = budget, 0
        self._decoded: dict[type, dict[bytes, Any]] = {kind: {} for kind in FIELDS}

    def decode(self, kind: type[OnnxMessageT], data: bytes) -> OnnxMessageT:
        """Decode one message, and inner messages by recursion, at most as deep as protobuf allows."""
        if self.depth > MAX_MESSAGE_DEPTH:
            raise RecursionError
        self.depth += 1
        values: dict[str, Any] = {}
        message = _message_classes()[kind].FromString(data)
        del data  # free the bytes: the message is a copy
        for field_descriptor, content in message.ListFields():
            rule = FIELDS[kind][field_descriptor.number]
            (values[rule.name],) = self._column(rule, [content])
        self.depth -= 1
        self.budget.take(BYTES_OF_MESSAGE)
        return kind(**values)

    def _values(self, kind: type[OnnxMessageT], messages: Sequence[Any]) -> tuple[OnnxMessageT, ...]:
        """Return messages of a kind in `TYPED_KINDS` as values, made field by field: there are thousands."""
        self.budget.take(len(messages) * (BYTES_OF_NODE if kind is NodeValue else BYTES_OF_MESSAGE))
        rules = {rule.name: rule for rule in FIELDS[kind].values()}
        names, listed = vars(kind)["__match_args__"], list(messages)
        self.depth += 1  # checked where the next message is decoded
        values: list[OnnxMessageT] = []
        for first in range(0, len(listed), MESSAGES_PER_BATCH):
            batch = listed[first : first + MESSAGES_PER_BATCH]
            values += map(kind, *[self._column(rules[name], map(attrgetter(name), batch)) for name in names])
        self.depth -= 1
        return tuple(values)

    def _column(self, rule: FieldRule, contents: Iterable[Any]) -> Sequence[Any]:
        """Return the values of a field by its contents in several messages of protobuf. Each content is made and freed
        in turn: thousands of them at once would take longer."""
        kind: Any = rule.kind
        if kind is dict:
            return list(map(self._count_memory, contents))  # protobuf's own: those of a node are few and read once
        if rule.many and kind in TYPED_KINDS:
            return [self._values(kind, self._count_memory(listed)) for listed in contents]
        if rule.many:
            # Slices, because an iterator of protobuf ends with a slow, formatted IndexError.
            lists = [
                tuple((listed if len(listed) <= MAX_UNCOUNTED_ENTRIES else self._count_memory(listed))[:])
                for listed in contents
            ]
            if kind in FIELDS:
                return [self._inner(kind, listed) if listed else () for listed in lists]
            damaged = kind is Scalar.TEXT and bytes in map(type, chain.from_iterable(lists))
            return [tuple(map(text_of, texts)) for texts in lists] if damaged else lists
        if kind in TYPED_KINDS:
            return [self._values(kind, [message])[0] for message in contents]
        if kind in FIELDS:
            return self._inner(kind, contents)
        values = list(contents)
        return list(map(text_of, values)) if kind is Scalar.TEXT and bytes in map(type, values) else values

    def _count_memory(self, listed: ListT) -> ListT:
        """Count the memory of the entries of a list, and return it."""
        if len(listed) > MAX_UNCOUNTED_ENTRIES:
            self.budget.take(BYTES_OF_LISTED * len(listed))
        return listed

    def _inner(self, kind: type[OnnxMessageT], listed: Iterable[bytes]) -> tuple[OnnxMessageT, ...]:
        """Return inner messages, decoded once per distinct bytes."""
        known: dict[bytes, OnnxMessageT] = self._decoded[kind]
        return tuple([known.get(data) or self._decode_once(kind, data) for data in listed])

    def _decode_once(self, kind: type[OnnxMessageT], data: bytes) -> OnnxMessageT:
        made = self.decode(kind, data)
        if len(data) <= MAX_REMEMBERED_BYTES:
            self._decoded[kind][data] = made
        return made


def text_of(content: str | bytes) -> str:
    """Return a text; for invalid UTF-8, protobuf returns bytes."""
    return content if isinstance(content, str) else content.decode("utf-8", "replace")
