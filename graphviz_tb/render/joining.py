"""Shape Arabic letters for a writer that places one glyph after the other.

The forms are Unicode's Arabic Presentation Forms (U+FB50 to U+FEFC), the rules those of chapter 9.2 of its standard. Of
the ligatures only lam with alef, which every word needs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import cache

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
    parts = list(split_ligatures(text, has))
    solid = [place for place, part in enumerate(parts) if unicodedata.bidirectional(part[0]) != "NSM"]  # no marks
    made = parts.copy()
    for before, place, after in zip([None, *solid], solid, [*solid[1:], None], strict=False):
        behind = (
            before is not None
            and has_joining_form(parts[before], "initial")
            and has_joining_form(parts[place], "final")
        )
        ahead = (
            after is not None and has_joining_form(parts[place], "initial") and has_joining_form(parts[after], "final")
        )
        form = ("medial" if ahead else "final") if behind else "initial" if ahead else "isolated"
        shaped = arabic_forms().get(parts[place], {}).get(form, "")
        made[place] = shaped if shaped and has(shaped) else parts[place]
    return "".join(made)


def split_ligatures(text: str, has: Callable[[str], bool]) -> Iterator[str]:
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


def has_joining_form(part: str, form: str) -> bool:
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
