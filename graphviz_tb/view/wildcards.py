"""Patterns for names: `**` matches any text, through calls too, `*` any text within one segment, `?` one character;
brackets are literal."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise

import numpy as np

from graphviz_tb.limits import MAX_PATTERN_STEPS
from graphviz_tb.model.columns import Bools

WILDCARD = re.compile(r"\*\*+|\*|\?")
CALL_SEPARATOR = re.compile(r"(?<!:)::(?!:)")  # of a call: a segment ends there, and at a slash
SEGMENT_PATTERN = rf"(?:(?!{CALL_SEPARATOR.pattern})[^/])*"
WILDCARDS = frozenset(("*", "**", "?"))
WILDCARD_CLASSES = {"**": ".", "*": "[^/]", "?": "[^/]"}  # characters that a wildcard matches in a name without calls


class NamePattern:
    """A pattern for names.

    >>> NamePattern("layer_*/att").matches_name("layer_1/att"), NamePattern("conv[1-5]").matches_name("conv[1-5]")
    (True, True)
    """

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []  # wildcards, and letters one by one
        last = 0
        for wildcard in WILDCARD.finditer(text):
            self.tokens += [*text[last : wildcard.start()], wildcard[0][:2]]  # "***" equals "**"
            last = wildcard.end()
        self.tokens += text[last:]
        self._stars = self.tokens.count("*") + self.tokens.count("**")
        self._both = "*" in self.tokens and "**" in self.tokens

    def matches_name(self, name: str) -> bool:
        """Return whether the pattern matches a whole name."""
        if "::" not in name and (not self._both or len(name) ** 2 <= MAX_PATTERN_STEPS):
            return self._linear_regex.fullmatch(name) is not None
        if self._stars < 2 or len(name) ** self._stars <= MAX_PATTERN_STEPS:
            return self._backtracking_regex.fullmatch(name) is not None
        return matches_tokens(self.tokens, name)

    @cached_property
    def _backtracking_regex(self) -> re.Pattern[str]:
        """The pattern as a regular expression, for names short enough that backtracking is cheap."""
        wild = {"**": ".*", "*": SEGMENT_PATTERN, "?": "[^/]"}
        return re.compile("".join(wild.get(token) or re.escape(token) for token in self.tokens), re.DOTALL)

    @cached_property
    def _linear_regex(self) -> re.Pattern[str]:
        """The pattern for names without `::`, without backtracking.

        The text behind a star is matched at its first place: the next star reaches at least as far from there. So is
        everything from one `**` to the next, which is tried at each place.
        """
        parts: list[str] = []
        begun = False
        stars = [at for at, token in enumerate(self.tokens) if token in ("*", "**")]
        for at, end in pairwise((-1, *stars, len(self.tokens))):
            text = "".join(WILDCARD_CLASSES.get(token) or re.escape(token) for token in self.tokens[at + 1 : end])
            if at < 0:
                parts.append(text)
                continue
            star = f"{WILDCARD_CLASSES[self.tokens[at]]}*?{text}"
            if self.tokens[at] == "**":
                parts.append(")" * begun)
                begun = "**" in self.tokens[end:]
                parts.append("(?>" * begun + star)
            else:
                parts.append(f"(?>{star})" if end < len(self.tokens) else star)
        return re.compile("".join(parts), re.DOTALL)


def matches_tokens(tokens: list[str], name: str) -> bool:
    """Return whether tokens match a whole name.

    An integer has a bit for each place up to which the tokens so far match, so that all alternatives advance at once
    (as in Navarro & Raffinot, Flexible pattern matching in strings, 2002).

    >>> (
    ...     matches_tokens(["*", "a", "*", "b"], "a" * 99_999 + "b"),
    ...     matches_tokens(["*", "a"], "a/a"),
    ...     matches_tokens(["**", "a"], "a/a"),
    ... )
    (True, False, True)
    """
    whole = (1 << len(name)) - 1
    points = np.frombuffer(name.encode("utf-32-le", "surrogatepass"), "<u4")
    no_slash = whole & ~bit_mask(points == ord("/"))
    inside = no_slash
    if "::" in name:
        borders = np.zeros(len(name), bool)
        borders[[found.start() for found in CALL_SEPARATOR.finditer(name)]] = True
        inside &= ~bit_mask(borders)
    letters = {letter: bit_mask(points == ord(letter)) for letter in set(tokens) - WILDCARDS}
    ends = 1  # before the first letter
    for token in tokens:
        if token == "**":
            ends = (whole << 1 | 1) & -(ends & -ends)  # all places from the first one on
        elif token == "*":
            # The carry runs through the rest of the segment, up to the place behind it.
            ends |= (inside + (ends & inside)) ^ inside
        else:
            ends = (ends & (no_slash if token == "?" else letters[token])) << 1
    return bool(ends >> len(name) & 1)


def bit_mask(places: Bools) -> int:
    """Return an integer with a bit at each marked place."""
    return int.from_bytes(np.packbits(places, bitorder="little").tobytes(), "little")


def has_wildcards(pattern: str) -> bool:
    """Return whether a pattern can match more than one name."""
    return bool(WILDCARD.search(pattern))
