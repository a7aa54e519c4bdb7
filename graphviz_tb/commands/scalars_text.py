"""Scalars as text: tables, curves in the terminal, lines that follow a running training, groups of runs."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.axes import Axis, axis_positions, fit_axis
from graphviz_tb.chart.lines import AXIS_WORDS, AxisKind, axis_label, axis_values
from graphviz_tb.chart.runs import GroupSpread, group_runs, members_by_group, spread_of_group
from graphviz_tb.chart.series import decimate_series, smooth_series
from graphviz_tb.commands.table import (
    TextStyle,
    as_encodable,
    clip_end,
    clip_middle,
    format_table,
    pad_text,
    shown_width,
    terminal_width,
)
from graphviz_tb.errors import RequestError
from graphviz_tb.events.plugins import read_trials
from graphviz_tb.logs.log import Log
from graphviz_tb.logs.scalars_export import exact_number_text, json_number
from graphviz_tb.model.formatting import format_number, json_integer, printable
from graphviz_tb.model.logs import Doubles, Series

SPARK_SIGNS = "▁▂▃▄▅▆▇█"
SPARK_WIDTH = 16  # columns of a small curve
# Tags of values to minimise; for any other tag the greatest value is the best.
MINIMISED_TAG = re.compile(
    r"loss|err|cost|perplexity|ppl|mse|mae|rmse|nll|cross_?entropy|bce|kl|wer|cer|fid|distance|divergence",
    re.IGNORECASE,
)


def scalar_table_lines(chosen: Sequence[Series], width: int, look: TextStyle) -> list[str]:
    """Return one line per series: run, tag, points, first, last, best, a small curve."""
    if not chosen:
        return []
    rows = [("run", "tag", "points", "first", "last", "best", ""), *(_scalar_row(series) for series in chosen)]
    return format_table(rows, width, right=(2, 3, 4), shrinking=(0, 1), indent=0, header=True, look=look)


def _scalar_row(series: Series) -> tuple[str, ...]:
    points = series.point_order()
    if not len(points):
        return printable(series.run), printable(series.tag), f"{len(series):,} superseded", "", "", "", ""
    values = series.value[points].astype(np.float64)
    count = f"{len(series):,}"
    if superseded := len(series) - len(points):
        count += f" ({superseded:,} superseded)"
    if odd := int(np.count_nonzero(~np.isfinite(values))):
        count += f" ({odd:,} not finite)"
    return (
        printable(series.run),
        printable(series.tag),
        count,
        format_number(float(values[0])),
        format_number(float(values[-1])),
        _best_value(series.tag, series.step[points], values),
        _sparkline(values, SPARK_WIDTH),
    )


def _best_value(tag: str, steps: NDArray[np.int64], values: NDArray[np.float64]) -> str:
    """Return the least value of a loss or error, else the greatest, and its step.

    >>> (
    ...     _best_value("loss", np.array([0, 5, 9]), np.array([3.0, 1.0, 2.0])),
    ...     _best_value("acc", np.array([0]), np.array([np.nan])),
    ... )
    ('↓ 1 at 5', '')
    """
    finite = np.flatnonzero(np.isfinite(values))
    if not len(finite):
        return ""
    small = MINIMISED_TAG.search(tag) is not None
    at = int(finite[np.argmin(values[finite]) if small else np.argmax(values[finite])])
    return f"{'↓' if small else '↑'} {format_number(float(values[at]))} at {int(steps[at])}"


def _sparkline(values: NDArray[np.float64], width: int) -> str:
    """Return a curve in one line: the means of equal parts of the points, scaled to their range.

    >>> _sparkline(np.array([0.0, 1.0, 2.0, 3.0]), 16), _sparkline(np.array([1.0, np.nan]), 16)
    ('▁▃▆█', '▄ ')
    """
    parts = np.array_split(values, min(width, len(values))) if len(values) else []
    means = [float(np.mean(part[np.isfinite(part)])) if np.any(np.isfinite(part)) else np.nan for part in parts]
    finite = [mean for mean in means if mean == mean]
    if not finite:
        return " " * len(means)
    low, high = min(finite), max(finite)
    # Halve both before the difference, which might overflow.
    half_range = high / 2 - low / 2
    scaled = [mean if mean != mean else (mean / 2 - low / 2) / half_range if half_range else 0.5 for mean in means]
    return "".join(" " if share != share else SPARK_SIGNS[min(7, int(share * 7.999))] for share in scaled)


# Curves in the terminal: two by four dots in each character, one colour per run.

# bits of a braille sign, by row and column
BRAILLE_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
EMPTY_BRAILLE = 0x2800  # the braille sign without dots
RUN_COLOURS = ("cyan", "yellow", "magenta", "green", "blue", "red")
PLAIN_SIGNS = "*+xo#%"  # signs of the runs if the encoding has no braille
CURVE_LABEL_WIDTH = 8  # columns left of a curve for its numbers
MIN_CURVE_LINES, MAX_CURVE_LINES = 6, 20  # lines of a curve
MIN_CURVE_WIDTH = 20  # columns of a curve


@dataclass(frozen=True, slots=True)
class DrawnSeries:
    """One drawn series: the position of each point on the horizontal axis, and its value."""

    run: str
    x: Doubles
    y: Doubles


def curve_lines(chosen: Sequence[Series], values: Mapping[str, Any], width: int, look: TextStyle) -> Iterator[str]:
    """Yield a picture for each tag, with all its runs; together as high as the window if that leaves room for each."""
    tags: dict[str, list[DrawnSeries]] = {}
    axis = AXIS_WORDS[values["axis"]]
    for series in chosen:
        tags.setdefault(series.tag, []).append(_drawn_series(series, axis, values["smooth"]))
    height = shutil.get_terminal_size((width, 24)).lines if sys.stdout.isatty() else 24
    for index, (tag, curves) in enumerate(tags.items()):
        room = max(MIN_CURVE_LINES, min(MAX_CURVE_LINES, (height - 1) // max(1, len(tags)) - 3 - (len(curves) > 1)))
        if index:
            yield ""
        yield look.head(clip_middle(printable(tag), width))
        yield from _curve_picture(curves, axis, values["log_y"], width, room, look)


def _drawn_series(series: Series, kind: AxisKind, smooth: float) -> DrawnSeries:
    """Return the points of a series without superseded ones, in drawing order."""
    points = series.point_order()
    y = series.value[points].astype(np.float64)
    x = axis_values(series.step[points], series.wall[points], kind)
    return DrawnSeries(series.run, x, smooth_series(y, smooth) if smooth else y)


def _curve_picture(
    curves: Sequence[DrawnSeries], kind: AxisKind, log: bool, width: int, height: int, look: TextStyle
) -> Iterator[str]:
    """Yield the lines of one picture: curves, numbers on the left and below, and the runs if there are several."""
    y = fit_axis(np.concatenate([curve.y for curve in curves]), log)
    x = fit_axis(np.concatenate([curve.x for curve in curves]))
    across = max(MIN_CURVE_WIDTH, width - CURVE_LABEL_WIDTH - 2)
    braille = _is_encodable(chr(EMPTY_BRAILLE + 1))
    grids = [_braille_signs(curve, x, y, across, height) for curve in curves]
    row_labels = [format_number(y.high), *[""] * (height - 2), format_number(y.low)]
    for row, label in enumerate(row_labels):
        line = "".join(_curve_sign([grid[row, column] for grid in grids], braille, look) for column in range(across))
        yield _clip_plain(f"{pad_text(label, CURVE_LABEL_WIDTH, right=True)} ┤{line}", width, look)
    left, right = axis_label(x.low, x, kind), axis_label(x.high, x, kind)
    yield clip_end(
        f"{' ' * (CURVE_LABEL_WIDTH + 2)}{left}{' ' * max(1, across - shown_width(left) - shown_width(right))}{right}",
        width,
    )
    if len(curves) > 1:
        yield _run_legend(curves, braille, width, look)


def _clip_plain(line: str, width: int, look: TextStyle) -> str:
    """Clip a line without colours; one with colours was made to fit."""
    return line if look.on else clip_end(line.rstrip(), width)


def _braille_signs(curve: DrawnSeries, x: Axis, y: Axis, width: int, height: int) -> NDArray[np.int64]:
    """Return the dots of a curve as numbers of braille signs, [height, width]; 0 without dots."""
    grid = np.zeros((height, width), np.int64)
    columns, rows = 2 * width, 4 * height
    kept = decimate_series(curve.x, curve.y, columns)
    across, down = axis_positions(x, curve.x[kept]) * (columns - 1), (1 - axis_positions(y, curve.y[kept])) * (rows - 1)
    good = np.isfinite(across) & np.isfinite(down)
    if not np.any(good):
        return grid
    _mark_dots(grid, np.where(good, across, 0), np.where(good, down, 0), good)
    return grid


def _mark_dots(grid: NDArray[np.int64], across: Doubles, down: Doubles, good: NDArray[np.bool_]) -> None:
    """Set the dots of a line through all points; a point that is not finite is a gap."""
    height, width = grid.shape
    ahead = np.concatenate([good[1:], [False]]) & good
    ends = np.minimum(np.arange(len(across)) + 1, len(across) - 1)
    steps = np.where(ahead, np.maximum(np.abs(across[ends] - across), np.abs(down[ends] - down)), 0)
    count = np.where(good, np.ceil(np.nan_to_num(steps)).astype(np.int64) + 1, 0)
    line = np.repeat(np.arange(len(across)), count)
    share = (np.arange(len(line)) - np.repeat(np.cumsum(count) - count, count)) / np.maximum(count[line] - 1, 1)
    stop = np.where(ahead, ends, np.arange(len(across)))[line]
    column = np.rint(across[line] + (across[stop] - across[line]) * share).astype(np.int64)
    row = np.rint(down[line] + (down[stop] - down[line]) * share).astype(np.int64)
    inside = (column >= 0) & (column < 2 * width) & (row >= 0) & (row < 4 * height)
    column, row = column[inside], row[inside]
    np.bitwise_or.at(grid, (row // 4, column // 2), BRAILLE_DOTS[row % 4, column % 2])


def _curve_sign(dots: Sequence[int], braille: bool, look: TextStyle) -> str:
    """Return one character: the dots of all runs, in the colour of the last run with a dot there."""
    held = [index for index, dot in enumerate(dots) if dot]
    if not held:
        return " "
    if not braille:
        return PLAIN_SIGNS[held[-1] % len(PLAIN_SIGNS)]
    text = chr(EMPTY_BRAILLE + int(np.bitwise_or.reduce([dots[index] for index in held])))
    return click.style(text, fg=RUN_COLOURS[held[-1] % len(RUN_COLOURS)]) if look.on else text


def _run_legend(curves: Sequence[DrawnSeries], braille: bool, width: int, look: TextStyle) -> str:
    """Return the runs, each with its colour, or with its sign without colours and braille."""
    room, parts = width, []
    for index, curve in enumerate(curves):
        name = printable(curve.run)
        text = f"{PLAIN_SIGNS[index % len(PLAIN_SIGNS)]} {name}" if not braille else f"━ {name}"
        room -= shown_width(text) + 2
        if room < 0:
            parts.append("…")
            break
        parts.append(click.style(text, fg=RUN_COLOURS[index % len(RUN_COLOURS)]) if look.on else text)
    return "  ".join(parts)


def _is_encodable(text: str) -> bool:
    """Return whether standard output can encode this text."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


# Follow runs while they are written: one line per run, rewritten on a terminal, else a new line for each change.

MIN_WATCH_SECONDS, MAX_WATCH_SECONDS = 1.0, 5.0  # seconds between two looks: longer while nothing changes
WATCH_SPARK_WIDTH = 8  # places of the curve of each tag


def watch_runs(log: Log, choose: Callable[[], Sequence[Series]]) -> None:
    """Print the present values, then new ones as they are written, until Ctrl-C."""
    live = sys.stdout.isatty()
    printed = _rewrite_lines(_run_status_lines(choose(), live), 0, live)
    wait = MIN_WATCH_SECONDS
    while True:
        time.sleep(wait)
        changes = log.refresh()
        if not changes:
            wait = min(MAX_WATCH_SECONDS, wait * 1.5)
            continue
        wait = MIN_WATCH_SECONDS
        changed = {run for run, _ in (*changes.points, *changes.again)}
        series = [series for series in choose() if live or series.run in changed]
        printed = _rewrite_lines(_run_status_lines(series, live), printed, live)


def _rewrite_lines(lines: list[str], before: int, live: bool) -> int:
    """Print lines, on a terminal over the `before` lines printed last; return how many."""
    encoding = sys.stdout.encoding or "utf-8"
    if live and before:
        sys.stdout.write(f"\x1b[{before}F\x1b[J")  # up to the first of them, and clear the rest
    for line in lines:
        print(as_encodable(line, encoding))
    sys.stdout.flush()
    return len(lines)


def _run_status_lines(series: Sequence[Series], live: bool) -> list[str]:
    """Return one line per run: its name, its last step, the last value of each tag."""
    runs: dict[str, list[Series]] = {}
    for each in series:
        runs.setdefault(each.run, []).append(each)
    width = terminal_width()
    lines = []
    for run, held in runs.items():
        last = max((int(each.step[-1]) for each in held if len(each)), default=0)
        line = "  ".join([printable(run), f"step {last}", *(_series_status(each, live) for each in held)])
        lines.append(clip_end(line, width) if live else line)
    return lines


def _series_status(series: Series, live: bool) -> str:
    points = series.point_order()
    if not len(points):
        return printable(series.tag)
    values = series.value[points].astype(float)
    curve = f" {_sparkline(values, WATCH_SPARK_WIDTH)}" if live else ""
    return f"{printable(series.tag)} {format_number(float(values[-1]))}{curve}"


# Output of `tbgraph scalars --group-by` and `--wide`: groups of runs with their spread, or one row per step.

_COLUMNS = ("mean", "deviation", "least", "lower_quartile", "median", "upper_quartile", "greatest")
_HEADER = ("group", "tag", "step", "runs", "mean", "std", "least", "q1", "median", "q3", "greatest")
GroupedSeries = dict[tuple[str, str], "list[Series]"]


def grouped_series(log: Log, chosen: Sequence[Series], by: str) -> GroupedSeries:
    """Return the series of each group and tag. Raises `RequestError` if no run belongs to a group."""
    names = list(dict.fromkeys(series.run for series in chosen))
    hparams = {session.run: session.hparams for session in read_trials(log.logged).sessions}
    groups = group_runs(names, by, hparams)
    if names and all(group == name for name, group in groups.items()):
        known = sorted({name for settings in hparams.values() for name in settings})
        more = f"; hyperparameters: {', '.join(known[:9])}" if known else ""
        raise RequestError(
            f"no two runs are of one group by {by!r}: say differs, a part such as 'seed*', or the name"
            f" of a hyperparameter{more}"
        )
    return members_by_group(chosen, groups)


def group_table(groups: GroupedSeries, width: int, look: TextStyle) -> list[str]:
    """Return a line for each group and tag: its runs, and the mean and the spread of their last common step."""
    if not groups:
        return []
    rows: list[tuple[str, ...]] = [("group", "tag", "runs", "step", "mean", "std", "least", "greatest", "")]
    rows += [_group_row(group, tag, members) for (group, tag), members in groups.items()]
    return format_table(rows, width, right=(2, 3, 4, 5, 6, 7), shrinking=(0, 1), indent=0, header=True, look=look)


def _group_row(group: str, tag: str, members: Sequence[Series]) -> tuple[str, ...]:
    spread = spread_of_group(members)
    head = printable(group), printable(tag)
    if not len(spread.steps):
        return (*head, str(len(members)), "", "", "", "", "", "")
    at = int(np.flatnonzero(spread.count == np.max(spread.count))[-1])
    runs = str(len(members)) if spread.count[at] == len(members) else f"{spread.count[at]} of {len(members)}"
    values = (float(getattr(spread, name)[at]) for name in ("mean", "deviation", "least", "greatest"))
    return (*head, runs, f"{spread.steps[at]:,}", *map(format_number, values), _sparkline(spread.mean, SPARK_WIDTH))


def group_csv(groups: GroupedSeries) -> Iterator[str]:
    """Yield a header, then a line for each group, tag and step."""
    yield _csv_text([_HEADER])
    for (group, tag), members in groups.items():
        yield _csv_text(
            [[group, tag, step, count, *map(exact_number_text, values)] for step, count, values in _rows(members)]
        )


def group_json(groups: GroupedSeries) -> Iterator[str]:
    """Yield a document with columns for each group and tag."""
    yield '{"format":"tbgraph-grouped-scalars","version":1,"groups":['
    for at, ((group, tag), members) in enumerate(groups.items()):
        spread = spread_of_group(members)
        columns = {name: list(map(json_number, getattr(spread, name).tolist())) for name in _COLUMNS}
        steps = {"step": list(map(json_integer, spread.steps.tolist())), "count": spread.count.tolist()}
        entry = {"group": group, "tag": tag, "runs": [member.run for member in members], **steps, **columns}
        yield ("," if at else "") + json.dumps(entry, separators=(",", ":"))
    yield "]}"


def wide_csv(chosen: Sequence[Series]) -> Iterator[str]:
    """Yield a row for each step, a column for each run, or for each run and tag if there are several tags."""
    several = len({series.tag for series in chosen}) > 1
    names = [f"{series.run} · {series.tag}" if several else series.run for series in chosen]
    columns = [_values_by_step(series) for series in chosen]
    yield _csv_text([["step", *names]])
    for step in sorted(set().union(*columns)):
        yield _csv_text([[step, *(exact_number_text(column[step]) if step in column else "" for column in columns)]])


def _values_by_step(series: Series) -> dict[int, float]:
    points = series.point_order()
    return dict(zip(series.step[points].tolist(), series.value[points].tolist(), strict=True))


def _rows(members: Sequence[Series]) -> Iterator[tuple[int, int, list[float]]]:
    spread: GroupSpread = spread_of_group(members)
    values = np.stack([getattr(spread, name) for name in _COLUMNS], axis=1).tolist()
    yield from zip(spread.steps.tolist(), spread.count.tolist(), values, strict=True)


def _csv_text(rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()
