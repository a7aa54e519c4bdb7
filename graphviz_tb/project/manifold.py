"""t-SNE and UMAP, by scikit-learn and umap-learn (the extra `projector`).

Both are seeded, so equal points give equal pictures on one machine, and get at most `LAID_OUT_POINTS` points.
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
from graphviz_tb.limits import LAID_OUT_POINTS
from graphviz_tb.model.embeddings import Points, Projection
from graphviz_tb.model.notice import Notice
from graphviz_tb.project.pca import even, pca

SEED = 20
FEWEST = 4  # points
ROUNDS = 1000  # of t-SNE, scikit-learn's default
MANY = 50  # t-SNE of more dimensions starts from so many principal components, as its authors advise
EXTRA = "pip install 'graphviz_tb[projector]'"
LIBRARIES = {"tsne": "sklearn", "umap": "umap"}
NAMES = {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP"}
METHODS = tuple(NAMES)
ITERATION = re.compile(r"Iteration (\d+)")
RoundsDone = Callable[[int, int | None], None]  # rounds done, and total if known


def missing(method: str) -> str:
    """Return the error for a method whose library is not installed; "" if it is."""
    library = LIBRARIES.get(method)
    return "" if library is None or find_spec(library) else f"{NAMES[method]} needs a library: {EXTRA}"


def lay_out(
    values: Points, method: str, axes: int = 2, near: int | None = None, told: RoundsDone = lambda done, whole: None
) -> Projection:
    """Project points to 2 or 3 axes by a method. `near` is the perplexity of t-SNE, or the neighbours of UMAP.

    Points that were not chosen, and those with values that are not finite, become NaN. `told` receives the progress
    of t-SNE. Raises UnknownChoice for an unknown method, ToolMissing without its library, RequestError for too
    few points.
    """
    if method == "pca":
        return pca(values)
    rows = usable_points(values, method)
    return placed(len(values), rows, method, axes, near, positions(values[rows], method, axes, near, told))


def usable_points(values: Points, method: str) -> NDArray[np.intp]:
    """Return the rows of the points that a method gets. Raises as `lay_out`, before any computation."""
    if method not in RUNS:
        raise UnknownChoice.among("method", method, METHODS)
    if why := missing(method):
        raise ToolMissing(why)
    rows = np.flatnonzero(np.isfinite(values).all(axis=1))
    if len(rows) < FEWEST:
        raise RequestError(f"{NAMES[method]} needs at least {FEWEST} points that are finite; there are {len(rows)}")
    return rows[even(len(rows), LAID_OUT_POINTS)]


def positions(values: Points, method: str, axes: int, near: int | None, told: RoundsDone) -> Points:
    """Compute the positions of finite points by a method."""
    return RUNS[method](values, SETTINGS[method](len(values), axes, near), told)


def placed(points: int, rows: NDArray[np.intp], method: str, axes: int, near: int | None, found: Points) -> Projection:
    """Return the projection of all points, of which only those in `rows` have positions."""
    whole = np.full((points, axes), np.nan, np.float32)
    whole[rows] = found
    notices: tuple[Notice, ...] = ()
    if len(rows) < points:
        notices = (Notice("fitted", f"{NAMES[method]} is of {len(rows):,} of {points:,} points: an even choice"),)
    settings = SETTINGS[method](len(rows), axes, near)
    return Projection(method, whole, (), len(rows), notices, tuple(settings.items()))


def settings_of_tsne(points: int, axes: int, near: int | None) -> dict[str, Any]:
    """Return the arguments for scikit-learn."""
    perplexity = min(30 if near is None else near, (points - 1) / 3)
    return {"n_components": axes, "perplexity": float(perplexity), "init": "pca", "random_state": SEED}


def settings_of_umap(points: int, axes: int, near: int | None) -> dict[str, Any]:
    """Return the arguments for umap-learn. One thread, as with a seed it uses no more."""
    neighbours = max(2, min(15 if near is None else near, points - 1))
    return {"n_components": axes, "n_neighbors": neighbours, "random_state": SEED, "n_jobs": 1}


def reduced(values: Points) -> Points:
    """Reduce points of many dimensions to their first principal components."""
    return values if values.shape[1] <= MANY else pca(values, MANY).axes


def tsne(values: Points, settings: Mapping[str, Any], told: RoundsDone) -> Points:
    """Compute positions by scikit-learn."""
    from sklearn.manifold import TSNE

    with heard(told):
        found: Points = TSNE(**settings, verbose=2).fit_transform(reduced(values)).astype(np.float32)
    told(ROUNDS, ROUNDS)
    return found


def umap(values: Points, settings: Mapping[str, Any], told: RoundsDone) -> Points:
    """Compute positions by umap-learn, which reports no progress."""
    from umap import UMAP

    told(0, None)
    found: Points = UMAP(**settings).fit_transform(values).astype(np.float32)
    return found


class Listener:
    """A stream that reads the number of rounds from the output of a library and reports it."""

    def __init__(self, told: RoundsDone) -> None:
        self._told = told

    def write(self, text: str) -> int:
        """Report the round that a text states, if it does."""
        found = ITERATION.search(text)
        if found:
            self._told(min(int(found[1]), ROUNDS), ROUNDS)
        return len(text)

    def flush(self) -> None:
        """Do nothing: there is no buffer."""


@contextlib.contextmanager
def heard(told: RoundsDone) -> Iterator[None]:
    """Redirect what a library prints to a progress report."""
    with contextlib.redirect_stdout(Listener(told)):
        yield


SETTINGS = {"tsne": settings_of_tsne, "umap": settings_of_umap}
RUNS = {"tsne": tsne, "umap": umap}
