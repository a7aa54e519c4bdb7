"""The shares of a step, from the total length that slices cover."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphviz_tb.model.profile import SliceKind, StepShares, Timeline


def covered_length(start: Any, end: Any) -> int:
    """Return the length of the union of some intervals.

    >>> covered_length(np.array([0, 5, 2]), np.array([3, 6, 4]))
    5
    """
    if not len(start):
        return 0
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    gaps = np.maximum(start[1:] - end[:-1], 0)  # between the furthest end so far and the next start
    return int(end[-1] - start[0] - np.sum(gaps))


def step_shares(timeline: Timeline) -> StepShares:
    """Return how the time of a step is spent; each moment counts for the first of compute, input, launch that runs
    then."""
    start, end = timeline.start, timeline.start + timeline.duration
    reached = [0]
    of_kind = np.zeros(len(timeline), bool)
    for kind in (SliceKind.COMPUTE, SliceKind.INPUT, SliceKind.LAUNCH):
        of_kind |= timeline.kind == kind
        reached.append(covered_length(start[of_kind], end[of_kind]))
    compute, busy, all_busy = reached[1:]
    length = timeline.end_time
    return StepShares(length, compute, busy - compute, all_busy - busy, length - all_busy)
