"""After how many boxes a sequence may repeat itself, and where it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from graphviz_tb.model.columns import Longs

ALL_PERIODS = 400  # in sequences up to this long every period is tried
SHORT, COMMON = 8, 48  # in longer ones the shortest, and the commonest distances between equal stretches
STRETCHES = (4, 16)  # boxes of the equal stretches whose distances are candidates for a period


def numbered(words: Sequence[object]) -> Longs:
    """Equal words as equal numbers."""
    known: dict[object, int] = {}
    return np.array([known.setdefault(word, len(known)) for word in words], np.int64)


def periods(words: Longs) -> list[int]:
    """Which periods are tried, shortest first."""
    most = len(words) // 2
    if len(words) < ALL_PERIODS:
        return list(range(1, most + 1))
    gaps: Counter[int] = Counter()
    for length in (1, *STRETCHES):
        gaps.update(distances(stretches(words, length)))
    common = sorted(gaps, key=lambda gap: (-gaps[gap], gap))[:COMMON]
    return sorted({*(gap for gap in common if gap <= most), *range(1, min(SHORT, most) + 1)})


def stretches(words: Longs, length: int) -> Longs:
    """A number for each stretch of `length` words."""
    mixed = words.astype(np.uint64)
    for step in range(1, length):
        # A hash, wrapping round at 2^64: if two stretches collide, a period is tried for nothing, no more.
        mixed = mixed[:-1] * np.uint64(1_000_003) ^ words[step:].astype(np.uint64)
    return mixed.view(np.int64)


def distances(words: Longs) -> dict[int, int]:
    """How often each distance occurs between a word and the next one equal to it."""
    by_word = np.argsort(words, kind="stable")
    # Sorted by word, then by place: neighbours of one word are its next occurrences.
    near = words[by_word][1:] == words[by_word][:-1]
    gaps, counts = np.unique(np.diff(by_word)[near], return_counts=True)
    return dict(zip(gaps.tolist(), counts.tolist(), strict=True))


def stretches_of(symbols: Longs, period: int) -> list[tuple[int, int]]:
    """Maximal stretches that repeat themselves after `period`."""
    equal = np.concatenate(([False], symbols[:-period] == symbols[period:], [False]))
    ends = np.flatnonzero(equal[1:] != equal[:-1]).tolist()  # where runs of equal ones begin and end, in turn
    return [(start, stop + period) for start, stop in zip(ends[::2], ends[1::2], strict=True) if stop - start >= period]
