"""Bands of ranks, and the polylines through them.

A line passes each rank where its waypoint keeps it clear of all boxes, along the shortest path in the room it has
there; its last run, with the arrow, comes straight to the box. So no line can touch a foreign box.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

from graphviz_tb.graphs.drawing_math import straighten_polyline
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import LevelGaps, Skeleton, WireStroke
from graphviz_tb.place.tracks import FLAT_LINE_PX, RankHop, gap_height

# Turn sharp corners of a line into two blunt ones, so that it reads as one stroke.
#
# All in whole numbers: lengths in sixteenths of a pixel, angles by cross and scalar products.

CORNER_CUT = 12  # px cut off on both sides of a corner, if the runs are long enough; the radius at a right angle
MIN_CUT_DISTANCE = 10  # px: nearer cuts are merged into one point
# A turn of more than 48° is cut: cross² : scalar² > tan²(48°) = 1.233. Half of 90° stays under it.
TAN_SQUARED, TAN_SQUARED_UNIT = 1233, 1000


def _blunt_corners(points: Sequence[Point], first: int, last: int) -> list[Point]:
    """Cut the corners of a polyline; `first`, `last` px of its first and last run stay straight.

    >>> _blunt_corners([(0, 0), (0, 40), (60, 40), (60, 80)], 1, 9)
    [(0, 0), (0, 28), (12, 40), (48, 40), (60, 52), (60, 80)]
    >>> _blunt_corners([(0, 0), (0, 40), (20, 80)], 1, 9)
    [(0, 0), (0, 40), (20, 80)]
    """
    result = [points[0]]
    fresh = False  # whether the last point comes from a cut
    for number in range(1, len(points) - 1):
        before, corner, after = points[number - 1], points[number], points[number + 1]
        if not _is_sharp(before, corner, after):
            result.append(corner)
            fresh = False
            continue
        # At most half of a run, because its other end may be cut too; outer runs have one corner only.
        reach = 16 * CORNER_CUT
        run = _distance_in_sixteenths(before, corner)
        reach = min(reach, run - 16 * first if number == 1 else run // 2)
        run = _distance_in_sixteenths(corner, after)
        reach = min(reach, run - 16 * last if number == len(points) - 2 else run // 2)
        if reach <= 0:
            result.append(corner)
            fresh = False
            continue
        enter, leave = _point_towards(corner, before, reach), _point_towards(corner, after, reach)
        if fresh and _distance_in_sixteenths(result[-1], enter) < 16 * MIN_CUT_DISTANCE:  # two cuts nearly meet
            previous = result.pop()
            enter = (previous[0] + enter[0]) // 2, (previous[1] + enter[1]) // 2
        result += [enter, leave]
        fresh = True
    result.append(points[-1])
    return result


def _is_sharp(a: Point, b: Point, c: Point) -> bool:
    """Return whether a line turns by more than 48° at b."""
    along = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1])  # at most 0 for a turn by 90° or more
    across = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
    return along <= 0 or TAN_SQUARED_UNIT * across * across > TAN_SQUARED * along * along


def _distance_in_sixteenths(a: Point, b: Point) -> int:
    """Return the distance of two points in sixteenths of a pixel, rounded down."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    return isqrt(256 * (dx * dx + dy * dy))


def _point_towards(start: Point, goal: Point, distance: int) -> Point:
    """Return the point `distance` sixteenths from `start` towards `goal`, rounded half up.

    >>> _point_towards((0, 0), (30, 40), 160)
    (6, 8)
    """
    whole = _distance_in_sixteenths(start, goal)
    if not whole:
        return start
    dx, dy = goal[0] - start[0], goal[1] - start[1]
    # (d + ½) rounded down, with all divisions in one: the same in JavaScript.
    return start[0] + (2 * dx * distance + whole) // (2 * whole), start[1] + (2 * dy * distance + whole) // (2 * whole)


# The shortest path of a line between its neighbouring boxes and lines, by a funnel.
#
# A line passes a window at the top and at the bottom of each band, as wide as its neighbours leave it room; between
# windows it runs straight. Neighbours keep their order at every window, so no new crossing arises, and both windows of
# a band keep it clear of the boxes of that rank.

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


def _exit_ranges(
    chains: Sequence[Sequence[int]], ends: Sequence[tuple[int, int]], widths: Sequence[int]
) -> list[tuple[int, int]]:
    """Return for each wire how far left and right it may be below its upper box, from that box's left edge.

    The range is within the box, and lines of one box do not overtake each other.

    >>> _exit_ranges([(0, 1), (0, 2)], [(20, 5), (30, 5)], [60, 10, 10])
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


def _funnel_bends(windows: Sequence[Portal]) -> list[Point]:
    """Return the bends of the shortest path through windows, by the funnel of Lee & Preparata 1984.

    Each window is below the previous one; the first and the last are points.

    >>> _funnel_bends([(0, 5, 5), (10, 0, 9), (20, 0, 1), (30, 0, 0)])
    [(5, 0), (1, 20), (0, 30)]
    >>> _funnel_bends([(0, 5, 5), (10, 0, 9), (20, 0, 9), (30, 8, 8)])
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


MAX_SLANT = 14  # tenths of a pixel aside for each pixel down of a line that leaves a box: 54°
MIN_HEAD_LENGTH, MAX_HEAD_LENGTH = 80, 128  # tenths of a pixel: arrow head on a thin line, and on the thickest


def arrow_head_length(thick: int) -> int:
    """Return the pixels of an arrow head on a line of `thick` tenths, rounded up.

    >>> arrow_head_length(10), arrow_head_length(60)
    (8, 13)
    """
    return (min(MAX_HEAD_LENGTH, MIN_HEAD_LENGTH + 16 * (thick - 10) // 10) + 9) // 10


def rank_bands(
    part: Sequence[Sequence[int]],
    heights: Sequence[int],
    ends: Sequence[tuple[int, int]],
    hops: Sequence[Sequence[RankHop]],
    labelled: Mapping[int, int],
    gaps: LevelGaps,
) -> list[Band]:
    """Return the strip of each rank: as high as its highest box, with a gap below as wide as its lines need.

    `ends` are, by rank, how much of the gaps above and below is kept for straight ends (0: a rank of ports); `labelled`
    are the ranks with a label below, with the room it needs in addition.
    """
    result: list[Band] = []
    top = 0
    for r, row in enumerate(part):
        before, after = ends[r]
        if r:
            ports = not (result[-1].after and before)
            height = gap_height(hops[r - 1], result[-1].after, before, gaps.beyond if ports else 0, gaps)
            room = labelled.get(r - 1, -1)
            top += max(height + max(room, 0), gaps.labelled if room >= 0 and not ports else 0)
        bottom = top + max(heights[item] + heights[item] % 2 for item in row)  # even: the middle is whole
        result.append(Band(top, bottom, before, after))
        top = bottom
    return result


def wire_routes(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    ends: Sequence[tuple[int, int]],
    hops: Sequence[Sequence[RankHop]],
    strokes: Sequence[WireStroke],
    corridors: Corridors,
    tops: Sequence[int],
    heights: Sequence[int],
    band: Mapping[int, Band],
    around: Mapping[tuple[int, int], tuple[Point, ...]],
) -> list[tuple[Point, ...]]:
    """Return the polyline of each wire, from its source's border to its target's.

    `around` are the bends of the lines that lead to another column, by wire and step. A wire that runs against the
    ranks leaves its source's top and ends at its target's bottom.
    """
    result = []
    lefts, gaps = corridors.at[0], corridors.gaps
    rooms = _exit_ranges(chains, ends, corridors.widths)
    for wire, chain in enumerate(chains):
        bends: list[Point] = []
        passed: list[int] = []
        upper, lower = chain[0], chain[-1]
        out, on = _slanted_run(0, upper, skeleton, gaps), _slanted_run(1, lower, skeleton, gaps)
        begin = (lefts[upper] + ends[wire][0], tops[upper] + heights[upper] - out)
        stop = (lefts[lower] + ends[wire][1], tops[lower] + on)
        # Windows and waypoints of the line so far, since its start or its entry into this column.
        windows = [(begin[1], begin[0], begin[0])]
        below = band[upper].bottom + band[upper].after + hops[wire][0].late - out
        if below > begin[1] and (wire, 0) not in around:
            slants = strokes[wire].tip != skeleton.wires[wire].turned and hops[wire][0].sideways <= FLAT_LINE_PX
            windows.append(_exit_window(begin, below, lefts[upper], rooms[wire] if slants else None))
        for number in range(1, len(chain)):
            turns = around.get((wire, number - 1))
            if turns:
                (x, foot), (goal, head) = turns[0], turns[3]
                bends += [*_shortest_in_column(corridors, [*windows, (foot, x, x)], passed), turns[1], turns[2]]
                windows, passed = [(head, goal, goal)], []
            if number == len(chain) - 1:
                break
            item = chain[number]
            passed.append(item)
            near = hops[wire][number - 1].early, hops[wire][number].late
            windows += _rank_windows(corridors, item, band[item], near, turns, around.get((wire, number)))
        above = band[lower].top - band[lower].before - hops[wire][-1].early + on
        windows.append((max(above, windows[-1][0] + 1), stop[0], stop[0]))  # below the previous window
        bends += _shortest_in_column(corridors, windows, passed)
        thick = max(strokes[wire].thick, *(corridors.thick[item] for item in chain[1:-1]), 0)
        result.append(_finish_route([*bends, stop], wire, skeleton, thick, strokes[wire].tip, gaps))
    return result


def _exit_window(begin: Point, below: int, left: int, room: tuple[int, int] | None) -> Portal:
    """Return where a wire may be when it leaves the band of its source: below its port, or slanted within `room`."""
    if room is None:
        return (below, begin[0], begin[0])
    slant = MAX_SLANT * (below - begin[1]) // 10
    return (below, max(left + room[0], begin[0] - slant), min(left + room[1], begin[0] + slant))


def _rank_windows(
    corridors: Corridors,
    item: int,
    here: Band,
    near: tuple[int, int],
    before: tuple[Point, ...] | None,
    after: tuple[Point, ...] | None,
) -> list[Portal]:
    """Return where a wire may be above and below the rank of a waypoint.

    `near` is how much before and after the band it has to stay straight; `before` and `after` are its bends on the way
    to another column, where straight runs end.
    """
    top = here.top - here.before - near[0]
    bottom = here.bottom + here.after + near[1]
    if before:
        top = max(top, before[3][1] + 1)
    if after:
        bottom = min(bottom, after[0][1] - 1)
    return [corridors.waypoint_window(item, 0, top), corridors.waypoint_window(item, 1, bottom)]


def _shortest_in_column(corridors: Corridors, windows: Sequence[Portal], passed: Sequence[int]) -> list[Point]:
    """Return the bends of a line within one column, which passes waypoints, two windows each, before its last
    window."""
    bends = _funnel_bends(windows)
    # Later lines keep clear of the line itself, not of its waypoint.
    corridors.record_bends(passed, windows[len(windows) - 1 - 2 * len(passed) : -1], bends)
    return bends


def _finish_route(
    points: list[Point], wire: int, skeleton: Skeleton, thick: int, tip: int, gaps: LevelGaps
) -> tuple[Point, ...]:
    """Return the line from its source to its target, extended straight beyond ports, its corners cut; `tip` is its end
    with the arrow head."""
    drawn = skeleton.wires[wire]
    ends = drawn.chain[::-1] if drawn.turned else drawn.chain
    if ends[0] >= skeleton.children:
        far = gaps.beyond + gaps.bar[0] - _slanted_run(0, ends[0], skeleton, gaps)
        points.insert(0, (points[0][0], points[0][1] - far))
    if ends[-1] >= skeleton.children:
        far = gaps.beyond + gaps.bar[1] - _slanted_run(1, ends[-1], skeleton, gaps)
        points.append((points[-1][0], points[-1][1] + far))
    head = arrow_head_length(thick) + 1
    first, last = (head if tip == end else 1 for end in ((1, 0) if drawn.turned else (0, 1)))
    line = _blunt_corners(straighten_polyline(points), first, last)
    return tuple(line[::-1] if drawn.turned else line)


def _slanted_run(end: int, item: int, skeleton: Skeleton, gaps: LevelGaps) -> int:
    """Return how far beyond its port (`item`, on the first side: `end` 0, or on the last) a line may still run
    slanted."""
    return gaps.beyond if item >= skeleton.children and gaps.bar[end] else 0
