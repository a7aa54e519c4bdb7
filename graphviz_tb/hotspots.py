"""Where time and memory go: the statistics part of `tbgraph info`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.hierarchy import Hierarchy, Kind
from graphviz_tb.model.stats import Floats, Stats, number
from graphviz_tb.summary import told_name

LARGEST = 10
SAME = 0.999  # a scope with so much of what the scope around it has says nothing new


@dataclass(frozen=True, slots=True)
class Hotspot:
    """One op or scope: its share of the whole, its value (microseconds or bytes), how many of its ops were measured."""

    name: str
    op: str
    value: int | float
    share: float
    measured: int
    ops: int


@dataclass(frozen=True, slots=True)
class DeviceTime:
    """What one device of the trace did; `counted` is false where its time is in that of another."""

    name: str
    executions: int
    compute_us: int | float
    counted: bool


@dataclass(frozen=True, slots=True)
class Hotspots:
    """Totals over the graph (means over the steps), coverage, and the largest of each kind.

    `strangers` are names of the trace that no op of the graph bears.
    """

    steps: tuple[str, ...]
    compute_us_sum: int | float
    compute_us_span: int | float
    bytes: int | float
    measured: int
    ops: int
    coverage: float
    strangers: int
    devices: tuple[DeviceTime, ...]
    ops_by_time: tuple[Hotspot, ...]
    scopes_by_time: tuple[Hotspot, ...]
    ops_by_bytes: tuple[Hotspot, ...]
    scopes_by_bytes: tuple[Hotspot, ...]


def hotspots(hierarchy: Hierarchy, stats: Stats) -> Hotspots:
    """Sum up. Before: statistics that were joined to `hierarchy`."""
    whole = stats.figures(0)
    ops, scopes = op_rows(hierarchy), scope_rows(hierarchy)
    time, memory = stats.time.mean, stats.bytes.mean
    return Hotspots(
        steps=stats.steps,
        compute_us_sum=number(whole.time),
        compute_us_span=number(whole.span),
        bytes=number(whole.bytes),
        measured=whole.measured,
        ops=whole.ops,
        coverage=round(whole.coverage, 4),
        strangers=len(stats.strangers),
        devices=tuple(DeviceTime(use.name, use.executions, number(use.time), use.counted) for use in stats.devices),
        ops_by_time=tuple(largest(hierarchy, stats, time, ops)),
        scopes_by_time=tuple(largest(hierarchy, stats, time, scopes)),
        ops_by_bytes=tuple(largest(hierarchy, stats, memory, ops)),
        scopes_by_bytes=tuple(largest(hierarchy, stats, memory, scopes)),
    )


def op_rows(hierarchy: Hierarchy) -> NDArray[np.int64]:
    """Ops that open to nothing."""
    ops = hierarchy.kind == Kind.OP
    ops[list(hierarchy.calls)] = False
    return np.flatnonzero(ops)


def scope_rows(hierarchy: Hierarchy) -> NDArray[np.int64]:
    """Groups and calls, without the root."""
    groups = hierarchy.kind != Kind.OP
    groups[list(hierarchy.calls)] = True
    groups[0] = False
    return np.flatnonzero(groups)


def largest(hierarchy: Hierarchy, stats: Stats, values: Floats, rows: NDArray[np.int64]) -> Iterator[Hotspot]:
    """The rows of the largest values; a group that holds all of the group around it is left out."""
    graph, whole = hierarchy.graph, float(values[0])
    found = 0
    for row in rows[np.argsort(-values[rows], kind="stable")].tolist():
        value, parent = float(values[row]), int(hierarchy.parent[row])
        if value <= 0 or found == LARGEST:
            return
        node = int(hierarchy.node[row])
        if node < 0 and parent > 0 and value >= SAME * float(values[parent]):
            continue
        found += 1
        figures = stats.figures(row)
        yield Hotspot(
            name=told_name(hierarchy, row),
            op=graph.op_types[graph.op[node]] if node >= 0 else "",
            value=number(value),
            share=round(value / whole, 4) if whole else 0.0,
            measured=figures.measured,
            ops=figures.ops,
        )
