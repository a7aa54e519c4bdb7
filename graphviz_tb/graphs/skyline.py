"""The extent of a drawing in each strip of the plane, to find free room at its edges."""

from __future__ import annotations

from collections.abc import Sequence

SkylineRect = tuple[int, int, int, int]  # left, top, right, bottom
STRIP_PX = 8  # finer strips find hardly more room
MAX_LINE_PIECES = 32  # a slanting line is divided into about this many pieces; longer lines have longer pieces
MANY_LINES, COARSE_LINE_PIECES = 2000, 4  # from this many lines on, use coarse pieces
UNBOUNDED_PX = 1 << 20  # px: beyond any drawing


class Skyline:
    """The greatest x in each horizontal strip, and the greatest y in each vertical strip; 0 for an empty strip.
    `lines` is the expected number of lines: many lines use coarser pieces.

    >>> sky = Skyline()
    >>> sky.add_rect((10, 0, 40, 10))
    >>> sky.right_extent(0, 8), sky.right_extent(16, 60), sky.bottom_extent(0, 100)
    (40, 0, 10)
    """

    def __init__(self, lines: int = 0) -> None:
        pieces = MAX_LINE_PIECES if lines < MANY_LINES else COARSE_LINE_PIECES
        self.rights = StripHeights(pieces)
        self.bottoms = StripHeights(pieces)

    def add_rect(self, rect: SkylineRect) -> None:
        left, top, right, bottom = rect
        self.rights.raise_to(top, bottom, right)
        self.bottoms.raise_to(left, right, bottom)

    def add_line(self, points: Sequence[tuple[int, int]]) -> None:
        """Add a polyline, with a strip of white space around its straight runs."""
        across, along = [x for x, _ in points], [y for _, y in points]
        self.rights.add_line(along, across)
        self.bottoms.add_line(across, along)

    def add_ray(self, point: tuple[int, int], down: bool) -> None:
        """Add a line that runs downward, or to the right, without an end."""
        x, y = point
        if down:
            self.bottoms.raise_to(x, x, UNBOUNDED_PX)
        else:
            self.rights.raise_to(y, y, UNBOUNDED_PX)

    def right_extent(self, top: int, bottom: int) -> int:
        """Return the greatest x between two heights."""
        return self.rights.greatest_height(top, bottom)

    def bottom_extent(self, left: int, right: int) -> int:
        """Return the greatest y between two x."""
        return self.bottoms.greatest_height(left, right)


class StripHeights:
    """The greatest height noted in each strip of a line, in px.

    Queries scan the notes, the greatest heights first, and examine a polyline only if it overlaps the strips and may be
    higher than the result so far: few lines are examined.

    >>> found = StripHeights()
    >>> found.raise_to(0, 3000, 5)
    >>> found.raise_to(800, 900, 7)
    >>> found.greatest_height(0, 700), found.greatest_height(0, 8000), found.greatest_height(3100, 8000)
    (5, 7, 0)
    """

    def __init__(self, pieces: int = MAX_LINE_PIECES) -> None:
        self.pieces = pieces
        # Greatest height, first and last strip; of a polyline the places and heights of its points.
        self.notes: list[tuple[int, int, int, Sequence[int], Sequence[int]]] = []
        self.sorted = 0  # number of notes that are sorted

    def raise_to(self, low: int, high: int, height: int) -> None:
        """Note `height` in all strips that a range touches."""
        self.notes.append((height, _strip_index(low), _strip_index(high), (), ()))

    def add_line(self, places: Sequence[int], heights: Sequence[int]) -> None:
        """Note a polyline; its slanting runs are divided into pieces of equal length."""
        low, high = min(places) - STRIP_PX, max(places) + STRIP_PX
        self.notes.append((max(heights) + 1, _strip_index(low), _strip_index(high), places, heights))

    def greatest_height(self, low: int, high: int) -> int:
        """Return the greatest height in the strips that a range touches."""
        if self.sorted < len(self.notes):
            self.notes.sort(key=lambda note: -note[0])
            self.sorted = len(self.notes)
        start, stop, found = _strip_index(low), _strip_index(high), 0
        for height, first, last, places, heights in self.notes:
            if height <= found:
                break
            if first <= stop and start <= last:
                found = self.greatest_on_line(places, heights, start, stop, found) if places else height
        return found

    def greatest_on_line(self, places: Sequence[int], heights: Sequence[int], start: int, stop: int, found: int) -> int:
        """Return the greatest height of a polyline in some strips, or `found` if that is greater."""
        for number in range(1, len(places)):
            begin, end = places[number - 1], places[number]
            low, high = heights[number - 1], heights[number]
            first, last = (begin, end) if begin < end else (end, begin)
            if max(low, high) < found or _strip_index(last + STRIP_PX) < start or _strip_index(first - STRIP_PX) > stop:
                continue
            if begin == end or low == high:
                found = max(found, low + 1, high + 1)  # a strip of white on both sides
                continue
            if _strip_index(first) > stop or _strip_index(last) < start:
                continue
            # The highest piece in the range is the last one on a rising line, else the first: use its higher end.
            step = max(STRIP_PX, (last - first) // self.pieces)
            if (low < high) == (begin < end):
                place = min(first + (((stop + 1) * STRIP_PX - 1 - first) // step + 1) * step, last)
            else:
                place = max(first + (start * STRIP_PX - 1 - first) // step * step, first) if start else first
            found = max(found, 1 + low + (high - low) * (place - begin) // (end - begin))
        return found


def _strip_index(place: int) -> int:
    """Return the strip of a place; places before the first strip count as in it."""
    return place // STRIP_PX if place > 0 else 0
