"""Side ports: a line beside an open box enters it on that side, at the height of the inner box that it feeds.

    │ ┌────────┐          ┌────────┐
    │ │   ┌──┐ │          │   ┌──┐ │
    ╰─┼──▶│  │ │    not   │ ╭▶│  │ │
      │   └──┘ │          │ │ └──┘ │
      └────────┘        │ └─┼──────┘
                        ╰───╯

A frame offers side ports; the level around it, which is laid out later, uses those that shorten its lines. No box
moves, and no line crosses more lines than before. A line that runs straight from the border of the level to the bottom
of the open box moves aside with its port, if the level has room beside the box.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from graphviz_tb.graphs.skyline import SkylineRect
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import TARGET_TRAINS, Skeleton
from graphviz_tb.model.view import View
from graphviz_tb.place.attachment import port_at_end
from graphviz_tb.place.ties import InnerPorts, SidePort, Slot

CLEARANCE_PX = 8  # from such a line to a frame, a box or a parallel line
START_PX = 11  # length of the first run of a line from its box
STEP_PX = 10  # between two lines that enter one box
TRACK_PX = 30  # from an open box to a line that moves to its side
SIDE_SHARES = (4, 2, 1)  # eighths of the height of a box at which a line may leave its side
MAX_COMPARED_ROUTES = 120  # the lines of larger levels are not compared pair by pair

Routes = Mapping[int, Sequence[Point]]


@dataclass(frozen=True, slots=True)
class SideEntry:
    """A line that enters the open child `item` at a side port: its points `before` the turn, and the `place` of the
    port on the level."""

    wire: int
    item: int
    port: int
    before: Sequence[Point]
    place: Point


def find_side_ports(
    view: View,
    routes: Routes,
    slots: Mapping[int, Slot],
    opened: set[int],
    borders: tuple[int, int],
    labelled: Mapping[int, Point],
) -> dict[int, SidePort]:
    """Return the side ports that a frame offers, by port.

    A port may be on a side if its only line ends on a closed box and nothing is between that box and the side.
    `borders` are the x of both sides; lines in `labelled` have a label inside the frame.
    """
    if len(routes) > MAX_COMPARED_ROUTES:
        return {}
    skeleton = view.skeleton
    lines: dict[int, list[int]] = {}
    for wire in routes:
        chain = skeleton.wires[wire].chain
        for item in (chain[0], chain[-1]):
            if item >= skeleton.children:
                lines.setdefault(item - skeleton.children, []).append(wire)
    found: dict[int, SidePort] = {}
    for port, wires in lines.items():
        wire = wires[0]
        points, chain = routes[wire], skeleton.wires[wire].chain
        may_move = len(wires) == 1 and skeleton.ports[port].first and chain[-1] in slots and chain[-1] not in opened
        if (
            not may_move
            or len(points) < 3
            or wire in labelled
            or wire in skeleton.main_path
            or view.line_of_wire(wire).kind == "reference"
        ):
            continue
        before, end = points[-2], points[-1]
        if before[1] != end[1] or points[0][1] == end[1]:
            continue
        side = -1 if before[0] < end[0] else 1
        run = [(borders[0 if side < 0 else 1], end[1]), end]
        others = {other: line for other, line in routes.items() if line[-1] != end}
        boxes = [_slot_box(slot) for item, slot in slots.items() if item != chain[-1]]
        if not _is_clear(run, boxes, others) or count_crossings(run, others) > count_crossings(points, others):
            continue
        piece, _ = slots[chain[-1]]
        room = piece.box[1] // 2 - CLEARANCE_PX
        found[port] = SidePort(wire, side, run[0], end, room, _length(points) - _length(run), len(points) - 2)
    return found


def find_slides(
    view: View,
    routes: Routes,
    slots: Mapping[int, Slot],
    ports: Sequence[Point],
    width: int,
    labelled: Mapping[int, Point],
) -> dict[int, tuple[int, int]]:
    """Return how far ports of a frame may move outwards: the least and the greatest x, by port.

    Such a port has a single line, which turns inwards, and nothing is beside its first run. Lines in `labelled` have a
    label inside the frame.
    """
    if len(routes) > MAX_COMPARED_ROUTES:
        return {}
    counts = Counter([view.skeleton.wires[wire].chain[0] for wire in routes])
    found: dict[int, tuple[int, int]] = {}
    for wire, points in routes.items():
        start = view.skeleton.wires[wire].chain[0]
        port = start - view.skeleton.children
        if port < 0 or counts[start] > 1 or len(points) < 3 or wire in labelled or wire in view.skeleton.main_path:
            continue
        (x, y), (_, turn), (onward, _) = points[:3]
        if not view.skeleton.ports[port].first or points[0] != ports[port] or points[1][0] != x or onward == x:
            continue
        others = [line for other, line in routes.items() if other != wire]
        rectangles = [_slot_box(slot) for slot in slots.values()]
        rectangles += [
            (min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))
            for line in others
            for a, b in pairwise(line)
        ]
        low, high = TRACK_PX // 2, width - TRACK_PX // 2
        for left, top, right, bottom in rectangles:
            if top < max(y, turn) + CLEARANCE_PX and bottom > min(y, turn) - CLEARANCE_PX:
                low = max(low, right + TRACK_PX // 2) if right <= x else low
                high = min(high, left - TRACK_PX // 2) if left >= x else high
        low, high = (low, x) if onward > x else (x, high)
        if low < high:
            found[port] = (low, high)
    return found


def slide_ports(
    view: View, routes: dict[int, tuple[Point, ...]], slots: Mapping[int, Slot], inner: InnerPorts
) -> dict[int, dict[int, int]]:
    """Make lines straight whose port at an open child may move; return the new x of these ports by child and port."""
    slid: dict[int, dict[int, int]] = {}
    for wire, points in {**routes}.items():
        item = view.skeleton.wires[wire].chain[-1]
        offered = inner.slides.get(item, {}) if item in slots else {}
        port = port_at_end(view, wire, 1, inner.gates) if offered else None
        if port is None or port not in offered or len(points) != 4 or points[0][0] != points[1][0]:
            continue
        x, left = points[0][0], slots[item][1][0]
        line = (points[0], (x, points[-1][1]))
        others = {other: run for other, run in routes.items() if other != wire}
        boxes = [
            _slot_box(slot) for other, slot in slots.items() if other not in (item, view.skeleton.wires[wire].chain[0])
        ]
        free = offered[port][0] <= x - left <= offered[port][1] and _is_clear(line, boxes, others)
        if free and count_crossings(line, others) <= count_crossings(points, others):
            routes[wire] = line
            slid.setdefault(item, {})[port] = x - left
    return slid


def enter_at_sides(
    view: View, routes: dict[int, tuple[Point, ...]], slots: Mapping[int, Slot], inner: InnerPorts
) -> dict[int, dict[int, int]]:
    """Lead lines to side ports of open children where that saves length or bends; return by child and port the y of the
    used side ports on the child."""
    if len(routes) > MAX_COMPARED_ROUTES:
        return {}
    found: dict[tuple[int, int, Point], list[SideEntry]] = {}
    for entry, port in _possible_entries(view, routes, slots, inner):
        found.setdefault((entry.item, port.side, port.end), []).append(entry)
    entered: dict[int, dict[int, int]] = {}
    for (item, side, _), entries in found.items():
        room = min([inner.side_ports[item][entry.port].room for entry in entries])
        if (len(entries) - 1) * STEP_PX > 2 * room:
            continue
        entries.sort(key=lambda entry: _turn_order(entry, side))
        for number, entry in enumerate(entries):
            y = entry.place[1] + number * STEP_PX - (len(entries) - 1) * STEP_PX // 2
            if _improves(entry, y, view.skeleton, routes, slots):
                routes[entry.wire] = _line_to_side(entry, y)
                entered.setdefault(item, {})[entry.port] = y - slots[item][1][1]
    return entered


def move_beside(
    view: View, routes: Routes, slots: Mapping[int, Slot], inner: InnerPorts, width: int, labels: Sequence[SkylineRect]
) -> Iterator[tuple[SideEntry, list[Point]]]:
    """Yield the lines that run straight from a port of the level to an open child and can enter it at a side port
    instead, with their new points, outside of all other ports; `width` is that of the level."""
    skeleton = view.skeleton
    if len(routes) > MAX_COMPARED_ROUTES or not inner.side_ports:
        return
    lines = {**routes}  # with those that moved
    starts = {wire: skeleton.wires[wire].chain[0] - skeleton.children for wire in routes}
    starts = {wire: port for wire, port in starts.items() if port >= 0 and skeleton.ports[port].first}
    counts = Counter(starts.values())
    for wire, start in starts.items():
        item, points = skeleton.wires[wire].chain[-1], routes[wire]
        offers = inner.side_ports.get(item, {}) if item in slots else {}
        port = port_at_end(view, wire, 1, inner.gates) if offers else None
        if counts[start] > 1 or port is None or port not in offers or len(points) > 2 or wire in skeleton.main_path:
            continue
        side, (piece, corner) = offers[port].side, slots[item]
        x = corner[0] - TRACK_PX if side < 0 else corner[0] + piece.width + TRACK_PX
        if not TRACK_PX // 2 <= x <= width - TRACK_PX // 2:
            continue
        place = (corner[0] + offers[port].place[0], corner[1] + offers[port].place[1])
        line = [(x, points[0][1]), (x, place[1]), place]
        others = {other: run for other, run in lines.items() if other != wire}
        outermost = all((x - lines[other][0][0]) * side > 0 for other in starts if other != wire)
        boxes = [*labels, *(_slot_box(slot) for other, slot in slots.items() if other != item)]
        free = outermost and _is_clear(line, boxes, others)
        if free and count_crossings(line, others) <= count_crossings(points, others):
            lines[wire] = line
            yield SideEntry(wire, item, port, line[:1], place), line


def leave_at_sides(
    view: View, routes: dict[int, tuple[Point, ...]], slots: Mapping[int, Slot], headings: Sequence[SkylineRect]
) -> None:
    """Let lines from the model to its training leave their box on its right side, if they cross no more lines.

    ┌───╮ ▶                ▶
    │ ┌─┴─┐ │      ┌───┐ │
    ╰ │net│      to  │net├─╯
    """
    if len(routes) > MAX_COMPARED_ROUTES:
        return
    for wire, points in {**routes}.items():
        source, target = view.skeleton.wires[wire].chain[0], view.skeleton.wires[wire].chain[-1]
        training = view.line_of_wire(wire).training == TARGET_TRAINS
        if not training or len(points) != 4 or source not in slots or points[0][0] != points[1][0]:
            continue
        piece, (left, top) = slots[source]
        right, high = left + piece.x + piece.box[0] - piece.behind[0], piece.box[1] - piece.behind[1]
        if points[-1][0] < right + 2 * CLEARANCE_PX:
            continue
        others = {other: line for other, line in routes.items() if other != wire}
        boxes = [*headings, *(_slot_box(slot) for item, slot in slots.items() if item not in (source, target))]
        for share in SIDE_SHARES:
            y = top + piece.y + piece.behind[1] + high * share // 8
            line = ((right, y), (points[-1][0], y), points[-1])
            if _is_clear(line, boxes, others) and count_crossings(line, others) <= count_crossings(points, others):
                routes[wire] = line
                break


def _possible_entries(
    view: View, routes: Routes, slots: Mapping[int, Slot], inner: InnerPorts
) -> Iterator[tuple[SideEntry, SidePort]]:
    """Yield the lines that could enter a child at a side port, if they save length or bends."""
    skeleton = view.skeleton
    taken: dict[tuple[int, int], list[int]] = {}
    for wire in routes:
        item = skeleton.wires[wire].chain[-1]
        port = port_at_end(view, wire, 1, inner.gates) if item in inner.side_ports and item in slots else None
        if port is not None and port in inner.side_ports[item]:
            taken.setdefault((item, port), []).append(wire)
    for (item, port), wires in taken.items():
        wire = wires[0]
        if len(wires) > 1 or skeleton.wires[wire].turned or wire in skeleton.main_path:
            continue
        side, corner = inner.side_ports[item][port], slots[item][1]
        place = (corner[0] + side.place[0], corner[1] + side.place[1])
        before = _points_beside(routes[wire], place, side.side)
        if before is None:
            continue
        line, points = [*before, (before[-1][0], place[1]), place], routes[wire]
        if _length(line) <= _length(points) + side.saved_length and len(line) < len(points) + side.saved_bends:
            yield SideEntry(wire, item, port, before, place), side


def _points_beside(points: Sequence[Point], place: Point, side: int) -> Sequence[Point] | None:
    """Return the first points of a line, until it runs along the flow beside a place; None if it never does.

    >>> (
    ...     _points_beside([(0, 90), (0, 80), (50, 80), (50, 70)], (20, 40), -1),
    ...     _points_beside([(30, 9), (30, 0)], (20, 4), -1),
    ... )
    ([(0, 90)], None)
    """
    for number in range(len(points) - 2, -1, -1):
        (x, y), (other, end) = points[number], points[number + 1]
        if x == other and y != end and (x - place[0]) * side >= CLEARANCE_PX:
            onward = (place[1] - y) * (1 if end > y else -1)
            return points[: number + 1] if number or onward >= START_PX else None
    return None


def _turn_order(entry: SideEntry, side: int) -> tuple[bool, int]:
    """Return the sort key of lines at a side, from top to bottom: lines from above, the nearest first, then lines from
    below, the nearest last."""
    x, y = entry.before[-1]
    below = y > entry.place[1]
    return below, -side * x if below else side * x


def _line_to_side(entry: SideEntry, y: int) -> tuple[Point, ...]:
    return (*entry.before, (entry.before[-1][0], y), (entry.place[0], y))


def _improves(entry: SideEntry, y: int, skeleton: Skeleton, routes: Routes, slots: Mapping[int, Slot]) -> bool:
    """Return whether a line to a side port is clear of boxes and lines, and crosses no more lines than before."""
    line, was = _line_to_side(entry, y), routes[entry.wire]
    others = {wire: points for wire, points in routes.items() if wire != entry.wire}
    ends = (skeleton.wires[entry.wire].chain[0], entry.item)
    boxes = [_slot_box(slot) for item, slot in slots.items() if item not in ends]
    apart = {wire: points for wire, points in others.items() if points[0] != line[0]}
    # Only the new runs can meet boxes or lines; another line from the same place may continue along the old run.
    fresh = line[-2:] if _is_between(line[-2], *was[len(entry.before) - 1 : len(entry.before) + 1]) else line[-3:]
    return _is_clear(fresh, boxes, apart) and count_crossings(line, others) <= count_crossings(was, others)


def _is_between(point: Point, start: Point, end: Point) -> bool:
    return min(start[1], end[1]) <= point[1] <= max(start[1], end[1])


def _slot_box(slot: Slot) -> SkylineRect:
    piece, (x, y) = slot
    return x, y, x + piece.width, y + piece.height


def _is_clear(points: Sequence[Point], boxes: Sequence[SkylineRect], routes: Routes) -> bool:
    """Return whether a line keeps clear of boxes, and of parallel lines."""
    for start, end in pairwise(points):
        left, right = min(start[0], end[0]) - CLEARANCE_PX, max(start[0], end[0]) + CLEARANCE_PX
        top, bottom = min(start[1], end[1]) - CLEARANCE_PX, max(start[1], end[1]) + CLEARANCE_PX
        if any(x < right and other_x > left and y < bottom and other_y > top for x, y, other_x, other_y in boxes):
            return False
        along = 0 if start[1] == end[1] else 1
        for line in routes.values():
            for one, two in pairwise(line):
                parallel = one[1 - along] == two[1 - along]
                near = abs(one[1 - along] - start[1 - along]) < CLEARANCE_PX
                first, last = sorted((one[along], two[along]))
                if parallel and near and first < max(start[along], end[along]) and last > min(start[along], end[along]):
                    return False
    return True


def count_crossings(points: Sequence[Point], routes: Routes) -> int:
    """Return how often a line crosses others; all runs are along an axis."""
    count = 0
    for (ax, ay), (bx, by) in pairwise(points):
        for line in routes.values():
            for (cx, cy), (dx, dy) in pairwise(line):
                if ay == by:
                    crossed = cx == dx and min(ax, bx) < cx < max(ax, bx) and min(cy, dy) < ay < max(cy, dy)
                else:
                    crossed = cy == dy and min(cx, dx) < ax < max(cx, dx) and min(ay, by) < cy < max(ay, by)
                if crossed:
                    count += 1
    return count


def _length(points: Sequence[Point]) -> int:
    return sum([abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(points)])
