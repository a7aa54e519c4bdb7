"""Which point of a series a request means."""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.logged import Series
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
