"""Samples become columns over the rows: an op's own, then what lies under each group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Longs, freeze
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import Path, function_of
from graphviz_tb.model.stats import Floats, Measure, Sample, Stats
from graphviz_tb.model.tensors import Shape

Samples = Mapping[Path, Sample]
NEVER = np.iinfo(np.int64).max
QUANTITIES = ("time", "cpu", "accelerator", "enqueue", "bytes")


def sum_up(hierarchy: Hierarchy, steps: list[Samples], loose: list[Samples]) -> Stats:
    """Columns of all steps.

    Before: for each step what was measured by path, and the machinery of calls (`loose`). After: in every column a
    group has what lies under it, a call what lies inside it; the means of siblings add up to their group's.
    """
    # Traces count nanoseconds, what users see microseconds.
    units = {name: 1 if name == "bytes" else 1000 for name in (*QUANTITIES, "span")}
    measures = {name: Folding(len(hierarchy), unit) for name, unit in units.items()}
    inside: list[Samples] = []
    seen = np.zeros(len(hierarchy), bool)
    counts = np.zeros(len(hierarchy), np.int64)
    shapes: dict[int, tuple[Shape, ...]] = {}
    for samples, machinery in zip(steps, loose, strict=True):
        # Rows of functions follow those of the main graph.
        merged = merge(samples, machinery)
        library = int(hierarchy.end[0])
        inside.append({path: sample for path, sample in merged.items() if len(path) > 1 or path[0] >= library})
        step = fill(hierarchy, merged)
        # Rows where something was measured, and every call on the way; `counts`: the steps in which a row ran.
        here = np.zeros(len(hierarchy), np.int64)
        here[list({row for path in merged for row in path})] = 1
        seen |= here > 0
        counts += under(hierarchy, here) > 0
        for path, sample in samples.items():
            shapes.setdefault(path[-1], sample.shapes)
        for name in QUANTITIES:
            measures[name].add(under(hierarchy, step[name]))
        measures["span"].add(span(hierarchy, step["start"], step["end"]))
    return table(hierarchy, measures, inside, seen, shapes, counts)


def table(
    hierarchy: Hierarchy,
    measures: dict[str, Folding],
    inside: list[Samples],
    seen: NDArray[np.bool_],
    shapes: dict[int, tuple[Shape, ...]],
    counts: Longs,
) -> Stats:
    """All columns, frozen."""
    ordinary = hierarchy.ordinary
    return Stats(
        steps=tuple(str(step) for step in range(len(inside))),
        time=measures["time"].result(),
        span=measures["span"].result(),
        bytes=measures["bytes"].result(),
        cpu=measures["cpu"].result().median,
        accelerator=measures["accelerator"].result().median,
        enqueue=measures["enqueue"].result().median,
        measured=under(hierarchy, (seen & ordinary).astype(np.int64)),
        ops=under(hierarchy, ordinary.astype(np.int64)),
        known=freeze(under(hierarchy, seen.astype(np.int64)) > 0),
        end=hierarchy.end,
        shapes={row: step_shapes for row, step_shapes in shapes.items() if step_shapes},
        inside=tuple(inside),
        counts=freeze(counts),
    )


class Folding:
    """One quantity while the steps come by: mean, median, least and most, in its unit of `unit` nanoseconds."""

    def __init__(self, rows: int, unit: int = 1) -> None:
        self.rows, self.unit = rows, unit
        self.count = 0
        # Of each step only the rows that are not 0: all rows of all steps would fill memory.
        self.row: list[Longs] = [np.zeros(0, np.int64)]
        self.value: list[Longs] = [np.zeros(0, np.int64)]

    def add(self, values: Longs) -> None:
        """One more step."""
        self.count += 1
        self.row.append(np.flatnonzero(values))
        self.value.append(values[self.row[-1]])

    def result(self) -> Measure:
        """The columns."""
        row, value = np.concatenate(self.row), np.concatenate(self.value) / self.unit
        count, found = max(1, self.count), np.bincount(row, minlength=self.rows)
        in_order = value[np.lexsort((value, row))]
        first, zeros = np.cumsum(found) - found, count - found

        def ranked(rank: int) -> Floats:
            """The value of each row at a rank among those of all steps: its zeros, then what was found."""
            column = np.zeros(self.rows)
            beyond = zeros <= rank
            column[beyond] = in_order[(first + rank - zeros)[beyond]]
            return column

        mean = np.bincount(row, value, self.rows) / count
        middle = (ranked((count - 1) // 2) + ranked(count // 2)) / 2
        return Measure(*(freeze(column) for column in (mean, ranked(0), ranked(count - 1), middle)))


def merge(samples: Samples, machinery: Samples) -> Samples:
    """Own time of a call gives way to what was measured inside it; the machinery of a call is time of the call."""
    # Every call in which something was measured.
    around = {path[:length] for path in (*samples, *machinery) for length in range(1, len(path))} | set(machinery)
    sample_at: dict[Path, Sample] = {}
    for path, sample in samples.items():
        # Its start and end stay: they are those of the whole call.
        if path in around:
            sample = replace(sample, time=0, cpu=0, accelerator=0, enqueue=0, bytes=0)
        sample_at[path] = sample
    for path, sample in machinery.items():
        sample_at[path] = both(sample_at[path], sample) if path in sample_at else sample
    return sample_at


def both(sample: Sample, other: Sample) -> Sample:
    """Two samples of one path."""
    return Sample(
        time=sample.time + other.time,
        cpu=sample.cpu + other.cpu,
        accelerator=sample.accelerator + other.accelerator,
        enqueue=sample.enqueue + other.enqueue,
        start=min(sample.start, other.start),
        end=max(sample.end, other.end),
        bytes=sample.bytes + other.bytes,
        shapes=sample.shapes or other.shapes,
        executions=sample.executions + other.executions,
    )


def fill(hierarchy: Hierarchy, samples: Samples) -> dict[str, Longs]:
    """One step's samples in columns: each counts for its op, and for every call that it lies in.

    In a function that is on the path twice (recursion) only the innermost place counts, so that nothing counts twice
    under one group.
    """
    columns = {name: np.zeros(len(hierarchy), np.int64) for name in QUANTITIES}
    columns["start"] = np.full(len(hierarchy), NEVER, np.int64)
    columns["end"] = np.full(len(hierarchy), -1, np.int64)
    for path, sample in samples.items():
        # A path leads inwards: of two rows in one function the later stays.
        innermost = {function_of(hierarchy, row): row for row in path}
        for row in innermost.values():
            for name in QUANTITIES:
                columns[name][row] += getattr(sample, name)
            if sample.start >= 0:
                columns["start"][row] = min(columns["start"][row], sample.start)
                columns["end"][row] = max(columns["end"][row], sample.end)
    return columns


def under(hierarchy: Hierarchy, own: Longs) -> Longs:
    """For each row the sum of `own` over the row and all that lies under it."""
    # Rows are numbered in preorder: what lies under a row is the slice row ... end[row].
    total = np.concatenate(([0], np.cumsum(own)))
    sums: Longs = freeze(total[hierarchy.end] - total[np.arange(len(own))])
    return sums


def span(hierarchy: Hierarchy, start: Longs, end: Longs) -> Longs:
    """For each row the time from the first start to the last end under it; 0 where nothing started."""
    started = np.flatnonzero(end >= 0)
    # What lies under a row is a slice of the rows, and so of those where something started.
    first, stop = np.searchsorted(started, np.arange(len(end))), np.searchsorted(started, hierarchy.end)
    rows = np.flatnonzero(first < stop)
    last = greatest(end[started], first[rows], stop[rows])
    before = -greatest(-start[started], first[rows], stop[rows])
    lengths = np.zeros(len(end), np.int64)
    lengths[rows] = last - np.minimum(before, last)
    return lengths


def greatest(values: Longs, first: Longs, stop: Longs) -> Longs:
    """The greatest of each slice `first … stop-1`, none of them empty: two slices of one width cover it, and those of
    twice a width are made of two.

    >>> greatest(np.array([3, 1, 4, 1, 5]), np.array([0, 1, 3]), np.array([3, 2, 5])).tolist()
    [4, 1, 5]
    """
    found, width = np.zeros(len(first), np.int64), 1
    while len(values):
        held = np.flatnonzero((stop - first >= width) & (stop - first < 2 * width))
        found[held] = np.maximum(values[first[held]], values[stop[held] - width])
        values = np.maximum(values[:-width], values[width:])
        width *= 2
    return found
