"""The parts of a TensorFlow Lite file: subgraphs, tensors, operators, signatures. Read without any package.

A file is a flatbuffer: a table points back to its list of slots, which has the position of each field; pointers to
vectors, texts and inner tables lead forwards. Parts may be shared, so a small file may repeat a long list many times: a
meter counts all values that are read. There are thousands of tensors and operators, but most have one of a few lists of
slots: a field is read of all of them at once. `tflite.tsv` has the numbers of ops and the fields of their options.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pkgutil import get_data
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.errors import MalformedProto, TooLarge, UnknownFormat
from graphviz_tb.formats.protobuf import CutError, wire_fields
from graphviz_tb.limits import FREE_FLATBUFFER_VALUES, Meter
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import MAX_DIMENSIONS
from graphviz_tb.ops.table import read_table
from graphviz_tb.sources.bounds import MAX_BYTES_HINT, check_listed_nodes

SCHEMA_VERSION = 3
DAMAGED_HINT = "it may be cut short: copy or convert it again"
TOO_NEW_HINT = "convert it with a release of TensorFlow up to 2.21"
VALUES_PER_BYTE = 4  # values and letters that may be read for each byte, since equal lists may be stored once
ABSENT = -1  # the number of an omitted input
NO_VECTOR: tuple[Any, ...] = ()
MAX_SLOTS = 16  # slots of the tables that are read here
TYPE_BY_KIND = {**dict.fromkeys("bBHiIqQ", int), "f": float, "?": bool}  # by letters of `struct`
UNPACK_BY_KIND = {kind: struct.Struct(f"<{kind}").unpack_from for kind in TYPE_BY_KIND}
SIZE_BY_KIND = {kind: struct.calcsize(f"<{kind}") for kind in TYPE_BY_KIND}
DTYPES = (
    "float32", "float16", "int32", "uint8", "int64", "string", "bool", "int16", "complex64", "int8", "float64",
    "complex128", "uint64", "resource", "variant", "uint32", "uint16", "int4", "bfloat16", "int2", "uint4",
)  # fmt: skip
WORDS: dict[str, Sequence[str]] = {
    "padding": ("SAME", "VALID"),
    "activation": ("", "Relu", "ReluN1To1", "Relu6", "Tanh", "SignBit"),
    "weights": ("", "SHUFFLED4x16INT8"),
    "mirror": ("REFLECT", "SYMMETRIC"),
    "combiner": ("sum", "mean", "sqrtn"),
    "dtype": DTYPES,
}
DEBUG_INFO_FIELD = 6  # of a NodeDef: the nodes that it was made from
SUBGRAPH = "subgraph"  # the kind of a field with the number of a subgraph


class Quantization(NamedTuple):
    """Real values of stored integers: `scale × (number - zero point)`, one scale for all or one for each channel."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int


class LiteTensor(NamedTuple):
    """A tensor of a subgraph. -1 is a dynamic size, a shape of None an unknown rank; a constant has `data` (first byte,
    end); `sparse` if its zeros are not stored."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None
    data: tuple[int, int] | None
    quantization: Quantization | None
    variable: bool
    sparse: bool


class LiteOperator(NamedTuple):
    """An operator; `inputs` and `outputs` are numbers of tensors, `bodies` subgraphs by the field that names them."""

    op: str
    custom: bool
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, Any]
    bodies: Mapping[str, int]


class LiteSubgraph(NamedTuple):
    """A subgraph; the first is the model."""

    name: str
    tensors: tuple[LiteTensor, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: tuple[LiteOperator, ...]


class LiteSignature(NamedTuple):
    """A signature: names of inputs and outputs with the number of their tensor."""

    key: str
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    subgraph: int


@dataclass(frozen=True, slots=True)
class LiteModel:
    """The content of a file; `read_bytes` returns the values of a constant."""

    description: str
    subgraphs: tuple[LiteSubgraph, ...]
    signatures: tuple[LiteSignature, ...]
    data: bytes

    def read_bytes(self, tensor: LiteTensor) -> bytes:
        """Return the stored values of a constant."""
        return self.data[slice(*tensor.data)] if tensor.data else b""


class _Option(NamedTuple):
    slot: int
    kind: str
    name: str
    default: float


@cache
def _tflite_table() -> tuple[dict[int, str], dict[str, tuple[_Option, ...]]]:
    """Return the names of ops by number, and the fields of their options by "union.number"."""
    ops: dict[int, str] = {}
    options: dict[str, tuple[_Option, ...]] = {}
    for key, line in read_table((get_data(__name__, "tflite.tsv") or b"").decode()).items():
        if "." not in key:
            ops[int(key)] = line
            continue
        fields = (text.split(":") for text in line.split())
        options[key] = tuple(_Option(int(slot), kind, *_name_and_default(rest)) for slot, kind, rest in fields)
    return ops, options


def _name_and_default(text: str) -> tuple[str, float]:
    name, _, default = text.partition("=")
    return name, float(default or 0)


class _Flatbuffer:
    """Bytes that are read at checked places only."""

    def __init__(self, data: bytes, name: str, bounded: bool) -> None:
        self.data, self.name = data, name
        self.is_bounded = bounded
        self._slots: dict[int, tuple[int, ...]] = {}
        self._meter = Meter(FREE_FLATBUFFER_VALUES + VALUES_PER_BYTE * len(data))

    def damage_error(self, at: int) -> MalformedProto:
        """Return the error of a file that points outside of itself."""
        return MalformedProto(f"{self.name}: a damaged TensorFlow Lite file", offset=max(0, at), hint=DAMAGED_HINT)

    def take(self, count: int) -> None:
        """Count values. Raises `TooLarge`."""
        if self.is_bounded and not self._meter.take(count):
            raise TooLarge(
                f"{self.name}: lists that are stored once are used so often that it looks like a bomb",
                hint=MAX_BYTES_HINT,
            )

    def unpack(self, kind: str, at: int) -> Any:
        """Return the value at a place, by a letter of `struct`."""
        if at < 0:
            raise self.damage_error(at)
        try:
            return UNPACK_BY_KIND[kind](self.data, at)[0]
        except (struct.error, OverflowError):
            raise self.damage_error(min(at, len(self.data))) from None

    def gather(self, kind: str, places: Longs) -> NDArray[Any]:
        """Return the values at several places, aligned or not."""
        last = len(self.data) - SIZE_BY_KIND[kind]
        outside = np.flatnonzero((places < 0) | (places > last))
        if len(outside):
            raise self.damage_error(min(int(places[outside[0]]), len(self.data)))
        values: NDArray[Any] = np.ndarray((max(0, last + 1),), f"<{kind}", self.data, strides=(1,))[places]
        return values

    def slots(self, at: int) -> tuple[int, ...]:
        """Return the offsets of the fields of all tables with the list of slots at a position; 0 for a field with its
        default."""
        known = self._slots.get(at)
        if known is None:
            count = min(max(0, self.unpack("H", at) - 4) // 2, MAX_SLOTS)
            if at + 4 + 2 * count > len(self.data):
                raise self.damage_error(len(self.data))
            listed = struct.unpack_from(f"<{count}H", self.data, at + 4)
            known = self._slots[at] = (*listed, *[0] * (MAX_SLOTS - count))
        return known

    def root(self) -> _Table:
        """Return the outermost table."""
        return _Table(self, self.unpack("I", 0))


class _Table:
    """A table: its fields by the number of their slot."""

    __slots__ = ("_at", "_file", "_offsets")

    def __init__(self, file: _Flatbuffer, at: int) -> None:
        file.take(1)
        self._file, self._at = file, at
        self._offsets = file.slots(at - file.unpack("i", at))

    def _place(self, slot: int) -> int | None:
        """Return the position of a field; None if it has its default."""
        offset = self._offsets[slot]
        return self._at + offset if offset else None

    def number(self, slot: int, kind: str, default: float = 0) -> Any:
        """Return a number, by a letter of `struct`."""
        offset = self._offsets[slot]
        return self._file.unpack(kind, self._at + offset) if offset else TYPE_BY_KIND[kind](default)

    def table(self, slot: int) -> _Table | None:
        place = self._place(slot)
        return None if place is None else _Table(self._file, place + self._file.unpack("I", place))

    def text(self, slot: int) -> str:
        start, length = self.vector(slot, 1)
        self._file.take(length)
        return self._file.data[start : start + length].decode("utf-8", "replace")

    def numbers(self, slot: int, kind: str) -> tuple[Any, ...]:
        if not self._offsets[slot]:
            return NO_VECTOR
        start, length = self.vector(slot, SIZE_BY_KIND[kind])
        self._file.take(length)
        return struct.unpack_from(f"<{length}{kind}", self._file.data, start)

    def tables(self, slot: int) -> Iterator[_Table]:
        start, length = self.vector(slot, 4)
        for place in range(start, start + 4 * length, 4):
            yield _Table(self._file, place + self._file.unpack("I", place))

    def columns(self, slot: int) -> _TableColumns:
        """Return the tables of a vector."""
        start, length = self.vector(slot, 4)
        places = start + 4 * np.arange(length)
        return _TableColumns(self._file, places + self._file.gather("I", places))

    def vector(self, slot: int, size: int) -> tuple[int, int]:
        """Return the first byte of a vector and its length, which is checked; 0, 0 if there is none."""
        place = self._place(slot)
        if place is None:
            return 0, 0
        start = place + self._file.unpack("I", place)
        length: int = self._file.unpack("I", start)
        if start + 4 + length * size > len(self._file.data):
            raise self._file.damage_error(start)
        return start + 4, length


class _TableColumns:
    """Many tables: a field of all of them by the number of its slot."""

    def __init__(self, file: _Flatbuffer, at: Longs) -> None:
        file.take(len(at))
        self._file, self._at = file, at
        lists, self._list = np.unique(at - file.gather("i", at), return_inverse=True)
        self._offsets = np.array([file.slots(each) for each in lists.tolist()], np.int64).reshape(-1, MAX_SLOTS)

    def _places(self, slot: int) -> tuple[Longs, Longs]:
        """Return the tables that have a field, and its positions."""
        offsets = self._offsets[self._list, slot]
        present = np.flatnonzero(offsets)
        return present, self._at[present] + offsets[present]

    def has(self, slot: int) -> list[bool]:
        has: list[bool] = (self._offsets[self._list, slot] > 0).tolist()
        return has

    def numbers(self, slot: int, kind: str, default: float = 0) -> list[Any]:
        """Return a number of each table."""
        present, places = self._places(slot)
        values = np.full(len(self._at), default, f"<{kind}")
        values[present] = self._file.gather(kind, places)
        return values.tolist()

    def tables(self, slot: int) -> list[_Table | None]:
        """Return an inner table of each table."""
        present, places = self._places(slot)
        tables: list[_Table | None] = [None] * len(self._at)
        for number, at in zip(present.tolist(), (places + self._file.gather("I", places)).tolist(), strict=True):
            tables[number] = _Table(self._file, at)
        return tables

    def spans(self, slot: int, size: int) -> list[tuple[int, int]]:
        """Return first byte and length of a vector of each table, as `_Table.vector` does."""
        present, places = self._places(slot)
        starts = places + self._file.gather("I", places)
        lengths = self._file.gather("I", starts).astype(np.int64)
        outside = np.flatnonzero(starts + 4 + lengths * size > len(self._file.data))
        if len(outside):
            raise self._file.damage_error(int(starts[outside[0]]))
        spans = np.zeros((len(self._at), 2), np.int64)
        spans[present, 0], spans[present, 1] = starts + 4, lengths
        return list(zip(*spans.T.tolist(), strict=True))

    def texts(self, slot: int) -> list[str]:
        spans, data = self.spans(slot, 1), self._file.data
        self._file.take(sum([length for _, length in spans]))
        return [data[start : start + length].decode("utf-8", "replace") for start, length in spans]

    def vectors(self, slot: int, kind: str) -> list[tuple[Any, ...]]:
        """Return the numbers in a vector of each table."""
        spans, data = self.spans(slot, SIZE_BY_KIND[kind]), self._file.data
        self._file.take(sum([length for _, length in spans]))
        return [struct.unpack_from(f"<{length}{kind}", data, start) if length else NO_VECTOR for start, length in spans]


def decode_tflite(data: bytes, name: str, bounded: bool) -> LiteModel:
    """Decode a file. Raises `MalformedProto`, `TooLarge`, `UnknownFormat`."""
    file = _Flatbuffer(data, name, bounded)
    model = file.root()
    version = model.number(0, "I")
    if version > SCHEMA_VERSION:
        raise UnknownFormat(
            f"{name} is a TensorFlow Lite model of schema {version}, which is too new", hint=TOO_NEW_HINT
        )
    codes = [_op_name(table, name) for table in model.tables(1)]
    buffers = _buffer_places(model.columns(4), file)
    subgraphs = tuple(_subgraph(table, codes, buffers, file) for table in model.tables(2))
    signatures = tuple(_signature(table) for table in model.tables(7))
    return LiteModel(model.text(3), subgraphs, signatures, data)


def _op_name(table: _Table, name: str) -> tuple[str, bool]:
    """Return the name of an op and whether it is a custom one."""
    ops, _ = _tflite_table()
    # Files from before 2021 have only the field of one byte; in later files the larger of both fields is the number.
    code = max(table.number(0, "b"), table.number(3, "i"))
    known = ops.get(code)
    if known is None:
        raise UnknownFormat(f"{name}: op number {code} of TensorFlow Lite is not known here", hint=TOO_NEW_HINT)
    return (table.text(1) or known, True) if known == "CUSTOM" else (known, False)


def _buffer_places(tables: _TableColumns, file: _Flatbuffer) -> list[tuple[int, int] | None]:
    """Return the range of each buffer; None for the empty buffer, which all tensors that are not constants share."""
    places: list[tuple[int, int] | None] = []
    for (start, length), first, size in zip(
        tables.spans(0, 1), tables.numbers(1, "Q"), tables.numbers(2, "Q"), strict=True
    ):
        if not length and first > 1:  # buffers of a large file follow the tables; 1 means none
            start, length = first, size
            if start + length > len(file.data):
                raise file.damage_error(min(start, len(file.data)))
        places.append((start, start + length) if length else None)
    return places


def _subgraph(
    table: _Table, codes: Sequence[tuple[str, bool]], buffers: Sequence[tuple[int, int] | None], file: _Flatbuffer
) -> LiteSubgraph:
    if file.is_bounded:
        check_listed_nodes(table.vector(3, 4)[1], len(file.data), file.name)
    return LiteSubgraph(
        table.text(4),
        tuple(_tensors(table.columns(0), buffers)),
        table.numbers(1, "i"),
        table.numbers(2, "i"),
        tuple(_operators(table.columns(3), codes, file)),
    )


def _tensors(tables: _TableColumns, buffers: Sequence[tuple[int, int] | None]) -> Iterator[LiteTensor]:
    columns = (  # by their slots in the table Tensor of the schema
        tables.texts(3),
        tables.numbers(1, "b"),
        zip(tables.vectors(7, "i"), tables.vectors(0, "i"), strict=True),
        tables.numbers(8, "B"),
        tables.numbers(2, "I"),
        tables.tables(4),
        tables.numbers(5, "B"),
        tables.has(6),
    )
    for name, code, (signature, shape), ranked, buffer, scales, variable, sparse in zip(*columns, strict=True):
        sizes: tuple[int, ...] = signature or shape  # the signature also states unknown sizes
        data = buffers[buffer] if buffer < len(buffers) else None
        # A tensor without sizes is a scalar if the file says so; in files from before 2022, if it is a constant.
        has_sizes = bool(sizes) or bool(ranked) or data is not None
        yield LiteTensor(
            name,
            DTYPES[code] if 0 <= code < len(DTYPES) else "",
            sizes if has_sizes and len(sizes) <= MAX_DIMENSIONS else None,
            data,
            _quantization(scales) if scales is not None else None,
            bool(variable),
            sparse,
        )


def _quantization(table: _Table) -> Quantization | None:
    scales = table.numbers(2, "f")
    return Quantization(scales, table.numbers(3, "q"), table.number(6, "i")) if scales else None


def _operators(tables: _TableColumns, codes: Sequence[tuple[str, bool]], file: _Flatbuffer) -> Iterator[LiteOperator]:
    _, fields_by_table = _tflite_table()
    # The two unions of options in the table Operator, each with the slots of its kind and of its table.
    unions = [
        (union, tables.numbers(kind, "B"), tables.tables(place)) for union, kind, place in ((1, 3, 4), (2, 11, 12))
    ]
    listed = zip(
        tables.numbers(0, "I"), tables.vectors(1, "i"), tables.vectors(2, "i"), tables.spans(5, 1), strict=True
    )
    for index, (number, inputs, outputs, (start, length)) in enumerate(listed):
        if number >= len(codes):
            raise MalformedProto(f"{file.name}: operator code {number} of {len(codes)}", hint=DAMAGED_HINT)
        op, custom = codes[number]
        options: dict[str, Any] = {}
        bodies: dict[str, int] = {}
        if custom and length:
            file.take(length)
            # Only the op can read these bytes; the checksum shows whether they differ.
            settings = _settings_of_op(file.data[start : start + length])
            options["custom_options"] = f"{len(settings):,} bytes, CRC-32 {crc32(settings):08x}"
        for union, kinds, tables_of_union in unions:
            table, fields = tables_of_union[index], fields_by_table.get(f"{union}.{kinds[index]}", ())
            if table is not None and fields:
                _add_options(table, fields, options, bodies)
        yield LiteOperator(op, custom, inputs, outputs, options, bodies)


def _settings_of_op(own: bytes) -> bytes:
    """Return the NodeDef in the settings of a TensorFlow op, with the attributes in sorted order and without notes for
    debugging, which vary between conversions. Other settings are returned unchanged.

    >>> ways = [b"\\x01X\\0\\x0e\\x12\\x01X" + both for both in (b"*\\2aa*\\2bb2\\1c", b"*\\2bb*\\2aa2\\1d")]
    >>> {_settings_of_op(way) for way in ways}, _settings_of_op(b"a")
    ({b'\\x12\\x01X*\\x02aa*\\x02bb'}, b'a')
    """
    op = own[1 : own[0] + 1]
    start = own.find(b"\x12%c%s" % (own[0], op), len(op)) if 0 < len(op) == own[0] < 0x80 else -1
    for width in (1, 2, 4) if start > 0 else ():  # width of the length before the node
        stop = start + int.from_bytes(own[start - width : start], "little")
        with suppress(CutError):
            fields = sorted((field.number, own[field.start : field.last]) for field in wire_fields(own, start, stop))
            if fields and stop <= len(own):
                return b"".join(part for number, part in fields if number != DEBUG_INFO_FIELD)
    return own


def _add_options(table: _Table, fields: Sequence[_Option], options: dict[str, Any], bodies: dict[str, int]) -> None:
    """Add all fields of the options of an op, also defaults, which the file omits."""
    for slot, kind, name, default in fields:
        if kind == SUBGRAPH:
            bodies[name] = table.number(slot, "i")
        elif kind == "*" + SUBGRAPH:
            bodies |= {f"{name}.{place}": number for place, number in enumerate(table.numbers(slot, "i"))}
        elif kind == "text":
            options[name] = table.text(slot)
        elif kind[0] == "*":
            options[name] = list(table.numbers(slot, kind[1:]))
        else:
            words = WORDS.get(kind)
            value = table.number(slot, kind if words is None else "b", default)
            value = value if words is None else words[value] if 0 <= value < len(words) else str(value)
            attribute, _, place = name.partition(".")
            if place:  # like the attribute of TensorFlow, one size for each dimension
                sizes = options.setdefault(attribute, [1, 1])
                sizes.extend([1] * (int(place) + 2 - len(sizes)))
                sizes[int(place)] = value
            else:
                options[name] = value


def _signature(table: _Table) -> LiteSignature:
    inputs, outputs = (tuple((each.text(0), each.number(1, "I")) for each in table.tables(slot)) for slot in (0, 1))
    return LiteSignature(table.text(2), inputs, outputs, table.number(4, "I"))
