"""The protobuf wire format: list fields without decoding, judge which type fits, decode, and locate damage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, starmap
from typing import Any, NamedTuple, Protocol, TypeVar

from google.protobuf.message import DecodeError, Message

from graphviz_tb.errors import MalformedProto, TooLarge
from graphviz_tb.limits import MAX_MESSAGE_DEPTH, MESSAGE_SAMPLE_BYTES
from graphviz_tb.model.notice import Notice
from graphviz_tb.sources.bounds import check_empty_messages

# The protobuf wire format: list the fields of a message without decoding it, and judge which type fits.

VARINT_TYPE, FIXED64_TYPE, BYTES_TYPE, GROUP_TYPE, GROUP_END_TYPE, FIXED32_TYPE = range(6)
LONGEST_VARINT_BYTES = 10  # 7 bits per byte, 64 bits
FIELDS_PER_MESSAGE = 40  # fields that are judged per message


class IndexedBytes(Protocol):
    """Bytes, or an object that reads bytes on access."""

    def __getitem__(self, where: Any, /) -> Any: ...
    def __len__(self) -> int: ...


class CutError(Exception):
    """The bytes at `offset` are not a field, or end within one."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


class WireField(NamedTuple):
    """One field: number, wire type, its start, and the bounds of its value."""

    number: int
    wire: int
    start: int
    first: int
    last: int


def wire_fields(data: IndexedBytes, first: int = 0, last: int | None = None) -> Iterator[WireField]:
    """Yield the fields of a message. Raises CutError where the bytes are not a field.

    >>> [(piece.number, piece.last - piece.first) for piece in wire_fields(b"\\x0a\\x03abc\\x10\\x07")]
    [(1, 3), (2, 1)]
    """
    return starmap(WireField, wire_spans(data, first, len(data) if last is None else last))


def wire_spans(data: IndexedBytes, first: int, end: int, small: int = -1) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the fields of a message as plain tuples with the values of `WireField`, in half of the time; those of up to
    `small` bytes are stepped over."""
    position = first
    while position < end:
        start = position
        # Most keys are one byte, and lengths one or two: a call for each would take half of the time.
        if (key := data[position]) < 0x80:
            position += 1
        else:
            key, position = parse_wire_varint(data, position, end)
        number, wire = key >> 3, key & 7
        # Protobuf's field numbers end at 2^29 - 1.
        if not 0 < number < 1 << 29:
            raise CutError(start)
        if wire == BYTES_TYPE:
            if position < end and (size := data[position]) < 0x80:
                position += 1
            elif position + 1 < end and (more := data[position + 1]) < 0x80:
                size, position = size & 0x7F | more << 7, position + 2
            else:
                size, position = parse_wire_varint(data, position, end)
        elif wire == VARINT_TYPE:
            size = parse_wire_varint(data, position, end)[1] - position
        elif wire in (FIXED64_TYPE, FIXED32_TYPE):
            size = 8 if wire == FIXED64_TYPE else 4
        # Groups are no longer written, and 6 and 7 are not wire types.
        else:
            raise CutError(start)
        if size > end - position:
            raise CutError(start)
        if size > small:
            yield number, wire, start, position, position + size
        position += size


def parse_wire_varint(data: IndexedBytes, position: int, end: int) -> tuple[int, int]:
    """Return the integer at a position and the position after it. Raises CutError."""
    value = shift = 0
    start = position
    while position < end and shift < 7 * LONGEST_VARINT_BYTES:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise CutError(start)


class MessageFit(NamedTuple):
    """Match between bytes and a message type: matching and mismatching fields, and counts of unknown numbers."""

    good: int
    bad: int
    unknown_fields: dict[tuple[str, int], int]


def judge_fit(data: bytes, descriptor: Any, *, cut: bool, budget: int = 400) -> MessageFit:
    """Judge how well bytes fit a message type, by up to `budget` fields. `cut`: the bytes are only the beginning of a
    message.

    Fields of the first few nested messages are judged too, since field numbers alone say little; no message may take
    the whole budget.
    """
    judge = FitJudge(data, budget)
    waiting: list[TypedSpan] = [(descriptor, 0, len(data), cut)]
    while waiting and judge.budget > 0:
        waiting += reversed(judge.judge_message(*waiting.pop()))
    return MessageFit(judge.good, judge.bad, judge.unknown_fields)


TypedSpan = tuple[Any, int, int, bool]  # message type, bounds, whether it is cut off


class FitJudge:
    """Counts matches and mismatches."""

    def __init__(self, data: bytes, budget: int) -> None:
        self.data = data
        self.budget = budget
        self.good = self.bad = 0
        self.unknown_fields: dict[tuple[str, int], int] = {}

    def judge_message(self, kind: Any, first: int, last: int, cut: bool) -> list[TypedSpan]:
        """Judge the fields of one message; return the messages inside it."""
        fields = {field.number: field for field in kind.fields}
        # A message without known fields fits anything.
        if not fields:
            return []
        inner: list[TypedSpan] = []
        try:
            # The first fields of each message: repeated ones add nothing.
            for piece in islice(wire_fields(self.data, first, last), FIELDS_PER_MESSAGE):
                self.budget -= 1
                if self.budget < 0:
                    break
                field = fields.get(piece.number)
                self._count_field(kind, field, piece)
                if field is not None and field.message_type is not None and len(inner) < 8:
                    inner.append((field.message_type, piece.first, piece.last, False))
        except CutError as where:
            inner += self._cut_off_message(where.offset, last, fields) if cut else []
            # A message that stops in the middle without being cut does not fit.
            self.bad += 0 if cut and _is_cut_field_known(self.data, where.offset, fields) else 5
        return inner

    def _cut_off_message(self, offset: int, last: int, fields: dict[int, Any]) -> list[TypedSpan]:
        """Return the message that starts here and continues past the end of the data."""
        try:
            key, position = parse_wire_varint(self.data, offset, last)
            _, position = parse_wire_varint(self.data, position, last)
        except CutError:
            return []
        field = fields.get(key >> 3)
        if field is None or key & 7 != BYTES_TYPE:
            return []
        if field.type == field.TYPE_STRING:
            self.good += _is_text_bytes(self.data[position : min(last, position + 256)])
        if field.message_type is None:
            return []
        self.good += 1
        return [(field.message_type, position, last, True)]

    def _count_field(self, kind: Any, field: Any, piece: WireField) -> None:
        if field is not None and _does_field_match(field, piece, self.data):
            self.good += 1
            return
        self.bad += 1
        if field is None:
            key = (kind.name, piece.number)
            self.unknown_fields[key] = self.unknown_fields.get(key, 0) + 1


def _does_field_match(field: Any, piece: WireField, data: bytes) -> bool:
    if piece.wire != BYTES_TYPE:
        return bool(field.message_type is None and _scalar_wire_type(field) == piece.wire)
    if field.type == field.TYPE_STRING:
        return _is_text_bytes(data[piece.first : min(piece.last, piece.first + 256)])
    return field.message_type is not None or field.type == field.TYPE_BYTES or _is_repeated_field(field)


def _is_repeated_field(field: Any) -> bool:
    known = getattr(field, "is_repeated", None)  # replaces `label`, which warns in newer versions
    return bool(field.label == field.LABEL_REPEATED if known is None else known)


def _scalar_wire_type(field: Any) -> int:
    if field.type in (field.TYPE_STRING, field.TYPE_BYTES):
        return BYTES_TYPE
    if field.type in (field.TYPE_DOUBLE, field.TYPE_FIXED64):
        return FIXED64_TYPE
    return FIXED32_TYPE if field.type == field.TYPE_FLOAT else VARINT_TYPE


CONTROL_CHARACTERS = re.compile(rb"[\0-\x08\x0e-\x1f]")


def _is_text_bytes(value: bytes) -> bool:
    """Return whether bytes are UTF-8, possibly cut within a character, without control characters."""
    if CONTROL_CHARACTERS.search(value):
        return False
    try:
        value.decode()
    except UnicodeDecodeError as error:
        # A character has at most four bytes, so three may be the start of one.
        return error.start >= len(value) - 3 and len(value) > 3
    return True


def _is_cut_field_known(data: bytes, offset: int, fields: dict[int, Any]) -> bool:
    """Return whether the field cut by the end of the data is a known one."""
    try:
        key, _ = parse_wire_varint(data, offset, len(data))
    except CutError:
        return offset + LONGEST_VARINT_BYTES > len(data)
    return key >> 3 in fields and key & 7 in (VARINT_TYPE, FIXED64_TYPE, BYTES_TYPE, FIXED32_TYPE)


# Decode binary messages with protobuf; on failure, find the byte where the damage is.

MessageT = TypeVar("MessageT", bound=Message)
# the last two come from protobuf's pure Python version
DECODE_ERRORS = (DecodeError, UnicodeDecodeError, RecursionError)
CUT_REASON = "it is cut short or damaged"
MAX_MESSAGE_BYTES = 2**31 - 1  # protobuf's own limit


def decode_message(data: bytes, kind: type[MessageT], name: str, bounded: bool = False) -> MessageT:
    """Decode a message. Raises MalformedProto with the broken byte, TooLarge for a `bounded` one that would fill
    memory.

    >>> from graphviz_tb.proto import GraphDef
    >>> try:
    ...     decode_message(b"\\n\\x03\\n\\x01", GraphDef, "x.pb")
    ... except MalformedProto as error:
    ...     print(error)
    x.pb: not a whole GraphDef: it is cut short or damaged (at byte 0)
    """
    check_message_size(len(data), name)
    if bounded:
        check_empty_messages(data, name)
    return decode_checked_message(data, kind, name)


def check_message_size(size: int, name: str) -> None:
    """Raise TooLarge for a message over protobuf's limit."""
    if size > MAX_MESSAGE_BYTES:
        raise TooLarge(f"{name}: a protobuf message ends at 2 GiB, this one has {size:,} bytes")


def decode_checked_message(data: bytes, kind: type[MessageT], name: str) -> MessageT:
    """Decode a message whose size was checked."""
    try:
        return kind.FromString(data)
    except DECODE_ERRORS:
        offset, why = _locate_damage(data, kind.DESCRIPTOR)
        hint = "copy or download it again" if why == CUT_REASON else None
        raise MalformedProto(f"{name}: not a whole {kind.DESCRIPTOR.name}: {why}", offset=offset, hint=hint) from None


def _locate_damage(data: bytes, descriptor: Any) -> tuple[int | None, str]:
    """Return the start of the innermost field that does not decode, searched level by level, and the reason."""
    first, last, kind = 0, len(data), descriptor
    # Each round descends into the first field that does not decode.
    for _ in range(MAX_MESSAGE_DEPTH):
        try:
            inner = _find_broken_field(data, first, last, kind)
        except CutError as cut:
            return cut.offset, CUT_REASON
        if inner is None:
            return first or None, "it is damaged, or nested too deep"
        start, first, last, kind = inner
        if kind is None:
            return start, "a string is not UTF-8"
    return first, "it is nested too deep"


def _find_broken_field(data: bytes, first: int, last: int, kind: Any) -> tuple[int, int, int, Any] | None:
    from google.protobuf import message_factory

    fields = {field.number: field for field in kind.fields}
    for piece in wire_fields(data, first, last):
        field = fields.get(piece.number)
        if field is None or piece.wire != BYTES_TYPE:
            continue
        if field.message_type is None:
            if field.type == field.TYPE_STRING and not _is_utf8(data[piece.first : piece.last]):
                return piece.start, 0, 0, None
            continue
        # The message class of the field, created if necessary.
        made = getattr(field.message_type, "_concrete_class", None) or message_factory.GetMessageClass(
            field.message_type
        )
        try:
            made.FromString(data[piece.first : piece.last])
        except DECODE_ERRORS:
            return piece.start, piece.first, piece.last, field.message_type
    return None


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def unknown_field_notices(data: bytes, kind: type[Message]) -> tuple[Notice, ...]:
    """Return a notice per unknown field, among the first fields of the message."""
    unknown = judge_fit(
        data[:MESSAGE_SAMPLE_BYTES], kind.DESCRIPTOR, cut=len(data) > MESSAGE_SAMPLE_BYTES, budget=2000
    ).unknown_fields
    return tuple(
        Notice("unknown-field", f"field {number} of {message} is not known here and was skipped", "", count)
        for (message, number), count in unknown.items()
    )
