"""Histograms for display: on common bins over the steps, and as nine percentiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphviz_tb.model.columns import Floats

# TensorBoard's `NORMAL_HISTOGRAM_BPS`: in hundredths of a percent, at whole and half deviations of a normal curve.
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
    return [percentile_at(edges, weights, point, low, high) for point in BASIS_POINTS]


def percentile_at(edges: Floats, weights: Floats, point: int, low: float, high: float) -> float:
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

    A bucket's count is spread by its overlap. A bucket without width goes to the bin that contains it, at a border to
    the right one. A range without width becomes ± 0.5. Buckets with an end that is not finite are left out.

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
    return borders, np.array([rebin(edges, count, borders) for edges, count in placed]).reshape(-1, bins)


def rebin(edges: Floats, count: Floats, borders: Floats) -> Floats:
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
