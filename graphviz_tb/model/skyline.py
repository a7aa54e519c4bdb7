"""How far a drawing reaches in each strip of the plane: what asks whether there is room at its edge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

Rect = tuple[int, int, int, int]  # left, top, right, bottom
STRIP = 8  # px: finer strips find hardly more room
PIECES = 32  # a slanting line is noted in about so many pieces: a longer one less finely
MANY, COARSE = 2000, 4  # lines of one drawing from which on it is so many
FAR = 1 << 20


class Skyline:
    """The greatest x in each horizontal strip, and the greatest y in each vertical one; 0 where a strip is empty.
    `lines` is how many lines will be noted: many are noted less finely.

    >>> sky = Skyline()
    >>> sky.add_rect((0, 0, 40, 10))
    >>> sky.right(0, 8), sky.right(16, 60), sky.bottom(0, 100)
    (40, 0, 10)
    """

    def __init__(self, lines: int = 0) -> None:
        self.pieces = PIECES if lines < MANY else COARSE
        self.rows = Heights()
        self.columns = Heights()

    def add_rect(self, rect: Rect) -> None:
        """Note a rectangle."""
        left, top, right, bottom = rect
        self.rows.raise_to(top, bottom, right)
        self.columns.raise_to(left, right, bottom)

    def add_line(self, points: Sequence[tuple[int, int]]) -> None:
        """Note a polyline, with a strip of white round its straight runs."""
        for (ax, ay), (bx, by) in pairwise(points):
            if ax == bx or ay == by:
                low, high = min(ay, by), max(ay, by)
                self.rows.raise_to(low - STRIP, high + STRIP, max(ax, bx) + 1)
                low, high = min(ax, bx), max(ax, bx)
                self.columns.raise_to(low - STRIP, high + STRIP, max(ay, by) + 1)
                continue
            for top, bottom in pairwise(cuts(ay, by, self.pieces)):
                ends = ax + (bx - ax) * (top - ay) // (by - ay), ax + (bx - ax) * (bottom - ay) // (by - ay)
                self.rows.raise_to(top, bottom, max(ends) + 1)
            for left, right in pairwise(cuts(ax, bx, self.pieces)):
                ends = ay + (by - ay) * (left - ax) // (bx - ax), ay + (by - ay) * (right - ax) // (bx - ax)
                self.columns.raise_to(left, right, max(ends) + 1)

    def add_ray(self, point: tuple[int, int], down: bool) -> None:
        """Note a line that goes on downward, or to the right, without an end."""
        x, y = point
        if down:
            self.columns.raise_to(x, x, FAR)
        else:
            self.rows.raise_to(y, y, FAR)

    def right(self, top: int, bottom: int) -> int:
        """The greatest x between two heights."""
        return self.rows.greatest(top, bottom)

    def bottom(self, left: int, right: int) -> int:
        """The greatest y between two places from left to right."""
        return self.columns.greatest(left, right)


def cuts(start: int, stop: int, pieces: int) -> Iterable[int]:
    """Both ends of a run, and places between them that divide it evenly."""
    low, high = min(start, stop), max(start, stop)
    return (*range(low, high, max(STRIP, (high - low) // pieces)), high)


class Heights:
    """The greatest height noted in each strip of a line, in px; a segment tree, so that a note or a question about any
    stretch takes log n steps.

    `noted[node]` is the height of the whole stretch below a node, `most[node]` the greatest anywhere below it.

    >>> found = Heights()
    >>> found.raise_to(0, 3000, 5)
    >>> found.raise_to(800, 900, 7)
    >>> found.greatest(0, 700), found.greatest(0, 8000), found.greatest(3100, 8000)
    (5, 7, 0)
    """

    def __init__(self) -> None:
        self.size = 64  # strips, a power of two
        self.noted = [0] * 128
        self.most = [0] * 128

    def raise_to(self, low: int, high: int, height: int) -> None:
        """Note `height` in all strips that a stretch touches."""
        start, stop = max(low, 0) // STRIP, max(high, 0) // STRIP
        while stop >= self.size:
            self.grow()
        noted, most = self.noted, self.most
        left, right = start + self.size, stop + self.size + 1
        start, stop = left, right - 1
        while left < right:
            if left % 2:
                if noted[left] < height:
                    noted[left] = height
                left += 1
            if right % 2:
                right -= 1
                if noted[right] < height:
                    noted[right] = height
            left //= 2
            right //= 2
        for node in (start, stop):  # all above what was noted is above one of these
            ancestor = node
            while ancestor and most[ancestor] < height:
                most[ancestor] = height
                ancestor //= 2

    def greatest(self, low: int, high: int) -> int:
        """The greatest height in the strips that a stretch touches."""
        start = self.size + max(low, 0) // STRIP
        stop = self.size + min(max(high, 0) // STRIP, self.size - 1)
        greatest, left, right = 0, start, stop + 1
        while left < right:
            if left % 2:
                greatest = max(greatest, self.most[left], self.noted[left])
                left += 1
            if right % 2:
                right -= 1
                greatest = max(greatest, self.most[right], self.noted[right])
            left //= 2
            right //= 2
        if start <= stop:
            for node in (start // 2, stop // 2):
                ancestor = node
                while ancestor:
                    greatest = max(greatest, self.noted[ancestor])
                    ancestor //= 2
        return greatest

    def grow(self) -> None:
        """Twice as many strips: what was the root is its left child."""
        noted, most = [0] * (4 * self.size), [0] * (4 * self.size)
        wide = 1
        while wide <= self.size:
            for slot in range(wide):
                noted[2 * wide + slot] = self.noted[wide + slot]
                most[2 * wide + slot] = self.most[wide + slot]
            wide *= 2
        most[1] = self.most[1]
        self.size *= 2
        self.noted, self.most = noted, most
