"""Text width, from the advances of the font of the pictures; and shortening text to fit.

All numbers are integers: advances in 1/2048 em, widths in pixels rounded up. Characters that the font lacks have the
width of a fallback font: one em if wide, nothing if combining, else three quarters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from functools import cache, lru_cache
from pkgutil import get_data

UNITS_PER_EM = 2048  # units of the font, Arimo
# of characters missing from the font; wider than most letters of any script
MISSING_GLYPH_ADVANCE = UNITS_PER_EM * 3 // 4
EMOJI_ADVANCE = UNITS_PER_EM * 5 // 4  # emoji fonts draw wider than one em
ELLIPSIS = "…"
WORDS_DOT = " · "  # between words of a label
NODE_FONT_PX, OP_FONT_PX, SMALL_FONT_PX = 12, 11, 10  # px: names of groups, names of ops, all other text
LONG_TEXT_LETTERS = 500  # above this many letters, counting equal letters is faster
TRAILING_NUMBER = re.compile(r"( ×[\d,]{1,9}|\[\d+-\d+\]|[_-]?\d{1,8}|_\(\d+\))$")  # " ×4", "[1-5]", "_12", "_(2)"
# Never drawn, whatever a file contains: control characters, line ends, reversed text, halves of a surrogate pair.
DANGEROUS_CHARACTERS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
UNSAFE_PATTERN = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029{DANGEROUS_CHARACTERS}]")


@cache
def advance_tables() -> dict[str, str]:
    """Return the tables of `advances.txt`, by name."""
    text = (get_data(__name__, "advances.txt") or b"").decode()
    parts = (part.partition("]\n") for part in text.split("\n[")[1:])
    return {name: body for name, _, body in parts}


@cache
def font_advances(semibold: bool) -> dict[str, int]:
    """Return the advance of each character of the font, in 1/2048 em."""
    advance_of: dict[str, int] = {}
    # A line: the first code point in hexadecimal, then an advance for it and for each one after it.
    lines = advance_tables()["SEMIBOLD" if semibold else "REGULAR"].replace("\n ", " ").splitlines()
    for line in lines:
        first, *widths = line.split()
        code = int(first, 16)
        advance_of.update(zip(map(chr, range(code, code + len(widths))), map(int, widths), strict=True))
    return advance_of


@cache
def _code_ranges(name: str) -> tuple[list[int], list[int]]:
    pairs = [word.split("-") for word in advance_tables()[name].split()]
    return [int(first, 16) for first, _ in pairs], [int(last, 16) for _, last in pairs]


def _is_in_code_range(name: str, code: int) -> bool:
    """Return whether a code point is in one of the ranges "WIDE" or "NARROW".

    >>> _is_in_code_range("WIDE", ord("한")), _is_in_code_range("NARROW", 0x301), _is_in_code_range("WIDE", ord("a"))
    (True, True, False)
    """
    firsts, lasts = _code_ranges(name)
    index = bisect_right(firsts, code) - 1  # the last range that begins at or before it
    return index >= 0 and code <= lasts[index]


@lru_cache(maxsize=65536)
def advance_of(char: str, semibold: bool) -> int:
    code = ord(char)
    if _is_in_code_range("NARROW", code):
        return 0
    known = font_advances(semibold).get(char)
    if known is not None:
        return known
    if 0x1F000 <= code < 0x1FB00:
        return EMOJI_ADVANCE
    return UNITS_PER_EM if _is_in_code_range("WIDE", code) else MISSING_GLYPH_ADVANCE


@lru_cache(maxsize=65536)
def text_width(text: str, size: int, semibold: bool = False) -> int:
    """Return the width of `text` at `size`, in pixels, rounded up.

    >>> text_width("conv1", 12), text_width("conv1", 12, semibold=True), text_width("합성곱", 12)
    (33, 34, 36)
    """
    if len(text) > LONG_TEXT_LETTERS:  # each letter is looked up once: names may have a million
        return -(
            -sum(times * advance_of(char, semibold) for char, times in Counter(text).items()) * size // UNITS_PER_EM
        )
    return -(-sum(advance_of(char, semibold) for char in text) * size // UNITS_PER_EM)


def has_all_glyphs(text: str) -> bool:
    """Return whether the font has a glyph for every character of `text` that needs one.

    >>> has_all_glyphs("conv_1…"), has_all_glyphs("층")
    (True, False)
    """
    glyphs = font_advances(False)
    return all(char in glyphs or _is_in_code_range("NARROW", ord(char)) for char in text)


def replace_unsafe_characters(text: str) -> str:
    """Return `text` as one drawable line: control and direction characters become U+FFFD.

    >>> replace_unsafe_characters("a\\nb\\x00")
    'a�b�'
    """
    return UNSAFE_PATTERN.sub("\N{REPLACEMENT CHARACTER}", text)


def truncate_text(text: str, most: int) -> str:
    """Truncate `text` to at most `most` characters, with an ellipsis at the end.

    >>> truncate_text("abcdef", 6), truncate_text("abcdefg", 6)
    ('abcdef', 'abcde…')
    """
    return text if len(text) <= most else text[: most - 1] + ELLIPSIS


def truncate_middle(text: str, most: int) -> str:
    """Truncate `text` to at most `most` characters, with an ellipsis between head and tail.

    >>> truncate_middle("abcdef", 6), truncate_middle("abcdefg", 6), truncate_middle("abcdefg", 5)
    ('abcdef', 'abc…fg', 'ab…fg')
    """
    return text if len(text) <= most else f"{text[: most // 2]}{ELLIPSIS}{text[len(text) - (most - 1) // 2 :]}"


@lru_cache(maxsize=65536)
def elide_text(text: str, limit: int, size: int, semibold: bool = False, whole_words: bool = True) -> str:
    """Truncate `text` to at most `limit` pixels, with an ellipsis between head and tail.

    The number at the end stays: it distinguishes `conv2d_bias_1` from `conv2d_bias_12`. With `whole_words`, words
    between dots are dropped from the end.

    >>> elide_text("batch_normalization_12", 100, 12)
    'batch_no…ion_12'
    >>> elide_text("3 Conv2D · 2 norm ×9", 100, 12), elide_text("conv1", 100, 12)
    ('3 Conv2D · … ×9', 'conv1')
    """
    if text_width(text, size, semibold) <= limit:
        return text
    room = limit * UNITS_PER_EM // size - advance_of(ELLIPSIS, semibold)
    number = TRAILING_NUMBER.search(text)
    trailing_number = number.group() if number else ""
    words = text.split(WORDS_DOT) if whole_words else []
    while len(words) > 1:
        words.pop()
        shorter = f"{WORDS_DOT.join(words)}{WORDS_DOT}{ELLIPSIS}{trailing_number}"
        if text_width(shorter, size, semibold) <= limit:
            return shorter
    number_width = sum(advance_of(char, semibold) for char in trailing_number)
    if number_width * 2 > room:  # a number wider than half would leave no name
        trailing_number, number_width = "", 0
    middle = text[: len(text) - len(trailing_number)]
    tail = _tail(middle, (room - number_width) // 4, semibold)
    used = number_width + sum(advance_of(char, semibold) for char in tail)
    head = _head(middle[: len(middle) - len(tail)], room - used, semibold)
    return f"{head}{ELLIPSIS}{tail}{trailing_number}"


def elide_ends(text: str, head: int, tail: int, limit: int, size: int) -> str:
    """Shorten only the first `head` and the last `tail` characters, so that `text` takes at most `limit` pixels.

    >>> elide_ends("while_pushback_2_while_cond_2_accumulator", 15, 12, 130, 11)
    'whil…2_while_cond_2…r'
    """
    kept = text[head : len(text) - tail]
    room = limit * UNITS_PER_EM // size - sum(advance_of(char, False) for char in kept)
    room -= advance_of(ELLIPSIS, False) * ((head > 0) + (tail > 0))
    if room < 0:
        return elide_text(f"{ELLIPSIS}{kept}" if head else kept, limit, size)
    end = _tail(text[len(text) - tail :], room // 4, False)
    begin = _head(text[:head], room - sum(advance_of(char, False) for char in end), False)
    return begin + (ELLIPSIS if head > len(begin) else "") + kept + (ELLIPSIS if tail > len(end) else "") + end


def _head(text: str, room: int, semibold: bool) -> str:
    """Return the longest prefix that fits, not cut before a combining character."""
    stop = 0
    for char in text:
        room -= advance_of(char, semibold)
        if room < 0:
            break
        stop += 1
    while 0 < stop < len(text) and joins_previous_character(text, stop):
        stop -= 1
    return text[:stop]


def _tail(text: str, room: int, semibold: bool) -> str:
    """Return the longest suffix that fits, not cut before a combining character."""
    start = len(text)
    while start and (room := room - advance_of(text[start - 1], semibold)) >= 0:
        start -= 1
    while start < len(text) and joins_previous_character(text, start):
        start += 1
    return text[start:]


def joins_previous_character(text: str, index: int) -> bool:
    """Return whether the character at `index` combines with, or is joined to, the one before it.

    >>> joins_previous_character("e\\u0301", 1), joins_previous_character("ab", 1)
    (True, False)
    """
    return _is_in_code_range("NARROW", ord(text[index])) or text[index - 1] == "\N{ZERO WIDTH JOINER}"


def group_thousands(number: int) -> str:
    """Format a count with thin spaces between its thousands.

    >>> group_thousands(12670), group_thousands(999)
    ('12\\u2009670', '999')
    """
    return f"{number:,}".replace(",", "\N{THIN SPACE}")
