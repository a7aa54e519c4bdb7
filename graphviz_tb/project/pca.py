"""Principal component analysis.

Components are eigenvectors of the smaller of two products of the centred points: of dimensions, or of points. The
largest weight of each component is made positive, so that pictures are not mirrored by chance. All points are projected
block by block.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.limits import MAX_COMPONENTS, MAX_EXACT_SIDE, MAX_FITTED_POINTS, MAX_FITTED_WORK
from graphviz_tb.model.embeddings import Points, Projection
from graphviz_tb.model.notice import Notice

PCA_BLOCK_NUMBERS = 1 << 22  # numbers in memory at once
Matrix = NDArray[np.float64]


def project_by_pca(values: Points, most: int = MAX_COMPONENTS, fitted: int = MAX_FITTED_POINTS) -> Projection:
    """Project points on their principal components, at most `most` of them.

    Components are computed from at most `fitted` points, evenly chosen, and all points are projected on them. If there
    are many points and dimensions, fewer points are chosen (`MAX_EXACT_SIDE`). Points with values that are not finite
    become NaN; axes beyond the rank of the points are zero.

    >>> made = project_by_pca(np.array([[0, 0], [2, 0], [4, 0], [6, 0]], np.float32))
    >>> made.axes[:, 0].tolist(), made.variance
    ([-3.0, -1.0, 1.0, 3.0], (1.0, 0.0))
    """
    finite = np.isfinite(values).all(axis=1)
    rows = np.flatnonzero(finite)
    chosen = rows[even_choice(len(rows), fitted_count(len(rows), values.shape[1], fitted))]
    count = min(most, values.shape[1])
    axes = np.full((len(values), count), np.nan, np.float32)
    if not len(chosen) or not count:
        return Projection("pca", axes, (0.0,) * count, 0, pca_notices(len(values), 0, 0))
    mean = mean_of_rows(values, chosen)
    components, shares = principal_components(values, chosen, mean, count)
    for part in row_blocks(rows, values.shape[1]):
        axes[part] = (values[part].astype(np.float64) - mean) @ components
    return Projection("pca", axes, shares, len(chosen), pca_notices(len(values), len(rows), len(chosen)))


def fitted_count(points: int, dimensions: int, fitted: int) -> int:
    """Return the number of points from which components are computed."""
    if dimensions > MAX_EXACT_SIDE:
        return min(points, fitted, int(MAX_EXACT_SIDE))
    return min(points, fitted, MAX_FITTED_WORK // max(1, dimensions) ** 2)


def even_choice(count: int, most: int) -> NDArray[np.intp]:
    """Return at most `most` of `count` positions, evenly spread, including the first.

    >>> even_choice(10, 4).tolist()
    [0, 2, 5, 7]
    """
    return np.arange(count) if count <= most else (np.arange(most) * count) // most


def row_blocks(rows: NDArray[np.intp], dimensions: int) -> list[NDArray[np.intp]]:
    """Split rows into blocks of bounded size."""
    step = max(1, PCA_BLOCK_NUMBERS // max(1, dimensions))
    return [rows[at : at + step] for at in range(0, len(rows), step)]


def mean_of_rows(values: Points, rows: NDArray[np.intp]) -> Matrix:
    """Return the mean of some points."""
    total = np.zeros(values.shape[1])
    for part in row_blocks(rows, values.shape[1]):
        total += values[part].sum(axis=0, dtype=np.float64)
    return total / len(rows)


def principal_components(
    values: Points, rows: NDArray[np.intp], mean: Matrix, count: int
) -> tuple[Matrix, tuple[float, ...]]:
    """Return unit vectors as columns, largest variance first, and the share of the variance of each."""
    dimensions = values.shape[1]
    if dimensions <= MAX_EXACT_SIDE:
        product = np.zeros((dimensions, dimensions))
        for part in row_blocks(rows, dimensions):
            centred = values[part].astype(np.float64) - mean
            product += centred.T @ centred
        found, vectors = np.linalg.eigh(product)
        vectors = vectors[:, ::-1][:, :count]
    else:  # fewer rows than dimensions: their product has the same eigenvalues
        centred = values[rows].astype(np.float64) - mean
        product = centred @ centred.T
        found, left = np.linalg.eigh(product)
        vectors = centred.T @ left[:, ::-1][:, :count]
        vectors = np.pad(vectors, ((0, 0), (0, count - vectors.shape[1])))
        long = np.linalg.norm(vectors, axis=0)
        vectors = np.where(
            long > 1e-12 * max(1.0, float(np.max(long, initial=0))), vectors / np.where(long, long, 1), 0
        )
    eigenvalues = np.pad(np.maximum(found[::-1], 0), (0, max(0, count - len(found))))[:count]
    whole = float(np.trace(product))
    shares = eigenvalues / whole if whole > 0 else np.zeros(count)
    return normalise_signs(vectors), tuple(float(share) for share in shares)


def normalise_signs(vectors: Matrix) -> Matrix:
    """Flip vectors so that the largest weight of each, the first of equal ones, is positive."""
    size = np.abs(vectors)
    at = np.argmax(size >= np.max(size, axis=0) * (1 - 1e-9), axis=0)
    signs = np.sign(vectors[at, np.arange(vectors.shape[1])])
    return vectors * np.where(signs, signs, 1)


def pca_notices(points: int, finite: int, fitted: int) -> tuple[Notice, ...]:
    """Return notices for points that are not shown, or were not used to compute components."""
    out = []
    if finite < points:
        odd = points - finite
        out.append(Notice("not-finite", f"{odd:,} of {points:,} points have values that are not finite: not shown"))
    if fitted < finite:
        out.append(Notice("fitted", f"components are found from {fitted:,} of {points:,} points"))
    return tuple(out)
