"""What is drawn of a long series has the extremes of the whole."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.chart.series import decimate_series

VALUES = st.lists(st.floats(width=32), min_size=0, max_size=400)


@given(VALUES, st.integers(1, 20))
def test_extremes_and_ends_stay(values: list[float], pixels: int) -> None:
    series = np.array(values, np.float64)
    x = np.arange(len(series), dtype=np.float64)
    kept = decimate_series(x, series, pixels)
    assert (np.diff(kept) > 0).all()
    finite = series[np.isfinite(series)]
    if len(finite):
        drawn = series[kept][np.isfinite(series[kept])]
        assert (drawn.min(), drawn.max()) == (finite.min(), finite.max())
        places = np.flatnonzero(np.isfinite(series))
        assert {places[0], places[-1]} <= set(kept.tolist())


@given(VALUES, st.integers(1, 20))
def test_every_run_of_odd_values_keeps_its_ends(values: list[float], pixels: int) -> None:
    series = np.array(values, np.float64)
    kept = set(decimate_series(np.arange(len(series), dtype=np.float64), series, pixels).tolist())
    odd = ~np.isfinite(series)
    for at in np.flatnonzero(odd):
        begins = at == 0 or not odd[at - 1]
        ends = at == len(odd) - 1 or not odd[at + 1]
        assert not (begins or ends) or at in kept


def test_a_column_of_pixels_has_at_most_four_points() -> None:
    noise = np.random.default_rng(1).standard_normal(100_000)
    assert len(decimate_series(np.arange(100_000.0), noise, 300)) <= 4 * 300


def test_steps_that_are_one_keep_all_extremes() -> None:
    noise = np.random.default_rng(1).standard_normal(1000)
    kept = decimate_series(np.zeros(1000), noise, 10)
    assert {int(noise.argmin()), int(noise.argmax())} <= set(kept.tolist())
