"""Locate time, step, tags and values in the bytes of one event, without decoding the values.

Only dtype, shape and plugin are decoded, as they say how values are read. Events whose bytes are equal outside these
spans have the same structure and are decoded together.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack
from typing import Any, NamedTuple

from graphviz_tb.model.dtypes import STRING
from graphviz_tb.model.logged import About
from graphviz_tb.model.tensors import MOST_DIMENSIONS
from graphviz_tb.read.wire import BYTES, FIXED32, FIXED64, VARINT, CutError, WireField, pieces, varint

ByteSpan = tuple[int, int]  # first byte, byte after the last
LONG, MOST_PIXELS = 10, 2**31 - 1  # letters that no size has; largest value of a column of sizes
# Fields of Event, Summary.Value and TensorProto.
WALL, STEP, SUMMARY = 1, 2, 5
TAG, SIMPLE, IMAGE, HISTO, AUDIO, TENSOR, METADATA = 1, 2, 4, 5, 6, 8, 9
CONTENT, STRINGS = 4, 8
LISTS = {5: "float_val", 6: "double_val"}  # lists of fixed-width numbers; other lists go through protobuf
HISTO_PARTS = {1: "minimum", 2: "maximum", 3: "number", 4: "sum", 5: "sum_squares", 6: "limits", 7: "counts"}


class OddError(Exception):
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


class LoggedValue(NamedTuple):
    """One value of a summary: form, metadata, and the spans of tag, numbers and strings."""

    form: ValueForm
    about: About | None
    tag: ByteSpan
    numbers: dict[str, ByteSpan]
    blobs: tuple[ByteSpan, ...]

    @property
    def spans(self) -> Iterator[ByteSpan]:
        """Yield the spans that differ between values of one structure."""
        yield self.tag
        yield from self.numbers.values()
        yield from self.blobs


class Structure(NamedTuple):
    """One summary event. A step of 0 is not written and has no span."""

    wall: ByteSpan
    step: ByteSpan | None
    values: tuple[LoggedValue, ...]

    @property
    def spans(self) -> Iterator[ByteSpan]:
        """Yield the spans that differ between events of one structure."""
        yield self.wall
        if self.step is not None:
            yield self.step
        for value in self.values:
            yield from value.spans


def structure_of(data: Any, size: int) -> Structure | None:
    """Return the structure of an event; None if it is no summary.

    `data` is the payload of `size` bytes, read only where needed. Raises OddError for an event that needs protobuf,
    CutError for bytes that are no message.
    """
    wall = step = summary = None
    for piece in pieces(data, 0, size):
        key = piece.number, piece.wire
        if key == (WALL, FIXED64) and wall is None:
            wall = piece
        elif key == (STEP, VARINT) and step is None:
            step = piece
        elif key == (SUMMARY, BYTES) and summary is None:
            summary = piece
        elif summary is not None or key[0] in (WALL, STEP, SUMMARY):
            raise OddError
        else:
            return None
    if summary is None:
        return None
    if wall is None:
        raise OddError
    values = tuple(_value(data, piece) for piece in pieces(data, summary.first, summary.last))
    return Structure(_span(wall), None if step is None else _span(step), values)


def _span(piece: WireField) -> ByteSpan:
    return piece.first, piece.last


def _value(data: Any, outer: WireField) -> LoggedValue:
    if outer.number != 1 or outer.wire != BYTES:
        raise OddError
    parts = _once(data, outer, {TAG, SIMPLE, IMAGE, HISTO, AUDIO, TENSOR, METADATA, 7})
    held = [number for number in parts if number not in (TAG, METADATA, 7)]
    if len(held) > 1 or (SIMPLE in parts and parts[SIMPLE].wire != FIXED32):
        raise OddError  # protobuf would use the last one
    tag = _span(parts[TAG]) if TAG in parts else (outer.first, outer.first)
    about = _about(data, parts[METADATA]) if METADATA in parts else None
    field = held[0] if held else 0
    form, numbers, blobs = _READ[field](data, parts.get(field, outer))
    form = form._replace(plugin=None if about is None else about.plugin)
    if form.plugin == "images" and form.field == "strings" and len(blobs) > 1:
        # Two texts precede the images: width and height, equal within one structure.
        width, height = (pixels(bytes(data[first : min(last, first + LONG)])) for first, last in blobs[:2])
        form, blobs = form._replace(width=width, height=height, sized=True), blobs[2:]
    return LoggedValue(form, about, tag, numbers, blobs)


def pixels(text: bytes) -> int:
    """Parse a size as image summaries write it; 0 for any other text."""
    return min(int(text), MOST_PIXELS) if text.isdigit() and len(text) < LONG else 0


def _once(data: Any, outer: WireField, known: set[int]) -> dict[int, WireField]:
    """Return the fields of a message by number. Raises OddError for repeated or unknown ones."""
    parts: dict[int, WireField] = {}
    for piece in pieces(data, outer.first, outer.last):
        if piece.number in parts or piece.number not in known:
            raise OddError
        parts[piece.number] = piece
    return parts


def _about(data: Any, outer: WireField) -> About:
    """SummaryMetadata."""
    parts = _once(data, outer, {1, 2, 3, 4})
    plugin, content = b"", b""
    if 1 in parts:
        inner = _once(data, parts[1], {1, 2})
        plugin = _bytes(data, inner.get(1))
        content = _bytes(data, inner.get(2))
    return About(text(plugin), text(_bytes(data, parts.get(2))), text(_bytes(data, parts.get(3))), content)


def text(data: bytes) -> str:
    """Decode text of a log; invalid UTF-8 shows as U+FFFD."""
    return data.decode("utf-8", "replace")


def _bytes(data: Any, piece: WireField | None) -> bytes:
    return b"" if piece is None else bytes(data[piece.first : piece.last])


_Read = tuple[ValueForm, dict[str, ByteSpan], tuple[ByteSpan, ...]]


def _nothing(data: Any, piece: WireField) -> _Read:
    return ValueForm(""), {}, ()


def _simple(data: Any, piece: WireField) -> _Read:
    return ValueForm("simple_value"), {"value": _span(piece)}, ()


def _histo(data: Any, piece: WireField) -> _Read:
    """HistogramProto; its lists are packed."""
    parts = _once(data, piece, set(HISTO_PARTS))
    if any(each.wire != (BYTES if number > 5 else FIXED64) for number, each in parts.items()):
        raise OddError
    return ValueForm("histo"), {HISTO_PARTS[number]: _span(each) for number, each in parts.items()}, ()


def _image(data: Any, piece: WireField) -> _Read:
    """Summary.Image."""
    parts = _once(data, piece, {1, 2, 3, 4})
    height, width = (max(0, min(MOST_PIXELS, _integer(data, parts.get(number)))) for number in (1, 2))
    form = ValueForm("image", width=width, height=height)
    return form, {}, (_span(parts[4]) if 4 in parts else (piece.last, piece.last),)


def _audio(data: Any, piece: WireField) -> _Read:
    """Summary.Audio."""
    parts = _once(data, piece, {1, 2, 3, 4, 5})
    rate = unpack("<f", _bytes(data, parts[1]))[0] if 1 in parts and parts[1].wire == FIXED32 else 0.0
    form = ValueForm("audio", rate=rate, frames=_integer(data, parts.get(3)))
    return form, {}, (_span(parts[4]) if 4 in parts else (piece.last, piece.last),)


def _integer(data: Any, piece: WireField | None) -> int:
    if piece is None:
        return 0
    if piece.wire != VARINT:
        raise OddError
    return signed(varint(data, piece.first, piece.last)[0])


def signed(value: int) -> int:
    """Convert the bits of a varint to an int64.

    >>> signed(7), signed((1 << 64) - 3)
    (7, -3)
    """
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def _tensor(data: Any, outer: WireField) -> _Read:
    """TensorProto with its numbers as bytes, in a list of fixed width, or with strings."""
    dtype, field = 0, "content"
    shape: tuple[int, ...] = ()
    blobs: list[ByteSpan] = []
    numbers: dict[str, ByteSpan] = {}
    seen: set[int] = set()
    for piece in pieces(data, outer.first, outer.last):
        if piece.number == STRINGS and piece.wire == BYTES:
            blobs.append(_span(piece))
            continue
        if piece.number in seen:
            raise OddError
        seen.add(piece.number)
        if piece.number == 1:
            dtype = _integer(data, piece)
        elif piece.number == 2 and piece.wire == BYTES:
            shape = _shape(data, piece)
        elif piece.number == CONTENT and piece.wire == BYTES:
            numbers["content"] = _span(piece)
        elif piece.number in LISTS and _packed(piece):
            field = LISTS[piece.number]
            numbers[field] = _span(piece)
        elif piece.number != 3:
            raise OddError
    if len(numbers) > 1 or (numbers if dtype == STRING else blobs):
        raise OddError
    return ValueForm("strings" if dtype == STRING else field, dtype=dtype, shape=shape), numbers, tuple(blobs)


def _packed(piece: WireField) -> bool:
    """Return whether a list of numbers is contiguous: packed, or a single number."""
    return piece.wire in (BYTES, FIXED32 if piece.number == 5 else FIXED64)


def _shape(data: Any, outer: WireField) -> tuple[int, ...]:
    """TensorShapeProto."""
    sizes: list[int] = []
    for piece in pieces(data, outer.first, outer.last):
        if piece.number != 2 or piece.wire != BYTES or len(sizes) == MOST_DIMENSIONS:
            raise OddError
        sizes.append(_integer(data, _once(data, piece, {1, 2}).get(1)))
    return tuple(sizes)


_READ = {0: _nothing, SIMPLE: _simple, IMAGE: _image, HISTO: _histo, AUDIO: _audio, TENSOR: _tensor}

__all__ = ["ByteSpan", "CutError", "LoggedValue", "OddError", "Structure", "ValueForm", "structure_of", "text"]
