"""The protobuf wire format: list the fields of a message without decoding it, and judge which type fits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple, Protocol

VARINT_TYPE, FIXED64_TYPE, BYTES_TYPE, GROUP_TYPE, GROUP_END_TYPE, FIXED32_TYPE = range(6)
LONGEST_VARINT_BYTES = 10  # 7 bits per byte, 64 bits
FIELDS_PER_MESSAGE = 40  # fields that are judged per message


class IndexedBytes(Protocol):
    """Bytes, or an object that reads bytes on access."""

    def __getitem__(self, where: Any, /) -> Any: ...
    def __len__(self) -> int: ...


class CutError(Exception):
    """The bytes at `offset` are no field, or end within one."""

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
    """Yield the fields of a message. Raises CutError where the bytes are no field.

    >>> [(piece.number, piece.last - piece.first) for piece in wire_fields(b"\\x0a\\x03abc\\x10\\x07")]
    [(1, 3), (2, 1)]
    """
    end = len(data) if last is None else last
    position = first
    while position < end:
        start = position
        key, position = parse_wire_varint(data, position, end)
        number, wire = key >> 3, key & 7
        # Protobuf's field numbers end at 2^29 - 1.
        if not 0 < number < 1 << 29:
            raise CutError(start)
        if wire == BYTES_TYPE:
            size, position = parse_wire_varint(data, position, end)
        elif wire == VARINT_TYPE:
            size = parse_wire_varint(data, position, end)[1] - position
        elif wire in (FIXED64_TYPE, FIXED32_TYPE):
            size = 8 if wire == FIXED64_TYPE else 4
        # Groups are no longer written, and 6 and 7 are no wire types.
        else:
            raise CutError(start)
        if size > end - position:
            raise CutError(start)
        yield WireField(number, wire, start, position, position + size)
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
    """Judge how well bytes fit a message type, by up to `budget` fields. `cut`: they are only a beginning.

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
            self.bad += 0 if cut and is_cut_field_known(self.data, where.offset, fields) else 5
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
            self.good += is_text_bytes(self.data[position : min(last, position + 256)])
        if field.message_type is None:
            return []
        self.good += 1
        return [(field.message_type, position, last, True)]

    def _count_field(self, kind: Any, field: Any, piece: WireField) -> None:
        if field is not None and does_field_match(field, piece, self.data):
            self.good += 1
            return
        self.bad += 1
        if field is None:
            key = (kind.name, piece.number)
            self.unknown_fields[key] = self.unknown_fields.get(key, 0) + 1


def does_field_match(field: Any, piece: WireField, data: bytes) -> bool:
    if piece.wire != BYTES_TYPE:
        return bool(field.message_type is None and scalar_wire_type(field) == piece.wire)
    if field.type == field.TYPE_STRING:
        return is_text_bytes(data[piece.first : min(piece.last, piece.first + 256)])
    return field.message_type is not None or field.type == field.TYPE_BYTES or is_repeated_field(field)


def is_repeated_field(field: Any) -> bool:
    known = getattr(field, "is_repeated", None)  # replaces `label`, which warns in newer versions
    return bool(field.label == field.LABEL_REPEATED if known is None else known)


def scalar_wire_type(field: Any) -> int:
    if field.type in (field.TYPE_STRING, field.TYPE_BYTES):
        return BYTES_TYPE
    if field.type in (field.TYPE_DOUBLE, field.TYPE_FIXED64):
        return FIXED64_TYPE
    return FIXED32_TYPE if field.type == field.TYPE_FLOAT else VARINT_TYPE


CONTROL_CHARACTERS = re.compile(rb"[\0-\x08\x0e-\x1f]")


def is_text_bytes(value: bytes) -> bool:
    """Return whether bytes are UTF-8, possibly cut within a character, without control characters."""
    if CONTROL_CHARACTERS.search(value):
        return False
    try:
        value.decode()
    except UnicodeDecodeError as error:
        # A character has at most four bytes, so three may be the start of one.
        return error.start >= len(value) - 3 and len(value) > 3
    return True


def is_cut_field_known(data: bytes, offset: int, fields: dict[int, Any]) -> bool:
    """Return whether the field cut by the end of the data is a known one."""
    try:
        key, _ = parse_wire_varint(data, offset, len(data))
    except CutError:
        return offset + LONGEST_VARINT_BYTES > len(data)
    return key >> 3 in fields and key & 7 in (VARINT_TYPE, FIXED64_TYPE, BYTES_TYPE, FIXED32_TYPE)
