"""Prepare series for display: smooth them, thin them to pixels, and put histograms on common bins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Floats, distinct_values

# Smooth a series by an exponential moving average without bias, as TensorBoard does.
#
# For a weight w: `last = last * w + (1 - w) * x`, and the smoothed value is `last / (1 - w ** k)` after k finite
# values. The recurrence runs over blocks in columns, so a million points take tens of milliseconds; operations and
# their order are fixed, so every machine gets equal numbers.

SMOOTHING_BLOCK = 128  # points
MAX_SMOOTHING_WEIGHT = 0.999  # with 1 all values would equal the first


def smooth_series(values: Floats, weight: float) -> Floats:
    """Smooth values by a weight in [0, 1), at most 0.999.

    Values that are not finite stay as they are and do not count. A constant series is returned unchanged.

    >>> smooth_series(np.array([1.0, 2.0, np.nan, 3.0]), 0.5).round(3).tolist()
    [1.0, 1.667, nan, 2.429]
    """
    weight = min(max(weight, 0.0), MAX_SMOOTHING_WEIGHT)
    finite = np.isfinite(values)
    counted = values[finite].astype(np.float64)
    if not weight or not len(counted) or (counted == counted[0]).all():
        return values.astype(np.float64)
    out = values.astype(np.float64)
    out[finite] = _moving_averages(counted, weight) / _bias_factors(len(counted), weight)
    return out


def _moving_averages(values: Floats, weight: float) -> Floats:
    """Return the recurrence for each value, begun at 0 and without division: first within blocks, each begun at 0, then
    with the last result of the blocks before."""
    rows = -(-len(values) // SMOOTHING_BLOCK)
    padded = np.zeros(rows * SMOOTHING_BLOCK)
    padded[: len(values)] = values
    blocks = padded.reshape(rows, SMOOTHING_BLOCK)
    inner = np.empty_like(blocks)
    last = np.zeros(rows)
    for column in range(SMOOTHING_BLOCK):  # of all blocks at once
        last = last * weight + (1 - weight) * blocks[:, column]
        inner[:, column] = last
    powers = np.multiply.accumulate(np.full(SMOOTHING_BLOCK, weight))
    carries = np.zeros(rows)
    carry = 0.0
    for row, end in enumerate(inner[:, -1].tolist()):
        carries[row] = carry
        carry = carry * float(powers[-1]) + end
    out: Floats = (inner + carries[:, None] * powers).reshape(-1)[: len(values)]
    return out


def _bias_factors(count: int, weight: float) -> Floats:
    """Return 1 − w^k for k = 1 … count."""
    out: Floats = 1 - np.multiply.accumulate(np.full(count, weight))
    return out


# Thin a series to the pixels that show it without losing extremes (M4: first, least, greatest, last of each
# column).

Indices = NDArray[np.int64]

POINTS_PER_COLUMN = 4  # points that a pixel column can show


def decimate_series(x: Floats, values: Floats, pixels: int) -> Indices:
    """Return the indices of the points to draw, ascending.

    A series of at most four points for each pixel is kept whole. Otherwise the range of `x` is cut into `pixels`
    columns, each with its first, least, greatest and last finite point; a run of values that are not finite keeps its
    first and last point.

    >>> x = np.arange(1000.0)
    >>> kept = decimate_series(x, np.where(x == 617, 5.0, 0.0), 10)
    >>> len(kept) <= 40, 617 in kept
    (True, True)
    """
    if len(x) <= POINTS_PER_COLUMN * max(pixels, 1):
        return np.arange(len(x))
    finite = np.isfinite(values)
    places = np.flatnonzero(finite & np.isfinite(x))
    kept = [_ends_of_runs(~finite)]
    if len(places):
        kept.append(places[_column_extremes(x[places], values[places], pixels)])
    return distinct_values(np.concatenate(kept))


def _column_extremes(x: Floats, values: Floats, pixels: int) -> Indices:
    """Return the first, least, greatest and last point of each column."""
    low, high = float(np.min(x)), float(np.max(x))
    span = (high - low) or 1.0
    column = np.minimum((x - low) / span * pixels, pixels - 1).astype(np.int64)
    begins = np.flatnonzero(np.diff(column, prepend=-1))
    ends = np.append(begins[1:], len(x)) - 1
    run = np.repeat(np.arange(len(begins)), ends - begins + 1)
    least, greatest = np.minimum.reduceat(values, begins), np.maximum.reduceat(values, begins)
    extremes = [_first_of_run(run, values == of[run]) for of in (least, greatest)]
    return np.concatenate([begins, ends, *extremes])


def _first_of_run(run: Indices, chosen: NDArray[np.bool_]) -> Indices:
    places = np.flatnonzero(chosen)
    first: Indices = places[np.unique(run[places], return_index=True)[1]]
    return first


def _ends_of_runs(marked: NDArray[np.bool_]) -> Indices:
    """Return the first and last index of each run of marks."""
    edges = np.diff(marked.astype(np.int8), prepend=0, append=0)
    return np.concatenate([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1])


# Histograms for display: on common bins over the steps, and as nine percentiles.

# TensorBoard's `NORMAL_HISTOGRAM_BPS`, in basis points: the half and full standard deviations of a normal distribution.
BASIS_POINTS = (0, 668, 1587, 3085, 5000, 6915, 8413, 9332, 10000)
RIDGE_BINS = 30  # of the offset view, as in TensorBoard


def histogram_percentiles(edges: Floats, count: Floats) -> list[float]:
    """Return the values at `BASIS_POINTS` of one histogram: `edges` [k, 2] with the left and right end of each bucket.

    Linear within a bucket. A histogram without buckets has nine zeros.

    >>> histogram_percentiles(np.array([[0.0, 10.0]]), np.array([4.0]))[4]
    5.0
    """
    if not len(count):
        return [0.0] * len(BASIS_POINTS)
    low, high = edges[0, 0], edges[-1, 1]
    weights = np.cumsum(count * 10000 / (count.sum() or 1.0))
    return [_percentile_at(edges, weights, point, low, high) for point in BASIS_POINTS]


def _percentile_at(edges: Floats, weights: Floats, point: int, low: float, high: float) -> float:
    at = int(np.searchsorted(weights, point, "right"))
    while at < len(weights) and weights[at] == (weights[at - 1] if at else 0.0):
        at += 1
    if at == len(weights):
        return float(high)
    before = weights[at - 1] if at else 0.0
    left = max(edges[at - 1, 1], low) if before else low
    right = min(edges[at, 1], high)
    return float(left + (point - before) * float(right - left) / (weights[at] - before))


def rebin_all(histograms: Sequence[tuple[Floats, Floats]], bins: int = RIDGE_BINS) -> tuple[Floats, Floats]:
    """Return the borders of equal bins over the range of all histograms, and the counts of each histogram in them.

    The count of a bucket is spread over the bins by overlap. A bucket without width goes to the bin that contains it,
    at a border to the bin on its right. A range without width becomes ± 0.5. Buckets with an end that is not finite are
    left out.

    >>> borders, counts = rebin_all([(np.array([[0.0, 1.0]]), np.array([3.0]))], bins=3)
    >>> counts.tolist()
    [[1.0, 1.0, 1.0]]
    """
    placed = [
        (edges[finite], count[finite]) for edges, count in histograms for finite in [np.isfinite(edges).all(axis=1)]
    ]
    filled = [edges for edges, _ in placed if len(edges)]
    low = min((float(np.min(edges[:, 0])) for edges in filled), default=0.0)
    high = max((float(np.max(edges[:, 1])) for edges in filled), default=0.0)
    if high <= low:
        low, high = low - 0.5, low + 0.5
    borders = low + (high - low) * np.arange(bins + 1) / bins
    return borders, np.array([_rebin(edges, count, borders) for edges, count in placed]).reshape(-1, bins)


def _rebin(edges: Floats, count: Floats, borders: Floats) -> Floats:
    """Return one histogram on other bins."""
    out = np.zeros(len(borders) - 1)
    if not len(count):
        return out
    left, right = edges[:, 0], edges[:, 1]
    wide = right > left
    overlap = np.minimum(right[:, None], borders[None, 1:]) - np.maximum(left[:, None], borders[None, :-1])
    share = np.maximum(overlap, 0)[wide] / (right - left)[wide, None]
    out += (count[wide, None] * share).sum(axis=0)
    at = np.clip(np.searchsorted(borders, left[~wide], "right") - 1, 0, len(out) - 1)
    np.add.at(out, at, count[~wide])
    return out
