"""What a blob is and how large an image, by the bytes alone."""

from __future__ import annotations

import struct

from graphviz_tb.page.points import _image_size, media_type
from tests.each import each

JFIF = b"\xff\xd8\xff\xe0\x00\x04ab"
IMAGES = {
    "image/png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 300, 200),
    "image/jpeg": JFIF + b"\xff\xff\xc0\x00\x11\x08" + struct.pack(">HH", 200, 300) + b"\x03",
    "image/gif": b"GIF87a" + struct.pack("<HH", 300, 200),
    "image/bmp": b"BM" + bytes(12) + struct.pack("<Iii", 40, 300, -200),
}
WEBP = {
    "VP8X": bytes(4) + bytes(4) + (299).to_bytes(3, "little") + (199).to_bytes(3, "little"),
    "VP8L": bytes(4) + b"\x2f" + (299 | 199 << 14).to_bytes(4, "little"),
    "VP8 ": bytes(4) + bytes(6) + struct.pack("<HH", 300, 200),
}


@each("kind", list(IMAGES))
def test_images(kind: str) -> None:
    assert (media_type(IMAGES[kind]), _image_size(IMAGES[kind])) == (kind, (300, 200))


@each("form", list(WEBP))
def test_forms_of_webp(form: str) -> None:
    head = b"RIFF\0\0\0\0WEBP" + form.encode() + WEBP[form]
    assert (media_type(head), _image_size(head)) == ("image/webp", (300, 200))


def test_heads_that_do_not_tell() -> None:
    for head in (b"", b"RIFF", b"\x89PNG\r\n\x1a\n", JFIF, JFIF + b"\xff\xd9" * 9, b"<svg width='9' height='9'>"):
        assert _image_size(head) == (0, 0)
