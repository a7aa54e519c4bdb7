"""Memory over a step: bytes allocated and freed by its ops, if the trace records both."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.model.columns import freeze_array
from graphviz_tb.model.profile import MemoryCurve

if TYPE_CHECKING:
    from graphviz_tb.proto import RunMetadata

MAX_MEMORY_NUMBER = 2**53  # bytes, or microseconds until the year 2255: larger numbers are nonsense


def memory_curves(trace: RunMetadata, origin: int) -> tuple[MemoryCurve, ...]:
    """Return a curve for each allocator, by name; at equal times, frees precede allocations."""
    records: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for device in trace.step_stats.dev_stats:
        for entry in device.node_stats:
            for used in entry.memory:
                found = records[used.allocator_name]
                found.extend((each.alloc_micros, each.alloc_bytes) for each in used.allocation_records)
    return tuple(memory_curve(name, records[name], origin) for name in sorted(records) if records[name])


def memory_curve(allocator: str, records: list[tuple[int, int]], origin: int) -> MemoryCurve:
    """Return the curve of one allocator, one value per time."""
    sound = [each for each in records if 0 <= each[0] < MAX_MEMORY_NUMBER and abs(each[1]) < MAX_MEMORY_NUMBER]
    times, sizes = np.array(sorted(sound), np.int64).reshape(-1, 2).T
    held = np.cumsum(sizes.astype(np.float64)).astype(np.int64)  # floats: a hostile sum would not fit into 64 bits
    last = np.concatenate((times[1:] != times[:-1], [True]))[: len(times)]
    return MemoryCurve(allocator, freeze_array(np.maximum(times[last] * 1000 - origin, 0)), freeze_array(held[last]))
