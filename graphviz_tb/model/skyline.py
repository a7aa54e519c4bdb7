"""How far a drawing reaches in each strip of the plane: what asks whether there is room at its edge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

Rect = tuple[int, int, int, int]  # left, top, right, bottom
STRIP = 8  # px: finer strips find hardly more room
FAR = 1 << 20


class Skyline:
    """The greatest x in each horizontal strip, and the greatest y in each vertical one; 0 where a strip is empty.

    >>> sky = Skyline()
    >>> sky.add_rect((0, 0, 40, 10))
    >>> sky.right(0, 8), sky.right(16, 60), sky.bottom(0, 100)
    (40, 0, 10)
    """

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.columns: list[int] = []

    def add_rect(self, rect: Rect) -> None:
        """Note a rectangle."""
        left, top, right, bottom = rect
        raise_to(self.rows, top, bottom, right)
        raise_to(self.columns, left, right, bottom)

    def add_line(self, points: Sequence[tuple[int, int]]) -> None:
        """Note a polyline, strip by strip."""
        for (ax, ay), (bx, by) in pairwise(points):
            for y in cuts(ay, by):
                x = ax if ay == by else ax + (bx - ax) * (y - ay) // (by - ay)
                raise_to(self.rows, y - STRIP, y + STRIP, max(x, bx if ay == by else x) + 1)
            for x in cuts(ax, bx):
                y = ay if ax == bx else ay + (by - ay) * (x - ax) // (bx - ax)
                raise_to(self.columns, x - STRIP, x + STRIP, max(y, by if ax == bx else y) + 1)

    def add_ray(self, point: tuple[int, int], down: bool) -> None:
        """Note a line that goes on downward, or to the right, without an end."""
        x, y = point
        if down:
            raise_to(self.columns, x, x, FAR)
        else:
            raise_to(self.rows, y, y, FAR)

    def right(self, top: int, bottom: int) -> int:
        """The greatest x between two heights."""
        return greatest(self.rows, top, bottom)

    def bottom(self, left: int, right: int) -> int:
        """The greatest y between two places from left to right."""
        return greatest(self.columns, left, right)


def cuts(start: int, stop: int) -> Iterable[int]:
    """Both ends of a run, and places a strip apart between them."""
    low, high = min(start, stop), max(start, stop)
    return (*range(low, high, STRIP), high)


def raise_to(strip: list[int], low: int, high: int, height: int) -> None:
    """Note `height` in all strips that a stretch touches."""
    last = max(high, 0) // STRIP
    strip += [0] * (last + 1 - len(strip))
    for at in range(max(low, 0) // STRIP, last + 1):
        strip[at] = max(strip[at], height)


def greatest(strip: Sequence[int], low: int, high: int) -> int:
    """The greatest height in the strips that a stretch touches."""
    return max(strip[max(low, 0) // STRIP : max(high, 0) // STRIP + 1], default=0)
