"""One font file as a PDF needs it: the glyph of a character, its advance, and a file of only the glyphs used."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont

# Tables of the OpenType specification (ISO/IEC 14496-22) that a font in a PDF needs, and hints if there are any.
KEPT = ("cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep")
NEEDED = ("head", "hhea", "maxp", "hmtx", "cmap")


class Typeface:
    """A font, of a collection its first; of a variable font the default instance.

    Raises `ValueError` where the data are no font, or a damaged one.
    """

    def __init__(self, data: bytes) -> None:
        from fontTools.ttLib import TTFont, TTLibError  # takes 60 ms to import

        self._data = data
        try:
            self._font: TTFont = TTFont(io.BytesIO(data), fontNumber=0, lazy=True)  # `lazy` only saves time
            for table in NEEDED:  # decoded now: what is damaged is found here
                self._font[table]
            self.glyphs: dict[int, int] = {
                code: self._font.getGlyphID(name) for code, name in self._font.getBestCmap().items()
            }
        except (TTLibError, struct.error, AttributeError, KeyError, ValueError, IndexError, AssertionError) as error:
            raise ValueError("no font, or a damaged one") from error

    @property
    def outlined(self) -> bool:
        """Whether it has outlines that can be embedded: those of TrueType, or of PostScript."""
        return self.postscript or ("glyf" in self._font and "loca" in self._font)

    @property
    def postscript(self) -> bool:
        """Whether its outlines are those of PostScript, as in fonts for Chinese, Japanese and Korean."""
        return "CFF " in self._font

    @property
    def em(self) -> int:
        """Units of an em."""
        return int(self._font["head"].unitsPerEm)

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        """The box that holds every glyph, in units."""
        head = self._font["head"]
        return head.xMin, head.yMin, head.xMax, head.yMax

    @property
    def heights(self) -> tuple[int, int]:
        """Ascent and descent, in units."""
        return self._font["hhea"].ascent, self._font["hhea"].descent

    @cached_property
    def _advances(self) -> list[int]:
        metrics = self._font["hmtx"].metrics
        return [metrics[name][0] for name in self._font.getGlyphOrder()]

    def advance(self, glyph: int) -> int:
        """The advance of a glyph, in units."""
        return self._advances[glyph]

    def subset(self, glyphs: Iterable[int]) -> bytes:
        """The outlines of `glyphs` and of their parts, as a font file or as bare CFF; all keep their numbers."""
        from fontTools.subset import Options, Subsetter
        from fontTools.ttLib import TTFont

        font = TTFont(io.BytesIO(self._data), fontNumber=0, recalcTimestamp=False)  # no clock: the same bytes each time
        kept = (*KEPT, "CFF ") if self.postscript else KEPT
        subsetter = Subsetter(Options(retain_gids=True, notdef_outline=True))
        subsetter.populate(gids=glyphs)
        for tag in [tag for tag in font.keys() if tag not in (*kept, "GlyphOrder")]:  # noqa: SIM118
            del font[tag]
        subsetter.subset(font)
        if self.postscript:
            return bytes(font["CFF "].compile(font))
        file = io.BytesIO()
        font.save(file, reorderTables=None)
        return file.getvalue()
