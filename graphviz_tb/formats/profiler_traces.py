"""Convert traces of TensorFlow 2's profiler (XSpace) to run statistics, one RunMetadata per step.

host plane         events of ops (`name:type`), of allocations (their op, bytes, dtype, shape), of steps (`step_num`)
device planes      kernels on numbered streams, each of an op (`tf_op`); lines derived from them are skipped
compiled code      events with the instruction (`hlo_op`) that ran, mapped to the op in its program
steps              an event belongs to the last step that began before it on its host, or to the step of its group
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path, PurePath
from typing import Any

from graphviz_tb.caches import lazy_constant
from graphviz_tb.formats.contents import SourceContents, SourceItem, empty_graph_content
from graphviz_tb.formats.protobuf import CutError, WireField, decode_message, wire_fields
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.sources import SourceEntry, absolute_sources
from graphviz_tb.model.stats import COMPILED_LABEL
from graphviz_tb.model.tensors import MAX_DIMENSIONS
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import RunMetadata, XSpace
from graphviz_tb.sources.bounds import MemoryBudget
from graphviz_tb.sources.streams import open_path
from graphviz_tb.sources.walk import FolderListing

# Map the instructions of compiled code to ops: a profile contains every program that XLA compiled.
#
#     plane "/host:metadata" ─▶ program ─▶ "Hlo Proto", an HloProto of XLA (xla/service/hlo.proto) ─▶ its instructions
#
# An instruction names its op in `metadata.op_name`; a fused one has the name of the last op.

METADATA_PLANE, PROGRAM_STATISTIC = "/host:metadata", "Hlo Proto"
INSTRUCTION_ENTRY_BYTES = 200  # bytes of memory per entry besides its texts
BYTES_WIRE_TYPE = 2  # wire type of texts and messages
# Field numbers of HloProto, HloModuleProto, HloComputationProto, HloInstructionProto, OpMetadata.
HLO_MODULE, HLO_COMPUTATIONS, HLO_INSTRUCTIONS, HLO_OP_METADATA, HLO_OP_NAME = 1, 3, 2, 7, 2
HLO_NAME = 1  # of a module and of an instruction

InstructionKey = tuple[str, str]  # module, instruction


def _ops_of_instructions(space: XSpace, budget: MemoryBudget) -> dict[InstructionKey, str]:
    """Return the op of each instruction in a trace's programs. Damaged programs are skipped."""
    named: dict[InstructionKey, str] = {}
    for data in _compiled_programs(space):
        try:
            for module, instruction, op in _program_instructions(data):
                budget.take(INSTRUCTION_ENTRY_BYTES + len(instruction) + len(op))
                named[module, instruction] = op
        except CutError:
            continue
    return named


def _compiled_programs(space: XSpace) -> Iterator[bytes]:
    """Yield the serialized programs of a trace."""
    for plane in space.planes:
        if plane.name == METADATA_PLANE:
            kinds = {key for key, value in plane.stat_metadata.items() if value.name == PROGRAM_STATISTIC}
            for event in plane.event_metadata.values():
                yield from (stat.bytes_value for stat in event.stats if stat.metadata_id in kinds)


def _program_instructions(data: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield (module, instruction, op) for instructions with an op. Raises CutError for damaged bytes."""
    for module in _fields_numbered(data, HLO_MODULE):
        name = _text_field(data, module, HLO_NAME)
        for computation in _fields_numbered(data, HLO_COMPUTATIONS, module):
            for instruction in _fields_numbered(data, HLO_INSTRUCTIONS, computation):
                op = next(
                    (
                        _text_field(data, each, HLO_OP_NAME)
                        for each in _fields_numbered(data, HLO_OP_METADATA, instruction)
                    ),
                    "",
                )
                if op:
                    yield name, _text_field(data, instruction, HLO_NAME), op


def _fields_numbered(data: bytes, number: int, around: WireField | None = None) -> Iterator[WireField]:
    """Yield the fields with a number in a message, or in the message inside `around`."""
    first, last = (0, len(data)) if around is None else (around.first, around.last)
    return (
        piece for piece in wire_fields(data, first, last) if piece.number == number and piece.wire == BYTES_WIRE_TYPE
    )


def _text_field(data: bytes, around: WireField, number: int) -> str:
    found: Any = next(_fields_numbered(data, number, around), None)
    return "" if found is None else data[found.first : found.last].decode("utf-8", "replace")


# `dense/MatMul:MatMul`, as the executor names ops
OP_EVENT_NAME = re.compile(r"(?P<name>.+):(?P<type>[A-Za-z_]\w*)\Z", re.DOTALL)
STREAM_LINE_NAME = re.compile(r"Stream #(\d+)", re.ASCII)
ACCELERATOR_PLANE_NAME = re.compile(r"/device:(?!CPU)[A-Za-z_]+:\d+")
XLA_LINE_NAME = "XLA Ops"  # of planes without streams, such as those of TPUs
ALLOCATION_EVENT, DEALLOCATION_EVENT = "MemoryAllocation", "MemoryDeallocation"
ADDRESS_STATISTIC = "addr"  # identifies an allocation until it is freed
WHOLE_TRACE_STEP = "whole"  # the step of a trace that records none
# The statistics that are used: of steps, of kernels, of allocations.
STEP_STATISTICS, KERNEL_STATISTICS = ("step_num", "group_id"), ("tf_op", "hlo_op", "hlo_module")
ALLOCATION_SIZE_STATISTICS, OUTPUT_STATISTICS = (
    ("allocation_bytes", "requested_bytes"),
    ("allocator_name", "region_type", "shape", "data_type"),
)
USED_STATISTICS = frozenset(
    (*STEP_STATISTICS, *KERNEL_STATISTICS, *ALLOCATION_SIZE_STATISTICS, *OUTPUT_STATISTICS, ADDRESS_STATISTIC)
)
SHAPE_STATISTIC_TEXT = re.compile(r"\[([\d, ]*)\]\Z", re.ASCII)
MAX_EVENT_VALUE = 2**62  # nanoseconds or bytes: above, sums would overflow 64 bits
MAX_DTYPE_NUMBER = 2**31 - 1  # largest dtype number
TRACE_ENTRY_BYTES, TRACE_DIMENSION_BYTES = 200, 100  # bytes of memory per entry besides its texts, and per dimension
INSTRUCTION_STATISTIC = "unnamed"  # statistic: the instruction, if its op is unknown
MAX_SIZE_DIGITS = 18  # digits that fit in 63 bits


@dataclass(frozen=True, slots=True)
class ProfilerEvent:
    """One event, times in nanoseconds. `op` is the op it names, "" if none."""

    name: str
    op: str
    start: int
    time: int
    stats: dict[str, Any]


@dataclass(slots=True)
class StepEvents:
    """Events of one step: host ops with their thread, kernels by device, allocations by op, deallocations."""

    host: list[tuple[int, ProfilerEvent]] = field(default_factory=list)
    kernels: dict[str, list[tuple[str, ProfilerEvent]]] = field(default_factory=dict)
    allocations: dict[str, list[ProfilerEvent]] = field(default_factory=dict)
    freed: list[ProfilerEvent] = field(default_factory=list)


def run_metadata_by_step(space: XSpace, name: str = "the trace", bounded: bool = True) -> dict[str, RunMetadata]:
    """Return the steps of a trace by number, without empty ones; "whole" if it records no steps.

    With `bounded`, memory is limited by the trace's size: events share names, and overlapping ones share allocations.

    >>> list(run_metadata_by_step(XSpace()))
    []
    """
    # Not sorted by group: groups may be missing.
    starts = sorted(_step_starts(space), key=itemgetter(0, 1))
    groups = {group: number for _, number, group in starts if group is not None}
    events_by_tag: dict[str, StepEvents] = {}
    op_names = UntypedOpNames()
    budget = MemoryBudget(space.ByteSize() if bounded else None, name)
    op_of_instruction = _ops_of_instructions(space, budget)
    threads: dict[int, str] = {}
    for plane in space.planes:
        device = plane.name if ACCELERATOR_PLANE_NAME.search(plane.name) else ""
        for line, found in _events_by_line(plane, _execution_lines(plane) if device else plane.lines):
            stream = f"{device}/stream:{_stream_number(line)}" if device else ""
            budget.take(2 * len(stream))
            thread = 0 if device else len(threads) + 1
            threads.update({thread: line} if thread else {})
            for event in found:
                # Kernels run later than the step that launched them: their group identifies it.
                step = groups.get(event.stats.get("group_id")) if groups else None
                tag = str(step) if step is not None else _step_at(starts, event.start)
                _file_event(
                    events_by_tag.setdefault(tag, StepEvents()),
                    stream,
                    thread,
                    _with_instruction_op(event, op_of_instruction),
                    op_names,
                )
    ordered = sorted(events_by_tag, key=lambda tag: (not tag.isdecimal(), int(tag) if tag.isdecimal() else 0, tag))
    filled = [tag for tag in ordered if events_by_tag[tag].host or events_by_tag[tag].kernels]
    return {tag: _run_metadata_of_step(events_by_tag[tag], op_names, threads, budget) for tag in filled}


def _step_starts(space: XSpace) -> Iterator[tuple[int, int, Any]]:
    """Yield (start, number, group) of each step."""
    for plane in space.planes:
        if ACCELERATOR_PLANE_NAME.search(plane.name):
            # Steps are recorded on the host only.
            continue
        for _, found in _events_by_line(plane, plane.lines):
            for event in found:
                if isinstance(event.stats.get("step_num"), int):
                    yield event.start, event.stats["step_num"], event.stats.get("group_id")


def _step_at(starts: list[tuple[int, int, Any]], time: int) -> str:
    """Return the last step that started by a time, "before" ahead of the first."""
    if not starts:
        return WHOLE_TRACE_STEP
    index = bisect_right(starts, time, key=itemgetter(0)) - 1
    return str(starts[index][1]) if index >= 0 else "before"


def _execution_lines(plane: Any) -> list[Any]:
    """Return a device's lines of executions: streams, or the ops of XLA if there are no streams."""
    streams = [line for line in plane.lines if STREAM_LINE_NAME.match(line.name)]
    return streams or [line for line in plane.lines if line.name == XLA_LINE_NAME]


def _events_by_line(plane: Any, lines: Iterable[Any]) -> Iterator[tuple[str, Iterator[ProfilerEvent]]]:
    """Yield each line's name and its events."""
    names = {key: value.name for key, value in plane.stat_metadata.items()}
    # Once per kind: its name may be long, with thousands of statistics and events.
    kinds = {
        key: (kind.name, _op_of_host_event(kind.name, kind.display_name), _used_statistics(kind.stats, names))
        for key, kind in plane.event_metadata.items()
    }

    def line_events(line: Any) -> Iterator[ProfilerEvent]:
        for event in line.events:
            name, op, stats = kinds.get(event.metadata_id, ("", "", {}))
            # Picoseconds to nanoseconds.
            start = min(max(0, line.timestamp_ns + event.offset_ps // 1000), MAX_EVENT_VALUE)
            # Statistics of the event override those of its kind.
            yield ProfilerEvent(
                name, op, start, event.duration_ps // 1000, {**stats, **_used_statistics(event.stats, names)}
            )

    for line in lines:
        yield line.name, line_events(line)


def _op_of_host_event(name: str, display: str) -> str:
    """Return the op that a host event names; "" if none.

    >>> _op_of_host_event("dense/MatMul:MatMul", ""), _op_of_host_event("ThreadpoolListener::Record", "")
    ('dense/MatMul', '')
    """
    op = OP_EVENT_NAME.match(name)
    # "ThreadpoolListener::Record" and the like are functions of the runtime, no ops.
    return op["name"] if op and "::" not in name and display in ("", op["type"]) else ""


def _used_statistics(stats: Iterable[Any], names: dict[int, str]) -> dict[str, Any]:
    """Return the used statistics by name, references resolved."""
    values_by_name = {}
    for stat in stats:
        kind, name = stat.WhichOneof("value"), names.get(stat.metadata_id, "")
        if kind is not None and name in USED_STATISTICS:
            value = names.get(stat.ref_value, "") if kind == "ref_value" else getattr(stat, kind)
            # Bytes become text once: thousands of events may share them.
            values_by_name[name] = str(value) if isinstance(value, bytes) else value
    return values_by_name


def _with_instruction_op(event: ProfilerEvent, op_of_instruction: Mapping[InstructionKey, str]) -> ProfilerEvent:
    """Add the op of a compiled event's instruction, or the instruction's name if no op is known."""
    instruction = event.stats.get("hlo_op")
    if not isinstance(instruction, str) or event.stats.get("tf_op"):
        return event
    op = op_of_instruction.get((str(event.stats.get("hlo_module", "")), instruction), "")
    named = {"tf_op": op} if op else {INSTRUCTION_STATISTIC: instruction}
    return ProfilerEvent(event.name, op or instruction, event.start, event.time, {**event.stats, **named})


def _file_event(step: StepEvents, stream: str, thread: int, event: ProfilerEvent, bare: UntypedOpNames) -> None:
    """File an event by kind: device kernel, host op, allocation or deallocation; ignore the rest."""
    if stream:
        op = event.stats.get("tf_op") or event.stats.get("hlo_op") or event.name
        step.kernels.setdefault(stream, []).append((str(op), event))
    elif event.name == ALLOCATION_EVENT and event.stats.get("tf_op"):
        step.allocations.setdefault(bare[str(event.stats["tf_op"])], []).append(event)
    elif event.name == DEALLOCATION_EVENT and ADDRESS_STATISTIC in event.stats:
        step.freed.append(event)
    elif event.op:
        step.host.append((thread, event))


def _stream_number(line: str) -> str:
    """Return the number of a stream; 0 for a line of XLA."""
    match = STREAM_LINE_NAME.match(line)
    return match[1] if match else "0"


class UntypedOpNames(dict[str, str]):
    """Op names without their types, cached: thousands of events may share one long name.

    >>> UntypedOpNames()["dense/MatMul:MatMul"]
    'dense/MatMul'
    """

    def __missing__(self, op: str) -> str:
        match = OP_EVENT_NAME.match(op)
        name = self[op] = match["name"] if match else op
        return name


def _run_metadata_of_step(
    step: StepEvents, op_names: UntypedOpNames, threads: Mapping[int, str], budget: MemoryBudget
) -> RunMetadata:
    """Return a step in the older profiler's form, where an op with kernels has a host entry for launching them."""
    metadata = RunMetadata()
    # op → device its kernel ran on
    launching: dict[str, str] = {}
    for stream, kernels in step.kernels.items():
        launching |= dict.fromkeys((op_names[op] for op, _ in kernels), stream.rpartition("/")[0])
    devices: dict[str, Any] = {}

    def device_entries(device: str) -> Any:
        if device not in devices:
            devices[device] = metadata.step_stats.dev_stats.add(device=device)
        return devices[device].node_stats

    times = {name: [event.start for event in events] for name, events in _sort_allocations(step.allocations).items()}
    ends = _deallocation_times(step)
    for thread, event in step.host:
        name = event.op
        budget.take(TRACE_ENTRY_BYTES + len(name))
        typed = OP_EVENT_NAME.match(event.name)
        label = COMPILED_LABEL if INSTRUCTION_STATISTIC in event.stats else f"{typed['type']}()" if typed else ""
        device = launching.get(name, "/host:CPU")
        entry = _set_entry_times(
            device_entries(device).add(node_name=name, timeline_label=label, thread_id=thread), event
        )
        if name in times:
            # Allocations during this execution, not during other executions of the op.
            first, stop = bisect_left(times[name], event.start), bisect_right(times[name], event.start + event.time)
            _add_allocations(entry, step.allocations[name][first:stop], ends, budget)
    for device in devices.values():
        for thread in {entry.thread_id for entry in device.node_stats} & threads.keys():
            budget.take(len(threads[thread]))
            device.thread_names[thread] = threads[thread]
    for device, kernels in step.kernels.items():
        for op, event in kernels:
            budget.take(TRACE_ENTRY_BYTES + len(op) + len(event.name))
            label = COMPILED_LABEL if INSTRUCTION_STATISTIC in event.stats else event.name
            _set_entry_times(device_entries(device).add(node_name=op, timeline_label=label), event)
    return metadata


def _sort_allocations(allocations: dict[str, list[ProfilerEvent]]) -> dict[str, list[ProfilerEvent]]:
    """Sort the allocations of each op by time, in place, and return them."""
    for allocated in allocations.values():
        allocated.sort(key=lambda event: event.start)
    return allocations


def _deallocation_times(step: StepEvents) -> dict[int, int]:
    """Return when each allocation was freed, by the id of its event: the next deallocation of its address."""
    at: dict[int, ProfilerEvent] = {}
    ends: dict[int, int] = {}
    every = [*(event for allocated in step.allocations.values() for event in allocated), *step.freed]
    # An address freed and reused within one nanosecond is freed first.
    for event in sorted(every, key=lambda event: (event.start, event.name == ALLOCATION_EVENT)):
        address = event.stats.get(ADDRESS_STATISTIC)
        if not isinstance(address, int):
            continue
        if event.name == ALLOCATION_EVENT:
            at[address] = event
        elif (taken := at.pop(address, None)) is not None:
            ends[id(taken)] = event.start
    return ends


def _set_entry_times(entry: Any, event: ProfilerEvent) -> Any:
    """Set the times of an entry, in microseconds and nanoseconds."""
    entry.all_start_micros, entry.all_start_nanos = event.start // 1000, event.start
    entry.all_end_rel_micros, entry.all_end_rel_nanos = event.time // 1000, event.time
    return entry


def _add_allocations(
    entry: Any, allocations: Iterable[ProfilerEvent], ends: Mapping[int, int], budget: MemoryBudget
) -> None:
    """Add allocations to an entry: bytes, times, and dtype and shape of each output in order."""
    for event in allocations:
        size = _positive_statistic(event, "allocation_bytes") or _positive_statistic(event, "requested_bytes")
        allocator, text = str(event.stats.get("allocator_name", "")), str(event.stats.get("shape", ""))
        budget.take(TRACE_ENTRY_BYTES + len(allocator) + len(text))
        used = entry.memory.add(allocator_name=allocator, total_bytes=size)
        used.allocation_records.add(alloc_micros=event.start // 1000, alloc_bytes=size)
        if id(event) in ends:
            used.allocation_records.add(alloc_micros=ends[id(event)] // 1000, alloc_bytes=-size)
        if event.stats.get("region_type") == "output" and (shape := SHAPE_STATISTIC_TEXT.match(text)):
            output = entry.output.add(slot=len(entry.output))
            output.tensor_description.dtype = min(_positive_statistic(event, "data_type"), MAX_DTYPE_NUMBER)
            sizes = shape[1].replace(" ", "").split(",", MAX_DIMENSIONS)[:MAX_DIMENSIONS]
            budget.take(TRACE_ENTRY_BYTES + TRACE_DIMENSION_BYTES * len(sizes))
            for dim in filter(None, sizes):
                output.tensor_description.shape.dim.add(size=int(dim) if len(dim) <= MAX_SIZE_DIGITS else -1)


def _positive_statistic(event: ProfilerEvent, name: str) -> int:
    """Return a positive integer statistic; 0 for any other value."""
    value = event.stats.get(name)
    return value if isinstance(value, int) and 0 < value < MAX_EVENT_VALUE else 0


# Traces of TensorFlow 2's profiler in a log directory: RUN/plugins/profile/PROFILE/HOST.xplane.pb.

TRACE_FILE_SUFFIXES = (".xplane.pb", ".xplane.pb.gz")
TRACE_FOLDERS = ("plugins", "profile")
ALL_RUNS_OPTIONS = ReadOptions()
TracePlace = tuple[str, str, Path]  # run, profile, file


def find_trace_files(below: FolderListing, options: ReadOptions = ALL_RUNS_OPTIONS) -> list[TracePlace]:
    """Return every trace below a folder, in the order of names."""
    traces = []
    for place, path in below.files:
        # RUN/plugins/profile/PROFILE/HOST.xplane.pb
        *run, plugins, profile, name = ("", "", "", *PurePath(place).parts)
        if (plugins, profile) == TRACE_FOLDERS and path.name.endswith(TRACE_FILE_SUFFIXES) and path.is_file():
            named = PurePath(*run).as_posix()
            if options.run in (None, named):
                traces.append((named, name, path))
    return traces


def add_trace_steps(holding: SourceContents, traces: list[TracePlace], options: ReadOptions) -> SourceContents:
    """Return the contents with the steps of traces added, tagged `PROFILE:STEP` or `PROFILE:HOST:STEP`.

    A trace is decoded when its steps are listed: the graph of a log may be drawn without.
    """
    hosts = Counter((run, profile) for run, profile, _ in traces)
    files: dict[str | None, list[TraceFile]] = {}
    for run, profile, path in traces:
        host = f":{path.name.partition('.xplane')[0]}" if hosts[run, profile] > 1 else ""
        files.setdefault(run, []).append(TraceFile(run, f"{profile}{host}", path, options))
    entries = [SourceItem(file.entry, empty_graph_content, file.step_items) for each in files.values() for file in each]
    held: dict[str | None, Mapping[str, Callable[[], RunMetadata]]] = dict(holding.profiles)
    held |= {run: RunSteps(held.get(run, {}), file) for run, file in files.items()}
    return replace(holding, found=(*holding.found, *entries), profiles=held)


class TraceFile:
    """One trace of a log; decoded once, on first use."""

    def __init__(self, run: str, tag: str, path: Path, options: ReadOptions) -> None:
        self.path = Path(absolute_sources(path))  # it is read later, from any current folder
        self.options = options
        self.entry = SourceEntry("profile", run, tag, bytes=path.stat().st_size, profile=True, format="XSpace")

    @cached_property
    def steps(self) -> dict[str, RunMetadata]:
        with open_path(self.path, self.options) as opened:
            space = decode_message(opened.data(), XSpace, opened.name, opened.bounded)
            metadata_of = run_metadata_by_step(space, opened.name, opened.bounded)
        return {f"{self.entry.tag}:{step}": metadata for step, metadata in metadata_of.items()}

    def step_items(self) -> Iterator[SourceItem]:
        for tag in self.steps:
            step = tag.rpartition(":")[2]
            number = int(step) if step.isdecimal() else None
            yield SourceItem(replace(self.entry, tag=tag, step=number, bytes=0), empty_graph_content)


class RunSteps(Mapping[str, Callable[[], RunMetadata]]):
    """Loaders of a run's steps by tag: the `known` ones, then those in trace files."""

    def __init__(self, known: Mapping[str, Callable[[], RunMetadata]], files: list[TraceFile]) -> None:
        self.known = known
        self.files = files

    @cached_property
    def loaders(self) -> dict[str, Callable[[], RunMetadata]]:
        steps = {tag: lazy_constant(step) for file in self.files for tag, step in file.steps.items()}
        return {**self.known, **steps}

    def __getitem__(self, tag: str) -> Callable[[], RunMetadata]:
        return self.loaders[tag]

    def __iter__(self) -> Iterator[str]:
        return iter(self.loaders)

    def __len__(self) -> int:
        return len(self.loaders)
