"""Curves in the terminal: two by four dots in each character, one colour a run."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.axes import Axis, fit_axis, format_duration, format_wall_time
from graphviz_tb.chart.decimate import decimate_series
from graphviz_tb.chart.smooth import smooth_series
from graphviz_tb.commands.table import TextStyle, clip_end, clip_middle, pad_text, shown_width
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.model.logged import Doubles, Series
from graphviz_tb.model.units import format_number

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
    for series in chosen:
        tags.setdefault(series.tag, []).append(drawn_series(series, values["axis"], values["smooth"]))
    height = shutil.get_terminal_size((width, 24)).lines if sys.stdout.isatty() else 24
    for index, (tag, curves) in enumerate(tags.items()):
        room = max(MIN_CURVE_LINES, min(MAX_CURVE_LINES, (height - 1) // max(1, len(tags)) - 3 - (len(curves) > 1)))
        if index:
            yield ""
        yield look.head(clip_middle(one_line(tag), width))
        yield from curve_picture(curves, values["axis"], values["log_y"], width, room, look)


def drawn_series(series: Series, kind: str, smooth: float) -> DrawnSeries:
    """Return the points of a series without superseded ones, in drawing order."""
    points = series.point_order()
    y = series.value[points].astype(np.float64)
    x = series.step[points].astype(np.float64) if kind == "step" else series.wall[points]
    if kind == "relative" and len(x):
        finite = x[np.isfinite(x)]
        x = x - (np.min(finite) if len(finite) else 0)
    return DrawnSeries(series.run, x, smooth_series(y, smooth) if smooth else y)


def curve_picture(
    curves: Sequence[DrawnSeries], kind: str, log: bool, width: int, height: int, look: TextStyle
) -> Iterator[str]:
    """Yield the lines of one picture: curves, numbers on the left and below, and the runs if there are several."""
    y = fit_axis(np.concatenate([each.y for each in curves]), log)
    x = fit_axis(np.concatenate([each.x for each in curves]))
    across = max(MIN_CURVE_WIDTH, width - CURVE_LABEL_WIDTH - 2)
    braille = is_encodable(chr(EMPTY_BRAILLE + 1))
    grids = [braille_signs(each, x, y, across, height) for each in curves]
    top = [format_number(y.high), *[""] * (height - 2), format_number(y.low)]
    for row, label in enumerate(top):
        line = "".join(curve_sign([grid[row, column] for grid in grids], braille, look) for column in range(across))
        yield clip_plain(f"{pad_text(label, CURVE_LABEL_WIDTH, right=True)} ┤{line}", width, look)
    left, right = axis_label(x.low, kind, x), axis_label(x.high, kind, x)
    yield clip_end(
        f"{' ' * (CURVE_LABEL_WIDTH + 2)}{left}{' ' * max(1, across - shown_width(left) - shown_width(right))}{right}",
        width,
    )
    if len(curves) > 1:
        yield run_legend(curves, braille, width, look)


def clip_plain(line: str, width: int, look: TextStyle) -> str:
    """Clip a line without colours; one with colours was made to fit."""
    return line if look.on else clip_end(line.rstrip(), width)


def axis_label(value: float, kind: str, x: Axis) -> str:
    """Return the text of a number below the picture."""
    if kind == "time":
        return format_wall_time(value, x.high - x.low)
    return format_duration(value) if kind == "relative" else format_number(value)


def braille_signs(curve: DrawnSeries, x: Axis, y: Axis, width: int, height: int) -> NDArray[np.int64]:
    """Return the dots of a curve as numbers of braille signs, [height, width]; 0 without dots."""
    grid = np.zeros((height, width), np.int64)
    columns, rows = 2 * width, 4 * height
    kept = decimate_series(curve.x, curve.y, columns)
    across, down = x.positions_of(curve.x[kept]) * (columns - 1), (1 - y.positions_of(curve.y[kept])) * (rows - 1)
    good = np.isfinite(across) & np.isfinite(down)
    if not np.any(good):
        return grid
    mark_dots(grid, np.where(good, across, 0), np.where(good, down, 0), good)
    return grid


def mark_dots(grid: NDArray[np.int64], across: Doubles, down: Doubles, good: NDArray[np.bool_]) -> None:
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


def curve_sign(dots: Sequence[int], braille: bool, look: TextStyle) -> str:
    """Return one character: the dots of all runs, in the colour of the last run with a dot there."""
    held = [index for index, each in enumerate(dots) if each]
    if not held:
        return " "
    if not braille:
        return PLAIN_SIGNS[held[-1] % len(PLAIN_SIGNS)]
    text = chr(EMPTY_BRAILLE + int(np.bitwise_or.reduce([dots[index] for index in held])))
    return click.style(text, fg=RUN_COLOURS[held[-1] % len(RUN_COLOURS)]) if look.on else text


def run_legend(curves: Sequence[DrawnSeries], braille: bool, width: int, look: TextStyle) -> str:
    """Return the runs, each with its colour, or with its sign without colours and braille."""
    room, parts = width, []
    for index, each in enumerate(curves):
        name = one_line(each.run)
        text = f"{PLAIN_SIGNS[index % len(PLAIN_SIGNS)]} {name}" if not braille else f"━ {name}"
        room -= shown_width(text) + 2
        if room < 0:
            parts.append("…")
            break
        parts.append(click.style(text, fg=RUN_COLOURS[index % len(RUN_COLOURS)]) if look.on else text)
    return "  ".join(parts)


def is_encodable(text: str) -> bool:
    """Return whether standard output can encode this text."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
