"""How far a drawing reaches: the same as strip by strip, where it is asked."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.graphs.skyline import STRIP_PX, Skyline, StripHeights
from tests.conftest import cpu_seconds

px = st.integers(-40, 6000)
stretch = st.tuples(px, px).map(lambda pair: (min(pair), max(pair)))


@given(st.lists(st.tuples(stretch, st.integers(0, 50))), st.lists(stretch))
def test_it_is_the_greatest_of_all_that_was_noted(
    notes: list[tuple[tuple[int, int], int]], asked: list[tuple[int, int]]
) -> None:
    found, plain = StripHeights(), [0] * 1000
    for (low, high), height in notes:
        found.raise_to(low, high, height)
        for strip in range(max(low, 0) // STRIP_PX, max(high, 0) // STRIP_PX + 1):
            plain[strip] = max(plain[strip], height)
    for low, high in asked:
        assert found.greatest_height(low, high) == max(plain[max(low, 0) // STRIP_PX : max(high, 0) // STRIP_PX + 1])


point = st.tuples(st.integers(0, 900), st.integers(0, 900))


@given(st.lists(point, min_size=2, max_size=5), st.integers(0, 100))
def test_no_line_is_missed(points: list[tuple[int, int]], share: int) -> None:
    sky = Skyline(1)
    sky.add_line(points)
    for (ax, ay), (bx, by) in pairwise(points):
        x, y = ax + (bx - ax) * share // 100, ay + (by - ay) * share // 100
        assert sky.right_extent(y, y) >= x
        assert sky.bottom_extent(x, x) >= y
    assert sky.right_extent(-100, 2000) <= max(x for x, _ in points) + 1


@pytest.mark.slow
def test_long_lines_cost_no_more_than_short_ones() -> None:
    def draw(length: int) -> None:
        sky = Skyline()
        for at in range(300):
            sky.add_line([(at, 0), (at + length, length)])
        for at in range(60):
            sky.right_extent(at * length // 60, length)

    assert cpu_seconds(lambda: draw(1_000_000)) < 40 * cpu_seconds(lambda: draw(1000))
