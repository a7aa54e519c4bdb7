"""Where lines touch the children of a level: at the ports of open ones, else spread over the box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt

from graphviz_tb.model.level import LevelGaps
from graphviz_tb.model.scene import Direction, Point
from graphviz_tb.model.skeleton import Wire
from graphviz_tb.model.view import View
from graphviz_tb.place.attach import attach_lines, downward_chains
from graphviz_tb.place.pieces import Piece
from graphviz_tb.place.turn import flow_size, is_vertical

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
) -> dict[tuple[int, int], int]:
    """Return for each wire and end (0 source, 1 target) at a child the distance in pixels from the edge of the child's
    slot.

    `ports` are the places of the ports of each open child, from its corner. On each side the order is that of the
    neighbours; a line that continues inside an open child ends at its port.
    """
    skeleton, upright = view.skeleton, is_vertical(direction)
    boxes = [flow_size(direction, piece.box) for piece in pieces[: skeleton.children]]
    spread = attach_lines(
        skeleton, downward_chains(skeleton), boxes, gaps, [bus_number(view, wire) for wire in skeleton.wires]
    )
    fixed: dict[tuple[int, int], int] = {}
    sides: dict[tuple[int, bool], list[tuple[int, int]]] = {}
    for index, wire in enumerate(skeleton.wires):
        # `attach_lines` knows upper and lower ends, a wire its source and target.
        touch = spread[index][::-1] if wire.turned else spread[index]
        for end, child in enumerate((wire.chain[0], wire.chain[-1])):
            if child < skeleton.children:
                piece = pieces[child]
                fixed[index, end] = touch[end] + (piece.x if upright else piece.y)
                if child in gates:
                    # True: the upper side.
                    sides.setdefault((child, bool(end) is not wire.turned), []).append((index, end))
    for (child, _), ends in sides.items():
        # Lines to ports are fixed; the others of that side keep their order between them.
        met = [port_at_end(view, index, end, gates) for index, end in ends]
        across = [None if gate is None else ports[child][gate][0 if upright else 1] for gate in met]
        order = sorted(range(len(ends)), key=lambda number: (fixed[ends[number]], ends[number]))
        width = boxes[child][0]
        for number, x in zip(order, fill_places([across[number] for number in order], width, gaps.spread), strict=True):
            fixed[ends[number]] = x
    return fixed


def bus_number(view: View, wire: Wire) -> int:
    """Return a number that is equal for lines that may join before a box at which they end; -1 for a line that may not
    because its arrow is elsewhere."""
    line = view.metagraph.bridges[wire.bridge] if wire.bridge >= 0 else view.metagraph.edges[wire.edge]
    if wire.turned or line.kind == "reference":
        return -1
    return 1 if line.kind == "control" else 0


def fill_places(ports: Sequence[int | None], width: int, step: int) -> list[int]:
    """Return places on the side of a frame for lines in order, some of which are given.

    >>> fill_places([None, 50, None, None, 90, None], 200, 12)
    [38, 50, 63, 76, 90, 102]
    >>> fill_places([None, None], 100, 12)
    [44, 56]
    """
    if all(port is None for port in ports):
        start = width // 2 - (len(ports) - 1) * step // 2
        return [clear_of_corners(start + number * step, width) for number in range(len(ports))]
    placed = [0 if port is None else port for port in ports]
    following, after = [-1] * len(ports), -1  # the next given place
    for number in range(len(ports) - 1, -1, -1):
        following[number] = after
        after = after if ports[number] is None else number
    before = -1
    for number in range(len(ports)):
        after = following[number]
        if ports[number] is not None:
            before = number
        elif before < 0:
            placed[number] = clear_of_corners(placed[after] - (after - number) * step, width)
        elif after < 0:
            placed[number] = clear_of_corners(placed[before] + (number - before) * step, width)
        else:
            gap = placed[after] - placed[before]
            placed[number] = placed[before] + gap * (number - before) // (after - before)
    return placed


def clear_of_corners(x: int, width: int) -> int:
    """Keep a place clear of the corners."""
    return max(min(x, width - FRAME_CORNER_INSET), min(FRAME_CORNER_INSET, width // 2))


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
    return inner.get((other, bool(end), bool(end) is not wire.turned))  # row, inbound, on the first side


def port_gates(view: View) -> dict[Gate, int]:
    """Return the port of each neighbour outside."""
    return {(*other, slot.first): port for port, slot in enumerate(view.skeleton.ports) for other in slot.others}


def border_point(piece: Piece, corner: Point, point: Point, upright: bool) -> Point:
    """Return where a line that arrives straight at the edge of a slot at `point` meets the box in it."""
    left, top = corner[0] + piece.x, corner[1] + piece.y
    right, bottom = left + piece.box[0] - piece.behind[0], top + piece.box[1]
    top += piece.behind[1]
    if upright:
        # Whether the point is nearer to the top of the slot than to its foot.
        high = abs(point[1] - corner[1]) <= abs(point[1] - corner[1] - piece.height)
        dent = pill_inset(piece, min(point[0] - left, right - point[0]))
        return point[0], top + dent if high else bottom - dent
    near = abs(point[0] - corner[0]) <= abs(point[0] - corner[0] - piece.width)
    dent = pill_inset(piece, min(point[1] - top, bottom - point[1]))
    return left + dent if near else right - dent, point[1]


def pill_inset(piece: Piece, inset: int) -> int:
    """Return how far the round end of a pill recedes, `inset` from the corner of its rectangle.

    >>> pill = Piece(60, 24, 0, 0, (60, 24), pill=True)
    >>> pill_inset(pill, 12), pill_inset(pill, 4)
    (0, 4)
    """
    radius = min(12, piece.box[1] // 2)
    if not piece.pill or inset >= radius:
        return 0
    # The depth of a quarter circle at `inset` from the corner.
    return radius - isqrt(radius * radius - (radius - max(inset, 0)) ** 2)
