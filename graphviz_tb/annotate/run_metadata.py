"""Run statistics: traces of steps (RunMetadata) joined with the rows of a hierarchy.

read      entries of a trace become executions by device
count     each execution counts once: streams, copies and enqueue are distinguished (devices.py)
place     names become paths, through inlined functions and lowered loops (trace_names.py)
gather    executions of one path in one step become a sample
sum up    samples become columns over rows, groups by prefix sums, steps by median, mean, least and most
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from graphviz_tb.annotate.columns import stats_from_samples
from graphviz_tb.annotate.devices import (
    CANONICAL_DEVICE,
    STREAM_DEVICE,
    CountedExecution,
    Execution,
    count_executions_once,
    is_accelerator_device,
)
from graphviz_tb.annotate.trace_names import ExecutionPath, TraceNames
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.samples import Sample
from graphviz_tb.model.stats import COMPILED_LABEL, DeviceUse, Stats, median_with_zeros
from graphviz_tb.model.tensors import shape_from_proto

if TYPE_CHECKING:
    from graphviz_tb.proto import RunMetadata


@dataclass(frozen=True, slots=True)
class StatsOptions:
    """Options for joining statistics.

    `tensorboard`: count as TensorBoard does (docs/statistics.md). `keep_warm_up`: the first step counts, however slow.
    """

    tensorboard: bool = False
    keep_warm_up: bool = False


DEFAULT_STATS_OPTIONS = StatsOptions()
# Limits for one execution: larger values are not measurements, and the sum of a million still fits into 64 bits.
# nanoseconds: three hours, and the year 2116; bytes: eight terabytes
MAX_DURATION_NS, MAX_START_NS, MAX_ALLOCATION_BYTES = 10**13, 2**62, 2**43
WARM_UP_FACTOR = 3  # times the median of the later steps; steps of one program seldom differ by more than half


@dataclass(slots=True)
class JoinedTrace:
    """One trace, joined: samples by path, the time of names without an op in the graph, and counts of executions."""

    samples: dict[RowPath, Sample] = field(default_factory=dict)
    loose: dict[RowPath, Sample] = field(default_factory=dict)
    unmatched: dict[str, int] = field(default_factory=dict)
    joined: int = 0
    executions: int = 0
    compiled: int = 0


def join_statistics(
    hierarchy: Hierarchy,
    traces: Sequence[RunMetadata],
    options: StatsOptions = DEFAULT_STATS_OPTIONS,
    names: Sequence[str] = (),
) -> Stats:
    """Return the statistics of every row.

    Before: one trace for each step (`names` are their tags). After: sums over the executions of an op, means over the
    steps; executions whose name no op of the graph has are in `unmatched`.

    >>> from graphviz_tb.flatten import flatten
    >>> from graphviz_tb.interpret import interpret
    >>> from graphviz_tb.group import fold_graph
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
    # `reads` has all devices, for the list of devices; only those that count are joined.
    every = [
        {device: executions for device, executions in read.items() if is_joined_device(device, options)}
        for read in reads
    ]
    finder = TraceNames(hierarchy, options.tensorboard)
    # All steps together: the majority of names decides which function ran outside of any call.
    places = finder.execution_paths(
        execution.name for read in every for executions in read.values() for execution in executions
    )
    steps = [join_executions(counted_executions(read, options), places) for read in every]
    labels = tuple(names) or tuple(str(number) for number in range(len(traces)))
    warm_up = "" if options.keep_warm_up or options.tensorboard else warm_up_step(labels, steps)
    if warm_up:
        steps, labels, reads = steps[1:], labels[1:], reads[1:]
    stats = stats_from_samples(hierarchy, [step.samples for step in steps], [step.loose for step in steps])
    return replace(
        stats,
        steps=labels,
        devices=device_uses(reads, options),
        unmatched=tuple(
            sorted(mean_unmatched_times(steps).items(), key=lambda execution: (-execution[1], execution[0]))
        ),
        joined=sum(step.joined for step in steps),
        executions=sum(step.executions for step in steps),
        compiled=sum(step.compiled for step in steps),
        warm_up=warm_up,
    )


def warm_up_step(labels: Sequence[str], steps: Sequence[JoinedTrace]) -> str:
    """Return the name of the first step if it took more than `WARM_UP_FACTOR` times the median of the later ones, else
    "".

    Such a step traced, compiled and allocated for the later ones.
    """
    # With two steps there is no telling which one is unusual.
    times = [sum(sample.time for sample in step.samples.values()) for step in steps]
    return labels[0] if len(times) > 2 and times[0] > WARM_UP_FACTOR * median_with_zeros(times[1:]) else ""


def executions_by_device(trace: RunMetadata, options: StatsOptions) -> dict[str, list[Execution]]:
    """Return the entries of a trace by device."""
    read = times_in_microseconds if options.tensorboard else times_in_nanoseconds
    entries: dict[str, list[Execution]] = defaultdict(list)
    for device in trace.step_stats.dev_stats:
        kernels = bool(STREAM_DEVICE.match(device.device))
        entries[device.device].extend(execution_of_entry(entry, *read(entry), kernels) for entry in device.node_stats)
    return dict(entries)


def times_in_nanoseconds(entry: Any) -> tuple[int, int]:
    """Return start and length of an entry in nanoseconds; older traces only have microseconds."""
    # Proto3 has no absent numbers: 0 is a field that was not written.
    start = entry.all_start_nanos or 1000 * entry.all_start_micros
    return start, entry.all_end_rel_nanos or 1000 * entry.all_end_rel_micros


def times_in_microseconds(entry: Any) -> tuple[int, int]:
    """Return start and length of an entry as TensorBoard reads them: whole microseconds, in nanoseconds."""
    return 1000 * entry.all_start_micros, 1000 * entry.all_end_rel_micros


def execution_of_entry(entry: Any, start: int, time: int, kernel: bool = False) -> Execution:
    """Convert one entry. Allocations that are not positive do not count; for a `kernel` the label is its own name."""
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
        waited=min(max(0, start - (entry.scheduled_nanos or 1000 * entry.scheduled_micros or start)), MAX_DURATION_NS),
    )


def is_joined_device(device: str, options: StatsOptions) -> bool:
    """Return whether a device takes part; TensorBoard only accepts names `device:TYPE:N`."""
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
    """Merge executions to one sample per path; the machinery of calls is separate, in `loose`."""
    step = JoinedTrace()
    by_path: dict[tuple[RowPath, bool], list[CountedExecution]] = defaultdict(list)
    for each in counted:
        step.executions += 1
        place = places.get(each.execution.name)
        if place is None:
            name = each.execution.name
            step.compiled += each.execution.compiled
            step.unmatched[name] = step.unmatched.get(name, 0) + each.execution.time
            continue
        step.joined += 1
        by_path[place.path, place.within].append(each)
    for (path, within), all_of_path in by_path.items():
        (step.loose if within else step.samples)[path] = sample_of_executions(all_of_path)
    return step


def sample_of_executions(counted: list[CountedExecution]) -> Sample:
    """Merge all executions of one op in one step: times add up, bytes are those of the largest execution.

    The span is that of the executions that count, or of the enqueue if there are none.
    """
    times = {"cpu": 0, "accelerator": 0, "enqueue": 0}
    for each in counted:
        times[each.how] += each.execution.time
    # For an op with kernels, the entry of the host only shows when they were enqueued.
    real = [each.execution for each in counted if each.how != "enqueue"] or [each.execution for each in counted]
    shapes = next((each.execution.shapes for each in counted if each.execution.shapes is not None), ())
    return Sample(
        time=times["cpu"] + times["accelerator"],
        cpu=times["cpu"],
        accelerator=times["accelerator"],
        enqueue=times["enqueue"],
        start=min(each.start for each in real),
        end=max(each.start + each.time for each in real),
        bytes=max(each.execution.bytes for each in counted),
        shapes=shapes or (),
        executions=len(real),
    )


def mean_unmatched_times(steps: list[JoinedTrace]) -> dict[str, float]:
    """Return the time of names without an op in the graph, mean over the steps."""
    mean: dict[str, float] = defaultdict(float)
    # Nanoseconds to microseconds, a step without the name as zero.
    for step in steps:
        for name, time in step.unmatched.items():
            mean[name] += time / 1000 / len(steps)
    return mean


def device_uses(reads: list[dict[str, list[Execution]]], options: StatsOptions) -> tuple[DeviceUse, ...]:
    """Return the use of each device of the traces, in order of appearance."""
    total: dict[str, list[int]] = {}
    for read in reads:
        for device, executions in read.items():
            use = total.setdefault(device, [0, 0])
            use[0] += len(executions)
            use[1] += sum(execution.time for execution in executions)
    steps = max(1, len(reads))
    streamed = {device.partition("/stream:")[0] for device in total if "/stream:" in device and device[-4:] != ":all"}
    return tuple(
        DeviceUse(
            device,
            use[0],
            use[1] / 1000 / steps,
            is_joined_device(device, options) and not _repeats_streams(device, streamed),
        )
        for device, use in total.items()
    )


def _repeats_streams(device: str, streamed: set[str]) -> bool:
    """Return whether a device repeats executions of numbered streams; `streamed` are the devices with such streams."""
    head, _, part = device.rpartition("/")
    return part in ("memcpy", "stream:all") and head in streamed
