"""Profiles as a trace in JSON for Perfetto and chrome://tracing (the "Trace Event Format").

A process for each device, a thread for each lane; slices that overlap without nesting are on separate rows, which
viewers show as further threads. A counter for the memory of each allocator.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from graphviz_tb.model.profile import Profile, SliceKind, Timeline

TraceEvent = dict[str, Any]


def trace_json_bytes(profiles: Sequence[Profile]) -> bytes:
    """Return the steps of one run, one after the other on the clock of the trace; equal profiles give equal bytes."""
    origin = min((each.timeline.origin for each in profiles), default=0)
    processes: dict[str, int] = {}
    threads: dict[tuple[int, str, int], int] = {}
    events: list[TraceEvent] = []
    for profile in profiles:
        shift = profile.timeline.origin - origin
        events += _slice_events(profile, shift, processes, threads)
        events += _memory_events(profile, shift, processes)
    events = [*_name_events(processes, threads), *events]
    lines = b",\n".join(json.dumps(event, ensure_ascii=True, separators=(",", ":")).encode() for event in events)
    return b'{"displayTimeUnit":"ns","traceEvents":[\n' + lines + b"\n]}\n"


def _slice_events(
    profile: Profile, shift: int, processes: dict[str, int], threads: dict[tuple[int, str, int], int]
) -> Iterator[TraceEvent]:
    """Yield an event for each slice."""
    timeline = profile.timeline
    names = [_valid_unicode(name) for name in timeline.names]
    nodes = [_valid_unicode(name) for name in timeline.addresses]
    columns = (
        timeline.lane,
        _slice_event_rows(timeline),
        timeline.start,
        timeline.duration,
        timeline.name,
        timeline.node,
    )
    more = (timeline.kind, timeline.waited)
    every = zip(*(column.tolist() for column in (*columns, *more)), strict=True)
    for lane, row, start, duration, name, node, kind, waited in every:
        device = timeline.lanes[lane].device
        process = processes.setdefault(device, len(processes) + 1)
        thread = threads.setdefault((process, timeline.lanes[lane].thread, row), len(threads) + 1)
        args: dict[str, Any] = {"node": nodes[node]} if node >= 0 else {}
        args |= {"step": _valid_unicode(profile.step)} if profile.step else {}
        args |= {"waited_us": waited / 1000} if waited else {}
        times = {"ts": (shift + start) / 1000, "dur": duration / 1000}
        kind_name = SliceKind(kind).name.lower()
        yield {"ph": "X", "name": names[name], "cat": kind_name, "pid": process, "tid": thread, **times, "args": args}


def _slice_event_rows(timeline: Timeline) -> Any:
    """Return the row of each slice: nested slices are on the row of the outer one, others on the row of their level."""
    row = timeline.level.astype(np.int64)
    for level in range(1, int(np.max(row, initial=0)) + 1):  # the slice around is on a level above
        inside = np.flatnonzero((timeline.level == level) & (timeline.parent >= 0))
        row[inside] = row[timeline.parent[inside]]
    return row


def _memory_events(profile: Profile, shift: int, processes: dict[str, int]) -> Iterator[TraceEvent]:
    """Yield a counter for each allocator."""
    for curve in profile.memory:
        process = processes.setdefault("memory", len(processes) + 1)
        for time, held in zip(curve.time.tolist(), curve.bytes.tolist(), strict=True):
            name = f"memory: {_valid_unicode(curve.allocator)}"
            yield {"ph": "C", "name": name, "pid": process, "ts": (shift + time) / 1000, "args": {"bytes": held}}


def _name_events(processes: dict[str, int], threads: dict[tuple[int, str, int], int]) -> Iterator[TraceEvent]:
    for device, process in processes.items():
        yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": _valid_unicode(device)}}
        yield {"ph": "M", "name": "process_sort_index", "pid": process, "args": {"sort_index": process}}
    for (process, name, row), thread in threads.items():
        shown = _valid_unicode(name) + (f" ({row + 1})" if row else "")
        yield {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": shown or "ops"}}


def _valid_unicode(text: str) -> str:
    """Return a text without lone surrogates, which readers refuse."""
    return text.encode("utf-8", "replace").decode()
