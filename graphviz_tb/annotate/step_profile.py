"""Join one traced step with a graph, execution by execution.

read      read the entries of the trace as run statistics do (statistics.py): each counts once and has a path
tables    self time and total time by op, by type, by group
timeline  a slice for each execution, on the lane of its thread or stream
shares    times of the step with computation, with only the input pipeline, or idle
memory    bytes in use over the step, if the trace has allocations
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphviz_tb.annotate.devices import (
    STREAM_DEVICE,
    CountedExecution,
    Execution,
    is_accelerator_device,
    strip_kernel_name,
)
from graphviz_tb.annotate.rankings import op_type_of_row
from graphviz_tb.annotate.statistics import (
    DEFAULT_STATS_OPTIONS,
    JoinedTrace,
    StatsOptions,
    counted_executions,
    executions_by_device,
    is_joined_device,
    join_executions,
    merge_call_samples,
    sample_of_executions,
)
from graphviz_tb.annotate.trace_names import ExecutionPath, TraceNames
from graphviz_tb.graphs.calls import paths_with_children
from graphviz_tb.limits import MAX_LANE_LEVELS
from graphviz_tb.model.columns import freeze_array, int32_column
from graphviz_tb.model.formatting import format_counted_noun, format_micros
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import FUNCTION_ROW, SCOPE_ROW, Hierarchy
from graphviz_tb.model.paths import RowPath, path_address
from graphviz_tb.model.profile import Lane, MemoryCurve, OpTime, Profile, SliceKind, StepShares, Timeline
from graphviz_tb.model.stats import COMPILED_LABEL, Sample, median_with_zeros
from graphviz_tb.ops.roles import INPUT_PIPELINE_OPS

if TYPE_CHECKING:
    from graphviz_tb.proto import RunMetadata

# Levels of the slices of one lane: slices of one level never overlap.
#
# nested    on a thread or stream, executions nest: a slice is one level below the slice around it
# packed    on a device without recorded threads, a slice is on the first free level

SliceTimes = Iterable[tuple[int, int]]  # start and end, sorted by start, then the longest first
NO_LEVEL = -1  # of slices that exceed the levels of a lane


def _nested_levels(times: SliceTimes) -> tuple[list[int], list[int]]:
    """Return the level of each slice and the slice around it, -1 for none.

    >>> _nested_levels([(0, 10), (1, 4), (2, 3), (5, 6), (8, 12)])
    ([0, 1, 2, 1, 1], [-1, 0, 1, 0, -1])
    """
    levels: list[int] = []
    parents: list[int] = []
    open_now: list[tuple[int, int, int]] = []  # end, level, slice; the deepest last
    max_levels: int = MAX_LANE_LEVELS
    for number, (start, end) in enumerate(times):
        open_now = [outer for outer in open_now if outer[0] > start]
        level = open_now[-1][1] + 1 if open_now else 0
        parent = next((outer for outer_end, _, outer in reversed(open_now) if outer_end >= end), -1)
        if level >= max_levels:
            level, parent = NO_LEVEL, -1
        else:
            open_now.append((end, level, number))
        levels.append(level)
        parents.append(parent)
    return levels, parents


def _packed_levels(times: SliceTimes) -> list[int]:
    """Return the first free level for each slice.

    >>> _packed_levels([(0, 10), (1, 4), (4, 6), (11, 12)])
    [0, 1, 1, 0]
    """
    levels: list[int] = []
    free = list(range(MAX_LANE_LEVELS))
    heapify(free)
    taken: list[tuple[int, int]] = []  # end, level
    for start, end in times:
        while taken and taken[0][0] <= start:
            heappush(free, heappop(taken)[1])
        level = heappop(free) if free else NO_LEVEL
        if level != NO_LEVEL:
            heappush(taken, (end, level))
        levels.append(level)
    return levels


MAX_MEMORY_NUMBER = 2**53  # bytes, or microseconds (the year 2255): larger numbers are damaged


def _memory_curves(trace: RunMetadata, origin: int) -> tuple[MemoryCurve, ...]:
    """Return the bytes in use over time for each allocator, sorted by name; at equal times, frees come first."""
    records: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for device in trace.step_stats.dev_stats:
        for entry in device.node_stats:
            for used in entry.memory:
                found = records[used.allocator_name]
                found.extend((record.alloc_micros, record.alloc_bytes) for record in used.allocation_records)
    return tuple(_memory_curve(name, records[name], origin) for name in sorted(records) if records[name])


def _memory_curve(allocator: str, records: list[tuple[int, int]], origin: int) -> MemoryCurve:
    """Return the curve of one allocator, one value per time."""
    sound = [record for record in records if 0 <= record[0] < MAX_MEMORY_NUMBER and abs(record[1]) < MAX_MEMORY_NUMBER]
    times, sizes = np.array(sorted(sound), np.int64).reshape(-1, 2).T
    used = np.cumsum(sizes.astype(np.float64)).astype(np.int64)  # as floats, since a hostile sum may exceed 64 bits
    last = np.concatenate((times[1:] != times[:-1], [True]))[: len(times)]
    return MemoryCurve(allocator, freeze_array(np.maximum(times[last] * 1000 - origin, 0)), freeze_array(used[last]))


def _covered_length(start: Any, end: Any) -> int:
    """Return the length of the union of intervals.

    >>> _covered_length(np.array([0, 5, 2]), np.array([3, 6, 4]))
    5
    """
    if not len(start):
        return 0
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    gaps = np.maximum(start[1:] - end[:-1], 0)  # between the furthest end so far and the next start
    return int(end[-1] - start[0] - np.sum(gaps))


def _step_shares(timeline: Timeline) -> StepShares:
    """Return the shares of a step; each moment counts for the first of compute, input and launch that runs then."""
    start, end = timeline.start, timeline.start + timeline.duration
    reached = [0]
    of_kind = np.zeros(len(timeline), bool)
    for kind in (SliceKind.COMPUTE, SliceKind.INPUT, SliceKind.LAUNCH):
        of_kind |= timeline.kind == kind
        reached.append(_covered_length(start[of_kind], end[of_kind]))
    compute, busy, all_busy = reached[1:]
    length = timeline.end_time
    return StepShares(length, compute, busy - compute, all_busy - busy, length - all_busy)


# Tables of ops, by type and by group. The self times of each table sum to the time of the step.

OpTables = tuple[tuple[OpTime, ...], tuple[OpTime, ...], tuple[OpTime, ...]]


class SumsBelow:
    """Time, executions and bytes below any path: in path order, paths with a common prefix are contiguous."""

    def __init__(self, hierarchy: Hierarchy, samples: Mapping[RowPath, Sample]) -> None:
        self.hierarchy = hierarchy
        self.paths = sorted(samples)
        each = [samples[path] for path in self.paths]
        self._time = [0, *accumulate(sample.time for sample in each)]
        self._count = [0, *accumulate(sample.executions for sample in each)]
        self._bytes = [0, *accumulate(sample.bytes for sample in each)]

    def total_under(self, path: RowPath) -> tuple[int, int, int]:
        """Return time in nanoseconds, executions and bytes of a group or call, contents included."""
        first = bisect_left(self.paths, path)
        stop = bisect_left(self.paths, (*path[:-1], int(self.hierarchy.end[path[-1]])), first)
        columns = (self._time, self._count, self._bytes)
        time, count, size = (column[stop] - column[first] for column in columns)
        return time, count, size


NOT_IN_GRAPH = "not in this graph"  # the row of executions without an op in the graph


def _op_tables(hierarchy: Hierarchy, samples: Mapping[RowPath, Sample], unmatched: Sequence[OpTime]) -> OpTables:
    """Return the tables by op, by type and by group, most self time first. The self time of a call is that of its own
    executions. `unmatched` ops are rows, and together one group."""
    sums = SumsBelow(hierarchy, samples)
    ops = list(unmatched)
    for path, sample in samples.items():
        total = sums.total_under(path)[0] if path[-1] in hierarchy.calls else sample.time
        name, op = path_address(hierarchy, path), op_type_of_row(hierarchy, path[-1])
        ops.append(OpTime(name, op, path, sample.time, total, sample.executions, sample.bytes))
    groups = _group_table(hierarchy, sums, samples)
    if unmatched:
        groups.append(_sum_rows(NOT_IN_GRAPH, "", unmatched))
    return _sort_by_self_time(ops), _op_type_table(ops), _sort_by_self_time(groups)


def _unmatched_ops(joined: JoinedTrace) -> list[OpTime]:
    """Return a row for each op of the trace that is not in the graph, with its kernels."""
    by_name: dict[str, list[CountedExecution]] = defaultdict(list)
    for name, executions in joined.unmatched.items():
        by_name[strip_kernel_name(name) or name].extend(executions)
    rows = []
    for name, executions in by_name.items():
        sample = sample_of_executions(executions)
        op = next((execution.execution.op for execution in executions if execution.execution.op), "")
        rows.append(
            OpTime(name or NOT_IN_GRAPH, op, (), sample.time, sample.time, sample.executions, sample.bytes, False)
        )
    return rows


def _sum_rows(name: str, op: str, rows: Sequence[OpTime]) -> OpTime:
    columns = ((row.self_time, row.total, row.count, row.bytes) for row in rows)
    time, total, count, size = (sum(column) for column in zip(*columns, strict=True))
    return OpTime(name, op, (), time, total, count, size, any(row.in_graph for row in rows))


def _sort_by_self_time(rows: Iterable[OpTime]) -> tuple[OpTime, ...]:
    """Sort rows by self time, then total time, both descending; ties by their place in the graph."""
    return tuple(sorted(rows, key=lambda row: (-row.self_time, -row.total, row.path, row.name)))


def median_table(tables: Sequence[Sequence[OpTime]]) -> tuple[OpTime, ...]:
    """Return the medians of each row over the tables of several steps. A step without the row counts as 0; medians need
    not add up.

    >>> one, other = (OpTime("x", "Relu", (1,), time, time, 2) for time in (10, 30))
    >>> median_table([[one], [other], [other]]) == (other,), median_table([[one], []])[0].self_time
    (True, 5)
    """
    rows: dict[tuple[RowPath, str], list[OpTime]] = {}
    for table in tables:
        for row in table:
            rows.setdefault((row.path, row.name), []).append(row)

    def middle(values: Iterable[int]) -> int:
        return round(median_with_zeros(values, len(tables)))

    return _sort_by_self_time(
        replace(
            found[0],
            self_time=middle(row.self_time for row in found),
            total=middle(row.total for row in found),
            count=middle(row.count for row in found),
            bytes=middle(row.bytes for row in found),
        )
        for found in rows.values()
    )


def _op_type_table(ops: Sequence[OpTime]) -> tuple[OpTime, ...]:
    """Return a row for each op type; ops of unknown type share a row."""
    by_type: dict[str, list[OpTime]] = defaultdict(list)
    for row in ops:
        by_type[row.op].append(row)
    return _sort_by_self_time(
        _sum_rows(op if op or any(row.in_graph for row in rows) else NOT_IN_GRAPH, op, rows)
        for op, rows in by_type.items()
    )


def _group_table(hierarchy: Hierarchy, sums: SumsBelow, samples: Mapping[RowPath, Sample]) -> list[OpTime]:
    """Return a row for each scope, call and function with measurements; its self time is that of the ops directly in
    it."""
    self_times: Counter[RowPath] = Counter()
    for path, sample in samples.items():
        group = path if path[-1] in hierarchy.calls else _group_around(hierarchy, path) or (0,)
        self_times[group] += sample.time
    for group in list(self_times):
        # Walk outwards to the first known group, so that each group is visited once.
        around = _group_around(hierarchy, group)
        while around is not None and around not in self_times:
            self_times[around] = 0
            around = _group_around(hierarchy, around)
    rows = []
    for group, time in self_times.items():
        total, count, size = sums.total_under(group)
        rows.append(
            OpTime(
                path_address(hierarchy, group), op_type_of_row(hierarchy, group[-1]), group, time, total, count, size
            )
        )
    return rows


def _group_around(hierarchy: Hierarchy, path: RowPath) -> RowPath | None:
    """Return the scope, call or function around a path; None for the whole graph, and for a function outside of any
    call."""
    row = int(hierarchy.parent[path[-1]])
    while row >= 0 and hierarchy.kind[row] not in (SCOPE_ROW, FUNCTION_ROW) and row:
        row = int(hierarchy.parent[row])
    if row < 0:
        return None
    if hierarchy.kind[row] == FUNCTION_ROW and len(path) > 1:
        return path[:-1]
    return (*path[:-1], row)


class SliceValues(NamedTuple):
    """A slice of a lane; `name` and `node` are numbers of `SliceNumbers`."""

    start: int
    end: int
    name: int
    node: int
    kind: int
    waited: int


PathByName = Mapping[str, ExecutionPath]
SLICE_FIELDS = len(SliceValues._fields)


@dataclass(frozen=True, slots=True)
class SliceNumbers:
    """Numbers by which slices refer to names and to paths of nodes."""

    names: dict[str, int]
    nodes: dict[RowPath, int]


def _build_timeline(
    hierarchy: Hierarchy,
    trace: RunMetadata,
    read: Mapping[str, Sequence[Execution]],
    counted: Sequence[CountedExecution],
    places: PathByName,
) -> Timeline:
    """Return the slices of a step: one for each counted execution, and one for each op with kernels on a stream."""
    how = {id(entry.execution): entry.how for entry in counted}
    paths = sorted({place.path for place in places.values() if not place.within})
    measured_inside = paths_with_children(sorted({place.path for place in places.values()}))
    kinds = {path: _slice_kind_of(hierarchy, path, measured_inside) for path in paths}
    numbers = SliceNumbers({}, {})
    origin = min((entry.execution.start for entry in counted), default=0)
    lanes: list[Lane] = []
    tables: list[Any] = []
    for device, thread, executions in _executions_by_lane(trace, read, how):
        slices = [
            _execution_slice(execution, how[id(execution)], places, kinds, numbers, origin) for execution in executions
        ]
        if STREAM_DEVICE.match(device):
            slices += _op_spans_over_kernels(slices, numbers, places)
        slices.sort(key=lambda piece: (piece.start, -piece.end, -piece.kind))  # outer slices before inner ones
        columns = _lane_columns(len(lanes), slices, bool(thread))
        levels = int(np.max(columns[1])) + 1 if columns.shape[1] else 0
        lanes.append(Lane(device, thread, is_accelerator_device(STREAM_DEVICE.sub(r"\g<base>", device)), levels))
        tables.append(columns)
    return _join_lanes(hierarchy, lanes, tables, numbers, origin)


def _executions_by_lane(
    trace: RunMetadata, read: Mapping[str, Sequence[Execution]], how: Mapping[int, str]
) -> Iterator[tuple[str, str, list[Execution]]]:
    """Yield device, thread and executions of each lane, accelerators last, in trace order."""
    threads = {device.device: dict(device.thread_names) for device in trace.step_stats.dev_stats}
    for device in sorted(read, key=lambda device: STREAM_DEVICE.match(device) is not None):
        lanes: dict[int, list[Execution]] = {}
        for each in read[device]:
            if id(each) in how:  # others repeat a counted execution
                lanes.setdefault(each.thread, []).append(each)
        stream = STREAM_DEVICE.match(device)
        for thread in sorted(lanes):
            named = threads.get(device, {}).get(thread) or (f"thread {thread}" if thread else "")
            yield device, stream["part"] if stream else named, lanes[thread]


def _slice_kind_of(hierarchy: Hierarchy, path: RowPath, measured_inside: set[RowPath]) -> SliceKind:
    """Return the kind of a node's slices."""
    if path in measured_inside:
        return SliceKind.CALL
    return SliceKind.INPUT if op_type_of_row(hierarchy, path[-1]) in INPUT_PIPELINE_OPS else SliceKind.COMPUTE


def _execution_slice(
    each: Execution,
    how: str,
    places: PathByName,
    kinds: Mapping[RowPath, SliceKind],
    numbers: SliceNumbers,
    origin: int,
) -> SliceValues:
    place = places.get(each.name)
    name = each.label if each.label and each.label != COMPILED_LABEL else each.name
    number = numbers.names.setdefault(name, len(numbers.names))
    kind = SliceKind.LAUNCH if how == "enqueue" else SliceKind.COMPUTE
    node = -1
    if place is not None:
        node = numbers.nodes.setdefault(place.path, len(numbers.nodes))
        if how != "enqueue" and not place.within:
            kind = kinds[place.path]
    start = each.start - origin
    return SliceValues(start, start + each.time, number, node, kind, each.waited)


def _op_spans_over_kernels(slices: list[SliceValues], numbers: SliceNumbers, places: PathByName) -> list[SliceValues]:
    """Return a slice for each op on a stream, from the first to the last of its consecutive kernels."""
    names = list(numbers.names)
    paths = {number: path for path, number in numbers.nodes.items()}
    op_names = {place.path: strip_kernel_name(name) for name, place in places.items()}
    spans: list[SliceValues] = []
    first = 0  # of the consecutive kernels
    ordered = sorted(slices)
    for last in range(len(ordered)):
        node = ordered[last].node
        if last + 1 < len(ordered) and ordered[last + 1].node == node:
            continue
        run = ordered[first : last + 1]
        first = last + 1
        name = op_names.get(paths[node], "") if node >= 0 else ""
        if name and (len(run) > 1 or names[run[0].name] != name):
            number = numbers.names.setdefault(name, len(numbers.names))
            end = max(piece.end for piece in run)
            spans.append(SliceValues(run[0].start, end, number, node, SliceKind.KERNELS, waited=0))
    return spans


def _lane_columns(lane: int, slices: list[SliceValues], threaded: bool) -> Any:
    """Return the columns of one lane, sorted by level and start: lane, level, `SliceValues`, and the enclosing
    slice."""
    times = [(piece.start, piece.end) for piece in slices]
    levels, parents = _nested_levels(times) if threaded else (_packed_levels(times), [-1] * len(slices))
    columns = np.empty((3 + SLICE_FIELDS, len(slices)), np.int64)
    columns[0], columns[1], columns[-1] = lane, levels, parents
    columns[2:-1] = np.array(slices, np.int64).reshape(-1, SLICE_FIELDS).T
    order = np.argsort(columns[1], kind="stable")
    place = np.empty(len(order) + 1, np.int64)
    place[order], place[-1] = np.arange(len(order)), -1  # `place[-1]` is -1
    columns = columns[:, order]
    columns[-1] = place[columns[-1]]
    return columns


def _join_lanes(
    hierarchy: Hierarchy, lanes: list[Lane], tables: list[Any], numbers: SliceNumbers, origin: int
) -> Timeline:
    columns: Any = np.concatenate([np.zeros((3 + SLICE_FIELDS, 0), np.int64), *tables], axis=1)
    sizes = np.cumsum([0, *(table.shape[1] for table in tables)])
    offsets = np.repeat(sizes[:-1], np.diff(sizes))
    columns[-1] = np.where(columns[-1] >= 0, columns[-1] + offsets, -1)
    shown = columns[1] >= 0
    new_index = np.cumsum(shown) - 1
    columns = columns[:, shown]
    columns[-1] = np.where(columns[-1] >= 0, new_index[columns[-1]], -1)  # the slice around a shown slice is shown
    lane, level, start, end, name, node, kind, waited, parent = columns
    nodes = tuple(numbers.nodes)
    return Timeline(
        lanes=tuple(lanes),
        names=tuple(numbers.names),
        nodes=nodes,
        addresses=tuple(path_address(hierarchy, path) for path in nodes),
        lane=int32_column(lane),
        level=int32_column(level),
        start=freeze_array(start),
        duration=freeze_array(end - start),
        name=int32_column(name),
        node=int32_column(node),
        kind=freeze_array(kind.astype(np.uint8)),
        parent=int32_column(parent),
        waited=freeze_array(waited),
        origin=origin,
        left_out=int(np.count_nonzero(~shown)),
    )


def build_profile(
    hierarchy: Hierarchy, trace: RunMetadata, step: str = "", options: StatsOptions = DEFAULT_STATS_OPTIONS
) -> Profile:
    """Return the profile of a step. The rows of its tables that are in the graph sum to the result of `join_statistics`
    for this trace.

    >>> from graphviz_tb.flatten import flatten
    >>> from graphviz_tb.interpret import interpret
    >>> from graphviz_tb.fold import fold_graph
    >>> from graphviz_tb.proto import GraphDef, RunMetadata
    >>> hierarchy = fold_graph(interpret(flatten(GraphDef(node=[{"name": "layer/x", "op": "Relu"}]))))
    >>> entry = {"node_name": "layer/x", "all_start_micros": 10, "all_end_rel_micros": 3}
    >>> trace = RunMetadata(step_stats={"dev_stats": [{"device": "/device:CPU:0", "node_stats": [entry]}]})
    >>> made = build_profile(hierarchy, trace)
    >>> made.whole, [(row.name, row.self_time) for row in made.ops], made.shares.compute
    (3000, [('layer/x', 3000)], 3000)
    """
    read = {
        device: found
        for device, found in executions_by_device(trace, options).items()
        if is_joined_device(device, options)
    }
    finder = TraceNames(hierarchy, options.tensorboard)
    places = finder.execution_paths(execution.name for found in read.values() for execution in found)
    counted = counted_executions(read, options)
    joined = join_executions(counted, places)
    samples = merge_call_samples(joined.samples, joined.machinery)
    unmatched = _unmatched_ops(joined)
    ops, types, groups = _op_tables(hierarchy, samples, unmatched)
    timeline = _build_timeline(hierarchy, trace, read, counted, places)
    memory = _memory_curves(trace, timeline.origin)
    main = int(hierarchy.end[0])
    whole = sum(sample.time for path, sample in samples.items() if path[0] < main)
    outside = sum(sample.time for sample in samples.values()) - whole
    return Profile(
        step=step,
        whole=whole,
        outside=outside,
        ops=ops,
        types=types,
        groups=groups,
        shares=_step_shares(timeline),
        memory=memory,
        timeline=timeline,
        unmatched=sum(row.self_time for row in unmatched),
        missing=tuple(_describe_gaps(joined, timeline, memory, outside)),
    )


def _describe_gaps(joined: JoinedTrace, timeline: Timeline, memory: Sequence[MemoryCurve], outside: int) -> list[str]:
    """Return texts about information that the trace lacks."""
    texts = []
    unjoined = joined.executions - joined.joined
    if unjoined:
        names = f"{unjoined:,} of {format_counted_noun(joined.executions, 'execution')}"
        compiled = f" ({joined.compiled:,} of compiled code)" if joined.compiled else ""
        texts.append(f"{names} have names that no op of this graph has{compiled}")
    if outside:
        texts.append(f"{format_micros(outside / 1000)} ran in functions whose call the trace does not name")
    if any(not lane.thread and lane.levels > 1 for lane in timeline.lanes):
        texts.append("the trace does not say which thread ran an op: what ran at once is drawn on rows of its device")
    if not memory:
        texts.append("the trace records no allocations: there is no memory over the step")
    if timeline.left_out:
        texts.append(f"{format_counted_noun(timeline.left_out, 'slice')} too deep for a lane are not drawn")
    return texts
