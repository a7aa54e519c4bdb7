"""The statistics part of `tbgraph info`: where time and memory go, as plain values and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from graphviz_tb.annotate.rankings import RankedPlace, figures_bytes, figures_time, summarize_stats
from graphviz_tb.annotate.step_profile import NOT_IN_GRAPH
from graphviz_tb.commands.table import (
    TextStyle,
    bar_text,
    bar_width,
    clip_middle,
    color_bars,
    format_percent,
    format_table,
)
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.limits import MAX_HOTSPOTS
from graphviz_tb.model.formatting import format_bytes, format_counted_noun, format_micros
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.stats import RunFigures, Stats, round_for_json

# Where time and memory go, as plain values: the statistics part of `tbgraph info`.


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
    `compiled` ones run compiled code whose ops the trace does not name; `unmatched_us` is the time of those that no op
    has, which shares of time count too.
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
    unmatched_us: int | float
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
        unmatched_us=round_for_json(measured.unmatched_time),
        devices=tuple(
            DeviceTime(use.name, use.executions, round_for_json(use.time), use.counted) for use in measured.devices
        ),
        ops_by_time=_hotspot_list(measured.ops_by_time, figures_time),
        scopes_by_time=_hotspot_list(measured.scopes_by_time, figures_time),
        ops_by_bytes=_hotspot_list(measured.ops_by_memory, figures_bytes),
        scopes_by_bytes=_hotspot_list(measured.scopes_by_memory, figures_bytes),
    )


def _hotspot_list(tops: Iterable[RankedPlace], value: Callable[[RunFigures], float]) -> tuple[Hotspot, ...]:
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


# Run statistics as text: totals, then where time and memory go.


def statistics_lines(hotspots: Hotspots | None, top: int, width: int, look: TextStyle) -> list[str]:
    """Return totals with coverage, then the lists of hotspots."""
    if hotspots is None:
        return []
    steps = f"{len(hotspots.steps):,} steps" if len(hotspots.steps) > 1 else one_line("".join(hotspots.steps))
    spent = f"from first start to last end {format_micros(hotspots.compute_us_span)}"
    unnamed = f"; {hotspots.compiled:,} are of compiled code whose ops this trace does not name"
    of_graph = f"executions, {hotspots.joined:,} of them of ops of this graph"
    rows = [
        ("steps", steps, "medians over them" if len(hotspots.steps) > 1 else ""),
        ("coverage", "∞" if hotspots.coverage is None else format_percent(hotspots.coverage), _coverage_note(hotspots)),
        ("time", format_micros(hotspots.compute_us_sum), f"summed over ops of this graph; {spent}"),
        ("memory", format_bytes(hotspots.bytes), "summed over ops"),
        ("trace", f"{hotspots.executions:,}", of_graph + (unnamed if hotspots.compiled else "")),
    ]
    lines = format_table([row for row in rows if row[1]], width, gives=(1, 2))
    for title, spots, write in (
        ("Ops by time", hotspots.ops_by_time, format_micros),
        ("Scopes by time", hotspots.scopes_by_time, format_micros),
        ("Ops by memory", hotspots.ops_by_bytes, format_bytes),
        ("Scopes by memory", hotspots.scopes_by_bytes, format_bytes),
    ):
        if spots:
            # The range over the steps is of times, so not for lists by memory.
            several = len(hotspots.steps) > 1 and write is format_micros
            table_rows = [_hotspot_row(spot, write(spot.value), width, several) for spot in spots[:top]]
            if spots is hotspots.ops_by_time and hotspots.unmatched_us:
                table_rows.append(_unmatched_row(hotspots, width))
            lines += [
                "",
                look.head(clip_middle(title, width)),
                *color_bars(format_table(table_rows, width, (1, 2), (0,)), look),
            ]
    return lines


def _unmatched_row(hotspots: Hotspots, width: int) -> tuple[str, ...]:
    """Return the line of the executions that no op of the graph has."""
    share = hotspots.unmatched_us / (hotspots.compute_us_sum + hotspots.unmatched_us)
    count = format_counted_noun(hotspots.executions - hotspots.joined, "execution")
    row = NOT_IN_GRAPH, format_micros(hotspots.unmatched_us), format_percent(share), count
    return *row, bar_text(share, bar_width(width) // 2)


def _coverage_note(hotspots: Hotspots) -> str:
    """Return a note on how many ops were measured."""
    whole = "endlessly many, a function calls itself" if hotspots.ops is None else f"{hotspots.ops:,} ops"
    return f"{hotspots.measured:,} of {whole}"


def _hotspot_row(spot: Hotspot, value: str, width: int, several: bool) -> tuple[str, ...]:
    """Return one line of a list of hotspots: a scope with its number of measured ops, an op with its type; over several
    steps also the fastest and slowest time."""
    kind = one_line(spot.op) if spot.op else f"{spot.measured:,} of {spot.ops:,} ops"
    kind += f", {format_micros(spot.least_us)} to {format_micros(spot.most_us)}" if several else ""
    return one_line(spot.name), value, format_percent(spot.share), kind, bar_text(spot.share, bar_width(width) // 2)
