"""Run statistics as text: totals, then where time and memory go."""

from __future__ import annotations

from graphviz_tb.commands.hotspots import Hotspot, Hotspots
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
from graphviz_tb.model.units import format_bytes, format_micros


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
        ("coverage", "∞" if hotspots.coverage is None else format_percent(hotspots.coverage), coverage_note(hotspots)),
        ("time", format_micros(hotspots.compute_us_sum), f"summed over ops; {spent}"),
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
            table_rows = [hotspot_row(spot, write(spot.value), width, several) for spot in spots[:top]]
            lines += [
                "",
                look.head(clip_middle(title, width)),
                *color_bars(format_table(table_rows, width, (1, 2), (0,)), look),
            ]
    return lines


def coverage_note(hotspots: Hotspots) -> str:
    """Say how many ops were measured."""
    whole = "endlessly many, a function calls itself" if hotspots.ops is None else f"{hotspots.ops:,} ops"
    return f"{hotspots.measured:,} of {whole}"


def hotspot_row(spot: Hotspot, value: str, width: int, several: bool) -> tuple[str, ...]:
    """Return one line of a list of hotspots: a scope with its number of measured ops, an op with its type; over several
    steps also the fastest and slowest time."""
    kind = one_line(spot.op) if spot.op else f"{spot.measured:,} of {spot.ops:,} ops"
    kind += f", {format_micros(spot.least_us)} to {format_micros(spot.most_us)}" if several else ""
    return one_line(spot.name), value, format_percent(spot.share), kind, bar_text(spot.share, bar_width(width) // 2)
