"""One font file for a PDF: the glyph of a character, its advance, and a font of only the used glyphs."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphviz_tb.errors import RequestError

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont

# Tables of the OpenType specification (ISO/IEC 14496-22) that a font in a PDF needs, and hints if there are any.
KEPT_TABLES = ("cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep")
REQUIRED_TABLES = ("head", "hhea", "maxp", "hmtx", "cmap")
# Warnings of fontTools go to configured loggers and are not printed: our errors report what matters.
logging.getLogger("fontTools").addHandler(logging.NullHandler())


class Typeface:
    """A font: the first of a collection, the default instance of a variable font.

    Raises RequestError if the data is not a font, or a damaged one.
    """

    def __init__(self, data: bytes, name: str = "the font") -> None:
        from fontTools.ttLib import TTFont  # takes 60 ms to import

        self._data, self._name = data, name
        with font_errors(name):
            self._font: TTFont = TTFont(io.BytesIO(data), fontNumber=0, lazy=True)  # `lazy` only saves time
            for table in REQUIRED_TABLES:  # decoded now, to find damage here
                self._font[table]
            metrics = self._font["hmtx"].metrics
            self._advances: list[int] = [metrics[glyph][0] for glyph in self._font.getGlyphOrder()]
            numbers = ((code, self._font.getGlyphID(glyph)) for code, glyph in self._font.getBestCmap().items())
            self.glyphs: dict[int, int] = {code: glyph for code, glyph in numbers if glyph < len(self._advances)}
            if not self.units_per_em:
                raise ValueError("letters of no size")

    @property
    def has_outlines(self) -> bool:
        """Return whether it has outlines that can be embedded: TrueType or PostScript."""
        return self.is_postscript or ("glyf" in self._font and "loca" in self._font)

    @property
    def is_postscript(self) -> bool:
        """Return whether its outlines are PostScript, as in fonts for Chinese, Japanese and Korean."""
        return "CFF " in self._font

    @property
    def units_per_em(self) -> int:
        """Units of an em."""
        return int(self._font["head"].unitsPerEm)

    @property
    def glyph_bounds(self) -> tuple[int, int, int, int]:
        """The bounding box of all glyphs, in units."""
        head = self._font["head"]
        return head.xMin, head.yMin, head.xMax, head.yMax

    @property
    def ascent_and_descent(self) -> tuple[int, int]:
        """Ascent and descent, in units."""
        return self._font["hhea"].ascent, self._font["hhea"].descent

    def glyph_advance(self, glyph: int) -> int:
        """Return the advance of a glyph, in units."""
        return self._advances[glyph]

    def subset_font(self, glyphs: Iterable[int]) -> bytes:
        """Return the outlines of `glyphs` and of their parts, as a font file or as bare CFF; all keep their numbers."""
        with font_errors(self._name):  # outlines are decoded here
            return self._make_subset(glyphs)

    def _make_subset(self, glyphs: Iterable[int]) -> bytes:
        from fontTools.subset import Options, Subsetter
        from fontTools.ttLib import TTFont

        font = TTFont(io.BytesIO(self._data), fontNumber=0, recalcTimestamp=False)  # no clock: equal bytes each time
        kept = (*KEPT_TABLES, "CFF ") if self.is_postscript else KEPT_TABLES
        subsetter = Subsetter(Options(retain_gids=True, notdef_outline=True))
        subsetter.populate(gids=glyphs)
        for tag in [tag for tag in font.keys() if tag not in (*kept, "GlyphOrder")]:  # noqa: SIM118
            del font[tag]
        subsetter.subset(font)
        if self.is_postscript:
            return bytes(font["CFF "].compile(font))
        file = io.BytesIO()
        font.save(file, reorderTables=None)
        return file.getvalue()


@contextmanager
def font_errors(name: str) -> Iterator[None]:
    """Turn any error of a damaged font into a RequestError."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise RequestError(f"{name!r} is no font, or a damaged one", hint="give a .ttf or .otf file") from error
