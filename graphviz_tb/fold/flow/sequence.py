"""A level as a sequence of elements along its flow, and stretches of it that repeat.

line of boxes   a  b  c  d  b  c  d  e
elements        a [b  c  d][b  c  d] e      an element is one box: a row, a region or a stack
repeat             └─ period 1, count 2 ─┘  of elements, start 1
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from graphviz_tb.fold.flow.box import FlowBox
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.frozen import dataclass

# Candidate periods of a sequence, and the stretches where it repeats itself.
#
# a b c a b c a b      period 3: each word equals the one three places later
#
# In long sequences only some periods are tried: the shortest, and the commonest distances between equal words and equal
# short stretches (compared by hash).

MAX_EXHAUSTIVE_LENGTH = 400  # sequence length below which every period is tried
SHORTEST_PERIODS, COMMONEST_PERIODS = 8, 48  # number of periods tried in longer sequences
STRETCH_LENGTHS = (4, 16)  # lengths of the stretches whose distances are candidates


def number_words(words: Sequence[object]) -> Longs:
    """Number words, equal ones equally."""
    known: dict[object, int] = {}
    return np.array([known.setdefault(word, len(known)) for word in words], np.int64)


def candidate_periods(words: Longs) -> list[int]:
    """Return the periods to try, shortest first."""
    most = len(words) // 2
    if len(words) < MAX_EXHAUSTIVE_LENGTH:
        return list(range(1, most + 1))
    gaps: Counter[int] = Counter()
    for length in (1, *STRETCH_LENGTHS):
        gaps.update(_count_distances(_hash_stretches(words, length)))
    common = sorted(gaps, key=lambda gap: (-gaps[gap], gap))[:COMMONEST_PERIODS]
    return sorted({*(gap for gap in common if gap <= most), *range(1, min(SHORTEST_PERIODS, most) + 1)})


def _hash_stretches(words: Longs, length: int) -> Longs:
    mixed = words.astype(np.uint64)
    for step in range(1, length):
        # Wraps at 2^64. A collision only costs a period tried in vain.
        mixed = mixed[:-1] * np.uint64(1_000_003) ^ words[step:].astype(np.uint64)
    return mixed.view(np.int64)


def _count_distances(words: Longs) -> dict[int, int]:
    """Count the distances between each word and its next occurrence."""
    by_word = np.argsort(words, kind="stable")
    # Sorted by word, then by place: adjacent entries of one word are consecutive occurrences.
    near = words[by_word][1:] == words[by_word][:-1]
    gaps, counts = np.unique(np.diff(by_word)[near], return_counts=True)
    return dict(zip(gaps.tolist(), counts.tolist(), strict=True))


def periodic_stretches(symbols: Longs, period: int) -> list[tuple[int, int]]:
    """Return maximal stretches that repeat with `period`."""
    equal = np.concatenate(([False], symbols[:-period] == symbols[period:], [False]))
    ends = np.flatnonzero(equal[1:] != equal[:-1]).tolist()  # begins and ends of runs of True, alternating
    return [(start, stop + period) for start, stop in zip(ends[::2], ends[1::2], strict=True) if stop - start >= period]


MIN_TAPERING_REPETITIONS = 3  # repetitions with different kernels


def tapering_stretches(words: Longs, plain: Longs, period: int) -> list[tuple[int, int]]:
    """Return maximal stretches that repeat with `period` apart from kernels, if all repetitions have different kernels.

    `plain` are the words without kernels, `words` with kernels. If two repetitions are equal, they are a stage, and the
    stretch does not count.

    >>> plain, period = np.array([0, 1, 0, 1, 0, 1]), 2
    >>> tapering_stretches(np.array([3, 0, 5, 0, 7, 0]), plain, period)
    [(0, 6)]
    >>> tapering_stretches(np.array([3, 0, 3, 0, 7, 0]), plain, period)
    []
    """
    if np.max(words) == np.max(plain):  # only saves time
        return []
    return [
        (start, stop)
        for start, stop in periodic_stretches(plain, period)
        if stop - start >= MIN_TAPERING_REPETITIONS * period and _are_all_unlike(words[start:stop], period)
    ]


def _are_all_unlike(words: Longs, period: int) -> bool:
    """Return whether all complete repetitions of a stretch are different."""
    repetitions = words[: len(words) // period * period].reshape(-1, period)
    return len(set(map(tuple, repetitions.tolist()))) == len(repetitions)


@dataclass(slots=True, eq=False)
class SequenceElement:
    """One box of a sequence.

    symbol    equal for equal structures with equal wiring
    word      compared to find repeats: equal for stacks of one unit, whatever their height
    cut       number of edges that cross the place after it
    fork      it is a region of several boxes
    stage     it is a stage
    side      it is a side output of the element before it
    boxes     the boxes in it, along the flow
    shortcut  its last box also has an input from before the element
    source    it has no inputs
    memory    its result is used by all later elements
    kernels   ids of the kernel sizes in it, None until computed
    """

    box: FlowBox
    symbol: int
    word: object
    cut: int = 0
    fork: bool = False
    stage: bool = False
    side: bool = False
    boxes: Sequence[FlowBox] = ()
    shortcut: bool = False
    source: bool = False
    memory: bool = False
    kernels: frozenset[int] | None = None

    @property
    def is_single_box(self) -> bool:
        """Return whether it is neither a stack nor a stage."""
        return not self.stage and not self.box.is_repetition


FlowElements = Sequence[SequenceElement]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`count` repetitions of `period` elements from place `start` on."""

    start: int
    period: int
    count: int

    @property
    def stop(self) -> int:
        """One past the last element."""
        return self.start + self.period * self.count

    def repetitions(self) -> list[tuple[int, int]]:
        """Return the start and stop of each repetition."""
        return [(start, start + self.period) for start in range(self.start, self.stop, self.period)]
