"""Exact nearest neighbours of a point, by its distance to every point."""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.errors import RequestError, UnknownChoice
from graphviz_tb.limits import MAX_NEIGHBOURS
from graphviz_tb.model.embeddings import DistanceMetric, Points
from graphviz_tb.project.pca import row_blocks

DISTANCE_METRICS: tuple[DistanceMetric, ...] = get_args(DistanceMetric)


def nearest_points(
    values: Points, row: int, count: int, metric: DistanceMetric
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the rows of the `count` points nearest to point `row`, nearest first, and their distances; ties by row.

    The cosine distance is 1 - cosine, and 1 to or from the origin. Points with values that are not finite are no
    neighbours. Raises RequestError for a row or count out of range, UnknownChoice for an unknown metric.

    >>> nearest_points(np.array([[1, 0], [2, 0], [0, 1]], np.float32), 0, 2, "cosine")[0].tolist()
    [1, 2]
    """
    if metric not in DISTANCE_METRICS:
        raise UnknownChoice.among("metric", metric, DISTANCE_METRICS)
    if not 0 <= row < len(values):
        raise RequestError(f"there are {len(values):,} points; none has the number {row}")
    if not 1 <= count <= MAX_NEIGHBOURS:
        raise RequestError(f"{count:,} neighbours; from 1 to {MAX_NEIGHBOURS:,} can be asked for")
    far = distances_to(values, row, metric)
    far[row] = np.inf
    there = np.flatnonzero(np.isfinite(far))
    if len(there) > count:
        border = np.partition(far[there], count - 1)[count - 1]
        there = there[far[there] <= border]
    order = there[np.argsort(far[there], kind="stable")][:count]
    return order, far[order]


def distances_to(values: Points, row: int, metric: DistanceMetric) -> NDArray[np.float64]:
    """Return the distance of a point to every point; not finite if undefined."""
    own = values[row].astype(np.float64)
    out = np.empty(len(values))
    with np.errstate(invalid="ignore", over="ignore"):
        for part in row_blocks(np.arange(len(values)), values.shape[1]):
            block = values[part].astype(np.float64)
            if metric == "cosine":
                long = np.linalg.norm(block, axis=1) * np.linalg.norm(own)
                share = np.where(long > 0, (block @ own) / np.where(long > 0, long, 1), 0)
                out[part] = np.where(np.isfinite(long), np.maximum(0, 1 - share), np.nan)
            else:
                out[part] = np.linalg.norm(block - own, axis=1)
    return out
