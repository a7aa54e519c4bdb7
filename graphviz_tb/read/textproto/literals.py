"""Convert literals of the text format to values. Functions raise ValueError for other text."""

from __future__ import annotations

import re
import struct

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


def parse_integer(literal: bytes, low: int, high: int) -> int:
    """Parse a decimal, hexadecimal or octal integer within bounds.

    >>> parse_integer(b"-7", -8, 7), parse_integer(b"0x1F", 0, 255), parse_integer(b"017", 0, 255)
    (-7, 31, 15)
    """
    if not _INTEGER_PATTERN.fullmatch(literal):
        raise ValueError("an integer is wanted here")
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


def parse_float(literal: bytes) -> float:
    """Parse a floating-point literal, with `inf`, `nan` and C's trailing `f`.

    >>> parse_float(b"1.5f"), parse_float(b"-inf"), parse_float(b".5e1")
    (1.5, -inf, 5.0)
    """
    if _FLOAT_PATTERN.fullmatch(literal):
        lower = literal.lower()
        return float(lower if lower.endswith(b"inf") else lower.rstrip(b"f"))
    if _INTEGER_PATTERN.fullmatch(literal):
        return float(parse_integer(literal, -(2**127), 2**127))
    raise ValueError("a number is wanted here")


def encode_float32(value: float) -> bytes:
    """Return the four bytes of the nearest single-precision number; infinity if it is too large."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))


def parse_boolean(literal: bytes) -> bool:
    """Parse `true`, `True`, `t`, `1` and their opposites."""
    if literal in _TRUE_WORDS:
        return True
    if literal in _FALSE_WORDS:
        return False
    raise ValueError("true or false is wanted here")


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
