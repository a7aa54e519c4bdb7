"""Encode the values of `formats/onnx_messages.py`, by its table of fields."""

from __future__ import annotations

import struct
from typing import Any

from graphviz_tb.formats.onnx_messages import FIELDS, Scalar

WIRE = {Scalar.INT: 0, Scalar.DOUBLE: 1, Scalar.TEXT: 2, Scalar.BYTES: 2, Scalar.FLOAT: 5}


def encode_message(message: Any) -> bytes:
    """Return the bytes of a message; fields with nothing in them are left out."""
    written = b""
    for number, rule in FIELDS[type(message)].items():
        held = getattr(message, rule.name)
        for each in held if rule.many else (held,):
            if each is None or (not rule.many and each in (0, "", ())):
                continue
            if rule.kind is dict:
                entry = b"".join(
                    b"%c%b" % (place << 3 | 2, _scalar(Scalar.TEXT, text))
                    for place, text in enumerate((each, held[each]), 1)
                )
                written += varint(number << 3 | 2) + varint(len(entry)) + entry
            elif isinstance(rule.kind, Scalar):
                written += varint(number << 3 | WIRE[rule.kind]) + _scalar(rule.kind, each)
            else:
                inner = encode_message(each)
                written += varint(number << 3 | 2) + varint(len(inner)) + inner
    return written


def _scalar(kind: Scalar, content: Any) -> bytes:
    if kind is Scalar.INT:
        return varint(content & (1 << 64) - 1)
    if kind in (Scalar.FLOAT, Scalar.DOUBLE):
        return struct.pack("<f" if kind is Scalar.FLOAT else "<d", content)
    data = content.encode() if isinstance(content, str) else content
    return varint(len(data)) + data


def varint(number: int) -> bytes:
    """Return a number in groups of seven bits."""
    written = b""
    while number > 127:
        written += bytes([number & 127 | 128])
        number >>= 7
    return written + bytes([number])
