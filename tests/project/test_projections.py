"""Principal components as numpy has them, neighbours against the plainest list, t-SNE and UMAP as their libraries."""

from __future__ import annotations

import numpy as np
import pytest

from graphviz_tb.errors import RequestError, ToolMissing, UnknownChoice
from graphviz_tb.model.logs import DistanceMetric
from graphviz_tb.project import nearest_points, project_by_pca, project_points, projections
from graphviz_tb.project.projections import MAX_EXACT_SIDE, _even_choice


def made(points: int, dimensions: int, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(points, dimensions))
    return (drawn * np.linspace(1, 5, dimensions) + 3).astype(np.float32)


@pytest.mark.parametrize(("points", "dimensions"), [(200, 30), (30, 200), (40, MAX_EXACT_SIDE + 9), (4, 2), (5, 1)])
def test_components_are_those_of_a_singular_value_decomposition(points: int, dimensions: int) -> None:
    values = made(points, dimensions)
    centred = values.astype(np.float64) - values.mean(axis=0, dtype=np.float64)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    count = min(10, dimensions)
    wanted = np.zeros((points, count))
    wanted[:, : len(sizes)] = (left * sizes)[:, :count]
    found = project_by_pca(values)
    assert np.allclose(np.abs(found.axes), np.abs(wanted), atol=1e-5 * np.abs(wanted).max())
    shares = np.pad(sizes**2 / (sizes**2).sum(), (0, count))[:count]
    assert np.allclose(found.variance, shares, atol=1e-9)


def test_signs_do_not_depend_on_the_machine() -> None:
    """Mirrored points have a mirrored picture, and the largest weight of each component is positive."""
    values = made(50, 6)
    assert np.allclose(project_by_pca(values).axes, -project_by_pca(-values).axes, atol=1e-4)
    again = project_by_pca(values)
    assert project_by_pca(values).axes.tobytes() == again.axes.tobytes()


def test_components_from_some_of_the_points() -> None:
    values = made(300, 5)
    found, chosen = project_by_pca(values, fitted=100), _even_choice(300, 100)
    alone = project_by_pca(values[chosen])
    assert np.allclose(found.axes[chosen], alone.axes, atol=1e-4)
    assert (found.fitted, found.variance, found.notices[0].code) == (100, alone.variance, "fitted")


def test_points_that_are_not_finite_are_on_no_axis() -> None:
    values = made(20, 4)
    values[3, 1], values[7, 0] = np.nan, np.inf
    found = project_by_pca(values)
    assert np.flatnonzero(np.isnan(found.axes).any(axis=1)).tolist() == [3, 7]
    keep = np.delete(np.arange(20), [3, 7])
    assert np.allclose(found.axes[keep], project_by_pca(values[keep]).axes, atol=1e-4)
    assert found.notices[0].message.startswith("2 of 20 points")
    assert {3, 7}.isdisjoint(nearest_points(values, 0, 19, "euclidean")[0].tolist())
    assert project_by_pca(np.full((3, 2), np.nan, np.float32)).variance == (0.0, 0.0)
    assert project_by_pca(np.zeros((3, 0), np.float32)).axes.shape == (3, 0)
    assert project_by_pca(np.ones((5, 3), np.float32)).axes.tolist() == np.zeros((5, 3)).tolist()


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_neighbours_are_those_of_a_list_of_all_distances(metric: DistanceMetric) -> None:
    values = made(120, 7)
    values[5] = values[9]  # equal points: the first row comes first
    values[11] = 0
    for row in (0, 5, 11, 119):
        told = []
        for other in range(len(values)):
            one, two = values[row].astype(float), values[other].astype(float)
            long = np.linalg.norm(one) * np.linalg.norm(two)
            cosine = max(0.0, 1 - float(one @ two) / long) if long else 1.0
            told.append((cosine if metric == "cosine" else float(np.linalg.norm(one - two)), other))
        wanted = sorted(each for each in told if each[1] != row)[:10]
        rows, far = nearest_points(values, row, 10, metric)
        assert np.allclose(far, [each for each, _ in wanted], atol=1e-12)
        if row != 11 or metric == "euclidean":  # to a point at the origin all are equally far, by cosine
            assert rows.tolist() == [each for _, each in wanted]
        else:
            assert rows.tolist() == [*range(10)]


def test_what_is_asked_for_must_be_there() -> None:
    values = made(5, 3)
    with pytest.raises(RequestError, match="none has the number 5"):
        nearest_points(values, 5, 2, "cosine")
    with pytest.raises(UnknownChoice, match="choose one of: cosine, euclidean"):
        nearest_points(values, 0, 2, "manhattan")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="0 neighbours"):
        nearest_points(values, 0, 0, "cosine")
    with pytest.raises(UnknownChoice, match="pca, tsne, umap"):
        project_points(values, "lle")
    assert nearest_points(values, 0, 100, "cosine")[0].size == 4


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projections, "find_spec", lambda name: None)
    with pytest.raises(ToolMissing, match=r"t-SNE needs a library: pip install 'tbgraph\[projector\]'"):
        project_points(made(9, 3), "tsne")


@pytest.mark.slow
def test_tsne_is_that_of_scikit_learn() -> None:
    manifold_of = pytest.importorskip("sklearn.manifold")
    values, rounds = made(60, 5), []
    found = project_points(values, "tsne", 2, 10, lambda done, whole: rounds.append((done, whole)))
    wanted = manifold_of.TSNE(
        n_components=2, perplexity=10.0, init="pca", random_state=projections.LAYOUT_SEED, max_iter=500
    )
    assert np.array_equal(found.axes, wanted.fit_transform(values).astype(np.float32))
    assert rounds[-1] == (500, 500)
    assert dict(found.settings)["perplexity"] == 10.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_umap_is_that_of_umap_learn() -> None:
    library = pytest.importorskip("umap")
    values = made(60, 5)
    found = project_points(values, "umap", 3)
    wanted = library.UMAP(n_components=3, n_neighbors=15, random_state=projections.LAYOUT_SEED, n_jobs=1).fit_transform(
        values
    )
    assert np.array_equal(found.axes, wanted.astype(np.float32))


def test_more_points_than_are_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projections, "MAX_LAID_OUT_POINTS", 10)
    monkeypatch.setitem(projections.METHOD_RUNNERS, "tsne", lambda values, settings, told: values[:, :2])
    monkeypatch.setattr(projections, "missing_library", lambda method: "")
    found = project_points(made(25, 3), "tsne")
    assert np.flatnonzero(~np.isnan(found.axes[:, 0])).tolist() == _even_choice(25, 10).tolist()
    assert found.notices[0].message == "t-SNE is of 10 of 25 points: an even choice"
