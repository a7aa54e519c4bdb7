"""Recognise the format of an image or a sound by its first bytes, whatever format the log names."""

from __future__ import annotations

import re

# Formats that a browser may show; any other is offered as a download.
MEDIA_MAGIC: tuple[tuple[str, bytes], ...] = (
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
UNKNOWN_MEDIA_TYPE = "application/octet-stream"
MEDIA_HEAD_BYTES = 4096  # bytes that contain the format and the size of an image
JPEG_BARE_MARKERS = {0x01, *range(0xD0, 0xDA)}  # of JPEG: no length follows
JPEG_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # of JPEG: they contain the size


def media_type(head: bytes) -> str:
    """Return the media type of a blob.

    >>> media_type(b"GIF89a..."), media_type(b"<svg xmlns=")
    ('image/gif', 'application/octet-stream')
    """
    return next((kind for kind, magic in MEDIA_MAGIC if re.match(magic, head, re.DOTALL)), UNKNOWN_MEDIA_TYPE)


def image_size(head: bytes) -> tuple[int, int]:
    """Return width and height in pixels of the image that begins with `head`; (0, 0) if unknown.

    >>> image_size(b"GIF89a" + bytes([2, 0, 1, 0]))
    (2, 1)
    """
    kind = media_type(head)
    if kind == "image/png":
        return read_integer(head, 16, 4, "big"), read_integer(head, 20, 4, "big")
    if kind == "image/gif":
        return read_integer(head, 6, 2), read_integer(head, 8, 2)
    if kind == "image/bmp":
        wide = 2 if read_integer(head, 14, 4) == 12 else 4  # bytes of a size; OS/2 wrote two
        width, height = read_integer(head, 18, wide), read_integer(head, 18 + wide, wide)
        return width, min(height, (1 << 32) - height) if wide == 4 else height  # negative: from the top
    return webp_size(head) if kind == "image/webp" else jpeg_size(head) if kind == "image/jpeg" else (0, 0)


def webp_size(head: bytes) -> tuple[int, int]:
    """Return the size of a WebP, which has three forms."""
    form = head[12:16]
    if form == b"VP8X":
        return read_integer(head, 24, 3) + 1, read_integer(head, 27, 3) + 1
    if form == b"VP8L":
        bits = read_integer(head, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return (read_integer(head, 26, 2) & 0x3FFF, read_integer(head, 28, 2) & 0x3FFF) if form == b"VP8 " else (0, 0)


def jpeg_size(head: bytes) -> tuple[int, int]:
    """Return the size of a JPEG from its first frame."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker in JPEG_FRAMES:
            return read_integer(head, at + 7, 2, "big"), read_integer(head, at + 5, 2, "big")
        at += (
            1
            if marker == 0xFF
            else 2
            if marker in JPEG_BARE_MARKERS
            else 2 + max(2, read_integer(head, at + 2, 2, "big"))
        )
    return 0, 0


def read_integer(data: bytes, at: int, size: int, order: str = "little") -> int:
    """Read an unsigned integer of `size` bytes; 0 past the end."""
    part = data[at : at + size]
    return int.from_bytes(part, "big" if order == "big" else "little") if len(part) == size else 0
