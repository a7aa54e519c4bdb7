"""Locate time, step, tags and values in the bytes of one event, without decoding the values.

Only dtype, shape and plugin are decoded, as they say how values are read. Events whose bytes are equal outside these
spans have the same structure and are decoded together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import unpack
from typing import Any, NamedTuple

from graphviz_tb.formats.protobuf import (
    BYTES_TYPE,
    FIXED32_TYPE,
    FIXED64_TYPE,
    VARINT_TYPE,
    WireField,
    parse_wire_varint,
    wire_fields,
)
from graphviz_tb.model.logs import TagMetadata
from graphviz_tb.model.tensors import MAX_DIMENSIONS, STRING_DTYPE_NUMBER

ByteSpan = tuple[int, int]  # first byte, byte after the last
MAX_SIZE_LETTERS, MAX_PIXELS = 10, 2**31 - 1  # letters that no size has; largest value of a column of sizes
# Fields of Event, Summary.Value and TensorProto.
WALL_FIELD, STEP_FIELD, SUMMARY_FIELD, SUMMARY_VALUE_FIELD = 1, 2, 5, 1
TAG_FIELD, SIMPLE_VALUE_FIELD, IMAGE_FIELD, HISTO_FIELD, AUDIO_FIELD, NODE_NAME_FIELD = 1, 2, 4, 5, 6, 7
TENSOR_FIELD, METADATA_VALUE_FIELD = 8, 9
CONTENT_FIELDS = {SIMPLE_VALUE_FIELD, IMAGE_FIELD, HISTO_FIELD, AUDIO_FIELD, TENSOR_FIELD}
TENSOR_DTYPE_FIELD, TENSOR_SHAPE_FIELD, TENSOR_VERSION_FIELD, TENSOR_CONTENT_FIELD, STRING_VAL_FIELD = 1, 2, 3, 4, 8
NUMBER_LIST_FIELDS = {5: "float_val", 6: "double_val"}  # lists of fixed-width numbers; other lists go through protobuf
HISTO_PART_FIELDS = {1: "minimum", 2: "maximum", 3: "number", 4: "sum", 5: "sum_squares", 6: "limits", 7: "counts"}


class UnusualEventError(Exception):
    """An event written in an unusual way, which must be decoded alone."""


class ValueForm(NamedTuple):
    """The encoding of a value: the field that holds it, and its sizes and types.

    `field` is "simple_value", "histo", "image", "audio", or for a tensor "content", "float_val", "double_val",
    "strings"; "" for none. `plugin` is None if the value has no metadata: then the first value of its tag has.
    """

    field: str
    plugin: str | None = None
    dtype: int = 0
    shape: tuple[int, ...] = ()
    width: int = 0
    height: int = 0
    rate: float = 0.0
    frames: int = 0
    sized: bool = False  # an image whose width and height come from its strings


class ValueStructure(NamedTuple):
    """One value of a summary: form, metadata, and the spans of tag, numbers and strings."""

    form: ValueForm
    about: TagMetadata | None
    tag: ByteSpan
    numbers: dict[str, ByteSpan]
    blobs: tuple[ByteSpan, ...]

    @property
    def spans(self) -> Iterator[ByteSpan]:
        """Yield the spans that differ between values of one structure."""
        yield self.tag
        yield from self.numbers.values()
        yield from self.blobs


class EventStructure(NamedTuple):
    """One summary event. A step of 0 is not written and has no span."""

    wall: ByteSpan
    step: ByteSpan | None
    values: tuple[ValueStructure, ...]

    @property
    def spans(self) -> Iterator[ByteSpan]:
        """Yield the spans that differ between events of one structure."""
        yield self.wall
        if self.step is not None:
            yield self.step
        for value in self.values:
            yield from value.spans


def locate_event_structure(data: Any, size: int) -> EventStructure | None:
    """Return the structure of an event; None if it is not a summary.

    `data` is the payload of `size` bytes, read only where needed. Raises `UnusualEventError` for an event that needs
    protobuf, `CutError` for bytes that are not a message.
    """
    wall = step = summary = None
    for piece in wire_fields(data, 0, size):
        key = piece.number, piece.wire
        if key == (WALL_FIELD, FIXED64_TYPE) and wall is None:
            wall = piece
        elif key == (STEP_FIELD, VARINT_TYPE) and step is None:
            step = piece
        elif key == (SUMMARY_FIELD, BYTES_TYPE) and summary is None:
            summary = piece
        elif summary is not None or key[0] in (WALL_FIELD, STEP_FIELD, SUMMARY_FIELD):
            raise UnusualEventError  # a field twice, of another type, or behind the summary
        else:
            return None  # a graph, a log message
    if summary is None:
        return None
    if wall is None:
        raise UnusualEventError
    values = tuple(_locate_value(data, piece) for piece in wire_fields(data, summary.first, summary.last))
    return EventStructure(_field_span(wall), None if step is None else _field_span(step), values)


def _field_span(piece: WireField) -> ByteSpan:
    return piece.first, piece.last


def _locate_value(data: Any, outer: WireField) -> ValueStructure:
    if outer.number != SUMMARY_VALUE_FIELD or outer.wire != BYTES_TYPE:
        raise UnusualEventError
    parts = _fields_once(data, outer, {*CONTENT_FIELDS, TAG_FIELD, METADATA_VALUE_FIELD, NODE_NAME_FIELD})
    contents = [number for number in parts if number in CONTENT_FIELDS]
    if len(contents) > 1 or (SIMPLE_VALUE_FIELD in parts and parts[SIMPLE_VALUE_FIELD].wire != FIXED32_TYPE):
        raise UnusualEventError  # protobuf would use the last one
    tag = _field_span(parts[TAG_FIELD]) if TAG_FIELD in parts else (outer.first, outer.first)
    metadata = _read_summary_metadata(data, parts[METADATA_VALUE_FIELD]) if METADATA_VALUE_FIELD in parts else None
    field = contents[0] if contents else 0
    form, numbers, blobs = LOCATE_BY_FIELD[field](data, parts.get(field, outer))
    form = form._replace(plugin=None if metadata is None else metadata.plugin)
    if form.plugin == "images" and form.field == "strings" and len(blobs) > 1:
        # Two texts precede the images: width and height, equal within one structure.
        width, height = (
            parse_pixel_size(bytes(data[first : min(last, first + MAX_SIZE_LETTERS)])) for first, last in blobs[:2]
        )
        form, blobs = form._replace(width=width, height=height, sized=True), blobs[2:]
    return ValueStructure(form, metadata, tag, numbers, blobs)


def parse_pixel_size(text: bytes) -> int:
    """Parse a size as image summaries write it; 0 for any other text."""
    return min(int(text), MAX_PIXELS) if text.isdigit() and len(text) < MAX_SIZE_LETTERS else 0


def _fields_once(data: Any, outer: WireField, known: set[int]) -> dict[int, WireField]:
    """Return the fields of a message by number. Raises `UnusualEventError` for repeated or unknown ones."""
    parts: dict[int, WireField] = {}
    for piece in wire_fields(data, outer.first, outer.last):
        if piece.number in parts or piece.number not in known:
            raise UnusualEventError
        parts[piece.number] = piece
    return parts


def _read_summary_metadata(data: Any, outer: WireField) -> TagMetadata:
    parts = _fields_once(data, outer, {1, 2, 3, 4})
    plugin, content = b"", b""
    if 1 in parts:
        inner = _fields_once(data, parts[1], {1, 2})
        plugin = _field_bytes(data, inner.get(1))
        content = _field_bytes(data, inner.get(2))
    return TagMetadata(
        decode_log_text(plugin),
        decode_log_text(_field_bytes(data, parts.get(2))),
        decode_log_text(_field_bytes(data, parts.get(3))),
        content,
    )


def decode_log_text(data: bytes) -> str:
    """Decode text of a log; invalid UTF-8 shows as U+FFFD."""
    return data.decode("utf-8", "replace")


def _field_bytes(data: Any, piece: WireField | None) -> bytes:
    return b"" if piece is None else bytes(data[piece.first : piece.last])


LocatedField = tuple[ValueForm, dict[str, ByteSpan], tuple[ByteSpan, ...]]


def _locate_histo(data: Any, piece: WireField) -> LocatedField:
    """HistogramProto; its lists are packed."""
    parts = _fields_once(data, piece, set(HISTO_PART_FIELDS))
    if any(part.wire != (BYTES_TYPE if number > 5 else FIXED64_TYPE) for number, part in parts.items()):
        raise UnusualEventError
    return ValueForm("histo"), {HISTO_PART_FIELDS[number]: _field_span(part) for number, part in parts.items()}, ()


def _locate_image(data: Any, piece: WireField) -> LocatedField:
    """Summary.Image."""
    parts = _fields_once(data, piece, {1, 2, 3, 4})
    height, width = (max(0, min(MAX_PIXELS, _field_integer(data, parts.get(number)))) for number in (1, 2))
    form = ValueForm("image", width=width, height=height)
    return form, {}, (_field_span(parts[4]) if 4 in parts else (piece.last, piece.last),)


def _locate_audio(data: Any, piece: WireField) -> LocatedField:
    """Summary.Audio."""
    parts = _fields_once(data, piece, {1, 2, 3, 4, 5})
    rate = unpack("<f", _field_bytes(data, parts[1]))[0] if 1 in parts and parts[1].wire == FIXED32_TYPE else 0.0
    form = ValueForm("audio", rate=rate, frames=_field_integer(data, parts.get(3)))
    return form, {}, (_field_span(parts[4]) if 4 in parts else (piece.last, piece.last),)


def _field_integer(data: Any, piece: WireField | None) -> int:
    if piece is None:
        return 0
    if piece.wire != VARINT_TYPE:
        raise UnusualEventError
    return as_signed(parse_wire_varint(data, piece.first, piece.last)[0])


def as_signed(value: int) -> int:
    """Convert the bits of a varint to an int64.

    >>> as_signed(7), as_signed((1 << 64) - 3)
    (7, -3)
    """
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def _locate_tensor(data: Any, outer: WireField) -> LocatedField:
    """TensorProto with its numbers as bytes, in a list of fixed width, or with strings."""
    dtype, field = 0, "content"
    shape: tuple[int, ...] = ()
    blobs: list[ByteSpan] = []
    numbers: dict[str, ByteSpan] = {}
    seen_fields: set[int] = set()
    for piece in wire_fields(data, outer.first, outer.last):
        if piece.number == STRING_VAL_FIELD and piece.wire == BYTES_TYPE:
            blobs.append(_field_span(piece))
            continue
        if piece.number in seen_fields:
            raise UnusualEventError
        seen_fields.add(piece.number)
        if piece.number == TENSOR_DTYPE_FIELD:
            dtype = _field_integer(data, piece)
        elif piece.number == TENSOR_SHAPE_FIELD and piece.wire == BYTES_TYPE:
            shape = _read_tensor_shape(data, piece)
        elif piece.number == TENSOR_CONTENT_FIELD and piece.wire == BYTES_TYPE:
            numbers["content"] = _field_span(piece)
        elif piece.number in NUMBER_LIST_FIELDS and _is_contiguous_list(piece):
            field = NUMBER_LIST_FIELDS[piece.number]
            numbers[field] = _field_span(piece)
        elif piece.number != TENSOR_VERSION_FIELD:
            raise UnusualEventError
    if len(numbers) > 1 or (numbers if dtype == STRING_DTYPE_NUMBER else blobs):
        raise UnusualEventError
    return (
        ValueForm("strings" if dtype == STRING_DTYPE_NUMBER else field, dtype=dtype, shape=shape),
        numbers,
        tuple(blobs),
    )


def _is_contiguous_list(piece: WireField) -> bool:
    """Return whether a list of numbers is contiguous: packed, or a single number."""
    return piece.wire in (BYTES_TYPE, FIXED32_TYPE if piece.number == 5 else FIXED64_TYPE)


def _read_tensor_shape(data: Any, outer: WireField) -> tuple[int, ...]:
    """TensorShapeProto."""
    sizes: list[int] = []
    for piece in wire_fields(data, outer.first, outer.last):
        if piece.number != 2 or piece.wire != BYTES_TYPE or len(sizes) == MAX_DIMENSIONS:
            raise UnusualEventError
        sizes.append(_field_integer(data, _fields_once(data, piece, {1, 2}).get(1)))
    return tuple(sizes)


LOCATE_BY_FIELD: dict[int, Callable[[Any, WireField], LocatedField]] = {
    0: lambda data, piece: (ValueForm(""), {}, ()),
    SIMPLE_VALUE_FIELD: lambda data, piece: (ValueForm("simple_value"), {"value": _field_span(piece)}, ()),
    IMAGE_FIELD: _locate_image,
    HISTO_FIELD: _locate_histo,
    AUDIO_FIELD: _locate_audio,
    TENSOR_FIELD: _locate_tensor,
}
