"""As much of TrueType as a PDF needs: the glyph of a character, its advance, and a font file of only the glyphs used.

The format is that of the OpenType specification (ISO/IEC 14496-22): big-endian tables behind a directory.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import cached_property

FONTS = (b"\0\1\0\0", b"OTTO", b"true", b"ttcf")
KEPT = ("cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep")
WORDS, SCALE, MORE, BOTH_SCALES, MATRIX = 1, 8, 32, 64, 128  # flags of the parts of a composite glyph


class Face:
    """One font file, of a collection its first font. Only outlines of TrueType (`glyf`) are read; of a variable font
    the default instance. A file that is no font, or one that is cut short, holds no tables."""

    def __init__(self, data: bytes) -> None:
        start = struct.unpack(">I", data[12:16])[0] if data[:4] == b"ttcf" and len(data) > 16 else 0
        font = data[:4] in FONTS and len(data) >= start + 12
        count = struct.unpack(">H", data[start + 4 : start + 6])[0] if font else 0
        self.tables: dict[str, bytes] = {}
        for at in range(start + 12, min(start + 12 + 16 * count, len(data) - 15), 16):
            tag, _, offset, length = struct.unpack(">4sIII", data[at : at + 16])
            self.tables[tag.decode("latin-1")] = data[offset : offset + length]
            if offset + length > len(data):
                self.tables = {}
                break

    @property
    def usable(self) -> bool:
        """Whether its outlines can be embedded."""
        return {"glyf", "loca", "head", "hhea", "hmtx", "maxp", "cmap"} <= set(self.tables)

    @cached_property
    def em(self) -> int:
        """Units of an em."""
        return int(struct.unpack(">H", self.tables["head"][18:20])[0])

    @cached_property
    def bounds(self) -> tuple[int, int, int, int]:
        """The box that holds every glyph."""
        found: tuple[int, int, int, int] = struct.unpack(">4h", self.tables["head"][36:44])
        return found

    @cached_property
    def heights(self) -> tuple[int, int]:
        """Ascent and descent."""
        found: tuple[int, int] = struct.unpack(">2h", self.tables["hhea"][4:8])
        return found

    def advance(self, glyph: int) -> int:
        """The advance of a glyph, in units."""
        count = struct.unpack(">H", self.tables["hhea"][34:36])[0]
        at = 4 * min(glyph, count - 1)
        return int(struct.unpack(">H", self.tables["hmtx"][at : at + 2])[0])

    @cached_property
    def glyphs(self) -> dict[int, int]:
        """The glyph of each character."""
        cmap = self.tables.get("cmap", bytes(4))
        found: dict[int, int] = {}
        for index in range(struct.unpack(">H", cmap[2:4])[0]):
            offset = struct.unpack(">I", cmap[8 + 8 * index : 12 + 8 * index])[0]
            form = struct.unpack(">H", cmap[offset : offset + 2])[0]
            read = {4: _segments, 12: _groups}.get(form)
            if read:
                found.update(read(cmap[offset:]))
        return found

    @cached_property
    def places(self) -> list[int]:
        """Where the outline of each glyph starts in `glyf`, and the end."""
        loca = self.tables["loca"]
        if struct.unpack(">h", self.tables["head"][50:52])[0]:
            return list(struct.unpack(f">{len(loca) // 4}I", loca))
        return [2 * at for at in struct.unpack(f">{len(loca) // 2}H", loca)]

    def outline(self, glyph: int) -> bytes:
        """The outline of a glyph."""
        return self.tables["glyf"][self.places[glyph] : self.places[glyph + 1]]

    def parts(self, glyph: int) -> list[int]:
        """The glyphs that a composite glyph is made of."""
        data = self.outline(glyph)
        if len(data) < 10 or struct.unpack(">h", data[:2])[0] >= 0:
            return []
        found, at, flags = [], 10, MORE
        while flags & MORE:
            flags, part = struct.unpack(">2H", data[at : at + 4])
            found.append(part)
            at += 4 + (4 if flags & WORDS else 2)
            at += 2 if flags & SCALE else 4 if flags & BOTH_SCALES else 8 if flags & MATRIX else 0
        return found

    def subset(self, glyphs: Iterable[int]) -> bytes:
        """A font file with the outlines of `glyphs` and of their parts; all keep their numbers."""
        wanted, todo = {0}, [*glyphs]
        while todo:
            glyph = todo.pop()
            if glyph not in wanted:
                wanted.add(glyph)
                todo += self.parts(glyph)
        outlines, places = bytearray(), [0]
        for glyph in range(len(self.places) - 1):
            if glyph in wanted:
                outlines += self.outline(glyph)
                outlines += bytes(-len(outlines) % 4)
            places.append(len(outlines))
        head = bytearray(self.tables["head"])
        head[50:52] = struct.pack(">h", 1)
        changed = {
            "head": bytes(head),
            "glyf": bytes(outlines) or bytes(4),
            "loca": struct.pack(f">{len(places)}I", *places),
        }
        return _file({tag: changed.get(tag, self.tables[tag]) for tag in KEPT if tag in self.tables})


def _file(tables: dict[str, bytes]) -> bytes:
    """A font file of these tables."""
    power = 1 << (len(tables).bit_length() - 1)
    head = struct.pack(">IHHHH", 0x10000, len(tables), 16 * power, power.bit_length() - 1, 16 * (len(tables) - power))
    directory, body = bytearray(), bytearray()
    start = 12 + 16 * len(tables)
    for tag, data in sorted(tables.items()):
        padded = data + bytes(-len(data) % 4)
        total = sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF
        directory += struct.pack(">4sIII", tag.encode("latin-1"), total, start + len(body), len(data))
        body += padded
    return bytes(head + directory + body)


def _segments(data: bytes) -> dict[int, int]:
    """A character map of format 4."""
    double = struct.unpack(">H", data[6:8])[0]
    count = double // 2

    def column(at: int, kind: str) -> tuple[int, ...]:
        return struct.unpack(f">{count}{kind}", data[at : at + double])

    ends, starts = column(14, "H"), column(16 + double, "H")
    deltas, offsets = column(16 + 2 * double, "h"), column(16 + 3 * double, "H")
    found: dict[int, int] = {}
    for index in range(count):
        for code in range(starts[index], min(ends[index], 0xFFFE) + 1):
            glyph = code
            if offsets[index]:
                at = 16 + 3 * double + 2 * index + offsets[index] + 2 * (code - starts[index])
                glyph = struct.unpack(">H", data[at : at + 2])[0]
                if not glyph:
                    continue
            if number := (glyph + deltas[index]) & 0xFFFF:
                found[code] = number
    return found


def _groups(data: bytes) -> dict[int, int]:
    """A character map of format 12."""
    found: dict[int, int] = {}
    for index in range(struct.unpack(">I", data[12:16])[0]):
        first, last, glyph = struct.unpack(">3I", data[16 + 12 * index : 28 + 12 * index])
        found.update({code: glyph + code - first for code in range(first, last + 1)})
    return found
