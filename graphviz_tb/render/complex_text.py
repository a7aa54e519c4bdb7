"""Complex scripts for a writer that places one glyph after the other: Arabic forms, and right-to-left order."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby

# Shape Arabic letters for a writer that places one glyph after the other.
#
# The forms are Unicode's Arabic Presentation Forms (U+FB50 to U+FEFC), the rules those of chapter 9.2 of its standard.
# Of the ligatures only lam with alef, which every word needs.

FORM_RANGE = (0xFB50, 0xFEFC)
LAM, ALEFS = "\u0644", "\u0622\u0623\u0625\u0627"
ALWAYS_JOINING = "\u0640\u200d"  # tatweel and the joiner: letters on both sides join with them


def shape_arabic(text: str, has: Callable[[str], bool]) -> str:
    """Return a text with each Arabic letter in its contextual form; if no font has (`has`) the form, the plain letter
    stays.

    >>> [f"{ord(char):X}" for char in shape_arabic("\u0628\u0628\u0628 \u0644\u0627", lambda form: True)]
    ['FE91', 'FE92', 'FE90', '20', 'FEFB']
    """
    if text.isascii():
        return text
    parts = list(_split_ligatures(text, has))
    solid = [place for place, part in enumerate(parts) if unicodedata.bidirectional(part[0]) != "NSM"]  # no marks
    made = parts.copy()
    for before, place, after in zip([None, *solid], solid, [*solid[1:], None], strict=False):
        behind = (
            before is not None
            and _has_joining_form(parts[before], "initial")
            and _has_joining_form(parts[place], "final")
        )
        ahead = (
            after is not None
            and _has_joining_form(parts[place], "initial")
            and _has_joining_form(parts[after], "final")
        )
        form = ("medial" if ahead else "final") if behind else "initial" if ahead else "isolated"
        shaped = arabic_forms().get(parts[place], {}).get(form, "")
        made[place] = shaped if shaped and has(shaped) else parts[place]
    return "".join(made)


def _split_ligatures(text: str, has: Callable[[str], bool]) -> Iterator[str]:
    """Yield each character, with lam and a following alef as one if there is a glyph for both."""
    waiting = ""
    for char in text:
        if waiting and char in ALEFS and all(map(has, arabic_forms()[waiting + char].values())):
            yield waiting + char
            waiting = ""
            continue
        if waiting:
            yield waiting
        waiting = char if char == LAM else ""
        if not waiting:
            yield char
    if waiting:
        yield waiting


def _has_joining_form(part: str, form: str) -> bool:
    """Return whether a letter has a joining form: "initial" joins with the next letter, "final" with the previous
    one."""
    return part in ALWAYS_JOINING or form in arabic_forms().get(part, {})


@cache
def arabic_forms() -> dict[str, dict[str, str]]:
    """Return the presentation forms by letter (or lam with alef) and name of the form.

    >>> sorted(arabic_forms()["\u0628"]), sorted(arabic_forms()["\u0627"])
    (['final', 'initial', 'isolated', 'medial'], ['final', 'isolated'])
    """
    found: dict[str, dict[str, str]] = {}
    for code in range(FORM_RANGE[0], FORM_RANGE[1] + 1):
        kind, _, codes = unicodedata.decomposition(chr(code)).partition("> ")
        whole = "".join(chr(int(each, 16)) for each in codes.split())
        if len(whole) == 1 or (whole[:1] == LAM and whole[1:] in ALEFS and len(whole) == 2):
            found.setdefault(whole, {})[kind.removeprefix("<")] = chr(code)
    return found


def base_letters(char: str) -> str:
    """Return the letters of a presentation form; any other character is itself.

    >>> base_letters("\ufefb") == "\u0644\u0627", base_letters("…")
    (True, '…')
    """
    return unicodedata.normalize("NFKC", char) if FORM_RANGE[0] <= ord(char) <= FORM_RANGE[1] else char


# Hebrew and Arabic in visual order, for a writer that places one letter after the other.
#
# Unicode's bidirectional algorithm (https://www.unicode.org/reports/tr9/) for a line that begins at the left, without
# embeddings, which no name needs.

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
