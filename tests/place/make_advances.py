"""Makes graphviz_tb/model/advances.txt from the Arimo font: `python tests/place/make_advances.py`.

The wide and zero-width ranges come from this Python's Unicode
tables and are written down, so that every Python measures alike.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

TARGET = Path(__file__).parents[2] / "graphviz_tb" / "model" / "advances.txt"
WEIGHTS = {"REGULAR": 400, "SEMIBOLD": 600}
HEAD = """\
# Advances of the Arimo font in 1/2048 em, and which characters are wide or have no width.
# Made by tests/place/make_advances.py; do not edit. A line of a font table is a first character (hexadecimal) and the
# advances of it and those that follow it; a line that begins with a space goes on with the one before. The other
# tables are ranges of characters, both ends included.
"""


def advances(weight: int) -> dict[int, int]:
    """The advance of every character of Arimo at one weight, in 1/2048 em."""
    from fontpkg_arimo import ROOT
    from fontTools.ttLib import TTFont
    from fontTools.varLib.instancer import instantiateVariableFont

    font = instantiateVariableFont(TTFont(ROOT / "files" / "Arimo[wght].ttf"), {"wght": weight})
    metrics = font["hmtx"].metrics
    return {code: metrics[glyph][0] for code, glyph in font.getBestCmap().items() if code >= 0x20}


def runs(codes: list[int]) -> Iterator[list[int]]:
    """Cut a sorted list into runs without a hole."""
    run: list[int] = []
    for code in codes:
        if run and code != run[-1] + 1:
            yield run
            run = []
        run.append(code)
    if run:
        yield run


def wrapped(words: list[str], limit: int = 108) -> Iterator[str]:
    """Set words in lines; a line that goes on begins with a space."""
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > limit:
            yield line
            line = ""
        line = f"{line} {word}" if line else word if word is words[0] else f" {word}"
    yield line


def font_table(name: str, weight: int) -> Iterator[str]:
    """The lines of one font table."""
    table = advances(weight)
    yield f"[{name}]"
    for run in runs(sorted(table)):
        yield from wrapped([f"{run[0]:x}", *(str(table[code]) for code in run)])


def range_table(name: str, holds: Callable[[str], bool]) -> Iterator[str]:
    """The lines of one table of ranges."""
    codes = [code for code in range(0x20, 0x110000) if not 0xD800 <= code < 0xE000 and holds(chr(code))]
    yield f"[{name}]"
    yield from (line.strip() for line in wrapped([f"{run[0]:x}-{run[-1]:x}" for run in runs(codes)]))


def document() -> str:
    """The whole file."""
    lines: list[str] = []
    for name, weight in WEIGHTS.items():
        lines += font_table(name, weight)
    lines += range_table("WIDE", lambda char: unicodedata.east_asian_width(char) in "WF")
    lines += range_table("NARROW", lambda char: unicodedata.category(char) in ("Mn", "Me", "Cf"))
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name} written\n")
