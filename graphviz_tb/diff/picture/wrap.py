"""A sentence about names on two lines, so that no word is cut that is the answer."""

from __future__ import annotations

import re

from graphviz_tb.model.measure import elide_text, replace_unsafe_characters, text_width

BREAKS = (r"; ", r": ", r" (?=→ )", r" (?=between )", r" ")  # where a line may end, the best first
LINES = 2
WORDS = 10  # times as long as what fits may a text be whose names are made shorter one by one


def wrapped(text: str, most: int, size: int) -> list[str]:
    """`text` on one or two lines of at most `most` pixels. What does not fit loses the middle of its longest names.

    >>> wrapped("a/b/c: rewired; input 1 (second): y → gradients/mean/Size", 200, 11)
    ['a/b/c: rewired; input 1 (second):', 'y → gradients/mean/Size']
    >>> wrapped("scope/inner/kernel → scope/inner/special_kernel: renamed", 150, 11)
    ['scope/inner/kernel', '→ …/special_kernel: renamed']
    >>> wrapped("x: op Relu → Tanh", 200, 11)
    ['x: op Relu → Tanh']
    """
    text = replace_unsafe_characters(text)
    if text_width(text, size) <= most:
        return [text]
    room = LINES * most  # letters: none is narrower than a pixel
    text = " ".join(last_segments(word, room) for word in text.split(" "))
    while len(text) <= WORDS * room:  # what is longer is so for its many words
        # Each round takes one segment from the longest name, until two lines hold all or no name has one left.
        if lines := broken(text, most, size):
            return lines
        shorter = shortened(text)
        if shorter == text:
            break
        text = shorter
    # Nothing fits: at the blank nearest the middle, both lines cut.
    middle = len(text) // 2
    cut = min((lines.start() for lines in re.finditer(" ", text)), key=lambda cut: abs(cut - middle), default=len(text))
    return [elide_text(part, most, size) for part in (text[:cut], text[cut:].strip()) if part]


def last_segments(name: str, letters: int) -> str:
    """A name of more than some letters without its first segments; the last segment stays.

    >>> last_segments("scope/inner/deep", 16), last_segments("scope/inner/deep", 15), last_segments("a/kernel", 3)
    ('scope/inner/deep', '…/inner/deep', '…/kernel')
    """
    if len(name) <= letters or "/" not in name:
        return name
    return "…/" + (name[1 - letters :].partition("/")[2] or name.rpartition("/")[2])


def broken(text: str, most: int, size: int) -> list[str]:
    """Break `text` at the best place into two lines that fit; [] where there is none."""
    if text_width(text, size) <= most:
        return [text]
    if len(text) > LINES * most:
        return []
    for break_ in BREAKS:
        for match in reversed(list(re.finditer(break_, text))):
            lines = [text[: match.end()].rstrip(), text[match.end() :]]
            if " " in lines[1] and all(text_width(line, size) <= most for line in lines):
                return lines
    return []


def shortened(text: str) -> str:
    """`text` with one segment less in its longest name; the last segment stays.

    >>> shortened("a → scope/inner/deep/kernel"), shortened("…/deep/kernel"), shortened("…/kernel")
    ('a → …/inner/deep/kernel', '…/kernel', '…/kernel')
    """
    names = [word for word in text.split(" ") if "/" in word.removeprefix("…/")]
    if not names:
        return text
    longest = max(names, key=len)
    return text.replace(longest, "…/" + longest.removeprefix("…/").partition("/")[2], 1)
