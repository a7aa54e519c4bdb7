"""Smoothing is TensorBoard's recurrence, computed in blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.chart.series import smooth_series


def one_by_one(values: list[float], weight: float) -> list[float]:
    """The definition, a value at a time."""
    last, count, out = 0.0, 0, []
    for value in values:
        if not math.isfinite(value):
            out.append(value)
            continue
        last, count = last * weight + (1 - weight) * value, count + 1
        out.append(last / (1 - weight**count))
    return out


@given(st.lists(st.floats(-1e6, 1e6) | st.just(math.nan) | st.just(math.inf), max_size=600), st.floats(0.01, 0.99))
def test_blocks_give_the_sequential_numbers(values: list[float], weight: float) -> None:
    finite = [value for value in values if math.isfinite(value)]
    if finite and min(finite) == max(finite):
        return
    got, wanted = smooth_series(np.array(values), weight), one_by_one(values, weight)
    assert got.tolist() == pytest.approx(wanted, rel=1e-9, abs=1e-6 * 1e-3, nan_ok=True)


def test_a_constant_series_and_no_weight_change_nothing() -> None:
    assert smooth_series(np.full(5, 0.1), 0.9).tolist() == [0.1] * 5
    assert smooth_series(np.array([1.0, 5.0]), 0.0).tolist() == [1.0, 5.0]


def test_a_weight_of_one_is_bounded() -> None:
    assert smooth_series(np.array([0.0, 1.0]), 1.0)[1] == pytest.approx(0.50025, rel=1e-3)
