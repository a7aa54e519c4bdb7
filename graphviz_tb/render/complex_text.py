"""Hebrew and Arabic in visual order, for a writer that places one letter after the other.

Unicode's bidirectional algorithm (https://www.unicode.org/reports/tr9/) for a line that begins at the left, without
embeddings, which no name needs. Letters are not joined: PNG is shaped by its rasteriser, PDF shows them apart.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby

RIGHT_TO_LEFT = ("R", "AL")  # Hebrew and its like; Arabic
NUMBER_CLASSES = ("EN", "AN")
BETWEEN_DIGITS = ("ES", "CS")  # a sign or a point within a number
MIRRORED_BRACKETS = str.maketrans("()[]{}<>«»", ")(][}{><»«")


def visual_order(text: str) -> str:
    """Return a text from left to right as it is seen: runs read from the right are reversed, numbers are not.

    >>> visual_order("אבג abc"), visual_order("אב 12 ג"), visual_order("a(12)")
    ('גבא abc', 'ג 12 בא', 'a(12)')
    """
    if text.isascii():
        return text
    letters = list(_letters_with_marks(text))
    levels = _embedding_levels([unicodedata.bidirectional(letter[0]) for letter in letters])
    letters = [
        letter.translate(MIRRORED_BRACKETS) if level == 1 else letter
        for level, letter in zip(levels, letters, strict=True)
    ]
    placed = list(zip(levels, letters, strict=True))
    for least in (2, 1):  # the innermost runs first, as the rules have it (L2)
        placed = _reverse_runs(placed, least)
    return "".join(letter for _, letter in placed)


def _reverse_runs(placed: Sequence[tuple[int, str]], least: int) -> list[tuple[int, str]]:
    """Reverse each run of letters of at least some level."""
    line: list[tuple[int, str]] = []
    for backwards, entries in groupby(placed, lambda entry: entry[0] >= least):
        run = list(entries)
        line += reversed(run) if backwards else run
    return line


def _letters_with_marks(text: str) -> Iterator[str]:
    """Yield each letter with the marks that follow it.

    >>> [len(letter) for letter in _letters_with_marks("a" + "e\\u0301" + "b")]
    [1, 2, 1]
    """
    letter = ""
    for char in text:
        if letter and unicodedata.bidirectional(char) != "NSM":
            yield letter
            letter = ""
        letter += char
    if letter:
        yield letter


def _embedding_levels(kinds: Sequence[str]) -> list[int]:
    """Return the level of each letter: 0 from left to right, 1 from right to left, 2 a number among the latter.

    >>> _embedding_levels(["R", "WS", "EN", "CS", "EN", "WS", "L", "EN"])
    [1, 1, 2, 2, 2, 0, 0, 0]
    """
    stated: list[int | None] = []
    last = "L"
    for kind in kinds:
        last = kind if kind in ("L", *RIGHT_TO_LEFT) else last
        stated.append(
            int(kind in RIGHT_TO_LEFT)
            if kind == last
            else (2 if last in RIGHT_TO_LEFT else 0)
            if kind in NUMBER_CLASSES
            else None
        )
    before, after = _fill_levels(stated), _fill_levels(stated[::-1])[::-1]
    return [
        level if level is not None else 2 if low == high == 2 and kind in BETWEEN_DIGITS else int(min(low, high) > 0)
        for level, low, high, kind in zip(stated, before, after, kinds, strict=True)
    ]


def _fill_levels(levels: Sequence[int | None]) -> list[int]:
    """Fill unset levels with the previous one; at the beginning, with that of the line."""
    known = 0
    return [known := known if level is None else level for level in levels]
