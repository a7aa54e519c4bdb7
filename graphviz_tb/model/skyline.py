"""The extent of a drawing in each strip of the plane, to ask for free room at its edges."""

from __future__ import annotations

from collections.abc import Sequence

Rect = tuple[int, int, int, int]  # left, top, right, bottom
STRIP = 8  # px: finer strips find hardly more room
PIECES = 32  # a slanting line is divided into about this many pieces; longer lines have longer pieces
MANY, COARSE = 2000, 4  # from this many lines on, use coarse pieces
FAR = 1 << 20  # px: beyond any drawing


class Skyline:
    """The greatest x in each horizontal strip, the distance of the least x from `width`, and the greatest y in each
    vertical strip; 0 for an empty strip. `lines` is the expected number of lines: many lines use coarser pieces.

    >>> sky = Skyline(0, 60)
    >>> sky.add_rect((10, 0, 40, 10))
    >>> sky.right(0, 8), sky.right(16, 60), sky.left(0, 8), sky.bottom(0, 100)
    (40, 0, 50, 10)
    """

    def __init__(self, lines: int = 0, width: int = 0) -> None:
        pieces = PIECES if lines < MANY else COARSE
        self.width = width
        self.rights = Heights(pieces)
        self.lefts = Heights(pieces)
        self.bottoms = Heights(pieces)

    def add_rect(self, rect: Rect) -> None:
        """Add a rectangle."""
        left, top, right, bottom = rect
        self.rights.raise_to(top, bottom, right)
        self.lefts.raise_to(top, bottom, self.width - left)
        self.bottoms.raise_to(left, right, bottom)

    def add_line(self, points: Sequence[tuple[int, int]]) -> None:
        """Add a polyline, with a strip of white space around its straight runs."""
        across, along = [x for x, _ in points], [y for _, y in points]
        self.rights.add_line(along, across)
        self.lefts.add_line(along, [self.width - x for x in across])
        self.bottoms.add_line(across, along)

    def add_ray(self, point: tuple[int, int], down: bool) -> None:
        """Add a line that runs downward, or to the right, without an end."""
        x, y = point
        if down:
            self.bottoms.raise_to(x, x, FAR)
        else:
            self.rights.raise_to(y, y, FAR)

    def right(self, top: int, bottom: int) -> int:
        """Return the greatest x between two heights."""
        return self.rights.greatest(top, bottom)

    def left(self, top: int, bottom: int) -> int:
        """Return the distance of the least x between two heights from `width`."""
        return self.lefts.greatest(top, bottom)

    def bottom(self, left: int, right: int) -> int:
        """Return the greatest y between two x."""
        return self.bottoms.greatest(left, right)


class Heights:
    """The greatest height noted in each strip of a line, in px.

    Queries scan the notes, the greatest heights first, and examine a polyline only if it overlaps the strips and may be
    higher than the result so far: few lines are examined.

    >>> found = Heights()
    >>> found.raise_to(0, 3000, 5)
    >>> found.raise_to(800, 900, 7)
    >>> found.greatest(0, 700), found.greatest(0, 8000), found.greatest(3100, 8000)
    (5, 7, 0)
    """

    def __init__(self, pieces: int = PIECES) -> None:
        self.pieces = pieces
        # Greatest height, first and last strip; of a polyline the places and heights of its points.
        self.notes: list[tuple[int, int, int, Sequence[int], Sequence[int]]] = []
        self.sorted = 0  # number of notes that are sorted

    def raise_to(self, low: int, high: int, height: int) -> None:
        """Note `height` in all strips that a range touches."""
        self.notes.append((height, strip_of(low), strip_of(high), (), ()))

    def add_line(self, places: Sequence[int], heights: Sequence[int]) -> None:
        """Note a polyline; its slanting runs are divided into pieces of equal length."""
        low, high = min(places) - STRIP, max(places) + STRIP
        self.notes.append((max(heights) + 1, strip_of(low), strip_of(high), places, heights))

    def greatest(self, low: int, high: int) -> int:
        """Return the greatest height in the strips that a range touches."""
        if self.sorted < len(self.notes):
            self.notes.sort(key=lambda note: -note[0])
            self.sorted = len(self.notes)
        start, stop, found = strip_of(low), strip_of(high), 0
        for height, first, last, places, heights in self.notes:
            if height <= found:
                break
            if first <= stop and start <= last:
                found = self.highest(places, heights, start, stop, found) if places else height
        return found

    def highest(self, places: Sequence[int], heights: Sequence[int], start: int, stop: int, found: int) -> int:
        """Return the greatest height of a polyline in some strips, or `found` if that is greater."""
        for number in range(1, len(places)):
            begin, end = places[number - 1], places[number]
            low, high = heights[number - 1], heights[number]
            first, last = (begin, end) if begin < end else (end, begin)
            if max(low, high) < found or strip_of(last + STRIP) < start or strip_of(first - STRIP) > stop:
                continue
            if begin == end or low == high:
                found = max(found, low + 1, high + 1)  # a strip of white on both sides
                continue
            if strip_of(first) > stop or strip_of(last) < start:
                continue
            # The highest piece in the range is the last one on a rising line, else the first: use its higher end.
            step = max(STRIP, (last - first) // self.pieces)
            if (low < high) == (begin < end):
                place = min(first + (((stop + 1) * STRIP - 1 - first) // step + 1) * step, last)
            else:
                place = max(first + (start * STRIP - 1 - first) // step * step, first) if start else first
            found = max(found, 1 + low + (high - low) * (place - begin) // (end - begin))
        return found


def strip_of(place: int) -> int:
    """Return the strip of a place; places before the first strip count as in it."""
    return place // STRIP if place > 0 else 0
