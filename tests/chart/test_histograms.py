"""Histograms on common bins, and their percentiles."""

from __future__ import annotations

import numpy as np
import pytest

from graphviz_tb.chart.series import histogram_percentiles, rebin_all


def test_nothing_is_lost_in_other_bins() -> None:
    rng = np.random.default_rng(3)
    borders = np.sort(rng.standard_normal(20))
    edges = np.stack([borders[:-1], borders[1:]], axis=1)
    count = rng.integers(0, 50, 19).astype(float)
    _, counts = rebin_all([(edges, count), (edges + 2, count)])
    assert counts.sum(axis=1) == pytest.approx([count.sum()] * 2)


def test_a_bucket_without_width_goes_to_the_right_bin_at_a_border() -> None:
    edges = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]])
    borders, counts = rebin_all([(edges, np.array([1.0, 2.0, 4.0]))], bins=3)
    assert borders.tolist() == [0, 1, 2, 3]
    assert counts.tolist() == [[1, 2, 4]]


def test_a_range_without_width_has_one() -> None:
    borders, counts = rebin_all([(np.array([[2.0, 2.0]]), np.array([7.0]))])
    assert (borders[0], borders[-1], counts.sum()) == (1.5, 2.5, 7)


def test_no_buckets_at_all() -> None:
    nothing = (np.zeros((0, 2)), np.zeros(0))
    assert histogram_percentiles(*nothing) == [0.0] * 9
    assert rebin_all([nothing])[1].sum() == 0
    assert rebin_all([])[1].shape == (0, 30)


def test_buckets_without_a_place_are_left_out() -> None:
    """Values that are NaN have no place on an axis: they neither count nor take the range of the others."""
    good = (np.array([[0.0, 3.0]]), np.array([3.0]))
    lost = (np.full((2, 2), np.nan), np.array([4.0, 5.0]))
    partly = (np.array([[np.nan, 1.0], [0.0, 1.0], [2.0, np.inf]]), np.array([1.0, 2.0, 4.0]))
    borders, counts = rebin_all([good, lost, partly], bins=3)
    assert borders.tolist() == [0, 1, 2, 3]
    assert counts.tolist() == [[1, 1, 1], [0, 0, 0], [2, 0, 0]]
    borders, counts = rebin_all([lost], bins=1)
    assert (borders.tolist(), counts.tolist()) == ([-0.5, 0.5], [[0]])


def test_empty_buckets_are_stepped_over() -> None:
    edges = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
    assert histogram_percentiles(edges, np.array([1.0, 0.0, 1.0])) == [
        0.0, 0.1336, 0.3174, 0.617, 2.0, 2.383, 2.6826, 2.8664, 3.0,
    ]  # fmt: skip
