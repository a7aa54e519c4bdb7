"""Choose where lines touch the children of a level: at the ports of open children, or spread over the box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from math import isqrt

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Direction, Point
from graphviz_tb.model.skeleton import LevelGaps, Skeleton, Wire, capped_wires
from graphviz_tb.model.view import View
from graphviz_tb.place.boxes import Piece
from graphviz_tb.place.orientation import flow_size, is_vertical

CORNER_MARGIN = 8  # px from a corner to the nearest line, if there is room
MIN_LINES_TO_JOIN = 4  # fewer lines of one kind to a box off the main path stay apart
NO_ENDS: frozenset[int] = frozenset()
MIN_LINE_DISTANCE = 8  # px between two lines at a side, so that the main path may take its middle


@dataclass(frozen=True, slots=True)
class LineEnds:
    """Where lines touch the children of a level, in pixels from the left edge of each.

    - `anchors[wire, 0 or 1]`: where a wire touches the child that is its source (0) or target (1).
    - `sides`: by child, the range in which a wire may touch it instead, to be straight; (0, 0) if nowhere else.
    - `entries`: by end (twice the wire, plus 1 for its lower end), the left (-1) or right (1) side of the item that the
      wire touches.
    """

    anchors: Mapping[tuple[int, int], int]
    sides: Sequence[tuple[int, int]]
    entries: Mapping[int, int]


def downward_chains(skeleton: Skeleton) -> list[tuple[int, ...]]:
    """Return the chain of each wire from its upper end to its lower end."""
    return [wire.chain[::-1] if wire.turned else wire.chain for wire in skeleton.wires]


def attach_lines(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    sizes: Sequence[tuple[int, int]],
    gaps: LevelGaps,
    buses: Sequence[int] = (),
    absent: Set[int] = NO_ENDS,
) -> list[tuple[int, int]]:
    """Return for each wire where it touches its upper and its lower item, in pixels from the left edge.

    `chains` run downward. Lines at a side of a box have the order of the items to which they lead, so that none cross
    needlessly; lines to a shared waypoint touch at one place; the main path has the middle; adjacent lines that arrive
    with equal `buses` (by wire; -1 never joins) share an arrow. The ends `absent` (twice the wire, plus 1 for its lower
    end) take no room.
    """
    place = {item: number for part in skeleton.parts for row in part for number, item in enumerate(row)}
    main = set(skeleton.main_path)
    sides: dict[tuple[int, int], dict[tuple[int, int], list[int]]] = {}
    capped = capped_wires(skeleton)
    for wire, chain in enumerate(chains):
        for end, item, other in ((0, chain[0], chain[1]), (1, chain[-1], chain[-2])):
            if item < skeleton.children and 2 * wire + end not in absent:
                # Lines to one waypoint or port touch at one place; lines straight to a box do not.
                trunk = -1 if other >= skeleton.children else wire
                side = 0 if wire in capped else end
                sides.setdefault((item, side), {}).setdefault((place[other], trunk), []).append(wire)
    offsets = [[0, 0] for _ in chains]
    for (item, end), wires in sides.items():
        keys = sorted(wires)
        middle = next((number for number, key in enumerate(keys) if main.intersection(wires[key])), -1)
        # Only lines that arrive from above join.
        kinds = [buses[wires[key][0]] if buses and end else -1 for key in keys]
        slots = _shared_slots(kinds, middle)
        middle = slots[middle] if middle >= 0 else -1
        places = _side_places(sizes[item][0], slots[-1] + 1, gaps.spread, middle)
        for key, slot in zip(keys, slots, strict=True):
            for wire in wires[key]:
                offsets[wire][1 if chains[wire][-1] == item else 0] = places[slot]
    return [(upper, lower) for upper, lower in offsets]


def _shared_slots(kinds: Sequence[int], middle: int) -> list[int]:
    """Return the slot of each line at one side of a box, from left to right.

    Adjacent lines of one kind share a slot if they are on one side of the main path (at `middle`), or if there are
    many.

    >>> _shared_slots([0, 0, 0, 0], 2), _shared_slots([0, 0, 1], -1), _shared_slots([0, 0, 0, 0, 1, -1, -1], -1)
    ([0, 0, 1, 2], [0, 1, 2], [0, 0, 0, 0, 1, 2, 3])
    """
    join = middle >= 0 or len(kinds) >= MIN_LINES_TO_JOIN
    slots: list[int] = []
    for number, kind in enumerate(kinds):
        same = join and number and kind >= 0 and kind == kinds[number - 1] and middle != number and middle != number - 1
        slots.append(slots[-1] + (0 if same else 1) if number else 0)
    return slots


def _side_places(width: int, count: int, step: int, middle: int = -1) -> list[int]:
    """Return `count` places around the middle of a side, `step` apart, closer on a short side.

    Place number `middle` is on the exact middle, unless it is -1 or that leaves too little room.

    >>> _side_places(80, 3, 12)
    [28, 40, 52]
    >>> _side_places(32, 3, 12)
    [8, 16, 24]
    >>> _side_places(80, 3, 12, 0), _side_places(80, 4, 12, 1)
    ([40, 52, 64], [28, 40, 52, 64])
    """
    most = max(middle, count - 1 - middle)
    if middle >= 0 and most * MIN_LINE_DISTANCE <= width // 2 - CORNER_MARGIN:
        step = min(step, (width // 2 - CORNER_MARGIN) // most) if most else 0
        return [width // 2 + (place - middle) * step for place in range(count)]
    if count > 1:
        room = max(width - 2 * CORNER_MARGIN, width // 2, 0)  # a short side gives up its margins
        step = min(step, room // (count - 1))
    start = width // 2 - (count - 1) * step // 2
    return [start + place * step for place in range(count)]


Gate = tuple[int, bool, bool]  # row of the neighbour outside, inbound, on the first side
Gates = Mapping[int, Mapping[Gate, int]]  # by the position of an open child: the number of its port
FRAME_CORNER_INSET = 8  # px from the corner of a frame to the nearest line


def line_anchors(
    view: View,
    pieces: Sequence[Piece],
    gates: Gates,
    ports: Mapping[int, Sequence[Point]],
    direction: Direction,
    gaps: LevelGaps,
    absent: Set[int] = NO_ENDS,
) -> dict[tuple[int, int], int]:
    """Return for each wire and end (0 source, 1 target) at a child where it touches, in pixels from the edge of the
    child's slot.

    `ports` are the places of the ports of each open child, from its corner. Lines at a side have the order of their
    neighbours; a line that continues inside an open child ends at its port. The ends `absent` (twice the wire, plus 1
    for its lower end) take no room.
    """
    skeleton, upright = view.skeleton, is_vertical(direction)
    boxes = [flow_size(direction, piece.box) for piece in pieces[: skeleton.children]]
    touches = attach_lines(
        skeleton, downward_chains(skeleton), boxes, gaps, [_bus_number(view, wire) for wire in skeleton.wires], absent
    )
    anchors: dict[tuple[int, int], int] = {}
    sides: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    for index, wire in enumerate(skeleton.wires):
        # `attach_lines` returns upper and lower ends; here the keys are source and target.
        touch = touches[index][::-1] if wire.turned else touches[index]
        for end, child in enumerate((wire.chain[0], wire.chain[-1])):
            if child < skeleton.children:
                piece = pieces[child]
                anchors[index, end] = touch[end] + (piece.x if upright else piece.y)
                if child in gates:
                    sides.setdefault((child, _is_at_first_side(skeleton, wire, end)), []).append((index, end))
    for (child, _), ends in sides.items():
        # Lines to ports are fixed; the other lines of that side keep their order between them.
        end_ports = [port_at_end(view, index, end, gates) for index, end in ends]
        port_places = [None if gate is None else ports[child][gate][0 if upright else 1] for gate in end_ports]
        order = sorted(range(len(ends)), key=lambda number: (anchors[ends[number]], ends[number]))
        width = boxes[child][0]
        for number, x in zip(
            order, _fill_places([port_places[number] for number in order], width, gaps.spread), strict=True
        ):
            anchors[ends[number]] = x
    return anchors


def _bus_number(view: View, wire: Wire) -> int:
    """Return a number that is equal for lines that may join before the box at which they end; -1 for a line that may
    not, because its arrow is elsewhere."""
    line = view.metagraph.bridges[wire.bridge] if wire.bridge >= 0 else view.metagraph.edges[wire.edge]
    if wire.turned or line.kind == "reference":
        return -1
    return 1 if line.kind == "control" else 0


def _fill_places(ports: Sequence[int | None], width: int, step: int) -> list[int]:
    """Return places on the side of a frame for lines in order; `ports` has the places that are fixed.

    >>> _fill_places([None, 50, None, None, 90, None], 200, 12)
    [38, 50, 63, 76, 90, 102]
    >>> _fill_places([None, None], 100, 12)
    [44, 56]
    """
    if all(port is None for port in ports):
        start = width // 2 - (len(ports) - 1) * step // 2
        return [_clear_of_corners(start + number * step, width) for number in range(len(ports))]
    placed = [0 if port is None else port for port in ports]
    following, after = [-1] * len(ports), -1  # the next fixed place
    for number in range(len(ports) - 1, -1, -1):
        following[number] = after
        after = after if ports[number] is None else number
    before = -1
    for number in range(len(ports)):
        after = following[number]
        if ports[number] is not None:
            before = number
        elif before < 0:
            placed[number] = _clear_of_corners(placed[after] - (after - number) * step, width)
        elif after < 0:
            placed[number] = _clear_of_corners(placed[before] + (number - before) * step, width)
        else:
            gap = placed[after] - placed[before]
            placed[number] = placed[before] + gap * (number - before) // (after - before)
    return placed


def _clear_of_corners(x: int, width: int) -> int:
    """Return the place nearest to `x` that is clear of the corners."""
    return max(min(x, width - FRAME_CORNER_INSET), min(FRAME_CORNER_INSET, width // 2))


def _is_at_first_side(skeleton: Skeleton, wire: Wire, end: int) -> bool:
    """Return whether a wire touches the child at one end on the side where ranks begin."""
    falls = len(skeleton.falling) > 0 and wire.chain[-1 if end else 0] in skeleton.falling
    return bool(end) is not (wire.turned or falls)


def port_at_end(view: View, index: int, end: int, gates: Gates) -> int | None:
    """Return the port at which wire `index` continues inside the open child at one end; None if the child is closed or
    has no port for it."""
    wire = view.skeleton.wires[index]
    inner = gates.get(wire.chain[-1 if end else 0])
    if inner is None:
        return None
    if wire.bridge >= 0:
        other = view.metagraph.bridges[wire.bridge].other
    else:
        edge = view.metagraph.edges[wire.edge]
        other = view.metagraph.children[edge.source if end else edge.target]
    return inner.get((other, bool(end), _is_at_first_side(view.skeleton, wire, end)))  # row, inbound, side


def port_gates(view: View) -> dict[Gate, int]:
    """Return the number of the port of each neighbour outside."""
    return {(*other, slot.first): port for port, slot in enumerate(view.skeleton.ports) for other in slot.others}


def border_point(piece: Piece, corner: Point, point: Point, upright: bool) -> Point:
    """Return where a line that reaches the edge of a slot at `point` meets the box in the slot."""
    left, top = corner[0] + piece.x, corner[1] + piece.y
    right, bottom = left + piece.box[0] - piece.behind[0], top + piece.box[1]
    top += piece.behind[1]
    if upright:
        # Whether the point is nearer to the top of the slot than to its foot.
        high = abs(point[1] - corner[1]) <= abs(point[1] - corner[1] - piece.height)
        dent = _pill_inset(piece, min(point[0] - left, right - point[0]))
        return point[0], top + dent if high else bottom - dent
    near = abs(point[0] - corner[0]) <= abs(point[0] - corner[0] - piece.width)
    dent = _pill_inset(piece, min(point[1] - top, bottom - point[1]))
    return left + dent if near else right - dent, point[1]


def _pill_inset(piece: Piece, inset: int) -> int:
    """Return how far the round end of a pill recedes, `inset` from the corner of its rectangle.

    >>> pill = Piece(60, 24, 0, 0, (60, 24), pill=True)
    >>> _pill_inset(pill, 12), _pill_inset(pill, 4)
    (0, 4)
    """
    radius = min(12, piece.box[1] // 2)
    if not piece.pill or inset >= radius:
        return 0
    # The depth of a quarter circle at `inset` from the corner.
    return radius - isqrt(radius * radius - (radius - max(inset, 0)) ** 2)
