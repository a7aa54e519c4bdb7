"""Limits of time, for what would take minutes if it grew with a square: seconds of the machine on which they were set,
more on a slower one."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time

LOOP = 0.06  # CPU seconds that `_loop` takes where the limits were set


@contextmanager
def seconds(most: float) -> Iterator[None]:
    """Fail where what is inside takes more CPU."""
    gc.collect()
    gc.freeze()  # what other tests have left is not walked over again and again
    start = process_time()
    try:
        yield
        spent = process_time() - start
    finally:
        gc.unfreeze()
    assert within(spent, most)


def within(spent: float, most: float) -> bool:
    """Whether CPU seconds are fewer than `most`, as this machine is now: how slow it is is measured only where they are
    more, since that takes longer than most of what is timed."""
    return spent < most or spent < most * slowness()


def slowness() -> float:
    """How many times as long as there this machine takes now; at least 1."""
    spent = []
    for _ in range(3):
        start = process_time()
        _loop()
        spent.append(process_time() - start)
    return max(1.0, sorted(spent)[1] / LOOP)


def _loop() -> int:
    return sum(len(text) for text in {str(number): number for number in range(200_000)})
