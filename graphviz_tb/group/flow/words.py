"""Names as words: common beginnings, counters, and the words of a whole level."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property
from string import digits

from graphviz_tb.algorithms.nameless import NUMBER_IN_NAME, are_names_numbers
from graphviz_tb.group.flow.box import FlowBox

NameWords = tuple[str, ...]

WORD_BREAK = re.compile(r"[_.\-\s/:]+")  # between words
# Words of a name; the rest is one more word. Bounds the number of prefixes,
# whose total length is quadratic in the number of words.
MAX_WORDS = 50
LETTERED_WORD = re.compile(r"(?<![^_.\-\s/:])[A-Za-z]+[0-9]+[a-z](?![^_.\-\s/:])")  # a whole word, e.g. "block2a"
MODEL_NAME_SHARE = 0.8  # of the names of a level begin with the model's name, which distinguishes no parts
COUNTER_IN_NAME = re.compile(r"[0-9]+(?:_[0-9]+)*|_[a-z]\Z")  # e.g. "2", Keras's "2_1", and "_b" in "block_2_b"


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
    def lettered_words(self) -> set[str]:
        """Words whose last letter is a separate word."""
        lettered = set(LETTERED_WORD.findall("\n".join(self._names)))
        return {word for word in lettered if word[:-1] + "a" in lettered}

    def count_starting(self, words: NameWords) -> int:
        """Count the names that start with these words (at least one)."""
        return self._count_beginnings(words[0])[words]

    @cached_property
    def model_words(self) -> NameWords:
        """Words at the start of nearly all names, such as the model's name: they distinguish no parts."""
        least = MODEL_NAME_SHARE * self.name_count
        for first, filed in self._words_by_first.items():
            if len(filed) >= least:  # true for at most one first word
                return max((words for words, many in self._count_beginnings(first).items() if many >= least), key=len)
        return ()

    def _count_beginnings(self, first: str) -> Counter[NameWords]:
        """Count the names by the words they start with, for one first word."""
        known = self._started.get(first)
        if known is None:
            filed = self._words_by_first[first]
            known = self._started[first] = Counter(words[:end] for words in filed for end in prefix_lengths(words))
        return known

    @cached_property
    def _words_by_first(self) -> dict[str, list[NameWords]]:
        """The words of names, by first word."""
        filed: dict[str, list[NameWords]] = defaultdict(list)
        for words in map(self.name_words, self._names):
            if words:
                filed[words[0]].append(words)
        return filed

    @property
    def name_count(self) -> int:
        """Number of names."""
        return len(self._names)

    @cached_property
    def is_nameless(self) -> bool:
        """Return whether the names are little more than numbers."""
        return are_names_numbers(self._names, len(self._names))

    def name_words(self, name: str) -> NameWords:
        """Split one name into words."""
        known = self._words.get(name)
        if known is None:
            known = self._words[name] = self._split_words(name)
        return known

    def digit_pattern(self, name: str) -> str:
        """Replace each number in a name by 0, unless numbers decide how names are split.

        Names of one pattern then split into words that only differ in numbers, in any vocabulary prefix.
        """
        return NUMBER_IN_NAME.sub("0", name) if self._ignores_numbers else name

    @cached_property
    def _ignores_numbers(self) -> bool:
        return not self.model_words and not self.lettered_words

    def _split_words(self, name: str) -> NameWords:
        before, _, number = name.rpartition("_")
        if name.isalpha() or (before.isalpha() and number.isdigit()):  # only saves time: most are "mul" or "mul_12"
            return (name,)
        words: list[str] = []
        for word in WORD_BREAK.split(name, MAX_WORDS):
            if not word:
                continue
            if word.isdigit() and words and not words[-1][-1].isdigit():
                words[-1] += "_" + word
            elif word in self.lettered_words:
                words += [word[:-1], word[-1]]
            else:
                words.append(word)
        return tuple(words)


def prefix_lengths(words: NameWords) -> range:
    """Return the possible prefix lengths of some words."""
    return range(1, len(words) + 1)


def name_form(name: str) -> str:
    """Return a name without its numbers, and without a counting letter.

    >>> name_form("block_2_b"), name_form("conv3"), name_form("block_2_1")
    ('block_##', 'conv#', 'block_#')
    """
    return COUNTER_IN_NAME.sub("#", name)


def strip_counters(name: str) -> str:
    """Remove the counters at the end of a name.

    >>> strip_counters("dense_1_2"), strip_counters("dense__1"), strip_counters("dense_"), strip_counters("12")
    ('dense', 'dense_', 'dense_', '')
    """
    if not name or name[-1] not in digits:
        return name
    bare = name.rstrip(f"{digits}_")
    # Each counter has at most one "_" before it.
    before, twice, _ = name[len(bare) :].rpartition("__")
    return bare + before + twice[:1]


def shared_prefix_length(words: NameWords, other: NameWords) -> int:
    """Return the number of leading words that two names share.

    >>> shared_prefix_length(("block_1", "conv"), ("block_1", "relu"))
    1
    """
    count = 0
    for ours, theirs in zip(words, other, strict=False):
        if ours != theirs:
            break
        count += 1
    return count


def common_words(vocabulary: Vocabulary, boxes: Iterable[FlowBox]) -> NameWords:
    """Return the words that the names of all rows inside begin with."""
    shared_words: NameWords | None = None
    todo = list(boxes)
    while todo and shared_words != ():
        box = todo.pop()
        if box.members:
            todo.extend(box.members)
            continue
        words = vocabulary.name_words(box.name)
        shared_words = words if shared_words is None else shared_words[: shared_prefix_length(shared_words, words)]
    return shared_words or ()
