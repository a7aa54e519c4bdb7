"""Run statistics: measurements of one or more traced steps, as columns over the rows of a hierarchy.

op       measurements of the op             group    sum of all measurements below it
call     sum of the measurements inside it, else its own time
row of a function's body                    all calls together; `Stats.figures_at(path)` separates calls
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Floats, Ints, Longs, int32_column
from graphviz_tb.model.formatting import format_bytes, format_micros
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import Shape

# Samples of steps inside functions, sorted by path, so that the samples of each group are contiguous.

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
    device: str = ""

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
        filed = [(path, step, sample) for step, samples in enumerate(steps) for path, sample in samples.items()]
        filed.sort(key=lambda entry: entry[:2])
        self._paths = [path for path, _, _ in filed]
        self._step = int32_column(step for _, step, _ in filed)
        samples = [sample for *_, sample in filed]
        added = [(sample.time, sample.cpu, sample.accelerator, sample.enqueue, sample.bytes) for sample in samples]
        self._added = _sample_value_columns(added, 5)
        self._start = _sample_value_columns([(sample.start,) for sample in samples], 1)
        self._end = _sample_value_columns([(sample.end,) for sample in samples], 1)
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


def _sample_value_columns(values: Sequence[tuple[int, ...]], count: int) -> NDArray[Any]:
    """Make `count` columns, the rows of a table; of Python integers if 64 bits are too few.

    >>> _sample_value_columns([(1, 2), (3, 4)], 2).tolist(), _sample_value_columns([(2**62,)], 1).dtype.kind
    ([[1, 3], [2, 4]], 'O')
    """
    small = sum(abs(value) for each in values for value in each) < MAX_EXACT_SUM
    return np.array(values, np.int64 if small else object).reshape(-1, count).T


COMPILED_LABEL = "compiled"  # label of executions of compiled code without an op name


@dataclass(frozen=True, slots=True, eq=False)
class StepMeasure:
    """One quantity of every row over the steps; a step that did not measure a row counts as 0."""

    mean: Floats
    least: Floats
    most: Floats
    median: Floats


@dataclass(frozen=True, slots=True)
class RunFigures:
    """Statistics of one shown node, medians over the steps.

    `time`: sum of all executions in microseconds (`cpu` + `accelerator`). `span`: from the first start to the last end.
    `enqueue`: time of the host to hand kernels to an accelerator (not in `time`). `measured` of `ops` have statistics.
    `least`, `most`: extremes of the time of a step; `steps`: number of steps that measured it. `known`: whether
    anything was measured at all (constants count here).
    """

    time: float
    span: float
    bytes: float
    cpu: float
    accelerator: float
    enqueue: float
    measured: int
    ops: int
    shapes: tuple[Shape, ...] = ()
    known: bool = True
    least: float = 0.0
    most: float = 0.0
    steps: int = 0

    def quantity(self, quantity: str) -> float:
        """Return the "time" or the "bytes"."""
        return {"time": self.time, "bytes": self.bytes}[quantity]

    @property
    def coverage(self) -> float:
        """The share of ops with statistics, from 0 to 1."""
        return self.measured / self.ops if self.ops else float(self.measured > 0)


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """The use of one device of the trace: `name`, number of `executions`, their `time`, and whether it `counted`.

    Streams that repeat other streams, and the enqueue of kernels, are listed but do not count.
    """

    name: str
    executions: int
    time: float
    counted: bool


@dataclass(frozen=True, slots=True, eq=False)
class Stats:
    """Statistics of all rows.

    `steps` names the traces, `warm_up` a first trace that was left out because it was much slower ("" for none). `time`
    (sum), `span` and `bytes` are over the steps, `cpu`, `accelerator` and `enqueue` their medians. `counts[row]` steps
    measured anything under a row; `measured[row]` of `ops[row]` ordinary ops under it have statistics; `known[row]`: an
    op or constant under it has. `shapes` are those of the outputs by row, `placed` the devices. `inside` are the
    samples of each step by path, for ops in functions (a path begins in the function if the call is not known).
    `unmatched` are names of the trace without an op in the graph, with their time. `joined` of the `executions` are of
    ops of the graph, `compiled` of the rest are of compiled code whose ops the trace does not name.
    """

    steps: tuple[str, ...]
    time: StepMeasure
    span: StepMeasure
    bytes: StepMeasure
    cpu: Floats
    accelerator: Floats
    enqueue: Floats
    measured: Longs
    ops: Longs
    counts: Longs
    known: NDArray[np.bool_]
    end: Ints
    shapes: Mapping[int, tuple[Shape, ...]] = field(repr=False)
    devices: tuple[DeviceUse, ...] = ()
    inside: tuple[Mapping[tuple[int, ...], Sample], ...] = field(default=(), repr=False)
    unmatched: tuple[tuple[str, float], ...] = field(default=(), repr=False)
    joined: int = 0
    executions: int = 0
    compiled: int = 0
    warm_up: str = ""
    placed: Mapping[int, str] = field(default_factory=dict, repr=False)
    _samples: list[Samples] = field(default_factory=list, repr=False)  # samples of `inside`, sorted once
    # figures by run of samples
    _known: dict[tuple[int, int, int], RunFigures] = field(default_factory=dict, repr=False)

    def quantity_column(self, quantity: str) -> StepMeasure:
        """Return the "time" or the "bytes" of every row."""
        return {"time": self.time, "bytes": self.bytes}[quantity]

    def measured_call_paths(self) -> list[tuple[int, ...]]:
        """Return every path inside functions that was measured in any step, sorted."""
        return sorted({path for step in self.inside for path in step})

    def figures(self, row: int) -> RunFigures:
        """Return the figures under a row, over all places where it is shown."""
        return RunFigures(
            time=float(self.time.median[row]),
            span=float(self.span.median[row]),
            bytes=float(self.bytes.median[row]),
            cpu=float(self.cpu[row]),
            accelerator=float(self.accelerator[row]),
            enqueue=float(self.enqueue[row]),
            measured=int(self.measured[row]),
            ops=int(self.ops[row]),
            shapes=self.shapes.get(row, ()),
            known=bool(self.known[row]),
            least=float(self.time.least[row]),
            most=float(self.time.most[row]),
            steps=int(self.counts[row]),
        )

    def figures_at(self, path: tuple[int, ...]) -> RunFigures:
        """Return the figures of the node at `path`, in this call.

        Figures of all calls of the function if the trace does not distinguish them.
        """
        sums, row = self.sums_at_path(path), path[-1]
        return replace(sums, ops=int(self.ops[row]), shapes=self.shapes.get(row, ())) if len(path) > 1 else sums

    at = figures_at  # of the Python API, as `model.facts.stats.at`

    def sums_at_path(self, path: tuple[int, ...]) -> RunFigures:
        """Return the figures of the node at `path`; inside a call without the number of ops and the shapes."""
        row, place = path[-1], len(path) - 1
        if not place:
            return self.figures(row)
        samples, end = self._sample_columns(), int(self.end[row])
        if not (run := samples.run_below(row, end, path[:-1])):
            run, place = samples.run_below(row, end, ()), 0
        # Nested scopes with a single child share their samples, as do calls that the trace does not distinguish.
        key = (run.start, run.stop, place) if run else (0, 0, 0)
        if key not in self._known:
            self._known[key] = self._figures_of_run(place, run)
        return self._known[key]

    def _sample_columns(self) -> Samples:
        if not self._samples:
            self._samples.append(Samples(self.inside))  # a single append: threads may share statistics
        return self._samples[0]

    def _figures_of_run(self, place: int, run: range) -> RunFigures:
        sums, count = self._sample_columns().step_sums(run), len(self.inside)
        times = [time / 1000 for time in sums.time]  # nanoseconds to microseconds
        return RunFigures(
            time=median_with_zeros(sums.time, count) / 1000,
            span=median_with_zeros(sums.span, count) / 1000,
            bytes=median_with_zeros(sums.bytes, count),
            cpu=median_with_zeros(sums.cpu, count) / 1000,
            accelerator=median_with_zeros(sums.accelerator, count) / 1000,
            enqueue=median_with_zeros(sums.enqueue, count) / 1000,
            # 0 for marks, which are not ops.
            measured=int(np.count_nonzero(self.ops[self._sample_columns().rows_at_depth(run, place)])),
            ops=0,
            known=bool(times),
            least=min(times) if times and len(times) == count else 0.0,
            most=max(times, default=0.0),
            steps=len(times),
        )

    def format_time_and_memory(self, path: tuple[int, ...]) -> str | None:
        """Format time and bytes of the node at `path`; None if nothing was measured."""
        figures = self.figures_at(path)
        if not figures.known:
            return None
        time = format_micros(figures.time)
        return f"{time} · {format_bytes(figures.bytes)}" if figures.bytes else time

    def json_entry(self, row: int) -> dict[str, Any]:
        """Return the `"stats"` of a node in the JSON document; times and bytes are null if nothing was measured."""
        known = bool(self.known[row])
        shapes = self.shapes.get(row)
        figures = self.figures(row)
        several = {"steps": self.json_over_steps(row)} if len(self.steps) > 1 else {}
        return {
            "compute_us_sum": round_for_json(figures.time) if known else None,
            "compute_us_span": round_for_json(figures.span) if known else None,
            "bytes": round_for_json(figures.bytes) if known else None,
            "output_shapes": None if shapes is None else [None if shape is None else list(shape) for shape in shapes],
            "coverage": round(figures.coverage, 4),
            **several,
        }

    def json_over_steps(self, row: int) -> dict[str, Any]:
        """Return the number of steps that measured a row, and the least, median and greatest time and bytes."""
        count = int(self.counts[row])
        entry: dict[str, Any] = {"count": count}
        for name, measure in (("compute_us", self.time), ("bytes", self.bytes)):
            for word, column in (("least", measure.least), ("median", measure.median), ("greatest", measure.most)):
                entry[f"{name}_{word}"] = round_for_json(float(column[row])) if count else None
        return entry

    def spread_text(self, path: tuple[int, ...]) -> str:
        """Describe the times of the node at `path` over several steps, for a tooltip; "" for one step, or if nothing is
        known.

        The least is 0 if a step did not run it.
        """
        figures = self.figures_at(path)
        if len(self.steps) < 2 or not figures.known:
            return ""
        least, middle, most = map(format_micros, (figures.least, figures.time, figures.most))
        return f"median {middle}, from {least} to {most}, in {figures.steps} of {len(self.steps)} steps"

    @property
    def title(self) -> str:
        """Name the steps that were measured, for the title of a picture: one, or the first and last of several.

        A file is named without the folders above it.
        """
        names = [name.rpartition("/")[2].removesuffix(":run") for name in self.steps]  # a file with a single run
        if len(names) < 2:
            return "".join(names)
        return f"median of {len(names)} steps, {names[0]} … {names[-1]}"


def median_with_zeros(values: Iterable[float], count: int = 0) -> float:
    """Return the median of the values, padded with zeros to `count`; 0 for no value. No value may be negative.

    >>> (
    ...     median_with_zeros([5, 1, 2]),
    ...     median_with_zeros([4, 2]),
    ...     median_with_zeros([]),
    ...     median_with_zeros([4, 2], 3),
    ...     median_with_zeros([4], 3),
    ... )
    (2, 3.0, 0, 2, 0)
    """
    ordered = sorted(values)
    count = max(count, len(ordered))
    if not count:
        return 0
    zeros = count - len(ordered)
    lower, upper = (ordered[rank - zeros] if rank >= zeros else 0 for rank in ((count - 1) // 2, count // 2))
    return upper if count % 2 else (lower + upper) / 2


def round_for_json(value: float) -> int | float:
    """Round to an int if it is whole, else to three decimals.

    >>> round_for_json(3.0), round_for_json(2.66666)
    (3, 2.667)
    """
    return int(value) if value == int(value) else round(value, 3)
