"""Place the labels of edges: next to a straight run of their own line, clear of boxes, lines and labels.

A label without such a place is left out, but remains in the tooltip of the edge. Once the budget of work is used up, by
thousands of long lines, the remaining labels are left out, too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import gcd

from graphviz_tb.graphs.drawing_math import straighten_polyline
from graphviz_tb.graphs.skyline import SkylineRect
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import THICKEST_TENTHS
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.view import View
from graphviz_tb.place.attachment import Gates, port_at_end

LABEL_CELL_PX = 64  # about the height of a box and its gap, so that a cell has few entries
LARGE_BOX_PX = 8 * LABEL_CELL_PX  # few boxes are larger; they are not filed by cell
RUN_SIXTEENTHS = (8, 6, 10, 4, 12, 2, 14)  # places on a run to try, the middle first
FINE_STEP_PX = 3  # from place to place on the main path, if all places of RUN_SIXTEENTHS are taken
MAX_RUNS_TRIED = 4  # try only the longest runs
# px from a line to its label; the second distance is for a label of a main path that has no place otherwise
LABEL_DISTANCE, NEAR_LABEL_DISTANCE = 5, 3
BOX_CLEARANCE, LINE_CLEARANCE, LABEL_CLEARANCE = 1, 3, 4  # px between a label and boxes, lines and labels

# Cells filed and lines checked, a few seconds of work, after which no more labels are placed.
MAX_LABEL_WORK = 2_000_000

HALF_MAX_THICKNESS = THICKEST_TENTHS // 20  # px: half of the thickest line

Segment = tuple[Point, Point]


class LabelObstacles:
    """Boxes, lines and labels that labels must not touch, filed by cells of the plane."""

    def __init__(self) -> None:
        self.rects: dict[tuple[int, int], list[SkylineRect]] = {}
        self.large: list[SkylineRect] = []
        self.runs: dict[tuple[int, int], list[tuple[int, int, Segment, SkylineRect]]] = {}
        self.work = 0

    def add_rect(self, rect: SkylineRect) -> None:
        """Add a box or a label."""
        if max(rect[2] - rect[0], rect[3] - rect[1]) > LARGE_BOX_PX:
            self.large.append(rect)
            return
        for cell in _cells_of_rect(rect):
            self.rects.setdefault(cell, []).append(rect)

    def add_line(self, owner: int, points: Sequence[Point], thick: int) -> None:
        """Add the polyline of a wire, `thick` in tenths of a pixel."""
        for run in _straight_runs(points):
            noted = (owner, thick // 20, run, _segment_bounds(run))
            for cell in cells_of_run(run):
                self.work += 1
                self.runs.setdefault(cell, []).append(noted)

    def is_free(self, owner: int, rect: SkylineRect) -> bool:
        """Return whether a label of wire `owner` may take `rect`; its own line may be nearer than other lines."""
        boxed, lined = _grow_rect(rect, BOX_CLEARANCE), _grow_rect(rect, LINE_CLEARANCE + HALF_MAX_THICKNESS)
        if any(_rects_overlap(boxed, other) for other in self.large):
            return False
        for cell in _cells_of_rect(lined):
            if any(_rects_overlap(boxed, other) for other in self.rects.get(cell, ())):
                return False
            self.work += len(self.runs.get(cell, ()))
            for other, half, run, extent in self.runs.get(cell, ()):
                near = _grow_rect(rect, LINE_CLEARANCE + half) if other != owner else boxed
                if _rects_meet(extent, near) and _line_crosses_rect(run, near):
                    return False
        return True


@dataclass(frozen=True, slots=True)
class LineLabel:
    """A label to place: its size, the thickness of its line in tenths of a pixel, and whether that is a main path."""

    size: tuple[int, int]
    thick: int = 10
    main: bool = False


def labels_said_once(view: View, line_labels: Mapping[int, LineLabel], gates: Gates) -> dict[int, LineLabel]:
    """Return the labels without repeated shapes: of lines from or to the same closed box or port, only the main path,
    or the first, has the label."""
    skeleton, words = view.skeleton, view.words.lines
    heard: dict[tuple[int, int, int | None], list[str]] = {}
    kept: dict[int, LineLabel] = {}
    for wire in sorted(line_labels, key=lambda wire: (not line_labels[wire].main, wire)):
        chain, label = skeleton.wires[wire].chain, words[wire].label
        sides = [(0, chain[0]), (1, chain[-1])] if " " not in label else []  # keep every count of tensors
        ends_with_ports = [(end, item, port_at_end(view, wire, end, gates)) for end, item in sides]
        ends = [(end, item, port) for end, item, port in ends_with_ports if item not in gates or port is not None]
        if not any(label in heard.get(end, ()) for end in ends):
            kept[wire] = line_labels[wire]
            for end in ends:
                heard.setdefault(end, []).append(label)
    return {wire: label for wire, label in line_labels.items() if wire in kept}


def place_labels(
    lines: Mapping[int, Sequence[Point]],
    labels: Mapping[int, LineLabel],
    taken: Iterable[SkylineRect],
    bounds: SkylineRect,
    own: Mapping[int, Sequence[Point]] | None = None,
    thick: Mapping[int, int] | None = None,
) -> dict[int, Point]:
    """Return the middle of each label that has a place within `bounds`, next to its line, or to the part in `own`.

    `thick` are the thicknesses of the lines in tenths of a pixel. Labels of main paths are placed first, then wire by
    wire.

    >>> place_labels({0: [(50, 0), (50, 60)]}, {0: LineLabel((40, 12))}, [], (0, 0, 99, 60))
    {0: (75, 30)}
    >>> place_labels({0: [(50, 0), (50, 60)], 1: [(60, 0), (60, 60)]}, {0: LineLabel((40, 12))}, [], (0, 0, 99, 60))
    {0: (25, 30)}
    """
    if not labels:
        return {}
    obstacles = LabelObstacles()
    for rect in taken:
        obstacles.add_rect(rect)
    for wire, points in lines.items():
        obstacles.add_line(wire, points, thick.get(wire, 0) if thick else 0)
        if obstacles.work > MAX_LABEL_WORK:
            return {}
    placed: dict[int, Point] = {}
    for wire, label in sorted(labels.items(), key=lambda item: (not item[1].main, item[0])):
        if obstacles.work > MAX_LABEL_WORK:
            break
        for middle in _label_candidates(own[wire] if own else lines[wire], label):
            rect = _label_rect(middle, label.size)
            if _is_within(rect, bounds) and obstacles.is_free(wire, rect):
                # Each label takes the first free place, and is an obstacle to all later labels.
                placed[wire] = middle
                obstacles.add_rect(_grow_rect(rect, LABEL_CLEARANCE))
                break
    return placed


def label_overhang(
    lines: Mapping[int, Sequence[Point]], labels: Mapping[int, LineLabel], extent: int, axis: int
) -> tuple[int, int]:
    """Return how far the labels of main paths would stick out of a level on its two sides along an axis (0: left and
    right, 1: above and below) of length `extent`.

    >>> label_overhang({0: [(10, 0), (10, 60)]}, {0: LineLabel((40, 12), main=True)}, 20, 0)
    (0, 36)
    """
    before = after = 0
    for wire, label in labels.items():
        middle = next(iter(_label_candidates(lines[wire], label)), None) if label.main else None
        if middle is not None:
            half = label.size[axis] // 2
            before = max(before, half + 1 - middle[axis])
            after = max(after, middle[axis] + label.size[axis] - half + 1 - extent)
    return before, after


def _label_candidates(points: Sequence[Point], label: LineLabel) -> Iterable[Point]:
    """Yield places next to the longest runs: the middle of the longest run first, right before left, above before
    below.

    The label of a line that runs back, such as a line to the next column, is tried at its end first. The label of a
    main path may also be anywhere else along these runs, nearer to the line.
    """
    runs = _straight_runs(points)
    straight = sorted(runs, key=lambda run: -_squared_length(run))
    if any(_are_opposite(run, runs[-1]) for run in runs):
        straight.insert(0, runs[-1])
    for parts, beside in ((_coarse_parts, LABEL_DISTANCE), (_fine_parts, NEAR_LABEL_DISTANCE))[
        : 2 if label.main else 1
    ]:
        for start, stop in straight[:MAX_RUNS_TRIED]:
            dx, dy = stop[0] - start[0], stop[1] - start[1]
            steep = abs(dy) >= abs(dx)
            need, along = label.size[1 if steep else 0], max(abs(dx), abs(dy))
            if along < need:
                continue
            off = beside + label.thick // 20 + label.size[0 if steep else 1] // 2
            lean = need * min(abs(dx), abs(dy)) // (2 * along)  # a slanted line comes nearer to its label
            for part, whole in parts(along, need):
                x, y = start[0] + dx * part // whole, start[1] + dy * part // whole
                for side in (1, -1) if steep else (-1, 1):
                    yield (x + side * (off + lean), y) if steep else (x, y + side * (off + lean))


def _coarse_parts(along: int, need: int) -> Iterable[tuple[int, int]]:
    """Return places on a run for the middle of a label of length `need`, as fractions in sixteenths."""
    return [(part, 16) for part in RUN_SIXTEENTHS if 2 * min(part, 16 - part) * along >= 16 * need]


def _fine_parts(along: int, need: int) -> Iterable[tuple[int, int]]:
    """Return places on a run for the middle of a label, as fractions, every few pixels from the middle outwards.

    >>> _fine_parts(60, 40)
    [(30, 60), (27, 60), (33, 60), (24, 60), (36, 60), (21, 60), (39, 60)]
    """
    reach = (along - need) // 2
    steps = [step for off in range(0, reach + 1, FINE_STEP_PX) for step in ((off, -off) if off else (0,))]
    return [(along // 2 - step, along) for step in steps]


def _straight_runs(points: Sequence[Point]) -> list[Segment]:
    """Return the straight runs of a polyline, with collinear ones merged."""
    return list(pairwise(straighten_polyline(points)))


def _are_opposite(run: Segment, other: Segment) -> bool:
    """Return whether two runs have opposite directions."""
    (dx, dy), (ex, ey) = ((end[0] - start[0], end[1] - start[1]) for start, end in (run, other))
    return dx * ey == dy * ex and dx * ex + dy * ey < 0


def _squared_length(run: Segment) -> int:
    return (run[1][0] - run[0][0]) ** 2 + (run[1][1] - run[0][1]) ** 2


def _segment_bounds(run: Segment) -> SkylineRect:
    (ax, ay), (bx, by) = run
    return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)


def _label_rect(middle: Point, size: tuple[int, int]) -> SkylineRect:
    left, top = middle[0] - size[0] // 2, middle[1] - size[1] // 2
    return left, top, left + size[0], top + size[1]


def _grow_rect(rect: SkylineRect, by: int) -> SkylineRect:
    """Return a rectangle with a margin around it."""
    return rect[0] - by, rect[1] - by, rect[2] + by, rect[3] + by


def _cells_of_rect(rect: SkylineRect) -> list[tuple[int, int]]:
    """Return the cells that a rectangle touches."""
    return [
        (column, row)
        for column in range(rect[0] // LABEL_CELL_PX, rect[2] // LABEL_CELL_PX + 1)
        for row in range(rect[1] // LABEL_CELL_PX, rect[3] // LABEL_CELL_PX + 1)
    ]


def cells_of_run(run: Segment) -> list[tuple[int, int]]:
    """Return the cells that a run passes; a long slanted run passes far fewer than its rectangle touches.

    >>> cells_of_run(((0, 0), (100, 30))), cells_of_run(((20, 70), (20, 0)))
    ([(0, 0), (1, 0)], [(0, 0), (0, 1)])
    """
    (ax, ay), (bx, by) = run if run[0][0] <= run[1][0] else (run[1], run[0])
    wide, tall = bx - ax, by - ay
    found = []
    for column in range(ax // LABEL_CELL_PX, bx // LABEL_CELL_PX + 1):
        first, last = ay // LABEL_CELL_PX, by // LABEL_CELL_PX
        if wide:
            # The x at which the line enters and leaves the column of cells.
            enter, leave = max(ax, column * LABEL_CELL_PX), min(bx, (column + 1) * LABEL_CELL_PX)
            first = (ay * wide + tall * (enter - ax)) // (wide * LABEL_CELL_PX)
            last = (ay * wide + tall * (leave - ax)) // (wide * LABEL_CELL_PX)
        found += [(column, row) for row in range(min(first, last), max(first, last) + 1)]
    return found


def _is_within(inner: SkylineRect, outer: SkylineRect) -> bool:
    """Return whether the first rectangle is inside the second."""
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def _rects_overlap(first: SkylineRect, second: SkylineRect) -> bool:
    """Return whether two rectangles have more than a border in common."""
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


def _rects_meet(first: SkylineRect, second: SkylineRect) -> bool:
    """Return whether two rectangles have a point in common, borders included."""
    return first[0] <= second[2] and second[0] <= first[2] and first[1] <= second[3] and second[1] <= first[3]


def _line_crosses_rect(run: Segment, rect: SkylineRect) -> bool:
    """Return whether the infinite line through a run passes through a rectangle."""
    (ax, ay), (bx, by) = run
    corners = ((rect[0], rect[1]), (rect[0], rect[3]), (rect[2], rect[1]), (rect[2], rect[3]))
    # With all four corners on one side, the line misses the rectangle.
    sides = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for x, y in corners]
    return min(sides) <= 0 <= max(sides)


# The part of a line before it runs along other lines to the same box, where its label is placed.

Track = tuple[int, int, int]  # a directed straight line: its smallest integer step (dx, dy), and dx * y - dy * x


def unshared_parts(
    skeleton: Skeleton, routes: Mapping[int, Sequence[Point]], wanted: Iterable[int]
) -> dict[int, Sequence[Point]]:
    """Return the part of each line in `wanted` from its source up to where it runs along another line of its bus."""
    own: dict[int, Sequence[Point]] = {wire: routes[wire] for wire in wanted}
    if not own:
        return own
    for wires in _lines_sharing_waypoints(skeleton, routes):
        shared = _shared_stretches([routes[wire] for wire in wires])
        for wire in wires:
            if wire in own:
                own[wire] = _up_to_shared(routes[wire], shared)
    return own


def _lines_sharing_waypoints(skeleton: Skeleton, routes: Mapping[int, Sequence[Point]]) -> list[list[int]]:
    """Return the lines to each box that share waypoints with others."""
    users: dict[tuple[int, int], list[int]] = {}
    for wire in routes:
        chain = skeleton.wires[wire].chain
        for item in chain[1:-1]:
            users.setdefault((item, chain[-1]), []).append(wire)
    sharing: dict[int, set[int]] = {}
    for (_, box), wires in users.items():
        if len(wires) > 1:
            sharing.setdefault(box, set()).update(wires)
    return [sorted(wires) for wires in sharing.values()]


def _shared_stretches(lines: Sequence[Sequence[Point]]) -> dict[Track, list[int]]:
    """Return where two or more lines run in one direction on one track: begin, end, begin, end, …

    >>> _shared_stretches([[(0, 0), (0, 60)], [(9, 20), (0, 30), (0, 90)]])[0, 1, 0]
    [30, 60]
    """
    changes: dict[Track, list[tuple[int, int]]] = {}
    for points in lines:
        for start, stop in pairwise(points):
            if start != stop:
                track = _run_track(start, stop)
                changes.setdefault(track, []).extend(
                    [(_distance_along(track, start), 1), (_distance_along(track, stop), -1)]
                )
    ending: dict[Track, list[int]] = {}
    for track, ends in changes.items():
        running = 0
        # At one place, ends come before beginnings, because lines that only meet there share nothing.
        for end, change in sorted(ends):
            running += change
            if running == (2 if change > 0 else 1):
                ending.setdefault(track, []).append(end)
    return ending


def _up_to_shared(points: Sequence[Point], shared: Mapping[Track, Sequence[int]]) -> Sequence[Point]:
    """Return a line up to the first stretch that it shares; all of it if it shares its start.

    >>> _up_to_shared([(0, 0), (0, 60), (9, 80)], {(0, 1, 0): [30, 60]})
    [(0, 0), (0, 30)]
    """
    kept = [points[0]]
    for start, stop in pairwise(points):
        if start != stop:
            track = _run_track(start, stop)
            bounds, here = shared.get(track, ()), _distance_along(track, start)
            following = bisect_right(bounds, here)  # odd: `here` is within a shared stretch
            shared_from = (
                here
                if following % 2
                else bounds[following]
                if following < len(bounds)
                else _distance_along(track, stop)
            )
            if shared_from < _distance_along(track, stop):
                dx, dy, _ = track
                steps = (shared_from - here) // (dx * dx + dy * dy)
                shared_start = (start[0] + steps * dx, start[1] + steps * dy)
                return points if shared_start == points[0] else [*kept, shared_start] if shared_start != start else kept
        kept.append(stop)
    return kept


def _run_track(start: Point, stop: Point) -> Track:
    """Return the track of a run of nonzero length."""
    dx, dy = stop[0] - start[0], stop[1] - start[1]
    common = gcd(dx, dy)
    dx, dy = dx // common, dy // common
    return dx, dy, dx * start[1] - dy * start[0]


def _distance_along(track: Track, point: Point) -> int:
    """Return how far along a track a point is."""
    return track[0] * point[0] + track[1] * point[1]
