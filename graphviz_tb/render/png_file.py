"""Stack PNG files of equal width into one (PNG specification, third edition, 2025)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
BYTES_PER_PIXEL = 4  # bytes of a pixel: red, green, blue, alpha
PNG_FORMAT = bytes((8, 6, 0, 0, 0))  # bits of a sample, colours with alpha, deflated, with filters, not interlaced
FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH = range(5)  # filters of a row
COMPRESSION_LEVEL = 4  # half the time of the usual 6, and 5 % more bytes


def stack_pngs(files: Iterable[bytes], width: int, height: int) -> bytes:
    """Return one PNG of `width` × `height` pixels from others, whose heights add up to its own.

    All have 8 bits a sample, red, green, blue and alpha, not interlaced.
    """
    packer, packed = zlib.compressobj(COMPRESSION_LEVEL), []
    for file in files:
        rows = bytearray(zlib.decompress(b"".join(body for kind, body in read_chunks(file) if kind == b"IDAT")))
        detach_first_row(rows, 1 + BYTES_PER_PIXEL * width)
        packed.append(packer.compress(rows))
    packed.append(packer.flush())
    header = struct.pack(">II", width, height) + PNG_FORMAT
    return PNG_SIGNATURE + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", b"".join(packed)) + png_chunk(b"IEND", b"")


def png_chunk(kind: bytes, body: bytes) -> bytes:
    """Return one chunk of a file."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def read_chunks(file: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and the body of each chunk."""
    at = len(PNG_SIGNATURE)
    while at < len(file):
        size, kind = struct.unpack_from(">I4s", file, at)
        yield kind, file[at + 8 : at + 8 + size]
        at += size + 12


def detach_first_row(rows: bytearray, stride: int) -> None:
    """Change the filter of an image's first row to one that ignores the row above, because another image precedes it.

    >>> row = bytearray((FILTER_AVERAGE, 8, 8, 8, 255, 4, 4, 4, 128))
    >>> detach_first_row(row, 9)
    >>> list(row)
    [0, 8, 8, 8, 255, 8, 8, 8, 255]
    """
    kind = rows[0]
    if kind == FILTER_UP:  # the row above was zero
        rows[0] = FILTER_NONE
    elif kind == FILTER_PAETH:  # always the pixel to the left
        rows[0] = FILTER_SUB
    elif kind == FILTER_AVERAGE:  # half of the pixel to the left
        rows[0] = FILTER_NONE
        for at in range(1 + BYTES_PER_PIXEL, stride):
            rows[at] = (rows[at] + rows[at - BYTES_PER_PIXEL] // 2) & 255
