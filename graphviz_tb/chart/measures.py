"""Compute a measure of a series: one number for each of its points.

Histograms of version 1 contain their sums. Sums of version 2 are estimated, as if values were spread evenly over each
bucket.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphviz_tb.model.columns import Bools
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.joins import GatherRule, TagJoin, TagValues
from graphviz_tb.model.logs import Doubles, HistogramPoints, Series


@dataclass(frozen=True, slots=True)
class HistogramSums:
    """Columns over the histograms of a series: number of elements, their sum and sum of squares, the largest |x|, how
    many may be zero, how many are not finite. `exact`: the file contains the sums."""

    number: Doubles
    sum: Doubles
    squares: Doubles
    largest: Doubles
    zeros: Doubles
    nonfinite: Doubles
    exact: bool


@dataclass(frozen=True, slots=True)
class LoggedMeasure:
    """A measure: its value for histograms and for scalars (None if undefined), and its aggregation in groups.

    `log`: shown by orders of magnitude. `signed`: may be negative. `percent`: a share of the elements. `bound`: the
    sign before inexact values. `always_exact`: even if sums are estimated.
    """

    words: str
    of_histograms: Callable[[HistogramSums], Doubles] | None
    of_scalars: Callable[[Doubles], Doubles] | None
    gather: GatherRule
    log: bool = False
    signed: bool = False
    percent: bool = False
    bound: str = "≈"
    always_exact: bool = False


def _histogram_norm(sums: HistogramSums) -> Doubles:
    out: Doubles = np.sqrt(np.maximum(sums.squares, 0))
    return out


def _histogram_rms(sums: HistogramSums) -> Doubles:
    out: Doubles = np.sqrt(np.maximum(sums.squares, 0) / sums.number)
    return out


def _histogram_deviation(sums: HistogramSums) -> Doubles:
    out: Doubles = np.sqrt(np.maximum(sums.squares / sums.number - (sums.sum / sums.number) ** 2, 0))
    return out


def _zero_flags(values: Doubles) -> Doubles:
    out: Doubles = (values == 0).astype(np.float64)
    return out


def _nonfinite_flags(values: Doubles) -> Doubles:
    """Return 1 for each value that is NaN or infinite."""
    return (~np.isfinite(values)).astype(np.float64)


MEASURES: dict[str, LoggedMeasure] = {
    "last": LoggedMeasure("value", None, lambda values: values, "mean"),
    "mean": LoggedMeasure("mean", lambda sums: sums.sum / sums.number, lambda values: values, "mean", signed=True),
    "std": LoggedMeasure("standard deviation", _histogram_deviation, None, "mean"),
    "norm": LoggedMeasure("norm", _histogram_norm, np.abs, "root of squares", log=True),
    "rms": LoggedMeasure("root mean square", _histogram_rms, None, "root of mean squares", log=True),
    "largest": LoggedMeasure("largest |x|", lambda sums: sums.largest, np.abs, "largest", log=True, always_exact=True),
    "zeros": LoggedMeasure(
        "share of zeros", lambda sums: sums.zeros / sums.number, _zero_flags, "mean", percent=True, bound="≤"
    ),
    "nonfinite": LoggedMeasure(
        "share that is not finite", lambda sums: sums.nonfinite / sums.number, _nonfinite_flags, "mean", percent=True
    ),
    "trend": LoggedMeasure("trend, decades in 1,000 steps", _histogram_rms, np.abs, "mean", signed=True),
    "ratio": LoggedMeasure(
        "norm of gradient by norm of weight",
        _histogram_norm,
        np.abs,
        "ratio",
        log=True,
    ),
}


def tag_values(join: TagJoin, series: Series, measure: str) -> TagValues | None:
    """Return the values of a measure of one series at ascending steps, the last point of each step; None if the measure
    is not defined for it.

    `join` has found rows.
    """
    row = MEASURES[measure]
    order = series.point_order()
    if isinstance(series.data, HistogramPoints) and row.of_histograms is not None:
        sums = _histogram_sums(series.data)
        with np.errstate(all="ignore"):
            value, number = row.of_histograms(sums)[order], np.nan_to_num(sums.number)[order]
        exact = sums.exact or row.always_exact
    elif series.kind == "scalar" and row.of_scalars is not None:
        value, exact = row.of_scalars(series.value.astype(np.float64))[order], True
        number = np.ones(len(value))
    else:
        return None
    step = series.step[order]
    if measure == "trend":
        value = _log_slope(step, value)
    is_last = np.append(step[1:] != step[:-1], True)[: len(step)]
    return TagValues(join, step[is_last], value[is_last], number[is_last], exact) if len(step) else None


def _histogram_sums(data: HistogramPoints) -> HistogramSums:
    count = len(data.start) - 1
    which = np.repeat(np.arange(count), np.diff(data.start))
    left, right, weight = data.left, data.right, data.count

    def total(values: Doubles) -> Doubles:
        return np.bincount(which, weights=values, minlength=count).astype(np.float64)

    with np.errstate(all="ignore"):
        bad: Bools = ~(np.isfinite(left) & np.isfinite(right))
        estimated = total(weight * (left + right) / 2), total(weight * (left**2 + left * right + right**2) / 3)
        ends = np.where(weight > 0, np.maximum(np.abs(left), np.abs(right)), 0.0)
    largest = np.zeros(count)
    np.fmax.at(largest, which, ends)
    largest[which[bad]] = np.nan
    written = np.isfinite(data.number)
    number = np.where(written, data.number, total(weight))
    unsound = written & ~(np.isfinite(data.sum) & np.isfinite(data.sum_squares))
    largest = np.where(written, np.maximum(np.abs(data.minimum), np.abs(data.maximum)), largest)
    return HistogramSums(
        number,
        np.where(written, data.sum, estimated[0]),
        np.where(written, data.sum_squares, estimated[1]),
        largest,
        total(np.where((left <= 0) & (right >= 0), weight, 0.0)),
        np.maximum(total(np.where(bad, weight, 0.0)), unsound),
        bool(np.all(written)),
    )


def _log_slope(step: np.ndarray, value: Doubles) -> Doubles:
    """Return at each point the slope per 1,000 steps, by least squares, of log10 of all values so far.

    Zeros and values that are not finite do not count; before two different steps it is 0.

    >>> _log_slope(np.array([0, 500, 1000]), np.array([1.0, 0.1, 0.01])).round(3).tolist()
    [0.0, -2.0, -2.0]
    """
    with np.errstate(all="ignore"):
        y = np.log10(np.abs(value))
    counts = np.isfinite(y)
    x = np.where(counts, (step - step[:1].sum()) / 1000.0, 0.0)
    y = np.where(counts, y, 0.0)
    n = np.cumsum(counts)
    spread = n * np.cumsum(x * x) - np.cumsum(x) ** 2
    with np.errstate(all="ignore"):
        slope = (n * np.cumsum(x * y) - np.cumsum(x) * np.cumsum(y)) / spread
    return np.where(spread > 1e-12, slope, 0.0)
