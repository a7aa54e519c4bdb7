"""Smooth a series by an exponential moving average without bias, as TensorBoard does.

For a weight w: `last = last * w + (1 - w) * x`, and the smoothed value is `last / (1 - w ** k)` after k finite values.
The recurrence runs over blocks in columns, so a million points take tens of milliseconds; operations and their order
are fixed, so every machine gets equal numbers.
"""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Floats

BLOCK = 128  # points
HEAVIEST = 0.999  # 1 would never leave the first value


def smoothed(values: Floats, weight: float) -> Floats:
    """Smooth values by a weight in [0, 1); a heavier one is taken as 0.999.

    Values that are not finite stay as they are and do not count. A constant series is returned unchanged.

    >>> smoothed(np.array([1.0, 2.0, np.nan, 3.0]), 0.5).round(3).tolist()
    [1.0, 1.667, nan, 2.429]
    """
    weight = min(max(weight, 0.0), HEAVIEST)
    finite = np.isfinite(values)
    counted = values[finite].astype(np.float64)
    if not weight or not len(counted) or (counted == counted[0]).all():
        return values.astype(np.float64)
    out = values.astype(np.float64)
    out[finite] = _averages(counted, weight) / _debias(len(counted), weight)
    return out


def _averages(values: Floats, weight: float) -> Floats:
    """Return the plain recurrence from 0, for each value."""
    rows = -(-len(values) // BLOCK)
    padded = np.zeros(rows * BLOCK)
    padded[: len(values)] = values
    blocks = padded.reshape(rows, BLOCK)
    inner = np.empty_like(blocks)
    last = np.zeros(rows)
    for column in range(BLOCK):  # each block from 0, all blocks at once
        last = last * weight + (1 - weight) * blocks[:, column]
        inner[:, column] = last
    powers = np.multiply.accumulate(np.full(BLOCK, weight))
    carries = np.zeros(rows)
    carry = 0.0
    for row, end in enumerate(inner[:, -1].tolist()):
        carries[row] = carry
        carry = carry * float(powers[-1]) + end
    out: Floats = (inner + carries[:, None] * powers).reshape(-1)[: len(values)]
    return out


def _debias(count: int, weight: float) -> Floats:
    """Return 1 − w^k for k = 1 … count."""
    out: Floats = 1 - np.multiply.accumulate(np.full(count, weight))
    return out
