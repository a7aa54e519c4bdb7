"""Letters of Arabic in the forms that they take in a word, for a writer that sets one glyph after the other.

The forms are those that Unicode has as characters of their own (Arabic Presentation Forms, U+FB50 to U+FEFC), the rules
those of chapter 9.2 of its standard. Of ligatures there are those of lam with alef, which every word needs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import cache

FORMS = (0xFB50, 0xFEFC)
LAM, ALEFS = "\u0644", "\u0622\u0623\u0625\u0627"
ALWAYS = "\u0640\u200d"  # what lengthens a word, and the joiner: letters on both sides join with them


def letters_joined(text: str, has: Callable[[str], bool]) -> str:
    """A text with each Arabic letter in the form that it takes between its neighbours; a form that no face has (`has`)
    is left as the letter alone.

    >>> [f"{ord(char):X}" for char in letters_joined("\u0628\u0628\u0628 \u0644\u0627", lambda form: True)]
    ['FE91', 'FE92', 'FE90', '20', 'FEFB']
    """
    if text.isascii():
        return text
    parts = list(letters(text, has))
    solid = [place for place, part in enumerate(parts) if unicodedata.bidirectional(part[0]) != "NSM"]  # no marks
    made = parts.copy()
    for before, place, after in zip([None, *solid], solid, [*solid[1:], None], strict=False):
        behind = before is not None and joins(parts[before], "initial") and joins(parts[place], "final")
        ahead = after is not None and joins(parts[place], "initial") and joins(parts[after], "final")
        form = ("medial" if ahead else "final") if behind else "initial" if ahead else "isolated"
        shaped = forms().get(parts[place], {}).get(form, "")
        made[place] = shaped if shaped and has(shaped) else parts[place]
    return "".join(made)


def letters(text: str, has: Callable[[str], bool]) -> Iterator[str]:
    """Each character, lam with the alef behind it as one where there is a glyph for both."""
    waiting = ""
    for char in text:
        if waiting and char in ALEFS and all(map(has, forms()[waiting + char].values())):
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


def joins(part: str, form: str) -> bool:
    """Whether a letter has a form in which it joins: "initial" with the next one, "final" with the one before."""
    return part in ALWAYS or form in forms().get(part, {})


@cache
def forms() -> dict[str, dict[str, str]]:
    """The characters that are forms of a letter, or of lam with alef, by that and by the name of the form.

    >>> sorted(forms()["\u0628"]), sorted(forms()["\u0627"])
    (['final', 'initial', 'isolated', 'medial'], ['final', 'isolated'])
    """
    found: dict[str, dict[str, str]] = {}
    for code in range(FORMS[0], FORMS[1] + 1):
        kind, _, codes = unicodedata.decomposition(chr(code)).partition("> ")
        whole = "".join(chr(int(each, 16)) for each in codes.split())
        if len(whole) == 1 or (whole[:1] == LAM and whole[1:] in ALEFS and len(whole) == 2):
            found.setdefault(whole, {})[kind.removeprefix("<")] = chr(code)
    return found


def plain(char: str) -> str:
    """The letters that a form is of; any other character is itself.

    >>> plain("\ufefb") == "\u0644\u0627", plain("…")
    (True, '…')
    """
    return unicodedata.normalize("NFKC", char) if FORMS[0] <= ord(char) <= FORMS[1] else char
