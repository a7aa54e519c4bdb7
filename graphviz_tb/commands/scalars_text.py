"""Scalars as text: a table with a small curve for each series."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.commands.table import TextStyle, format_table
from graphviz_tb.commands.terminal import one_line
from graphviz_tb.model.logged import Series
from graphviz_tb.model.units import format_number

SPARK_SIGNS = "▁▂▃▄▅▆▇█"
SPARK_WIDTH = 16  # columns of a small curve
# Tags of values to minimise; for any other tag the greatest value is the best.
MINIMISED_TAG = re.compile(
    r"loss|err|cost|perplexity|ppl|mse|mae|rmse|nll|cross_?entropy|bce|kl|wer|cer|fid|distance|divergence",
    re.IGNORECASE,
)


def scalar_table_lines(chosen: Sequence[Series], width: int, look: TextStyle) -> list[str]:
    """Return a line a series: run, tag, points, first, last, best, a small curve."""
    if not chosen:
        return []
    rows = [("run", "tag", "points", "first", "last", "best", ""), *(scalar_row(series) for series in chosen)]
    return format_table(rows, width, right=(2, 3, 4), gives=(0, 1), indent=0, header=True, look=look)


def scalar_row(series: Series) -> tuple[str, ...]:
    points = series.point_order()
    if not len(points):
        return one_line(series.run), one_line(series.tag), f"{len(series):,} superseded", "", "", "", ""
    values = series.value[points].astype(np.float64)
    count = f"{len(series):,}"
    if superseded := len(series) - len(points):
        count += f" ({superseded:,} superseded)"
    return (
        one_line(series.run),
        one_line(series.tag),
        count,
        format_number(float(values[0])),
        format_number(float(values[-1])),
        best_value(series.tag, series.step[points], values),
        sparkline(values, SPARK_WIDTH),
    )


def best_value(tag: str, steps: NDArray[np.int64], values: NDArray[np.float64]) -> str:
    """Return the least value of a loss or error, else the greatest, and its step.

    >>> (
    ...     best_value("loss", np.array([0, 5, 9]), np.array([3.0, 1.0, 2.0])),
    ...     best_value("acc", np.array([0]), np.array([np.nan])),
    ... )
    ('↓ 1 at 5', '')
    """
    finite = np.flatnonzero(np.isfinite(values))
    if not len(finite):
        return ""
    small = MINIMISED_TAG.search(tag) is not None
    at = int(finite[np.argmin(values[finite]) if small else np.argmax(values[finite])])
    return f"{'↓' if small else '↑'} {format_number(float(values[at]))} at {int(steps[at])}"


def sparkline(values: NDArray[np.float64], width: int) -> str:
    """Return a curve in one line: the means of equal parts of the points, scaled to their range.

    >>> sparkline(np.array([0.0, 1.0, 2.0, 3.0]), 16), sparkline(np.array([1.0, np.nan]), 16)
    ('▁▃▆█', '▄ ')
    """
    parts = np.array_split(values, min(width, len(values))) if len(values) else []
    means = [float(np.mean(part[np.isfinite(part)])) if np.any(np.isfinite(part)) else np.nan for part in parts]
    finite = [mean for mean in means if mean == mean]
    if not finite:
        return " " * len(means)
    low, high = min(finite), max(finite)
    # Halve both before the difference, which might overflow.
    room = high / 2 - low / 2
    scaled = [mean if mean != mean else (mean / 2 - low / 2) / room if room else 0.5 for mean in means]
    return "".join(" " if share != share else SPARK_SIGNS[min(7, int(share * 7.999))] for share in scaled)
