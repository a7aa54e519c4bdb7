"""Patterns for names: `**` any text, through calls too, `*` any text within one segment, `?` one character; brackets
are literal."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise

import numpy as np

from graphviz_tb.limits import PATTERN_STEPS
from graphviz_tb.model.columns import Bools

WILD = re.compile(r"\*\*+|\*|\?")
BORDER = re.compile(r"(?<!:)::(?!:)")  # of a call: a segment ends there, and at a slash
SEGMENT = rf"(?:(?!{BORDER.pattern})[^/])*"
WORDS = frozenset(("*", "**", "?"))
ANY = {"**": ".", "*": "[^/]", "?": "[^/]"}  # what a wild card takes of a name that goes through no call


class Pattern:
    """A pattern for names.

    >>> Pattern("layer_*/att").matches("layer_1/att"), Pattern("conv[1-5]").matches("conv[1-5]")
    (True, True)
    """

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []  # wild cards, and letters one by one
        last = 0
        for wildcard in WILD.finditer(text):
            self.tokens += [*text[last : wildcard.start()], wildcard[0][:2]]  # "***" is as "**"
            last = wildcard.end()
        self.tokens += text[last:]
        self._stars = self.tokens.count("*") + self.tokens.count("**")
        self._both = "*" in self.tokens and "**" in self.tokens

    def matches(self, name: str) -> bool:
        """Whether the pattern is one of a whole name."""
        if "::" not in name and (not self._both or len(name) ** 2 <= PATTERN_STEPS):
            return self._straight.fullmatch(name) is not None
        if self._stars < 2 or len(name) ** self._stars <= PATTERN_STEPS:
            return self._regex.fullmatch(name) is not None
        return read(self.tokens, name)

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        """The pattern as a regular expression, for names short enough that backtracking is cheap."""
        wild = {"**": ".*", "*": SEGMENT, "?": "[^/]"}
        return re.compile("".join(wild.get(token) or re.escape(token) for token in self.tokens), re.DOTALL)

    @cached_property
    def _straight(self) -> re.Pattern[str]:
        """The pattern for names without `::`, trying nothing twice: the text behind a star is taken where it comes
        first, for the next star reaches from there whatever it would reach from farther on. So is all from one `**`
        to the next, of which each place is tried as a beginning."""
        parts: list[str] = []
        begun = False
        stars = [at for at, token in enumerate(self.tokens) if token in ("*", "**")]
        for at, end in pairwise((-1, *stars, len(self.tokens))):
            text = "".join(ANY.get(token) or re.escape(token) for token in self.tokens[at + 1 : end])
            if at < 0:
                parts.append(text)
                continue
            star = f"{ANY[self.tokens[at]]}*?{text}"
            if self.tokens[at] == "**":
                parts.append(")" * begun)
                begun = "**" in self.tokens[end:]
                parts.append("(?>" * begun + star)
            else:
                parts.append(f"(?>{star})" if end < len(self.tokens) else star)
        return re.compile("".join(parts), re.DOTALL)


def read(tokens: list[str], name: str) -> bool:
    """Whether a pattern is one of a whole name, token by token: a number has a bit for each place up to which the
    tokens so far can be read, so that all ways are followed at once (as in Navarro & Raffinot, Flexible pattern
    matching in strings, 2002).

    >>> read(["*", "a", "*", "b"], "a" * 99_999 + "b"), read(["*", "a"], "a/a"), read(["**", "a"], "a/a")
    (True, False, True)
    """
    whole = (1 << len(name)) - 1
    points = np.frombuffer(name.encode("utf-32-le", "surrogatepass"), "<u4")
    no_slash = whole & ~bits(points == ord("/"))
    inside = no_slash
    if "::" in name:
        borders = np.zeros(len(name), bool)
        borders[[found.start() for found in BORDER.finditer(name)]] = True
        inside &= ~bits(borders)
    letters = {letter: bits(points == ord(letter)) for letter in set(tokens) - WORDS}
    ends = 1  # nothing is read yet
    for token in tokens:
        if token == "**":
            ends = (whole << 1 | 1) & -(ends & -ends)  # from the first of these places on, all
        elif token == "*":
            # A one is carried on through the rest of the segment, up to the place behind it.
            ends |= (inside + (ends & inside)) ^ inside
        else:
            ends = (ends & (no_slash if token == "?" else letters[token])) << 1
    return bool(ends >> len(name) & 1)


def bits(places: Bools) -> int:
    """A number with a bit at each place that is marked."""
    return int.from_bytes(np.packbits(places, bitorder="little").tobytes(), "little")


def is_wild(pattern: str) -> bool:
    """Whether a pattern can match more than one name."""
    return bool(WILD.search(pattern))
