"""Thin a series to the pixels that show it without losing extremes (M4: first, least, greatest, last of each
column)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Floats

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
    kept = [ends_of_runs(~finite)]
    if len(places):
        kept.append(places[column_extremes(x[places], values[places], pixels)])
    return np.unique(np.concatenate(kept))


def column_extremes(x: Floats, values: Floats, pixels: int) -> Indices:
    """Return first, least, greatest and last point of each column."""
    low, high = float(np.min(x)), float(np.max(x))
    span = (high - low) or 1.0
    column = np.minimum((x - low) / span * pixels, pixels - 1).astype(np.int64)
    begins = np.flatnonzero(np.diff(column, prepend=-1))
    ends = np.append(begins[1:], len(x)) - 1
    run = np.repeat(np.arange(len(begins)), ends - begins + 1)
    least, greatest = np.minimum.reduceat(values, begins), np.maximum.reduceat(values, begins)
    extremes = [first_of_run(run, values == of[run]) for of in (least, greatest)]
    return np.concatenate([begins, ends, *extremes])


def first_of_run(run: Indices, chosen: NDArray[np.bool_]) -> Indices:
    """Return the first chosen index of each run."""
    places = np.flatnonzero(chosen)
    first: Indices = places[np.unique(run[places], return_index=True)[1]]
    return first


def ends_of_runs(marked: NDArray[np.bool_]) -> Indices:
    """Return the first and last index of each run of marks."""
    edges = np.diff(marked.astype(np.int8), prepend=0, append=0)
    return np.concatenate([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1])
