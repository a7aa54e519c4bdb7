"""Find lines that end on the side of a box, lines that leave the lowest box of a U on its sides, and lines that part
from the main path.

  ▲              ▲
┌─┴──┐         ┌─┴──┐
│    │◀─┐  not │    │
└─▲──┘  │      └▲──▲┘
  ●─────┘       │╭╯╰──╮
┌─┴──┐         ┌┴┴──┐ │
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import LevelGaps, LevelLayout, Skeleton, Wire, capped_wires
from graphviz_tb.model.view import View
from graphviz_tb.place.attachment import Gates, downward_chains, port_at_end
from graphviz_tb.place.boxes import Piece
from graphviz_tb.place.side_ports import MAX_COMPARED_ROUTES, count_crossings
from graphviz_tb.place.ties import InnerPorts

SIBLINGS_PX = LevelGaps().siblings  # between a box and the box of the main path
SIDE_ROOM_PX = 24  # from the side of a box to a line that turns to it: room for a bend and the longest arrow head


@dataclass(frozen=True, slots=True)
class SideEntries:
    """The places where lines turn to the side of a box, with the flow running down.

    - `entries`: by end (twice the wire, plus 1 for its lower end), the side of its item that a line touches (-1 left, 1
      right).
    - `partings`: by wire, the wire of the main path together with which it leaves its upper item.
    - `rooms`: by box, the pixels to keep free on its left and right.
    """

    entries: Mapping[int, int]
    partings: Mapping[int, int]
    rooms: Mapping[int, tuple[int, int]]

    def absent_ends(self) -> set[int]:
        """Return the ends that take no room at a flow side of their box (twice the wire, plus 1 for its lower end)."""
        return {*self.entries, *(2 * wire for wire in self.partings)}

    def has_entry(self, wire: int, line: Wire, end: int) -> bool:
        """Return whether a wire touches the side of its source (`end` 0) or its target (1)."""
        return 2 * wire + (end != line.turned) in self.entries

    def move_anchors(self, skeleton: Skeleton, anchors: dict[tuple[int, int], int], widths: Sequence[int]) -> None:
        """Turn places on boxes into places on their slots, and set the places of lines that turn; `widths` are those of
        the boxes."""
        for wire, line in enumerate(skeleton.wires):
            for end, box in enumerate((line.chain[0], line.chain[-1])):
                if box < skeleton.children:
                    anchors[wire, end] += self.shift(box)
        for wire, line in enumerate(skeleton.wires):
            for end, box in enumerate((line.chain[0], line.chain[-1])):
                side = self.entries.get(2 * wire + (end != line.turned), 0)
                if side:
                    anchors[wire, end] = 0 if side < 0 else self.widen(box, widths[box])
        for wire, other in self.partings.items():
            anchors[wire, 0] = anchors[other, 0]

    def widen(self, box: int, width: int) -> int:
        """Return the width of the slot of a box, including the room on its sides."""
        left, right = self.rooms.get(box, (0, 0))
        return left + width + right

    def shift(self, box: int) -> int:
        """Return the distance of the box from the left edge of its slot."""
        return self.rooms[box][0] if box in self.rooms else 0


def find_side_entries(
    view: View, pieces: Sequence[Piece], inner: InnerPorts, upright: bool, upright_wires: set[int], taken: set[int]
) -> SideEntries:
    """Return the lines of a level that end on the side of a box, or part from the main path.

    A line may end on a side of a closed box that the main path enters if it is the outermost line there, and if it
    passes a rank before, comes from a port, or comes from a box next to the main path on the rank before. A line may
    part from the main path if no line leaves between the two. So no line has additional crossings. The lines
    `upright_wires` enter their box at its flow side; the sides `taken` (twice the box, plus 1 for its right side) have
    a line already.
    """
    skeleton, gates = view.skeleton, inner.gates
    chains = downward_chains(skeleton)
    main = set(skeleton.main_path)
    place = {item: number for part in skeleton.parts for row in part for number, item in enumerate(row)}
    entries = _foot_entries(skeleton, chains, pieces, gates, upright)
    partings: dict[int, int] = {}
    rooms = {chains[end // 2][0]: (SIDE_ROOM_PX, SIDE_ROOM_PX) for end in entries}
    neighbours = _PathNeighbours(view, chains, pieces, inner, place, upright)
    for end, item, wire_groups in _lines_by_end(skeleton, chains, place, gates):
        middle = next((number for number, wires in enumerate(wire_groups) if main.intersection(wires)), -1)
        if middle < 0:
            continue
        main_wire = next(wire for wire in wire_groups[middle] if wire in main)
        for side, outermost in ((-1, 0), (1, len(wire_groups) - 1)):
            wires = wire_groups[outermost]
            if outermost == middle or (end and upright_wires.intersection(wires)):
                continue
            may_turn = all(_may_turn(view, wire, chains[wire], end) for wire in wires)
            room = SIDE_ROOM_PX if may_turn else 0
            if not may_turn and end and len(wires) == 1:
                room = neighbours.room_to_neighbour(wires[0], main_wire, side)
            if not room:
                continue
            if end:
                if _is_side_free(pieces[item], side, upright) and 2 * item + (side > 0) not in taken:
                    left, right = rooms.get(item, (0, 0))
                    rooms[item] = (room, right) if side < 0 else (left, room)
                    for wire in wires:
                        entries[2 * wire + 1] = side
            elif (
                not skeleton.wires[main_wire].turned
                and abs(outermost - middle) == 1
                and all(_says_the_same(view, wire, main_wire) for wire in wires)
            ):
                for wire in wires:
                    partings[wire] = main_wire
    return SideEntries(entries, partings, rooms)


class _PathNeighbours:
    """Boxes next to the main path whose only line leads to the next box of the main path. That line runs straight to
    the next rank and turns to the side of the box."""

    def __init__(
        self,
        view: View,
        chains: Sequence[Sequence[int]],
        pieces: Sequence[Piece],
        inner: InnerPorts,
        place: Mapping[int, int],
        upright: bool,
    ) -> None:
        self.view, self.chains, self.inner, self.place = view, chains, inner, place
        self.axis = 0 if upright else 1
        self.widths = [(piece.width, piece.height)[self.axis] for piece in pieces]
        self.uses = Counter(chain[0] for chain in chains)

    def room_to_neighbour(self, wire: int, main_wire: int, side: int) -> int:
        """Return the distance at which a line from the box next to the main path passes the side of the box that both
        enter; 0 if it does not run straight there."""
        skeleton, chain, main = self.view.skeleton, self.chains[wire], self.chains[main_wire]
        line = self.view.line_of_wire(wire)
        plain = not skeleton.wires[wire].turned and line.kind != "reference" and not line.training
        source, before = chain[0], main[-2]
        alone = source < skeleton.children and self.uses[source] == 1 and source not in self.inner.gates
        if not (plain and alone) or len(chain) > 2 or skeleton.falling:
            return 0
        if self.place[source] - self.place[before] != side:
            return 0
        reach = self.half_width(main_wire, before, side) + SIBLINGS_PX + self.widths[source] // 2
        room = reach - self.widths[chain[-1]] // 2
        return room if room >= SIDE_ROOM_PX else 0

    def half_width(self, wire: int, item: int, side: int) -> int:
        """Return the width of an item on one side of the line that leaves it."""
        if item >= self.view.skeleton.children:
            return 0
        end = 1 if self.view.skeleton.wires[wire].turned else 0
        port = port_at_end(self.view, wire, end, self.inner.gates)
        if port is None:
            return self.widths[item] // 2
        across = self.inner.ports[item][port][self.axis]
        return across if side < 0 else self.widths[item] - across


def _foot_entries(
    skeleton: Skeleton, chains: Sequence[Sequence[int]], pieces: Sequence[Piece], gates: Gates, upright: bool
) -> dict[int, int]:
    """Return, by end, the sides on which two lines leave the closed box that joins the legs of a U, if it is the only
    box on its rank."""
    falling = set(skeleton.falling)
    leaving: dict[int, list[int]] = {}
    for wire, chain in enumerate(chains) if falling else ():
        leaving.setdefault(chain[0], []).append(wire)
    entries: dict[int, int] = {}
    for row in [row for part in skeleton.parts for row in part] if falling else ():
        boxes = [item for item in row if item < skeleton.children]
        if len(boxes) != 1 or boxes[0] in falling or boxes[0] in gates:
            continue
        wires = leaving.get(boxes[0], [])
        down = [wire for wire in wires if chains[wire][-1] in falling]
        if len(wires) == 2 and len(down) == 1 and all(_is_side_free(pieces[boxes[0]], s, upright) for s in (-1, 1)):
            for wire in wires:
                entries[2 * wire] = -1 if wire in down else 1
    return entries


def _lines_by_end(
    skeleton: Skeleton, chains: Sequence[Sequence[int]], place: Mapping[int, int], gates: Gates
) -> list[tuple[int, int, list[list[int]]]]:
    """Return each end (0: lines leave, 1: lines arrive) of a closed box with two lines or more, with these lines from
    left to right; lines that run as one are grouped."""
    ends: dict[tuple[int, int], dict[tuple[int, int], list[int]]] = {}
    capped = capped_wires(skeleton)
    for wire, chain in enumerate(chains):
        if wire in capped:
            continue
        for end, item, other in ((0, chain[0], chain[1]), (1, chain[-1], chain[-2])):
            if item < skeleton.children and item not in gates:
                trunk = -1 if other >= skeleton.children else wire
                ends.setdefault((end, item), {}).setdefault((place[other], trunk), []).append(wire)
    return [(end, item, [found[key] for key in sorted(found)]) for (end, item), found in ends.items() if len(found) > 1]


def _may_turn(view: View, wire: int, chain: Sequence[int], end: int) -> bool:
    """Return whether a line may end on a side or part from the main path: it runs along the flow, and passes a rank or
    comes from a port."""
    skeleton = view.skeleton
    if skeleton.wires[wire].turned or view.line_of_wire(wire).kind == "reference":
        return False
    return chain[-2] >= skeleton.children if end else len(chain) > 2


def _is_side_free(piece: Piece, side: int, upright: bool) -> bool:
    """Return whether nothing is drawn next to a side of a box."""
    start, wide, whole = (piece.x, piece.box[0], piece.width) if upright else (piece.y, piece.box[1], piece.height)
    return start == 0 if side < 0 else start + wide == whole


def _says_the_same(view: View, wire: int, other: int) -> bool:
    """Return whether two lines from one box have the same kind and label."""
    lines = view.words.lines
    return view.line_of_wire(wire).kind == view.line_of_wire(other).kind and lines[wire].label == lines[other].label


def shift_to_boxes(level: LevelLayout, turns: SideEntries) -> LevelLayout:
    """Return a level with the positions of the boxes in place of those of their widened slots."""
    return LevelLayout(
        tuple([(x + turns.shift(box), y) for box, (x, y) in enumerate(level.positions)]),
        level.ports,
        level.routes,
        level.width,
        level.height,
        level.rules,
    )


def side_point(piece: Piece, corner: Point, point: Point, upright: bool) -> list[Point]:
    """Return the last two points of a line that passes the box in a slot at `point`: beside the middle of the box's
    side, and on that side."""
    left, top = corner[0] + piece.x, corner[1] + piece.y + piece.behind[1]
    right, bottom = left + piece.box[0] - piece.behind[0], corner[1] + piece.y + piece.box[1]
    if upright:
        middle = (top + bottom) // 2
        return [(point[0], middle), (left if point[0] < left else right, middle)]
    middle = (left + right) // 2
    return [(middle, point[1]), (middle, top if point[1] < top else bottom)]


def part_late(skeleton: Skeleton, routes: Mapping[int, Sequence[Point]]) -> dict[int, tuple[Point, ...]]:
    """Return the lines that leave the main path with a step aside and then turn to the same side, changed to leave it
    at the turn.

    ▲  ╭──         ▲
    │  │           │
    ●──╯      now  ●─────
    """
    late: dict[int, tuple[Point, ...]] = {}
    if len(routes) > MAX_COMPARED_ROUTES:
        return late
    leaders = {skeleton.wires[wire].chain[0]: routes[wire] for wire in skeleton.main_path if wire in routes}
    for wire, points in routes.items():
        main = leaders.get(skeleton.wires[wire].chain[0], points)
        if main is points or len(points) < 5 or points[0] != main[0] or skeleton.wires[wire].turned:
            continue
        start, step, aside, turn, after = points[:5]
        way = _direction(main[0], main[1])
        same = _direction(start, step) == way and _direction(aside, turn) == way
        corner = (start[0], turn[1]) if start[0] == step[0] else (turn[0], start[1])
        if (
            not same
            or _direction(step, aside) != _direction(turn, after)
            or _length(start, corner) >= _length(main[0], main[1])
        ):
            continue
        others = {other: line for other, line in routes.items() if other != wire}
        if not count_crossings([corner, turn], others):
            late[wire] = (start, corner, *points[4:])
    return late


def find_partings(skeleton: Skeleton, routes: Mapping[int, Sequence[Point]]) -> dict[int, Point]:
    """Return the points where wires part from the main path, or the first wire, that begins together with them."""
    main = set(skeleton.main_path)
    starts: dict[tuple[int, Point], list[int]] = {}
    for wire, points in routes.items():
        if not skeleton.wires[wire].turned and len(points) > 1:
            starts.setdefault((skeleton.wires[wire].chain[0], points[0]), []).append(wire)
    partings: dict[int, Point] = {}
    for wires in starts.values():
        leader = next((wire for wire in wires if wire in main), wires[0])
        for wire in wires:
            point = _parting_point(routes[wire], routes[leader]) if wire != leader else None
            if point is not None:
                partings[wire] = point
    return partings


def _parting_point(line: Sequence[Point], main: Sequence[Point]) -> Point | None:
    """Return the point where a line leaves another line that begins with it; None if only their start is common.

    >>> _parting_point([(5, 90), (5, 70), (40, 70), (40, 20)], [(5, 90), (5, 20)])
    (5, 70)
    >>> _parting_point([(5, 90), (40, 90)], [(5, 90), (5, 20)]) is None
    True
    """
    if line[0] != main[0]:
        return None
    for (start, end), (other, goal) in zip(pairwise(line), pairwise(main), strict=False):
        if start != other:
            return None
        if end == goal:
            continue
        if _direction(start, end) != _direction(start, goal):
            return None if start == line[0] else start
        first, second = _length(start, end), _length(start, goal)
        return end if first < second else goal
    return None


def _direction(start: Point, end: Point) -> tuple[int, int]:
    """Return the direction of a run along an axis."""
    across, along = end[0] - start[0], end[1] - start[1]
    return (across > 0) - (across < 0), (along > 0) - (along < 0)


def _length(start: Point, end: Point) -> int:
    return abs(end[0] - start[0]) + abs(end[1] - start[1])
