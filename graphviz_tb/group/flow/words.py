"""Names as words: what they begin with, and which of them belong together."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property

from graphviz_tb.algorithms.nameless import DIGITS, nameless
from graphviz_tb.group.flow.box import FlowBox

NameWords = tuple[str, ...]

BREAK = re.compile(r"[_.\-\s/:]+")  # between words
# Of a name; the rest is one more. No name that a person reads has as many, and all beginnings of a name of thousands
# take the square of their number.
MOST_WORDS = 50
LETTERED = re.compile(r"(?<![^_.\-\s/:])[A-Za-z]+[0-9]+[a-z](?![^_.\-\s/:])")  # a whole word, e.g. "block2a"
ALL = 0.8  # of the names of a level that begin with a word: it is the model's name and does not distinguish its parts
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
        self._started: dict[str, Counter[NameWords]] = {}
        self.given: dict[tuple[str, str], bool] = {}  # see `given.given`

    @cached_property
    def lettered(self) -> set[str]:
        """Words whose last letter is a separate word."""
        lettered = set(LETTERED.findall("\n".join(self._names)))
        return {word for word in lettered if word[:-1] + "a" in lettered}

    def starting(self, words: NameWords) -> int:
        """How many names start with some words, one or more."""
        return self._beginnings(words[0])[words]

    @cached_property
    def model(self) -> NameWords:
        """The words that nearly all names start with, as those of a model's own name: they say nothing about a part."""
        least = ALL * self.count
        for first, filed in self._filed.items():
            if len(filed) >= least:  # of one first word at most
                return max((words for words, many in self._beginnings(first).items() if many >= least), key=len)
        return ()

    def _beginnings(self, first: str) -> Counter[NameWords]:
        """How many names start with some words of which this is the first."""
        known = self._started.get(first)
        if known is None:
            filed = self._filed[first]
            known = self._started[first] = Counter(words[:end] for words in filed for end in lengths(words))
        return known

    @cached_property
    def _filed(self) -> dict[str, list[NameWords]]:
        """The words of names by the first of them."""
        filed: dict[str, list[NameWords]] = defaultdict(list)
        for words in map(self.words, self._names):
            if words:
                filed[words[0]].append(words)
        return filed

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

    def pattern(self, name: str) -> str:
        """A name with 0 for each number, unless these decide what its words are: names of one pattern differ in no more
        than numbers at the same places of the same words, whatever nearly all names start with."""
        return DIGITS.sub("0", name) if self._plain else name

    @cached_property
    def _plain(self) -> bool:
        return not self.model and not self.lettered

    def _split(self, name: str) -> NameWords:
        before, _, number = name.rpartition("_")
        if name.isalpha() or (before.isalpha() and number.isdigit()):  # only saves time: most are "mul" or "mul_12"
            return (name,)
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
