"""Reads a PDF of ours back as its specification (ISO 32000-1, 7.5) has it, and forgives nothing."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

OBJECT = re.compile(rb"(\d+) 0 obj\n(<<.*?>>)(?:\nstream\n(.*)\nendstream)?\nendobj\n", re.DOTALL)
TRAILER = re.compile(rb"trailer\n<</Size (\d+)/Root (\d+) 0 R/Info (\d+) 0 R>>\nstartxref\n(\d+)\n%%EOF\n")


@dataclass(frozen=True)
class Part:
    """One object: its dictionary, and its stream unpacked."""

    words: str
    stream: bytes = b""

    def reference(self, key: str) -> int:
        """The object that an entry refers to, in an array or not."""
        found = re.search(rf"/{key}\[? ?(\d+) 0 R", self.words)
        assert found, f"{key} is not in {self.words}"
        return int(found[1])


def document(data: bytes) -> tuple[dict[int, Part], int, int]:
    """The objects by number, and the numbers of the catalogue and of the information."""
    assert data.startswith(b"%PDF-1.7\n%")
    assert all(byte >= 128 for byte in data[10:14]), "it is not marked as binary"
    table = data.rindex(b"xref\n0 ", 0, data.rindex(b"startxref"))
    head, first = re.compile(rb"xref\n0 (\d+)\n").match(data, table), 0
    assert head
    count, first = int(head[1]), head.end()
    trailer = TRAILER.fullmatch(data, first + 20 * count)
    assert trailer
    assert (int(trailer[1]), int(trailer[4])) == (count, table)
    rows = [data[first + 20 * number : first + 20 * number + 20] for number in range(count)]
    assert rows[0] == b"0000000000 65535 f \n"
    assert all(re.fullmatch(rb"\d{10} 00000 n \n", row) for row in rows[1:])
    starts = [int(row[:10]) for row in rows[1:]]
    assert starts[0] == 15
    pairs = enumerate(zip(starts, [*starts[1:], table], strict=True), 1)
    parts = {number: part(data[start:stop], number) for number, (start, stop) in pairs}
    used = {int(number) for each in parts.values() for number in re.findall(r"(\d+) 0 R", each.words)}
    assert used | {int(trailer[2]), int(trailer[3])} == set(parts), "an object is not used, or absent"
    return parts, int(trailer[2]), int(trailer[3])


def part(data: bytes, number: int) -> Part:
    """One object, which fills its bytes."""
    found = OBJECT.fullmatch(data)
    assert found, data[:80]
    assert int(found[1]) == number
    words = found[2].decode("latin-1")
    if found[3] is None:
        return Part(words)
    length = re.search(r"/Length (\d+)", words)
    assert length
    assert int(length[1]) == len(found[3])
    unpacker = zlib.decompressobj()
    stream = unpacker.decompress(found[3])
    assert unpacker.eof
    assert not unpacker.unused_data
    return Part(words, stream)


def characters(unicode_map: str) -> dict[str, str]:
    """The characters of a font by glyph, four digits each."""
    found = {}
    for block in re.finditer(r"(\d+) beginbfchar\n(.*?)\nendbfchar", unicode_map, re.DOTALL):
        pairs = re.findall(r"<(\w{4})> <(\w+)>", block[2])
        assert int(block[1]) == len(pairs) <= 100  # as many as ISO 32000 and Adobe's note 5014 allow
        found.update({glyph: bytes.fromhex(text).decode("utf-16-be") for glyph, text in pairs})
    return found


def texts(content: str, fonts: dict[str, dict[str, str]]) -> list[str]:
    """The texts that a page shows, in order; letters that are in no font are missing."""
    found = []
    for block in re.findall(r"BT .*? ET", content):
        runs = re.findall(r"/(F\d+) \d+ Tf <(\w*)> Tj", block)
        found.append("".join(fonts[font].get(glyph, "") for font, run in runs for glyph in re.findall("....", run)))
    return found
