"""Join traces of steps (RunMetadata) with the rows of a hierarchy.

read      convert entries of a trace to executions by device
count     count each execution once: distinguish streams, copies and enqueues (devices.py)
place     convert names to paths, through inlined functions and lowered loops (trace_names.py)
gather    merge executions of one path in one step to a sample
sum up    convert samples to columns over rows: sums of groups; median, mean, minimum and maximum of steps
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.annotate.devices import (
    CANONICAL_DEVICE,
    STREAM_DEVICE,
    CountedExecution,
    Execution,
    count_executions_once,
    is_accelerator_device,
)
from graphviz_tb.annotate.trace_names import ExecutionPath, TraceNames
from graphviz_tb.graphs.calls import paths_with_children
from graphviz_tb.graphs.rows import sums_below
from graphviz_tb.model.columns import Floats, Longs, freeze_array, prefix_sums
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import RowPath, function_row_of
from graphviz_tb.model.stats import COMPILED_LABEL, DeviceUse, Sample, Stats, StepMeasure, median_with_zeros
from graphviz_tb.model.tensors import Shape, shape_from_proto

if TYPE_CHECKING:
    from graphviz_tb.proto import RunMetadata


class MeasuredChains:
    """Sums of many steps over groups, in time proportional to the measurements, not to steps times rows.

    Rows that contain the same measured rows, such as nested scopes with a single child, form one chain: their figures
    are equal in every step. `chain_of[row]` is the chain of a row, -1 if nothing was measured.

    The input has entries of a `step` and a `row`, sorted, without duplicates. A place is a chain that was measured in a
    step: `chain[i]` contains the entries `first[i] … stop[i]-1`. Places are sorted by step.

    >>> from graphviz_tb.flatten import flatten
    >>> from graphviz_tb.interpret import interpret
    >>> from graphviz_tb.fold import fold_graph
    >>> from graphviz_tb.proto import GraphDef
    >>> hierarchy = fold_graph(interpret(flatten(GraphDef(node=[{"name": "a/x"}, {"name": "a/y"}]))))
    >>> # rows: 0 the whole, 1 a, 2 a/x, 3 a/y
    >>> around = MeasuredChains(hierarchy, np.array([0, 0, 1]), np.array([2, 3, 3]))
    >>> around.chain_of.tolist(), around.chain.tolist(), around.sums_by_place(np.array([5, 6, 7])).tolist()
    ([0, 0, 1, 2], [1, 2, 0, 2, 0], [5, 6, 11, 7, 7])
    """

    def __init__(self, hierarchy: Hierarchy, step: Longs, row: Longs) -> None:
        # Rows are in preorder, so a row contains a slice of the measured rows; rows with equal slices form a chain.
        measured, measured_of_entry = np.unique(row, return_inverse=True)
        starts = np.searchsorted(measured, np.arange(len(hierarchy)))
        ends = np.searchsorted(measured, hierarchy.end)
        enclosing = np.flatnonzero(ends > starts)
        # Number the chains in preorder: of two with the same start, the outer one ends later.
        slice_codes = starts[enclosing] * (len(measured) + 1) + len(measured) - ends[enclosing]
        _, outermost, chain_of_enclosing = np.unique(slice_codes, return_index=True, return_inverse=True)
        self.chain_of = np.full(len(hierarchy), -1, np.int64)
        self.chain_of[enclosing] = chain_of_enclosing
        chain_starts, chain_stops = starts[enclosing][outermost], ends[enclosing][outermost]
        parent_rows = hierarchy.parent[enclosing[outermost]].astype(np.int64)
        self.chains = len(outermost)
        parent_chain = np.where(parent_rows >= 0, self.chain_of[parent_rows], -1)

        entry, entry_codes = np.arange(len(row)), step * len(measured) + measured_of_entry
        previous = np.full(len(row), -1, np.int64)  # the measured row of the entry before, in the same step
        same_step = step[1:] == step[:-1]
        previous[1:][same_step] = measured_of_entry[:-1][same_step]
        chain = self.chain_of[row]
        chains_of_entries, entries = [chain], [entry]
        # Follow each entry outwards until a chain contains the previous entry too, which leads to the rest.
        while len(chain):
            chain = parent_chain[chain]
            is_first = (chain >= 0) & (chain_starts[chain] > previous)
            chain, previous, entry = chain[is_first], previous[is_first], entry[is_first]
            chains_of_entries.append(chain)
            entries.append(entry)
        first = np.concatenate(entries)
        order = np.argsort(step[first], kind="stable")
        # The entry from which a chain was reached is its first: earlier entries precede the chain.
        self.chain, self.first = np.concatenate(chains_of_entries)[order], first[order]
        self.stop = np.searchsorted(entry_codes, step[self.first] * len(measured) + chain_stops[self.chain])

    def sums_by_place(self, values: Longs) -> Longs:
        total = prefix_sums(values)
        sums: Longs = total[self.stop] - total[self.first]
        return sums

    def spans_by_place(self, start: Longs, end: Longs) -> Longs:
        """Return the time from the first start to the last end of each place; 0 if nothing started (`end` is -1)."""
        last = _slice_maxima(end, self.first, self.stop)
        before = -_slice_maxima(-start, self.first, self.stop)
        lengths: Longs = np.where(last >= 0, last - np.minimum(before, last), 0)
        return lengths

    def step_counts_by_row(self) -> Longs:
        """Return the number of steps that measured each row of the graph."""
        counts: Longs = self.chains_to_rows(np.bincount(self.chain, minlength=self.chains))
        return counts

    def measure_rows(self, values: Longs, steps: int, unit: int = 1) -> StepMeasure:
        """Return mean, median, minimum and maximum of each row over `steps` steps, divided by `unit`; a step without
        the row counts as 0."""
        measured = np.flatnonzero(values)
        chain, value = self.chain[measured], values[measured] / unit
        count, counts = max(1, steps), np.bincount(chain, minlength=self.chains)
        in_order = value[np.lexsort((value, chain))]
        first, zeros = np.cumsum(counts) - counts, count - counts

        def value_at_rank(rank: int) -> Floats:
            """Return the value of each chain at a rank among all steps: first zeros, then measured values."""
            column = np.zeros(self.chains)
            is_measured = zeros <= rank
            column[is_measured] = in_order[(first + rank - zeros)[is_measured]]
            return column

        mean = np.bincount(chain, value, self.chains) / count
        middle = (value_at_rank((count - 1) // 2) + value_at_rank(count // 2)) / 2
        columns = (mean, value_at_rank(0), value_at_rank(count - 1), middle)
        return StepMeasure(*(freeze_array(self.chains_to_rows(column)) for column in columns))

    def chains_to_rows(self, column: NDArray[Any]) -> NDArray[Any]:
        """Convert a column of chains to one of rows, 0 if nothing was measured."""
        return np.append(column, column.dtype.type(0))[self.chain_of]


def _slice_maxima(values: Longs, first: Longs, stop: Longs) -> Longs:
    """Return the greatest value of each slice `first … stop-1`; no slice is empty. Two slices of a power-of-two width
    cover it, and their maxima are computed by doubling the width (a sparse table).

    >>> _slice_maxima(np.array([3, 1, 4, 1, 5]), np.array([0, 1, 3]), np.array([3, 2, 5])).tolist()
    [4, 1, 5]
    """
    found, width, most = np.zeros(len(first), np.int64), 1, int(np.max(stop - first, initial=0))
    while width <= most:
        fitting = np.flatnonzero((stop - first >= width) & (stop - first < 2 * width))
        found[fitting] = np.maximum(values[first[fitting]], values[stop[fitting] - width])
        values = np.maximum(values[:-width], values[width:])
        width *= 2
    return found


SamplesByPath = Mapping[RowPath, Sample]
NEVER_STARTED = int(np.iinfo(np.int64).max)
SAMPLE_QUANTITIES = ("time", "cpu", "accelerator", "enqueue", "bytes")
ENTRY_FIELDS = ("step", "row", *SAMPLE_QUANTITIES, "start", "end")


def _stats_from_samples(hierarchy: Hierarchy, steps: list[SamplesByPath], machinery: list[SamplesByPath]) -> Stats:
    """Return the statistics of all steps, from the samples of each step and those of the machinery of calls, by path.

    In every column, the value of a group is the sum over the rows below it, and that of a call the sum over its
    function; the means of siblings sum to the mean of their group.
    """
    inside: list[SamplesByPath] = []
    entries = [np.zeros((0, len(ENTRY_FIELDS)), np.int64)]
    shapes: dict[int, tuple[Shape, ...]] = {}
    device_of_row: dict[int, str] = {}
    library = int(hierarchy.end[0])  # rows of functions follow those of the main graph
    functions: dict[int, int] = {}
    for number, (samples, of_calls) in enumerate(zip(steps, machinery, strict=True)):
        merged = merge_call_samples(samples, of_calls)
        inside.append({path: sample for path, sample in merged.items() if len(path) > 1 or path[0] >= library})
        sums = sorted(_sum_samples_by_row(hierarchy, merged, functions).items())
        entries.append(
            np.array([(number, row, *values) for row, values in sums], np.int64).reshape(-1, len(ENTRY_FIELDS))
        )
        for path, sample in samples.items():
            shapes.setdefault(path[-1], sample.shapes)
            device_of_row.setdefault(path[-1], sample.device)
    return replace(_build_stats_columns(hierarchy, np.concatenate(entries).T, inside, shapes), placed=device_of_row)


def _build_stats_columns(
    hierarchy: Hierarchy, entries: Longs, inside: list[SamplesByPath], shapes: dict[int, tuple[Shape, ...]]
) -> Stats:
    """Return the statistics as columns. `entries` are the `ENTRY_FIELDS` of every row measured in a step, and of
    enclosing calls."""
    column = dict(zip(ENTRY_FIELDS, entries, strict=True))
    chains = MeasuredChains(hierarchy, column["step"], column["row"])

    def measure(name: str) -> StepMeasure:
        # From nanoseconds to microseconds.
        return chains.measure_rows(chains.sums_by_place(column[name]), len(inside), 1 if name == "bytes" else 1000)

    ordinary, counts = hierarchy.is_ordinary_op, chains.step_counts_by_row()
    is_measured = np.zeros(len(hierarchy), bool)
    is_measured[column["row"]] = True
    return Stats(
        steps=tuple(str(step) for step in range(len(inside))),
        time=measure("time"),
        span=chains.measure_rows(chains.spans_by_place(column["start"], column["end"]), len(inside), 1000),
        bytes=measure("bytes"),
        cpu=measure("cpu").median,
        accelerator=measure("accelerator").median,
        enqueue=measure("enqueue").median,
        measured=freeze_array(sums_below(hierarchy, is_measured & ordinary)),
        ops=freeze_array(sums_below(hierarchy, ordinary)),
        known=freeze_array(counts > 0),
        end=hierarchy.end,
        shapes={row: step_shapes for row, step_shapes in shapes.items() if step_shapes},
        inside=tuple(inside),
        counts=freeze_array(counts),
    )


def merge_call_samples(samples: SamplesByPath, machinery: SamplesByPath) -> SamplesByPath:
    """Set the time of calls with samples inside to 0, and add the machinery of calls to their time."""
    # Every call in which something was measured.
    around = paths_with_children(sorted({*samples, *machinery})) | set(machinery)
    sample_at: dict[RowPath, Sample] = {}
    for path, sample in samples.items():
        # Start and end stay, as they describe the whole call.
        if path in around:
            sample = replace(sample, time=0, cpu=0, accelerator=0, enqueue=0, bytes=0)
        sample_at[path] = sample
    for path, sample in machinery.items():
        sample_at[path] = _add_samples(sample_at[path], sample) if path in sample_at else sample
    return sample_at


def _add_samples(sample: Sample, other: Sample) -> Sample:
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


def _sum_samples_by_row(
    hierarchy: Hierarchy, samples: SamplesByPath, functions: dict[int, int]
) -> dict[int, list[int]]:
    """Sum the quantities of one step by row, and merge start and end. A sample counts for its op and for every
    enclosing call; in a recursion, only the innermost row of a function counts. `functions` caches the function of each
    row."""
    by_row: dict[int, list[int]] = {}
    for path, sample in samples.items():
        for row in path:
            if row not in functions:
                functions[row] = function_row_of(hierarchy, row)
            if row not in by_row:
                by_row[row] = [*[0] * len(SAMPLE_QUANTITIES), NEVER_STARTED, -1]  # the last two are start and end
        for row in {functions[row]: row for row in path}.values():
            values = by_row[row]
            for index, name in enumerate(SAMPLE_QUANTITIES):
                values[index] += getattr(sample, name)
            if sample.start >= 0:
                values[-2:] = min(values[-2], sample.start), max(values[-1], sample.end)
    return by_row


@dataclass(frozen=True, slots=True)
class StatsOptions:
    """Options for joining statistics.

    `tensorboard`: count as TensorBoard does (docs/statistics.md). `keep_warm_up`: always count the first step.
    """

    tensorboard: bool = False
    keep_warm_up: bool = False


DEFAULT_STATS_OPTIONS = StatsOptions()
# Limits for one execution: three hours, the year 2116, eight terabytes. Sums of a million values fit into 64 bits.
MAX_DURATION_NS, MAX_START_NS, MAX_ALLOCATION_BYTES = 10**13, 2**62, 2**43
WARM_UP_FACTOR = 3  # times the median of the later steps


@dataclass(slots=True)
class JoinedTrace:
    """One trace, joined: samples by path, executions without an op in the graph by name, and counts."""

    samples: dict[RowPath, Sample] = field(default_factory=dict)
    machinery: dict[RowPath, Sample] = field(default_factory=dict)
    unmatched: dict[str, list[CountedExecution]] = field(default_factory=dict)
    joined: int = 0
    executions: int = 0
    compiled: int = 0


def join_statistics(
    hierarchy: Hierarchy,
    traces: Sequence[RunMetadata],
    options: StatsOptions = DEFAULT_STATS_OPTIONS,
    names: Sequence[str] = (),
) -> Stats:
    """Return the statistics of every row, from one trace for each step (`names` are their tags): sums over the
    executions of an op, means over the steps. Executions without an op in the graph are in `unmatched`.

    >>> from graphviz_tb.flatten import flatten
    >>> from graphviz_tb.interpret import interpret
    >>> from graphviz_tb.fold import fold_graph
    >>> from graphviz_tb.proto import GraphDef, RunMetadata
    >>> nodes = [{"name": "layer/x", "op": "Relu"}, {"name": "layer/y", "op": "Abs"}]
    >>> hierarchy = fold_graph(interpret(flatten(GraphDef(node=nodes))))
    >>> entry = {"node_name": "layer/x", "all_start_micros": 10, "all_end_rel_micros": 3}
    >>> trace = RunMetadata(step_stats={"dev_stats": [{"device": "/device:CPU:0", "node_stats": [entry]}]})
    >>> figures = join_statistics(hierarchy, [trace]).figures(1)
    >>> hierarchy.name[1], figures.time, figures.coverage
    ('layer', 3.0, 0.5)
    """
    reads = [executions_by_device(trace, options) for trace in traces]
    steps = _join_steps(hierarchy, reads, options)
    labels = tuple(names) or tuple(str(number) for number in range(len(traces)))
    warm_up = "" if options.keep_warm_up or options.tensorboard else _warm_up_step(labels, steps)
    if warm_up:
        steps, labels, reads = steps[1:], labels[1:], reads[1:]
    stats = _stats_from_samples(hierarchy, [step.samples for step in steps], [step.machinery for step in steps])
    return replace(
        stats,
        steps=labels,
        devices=_device_uses(reads, options),
        unmatched=tuple(
            sorted(_mean_unmatched_times(steps).items(), key=lambda execution: (-execution[1], execution[0]))
        ),
        joined=sum(step.joined for step in steps),
        executions=sum(step.executions for step in steps),
        compiled=sum(step.compiled for step in steps),
        warm_up=warm_up,
    )


def _join_steps(
    hierarchy: Hierarchy, reads: Sequence[Mapping[str, list[Execution]]], options: StatsOptions
) -> list[JoinedTrace]:
    """Join the executions of each step with ops, on the devices that count."""
    every = [
        {device: executions for device, executions in read.items() if is_joined_device(device, options)}
        for read in reads
    ]
    # Names of all steps together, since their majority decides ambiguous functions.
    places = TraceNames(hierarchy, options.tensorboard).execution_paths(
        execution.name for read in every for executions in read.values() for execution in executions
    )
    return [join_executions(counted_executions(read, options), places) for read in every]


def _warm_up_step(labels: Sequence[str], steps: Sequence[JoinedTrace]) -> str:
    """Return the name of the first step if it took more than `WARM_UP_FACTOR` times the median of the later steps, as
    tracing and compilation do; else "". With two steps, it is unknown which is unusual."""
    times = [sum(sample.time for sample in step.samples.values()) for step in steps]
    return labels[0] if len(times) > 2 and times[0] > WARM_UP_FACTOR * median_with_zeros(times[1:]) else ""


def executions_by_device(trace: RunMetadata, options: StatsOptions) -> dict[str, list[Execution]]:
    read = _times_in_microseconds if options.tensorboard else _times_in_nanoseconds
    entries: dict[str, list[Execution]] = defaultdict(list)
    for device in trace.step_stats.dev_stats:
        kernels = bool(STREAM_DEVICE.match(device.device))
        entries[device.device].extend(_execution_of_entry(entry, *read(entry), kernels) for entry in device.node_stats)
    return dict(entries)


def _times_in_nanoseconds(entry: Any) -> tuple[int, int]:
    """Return start and length of an entry in nanoseconds; older traces only have microseconds."""
    # Proto3 has no absent numbers: 0 is a field that was not written.
    start = entry.all_start_nanos or 1000 * entry.all_start_micros
    return start, entry.all_end_rel_nanos or 1000 * entry.all_end_rel_micros


def _times_in_microseconds(entry: Any) -> tuple[int, int]:
    """Return start and length of an entry as TensorBoard reads them: whole microseconds, in nanoseconds."""
    return 1000 * entry.all_start_micros, 1000 * entry.all_end_rel_micros


def _execution_of_entry(entry: Any, start: int, time: int, kernel: bool = False) -> Execution:
    """Convert an entry of a trace. Only positive allocations count; the label of a `kernel` is its name."""
    outputs = entry.output
    return Execution(
        name=entry.node_name,
        start=min(max(0, start), MAX_START_NS),
        time=min(max(0, time), MAX_DURATION_NS),
        bytes=min(sum(use.total_bytes for use in memory if use.total_bytes > 0), MAX_ALLOCATION_BYTES)
        if (memory := entry.memory)
        else 0,
        compiled=entry.timeline_label == COMPILED_LABEL,
        shapes=tuple(shape_from_proto(output.tensor_description.shape) for output in outputs) if len(outputs) else None,
        thread=entry.thread_id,
        label=entry.timeline_label if kernel else "",
        op="" if kernel else _op_of_label(entry.timeline_label),
        waited=min(max(0, start - (entry.scheduled_nanos or 1000 * entry.scheduled_micros or start)), MAX_DURATION_NS),
    )


EXECUTOR_LABEL = re.compile(r"(?:^|.* = )(\w+)\(", re.DOTALL)  # "conv1/Conv2D = Conv2D(x, conv1/kernel/read)"


def _op_of_label(label: str) -> str:
    """Return the op type in a label of the executor; "" for other labels.

    >>> _op_of_label("conv1/Conv2D = Conv2D(x, y)"), _op_of_label("Relu()"), _op_of_label("void kernel<float>(int)")
    ('Conv2D', 'Relu', '')
    """
    match = EXECUTOR_LABEL.match(label)
    return match[1] if match else ""


def is_joined_device(device: str, options: StatsOptions) -> bool:
    """Return whether a device counts; TensorBoard only accepts names `device:TYPE:N`."""
    return bool(CANONICAL_DEVICE.search(device)) if options.tensorboard else True


def counted_executions(read: dict[str, list[Execution]], options: StatsOptions) -> list[CountedExecution]:
    """Return the executions that count, each once; TensorBoard counts all that it accepts."""
    if not options.tensorboard:
        return count_executions_once(read)
    how = {device: "accelerator" if is_accelerator_device(device) else "cpu" for device in read}
    return [
        CountedExecution(execution, how[device], device)
        for device, executions in read.items()
        for execution in executions
    ]


def join_executions(counted: Iterable[CountedExecution], places: dict[str, ExecutionPath]) -> JoinedTrace:
    """Merge executions to one sample per path; samples of the machinery of calls are separate."""
    step = JoinedTrace()
    by_path: dict[tuple[RowPath, bool], list[CountedExecution]] = defaultdict(list)
    for entry in counted:
        step.executions += 1
        place = places.get(entry.execution.name)
        if place is None:
            step.compiled += entry.execution.compiled
            step.unmatched.setdefault(entry.execution.name, []).append(entry)
            continue
        step.joined += 1
        by_path[place.path, place.within].append(entry)
    for (path, within), all_of_path in by_path.items():
        (step.machinery if within else step.samples)[path] = sample_of_executions(all_of_path)
    return step


def sample_of_executions(counted: list[CountedExecution]) -> Sample:
    """Merge all executions of one op in one step: times add up, bytes are those of the largest execution.

    Start and end are those of the executions without enqueues, if there are any.
    """
    times = {"cpu": 0, "accelerator": 0, "enqueue": 0}
    for entry in counted:
        times[entry.how] += entry.execution.time
    real = [entry.execution for entry in counted if entry.how != "enqueue"] or [entry.execution for entry in counted]
    shapes = next((entry.execution.shapes for entry in counted if entry.execution.shapes is not None), ())
    return Sample(
        time=times["cpu"] + times["accelerator"],
        cpu=times["cpu"],
        accelerator=times["accelerator"],
        enqueue=times["enqueue"],
        start=min(execution.start for execution in real),
        end=max(execution.start + execution.time for execution in real),
        bytes=max(entry.execution.bytes for entry in counted),
        shapes=shapes or (),
        executions=len(real),
        device=_device_of_executions(counted),
    )


def _device_of_executions(counted: list[CountedExecution]) -> str:
    """Return the device that ran an op, that of its kernels if there are any; "" if its name is not canonical."""
    device = next((entry.device for entry in counted if entry.how != "enqueue"), counted[0].device)
    part = STREAM_DEVICE.match(device)
    name = part["base"] if part else device
    return name if CANONICAL_DEVICE.search(name) else ""


def _mean_unmatched_times(steps: list[JoinedTrace]) -> dict[str, float]:
    """Return the mean time per step of names without an op in the graph, in microseconds."""
    mean: dict[str, float] = defaultdict(float)
    for step in steps:
        for name, executions in step.unmatched.items():
            mean[name] += sample_of_executions(executions).time / 1000 / len(steps)
    return mean


def _device_uses(reads: list[dict[str, list[Execution]]], options: StatsOptions) -> tuple[DeviceUse, ...]:
    """Return the use of each device of the traces, in order of appearance."""
    counts: Counter[str] = Counter()
    times: Counter[str] = Counter()  # in nanoseconds
    for read in reads:
        for device, executions in read.items():
            counts[device] += len(executions)
            times[device] += sum(execution.time for execution in executions)
    steps = max(1, len(reads))
    streamed = {device.partition("/stream:")[0] for device in times if "/stream:" in device and device[-4:] != ":all"}
    return tuple(
        DeviceUse(
            device,
            counts[device],
            time / 1000 / steps,
            is_joined_device(device, options) and not _repeats_streams(device, streamed),
        )
        for device, time in times.items()
    )


def _repeats_streams(device: str, streamed: set[str]) -> bool:
    """Return whether a device repeats executions of numbered streams; `streamed` are the devices with such streams."""
    head, _, part = device.rpartition("/")
    return part in ("memcpy", "stream:all") and head in streamed
