"""64-bit hashes over columns: the same on every machine, and sums of them do not depend on order.

    words ─blake2b▶ numbers ─mixed▶ labels ─summed over edges▶ neighbourhoods (Weisfeiler & Leman 1968)

Two million neighbourhoods collide with a chance under one in a million. A collision costs a better match, never
the truth: what is matched is compared afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import group_by_key, mix_bits

Hashes = NDArray[np.uint64]

# The step of splitmix64 (Steele, Lea & Flood, OOPSLA 2014): 2^64 divided by the golden ratio.
STEP = np.uint64(0x9E3779B97F4A7C15)
# Of wyhash (Wang Yi). All odd: a product with an odd number loses no bit modulo 2^64.
FACTORS = np.array([0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3], np.uint64)


def digest(data: bytes | str) -> int:
    """A 64-bit number for bytes or a word.

    >>> digest("Relu") == digest(b"Relu"), digest("Relu") == digest("Relu6")
    (True, False)
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return int.from_bytes(blake2b(raw, digest_size=8).digest(), "little")


def digests(words: Iterable[str]) -> Hashes:
    """One number a word."""
    return np.array([digest(word) for word in words], np.uint64)


def mixed(values: Hashes) -> Hashes:
    """Every bit of a value reaches every bit of its hash (splitmix64)."""
    # Arithmetic of arrays wraps modulo 2^64 without a warning (that of NumPy's scalars would warn).
    return mix_bits(values + STEP)


def combined(*columns: Hashes) -> Hashes:
    """One hash for several columns, in their order.

    >>> one, two = np.array([1], np.uint64), np.array([2], np.uint64)
    >>> bool(combined(one, two)[0] == combined(two, one)[0])
    False
    """
    total = columns[0] * FACTORS[0]
    for number, column in enumerate(columns[1:], 1):
        total = mixed(total) + column * FACTORS[number % 4]
    return mixed(total)


def run_sums(values: Hashes, start: NDArray[np.int64], stop: NDArray[np.int64]) -> Hashes:
    """Sums of `values[start:stop]` for many runs at once, modulo 2^64.

    >>> run_sums(np.array([1, 2, 3], np.uint64), np.array([0, 1]), np.array([2, 1])).tolist()
    [3, 0]
    """
    # A difference of two prefix sums is right modulo 2^64 even where the sum between them has wrapped.
    total = np.concatenate((np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)))
    sums: Hashes = total[stop] - total[start]
    return sums


def sums_by(keys: NDArray[np.int32], values: Hashes, count: int) -> Hashes:
    """For each key below `count` the sum of its values."""
    # The values of key k are `values[order][cuts[k] : cuts[k + 1]]`.
    order, cuts = group_by_key(keys, count)
    return run_sums(values[order], cuts[:-1], cuts[1:])
