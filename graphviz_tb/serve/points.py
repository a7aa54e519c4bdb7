"""Which point of a series a request means."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphviz_tb.model.logged import Series
from graphviz_tb.page.logged import whole
from graphviz_tb.serve.answers import Refused
from graphviz_tb.serve.asked import decimal

FAR = 1e300


def point_at(series: Series, query: dict[str, str]) -> int:
    """The last point at the step `at` of a query or before it; the last of all where it is not given.

    Raises `Refused` where there is none.
    """
    points = series.in_order()
    step = decimal(query, "at", FAR, -FAR, FAR) or 0.0
    before = int(np.searchsorted(series.step[points], step, "right"))
    if not len(points):
        raise Refused(404, "this series has no points")
    if not before:
        raise Refused(404, "this series begins later", f"its first step is {series.step[points[0]]}")
    return int(points[before - 1])


def steps_of(series: Series) -> dict[str, Any]:
    """The steps that a series has."""
    steps = series.step[series.in_order()]
    if not len(steps):
        return {"first": None, "last": None, "n": 0}
    return {"first": whole(int(steps[0])), "last": whole(int(steps[-1])), "n": len(steps)}


def spread(count: int, most: int) -> list[int]:
    """The numbers of at most `most` of `count` points, evenly, the first and the last among them.

    >>> spread(5, 10), spread(100, 3)
    ([0, 1, 2, 3, 4], [0, 50, 99])
    """
    if count <= most:
        return list(range(count))
    places: list[int] = np.unique(np.rint(np.linspace(0, count - 1, most)).astype(int)).tolist()
    return places
