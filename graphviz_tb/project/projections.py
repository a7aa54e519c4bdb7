"""Projections of the points of an embedding: principal components, t-SNE, UMAP; and nearest neighbours."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.errors import RequestError, ToolMissing, UnknownChoice, check_choice
from graphviz_tb.extras import how_to_install
from graphviz_tb.limits import (
    MAX_COMPONENTS,
    MAX_EXACT_SIDE,
    MAX_FITTED_POINTS,
    MAX_FITTED_WORK,
    MAX_LAID_OUT_POINTS,
    MAX_NEIGHBOURS,
)
from graphviz_tb.model.logs import DistanceMetric, Points, Projection
from graphviz_tb.model.notice import Notice

# Principal component analysis.
#
# Components are eigenvectors of the smaller of two products of the centred points: of dimensions, or of points. The
# largest weight of each component is made positive, so that pictures are not mirrored by chance. All points are
# projected block by block.

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
    chosen = rows[_even_choice(len(rows), _fitted_count(len(rows), values.shape[1], fitted))]
    count = min(most, values.shape[1])
    axes = np.full((len(values), count), np.nan, np.float32)
    if not len(chosen) or not count:
        return Projection("pca", axes, (0.0,) * count, 0, _pca_notices(len(values), 0, 0))
    mean = _mean_of_rows(values, chosen)
    components, shares = _principal_components(values, chosen, mean, count)
    for part in _row_blocks(rows, values.shape[1]):
        axes[part] = (values[part].astype(np.float64) - mean) @ components
    return Projection("pca", axes, shares, len(chosen), _pca_notices(len(values), len(rows), len(chosen)))


def _fitted_count(points: int, dimensions: int, fitted: int) -> int:
    if dimensions > MAX_EXACT_SIDE:
        return min(points, fitted, int(MAX_EXACT_SIDE))
    return min(points, fitted, MAX_FITTED_WORK // max(1, dimensions) ** 2)


def _even_choice(count: int, most: int) -> NDArray[np.intp]:
    """Return at most `most` of `count` positions, evenly spread, including the first.

    >>> _even_choice(10, 4).tolist()
    [0, 2, 5, 7]
    """
    return np.arange(count) if count <= most else (np.arange(most) * count) // most


def _row_blocks(rows: NDArray[np.intp], dimensions: int) -> list[NDArray[np.intp]]:
    """Split rows into blocks of bounded size."""
    step = max(1, PCA_BLOCK_NUMBERS // max(1, dimensions))
    return [rows[at : at + step] for at in range(0, len(rows), step)]


def _mean_of_rows(values: Points, rows: NDArray[np.intp]) -> Matrix:
    total = np.zeros(values.shape[1])
    for part in _row_blocks(rows, values.shape[1]):
        total += values[part].sum(axis=0, dtype=np.float64)
    return total / len(rows)


def _principal_components(
    values: Points, rows: NDArray[np.intp], mean: Matrix, count: int
) -> tuple[Matrix, tuple[float, ...]]:
    """Return unit vectors as columns, largest variance first, and the share of the variance of each."""
    dimensions = values.shape[1]
    if dimensions <= MAX_EXACT_SIDE:
        product = np.zeros((dimensions, dimensions))
        for part in _row_blocks(rows, dimensions):
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
    return _normalise_signs(vectors), tuple(float(share) for share in shares)


def _normalise_signs(vectors: Matrix) -> Matrix:
    """Flip vectors so that the largest weight of each, the first of equal ones, is positive."""
    size = np.abs(vectors)
    at = np.argmax(size >= np.max(size, axis=0) * (1 - 1e-9), axis=0)
    signs = np.sign(vectors[at, np.arange(vectors.shape[1])])
    return vectors * np.where(signs, signs, 1)


def _pca_notices(points: int, finite: int, fitted: int) -> tuple[Notice, ...]:
    """Return notices for points that are not shown, or were not used to compute components."""
    out = []
    if finite < points:
        odd = points - finite
        out.append(Notice("not-finite", f"{odd:,} of {points:,} points have values that are not finite: not shown"))
    if fitted < finite:
        out.append(Notice("fitted", f"components are found from {fitted:,} of {points:,} points"))
    return tuple(out)


# Exact nearest neighbours of a point, by its distance to every point.

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
    check_choice("metric", metric, DISTANCE_METRICS)
    if not 0 <= row < len(values):
        raise RequestError(f"there are {len(values):,} points; none has the number {row}")
    if not 1 <= count <= MAX_NEIGHBOURS:
        raise RequestError(f"{count:,} neighbours; from 1 to {MAX_NEIGHBOURS:,} can be asked for")
    far = _distances_to(values, row, metric)
    far[row] = np.inf
    there = np.flatnonzero(np.isfinite(far))
    if len(there) > count:
        border = np.partition(far[there], count - 1)[count - 1]
        there = there[far[there] <= border]
    order = there[np.argsort(far[there], kind="stable")][:count]
    return order, far[order]


def _distances_to(values: Points, row: int, metric: DistanceMetric) -> NDArray[np.float64]:
    """Return the distance of a point to every point; not finite if undefined."""
    own = values[row].astype(np.float64)
    out = np.empty(len(values))
    with np.errstate(invalid="ignore", over="ignore"):
        for part in _row_blocks(np.arange(len(values)), values.shape[1]):
            block = values[part].astype(np.float64)
            if metric == "cosine":
                long = np.linalg.norm(block, axis=1) * np.linalg.norm(own)
                share = np.where(long > 0, (block @ own) / np.where(long > 0, long, 1), 0)
                out[part] = np.where(np.isfinite(long), np.maximum(0, 1 - share), np.nan)
            else:
                out[part] = np.linalg.norm(block - own, axis=1)
    return out


# t-SNE and UMAP, by scikit-learn and umap-learn (the extra `projector`).
# Both are seeded, so that equal points give equal pictures on one machine. They lay out at most `MAX_LAID_OUT_POINTS`
# points.

LAYOUT_SEED = 20
MIN_LAYOUT_POINTS = 4  # points
TSNE_ROUNDS = 500  # 250 rounds of early exaggeration and as many after them: 2,000 points take seconds
TSNE_ANGLE_OF_THREE_AXES = 1.0  # coarser than scikit-learn's 0.5: half the work, neighbours as good
TSNE_MAX_DIMENSIONS = 50  # dimensions beyond which t-SNE is given so many principal components, as its authors advise
METHOD_LIBRARIES = {"tsne": "sklearn", "umap": "umap"}
METHOD_NAMES = {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP"}
PROJECTION_METHODS = tuple(METHOD_NAMES)
TSNE_ITERATION = re.compile(r"Iteration (\d+)")
RoundsReport = Callable[[int, int | None], None]  # rounds done, and total if known


def missing_library(method: str) -> str:
    """Return the error for a method whose library is not installed; "" if it is."""
    library = METHOD_LIBRARIES.get(method)
    there = library is None or find_spec(library)
    return "" if there else f"{METHOD_NAMES[method]} needs a library: {how_to_install('projector')}"


def project_points(
    values: Points, method: str, axes: int = 2, near: int | None = None, report: RoundsReport = lambda done, whole: None
) -> Projection:
    """Project points to 2 or 3 axes by a method. `near` is the perplexity of t-SNE, or the neighbours of UMAP.

    Points that were not chosen, and those with values that are not finite, become NaN. `report` receives t-SNE's
    progress. Raises UnknownChoice for an unknown method, ToolMissing without its library, RequestError for too
    few points.
    """
    if method == "pca":
        return project_by_pca(values)
    rows = layout_points(values, method)
    return projection_of_positions(
        len(values), rows, method, axes, near, compute_positions(values[rows], method, axes, near, report)
    )


def layout_points(values: Points, method: str) -> NDArray[np.intp]:
    """Return the rows of the points that a method lays out. Raises like `project_points`, before any computation."""
    if method not in METHOD_RUNNERS:
        raise UnknownChoice.among("method", method, PROJECTION_METHODS)
    if why := missing_library(method):
        raise ToolMissing(why)
    rows = np.flatnonzero(np.isfinite(values).all(axis=1))
    if len(rows) < MIN_LAYOUT_POINTS:
        raise RequestError(
            f"{METHOD_NAMES[method]} needs at least {MIN_LAYOUT_POINTS} points that are finite; there are {len(rows)}"
        )
    return rows[_even_choice(len(rows), MAX_LAID_OUT_POINTS)]


def compute_positions(values: Points, method: str, axes: int, near: int | None, report: RoundsReport) -> Points:
    return METHOD_RUNNERS[method](values, METHOD_SETTINGS[method](len(values), axes, near), report)


def projection_of_positions(
    points: int, rows: NDArray[np.intp], method: str, axes: int, near: int | None, found: Points
) -> Projection:
    """Return the projection of all points, of which only those in `rows` have positions."""
    whole = np.full((points, axes), np.nan, np.float32)
    whole[rows] = found
    notices: tuple[Notice, ...] = ()
    if len(rows) < points:
        notices = (
            Notice("fitted", f"{METHOD_NAMES[method]} is of {len(rows):,} of {points:,} points: an even choice"),
        )
    settings = METHOD_SETTINGS[method](len(rows), axes, near)
    return Projection(method, whole, (), len(rows), notices, tuple(settings.items()))


def _tsne_settings(points: int, axes: int, near: int | None) -> dict[str, Any]:
    """Return the arguments for scikit-learn."""
    perplexity = min(30 if near is None else near, (points - 1) / 3)
    settings = {"n_components": axes, "perplexity": float(perplexity), "init": "pca", "random_state": LAYOUT_SEED}
    if axes == 3:
        settings["angle"] = TSNE_ANGLE_OF_THREE_AXES
    return {**settings, "max_iter": TSNE_ROUNDS}


def _umap_settings(points: int, axes: int, near: int | None) -> dict[str, Any]:
    """Return the arguments for umap-learn. One thread: with a seed, umap-learn uses no more."""
    neighbours = max(2, min(15 if near is None else near, points - 1))
    return {"n_components": axes, "n_neighbors": neighbours, "random_state": LAYOUT_SEED, "n_jobs": 1}


def _reduce_dimensions(values: Points) -> Points:
    """Reduce points of many dimensions to their first principal components."""
    return values if values.shape[1] <= TSNE_MAX_DIMENSIONS else project_by_pca(values, TSNE_MAX_DIMENSIONS).axes


def _run_tsne(values: Points, settings: Mapping[str, Any], report: RoundsReport) -> Points:
    """Compute positions by scikit-learn."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits  # a dependency of scikit-learn

    # Threads that wait for a busy core spin: on two busy cores, two threads take four times as long as one.
    with threadpool_limits(max(1, (os.cpu_count() or 1) // 2)), _capture_progress(report):
        found: Points = TSNE(**settings, verbose=2).fit_transform(_reduce_dimensions(values)).astype(np.float32)
    report(TSNE_ROUNDS, TSNE_ROUNDS)
    return found


def _run_umap(values: Points, settings: Mapping[str, Any], report: RoundsReport) -> Points:
    """Compute positions by umap-learn, which reports no progress."""
    from umap import UMAP

    report(0, None)
    found: Points = UMAP(**settings).fit_transform(values).astype(np.float32)
    return found


class ProgressOutput:
    """A stream that reads the number of rounds from the output of a library and reports it."""

    def __init__(self, report: RoundsReport) -> None:
        self._report = report

    def write(self, text: str) -> int:
        """Report the round that a text states, if it does."""
        found = TSNE_ITERATION.search(text)
        if found:
            self._report(min(int(found[1]), TSNE_ROUNDS), TSNE_ROUNDS)
        return len(text)

    def flush(self) -> None:
        """Do nothing: there is no buffer."""


@contextlib.contextmanager
def _capture_progress(report: RoundsReport) -> Iterator[None]:
    """Redirect the output of a library to a progress report."""
    with contextlib.redirect_stdout(ProgressOutput(report)):
        yield


METHOD_SETTINGS = {"tsne": _tsne_settings, "umap": _umap_settings}
METHOD_RUNNERS = {"tsne": _run_tsne, "umap": _run_umap}
