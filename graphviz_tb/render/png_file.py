"""Stack PNG files of equal width into one (PNG specification, third edition, 2025)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator

SIGNATURE = b"\x89PNG\r\n\x1a\n"
SAMPLES = 4  # bytes of a pixel: red, green, blue, alpha
KIND = bytes((8, 6, 0, 0, 0))  # bits of a sample, colours with alpha, deflated, with filters, not interlaced
NONE, SUB, UP, AVERAGE, PAETH = range(5)  # filters of a row
LEVEL = 4  # half the time of the usual 6, and 5 % more bytes


def stacked(files: Iterable[bytes], width: int, height: int) -> bytes:
    """Return one PNG of `width` × `height` pixels from others, whose heights add up to its own.

    All have 8 bits a sample, red, green, blue and alpha, not interlaced.
    """
    packer, packed = zlib.compressobj(LEVEL), []
    for file in files:
        rows = bytearray(zlib.decompress(b"".join(body for kind, body in chunks(file) if kind == b"IDAT")))
        stand_alone(rows, 1 + SAMPLES * width)
        packed.append(packer.compress(rows))
    packed.append(packer.flush())
    header = struct.pack(">II", width, height) + KIND
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", b"".join(packed)) + chunk(b"IEND", b"")


def chunk(kind: bytes, body: bytes) -> bytes:
    """Return one chunk of a file."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def chunks(file: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and the body of each chunk."""
    at = len(SIGNATURE)
    while at < len(file):
        size, kind = struct.unpack_from(">I4s", file, at)
        yield kind, file[at + 8 : at + 8 + size]
        at += size + 12


def stand_alone(rows: bytearray, stride: int) -> None:
    """Change the filter of an image's first row to one that ignores the row above, because another image precedes it.

    >>> row = bytearray((AVERAGE, 8, 8, 8, 255, 4, 4, 4, 128))
    >>> stand_alone(row, 9)
    >>> list(row)
    [0, 8, 8, 8, 255, 8, 8, 8, 255]
    """
    kind = rows[0]
    if kind == UP:  # the row above was zero
        rows[0] = NONE
    elif kind == PAETH:  # always the pixel to the left
        rows[0] = SUB
    elif kind == AVERAGE:  # half of the pixel to the left
        rows[0] = NONE
        for at in range(1 + SAMPLES, stride):
            rows[at] = (rows[at] + rows[at - SAMPLES] // 2) & 255
