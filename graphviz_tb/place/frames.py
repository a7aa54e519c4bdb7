"""Lay out one open group: its level between a title bar and a border, its ports on the border, its auxiliary area in a
free corner.

level on the screen ─ auxiliary area ─ title ─ border
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import SMALL_FONT_PX, text_width
from graphviz_tb.model.metagraph import MetagraphLine
from graphviz_tb.model.scene import Direction, LineIdentity, Point, Separator, Text
from graphviz_tb.model.view import View
from graphviz_tb.place.attachment import Gate, port_gates
from graphviz_tb.place.auxiliary import AuxiliaryArea, AxisExtent, place_blocks
from graphviz_tb.place.core import (
    CoreDrawing,
    InnerPorts,
    OutsideLabels,
    Slot,
    child_pieces,
    draw_core,
    line_label_sizes,
)
from graphviz_tb.place.groups import Heading
from graphviz_tb.place.identity import StubIdentities
from graphviz_tb.place.label_places import LineLabel
from graphviz_tb.place.loose import loose_boxes
from graphviz_tb.place.pieces import Piece, sheet_margins
from graphviz_tb.place.sizes import move_text
from graphviz_tb.place.titles import NO_TITLE_BAR, TITLE_BAR_HEIGHT, TitleBar, lay_out_title
from graphviz_tb.place.turn import is_vertical, upper_flow_side

FRAME_PADDING = 12  # px between a frame and its content
NOTE_LINE_HEIGHT = 14  # px from one note to the next


@dataclass(frozen=True, slots=True)
class GroupLayout:
    """An open group at its own origin.

    `slots`: its children with the corner of their slot (None: not shown). `ports`: the place of each port of the
    skeleton on the border; `gates`: the port of each neighbour. `routes`: the polylines of the drawn wires. `labels`:
    the middle of each label. `lines`: the edges that each wire represents.
    """

    width: int
    height: int
    slots: tuple[Slot | None, ...]
    ports: tuple[Point, ...] = ()
    gates: Mapping[Gate, int] = field(default_factory=dict)
    routes: Mapping[int, Sequence[Point]] = field(default_factory=dict)
    labels: Mapping[int, Point] = field(default_factory=dict)
    lines: Mapping[int, MetagraphLine] = field(default_factory=dict)
    texts: tuple[Text, ...] = ()
    rules: tuple[Separator, ...] = ()


def lay_out_frame(
    view: View, heading: Heading | None, below: Mapping[int, GroupLayout], outside: OutsideLabels, direction: Direction
) -> GroupLayout:
    """Lay out an open group. Nothing in the frame overlaps, and every line ends at the border of a box or of the frame.

    `below` are the frames of its open children by position, `heading` the texts of its title bar (None for the root).
    """
    sizes = {position: (made.width, made.height) for position, made in below.items()}
    pieces = child_pieces(view, sizes, direction)
    lines = view.drawn_lines()
    said = line_label_sizes(view, lines, outside)
    inner = InnerPorts(
        {position: made.gates for position, made in below.items()},
        {position: made.ports for position, made in below.items()},
    )
    # Each step needs the previous ones: the area the drawing, the title the width of both, ports the whole size.
    core = draw_core(view, pieces, lines, said, inner, direction)
    area = auxiliary_area(view, core, said, pieces, direction)
    bar = frame_title(view, heading, core, area, direction)
    # The picture itself has neither title bar nor border.
    shift = (FRAME_PADDING + bar.shift, TITLE_BAR_HEIGHT + FRAME_PADDING) if heading else (0, 0)
    size = (bar.width, area.height + TITLE_BAR_HEIGHT + 2 * FRAME_PADDING) if heading else (area.width, area.height)
    right, top = sheet_margins(heading[0]) if heading else (0, 0)
    shift = (shift[0], shift[1] + top)
    size = (size[0] + right, size[1] + top)
    ports = tuple(
        border_port(slot.first, shifted_point(corner, shift), (size[0] - right, size[1]), top, direction)
        for slot, corner in zip(view.skeleton.ports, core.ports, strict=True)
    )
    return GroupLayout(
        *size,
        child_slots(view, pieces, core, area, shift),
        ports,
        port_gates(view),
        {wire: extend_to_ports(view, wire, points, ports, shift) for wire, points in core.routes.items()},
        {wire: shifted_point(middle, shift) for wire, middle in core.labels.items()},
        lines,
        (*(move_text(text, 0, top) for text in bar.texts), *(move_text(text, *shift) for text in area.texts)),
        tuple(Separator(*shifted_point((r.x1, r.y1), shift), *shifted_point((r.x2, r.y2), shift)) for r in area.rules),
    )


def auxiliary_area(
    view: View, core: CoreDrawing, said: Mapping[int, LineLabel], pieces: Sequence[Piece], direction: Direction
) -> AuxiliaryArea:
    """Place the auxiliary area next to the drawing of a level, if there is one."""
    size, things, notes = (core.width, core.height), block_extents(view, pieces), note_lines(view)
    if not things and not notes:
        return AuxiliaryArea((), (), (), *size)
    return place_blocks(size, core.skyline(said, is_vertical(direction)), things, notes)


def shifted_point(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def side_blocks(view: View) -> list[tuple[str, list[list[int]]]]:
    """Return the blocks next to the drawing: boxes without lines, and boxes outside of the main area. Each has a
    heading and columns of positions."""
    mask, count = view.metagraph.mask, len(view.metagraph.children)
    blocks = [
        ("", [loose_boxes(view.skeleton)]),
        ("Auxiliary", [list(mask.in_extract), list(mask.out_extract)]),
        ("Functions", [list(range(count, count + len(view.functions)))]),
    ]
    return [(heading, columns) for heading, columns in blocks if any(columns)]


def block_extents(view: View, pieces: Sequence[Piece]) -> list[tuple[str, list[list[AxisExtent]]]]:
    """Return the blocks of `side_blocks` with the extent of each piece in place of its position."""
    return [
        (heading, [[axis_extent(pieces[child]) for child in column] for column in columns])
        for heading, columns in side_blocks(view)
    ]


def axis_extent(piece: Piece) -> AxisExtent:
    """Return width, height, and the middle of the box across the column."""
    return piece.width, piece.height, piece.x + piece.box[0] // 2


def note_lines(view: View) -> list[Text]:
    """Return the notes as lines of text, one below the other."""
    identities = note_identities(view)
    return [
        Text(
            0,
            NOTE_LINE_HEIGHT * number + 10,
            note.content,
            note.full,
            SMALL_FONT_PX,
            text_width(note.content, SMALL_FONT_PX),
            "note",
            "start",
            identities=tuple(identities[index] for index in note.annotations),
        )
        for number, note in enumerate(view.words.notes)
    ]


def note_identities(view: View) -> dict[int, LineIdentity]:
    """Return the identities of the annotations in notes."""
    undrawn, annotations = StubIdentities(view), view.metagraph.annotations
    indices = [index for note in view.words.notes for index in note.annotations]
    # Child by child, as `StubIdentities` caches them: a note has one stub of each of many boxes.
    return {
        index: undrawn.annotation_identity(index)
        for index in sorted(indices, key=lambda index: (annotations[index].child, index))
    }


def frame_title(
    view: View, heading: Heading | None, core: CoreDrawing, area: AuxiliaryArea, direction: Direction
) -> TitleBar:
    """Return the title bar, with the width of the frame."""
    if heading is None:
        return NO_TITLE_BAR
    side = upper_flow_side(direction)
    ports = zip(view.skeleton.ports, core.ports, strict=True)
    return lay_out_title(
        *heading, [FRAME_PADDING + x for slot, (x, _) in ports if slot.first is side], area.width + 2 * FRAME_PADDING
    )


def child_slots(
    view: View, pieces: Sequence[Piece], core: CoreDrawing, area: AuxiliaryArea, shift: Point
) -> tuple[Slot | None, ...]:
    """Return each child's piece with the corner of its slot, in the main and in the auxiliary area."""
    slots: list[Slot | None] = [None] * len(pieces)
    for position, (piece, corner) in core.slots.items():
        slots[position] = (piece, shifted_point(corner, shift))
    # The order of `area.places`.
    listed = [position for _, columns in side_blocks(view) for column in columns for position in column]
    for position, corner in zip(listed, area.places, strict=True):
        slots[position] = (pieces[position], shifted_point(corner, shift))
    return tuple(slots)


def border_port(first: bool, point: Point, size: tuple[int, int], top: int, direction: Direction) -> Point:
    """Return a port's place on the border, which begins at `top`."""
    if is_vertical(direction):
        return point[0], size[1] if first is (direction == "BT") else top  # BT: the flow begins at the foot
    return size[0] if first is (direction == "RL") else 0, point[1]


def extend_to_ports(
    view: View, wire: int, points: Sequence[Point], ports: Sequence[Point], shift: Point
) -> list[Point]:
    """Extend the polyline of a wire to the ports on the frame's border."""
    line = [shifted_point(point, shift) for point in points]
    chain, count = view.skeleton.wires[wire].chain, view.skeleton.children
    if chain[0] >= count and ports[chain[0] - count] != line[0]:
        line.insert(0, ports[chain[0] - count])
    if chain[-1] >= count and ports[chain[-1] - count] != line[-1]:
        line.append(ports[chain[-1] - count])
    return line
