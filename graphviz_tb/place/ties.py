"""Ties: lines from a box to its neighbour in the same rank, from side to side.

                                            ┌────┐       ┌────┐
┌────┐       ┌────┐                         │open│       │    │
│    ├──────▶│    │    or, at open boxes,   └─┬──┘       └─▲──┘
└────┘       └────┘                           ╰────────────╯
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Direction, Point
from graphviz_tb.model.skeleton import LevelLayout, first_tie
from graphviz_tb.model.view import View
from graphviz_tb.place.attachment import Gates, border_point, port_at_end
from graphviz_tb.place.boxes import Piece
from graphviz_tb.place.feet import Foot
from graphviz_tb.place.labels import LineLabel
from graphviz_tb.place.orientation import FlowTurn, flow_size, is_vertical

MIN_TIE_PX = 40  # between a model and the box that writes its weights, or a box and an input beside it
TIE_LABEL_MARGIN_PX, SHORT_TIE_LABEL_MARGIN_PX = 24, 8  # at each end of a label: on the legs of a U, elsewhere
UNDERPASS_PX = 20  # from the boxes to a tie that runs beside their rank

Slot = tuple[Piece, Point]


@dataclass(frozen=True, slots=True)
class SidePort:
    """A place where the line `wire` of a frame may enter at the left (`side` -1) or right (1) border.

    The line runs straight from `place` to `end` on a box; `room` px above and below are for more lines. `saved_length`
    and `saved_bends` compare it with the line from the usual port, inside the frame.
    """

    wire: int
    side: int
    place: Point
    end: Point
    room: int
    saved_length: int
    saved_bends: int


@dataclass(frozen=True, slots=True)
class InnerPorts:
    """The ports of the open children, by position: the port of each neighbour, the place of each port, the side ports,
    and how far ports may move; and the feet of the frames that are not drawn."""

    gates: Gates
    ports: Mapping[int, Sequence[Point]]
    side_ports: Mapping[int, Mapping[int, SidePort]]
    slides: Mapping[int, Mapping[int, tuple[int, int]]]
    feet: Mapping[int, Foot]


@dataclass(frozen=True, slots=True)
class Tie:
    """A line between two adjacent boxes of a rank, `left` and `right`, with `room` px between them.

    With `depth` 0 it runs from side to side. Otherwise it runs `depth` px before their rank and touches them at `start`
    and `end`, from the edges of their slots.
    """

    left: int
    right: int
    room: int
    depth: int
    start: int
    end: int


def find_ties(
    view: View, pieces: Sequence[Piece], line_labels: Mapping[int, LineLabel], inner: InnerPorts, direction: Direction
) -> dict[int, Tie]:
    """Return the ties of a level by wire."""
    skeleton, upright = view.skeleton, is_vertical(direction)
    ties: dict[int, Tie] = {}
    widths = [flow_size(direction, piece.box)[0] for piece in pieces]
    rooms = {}
    for wire in range(first_tie(skeleton), len(skeleton.wires)):
        legs = _joins_legs(view, wire)
        # The legs of a U are at least as far apart as they are wide.
        rooms[wire] = max(widths[end] for end in skeleton.wires[wire].chain) if legs else MIN_TIE_PX
        if wire in line_labels and (legs or line_labels[wire].main):
            margin = TIE_LABEL_MARGIN_PX if legs else SHORT_TIE_LABEL_MARGIN_PX
            rooms[wire] = max(rooms[wire], flow_size(direction, line_labels[wire].size)[0] + 2 * margin)
    for wire, room in _aligned_rooms(view, rooms, widths).items():
        left, right = skeleton.wires[wire].chain
        start, end = (
            _touch(view, wire, 0, pieces[left], inner, upright),
            _touch(view, wire, 1, pieces[right], inner, upright),
        )
        straight = start < 0 and end < 0
        if start < 0:
            start = _flow_start(pieces[left], upright) + 3 * flow_size(direction, pieces[left].box)[0] // 4
        if end < 0:
            end = _flow_start(pieces[right], upright) + flow_size(direction, pieces[right].box)[0] // 4
        ties[wire] = Tie(left, right, room, 0 if straight else UNDERPASS_PX, start, end)
    return ties


def _joins_legs(view: View, wire: int) -> bool:
    """Return whether a tie joins the legs of a U."""
    return len(view.skeleton.falling) > 0 and not view.line_of_wire(wire).training


def _aligned_rooms(view: View, rooms: Mapping[int, int], widths: Sequence[int]) -> dict[int, int]:
    """Return the room between the boxes of each tie, such that the middles of the legs of a U have the same distance on
    all ranks."""
    halves = {wire: sum(widths[end] for end in view.skeleton.wires[wire].chain) // 2 for wire in rooms}
    legs = [wire for wire in rooms if _joins_legs(view, wire)]
    apart = max([rooms[wire] + halves[wire] for wire in legs], default=0)
    return {wire: apart - halves[wire] if wire in legs else room for wire, room in rooms.items()}


def _touch(view: View, wire: int, end: int, piece: Piece, inner: InnerPorts, upright: bool) -> int:
    """Return the place where a tie touches a box at the side of the first ranks; -1 if it ends at the side that faces
    the other box."""
    box = view.skeleton.wires[wire].chain[end]
    if box in inner.gates:
        port = port_at_end(view, wire, end, inner.gates)
        if port is not None:
            return inner.ports[box][port][0 if upright else 1]
    start, wide, whole = (piece.x, piece.box[0], piece.width) if upright else (piece.y, piece.box[1], piece.height)
    free = start == 0 if end else start + wide == whole
    return -1 if free else start + (wide // 4 if end else 3 * wide // 4)


def _flow_start(piece: Piece, upright: bool) -> int:
    """Return the distance of the flow side of a box from the edge of its slot."""
    return piece.x if upright else piece.y


def tied_sides(ties: Mapping[int, Tie]) -> set[int]:
    """Return the sides of boxes at which ties end (twice the box, plus 1 for its right side)."""
    return {2 * tie.left + 1 for tie in ties.values()} | {2 * tie.right for tie in ties.values()}


def tie_points(tie: Tie, slots: Mapping[int, Slot], level: LevelLayout, turn: FlowTurn) -> tuple[Point, ...]:
    """Return the polyline of a tie on the screen."""
    (start_x, start_y), (end_x, end_y) = level.positions[tie.left], level.positions[tie.right]
    (piece, corner), (other, goal) = slots[tie.left], slots[tie.right]
    upright = turn.runs_vertically
    if not tie.depth:
        middle = turn.to_screen((0, start_y + (piece.height if upright else piece.width) // 2))
        if upright:
            right = corner[0] + piece.x + piece.box[0] - piece.behind[0]
            return (right, middle[1]), (goal[0] + other.x, middle[1])
        foot = corner[1] + piece.y + piece.box[1]
        return (middle[0], foot), (middle[0], goal[1] + other.y + other.behind[1])
    across = min(start_y, end_y) - tie.depth
    ends = (start_x + tie.start, start_y), (end_x + tie.end, end_y)
    bends = [turn.to_screen((x, across)) for x, _ in ends]
    return (
        border_point(piece, corner, turn.to_screen(ends[0]), upright),
        *bends,
        border_point(other, goal, turn.to_screen(ends[1]), upright),
    )
