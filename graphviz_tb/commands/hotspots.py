"""Where time and memory go, as plain values: the statistics part of `tbgraph info`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from graphviz_tb.annotate.tops import RankedPlace, figures_bytes, figures_time, summarize_stats
from graphviz_tb.limits import MAX_HOTSPOTS
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.stats import RunFigures, Stats, round_for_json


@dataclass(frozen=True, slots=True)
class Hotspot:
    """One op or scope: its share of the whole, its value (microseconds or bytes), the number of its measured ops; over
    several steps the least and greatest time in microseconds, and the number of steps that ran it."""

    name: str
    op: str
    value: int | float
    share: float
    measured: int
    ops: int
    least_us: int | float
    most_us: int | float
    steps: int


@dataclass(frozen=True, slots=True)
class DeviceTime:
    """The use of one device of the trace; `counted` is false where its time is part of another device's."""

    name: str
    executions: int
    compute_us: int | float
    counted: bool


@dataclass(frozen=True, slots=True)
class Hotspots:
    """Totals over the graph (means over the steps), coverage, and the largest of each kind.

    Names are addresses (`call::body/op`). `measured` of `ops` have statistics, counted in each place (`ops` and
    `coverage` are None if a function calls itself); `joined` of `executions` of the trace have the name of an op,
    `compiled` ones run compiled code whose ops the trace does not name.
    """

    steps: tuple[str, ...]
    compute_us_sum: int | float
    compute_us_span: int | float
    bytes: int | float
    measured: int
    ops: int | None
    coverage: float | None
    joined: int
    executions: int
    compiled: int
    devices: tuple[DeviceTime, ...]
    ops_by_time: tuple[Hotspot, ...]
    scopes_by_time: tuple[Hotspot, ...]
    ops_by_bytes: tuple[Hotspot, ...]
    scopes_by_bytes: tuple[Hotspot, ...]


def find_hotspots(hierarchy: Hierarchy, stats: Stats) -> Hotspots:
    """Sum up statistics that were joined with `hierarchy`."""
    measured = summarize_stats(hierarchy, stats, MAX_HOTSPOTS)
    whole = measured.whole
    return Hotspots(
        steps=measured.steps,
        compute_us_sum=round_for_json(whole.time),
        compute_us_span=round_for_json(whole.span),
        bytes=round_for_json(whole.bytes),
        measured=measured.measured,
        ops=measured.ops,
        # No figure if recursion makes the ops infinite, or without ops.
        coverage=round(measured.measured / measured.ops, 4) if measured.ops else None,
        joined=measured.joined,
        executions=measured.executions,
        compiled=measured.compiled,
        devices=tuple(
            DeviceTime(use.name, use.executions, round_for_json(use.time), use.counted) for use in measured.devices
        ),
        ops_by_time=hotspot_list(measured.ops_by_time, figures_time),
        scopes_by_time=hotspot_list(measured.scopes_by_time, figures_time),
        ops_by_bytes=hotspot_list(measured.ops_by_memory, figures_bytes),
        scopes_by_bytes=hotspot_list(measured.scopes_by_memory, figures_bytes),
    )


def hotspot_list(tops: Iterable[RankedPlace], value: Callable[[RunFigures], float]) -> tuple[Hotspot, ...]:
    """Return one list as plain values."""
    return tuple(
        Hotspot(
            top.address,
            top.op,
            round_for_json(value(top.figures)),
            round(top.share, 4),
            top.figures.measured,
            top.figures.ops,
            round_for_json(top.figures.least),
            round_for_json(top.figures.most),
            top.figures.steps,
        )
        for top in tops
    )
