"""Event files for tests and the bench, byte by byte: no writer is needed, any length, step or damage can be made."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from graphviz_tb.formats.records import masked_crc


def record(payload: bytes) -> bytes:
    """A payload, framed."""
    length = struct.pack("<Q", len(payload))
    return length + struct.pack("<I", masked_crc(length)) + payload + struct.pack("<I", masked_crc(payload))


def varint(number: int) -> bytes:
    """A number in pieces of seven bits; one below zero as ten of them."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def field(number: int, data: bytes) -> bytes:
    """A field of bytes."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def event(step: int, *values: bytes, wall: float = 1.6e9) -> bytes:
    """An event with a summary."""
    when = b"\x09" + struct.pack("<d", wall) + (b"\x10" + varint(step) if step else b"")
    return when + field(5, b"".join(field(1, value) for value in values))


def metadata(plugin: str, data_class: int = 1) -> bytes:
    """SummaryMetadata, as a field of a value."""
    return field(9, field(1, field(1, plugin.encode())) + b"\x20" + varint(data_class))


def scalar(tag: str | bytes, value: float) -> bytes:
    """A value of version 1."""
    name = tag if isinstance(tag, bytes) else tag.encode()
    return field(1, name) + b"\x15" + struct.pack("<f", value)


def tensor(tag: str, numbers: np.ndarray, plugin: str, dtype: int) -> bytes:
    """A value of version 2 with numbers."""
    shape = b"".join(field(2, b"\x08" + varint(size)) for size in numbers.shape)
    content = b"\x08" + varint(dtype) + field(2, shape) + field(4, numbers.tobytes())
    return field(1, tag.encode()) + field(8, content) + metadata(plugin)


def strings(tag: str, cells: Iterable[bytes], plugin: str, shape: tuple[int, ...]) -> bytes:
    """A value of version 2 with strings."""
    sizes = b"".join(field(2, b"\x08" + varint(size)) for size in shape)
    content = b"\x08\x07" + field(2, sizes) + b"".join(field(8, cell) for cell in cells)
    return field(1, tag.encode()) + field(8, content) + metadata(plugin)


def histogram(tag: str, limits: list[float], counts: list[float]) -> bytes:
    """A histogram of version 1."""
    said = b"".join(bytes([number << 3 | 1]) + struct.pack("<d", 1.0) for number in range(1, 6))
    lists = field(6, struct.pack(f"<{len(limits)}d", *limits)) + field(7, struct.pack(f"<{len(counts)}d", *counts))
    return field(1, tag.encode()) + field(5, said + lists)


def write(path: Path, *events: bytes) -> Path:
    """An event file with these events, behind the one that says its version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    version = b"\x09" + struct.pack("<d", 1.6e9) + field(3, b"brain.Event:2")
    path.write_bytes(b"".join(map(record, (version, *events))))
    return path


def append(path: Path, *events: bytes) -> None:
    """More of them."""
    with path.open("ab") as stream:
        stream.write(b"".join(map(record, events)))
