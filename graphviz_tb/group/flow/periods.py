"""Candidate periods of a sequence, and the stretches where it repeats itself.

a b c a b c a b      period 3: each word equals the one three places later

In long sequences only some periods are tried: the shortest, and the commonest distances between equal words and equal
short stretches (compared by hash).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from graphviz_tb.model.columns import Longs

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
        gaps.update(count_distances(hash_stretches(words, length)))
    common = sorted(gaps, key=lambda gap: (-gaps[gap], gap))[:COMMONEST_PERIODS]
    return sorted({*(gap for gap in common if gap <= most), *range(1, min(SHORTEST_PERIODS, most) + 1)})


def hash_stretches(words: Longs, length: int) -> Longs:
    """Return a hash of each stretch of `length` words."""
    mixed = words.astype(np.uint64)
    for step in range(1, length):
        # Wraps at 2^64. A collision only costs a period tried in vain.
        mixed = mixed[:-1] * np.uint64(1_000_003) ^ words[step:].astype(np.uint64)
    return mixed.view(np.int64)


def count_distances(words: Longs) -> dict[int, int]:
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
