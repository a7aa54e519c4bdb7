"""Simplification of polylines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Vertex = TypeVar("Vertex", bound=tuple[float, float])


def straighten_polyline(points: Sequence[Vertex]) -> list[Vertex]:
    """Remove repeated points, and points inside a straight run.

    >>> straighten_polyline([(0, 0), (0, 0), (0, 5), (0, 9), (4, 9)])
    [(0, 0), (0, 9), (4, 9)]
    """
    kept: list[Vertex] = []
    for point in points:
        if kept and kept[-1] == point:
            continue
        if len(kept) > 1 and is_on_segment(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def is_on_segment(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Return whether b is on the straight line between a and c.

    >>> (
    ...     is_on_segment((0, 0), (1, 1), (2, 2)),
    ...     is_on_segment((0, 0), (2, 2), (1, 1)),
    ...     is_on_segment((0, 0), (1, 0), (2, 2)),
    ... )
    (True, False, False)
    """
    # Cross product 0: parallel steps; dot product above 0: same direction.
    across = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
    onward = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1])
    return across == 0 and onward > 0
