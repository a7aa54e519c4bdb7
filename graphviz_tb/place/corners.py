"""Turn sharp corners of a line into two blunt ones, so that it reads as one stroke.

All in whole numbers: lengths in sixteenths of a pixel, angles by cross and scalar products.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from graphviz_tb.model.scene import Point

CORNER_CUT = 12  # px cut off on both sides of a corner, if the runs are long enough; the radius at a right angle
MIN_CUT_DISTANCE = 10  # px: nearer cuts are merged into one point
# A turn of more than 48° is cut: cross² : scalar² > tan²(48°) = 1.233. Half of 90° stays under it.
TAN_SQUARED, TAN_SQUARED_UNIT = 1233, 1000


def blunt_corners(points: Sequence[Point], first: int, last: int) -> list[Point]:
    """Cut the corners of a polyline; `first`, `last` px of its first and last run stay straight.

    >>> blunt_corners([(0, 0), (0, 40), (60, 40), (60, 80)], 1, 9)
    [(0, 0), (0, 28), (12, 40), (48, 40), (60, 52), (60, 80)]
    >>> blunt_corners([(0, 0), (0, 40), (20, 80)], 1, 9)
    [(0, 0), (0, 40), (20, 80)]
    """
    result = [points[0]]
    fresh = False  # whether the last point comes from a cut
    for number in range(1, len(points) - 1):
        before, corner, after = points[number - 1], points[number], points[number + 1]
        if not is_sharp(before, corner, after):
            result.append(corner)
            fresh = False
            continue
        # At most half of a run, because its other end may be cut too; outer runs have one corner only.
        reach = 16 * CORNER_CUT
        run = distance_in_sixteenths(before, corner)
        reach = min(reach, run - 16 * first if number == 1 else run // 2)
        run = distance_in_sixteenths(corner, after)
        reach = min(reach, run - 16 * last if number == len(points) - 2 else run // 2)
        if reach <= 0:
            result.append(corner)
            fresh = False
            continue
        enter, leave = point_towards(corner, before, reach), point_towards(corner, after, reach)
        if fresh and distance_in_sixteenths(result[-1], enter) < 16 * MIN_CUT_DISTANCE:  # two cuts nearly meet
            previous = result.pop()
            enter = (previous[0] + enter[0]) // 2, (previous[1] + enter[1]) // 2
        result += [enter, leave]
        fresh = True
    result.append(points[-1])
    return result


def is_sharp(a: Point, b: Point, c: Point) -> bool:
    """Return whether a line turns by more than 48° at b."""
    along = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1])  # at most 0 for a turn by 90° or more
    across = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
    return along <= 0 or TAN_SQUARED_UNIT * across * across > TAN_SQUARED * along * along


def distance_in_sixteenths(a: Point, b: Point) -> int:
    """Return the distance of two points in sixteenths of a pixel, rounded down."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    return isqrt(256 * (dx * dx + dy * dy))


def point_towards(start: Point, goal: Point, distance: int) -> Point:
    """Return the point `distance` sixteenths from `start` towards `goal`, rounded half up.

    >>> point_towards((0, 0), (30, 40), 160)
    (6, 8)
    """
    whole = distance_in_sixteenths(start, goal)
    if not whole:
        return start
    dx, dy = goal[0] - start[0], goal[1] - start[1]
    # (d + ½) rounded down, with all divisions in one: the same in JavaScript.
    return start[0] + (2 * dx * distance + whole) // (2 * whole), start[1] + (2 * dy * distance + whole) // (2 * whole)
