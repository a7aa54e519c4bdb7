"""The file around a page of PDF: objects, fonts and their used letters."""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from graphviz_tb.render.joining import base_letters
from graphviz_tb.render.typeface import Typeface


@dataclass(slots=True)
class PdfFonts:
    """The fonts, and which of their glyphs were used for which character."""

    faces: list[Typeface]
    used: list[dict[int, str]] = field(default_factory=list)
    known: dict[str, tuple[int, int]] = field(default_factory=dict)

    def glyph_runs(self, text: str) -> Iterator[tuple[int, list[int]]]:
        """Yield the text as runs of glyphs of one font; characters that no font has are empty boxes of the first."""
        # Look up each once: titles of nested groups may have millions of characters.
        for char in dict.fromkeys(text):
            if char not in self.known:
                self.known[char] = self.glyph_of(char)
        drawn = [place for place in map(self.known.__getitem__, text) if place[0] >= 0]
        for font, run in groupby(drawn, key=itemgetter(0)):
            yield font, [glyph for _, glyph in run]

    def has_glyph(self, char: str) -> bool:
        """Return whether a font has a glyph for a character."""
        return any(ord(char) in face.glyphs for face in self.faces)

    def glyph_of(self, char: str) -> tuple[int, int]:
        """Return the font and the glyph of a character; font -1 if it is not drawn."""
        if is_invisible(char):
            return -1, 0
        font = next((index for index, face in enumerate(self.faces) if ord(char) in face.glyphs), 0)
        glyph = self.faces[font].glyphs.get(ord(char), 0)  # 0: the box for missing glyphs
        self.used[font].setdefault(glyph, char)
        return font, glyph

    def run_width(self, font: int, glyphs: list[int]) -> float:
        """Return the width of a run, in em."""
        face = self.faces[font]
        return sum(face.glyph_advance(glyph) for glyph in glyphs) / face.units_per_em


def is_invisible(char: str) -> bool:
    """Return whether a character only changes how others are drawn: a joiner, a variation selector.

    >>> [char for char in "a\u200d\ufe0fb" if not is_invisible(char)]
    ['a', 'b']
    """
    return unicodedata.category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def pdf_document(page: tuple[float, float], content: bytes, fonts: PdfFonts, title: str) -> bytes:
    """Return the objects of a document of one page, and their index."""
    objects: list[bytes] = [b""] * 5  # catalog, pages, page, content, info
    named = []
    for index, face in enumerate(fonts.faces):
        if fonts.used[index]:
            named.append(f"/F{index} {len(objects) + 1} 0 R")
            objects += font_objects(face, fonts.used[index], len(objects) + 1)
    box = f"[0 0 {pdf_number(page[0])} {pdf_number(page[1])}]"
    resources = f"<</Font<<{' '.join(named)}>>>>"
    objects[0] = b"<</Type/Catalog/Pages 2 0 R>>"
    objects[1] = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
    objects[2] = f"<</Type/Page/Parent 2 0 R/MediaBox{box}/Contents 4 0 R/Resources{resources}>>".encode()
    objects[3] = compressed_stream(content)
    objects[4] = f"<</Title<FEFF{title.encode('utf-16-be', 'replace').hex()}>/Producer(tbgraph)>>".encode()
    # Four bytes above 127 tell programs that the file is binary (ISO 32000-1, 7.5.2).
    written, starts = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(objects, 1):
        starts.append(len(written))
        written += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{start:010d} 00000 n \n" for start in starts)  # entries of exactly 20 bytes
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<</Size {size}/Root 1 0 R/Info 5 0 R>>\n"
    return bytes(written + f"{end}startxref\n{len(written)}\n%%EOF\n".encode())


def font_objects(face: Typeface, used: dict[int, str], number: int) -> list[bytes]:
    """Return the five objects of one font; the first has `number`."""
    unit = 1000 / face.units_per_em
    name = f"/{'ABCDEF'}+Face{number}"  # six capitals and a plus mark a subset
    widths = " ".join(f"{glyph} [{round(face.glyph_advance(glyph) * unit)}]" for glyph in sorted(used))
    bounds = " ".join(str(round(bound * unit)) for bound in face.glyph_bounds)
    up, down = (round(bound * unit) for bound in face.ascent_and_descent)
    system = "/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"
    kind = f"/Type/Font/Subtype/{'CIDFontType0' if face.is_postscript else 'CIDFontType2/CIDToGIDMap/Identity'}"
    flags = f"/Flags 4/ItalicAngle 0/StemV 80/CapHeight 700/Ascent {up}/Descent {down}/FontBBox[{bounds}]"
    data = face.subset_font(used)
    outlines = "FontFile3" if face.is_postscript else "FontFile2"
    return [
        f"<</Type/Font/Subtype/Type0/BaseFont{name}/Encoding/Identity-H/DescendantFonts[{number + 1} 0 R]"
        f"/ToUnicode {number + 4} 0 R>>".encode(),
        f"<<{kind}/BaseFont{name}{system}/FontDescriptor {number + 2} 0 R/W[{widths}]>>".encode(),
        f"<</Type/FontDescriptor/FontName{name}{flags}/{outlines} {number + 3} 0 R>>".encode(),
        compressed_stream(data, "/Subtype/CIDFontType0C" if face.is_postscript else f"/Length1 {len(data)}"),
        compressed_stream(unicode_map(used).encode()),
    ]


def unicode_map(used: dict[int, str]) -> str:
    """Return the characters of glyphs, so that texts can be searched and copied."""
    known = sorted((glyph, base_letters(char)) for glyph, char in used.items() if glyph)
    pairs = [f"<{glyph:04X}> <{letters.encode('utf-16-be').hex()}>" for glyph, letters in known]
    blocks = [pairs[start : start + 100] for start in range(0, len(pairs), 100)]  # at most 100 in a block
    body = "\n".join("\n".join((f"{len(block)} beginbfchar", *block, "endbfchar")) for block in blocks)
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        "1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
        f"{body}\nendcmap CMapName currentdict /CMap defineresource pop end end"
    )


def compressed_stream(data: bytes, more: str = "") -> bytes:
    """Return a compressed stream."""
    packed = zlib.compress(data, 9)
    return f"<</Length {len(packed)}/Filter/FlateDecode{more}>>\nstream\n".encode() + packed + b"\nendstream"


def pdf_number(number: float) -> str:
    """Format a number for PDF.

    >>> pdf_number(1.0), pdf_number(0.12345), pdf_number(-0.00001)
    ('1', '0.1235', '0')
    """
    digits = f"{number:.4f}".rstrip("0").rstrip(".")
    return "0" if digits in ("-0", "") else digits
