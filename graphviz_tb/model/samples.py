"""Samples of steps inside functions, sorted by path, so that the samples of each group are contiguous."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Ints, int32_column
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import Shape

MAX_EXACT_SUM = 2**62  # sums below this, and their differences, fit into 64 bits


@dataclass(frozen=True, slots=True)
class Sample:
    """One op at one place (path) in one step; times in nanoseconds, `start` and `end` on the clock of the step."""

    time: int = 0
    cpu: int = 0
    accelerator: int = 0
    enqueue: int = 0
    start: int = -1
    end: int = -1
    bytes: int = 0
    shapes: tuple[Shape, ...] = ()
    executions: int = 0

    @property
    def span(self) -> int:
        """The time from the first start to the last end."""
        return max(0, self.end - self.start) if self.start >= 0 else 0


@dataclass(frozen=True, slots=True)
class StepSums:
    """Sums of some samples, one number per step that has any; `span` is from the first start to the last end."""

    time: list[int]
    cpu: list[int]
    accelerator: list[int]
    enqueue: list[int]
    bytes: list[int]
    span: list[int]


class Samples:
    """All samples of `steps` sorted by path and step, as columns: nested scopes add up nearly the same samples."""

    def __init__(self, steps: Sequence[Mapping[tuple[int, ...], Sample]]) -> None:
        filed = [(path, step, sample) for step, each in enumerate(steps) for path, sample in each.items()]
        filed.sort(key=lambda each: each[:2])
        self._paths = [path for path, _, _ in filed]
        self._step = int32_column(step for _, step, _ in filed)
        samples = [sample for *_, sample in filed]
        added = [(each.time, each.cpu, each.accelerator, each.enqueue, each.bytes) for each in samples]
        self._added, self._start = (
            sample_value_columns(added, 5),
            sample_value_columns([(each.start,) for each in samples], 1),
        )
        self._end = sample_value_columns([(each.end,) for each in samples], 1)
        self._rows: dict[int, Ints] = {}  # rows by position in the path

    def run_below(self, row: int, end: int, calls: tuple[int, ...]) -> range:
        """Return the positions of the samples inside `calls` whose row is one of `row … end-1`."""
        # In path order, the paths with this prefix whose next row is in a range are contiguous.
        first = bisect_left(self._paths, (*calls, row))
        return range(first, bisect_left(self._paths, (*calls, end), first))

    def step_sums(self, run: range) -> StepSums:
        """Return the sums of a run of samples in each step."""
        if not run:
            return StepSums([], [], [], [], [], [])
        steps = self._step[run.start : run.stop]
        order = np.argsort(steps, kind="stable")
        steps, order = steps[order], order + run.start
        starts = np.concatenate(([0], np.flatnonzero(steps[1:] != steps[:-1]) + 1))
        first = np.minimum.reduceat(self._start[0, order], starts)
        last = np.maximum.reduceat(self._end[0, order], starts)
        time, cpu, accelerator, enqueue, size = np.add.reduceat(self._added[:, order], starts, axis=1).tolist()
        return StepSums(time, cpu, accelerator, enqueue, size, (last - first).tolist())

    def rows_at_depth(self, run: range, place: int) -> Ints:
        """Return the rows at position `place` of the paths of a run, without duplicates. Before: these paths have equal
        prefixes."""
        if place not in self._rows:
            self._rows[place] = int32_column(path[place] if place < len(path) else 0 for path in self._paths)
        rows = self._rows[place][run.start : run.stop]
        return rows[np.concatenate(([True], rows[1:] != rows[:-1]))] if run else rows


def sample_value_columns(values: Sequence[tuple[int, ...]], count: int) -> NDArray[Any]:
    """Make `count` columns, the rows of a table; of Python integers if 64 bits are too few.

    >>> sample_value_columns([(1, 2), (3, 4)], 2).tolist(), sample_value_columns([(2**62,)], 1).dtype.kind
    ([[1, 3], [2, 4]], 'O')
    """
    small = sum(abs(value) for each in values for value in each) < MAX_EXACT_SUM
    return np.array(values, np.int64 if small else object).reshape(-1, count).T
