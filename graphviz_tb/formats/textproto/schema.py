"""Fields of message types and how they are written on the wire, literals of the text format as values, and the messages
that are read: open ones, finished bytes, skipped names."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from graphviz_tb.errors import MalformedText
from graphviz_tb.limits import MAX_BUFFERED_TEXT_BYTES, MAX_UNKNOWN_NAMES
from graphviz_tb.model.notice import Notice
from graphviz_tb.sources.text import TextSource

STRING_PATTERN = rb""""[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'"""
# A number without "-", or a word: true, DT_FLOAT, inf.
SCALAR_PATTERN = rb"(?:\.?[0-9](?:[eE][-+](?=[0-9])|[\w.])*+|[A-Za-z_]\w*+)"

_ESCAPE_PATTERN = re.compile(rb"\\(?:[0-7]{1,3}|[xX][0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.|$)", re.DOTALL)
_COMMON_ESCAPES_ONLY = re.compile(rb"""[^\\]*+(?:\\(?:[nrt\\'"]|[0-3][0-7]{2})[^\\]*+)*+""")  # as programs write them
_INTEGER_PATTERN = re.compile(rb"-?(?:0[xX][0-9a-fA-F]+|[0-9]+)")
_FLOAT_PATTERN = re.compile(
    rb"-?(?:(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]+)?[fF]?|(?i:inf(?:inity)?f?|nan))"
)
_TRUE_WORDS, _FALSE_WORDS = (b"true", b"True", b"t", b"1"), (b"false", b"False", b"f", b"0")
_SIMPLE_ESCAPES = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
    b"\\": b"\\",
    b"'": b"'",
    b'"': b'"',
    b"?": b"?",
}


class _EscapeCache(dict[bytes, bytes]):
    """Cache from escape to byte."""

    def __missing__(self, escape: bytes) -> bytes:
        made = self[escape] = _unescape_one(escape[1:])
        return made


def _unescape_one(body: bytes) -> bytes:
    if body in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[body]
    head = body[:1]
    if head in b"01234567" and body:
        if int(body, 8) > 255:
            raise ValueError(f"escape \\{body.decode()} is more than one byte")
        return bytes([int(body, 8)])
    if head in b"xX" and len(body) > 1:
        return bytes([int(body[1:], 16)])
    if head in b"uU" and len(body) > 1:
        return _encode_code_point(int(body[1:], 16))
    raise ValueError(f"unknown escape \\{body.decode('utf-8', 'replace')}")


def _encode_code_point(number: int) -> bytes:
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        raise ValueError(f"no character has the number {number:#x}")
    return chr(number).encode()


_ESCAPE_CACHE = _EscapeCache()


def unescape_string(body: bytes) -> bytes:
    r"""Return the bytes that the text between quotes means.

    >>> unescape_string(rb"tab\tquote\" \001\x41\u00e9")
    b'tab\tquote" \x01A\xc3\xa9'
    """
    if b"\\" not in body:
        return body
    if _COMMON_ESCAPES_ONLY.fullmatch(body):
        return body.decode("unicode_escape").encode("latin-1")  # the same result, in C
    return _ESCAPE_PATTERN.sub(lambda match: _ESCAPE_CACHE[match[0]], body)


def _parse_integer(literal: bytes, low: int, high: int) -> int:
    """Parse a decimal, hexadecimal or octal integer within bounds.

    >>> _parse_integer(b"-7", -8, 7), _parse_integer(b"0x1F", 0, 255), _parse_integer(b"017", 0, 255)
    (-7, 31, 15)
    """
    if not _INTEGER_PATTERN.fullmatch(literal):
        raise ValueError("expected an integer")
    # "017" is octal, as in C.
    digits = literal.lstrip(b"-")
    octal = len(digits) > 1 and digits[:1] == b"0" and digits[1:2] not in b"xX"
    # `int` of thousands of digits takes long; 64 bits have 20.
    if len(digits) > 30:
        raise ValueError("this integer is too long")
    number = int(digits, 8) if octal else int(digits, 0)
    number = -number if literal[:1] == b"-" else number
    if not low <= number <= high:
        raise ValueError(f"{number} is not within {low}…{high}")
    return number


def _parse_float(literal: bytes) -> float:
    """Parse a floating-point literal, with `inf`, `nan` and C's trailing `f`.

    >>> _parse_float(b"1.5f"), _parse_float(b"-inf"), _parse_float(b".5e1")
    (1.5, -inf, 5.0)
    """
    if _FLOAT_PATTERN.fullmatch(literal):
        lower = literal.lower()
        return float(lower if lower.endswith(b"inf") else lower.rstrip(b"f"))
    if _INTEGER_PATTERN.fullmatch(literal):
        return float(_parse_integer(literal, -(2**127), 2**127))
    raise ValueError("expected a number")


def _encode_float32(value: float) -> bytes:
    """Return the four bytes of the nearest single-precision number; infinity if it is too large."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))


def _parse_boolean(literal: bytes) -> bool:
    """Parse `true`, `True`, `t`, `1` and their opposites."""
    if literal in _TRUE_WORDS:
        return True
    if literal in _FALSE_WORDS:
        return False
    raise ValueError("expected true or false")


def encode_varint(value: int) -> bytes:
    """Return an integer as a protobuf varint; a negative one as its 64-bit two's complement.

    >>> encode_varint(300), len(encode_varint(-1))
    (b'\\xac\\x02', 10)
    """
    value &= 0xFFFFFFFFFFFFFFFF
    if value < 0x80:
        return _SINGLE_BYTES[value]
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_SINGLE_BYTES = [bytes([value]) for value in range(128)]


# Fields of each message type, and how they are written on the wire: tables made from descriptors.

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
        field.TYPE_FIXED64: lambda literal: tag + struct.pack("<Q", _parse_integer(literal, *UINT64_RANGE)),
        field.TYPE_BOOL: lambda literal: tag + (b"\x01" if _parse_boolean(literal) else b"\x00"),
        field.TYPE_FLOAT: lambda literal: tag + _encode_float32(_parse_float(literal)),
        field.TYPE_DOUBLE: lambda literal: tag + struct.pack("<d", _parse_float(literal)),
    }
    return made[field.type]


def _reject_scalar(literal: bytes) -> bytes:
    raise ValueError("expected a message in braces")


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
    return tag + encode_varint(_parse_integer(literal, low, high))


def _write_enum(tag: bytes, names: dict[bytes, bytes], kind: str, literal: bytes) -> bytes:
    known = names.get(literal)
    if known is not None:
        return known
    if literal[:1].isalpha() or literal[:1] == b"_":
        raise UnknownNameError(f"{kind} {literal.decode()}")
    return tag + encode_varint(_parse_integer(literal, *INT32_RANGE))


def encode_field(field: FieldWriter, literal: bytes, quoted: bool) -> bytes:
    """Return a field on the wire; a quoted literal is passed without quotes and escapes. Raises ValueError."""
    if quoted != field.is_string:
        raise ValueError(_expected_value(field))
    return field.write(literal)


def _expected_value(field: FieldWriter) -> str:
    if field.is_message:
        return "expected a message in braces"
    return "expected a quoted string" if field.is_string else "unexpected quoted string"


def clear_line_memos() -> None:
    """Clear the caches of lines, which are for one file."""
    for table in _MESSAGE_TYPES.values():
        table.lines.clear()
    SKIPPED_MESSAGE.lines.clear()


# State while text is read.


class OpenMessage(NamedTuple):
    """An open message: its tag on the wire (empty if it is skipped), its parts, and the bracket that closes it."""

    table: MessageType
    tag: bytes
    parts: list[bytes]
    closer: bytes
    start: int  # position of its opening bracket, for errors
    in_list: bool = False


class Document:
    """A message being read; finished top-level fields are merged into it a few megabytes at a time."""

    def __init__(self, message: Any, table: MessageType, source: TextSource) -> None:
        self.message = message
        self.source = source
        self.table = table
        self.parts: list[bytes] = []
        self.waiting = 0
        self.skipped: dict[tuple[str, str], list[int]] = {}
        self.skips = 0

    @property
    def data(self) -> bytes:
        """All of the text; a large file is read at the first use."""
        return self.source.read_all()

    def add_field(self, parts: list[bytes]) -> None:
        """Add a finished top-level field; it is merged now or at the next flush."""
        self.parts += parts
        self.waiting += sum(map(len, parts))
        if self.waiting > MAX_BUFFERED_TEXT_BYTES:
            self.merge_fields()

    def merge_fields(self) -> None:
        self.message.MergeFromString(b"".join(self.parts))
        self.parts, self.waiting = [], 0

    def note_skipped(self, code: str, what: str, position: int) -> None:
        """Count a field or enum name that our messages do not know."""
        # A file may have a million unknown names.
        if len(self.skipped) >= MAX_UNKNOWN_NAMES and (code, what) not in self.skipped:
            what = "and others"
        seen = self.skipped.setdefault((code, what), [position, 0])
        seen[1] += 1
        self.skips += 1

    def skipped_notices(self) -> tuple[Notice, ...]:
        """Return a notice for each unknown field or name, with its first position."""
        made = []
        for (code, what), (position, count) in self.skipped.items():
            line, column = _line_and_column(self.data, position)
            kind = "field" if code == "unknown-field" else "value"
            where = f"line {line}, column {column}"
            made.append(Notice(code, f"{kind} {what} is not known here and was skipped", where, count))
        return tuple(made)

    def error_at(self, message: str, position: int) -> MalformedText:
        line, column = _line_and_column(self.data, position)
        return MalformedText(message, line=line, column=column, name=self.source.name)


def encode_message(frame: OpenMessage) -> bytes:
    """Return tag, length and bytes of a finished message; b"" for a skipped one."""
    if not frame.tag:
        return b""
    payload = b"".join(frame.parts)
    return frame.tag + encode_varint(len(payload)) + payload


def _line_and_column(data: bytes, position: int) -> tuple[int, int]:
    """Return line and column of a byte, both from 1, columns in characters.

    >>> _line_and_column(b"node {\\n  name: 7\\n}", 15)
    (2, 9)
    """
    start = data.rfind(b"\n", 0, position) + 1
    return data.count(b"\n", 0, position) + 1, len(data[start:position].decode("utf-8", "replace")) + 1
