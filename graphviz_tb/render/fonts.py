"""The fonts of pictures: Arimo, which measures texts, the font of the extra `cjk`, and files of the user."""

from __future__ import annotations

import io
import logging
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from graphviz_tb.errors import RequestError, ToolError, ToolMissing, short_repr
from graphviz_tb.extras import install_line
from graphviz_tb.model.drawing import Drawing, Label
from graphviz_tb.model.measure import has_all_glyphs
from graphviz_tb.model.notice import Notice

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont

# One font file for a PDF: the glyph of a character, its advance, and a font of only the used glyphs.

# Tables of the OpenType specification (ISO/IEC 14496-22) that a font in a PDF needs, and hints if there are any.
KEPT_TABLES = ("cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep")
REQUIRED_TABLES = ("head", "hhea", "maxp", "hmtx", "cmap")
# Do not print warnings of fontTools; they go to configured loggers only.
logging.getLogger("fontTools").addHandler(logging.NullHandler())


class Typeface:
    """A font: the first of a collection, the default instance of a variable font.

    Raises RequestError if the data is not a font, or a damaged one.
    """

    def __init__(self, data: bytes, name: str = "the font") -> None:
        from fontTools.ttLib import TTFont  # takes 60 ms to import

        self._data, self._name = data, name
        with _font_errors(name):
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
        return self._advances[glyph]

    def subset_font(self, glyphs: Iterable[int]) -> bytes:
        """Return the outlines of `glyphs` and of their parts, as a font file or as bare CFF; all keep their numbers."""
        with _font_errors(self._name):  # this decodes the outlines
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
def _font_errors(name: str) -> Iterator[None]:
    """Turn any error of a damaged font into a RequestError."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise RequestError(f"{name!r} is not a font, or damaged", hint="give a .ttf or .otf file") from error


# The script by the first word of a letter's Unicode name; letters of further scripts are "other".
SCRIPT_NAMES = {
    "HANGUL": "Korean",
    "CJK": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "ARABIC": "Arabic",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "Devanagari",
    "THAI": "Thai",
    "GEORGIAN": "Georgian",
    "ARMENIAN": "Armenian",
    "BENGALI": "Bengali",
    "TAMIL": "Tamil",
    "ETHIOPIC": "Ethiopic",
}
FIRST_EMOJI = 0x1F000  # start of Unicode's blocks of pictures
EAST_ASIAN_SCRIPTS = ("Korean", "Chinese", "Japanese")
CJK_PACKAGE = "noto-cjk-sans-otc"  # installed by the extra `cjk`


def font_files(more: tuple[str, ...], drawing: Drawing) -> list[str]:
    """Return the font files in search order: Arimo, then `more`, then, if a text has letters that Arimo lacks, the font
    of the extra `cjk`."""
    check_fonts(more)
    try:
        import fontpkg_arimo
    except ImportError as error:  # pragma: no cover - it is a dependency
        raise ToolMissing("the font of the pictures is not installed", hint=install_line("fontpkg-arimo")) from error
    # "[[]" is a bracket: Arimo[wght].ttf, not Arimo-Italic.
    own = sorted(Path(fontpkg_arimo.ROOT).glob("files/Arimo[[]*.ttf"))
    return [*map(str, own), *more, *(_cjk_font_files() if _texts_beyond_arimo(drawing) else ())]


def _cjk_font_files() -> list[str]:
    """Return the font of the extra `cjk`, if it is installed.

    One file of 15 MB with all four languages, static, under the Open Font License.
    """
    try:
        return [str(import_module("noto_cjk_sans_otc").FONT_PATH)]
    except ImportError:
        return []


def check_fonts(more: tuple[str, ...]) -> None:
    """Refuse a file that does not exist or is not a font."""
    for name in more:
        read_typeface(name)


def read_typeface(name: str) -> Typeface:
    """Return the font in a file. Raises RequestError if there is none."""
    path = Path(name)
    try:
        if not path.is_file():
            raise RequestError(f"no font file {name!r}")
        return Typeface(path.read_bytes(), name)
    except OSError as error:
        raise ToolError(f"cannot read {short_repr(name)} as a font: {error.strerror}") from None


def _texts_beyond_arimo(drawing: Drawing) -> list[str]:
    """Return the distinct texts with letters that Arimo lacks."""
    texts = (shape.content for shape in drawing.shapes() if isinstance(shape, Label))
    return [text for text in dict.fromkeys(texts) if not has_all_glyphs(text)]


def undrawable_texts(drawing: Drawing, more: tuple[str, ...]) -> dict[str, str]:
    """Return the distinct texts with letters that none of the fonts has, and these letters."""
    strange = _texts_beyond_arimo(drawing)
    if not strange:
        return {}
    have = {code for name in (*more, *_cjk_font_files()) for code in read_typeface(name).glyphs}
    letters = {
        text: "".join(char for char in text if not has_all_glyphs(char) and ord(char) not in have) for text in strange
    }
    return {text: lacked for text, lacked in letters.items() if lacked}


def missing_font_notices(letters: Mapping[str, str], code: str, what: str) -> tuple[Notice, ...]:
    """Return a notice about the texts with letters that no font has: their scripts, the replacement, and a remedy.

    `letters` are the missing letters by text.
    """
    if not letters:
        return ()
    texts = list(letters)
    scripts = list(dict.fromkeys(_script_of(char) for lacked in letters.values() for char in lacked))
    many = f"{len(texts)} texts, such as" if len(texts) > 1 else "the text"
    message = f"no font for the {_join_words(scripts)} letters in {many} {texts[0]!r}: {what} ({_font_hint(scripts)})"
    return (Notice(code, message, texts[0], strict=False),)


def _font_hint(scripts: list[str]) -> str:
    """Return the way to get a font for these scripts: the extra `cjk`, or a file for scripts that it lacks."""
    brought = [] if _cjk_font_files() else [script for script in scripts if script in EAST_ASIAN_SCRIPTS]
    others = [script for script in scripts if script not in brought]
    if brought and others:
        return f"{install_line(CJK_PACKAGE)} for {_join_words(brought)}; --font-file FILE for {_join_words(others)}"
    return f"{install_line(CJK_PACKAGE)}, or --font-file FILE" if brought else "--font-file FILE"


def _join_words(words: list[str]) -> str:
    """Join words as in a sentence.

    >>> _join_words(["Thai"]), _join_words(["Thai", "Tamil", "other"])
    ('Thai', 'Thai, Tamil and other')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _script_of(char: str) -> str:
    """Return the name of a letter's script.

    >>> _script_of("한"), _script_of("あ"), _script_of("م"), _script_of("🙂")
    ('Korean', 'Japanese', 'Arabic', 'emoji')
    """
    if ord(char) >= FIRST_EMOJI and unicodedata.category(char) == "So":
        return "emoji"
    return SCRIPT_NAMES.get(unicodedata.name(char, "").replace("-", " ").split(" ")[0], "other")
