"""Executions as slices, each on the lane of its thread or stream, kernels below their op."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.algorithms.calls import paths_with_children
from graphviz_tb.annotate.devices import (
    STREAM_DEVICE,
    CountedExecution,
    Execution,
    is_accelerator_device,
    strip_kernel_name,
)
from graphviz_tb.annotate.profile.lanes import nested_levels, packed_levels
from graphviz_tb.annotate.tops import op_type_of_row
from graphviz_tb.annotate.trace_names import ExecutionPath
from graphviz_tb.model.columns import freeze_array, int32_column
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import RowPath, path_address
from graphviz_tb.model.profile import Lane, SliceKind, Timeline
from graphviz_tb.model.stats import COMPILED_LABEL
from graphviz_tb.ops.roles import INPUT_PIPELINE_OPS

if TYPE_CHECKING:
    from graphviz_tb.proto import RunMetadata

SliceValues = tuple[int, int, int, int, int, int]  # start, end, name, node, kind, waited
PathByName = Mapping[str, ExecutionPath]
SLICE_FIELDS = 6


@dataclass(frozen=True, slots=True)
class SliceNumbers:
    """Numbers by which slices refer to names and to paths of nodes."""

    names: dict[str, int]
    nodes: dict[RowPath, int]


def build_timeline(
    hierarchy: Hierarchy,
    trace: RunMetadata,
    read: Mapping[str, Sequence[Execution]],
    counted: Sequence[CountedExecution],
    places: PathByName,
) -> Timeline:
    """Return the slices of a step: one for each execution that counts, and one for each op with kernels on a stream."""
    how = {id(each.execution): each.how for each in counted}
    paths = sorted({place.path for place in places.values() if not place.within})
    measured_inside = paths_with_children(sorted({place.path for place in places.values()}))
    kinds = {path: slice_kind_of(hierarchy, path, measured_inside) for path in paths}
    numbers = SliceNumbers({}, {})
    origin = min((each.execution.start for each in counted), default=0)
    lanes: list[Lane] = []
    made: list[Any] = []
    for device, thread, executions in executions_by_lane(trace, read, how):
        slices = [execution_slice(each, how[id(each)], places, kinds, numbers, origin) for each in executions]
        if STREAM_DEVICE.match(device):
            slices += op_spans_over_kernels(slices, numbers, places)
        slices.sort(key=lambda each: (each[0], -each[1], -each[4]))  # outer slices before inner ones
        columns = lane_columns(len(lanes), slices, bool(thread))
        levels = int(np.max(columns[1])) + 1 if columns.shape[1] else 0
        lanes.append(Lane(device, thread, is_accelerator_device(STREAM_DEVICE.sub(r"\g<base>", device)), levels))
        made.append(columns)
    return join_lanes(hierarchy, lanes, made, numbers, origin)


def executions_by_lane(
    trace: RunMetadata, read: Mapping[str, Sequence[Execution]], how: Mapping[int, str]
) -> Iterator[tuple[str, str, list[Execution]]]:
    """Yield device, thread and executions of each lane, accelerators last, in trace order."""
    threads = {device.device: dict(device.thread_names) for device in trace.step_stats.dev_stats}
    for device in sorted(read, key=lambda device: STREAM_DEVICE.match(device) is not None):
        lanes: dict[int, list[Execution]] = {}
        for each in read[device]:
            if id(each) in how:  # the rest only repeat a counted one
                lanes.setdefault(each.thread, []).append(each)
        stream = STREAM_DEVICE.match(device)
        for thread in sorted(lanes):
            named = threads.get(device, {}).get(thread) or (f"thread {thread}" if thread else "")
            yield device, stream["part"] if stream else named, lanes[thread]


def slice_kind_of(hierarchy: Hierarchy, path: RowPath, measured_inside: set[RowPath]) -> SliceKind:
    """Return how the time of a node counts."""
    if path in measured_inside:
        return SliceKind.CALL
    return SliceKind.INPUT if op_type_of_row(hierarchy, path[-1]) in INPUT_PIPELINE_OPS else SliceKind.COMPUTE


def execution_slice(
    each: Execution,
    how: str,
    places: PathByName,
    kinds: Mapping[RowPath, SliceKind],
    numbers: SliceNumbers,
    origin: int,
) -> SliceValues:
    """Convert one execution to a slice."""
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
    return start, start + each.time, number, node, kind, each.waited


def op_spans_over_kernels(slices: list[SliceValues], numbers: SliceNumbers, places: PathByName) -> list[SliceValues]:
    """Return a slice for each op on a stream, from the first to the last of its consecutive kernels."""
    names = list(numbers.names)
    paths = {number: path for path, number in numbers.nodes.items()}
    op_names = {place.path: strip_kernel_name(name) for name, place in places.items()}
    spans: list[SliceValues] = []
    first = 0  # of the consecutive kernels
    ordered = sorted(slices)
    for last in range(len(ordered)):
        node = ordered[last][3]
        if last + 1 < len(ordered) and ordered[last + 1][3] == node:
            continue
        run = ordered[first : last + 1]
        first = last + 1
        name = op_names.get(paths[node], "") if node >= 0 else ""
        if name and (len(run) > 1 or names[run[0][2]] != name):
            number = numbers.names.setdefault(name, len(numbers.names))
            end = max(each[1] for each in run)
            spans.append((run[0][0], end, number, node, SliceKind.KERNELS, 0))
    return spans


def lane_columns(lane: int, slices: list[SliceValues], threaded: bool) -> Any:
    """Return the columns of one lane, sorted by level and start: lane, level, those of the slices, and the slice of
    this lane around each."""
    times = [each[:2] for each in slices]
    levels, parents = nested_levels(times) if threaded else (packed_levels(times), [-1] * len(slices))
    columns = np.empty((3 + SLICE_FIELDS, len(slices)), np.int64)
    columns[0], columns[1], columns[-1] = lane, levels, parents
    columns[2:-1] = np.array(slices, np.int64).reshape(-1, SLICE_FIELDS).T
    order = np.argsort(columns[1], kind="stable")
    place = np.empty(len(order) + 1, np.int64)
    place[order], place[-1] = np.arange(len(order)), -1  # -1 is the last one
    columns = columns[:, order]
    columns[-1] = place[columns[-1]]
    return columns


def join_lanes(
    hierarchy: Hierarchy, lanes: list[Lane], made: list[Any], numbers: SliceNumbers, origin: int
) -> Timeline:
    """Join all lanes to one table."""
    columns: Any = np.concatenate([np.zeros((3 + SLICE_FIELDS, 0), np.int64), *made], axis=1)
    sizes = np.cumsum([0, *(each.shape[1] for each in made)])
    begins = np.repeat(sizes[:-1], np.diff(sizes))
    columns[-1] = np.where(columns[-1] >= 0, columns[-1] + begins, -1)
    shown = columns[1] >= 0
    place = np.cumsum(shown) - 1
    columns = columns[:, shown]
    columns[-1] = np.where(columns[-1] >= 0, place[columns[-1]], -1)  # the slice around a shown slice is shown
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
