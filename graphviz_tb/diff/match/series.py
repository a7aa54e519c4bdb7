"""Align numbered siblings: their order identifies them, their numbers may change.

layer_0 layer_1 layer_2            a ─┐  longest common subsequence of equal contents
layer_0 layer_1 layer_2 layer_3    b ─┘  (Hunt & Szymanski 1977; here row by row)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.limits import MAX_TABLE_CELLS

NUMBER = re.compile(r"(.*?)([0-9]{1,9})([^0-9]*)", re.DOTALL)
# e.g. "dense_2_1"
TWICE = re.compile(r"(.*?_)([0-9]{1,5})_([0-9]{1,3})", re.DOTALL)
SCOPES = 1000  # scopes of one name that TensorFlow distinguishes behind the number of a layer

NameAffixes = tuple[str, str]  # what comes before and after the number
# Makes pairs of two sequences and the pairs that are likely, as `common` does.
PairSequences = Callable[[Sequence[Hashable], Sequence[Hashable], dict[int, int] | None], list[tuple[int, int]] | None]


@lru_cache(maxsize=1 << 16)
def numbered(leaf: str) -> tuple[NameAffixes, int] | None:
    """The text around the last number of a name, and the number.

    Two counted numbers behind a name are one: Keras counts layers, TensorFlow the scopes of one name.

    >>> numbered("conv2d_3"), numbered("MatMul_1_grad"), numbered("relu")
    ((('conv2d_', ''), 3), (('MatMul_', '_grad'), 1), None)
    >>> numbered("dense_1"), numbered("dense_1_2"), numbered("dense_2_1")
    ((('dense_', ''), 1), (('dense_', ''), 1002), (('dense_', ''), 2001))
    """
    twice = TWICE.fullmatch(leaf)
    if twice:
        return (twice[1], ""), int(twice[2]) * SCOPES + int(twice[3])
    match = NUMBER.fullmatch(leaf)
    return ((match[1], match[3]), int(match[2])) if match else None


def bare(leaf: str) -> list[NameAffixes]:
    """The series that a name without its number may begin: `add` begins `add_1`, `add_grad` begins `add_1_grad`.

    >>> bare("add_grad")
    [('add_grad_', ''), ('add_', '_grad')]
    """
    words = [(leaf + "_", "")]
    if leaf.endswith("_grad"):
        words.append((leaf[:-5] + "_", "_grad"))
    return words


def runs_of(leaves: Iterable[str], others: Iterable[str] = ()) -> dict[NameAffixes, dict[int, str]]:
    """The series among the names of siblings: for each the names by number, a bare one as number 0.

    A single bare name is a series where there is one among the `others`, the names on the other side: of two layers
    `dense`, `dense_1` the one that is left is `dense`.

    >>> runs_of(["add", "add_1", "w"]), runs_of(["add"], ["add", "add_1"])
    ({('add_', ''): {1: 'add_1', 0: 'add'}}, {('add_', ''): {0: 'add'}})
    """
    runs: dict[NameAffixes, dict[int, str]] = {known[0]: {} for leaf in others if (known := numbered(leaf))}
    for leaf in (leaves := list(leaves)):
        if known := numbered(leaf):
            runs.setdefault(known[0], {}).setdefault(known[1], leaf)
    for leaf in leaves:
        for words in bare(leaf):
            if words in runs and 0 not in runs[words]:
                runs[words][0] = leaf
                break
    return {words: run for words, run in runs.items() if run}


def common(
    mine: Sequence[Hashable], other: Sequence[Hashable], likely: dict[int, int] | None = None
) -> list[tuple[int, int]] | None:
    """The longest common subsequence, as pairs of places; among the longest the one with most `likely` pairs.

    `likely` maps places of `one` to places of `two`. None where the table would be too large.

    >>> common("abcd", "abxcd"), common("aaa", "aaaa", {0: 0, 1: 1, 2: 3})
    ([(0, 0), (1, 1), (2, 3), (3, 4)], [(0, 0), (1, 1), (2, 3)])
    """
    if not mine or not other:
        return []
    if len(mine) * len(other) > MAX_TABLE_CELLS:
        return None
    ids = {word: row for row, word in enumerate(dict.fromkeys([*mine, *other]))}
    left = np.array([ids[word] for word in mine], np.int64)
    right = np.array([ids[word] for word in other], np.int64)
    great = len(mine) + len(other)  # more than all likely pairs together
    table = [np.zeros(len(other) + 1, np.int64)]
    for row, word in enumerate(left.tolist()):
        # Length counts first: one pair more outweighs all likely pairs together.
        worth = np.where(right == word, great, 0)
        if likely and (place := likely.get(row)) is not None and worth[place]:
            worth[place] += 1
        # Each cell: skip this row, or pair it (diagonal); the running maximum skips columns.
        reached = np.maximum(table[row][1:], np.where(worth > 0, table[row][:-1] + worth, 0))
        table.append(np.concatenate(([0], np.maximum.accumulate(reached))))
    return _back(table)


def _back(table: Sequence[NDArray[np.int64]]) -> list[tuple[int, int]]:
    """The pairs along the best path; where paths are equal the last pairs are dropped first."""
    pairs, row, column = [], len(table) - 1, len(table[0]) - 1
    while row and column:
        best = table[row][column]
        if table[row][column - 1] == best:
            column -= 1
        elif table[row - 1][column] == best:
            row -= 1
        else:
            row, column = row - 1, column - 1
            pairs.append((row, column))
    return pairs[::-1]


def align(
    tiers: Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]],
    likely: dict[int, int],
    table: PairSequences = common,
) -> list[tuple[int, int]] | None:
    """Align two sequences: by the first tier of hashes, then what lies between by the next, weaker one.

    Before: each tier gives one hash for each member of either side. After: pairs of places, ascending on both sides;
    None where `table` makes none.
    """
    (first_a, first_b), *_ = tiers
    gaps = [((0, len(first_a)), (0, len(first_b)))]
    pairs: list[tuple[int, int]] = []
    for hashes_a, hashes_b in tiers:
        rest = []
        for (a0, a1), (b0, b1) in gaps:
            near = {i - a0: likely[i] - b0 for i in range(a0, a1) if b0 <= likely.get(i, -1) < b1}
            aligned = _trimmed(hashes_a[a0:a1], hashes_b[b0:b1], near, table)
            if aligned is None:
                return None
            inner = [(a0 + i, b0 + j) for i, j in aligned]
            pairs += inner
            rest += between(inner, (a0, a1), (b0, b1))
        gaps = rest
    return sorted(pairs)


def _trimmed(
    mine: Sequence[Hashable], other: Sequence[Hashable], likely: dict[int, int], table: PairSequences
) -> list[tuple[int, int]] | None:
    """Call `table` without the equal and likely pairs at the start (they are in some longest subsequence)."""
    start, claimed = 0, set(likely.values())
    while start < min(len(mine), len(other)) and mine[start] == other[start]:
        # A likely pair elsewhere may be worth more than this one: from here on the table decides.
        if likely.get(start) != start and (start in likely or start in claimed):
            break
        start += 1
    moved = {i - start: j - start for i, j in likely.items() if i >= start and j >= start}
    pairs = table(mine[start:], other[start:], moved)
    return None if pairs is None else [(i, i) for i in range(start)] + [(i + start, j + start) for i, j in pairs]


def between(
    pairs: list[tuple[int, int]], a: tuple[int, int], b: tuple[int, int]
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The gaps between pairs that hold members of both sides."""
    gaps = []
    before = (a[0], b[0])
    # The end of both ranges closes the last gap.
    for pair in [*pairs, (a[1], b[1])]:
        if pair[0] > before[0] and pair[1] > before[1]:
            gaps.append(((before[0], pair[0]), (before[1], pair[1])))
        before = (pair[0] + 1, pair[1] + 1)
    return gaps
