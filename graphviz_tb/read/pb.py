"""Decode binary messages with protobuf; on failure, find the byte where the damage is."""

from __future__ import annotations

from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message

from graphviz_tb.errors import MalformedProto, TooLarge
from graphviz_tb.limits import MESSAGE_DEPTH, SAMPLE_OF_MESSAGE
from graphviz_tb.model.notice import Notice
from graphviz_tb.read.limits import check_empty
from graphviz_tb.read.wire import BYTES, CutError, fit, pieces

M = TypeVar("M", bound=Message)
BROKEN = (DecodeError, UnicodeDecodeError, RecursionError)  # the last two come from protobuf's pure Python version
CUT = "it is cut short or damaged"
MESSAGE_LIMIT = 2**31 - 1  # protobuf's own limit


def decode(data: bytes, kind: type[M], name: str, bounded: bool = False) -> M:
    """Decode a message. Raises MalformedProto with the broken byte, TooLarge for a `bounded` one that would fill
    memory.

    >>> from graphviz_tb.proto import GraphDef
    >>> decode(b"\\n\\x03\\n\\x01", GraphDef, "x.pb")
    Traceback (most recent call last):
    graphviz_tb.errors.MalformedProto: x.pb: not a whole GraphDef: it is cut short or damaged (at byte 0)
    """
    check_message(data, name, bounded)
    return decode_checked(data, kind, name)


def check_message(data: bytes, name: str, bounded: bool) -> None:
    """Raise TooLarge for a message over protobuf's limit, or a `bounded` one that would fill memory."""
    if len(data) > MESSAGE_LIMIT:
        raise TooLarge(f"{name}: a protobuf message ends at 2 GiB, this one has {len(data):,} bytes")
    if bounded:
        check_empty(data, name)


def decode_checked(data: bytes, kind: type[M], name: str) -> M:
    """Decode a message that passed `check_message`."""
    try:
        return kind.FromString(data)
    except BROKEN:
        offset, why = where_broken(data, kind.DESCRIPTOR)
        hint = "copy or download it once more" if why == CUT else None
        raise MalformedProto(f"{name}: not a whole {kind.DESCRIPTOR.name}: {why}", offset=offset, hint=hint) from None


def where_broken(data: bytes, descriptor: Any) -> tuple[int | None, str]:
    """Return the start of the innermost field that does not decode, searched level by level, and the reason."""
    first, last, kind = 0, len(data), descriptor
    # Each round descends into the first field that does not decode.
    for _ in range(MESSAGE_DEPTH):
        try:
            inner = _broken_field(data, first, last, kind)
        except CutError as cut:
            return cut.offset, CUT
        if inner is None:
            return first or None, "it is damaged, or nested too deep"
        start, first, last, kind = inner
        if kind is None:
            return start, "a string is not UTF-8"
    return first, "it is nested too deep"


def _broken_field(data: bytes, first: int, last: int, kind: Any) -> tuple[int, int, int, Any] | None:
    from google.protobuf import message_factory

    fields = {field.number: field for field in kind.fields}
    for piece in pieces(data, first, last):
        field = fields.get(piece.number)
        if field is None or piece.wire != BYTES:
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
        except BROKEN:
            return piece.start, piece.first, piece.last, field.message_type
    return None


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def unknown_fields(data: bytes, kind: type[Message]) -> tuple[Notice, ...]:
    """Return a notice per unknown field, among the first fields of the message."""
    unknown = fit(
        data[:SAMPLE_OF_MESSAGE], kind.DESCRIPTOR, cut=len(data) > SAMPLE_OF_MESSAGE, budget=2000
    ).unknown_fields
    return tuple(
        Notice("unknown-field", f"field {number} of {message} is not known here and was skipped", "", count)
        for (message, number), count in unknown.items()
    )
