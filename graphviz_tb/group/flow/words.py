"""Names as words: common beginnings, counters, and the words of a whole level."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property
from string import digits

from graphviz_tb.algorithms.nameless import DIGITS, nameless
from graphviz_tb.group.flow.box import FlowBox

NameWords = tuple[str, ...]

BREAK = re.compile(r"[_.\-\s/:]+")  # between words
# Words of a name; the rest is one more word. Bounds the number of prefixes,
# whose total length is quadratic in the number of words.
MOST_WORDS = 50
LETTERED = re.compile(r"(?<![^_.\-\s/:])[A-Za-z]+[0-9]+[a-z](?![^_.\-\s/:])")  # a whole word, e.g. "block2a"
ALL = 0.8  # of the names of a level begin with the model's name, which distinguishes no parts
COUNTED = re.compile(r"[0-9]+(?:_[0-9]+)*|_[a-z]\Z")  # e.g. "2", Keras's "2_1", and "_b" in "block_2_b"


class Vocabulary:
    """The words of all names of one level, the first `MAX_WORDS` of each.

    A number belongs to the word before it unless that ends in a digit, so that `conv2d, conv2d_1` share no word:
    `block_3_conv` is (`block_3`, `conv`). A letter after a number is a separate word only if the level has the same
    stem with an `a`: `block2a`, `block2b`.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._words: dict[str, NameWords] = {}
        self._started: dict[str, Counter[NameWords]] = {}
        self.generated_names: dict[tuple[str, str], bool] = {}  # see `is_generated_name`

    @cached_property
    def lettered(self) -> set[str]:
        """Words whose last letter is a separate word."""
        lettered = set(LETTERED.findall("\n".join(self._names)))
        return {word for word in lettered if word[:-1] + "a" in lettered}

    def starting(self, words: NameWords) -> int:
        """Count the names that start with these words (at least one)."""
        return self._beginnings(words[0])[words]

    @cached_property
    def model(self) -> NameWords:
        """Words at the start of nearly all names, such as the model's name: they distinguish no parts."""
        least = ALL * self.count
        for first, filed in self._filed.items():
            if len(filed) >= least:  # true for at most one first word
                return max((words for words, many in self._beginnings(first).items() if many >= least), key=len)
        return ()

    def _beginnings(self, first: str) -> Counter[NameWords]:
        """Count the names by the words they start with, for one first word."""
        known = self._started.get(first)
        if known is None:
            filed = self._filed[first]
            known = self._started[first] = Counter(words[:end] for words in filed for end in lengths(words))
        return known

    @cached_property
    def _filed(self) -> dict[str, list[NameWords]]:
        """The words of names, by first word."""
        filed: dict[str, list[NameWords]] = defaultdict(list)
        for words in map(self.words, self._names):
            if words:
                filed[words[0]].append(words)
        return filed

    @property
    def count(self) -> int:
        """Number of names."""
        return len(self._names)

    @cached_property
    def nameless(self) -> bool:
        """Return whether the names are little more than numbers."""
        return nameless(self._names, len(self._names))

    def words(self, name: str) -> NameWords:
        """Split one name into words."""
        known = self._words.get(name)
        if known is None:
            known = self._words[name] = self._split(name)
        return known

    def pattern(self, name: str) -> str:
        """Replace each number in a name by 0, unless numbers decide how names are split.

        Names of one pattern then split into words that only differ in numbers, in any vocabulary prefix.
        """
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
    """Return the possible prefix lengths of some words."""
    return range(1, len(words) + 1)


def form(name: str) -> str:
    """Return a name without its numbers, and without a counting letter.

    >>> form("block_2_b"), form("conv3"), form("block_2_1")
    ('block_##', 'conv#', 'block_#')
    """
    return COUNTED.sub("#", name)


def uncounted(name: str) -> str:
    """Remove the counters at the end of a name.

    >>> uncounted("dense_1_2"), uncounted("dense__1"), uncounted("dense_"), uncounted("12")
    ('dense', 'dense_', 'dense_', '')
    """
    if not name or name[-1] not in digits:
        return name
    bare = name.rstrip(f"{digits}_")
    # Each counter has at most one "_" before it.
    before, twice, _ = name[len(bare) :].rpartition("__")
    return bare + before + twice[:1]


def shared(words: NameWords, other: NameWords) -> int:
    """Return the number of leading words that two names share.

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
