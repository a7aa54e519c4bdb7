"""Place the labels of edges: next to a straight run of their own line, clear of boxes, lines and labels.

A label without such a place is left out; the edge's tooltip still has it. So are the remaining labels once thousands of
long lines have used up the work budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from graphviz_tb.algorithms.polylines import straighten_polyline
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skyline import SkylineRect
from graphviz_tb.model.thickness import THICKEST_TENTHS

LABEL_CELL_PX = 64  # about the height of a box and its gap, so that a cell has few entries
LARGE_BOX_PX = 8 * LABEL_CELL_PX  # few boxes are larger; they are not filed by cell
RUN_SIXTEENTHS = (8, 6, 10, 4, 12, 2, 14)  # sixteenths of a run, the middle first
FINE_STEP_PX = 6  # between attempts on the main path, if none of those places is free
MAX_RUNS_TRIED = 4  # the longest runs that are tried
# px from a line to its label; the second if a label of a main path finds no place
LABEL_DISTANCE, NEAR_LABEL_DISTANCE = 5, 3
BOX_CLEARANCE, LINE_CLEARANCE, LABEL_CLEARANCE = 1, 3, 4  # px between a label and boxes, lines and labels

# Cells filed and lines checked, after which no more labels are placed: seconds of work.
MAX_LABEL_WORK = 2_000_000

HALF_MAX_THICKNESS = THICKEST_TENTHS // 20  # px: half of the thickest line

Segment = tuple[Point, Point]


class LabelObstacles:
    """Boxes, lines and labels to keep clear of, filed by cells of the plane."""

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
        for cell in cells_of_rect(rect):
            self.rects.setdefault(cell, []).append(rect)

    def add_line(self, owner: int, points: Sequence[Point], thick: int) -> None:
        """Add the polyline of a wire, `thick` in tenths of a pixel."""
        for run in straight_runs(points):
            noted = (owner, thick // 20, run, segment_bounds(run))
            for cell in cells_of_run(run):
                self.work += 1
                self.runs.setdefault(cell, []).append(noted)

    def is_free(self, owner: int, rect: SkylineRect) -> bool:
        """Return whether a label of wire `owner` may take `rect`; its own line may be nearer than others."""
        # The rectangles to check against boxes and against lines.
        boxed, lined = grow_rect(rect, BOX_CLEARANCE), grow_rect(rect, LINE_CLEARANCE + HALF_MAX_THICKNESS)
        if any(rects_overlap(boxed, other) for other in self.large):
            return False
        for cell in cells_of_rect(lined):
            if any(rects_overlap(boxed, other) for other in self.rects.get(cell, ())):
                return False
            self.work += len(self.runs.get(cell, ()))
            for other, half, run, extent in self.runs.get(cell, ()):
                near = grow_rect(rect, LINE_CLEARANCE + half) if other != owner else boxed
                if rects_meet(extent, near) and line_crosses_rect(run, near):
                    return False
        return True


@dataclass(frozen=True, slots=True)
class LineLabel:
    """A label to place: its size, thickness of its line (tenths of a pixel), and whether that is a main path."""

    size: tuple[int, int]
    thick: int = 10
    main: bool = False


def place_labels(
    lines: Mapping[int, Sequence[Point]],
    labels: Mapping[int, LineLabel],
    taken: Iterable[SkylineRect],
    bounds: SkylineRect,
    own: Mapping[int, Sequence[Point]] | None = None,
    thick: Mapping[int, int] | None = None,
) -> dict[int, Point]:
    """Return the middle of each label that has a place within `bounds`, next to the part of its line in `own`.

    `thick` are the thicknesses of the lines in tenths of a pixel. Main paths come first, then wires in order of their
    number.

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
        for middle in label_candidates(own[wire] if own else lines[wire], label):
            rect = label_rect(middle, label.size)
            if is_within(rect, bounds) and obstacles.is_free(wire, rect):
                # Greedy: each label takes the first free place, and is an obstacle to all after it.
                placed[wire] = middle
                obstacles.add_rect(grow_rect(rect, LABEL_CLEARANCE))
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
        middle = next(iter(label_candidates(lines[wire], label)), None) if label.main else None
        if middle is not None:
            half = label.size[axis] // 2
            before = max(before, half + 1 - middle[axis])
            after = max(after, middle[axis] + label.size[axis] - half + 1 - extent)
    return before, after


def label_candidates(points: Sequence[Point], label: LineLabel) -> Iterable[Point]:
    """Yield places next to the longest runs, the middle of the longest first; right before left, above before below.

    The label of a main path may also be anywhere else along them, nearer to the line.
    """
    straight = sorted(straight_runs(points), key=lambda run: -squared_length(run))
    for parts, beside in ((coarse_parts, LABEL_DISTANCE), (fine_parts, NEAR_LABEL_DISTANCE))[: 2 if label.main else 1]:
        for start, stop in straight[:MAX_RUNS_TRIED]:
            dx, dy = stop[0] - start[0], stop[1] - start[1]
            steep = abs(dy) >= abs(dx)
            # The label's length along the line, and the line's length on that axis.
            need, along = label.size[1 if steep else 0], max(abs(dx), abs(dy))
            if along < need:
                continue
            off = beside + label.thick // 20 + label.size[0 if steep else 1] // 2
            lean = need * min(abs(dx), abs(dy)) // (2 * along)  # a slanted line comes nearer
            for part, whole in parts(along, need):
                x, y = start[0] + dx * part // whole, start[1] + dy * part // whole
                for side in (1, -1) if steep else (-1, 1):
                    yield (x + side * (off + lean), y) if steep else (x, y + side * (off + lean))


def coarse_parts(along: int, need: int) -> Iterable[tuple[int, int]]:
    """Return parts of a run, in sixteenths, where the middle of a label that takes `need` of it may be."""
    return [(part, 16) for part in RUN_SIXTEENTHS if 2 * min(part, 16 - part) * along >= 16 * need]


def fine_parts(along: int, need: int) -> Iterable[tuple[int, int]]:
    """Return parts of a run where the middle of a label may be, every few pixels from the middle out.

    >>> fine_parts(60, 40)
    [(30, 60), (24, 60), (36, 60)]
    """
    reach = (along - need) // 2
    steps = [step for off in range(0, reach + 1, FINE_STEP_PX) for step in ((off, -off) if off else (0,))]
    return [(along // 2 - step, along) for step in steps]


def straight_runs(points: Sequence[Point]) -> list[Segment]:
    """Return the straight runs of a polyline, with collinear ones merged."""
    return list(pairwise(straighten_polyline(points)))


def squared_length(run: Segment) -> int:
    """Return the squared length of a run."""
    return (run[1][0] - run[0][0]) ** 2 + (run[1][1] - run[0][1]) ** 2


def segment_bounds(run: Segment) -> SkylineRect:
    """Return the bounding rectangle of a run."""
    (ax, ay), (bx, by) = run
    return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)


def label_rect(middle: Point, size: tuple[int, int]) -> SkylineRect:
    """Return the rectangle of a label."""
    left, top = middle[0] - size[0] // 2, middle[1] - size[1] // 2
    return left, top, left + size[0], top + size[1]


def grow_rect(rect: SkylineRect, by: int) -> SkylineRect:
    """Return a rectangle with a margin around it."""
    return rect[0] - by, rect[1] - by, rect[2] + by, rect[3] + by


def cells_of_rect(rect: SkylineRect) -> list[tuple[int, int]]:
    """Return the cells that a rectangle touches."""
    return [
        (column, row)
        for column in range(rect[0] // LABEL_CELL_PX, rect[2] // LABEL_CELL_PX + 1)
        for row in range(rect[1] // LABEL_CELL_PX, rect[3] // LABEL_CELL_PX + 1)
    ]


def cells_of_run(run: Segment) -> list[tuple[int, int]]:
    """Return the cells that a run passes: for a long slanted one far fewer than its rectangle touches.

    >>> cells_of_run(((0, 0), (100, 30))), cells_of_run(((20, 70), (20, 0)))
    ([(0, 0), (1, 0)], [(0, 0), (0, 1)])
    """
    (ax, ay), (bx, by) = run if run[0][0] <= run[1][0] else (run[1], run[0])
    wide, tall = bx - ax, by - ay
    found = []
    for column in range(ax // LABEL_CELL_PX, bx // LABEL_CELL_PX + 1):
        first, last = ay // LABEL_CELL_PX, by // LABEL_CELL_PX
        if wide:
            # Where the line enters and leaves the column, rounded down to a whole cell.
            enter, leave = max(ax, column * LABEL_CELL_PX), min(bx, (column + 1) * LABEL_CELL_PX)
            first = (ay * wide + tall * (enter - ax)) // (wide * LABEL_CELL_PX)
            last = (ay * wide + tall * (leave - ax)) // (wide * LABEL_CELL_PX)
        found += [(column, row) for row in range(min(first, last), max(first, last) + 1)]
    return found


def is_within(inner: SkylineRect, outer: SkylineRect) -> bool:
    """Return whether the first rectangle is inside the second."""
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def rects_overlap(first: SkylineRect, second: SkylineRect) -> bool:
    """Return whether two rectangles have more than a border in common."""
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


def run_touches_rect(run: Segment, rect: SkylineRect) -> bool:
    """Return whether a run passes through a rectangle.

    >>> run_touches_rect(((0, 0), (10, 10)), (4, 4, 6, 6)), run_touches_rect(((0, 0), (10, 10)), (7, 0, 9, 3))
    (True, False)
    """
    return rects_meet(segment_bounds(run), rect) and line_crosses_rect(run, rect)


def rects_meet(first: SkylineRect, second: SkylineRect) -> bool:
    """Return whether two rectangles have a point in common, borders included."""
    return first[0] <= second[2] and second[0] <= first[2] and first[1] <= second[3] and second[1] <= first[3]


def line_crosses_rect(run: Segment, rect: SkylineRect) -> bool:
    """Return whether the infinite line through a run passes through a rectangle."""
    (ax, ay), (bx, by) = run
    corners = ((rect[0], rect[1]), (rect[0], rect[3]), (rect[2], rect[1]), (rect[2], rect[3]))
    # With all four corners on one side, the line misses the rectangle.
    sides = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for x, y in corners]
    return min(sides) <= 0 <= max(sides)
