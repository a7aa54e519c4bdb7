"""Lay out one open group: its level between a title bar and a border, its ports on the border, its auxiliary area in a
free corner.

level on the screen ─ auxiliary area ─ title ─ border
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import SMALL_SIZE, width
from graphviz_tb.model.metagraph import Line
from graphviz_tb.model.scene import Direction, Identity, Point, Separator, Text
from graphviz_tb.model.view import View
from graphviz_tb.place.attachment import Gate, gates_of
from graphviz_tb.place.auxiliary import Area, Thing, beside_core
from graphviz_tb.place.core import Core, Inner, Outside, Slot, children, core_of, label_sizes
from graphviz_tb.place.groups import Heading
from graphviz_tb.place.identity import Undrawn
from graphviz_tb.place.label_places import LineLabel
from graphviz_tb.place.loose import loose
from graphviz_tb.place.pieces import Piece, behind
from graphviz_tb.place.sizes import moved
from graphviz_tb.place.titles import BAR, NO_TITLE, Title, title
from graphviz_tb.place.turn import top_side, vertical

AROUND = 12  # px between a frame and its content
NOTE_LINE = 14  # px from one note to the next


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
    lines: Mapping[int, Line] = field(default_factory=dict)
    texts: tuple[Text, ...] = ()
    rules: tuple[Separator, ...] = ()


def frame(
    view: View, heading: Heading | None, below: Mapping[int, GroupLayout], outside: Outside, direction: Direction
) -> GroupLayout:
    """Lay out an open group. Nothing in the frame overlaps, and every line ends at the border of a box or of the frame.

    `below` are the frames of its open children by position, `heading` the texts of its title bar (None for the root).
    """
    sizes = {position: (made.width, made.height) for position, made in below.items()}
    pieces = children(view, sizes, direction)
    lines = view.drawn()
    said = label_sizes(view, lines, outside)
    inner = Inner(
        {position: made.gates for position, made in below.items()},
        {position: made.ports for position, made in below.items()},
    )
    # Each step needs the previous ones: the area the drawing, the title the width of both, ports the whole size.
    core = core_of(view, pieces, lines, said, inner, direction)
    area = area_of(view, core, said, pieces, direction)
    bar = title_bar(view, heading, core, area, direction)
    # The picture itself has neither title bar nor border.
    shift = (AROUND + bar.shift, BAR + AROUND) if heading else (0, 0)
    size = (bar.width, area.height + BAR + 2 * AROUND) if heading else (area.width, area.height)
    right, top = behind(heading[0]) if heading else (0, 0)
    shift = (shift[0], shift[1] + top)
    size = (size[0] + right, size[1] + top)
    ports = tuple(
        _port(slot.first, _add(corner, shift), (size[0] - right, size[1]), top, direction)
        for slot, corner in zip(view.skeleton.ports, core.ports, strict=True)
    )
    return GroupLayout(
        *size,
        all_slots(view, pieces, core, area, shift),
        ports,
        gates_of(view),
        {wire: to_border(view, wire, points, ports, shift) for wire, points in core.routes.items()},
        {wire: _add(middle, shift) for wire, middle in core.labels.items()},
        lines,
        (*(moved(text, 0, top) for text in bar.texts), *(moved(text, *shift) for text in area.texts)),
        tuple(Separator(*_add((r.x1, r.y1), shift), *_add((r.x2, r.y2), shift)) for r in area.rules),
    )


def area_of(
    view: View, core: Core, said: Mapping[int, LineLabel], pieces: Sequence[Piece], direction: Direction
) -> Area:
    """Place the auxiliary area next to the drawing of a level, if there is one."""
    size, things, notes = (core.width, core.height), blocks(view, pieces), lines_of(view)
    if not things and not notes:
        return Area((), (), (), *size)
    return beside_core(size, core.skyline(said, vertical(direction)), things, notes)


def _add(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def aside(view: View) -> list[tuple[str, list[list[int]]]]:
    """Return the blocks next to the drawing: boxes without lines, and boxes outside of the main area. Each has a
    heading and columns of positions."""
    mask, count = view.metagraph.mask, len(view.metagraph.children)
    blocks = [
        ("", [loose(view.skeleton)]),
        ("Auxiliary", [list(mask.in_extract), list(mask.out_extract)]),
        ("Functions", [list(range(count, count + len(view.functions)))]),
    ]
    return [(heading, columns) for heading, columns in blocks if any(columns)]


def blocks(view: View, pieces: Sequence[Piece]) -> list[tuple[str, list[list[Thing]]]]:
    """Return the blocks of `aside` with the extent of each piece in place of its position."""
    return [
        (heading, [[_thing(pieces[child]) for child in column] for column in columns])
        for heading, columns in aside(view)
    ]


def _thing(piece: Piece) -> Thing:
    """Return width, height, and the middle of the box across the column."""
    return piece.width, piece.height, piece.x + piece.box[0] // 2


def lines_of(view: View) -> list[Text]:
    """Return the notes as lines of text, one below the other."""
    identities = noted(view)
    return [
        Text(
            0,
            NOTE_LINE * number + 10,
            note.content,
            note.full,
            SMALL_SIZE,
            width(note.content, SMALL_SIZE),
            "note",
            "start",
            identities=tuple(identities[index] for index in note.annotations),
        )
        for number, note in enumerate(view.words.notes)
    ]


def noted(view: View) -> dict[int, Identity]:
    """Return the identities of the annotations in notes."""
    undrawn, annotations = Undrawn(view), view.metagraph.annotations
    indices = [index for note in view.words.notes for index in note.annotations]
    # Child by child, as `Undrawn` caches them: a note has one stub of each of many boxes.
    return {
        index: undrawn.of_annotation(index)
        for index in sorted(indices, key=lambda index: (annotations[index].child, index))
    }


def title_bar(view: View, heading: Heading | None, core: Core, area: Area, direction: Direction) -> Title:
    """Return the title bar, with the width of the frame."""
    if heading is None:
        return NO_TITLE
    side = top_side(direction)
    ports = zip(view.skeleton.ports, core.ports, strict=True)
    return title(*heading, [AROUND + x for slot, (x, _) in ports if slot.first is side], area.width + 2 * AROUND)


def all_slots(view: View, pieces: Sequence[Piece], core: Core, area: Area, shift: Point) -> tuple[Slot | None, ...]:
    """Return each child's piece with the corner of its slot, in the main and in the auxiliary area."""
    slots: list[Slot | None] = [None] * len(pieces)
    for position, (piece, corner) in core.slots.items():
        slots[position] = (piece, _add(corner, shift))
    # The order of `area.places`.
    listed = [position for _, columns in aside(view) for column in columns for position in column]
    for position, corner in zip(listed, area.places, strict=True):
        slots[position] = (pieces[position], _add(corner, shift))
    return tuple(slots)


def _port(first: bool, point: Point, size: tuple[int, int], top: int, direction: Direction) -> Point:
    """Return a port's place on the border, which begins at `top`."""
    if vertical(direction):
        return point[0], size[1] if first is (direction == "BT") else top  # BT: the flow begins at the foot
    return size[0] if first is (direction == "RL") else 0, point[1]


def to_border(view: View, wire: int, points: Sequence[Point], ports: Sequence[Point], shift: Point) -> list[Point]:
    """Extend the polyline of a wire to the ports on the frame's border."""
    line = [_add(point, shift) for point in points]
    chain, count = view.skeleton.wires[wire].chain, view.skeleton.children
    if chain[0] >= count and ports[chain[0] - count] != line[0]:
        line.insert(0, ports[chain[0] - count])
    if chain[-1] >= count and ports[chain[-1] - count] != line[-1]:
        line.append(ports[chain[-1] - count])
    return line
