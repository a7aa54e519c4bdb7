"""Names as words: what they begin with, and which of them belong together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from graphviz_tb.algorithms.nameless import nameless
from graphviz_tb.group.flow.box import FlowBox

NameWords = tuple[str, ...]

BREAK = re.compile(r"[_.\-\s/:]+")  # between words
# Of a name; the rest is one more. No name that a person reads has as many, and all beginnings of a name of thousands
# take the square of their number.
MOST_WORDS = 50
LETTERED = re.compile(r"[A-Za-z]+[0-9]+[a-z]")  # e.g. "block2a"
COUNTED = re.compile(r"[0-9]+(?:_[0-9]+)*|_[a-z]\Z")  # e.g. "2", Keras's "2_1", and "_b" in "block_2_b"


class Vocabulary:
    """The words of all names of one level, the first `MOST_WORDS` of each.

    A number belongs to the word before it unless that ends in a digit, so that `conv2d, conv2d_1` share no word:
    `block_3_conv` is (`block_3`, `conv`). A letter behind a number is a separate word only where the same stem has an
    `a`: `block2a`, `block2b`.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._words: dict[str, NameWords] = {}

    @cached_property
    def lettered(self) -> set[str]:
        """Words whose last letter is a separate word."""
        lettered = {word for name in self._names for word in BREAK.split(name) if LETTERED.fullmatch(word)}
        return {word for word in lettered if word[:-1] + "a" in lettered}

    @cached_property
    def starting(self) -> Counter[NameWords]:
        """How many names start with some words."""
        return Counter(words[:end] for name in self._names for words in [self.words(name)] for end in lengths(words))

    @property
    def count(self) -> int:
        """How many names there are."""
        return len(self._names)

    @cached_property
    def nameless(self) -> bool:
        """Whether the names are little else than numbers."""
        return nameless(self._names, len(self._names))

    def words(self, name: str) -> NameWords:
        """The words of one name."""
        known = self._words.get(name)
        if known is None:
            known = self._words[name] = self._split(name)
        return known

    def _split(self, name: str) -> NameWords:
        words: list[str] = []
        for word in BREAK.split(name, MOST_WORDS):
            if not word:
                continue
            if word.isdigit() and words and not words[-1][-1].isdigit():
                words[-1] += "_" + word
            elif word in self.lettered:
                words += [word[:-1], word[-1]]
            else:
                words.append(word)
        return tuple(words)


def lengths(words: NameWords) -> range:
    """How many words a beginning of some words can have."""
    return range(1, len(words) + 1)


def form(name: str) -> str:
    """A name without its numbers, and without a letter that counts.

    >>> form("block_2_b"), form("conv3"), form("block_2_1")
    ('block_##', 'conv#', 'block_#')
    """
    return COUNTED.sub("#", name)


def shared(words: NameWords, other: NameWords) -> int:
    """How many words two names begin with alike.

    >>> shared(("block_1", "conv"), ("block_1", "relu"))
    1
    """
    count = 0
    for ours, theirs in zip(words, other, strict=False):
        if ours != theirs:
            break
        count += 1
    return count


def common(vocabulary: Vocabulary, boxes: Iterable[FlowBox]) -> NameWords:
    """Return the words that the names of all rows inside begin with."""
    shared_words: NameWords | None = None
    todo = list(boxes)
    while todo and shared_words != ():
        box = todo.pop()
        if box.members:
            todo.extend(box.members)
            continue
        words = vocabulary.words(box.name)
        shared_words = words if shared_words is None else shared_words[: shared(shared_words, words)]
    return shared_words or ()
