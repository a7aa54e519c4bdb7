"""Where the time of traced steps goes, for `tbgraph info --profile` and `--trace`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphviz_tb import load
from graphviz_tb.annotate.step_profile import NOT_IN_GRAPH, median_table
from graphviz_tb.api.pipeline import Model
from graphviz_tb.commands.session import open_model
from graphviz_tb.commands.table import (
    TextStyle,
    bar_text,
    bar_width,
    clip_middle,
    color_bars,
    format_percent,
    format_table,
    output_style,
    print_json,
    print_lines,
    terminal_width,
    wrap_text,
)
from graphviz_tb.errors import MissingFacts, NoGraph
from graphviz_tb.logs.run_statistics import PLACEHOLDER_GRAPH, profiles_by_step
from graphviz_tb.model.formatting import document_header, format_bytes, format_micros, printable
from graphviz_tb.model.profile import OpTime, Profile
from graphviz_tb.model.stats import median_with_zeros, round_for_json
from graphviz_tb.options import Options
from graphviz_tb.output.files import write_output
from graphviz_tb.render.exports import trace_json_bytes

PROFILE_TABLES = (("Ops", "ops"), ("Op types", "types"), ("Groups", "groups"))
STEP_SHARES = ("compute", "input", "launch", "idle")
SHARE_MEANINGS = {
    "compute": "an op that is not of the input pipeline runs",
    "input": "only the input pipeline runs: the step waits for data",
    "launch": "the host only hands kernels to an accelerator",
    "idle": "nothing that the trace records runs",
}


def print_profile(
    source: str, options: Options, as_json: bool, tables: bool, target: str | None, top: int, quiet: bool
) -> None:
    """Print the `tables` of the traced steps if wanted, and write their trace to `target`."""
    try:
        with open_model(source, options, quiet=quiet) as session:
            name, profiles = session.model.name, _read_profiles(source, session.model, options)
    except NoGraph as error:
        try:
            name, profiles = Path(source).name, _read_profiles(source, load(PLACEHOLDER_GRAPH), options)
        except MissingFacts:
            raise error from None
    if target is not None:
        write_output(target, trace_json_bytes(profiles))
    if tables and as_json:
        print_json(_profile_document(name, profiles))
    elif tables:
        print_lines(_profile_lines(name, profiles, top, terminal_width(), output_style()))


def _read_profiles(source: str, model: Model, options: Options) -> list[Profile]:
    """Return the requested profiles. Raises `MissingFacts` if there are none."""
    assert model.loaded is not None  # it was read
    return [make() for make in profiles_by_step(source, model.loaded, model.hierarchy, options).values()]


def _profile_document(label: str, profiles: Sequence[Profile]) -> dict[str, Any]:
    """Return the profiles for JSON: times in microseconds, the tables complete."""
    tables = {field: _op_times(profiles, field) for _, field in PROFILE_TABLES}
    return {
        **document_header("tbgraph-profile"),
        "label": label,
        "steps": [_profile_step_values(profile) for profile in profiles],
        "compute_us_sum": round_for_json(median_with_zeros(profile.whole for profile in profiles) / 1000),
        **{field: [_op_time_values(row) for row in rows] for field, rows in tables.items()},
    }


def _profile_step_values(profile: Profile) -> dict[str, Any]:
    """Return one step: its times in microseconds, its shares, its memory, and the gaps in the trace."""
    return {
        "step": profile.step,
        "step_us": round_for_json(profile.shares.length / 1000),
        "compute_us_sum": round_for_json(profile.whole / 1000),
        "outside_us": round_for_json(profile.outside / 1000),
        "unmatched_us": round_for_json(profile.unmatched / 1000),
        "shares_us": {name: round_for_json(getattr(profile.shares, name) / 1000) for name in STEP_SHARES},
        "memory": [{"allocator": curve.allocator, "peak_bytes": curve.peak} for curve in profile.memory],
        "slices": len(profile.timeline),
        "missing": list(profile.missing),
    }


def _op_time_values(row: OpTime) -> dict[str, Any]:
    times = {"self_us": round_for_json(row.self_time / 1000), "total_us": round_for_json(row.total / 1000)}
    values = {"name": row.name, "op": row.op, **times, "count": row.count, "bytes": row.bytes}
    return values if row.in_graph else {**values, "in_graph": False}


def _op_times(profiles: Sequence[Profile], field: str) -> Sequence[OpTime]:
    """Return the table of one step, or the medians of several."""
    tables: list[Sequence[OpTime]] = [getattr(profile, field) for profile in profiles]
    return tables[0] if len(tables) == 1 else median_table(tables)


def _profile_lines(label: str, profiles: Sequence[Profile], top: int, width: int, look: TextStyle) -> list[str]:
    """Return the steps and their shares, then the tables, then the gaps in the traces."""
    lines = [
        look.head(clip_middle(printable(label), width)),
        "",
        look.head("Steps"),
        *_profile_step_lines(profiles, top, width, look),
    ]
    step_micros = median_with_zeros(profile.time for profile in profiles) / 1000
    for title, field in PROFILE_TABLES:
        rows = _op_times(profiles, field)
        more = f", the first {top:,} of {len(rows):,}" if len(rows) > top else ""
        medians = ", medians over the steps" if len(profiles) > 1 else ""
        lines += [
            "",
            look.head(clip_middle(title + more + medians, width)),
            *_op_time_lines(rows[:top], step_micros, width, look),
        ]
    gaps = list(dict.fromkeys(line for profile in profiles for line in profile.missing))
    if gaps:
        lines += ["", look.head("Partial")]
        lines += [line for text in gaps for line in wrap_text(text, width, 2, 4)]
    return lines


def _profile_step_lines(profiles: Sequence[Profile], top: int, width: int, look: TextStyle) -> list[str]:
    """Return a line for each step; for one step also a line for each share."""
    rows: list[tuple[str, ...]] = [
        ("step", "from first start to last end", "sum over ops", *STEP_SHARES[:2], "idle", "peak memory")
    ]
    for profile in profiles[:top]:
        shares = profile.shares
        percents = [format_percent(part / (shares.length or 1)) for part in (shares.compute, shares.input, shares.idle)]
        peak = " + ".join(format_bytes(curve.peak) for curve in profile.memory) or "–"
        times = format_micros(shares.length / 1000), format_micros(profile.time / 1000)
        rows.append((printable(profile.step.rpartition("/")[2].removesuffix(":run")), *times, *percents, peak))
    lines = format_table(rows, width, (1, 2, 3, 4, 5), (0, 1), header=True, look=look)
    if len(profiles) > top:
        lines.append(f"  … and {len(profiles) - top:,} more")
    if len(profiles) == 1:
        shares = profiles[0].shares
        spent = [(name, getattr(shares, name)) for name in STEP_SHARES]
        shown = [(name, format_micros(time / 1000), SHARE_MEANINGS[name]) for name, time in spent if time]
        lines += ["", *format_table(shown, width, (1,), (2,))]
    return lines


def _op_time_lines(rows: Sequence[OpTime], step_micros: float, width: int, look: TextStyle) -> list[str]:
    """Return one table: self time, its share of all executions, time including inner ops, executions."""
    cells: list[tuple[str, ...]] = [("self", "share", "total", "count", "name", "op", "")]
    for row in rows:
        share = row.self_time / 1000 / (step_micros or 1)
        times = format_micros(row.self_time / 1000), format_percent(share), format_micros(row.total / 1000)
        op = "" if row.op == row.name else printable(row.op)
        if not row.in_graph and row.name != NOT_IN_GRAPH:
            op = f"{op}, {NOT_IN_GRAPH}" if op else NOT_IN_GRAPH
        cells.append(
            (
                *times,
                f"{row.count:,}",
                printable(row.name) or "(whole graph)",
                op,
                bar_text(share, bar_width(width) // 2),
            )
        )
    return color_bars(format_table(cells, width, (0, 1, 2, 3), (4, 5), header=True, look=look), look)
