"""Smooth a series by an exponential moving average without bias, as TensorBoard does.

For a weight w: `last = last * w + (1 - w) * x`, and the smoothed value is `last / (1 - w ** k)` after k finite values.
The recurrence runs over blocks in columns, so a million points take tens of milliseconds; operations and their order
are fixed, so every machine gets equal numbers.
"""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Floats

SMOOTHING_BLOCK = 128  # points
MAX_SMOOTHING_WEIGHT = 0.999  # 1 would never leave the first value


def smooth_series(values: Floats, weight: float) -> Floats:
    """Smooth values by a weight in [0, 1); a heavier one is taken as 0.999.

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
    out[finite] = moving_averages(counted, weight) / bias_factors(len(counted), weight)
    return out


def moving_averages(values: Floats, weight: float) -> Floats:
    """Return the plain recurrence from 0, for each value."""
    rows = -(-len(values) // SMOOTHING_BLOCK)
    padded = np.zeros(rows * SMOOTHING_BLOCK)
    padded[: len(values)] = values
    blocks = padded.reshape(rows, SMOOTHING_BLOCK)
    inner = np.empty_like(blocks)
    last = np.zeros(rows)
    for column in range(SMOOTHING_BLOCK):  # each block from 0, all blocks at once
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


def bias_factors(count: int, weight: float) -> Floats:
    """Return 1 − w^k for k = 1 … count."""
    out: Floats = 1 - np.multiply.accumulate(np.full(count, weight))
    return out
