"""Recognise the format of an image or a sound by its first bytes, whatever format the log names."""

from __future__ import annotations

import re

# Formats that a browser may show; any other is offered as a download.
MAGIC: tuple[tuple[str, bytes], ...] = (
    ("image/png", rb"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", rb"\xff\xd8\xff"),
    ("image/gif", rb"GIF8[79]a"),
    ("image/bmp", rb"BM.{12}[\x0c-\x7c]\x00\x00\x00"),
    ("image/webp", rb"RIFF....WEBP"),
    ("audio/wav", rb"RIFF....WAVE"),
    ("audio/mpeg", rb"ID3|\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff]"),
    ("audio/ogg", rb"OggS"),
    ("audio/flac", rb"fLaC"),
)
UNKNOWN = "application/octet-stream"
HEAD = 4096  # bytes that contain the format and the size of an image
BARE_MARKERS = {0x01, *range(0xD0, 0xDA)}  # of JPEG: no length follows
FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # of JPEG: they contain the size


def kind_of(head: bytes) -> str:
    """Return the media type of a blob.

    >>> kind_of(b"GIF89a..."), kind_of(b"<svg xmlns=")
    ('image/gif', 'application/octet-stream')
    """
    return next((kind for kind, magic in MAGIC if re.match(magic, head, re.DOTALL)), UNKNOWN)


def size_of(head: bytes) -> tuple[int, int]:
    """Return width and height in pixels of the image that begins with `head`; (0, 0) if unknown.

    >>> size_of(b"GIF89a" + bytes([2, 0, 1, 0]))
    (2, 1)
    """
    kind = kind_of(head)
    if kind == "image/png":
        return whole(head, 16, 4, "big"), whole(head, 20, 4, "big")
    if kind == "image/gif":
        return whole(head, 6, 2), whole(head, 8, 2)
    if kind == "image/bmp":
        wide = 2 if whole(head, 14, 4) == 12 else 4  # bytes of a size; OS/2 wrote two
        width, height = whole(head, 18, wide), whole(head, 18 + wide, wide)
        return width, min(height, (1 << 32) - height) if wide == 4 else height  # negative: from the top
    return size_of_webp(head) if kind == "image/webp" else size_of_jpeg(head) if kind == "image/jpeg" else (0, 0)


def size_of_webp(head: bytes) -> tuple[int, int]:
    """Return the size of a WebP, which has three forms."""
    form = head[12:16]
    if form == b"VP8X":
        return whole(head, 24, 3) + 1, whole(head, 27, 3) + 1
    if form == b"VP8L":
        bits = whole(head, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return (whole(head, 26, 2) & 0x3FFF, whole(head, 28, 2) & 0x3FFF) if form == b"VP8 " else (0, 0)


def size_of_jpeg(head: bytes) -> tuple[int, int]:
    """Return the size of a JPEG from its first frame."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker in FRAMES:
            return whole(head, at + 7, 2, "big"), whole(head, at + 5, 2, "big")
        at += 1 if marker == 0xFF else 2 if marker in BARE_MARKERS else 2 + max(2, whole(head, at + 2, 2, "big"))
    return 0, 0


def whole(data: bytes, at: int, size: int, order: str = "little") -> int:
    """Read an unsigned integer of `size` bytes; 0 past the end."""
    part = data[at : at + size]
    return int.from_bytes(part, "big" if order == "big" else "little") if len(part) == size else 0
