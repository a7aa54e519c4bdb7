"""How far a drawing reaches in each strip of the plane: what asks whether there is room at its edge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Rect = tuple[int, int, int, int]  # left, top, right, bottom
STRIP = 8  # px: finer strips find hardly more room
PIECES = 32  # a slanting line is noted in about so many pieces: a longer one less finely
MANY, COARSE = 2000, 4  # lines of one drawing from which on it is so many
FAR = 1 << 20  # px: more than any drawing has


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
        note_line(self.rows, [(y, x) for x, y in points], self.pieces)
        note_line(self.columns, points, self.pieces)

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


def note_line(heights: Heights, points: Sequence[tuple[int, int]], pieces: int = PIECES) -> None:
    """Note a polyline of (place, height), its slanting runs in pieces of even length."""
    for (start, low), (stop, high) in pairwise(points):
        first, last = (start, stop) if start < stop else (stop, start)
        if start == stop or low == high:
            heights.raise_to(first - STRIP, last + STRIP, max(low, high) + 1)  # a strip of white on both sides
            continue
        run, rise = stop - start, high - low
        before, reach = max(first, 0) // STRIP, low if first == start else high
        for place in (*range(first, last, max(STRIP, (last - first) // pieces)), last):
            here = low + rise * (place - start) // run
            strip = place // STRIP if place > 0 else 0
            heights.notes.append((1 + (here if here > reach else reach), before, strip))
            before, reach = strip, here


class Heights:
    """The greatest height noted in each strip of a line, in px.

    What is noted is painted when something asks, the greatest heights first: so each strip is painted once, and n notes
    take n log n steps, however far they reach.

    >>> found = Heights()
    >>> found.raise_to(0, 3000, 5)
    >>> found.raise_to(800, 900, 7)
    >>> found.greatest(0, 700), found.greatest(0, 8000), found.greatest(3100, 8000)
    (5, 7, 0)
    """

    def __init__(self) -> None:
        self.strips: list[int] = []
        self.notes: list[tuple[int, int, int]] = []  # height, first and last strip

    def raise_to(self, low: int, high: int, height: int) -> None:
        """Note `height` in all strips that a stretch touches."""
        self.notes.append((height, max(low, 0) // STRIP, max(high, 0) // STRIP))

    def greatest(self, low: int, high: int) -> int:
        """The greatest height in the strips that a stretch touches."""
        if self.notes:
            self.paint()
        return max(self.strips[max(low, 0) // STRIP : max(high, 0) // STRIP + 1], default=0)

    def paint(self) -> None:
        """Raise the strips to the heights noted since they were painted last."""
        count = max(len(self.strips), 1 + max(note[2] for note in self.notes))
        strips = [*self.strips, *[0] * (count - len(self.strips))]
        ahead = list(range(count + 1))  # where to look for the next strip that is not yet painted
        self.notes.sort(reverse=True)
        for height, strip, last in self.notes:
            # ahead[s] > s: strip s is painted, and the next to look at is there; ways are halved as they are gone.
            while strip <= last:
                following = ahead[strip]
                if following > strip:
                    following = ahead[following]
                else:
                    following = strip + 1
                    if height > strips[strip]:
                        strips[strip] = height
                ahead[strip] = following
                strip = following
        self.strips = strips
        self.notes = []
