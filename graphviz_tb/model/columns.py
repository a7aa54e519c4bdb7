"""Columns: read-only numpy arrays, one value per row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


def freeze_array(array: NDArray[Any]) -> NDArray[Any]:
    """Make `array` read-only and return it.

    >>> freeze_array(np.zeros(2, np.int32)).flags.writeable
    False
    """
    array.setflags(write=False)
    return array


def int32_column(values: Iterable[int] | NDArray[Any]) -> Ints:
    array = values.astype(np.int32) if isinstance(values, np.ndarray) else np.fromiter(values, np.int32)
    array.setflags(write=False)
    return array


def sorted_value_range(column: NDArray[Any], first: int, stop: int) -> tuple[int, int]:
    """Return the bounds of the values in [`first`, `stop`) in a sorted column.

    The bounds are converted to the column's type first; otherwise numpy would convert the whole column on every call.

    >>> sorted_value_range(np.array([1, 3, 3, 7], np.int32), 3, 7)
    (1, 3)
    """
    a, b = column.searchsorted(np.array((first, stop), column.dtype)).tolist()  # the method has no dispatch to do
    return a, b


def run_bounds(sorted_keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return the start of each run of equal keys, followed by the length.

    >>> run_bounds(np.array([3, 3, 5, 9, 9])).tolist()
    [0, 2, 3, 5]
    """
    if not len(sorted_keys):
        return np.zeros(1, np.int64)
    cuts = np.flatnonzero(sorted_keys[1:] != sorted_keys[:-1]) + 1
    return np.concatenate(([0], cuts, [len(sorted_keys)])).astype(np.int64)


def group_by_key(keys: NDArray[Any], count: int) -> tuple[Longs, Longs]:
    """Sort positions by key. Return the positions and the start of each key 0 … `count - 1` among them, then the end of
    the last.

    >>> order, start = group_by_key(np.array([2, 0, 2]), 3)
    >>> order.tolist(), start.tolist()
    ([1, 0, 2], [0, 1, 1, 3])
    """
    # Pack the key above the position, 32 bits each: sorting such numbers takes a quarter of the time of a stable sort.
    order = np.sort(keys.astype(np.int64) << 32 | np.arange(len(keys))) & 0xFFFFFFFF
    return order, key_starts(keys, count)


def key_starts(keys: NDArray[Any], count: int) -> Longs:
    """Return the start of each key 0 … `count - 1` among the sorted keys (-1 and up), and the end of the last.

    >>> key_starts(np.array([2, -1, 2]), 3).tolist()
    [1, 1, 1, 3]
    """
    return np.cumsum(np.bincount(keys + 1, minlength=count + 1)[: count + 1])


def prefix_sums(values: NDArray[Any]) -> Longs:
    """Return the sum of the values before each position, then the total: the sum of `values[a:b]` is `sums[b] -
    sums[a]`.

    >>> prefix_sums(np.array([2, 3])).tolist(), prefix_sums(np.array([True, False])).tolist()
    ([0, 2, 5], [0, 1, 1])
    """
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)))


def places_of_runs(start: NDArray[Any], size: NDArray[Any]) -> Longs:
    """Return the positions in all runs, one run after the other; a run begins at its `start` and has `size` positions.

    >>> places_of_runs(np.array([7, 0]), np.array([2, 3])).tolist()
    [7, 8, 0, 1, 2]
    """
    before = prefix_sums(size)
    return np.arange(before[-1]) + np.repeat(start - before[:-1], size)


def distinct_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values that occur, in ascending order.

    `np.unique` gives equal results, but importing masked arrays for it takes longer than drawing a small picture.

    >>> distinct_values(np.array([5, 3, 5])).tolist()
    [3, 5]
    """
    ordered = np.sort(values, axis=None)
    return ordered[run_bounds(ordered)[:-1]]  # the first of each run of equals


def positions_of_rows(rows: Sequence[int], column: NDArray[Any]) -> Longs:
    """Return the position of each value of a column in a list of distinct rows; for a value not listed, that of the
    nearest smaller row.

    >>> positions_of_rows([7, 2, 4], np.array([2, 7, 5], np.int32)).tolist()
    [1, 0, 2]
    """
    places = np.array(rows, np.int64)
    order = np.argsort(places)
    found: Longs = order[np.searchsorted(places[order], column, side="right") - 1]
    return found


def mix_bits(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the bits (the finaliser of splitmix64, Steele, Lea & Flood 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)  # only saves time: values decide
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)  # only saves time
    mixed: NDArray[np.uint64] = values ^ (values >> np.uint64(31))  # only saves time
    return mixed


def count_words(column: Ints, words: tuple[str, ...]) -> dict[str, int]:
    """Return the count of each word, most frequent first, then by name."""
    counts = np.bincount(column, minlength=len(words)).tolist()
    pairs = [(word, count) for word, count in zip(words, counts, strict=True) if count]
    return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


# Ids of nodes, edges, scopes and functions: they count from 0, and -1 means none.


@overload
def exists(ids: int) -> bool: ...
@overload
def exists(ids: NDArray[np.signedinteger[Any]]) -> Bools: ...
def exists(ids: Any) -> Any:
    """Return whether an id, or each id of a column, exists.

    >>> exists(0), exists(-1), exists(np.array([-1, 0, 1])).tolist()
    (True, False, [False, True, True])
    """
    return ids >= 0
