"""Arithmetic of drawings: colours as `#RRGGBB`, and simplified polylines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar


def rgb_channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of `#RRGGBB`.

    >>> rgb_channels("#0B2DC2")
    (11, 45, 194)
    """
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@lru_cache(maxsize=4096)
def mix_colours(colour: str, other: str, per_cent: int) -> str:
    """Mix `per_cent` of `other` into `colour`.

    >>> mix_colours("#FFFFFF", "#000000", 35)
    '#A6A6A6'
    """
    pairs = zip(rgb_channels(colour), rgb_channels(other), strict=True)
    return "#" + "".join(f"{(a * (100 - per_cent) + b * per_cent + 50) // 100:02X}" for a, b in pairs)


# Simplification of polylines.

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
        if len(kept) > 1 and _is_on_segment(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def _is_on_segment(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Return whether b is on the straight line between a and c.

    >>> (
    ...     _is_on_segment((0, 0), (1, 1), (2, 2)),
    ...     _is_on_segment((0, 0), (2, 2), (1, 1)),
    ...     _is_on_segment((0, 0), (1, 0), (2, 2)),
    ... )
    (True, False, False)
    """
    # Cross product 0: parallel steps; dot product above 0: same direction.
    across = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
    onward = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1])
    return across == 0 and onward > 0
