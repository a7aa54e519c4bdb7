"""t-SNE and UMAP, by scikit-learn and umap-learn (the extra `projector`).

Both are seeded, so equal points give equal pictures on one machine, and get at most `MAX_LAID_OUT_POINTS` points.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.errors import RequestError, ToolMissing, UnknownChoice
from graphviz_tb.limits import MAX_LAID_OUT_POINTS
from graphviz_tb.model.embeddings import Points, Projection
from graphviz_tb.model.notice import Notice
from graphviz_tb.project.pca import even_choice, project_by_pca

LAYOUT_SEED = 20
MIN_LAYOUT_POINTS = 4  # points
TSNE_ROUNDS = 1000  # of t-SNE, scikit-learn's default
TSNE_MAX_DIMENSIONS = 50  # t-SNE of more dimensions starts from so many principal components, as its authors advise
INSTALL_PROJECTOR = "pip install 'graphviz_tb[projector]'"
METHOD_LIBRARIES = {"tsne": "sklearn", "umap": "umap"}
METHOD_NAMES = {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP"}
PROJECTION_METHODS = tuple(METHOD_NAMES)
TSNE_ITERATION = re.compile(r"Iteration (\d+)")
RoundsReport = Callable[[int, int | None], None]  # rounds done, and total if known


def missing_library(method: str) -> str:
    """Return the error for a method whose library is not installed; "" if it is."""
    library = METHOD_LIBRARIES.get(method)
    return (
        "" if library is None or find_spec(library) else f"{METHOD_NAMES[method]} needs a library: {INSTALL_PROJECTOR}"
    )


def project_points(
    values: Points, method: str, axes: int = 2, near: int | None = None, told: RoundsReport = lambda done, whole: None
) -> Projection:
    """Project points to 2 or 3 axes by a method. `near` is the perplexity of t-SNE, or the neighbours of UMAP.

    Points that were not chosen, and those with values that are not finite, become NaN. `told` receives the progress
    of t-SNE. Raises UnknownChoice for an unknown method, ToolMissing without its library, RequestError for too
    few points.
    """
    if method == "pca":
        return project_by_pca(values)
    rows = layout_points(values, method)
    return projection_of_positions(
        len(values), rows, method, axes, near, compute_positions(values[rows], method, axes, near, told)
    )


def layout_points(values: Points, method: str) -> NDArray[np.intp]:
    """Return the rows of the points that a method gets. Raises as `project_points`, before any computation."""
    if method not in METHOD_RUNNERS:
        raise UnknownChoice.among("method", method, PROJECTION_METHODS)
    if why := missing_library(method):
        raise ToolMissing(why)
    rows = np.flatnonzero(np.isfinite(values).all(axis=1))
    if len(rows) < MIN_LAYOUT_POINTS:
        raise RequestError(
            f"{METHOD_NAMES[method]} needs at least {MIN_LAYOUT_POINTS} points that are finite; there are {len(rows)}"
        )
    return rows[even_choice(len(rows), MAX_LAID_OUT_POINTS)]


def compute_positions(values: Points, method: str, axes: int, near: int | None, told: RoundsReport) -> Points:
    """Compute the positions of finite points by a method."""
    return METHOD_RUNNERS[method](values, METHOD_SETTINGS[method](len(values), axes, near), told)


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


def tsne_settings(points: int, axes: int, near: int | None) -> dict[str, Any]:
    """Return the arguments for scikit-learn."""
    perplexity = min(30 if near is None else near, (points - 1) / 3)
    return {"n_components": axes, "perplexity": float(perplexity), "init": "pca", "random_state": LAYOUT_SEED}


def umap_settings(points: int, axes: int, near: int | None) -> dict[str, Any]:
    """Return the arguments for umap-learn. One thread, as with a seed it uses no more."""
    neighbours = max(2, min(15 if near is None else near, points - 1))
    return {"n_components": axes, "n_neighbors": neighbours, "random_state": LAYOUT_SEED, "n_jobs": 1}


def reduce_dimensions(values: Points) -> Points:
    """Reduce points of many dimensions to their first principal components."""
    return values if values.shape[1] <= TSNE_MAX_DIMENSIONS else project_by_pca(values, TSNE_MAX_DIMENSIONS).axes


def run_tsne(values: Points, settings: Mapping[str, Any], told: RoundsReport) -> Points:
    """Compute positions by scikit-learn."""
    from sklearn.manifold import TSNE

    with capture_progress(told):
        found: Points = TSNE(**settings, verbose=2).fit_transform(reduce_dimensions(values)).astype(np.float32)
    told(TSNE_ROUNDS, TSNE_ROUNDS)
    return found


def run_umap(values: Points, settings: Mapping[str, Any], told: RoundsReport) -> Points:
    """Compute positions by umap-learn, which reports no progress."""
    from umap import UMAP

    told(0, None)
    found: Points = UMAP(**settings).fit_transform(values).astype(np.float32)
    return found


class ProgressListener:
    """A stream that reads the number of rounds from the output of a library and reports it."""

    def __init__(self, told: RoundsReport) -> None:
        self._told = told

    def write(self, text: str) -> int:
        """Report the round that a text states, if it does."""
        found = TSNE_ITERATION.search(text)
        if found:
            self._told(min(int(found[1]), TSNE_ROUNDS), TSNE_ROUNDS)
        return len(text)

    def flush(self) -> None:
        """Do nothing: there is no buffer."""


@contextlib.contextmanager
def capture_progress(told: RoundsReport) -> Iterator[None]:
    """Redirect what a library prints to a progress report."""
    with contextlib.redirect_stdout(ProgressListener(told)):
        yield


METHOD_SETTINGS = {"tsne": tsne_settings, "umap": umap_settings}
METHOD_RUNNERS = {"tsne": run_tsne, "umap": run_umap}
