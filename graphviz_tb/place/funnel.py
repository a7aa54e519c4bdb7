"""The shortest path of a line between its neighbouring boxes and lines, by a funnel.

A line passes a window at the top and at the bottom of each band, as wide as its neighbours leave it room; between
windows it runs straight. Neighbours keep their order at every window, so no new crossing arises, and both windows of a
band keep it clear of the boxes of that rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from graphviz_tb.model.level import LevelGaps
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton

Portal = tuple[int, int, int]  # y, least x, greatest x
OPEN_SIDE = 1 << 40  # beyond any coordinate


@dataclass(slots=True)
class Band:
    """The strip of one rank: its top and bottom, and how much of the gaps above and below is kept for straight ends."""

    top: int
    bottom: int
    before: int = 0
    after: int = 0

    @property
    def middle(self) -> int:
        """The line on which the boxes are centred."""
        return (self.top + self.bottom) // 2

    def move_down(self, down: int) -> None:
        """Shift the strip."""
        self.top += down
        self.bottom += down


class Corridors:
    """The place of each item at the top and at the bottom of its band, and its neighbours on both sides."""

    def __init__(
        self, skeleton: Skeleton, lefts: Sequence[int], widths: Sequence[int], thick: Sequence[int], gaps: LevelGaps
    ) -> None:
        self.first, self.widths, self.thick, self.gaps = skeleton.first_waypoint, widths, thick, gaps
        self.at = list(lefts), list(lefts)
        self.left, self.right = [-1] * len(lefts), [-1] * len(lefts)
        for part in skeleton.parts:
            for row in part:
                for left, right in pairwise(row):
                    self.right[left], self.left[right] = right, left
        users = Counter(item for wire in skeleton.wires for item in wire.chain[1:-1])
        self.shared = {item for item, count in users.items() if count > 1}

    def waypoint_window(self, item: int, side: int, y: int) -> Portal:
        """Return the room of a waypoint at the top (0) or at the bottom (1) of its band, at height `y`."""
        x = self.at[side]
        here, left, right = x[item], self.left[item], self.right[item]
        if item in self.shared:  # the lines of a bus stay together
            return y, here, here
        low, high = -OPEN_SIDE, OPEN_SIDE
        if left >= 0:
            low = min(here, x[left] + self.widths[left] + self.clearance(left, item))
        if right >= 0:
            high = max(here, x[right] - self.clearance(right, item))
        return y, low, high

    def clearance(self, other: int, item: int) -> int:
        """Return the distance of a line from a box or another line."""
        return line_clearance(1 + (other >= self.first), self.thick[other] + self.thick[item], self.gaps)

    def record_bends(self, waypoints: Sequence[int], windows: Sequence[Portal], bends: Sequence[Point]) -> None:
        """Record where a line passes its waypoints, two windows each."""
        # Windows and bends both run down: one pass over each, by straight lines between bends.
        number = 1
        for index, (y, _, _) in enumerate(windows):
            while bends[number][1] < y:
                number += 1
            (start, top), (end, bottom) = bends[number - 1], bends[number]
            self.at[index % 2][waypoints[index // 2]] = start + (end - start) * (y - top) // (bottom - top)


def line_clearance(lines: int, thick: int, gaps: LevelGaps) -> int:
    """Return the distance of the middle of a line from a box (`lines` = 1) or from the middle of another line (2).

    `thick` is the sum of their thicknesses, in tenths of a pixel.

    >>> line_clearance(1, 10, LevelGaps()), line_clearance(2, 20, LevelGaps()), line_clearance(2, 120, LevelGaps())
    (10, 6, 11)
    """
    return (gaps.box if lines == 1 else gaps.edge) + (thick + 19) // 20  # half of tenths of a pixel, rounded up


def exit_ranges(
    chains: Sequence[Sequence[int]], ends: Sequence[tuple[int, int]], widths: Sequence[int]
) -> list[tuple[int, int]]:
    """Return for each wire how far left and right it may be below its upper box, from that box's left edge.

    The range is within the box, and lines of one box do not overtake each other.

    >>> exit_ranges([(0, 1), (0, 2)], [(20, 5), (30, 5)], [60, 10, 10])
    [(0, 25), (25, 60)]
    """
    starts: dict[int, set[int]] = {}
    for chain, (start, _) in zip(chains, ends, strict=True):
        starts.setdefault(chain[0], set()).add(start)
    room: dict[tuple[int, int], tuple[int, int]] = {}
    for item, leaving in starts.items():
        places = sorted(leaving)
        middles = [(before + after) // 2 for before, after in pairwise(places)]
        # Halfway to the next line on each side.
        lows, highs = [min(0, places[0]), *middles], [*middles, max(widths[item], places[-1])]
        room.update(((item, x), (low, high)) for x, low, high in zip(places, lows, highs, strict=True))
    return [room[chain[0], start] for chain, (start, _) in zip(chains, ends, strict=True)]


def funnel_bends(windows: Sequence[Portal]) -> list[Point]:
    """Return the bends of the shortest path through windows, by the funnel of Lee & Preparata 1984.

    Each window is below the previous one; the first and the last are points.

    >>> funnel_bends([(0, 5, 5), (10, 0, 9), (20, 0, 1), (30, 0, 0)])
    [(5, 0), (1, 20), (0, 30)]
    >>> funnel_bends([(0, 5, 5), (10, 0, 9), (20, 0, 9), (30, 8, 8)])
    [(5, 0), (8, 30)]
    """
    top, x, _ = windows[0]
    bends = [(x, top)]
    left = right = (0, 0, 0)  # the corners of the visible cone from the last bend: aside, down, window
    number, fresh = 1, True
    while number < len(windows):
        y, low, high = windows[number]
        down, low, high = y - top, low - x, high - x  # from the last bend on
        if fresh:
            left, right, fresh = (low, down, number), (high, down, number), False
        # The window is outside the visible cone: bend at the cone's corner and restart there.
        elif high * left[1] < left[0] * down or low * right[1] > right[0] * down:
            aside, down, number = left if high * left[1] < left[0] * down else right
            x, top, fresh = x + aside, top + down, True
            bends.append((x, top))
        else:
            # Compare slopes crosswise (aside · down), without division. A window can only narrow the cone.
            left = (low, down, number) if low * left[1] >= left[0] * down else left
            right = (high, down, number) if high * right[1] <= right[0] * down else right
        number += 1
    bends.append((windows[-1][1], windows[-1][0]))
    return bends
