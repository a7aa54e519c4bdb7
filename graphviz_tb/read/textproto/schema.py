"""Fields of each message type, and how they are written on the wire: tables made from descriptors."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any

from graphviz_tb.read.textproto.literals import encode_float32, encode_varint, parse_boolean, parse_float, parse_integer

INT32_RANGE, INT64_RANGE = (-(2**31), 2**31 - 1), (-(2**63), 2**63 - 1)
UINT32_RANGE, UINT64_RANGE = (0, 2**32 - 1), (0, 2**64 - 1)


class UnknownNameError(Exception):
    """An enum name that our messages do not know: the field is skipped, with a notice."""


class FieldWriter:
    """One field: its tag on the wire, and the table of its message or the writer of its literals."""

    __slots__ = ("_descriptor", "_table", "is_message", "is_string", "name", "number", "tag", "write")

    def __init__(self, descriptor: Any) -> None:
        self.name: str = descriptor.name
        self.number: int = descriptor.number
        self.is_message = descriptor.message_type is not None
        self.is_string = descriptor.type in (descriptor.TYPE_STRING, descriptor.TYPE_BYTES)
        self.tag = encode_varint(descriptor.number << 3 | _wire_type(descriptor))
        self.write: Callable[[bytes], bytes] = _reject_scalar if self.is_message else _writer_for(descriptor)
        self._descriptor = descriptor
        self._table: MessageType | None = None

    @property
    def message_table(self) -> MessageType:
        if self._table is None:
            self._table = message_type_of(self._descriptor.message_type)
        return self._table


class MessageType:
    """One message type: its fields by name, and the cache of its parsed lines."""

    __slots__ = ("fields", "lines", "name")

    def __init__(self, name: str, fields: dict[bytes, FieldWriter]) -> None:
        self.name = name
        self.fields = fields
        self.lines: dict[bytes, Any] = {}


SKIPPED_MESSAGE = MessageType("", {})  # the content of an unknown field: without fields, nothing in it is checked
_MESSAGE_TYPES: dict[str, MessageType] = {}


def message_type_of(descriptor: Any) -> MessageType:
    """Return the table of a message descriptor, made once.

    >>> from graphviz_tb.proto import GraphDef
    >>> message_type_of(GraphDef.DESCRIPTOR).fields[b"node"].message_table.fields[b"op"].write(b"NoOp")
    b'\\x12\\x04NoOp'
    """
    name = descriptor.full_name
    if name not in _MESSAGE_TYPES:
        fields = [FieldWriter(field) for field in descriptor.fields]
        named = {field.name.encode(): field for field in fields}
        numbered = {str(field.number).encode(): field for field in fields}  # text may name fields by number
        _MESSAGE_TYPES[name] = MessageType(descriptor.name, named | numbered)
    return _MESSAGE_TYPES[name]


def _wire_type(field: Any) -> int:
    if field.type in (field.TYPE_DOUBLE, field.TYPE_FIXED64):
        return 1
    if field.type in (field.TYPE_STRING, field.TYPE_BYTES, field.TYPE_MESSAGE):
        return 2
    return 5 if field.type == field.TYPE_FLOAT else 0


def _writer_for(field: Any) -> Callable[[bytes], bytes]:
    """Return the function from a literal to the whole field on the wire. Strings are passed unescaped."""
    tag = encode_varint(field.number << 3 | _wire_type(field))
    if field.type == field.TYPE_STRING:
        return partial(_write_text, tag)
    if field.type == field.TYPE_BYTES:
        return partial(_write_bytes, tag)
    if field.type == field.TYPE_ENUM:
        names = {value.name.encode(): tag + encode_varint(value.number) for value in field.enum_type.values}
        return partial(_write_enum, tag, names, field.enum_type.name)
    made: dict[int, Callable[[bytes], bytes]] = {
        field.TYPE_INT32: partial(_write_integer, tag, *INT32_RANGE),
        field.TYPE_INT64: partial(_write_integer, tag, *INT64_RANGE),
        field.TYPE_UINT32: partial(_write_integer, tag, *UINT32_RANGE),
        field.TYPE_UINT64: partial(_write_integer, tag, *UINT64_RANGE),
        field.TYPE_FIXED64: lambda literal: tag + struct.pack("<Q", parse_integer(literal, *UINT64_RANGE)),
        field.TYPE_BOOL: lambda literal: tag + (b"\x01" if parse_boolean(literal) else b"\x00"),
        field.TYPE_FLOAT: lambda literal: tag + encode_float32(parse_float(literal)),
        field.TYPE_DOUBLE: lambda literal: tag + struct.pack("<d", parse_float(literal)),
    }
    return made[field.type]


def _reject_scalar(literal: bytes) -> bytes:
    raise ValueError("a message in braces is wanted here")


def _write_text(tag: bytes, value: bytes) -> bytes:
    if not value.isascii():
        try:
            value.decode()
        except UnicodeDecodeError:
            raise ValueError("this string is not UTF-8") from None
    return tag + encode_varint(len(value)) + value


def _write_bytes(tag: bytes, value: bytes) -> bytes:
    return tag + encode_varint(len(value)) + value


def _write_integer(tag: bytes, low: int, high: int, literal: bytes) -> bytes:
    return tag + encode_varint(parse_integer(literal, low, high))


def _write_enum(tag: bytes, names: dict[bytes, bytes], kind: str, literal: bytes) -> bytes:
    known = names.get(literal)
    if known is not None:
        return known
    if literal[:1].isalpha() or literal[:1] == b"_":
        raise UnknownNameError(f"{kind} {literal.decode()}")
    return tag + encode_varint(parse_integer(literal, *INT32_RANGE))


def encode_field(field: FieldWriter, literal: bytes, quoted: bool) -> bytes:
    """Return a field on the wire; a quoted literal is passed without quotes and escapes. Raises ValueError."""
    if quoted != field.is_string:
        raise ValueError(_expected_value(field))
    return field.write(literal)


def _expected_value(field: FieldWriter) -> str:
    if field.is_message:
        return "a message in braces is wanted here"
    return "a quoted string is wanted here" if field.is_string else "no quoted string is wanted here"


def clear_line_memos() -> None:
    """Clear the caches of lines, which are for one file."""
    for table in _MESSAGE_TYPES.values():
        table.lines.clear()
    SKIPPED_MESSAGE.lines.clear()
