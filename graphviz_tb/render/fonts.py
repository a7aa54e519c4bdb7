"""The fonts of pictures: the one used for measuring, one for Chinese, Japanese and Korean from the extra `cjk`, and
files given by the user."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from graphviz_tb.errors import RequestError, ToolError, ToolMissing, short_repr
from graphviz_tb.model.drawing import Drawing, Label
from graphviz_tb.model.measure import has_all_glyphs
from graphviz_tb.model.notice import Notice
from graphviz_tb.render.typeface import Typeface

# First words of Unicode's names of letters, and the script's name; all others are "other" letters.
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
    """Return the font files in search order: Arimo, the given ones, and, if a text has letters that Arimo lacks, the
    font of the extra `cjk`."""
    check_fonts(more)
    try:
        import fontpkg_arimo
    except ImportError as error:  # pragma: no cover - it is a dependency
        raise ToolMissing("the font of the pictures is not installed", hint="pip install fontpkg-arimo") from error
    # "[[]" is a bracket: Arimo[wght].ttf, not Arimo-Italic.
    own = sorted(Path(fontpkg_arimo.ROOT).glob("files/Arimo[[]*.ttf"))
    return [*map(str, own), *more, *(cjk_font_files() if texts_beyond_arimo(drawing) else ())]


def cjk_font_files() -> list[str]:
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


def texts_beyond_arimo(drawing: Drawing) -> list[str]:
    """Return the distinct texts with letters that Arimo lacks."""
    texts = (shape.content for shape in drawing.shapes() if isinstance(shape, Label))
    return [text for text in dict.fromkeys(texts) if not has_all_glyphs(text)]


def undrawable_texts(drawing: Drawing, more: tuple[str, ...]) -> dict[str, str]:
    """Return the distinct texts with letters that none of the fonts has, and these letters."""
    strange = texts_beyond_arimo(drawing)
    if not strange:
        return {}
    have = {code for name in (*more, *cjk_font_files()) for code in read_typeface(name).glyphs}
    letters = {
        text: "".join(char for char in text if not has_all_glyphs(char) and ord(char) not in have) for text in strange
    }
    return {text: lacked for text, lacked in letters.items() if lacked}


def missing_font_notices(letters: Mapping[str, str], code: str, what: str) -> tuple[Notice, ...]:
    """Return a notice of the texts with letters that no font has: their scripts, what is drawn instead, and what helps.

    `letters` are the missing letters by text.
    """
    if not letters:
        return ()
    texts = list(letters)
    scripts = list(dict.fromkeys(script_of(char) for lacked in letters.values() for char in lacked))
    many = f"{len(texts)} texts, such as" if len(texts) > 1 else "the text"
    message = f"no font for the {join_words(scripts)} letters in {many} {texts[0]!r}: {what} ({font_hint(scripts)})"
    return (Notice(code, message, texts[0], strict=False),)


def font_hint(scripts: list[str]) -> str:
    """Return how to get a font for these scripts: the extra `cjk` for its own, a file for any other."""
    brought = [] if cjk_font_files() else [one for one in scripts if one in EAST_ASIAN_SCRIPTS]
    others = [one for one in scripts if one not in brought]
    if brought and others:
        return f"pip install {CJK_PACKAGE} for {join_words(brought)}; --font-file FILE for {join_words(others)}"
    return f"pip install {CJK_PACKAGE}, or --font-file FILE" if brought else "--font-file FILE"


def join_words(words: list[str]) -> str:
    """Join words as in a sentence.

    >>> join_words(["Thai"]), join_words(["Thai", "Tamil", "other"])
    ('Thai', 'Thai, Tamil and other')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def script_of(char: str) -> str:
    """Return the name of a letter's script.

    >>> script_of("한"), script_of("あ"), script_of("م"), script_of("🙂")
    ('Korean', 'Japanese', 'Arabic', 'emoji')
    """
    if ord(char) >= FIRST_EMOJI and unicodedata.category(char) == "So":
        return "emoji"
    return SCRIPT_NAMES.get(unicodedata.name(char, "").replace("-", " ").split(" ")[0], "other")
