"""Decode binary messages with protobuf; on failure, find the byte where the damage is."""

from __future__ import annotations

from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message

from graphviz_tb.errors import MalformedProto, TooLarge
from graphviz_tb.limits import MAX_MESSAGE_DEPTH, MESSAGE_SAMPLE_BYTES
from graphviz_tb.model.notice import Notice
from graphviz_tb.read.limits import check_empty_messages
from graphviz_tb.read.wire import BYTES_TYPE, CutError, judge_fit, wire_fields

MessageT = TypeVar("MessageT", bound=Message)
# the last two come from protobuf's pure Python version
DECODE_ERRORS = (DecodeError, UnicodeDecodeError, RecursionError)
CUT_REASON = "it is cut short or damaged"
MAX_MESSAGE_BYTES = 2**31 - 1  # protobuf's own limit


def decode_message(data: bytes, kind: type[MessageT], name: str, bounded: bool = False) -> MessageT:
    """Decode a message. Raises MalformedProto with the broken byte, TooLarge for a `bounded` one that would fill
    memory.

    >>> from graphviz_tb.proto import GraphDef
    >>> decode_message(b"\\n\\x03\\n\\x01", GraphDef, "x.pb")
    Traceback (most recent call last):
    graphviz_tb.errors.MalformedProto: x.pb: not a whole GraphDef: it is cut short or damaged (at byte 0)
    """
    check_message_size(data, name, bounded)
    return decode_checked_message(data, kind, name)


def check_message_size(data: bytes, name: str, bounded: bool) -> None:
    """Raise TooLarge for a message over protobuf's limit, or a `bounded` one that would fill memory."""
    if len(data) > MAX_MESSAGE_BYTES:
        raise TooLarge(f"{name}: a protobuf message ends at 2 GiB, this one has {len(data):,} bytes")
    if bounded:
        check_empty_messages(data, name)


def decode_checked_message(data: bytes, kind: type[MessageT], name: str) -> MessageT:
    """Decode a message that passed `check_message_size`."""
    try:
        return kind.FromString(data)
    except DECODE_ERRORS:
        offset, why = locate_damage(data, kind.DESCRIPTOR)
        hint = "copy or download it once more" if why == CUT_REASON else None
        raise MalformedProto(f"{name}: not a whole {kind.DESCRIPTOR.name}: {why}", offset=offset, hint=hint) from None


def locate_damage(data: bytes, descriptor: Any) -> tuple[int | None, str]:
    """Return the start of the innermost field that does not decode, searched level by level, and the reason."""
    first, last, kind = 0, len(data), descriptor
    # Each round descends into the first field that does not decode.
    for _ in range(MAX_MESSAGE_DEPTH):
        try:
            inner = find_broken_field(data, first, last, kind)
        except CutError as cut:
            return cut.offset, CUT_REASON
        if inner is None:
            return first or None, "it is damaged, or nested too deep"
        start, first, last, kind = inner
        if kind is None:
            return start, "a string is not UTF-8"
    return first, "it is nested too deep"


def find_broken_field(data: bytes, first: int, last: int, kind: Any) -> tuple[int, int, int, Any] | None:
    from google.protobuf import message_factory

    fields = {field.number: field for field in kind.fields}
    for piece in wire_fields(data, first, last):
        field = fields.get(piece.number)
        if field is None or piece.wire != BYTES_TYPE:
            continue
        if field.message_type is None:
            if field.type == field.TYPE_STRING and not is_utf8(data[piece.first : piece.last]):
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


def is_utf8(value: bytes) -> bool:
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
