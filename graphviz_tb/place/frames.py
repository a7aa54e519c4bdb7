"""One open group: its level between a title bar and a border, its ports on the border, its auxiliary area
beside.

pieces ─ lines ─ level ─ turn ─ auxiliary area ─ title ─ border ─ labels
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphviz_tb.model.level import Gaps, Level, Stroke
from graphviz_tb.model.metagraph import Annotation
from graphviz_tb.model.scene import Direction, Point, Rule, Text
from graphviz_tb.model.thickness import thickness
from graphviz_tb.model.view import Face, View
from graphviz_tb.options import PictureOptions
from graphviz_tb.place import labels
from graphviz_tb.place.auxiliary import Area, Thing, beside_core
from graphviz_tb.place.coordinates import coordinates
from graphviz_tb.place.labels import Line
from graphviz_tb.place.pieces import Piece, framed, piece
from graphviz_tb.place.sizes import moved
from graphviz_tb.place.spots import ROOM, Rect, overhang, spots
from graphviz_tb.place.titles import BAR, NO_TITLE, Title, title
from graphviz_tb.place.touch import Gate, Gates, anchors, border, gate_of
from graphviz_tb.place.turn import Turn, across_along, top_side, vertical

AROUND = 12
GAPS = Gaps()

Slot = tuple[Piece, Point]
Outside = Mapping[tuple[int, bool], str]  # what the level outside says of the edges to a neighbour, by row and inbound


@dataclass(frozen=True, slots=True)
class Frame:
    """An open group at its own origin.

    `slots` are its children with the corner of their slot (None: not shown); `ports` where each port of the
    skeleton lies on the border, `gates` the port of each neighbour; `routes` the polylines of the wires that are
    drawn; `labels` the middle of each label; `lines` what the wires stand for.
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
    rules: tuple[Rule, ...] = ()


def frame(
    view: View, face: Face | None, below: Mapping[int, Frame], outside: Outside, options: PictureOptions
) -> Frame:
    """Before: `below` are the frames of its open children by position, `face` its own face (None for the
    root).

    After: nothing in the frame overlaps, and every line ends at the border of a box or of the frame.
    """
    direction = options.direction
    pieces = children(view, below, options)
    lines = drawn(view)
    told = label_sizes(view, lines, outside)
    level = laid_out(view, pieces, below, lines, told, direction)
    turn = Turn(direction, level.width, level.height)
    turned = {wire: [turn.point(point) for point in level.routes[wire]] for wire in lines}
    left, right = overhang(turned, told, turn.size[0])
    core = (turn.size[0] + left + right, turn.size[1])
    area = beside_core(core, _blocks(view, pieces, turn.vertical), turn.vertical)
    bar = _title(view, face, level, area, left, direction)
    aside_at = (AROUND + bar.shift, BAR + AROUND) if face else (0, 0)
    shift = (aside_at[0] + left, aside_at[1])
    size = (bar.width, area.height + BAR + 2 * AROUND) if face else (area.width, area.height)
    slots = _slots(view, pieces, level, turn, area, shift, aside_at)
    ports = [
        _port(slot.first, _add(turn.point((x, 0)), shift), size, direction)
        for slot, x in zip(view.skeleton.ports, level.ports, strict=True)
    ]
    routes = {
        wire: _reach(view, wire, [_add(point, shift) for point in points], slots, ports, turn)
        for wire, points in turned.items()
    }
    texts = (*bar.texts, *(moved(text, *aside_at) for text in area.texts))
    return Frame(
        *size,
        slots,
        tuple(ports),
        gates(view),
        routes,
        spots(routes, told, _taken(slots, texts), (1, 1, size[0] - 1, size[1] - 1)),
        lines,
        texts,
        tuple(Rule(*_add((r.x1, r.y1), aside_at), *_add((r.x2, r.y2), aside_at)) for r in area.rules),
    )


def _size(one: Piece) -> tuple[int, int]:
    return one.width, one.height


def _add(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def children(view: View, below: Mapping[int, Frame], options: PictureOptions) -> list[Piece]:
    """The piece of every child, then of every function."""
    notes: dict[int, list[tuple[int, Annotation]]] = {}
    for index, annotation in enumerate(view.metagraph.annotations):
        notes.setdefault(annotation.child, []).append((index, annotation))
    loops = dict(view.metagraph.loops)
    upright, most = vertical(options.direction), options.max_annotations
    return [
        framed((below[position].width, below[position].height))
        if position in below
        else piece(face, notes.get(position, ()), view.names, view.labels, most, position in loops, upright)
        for position, face in enumerate((*view.faces, *view.functions))
    ]


def aside(view: View) -> list[tuple[str, list[list[int]]]]:
    """What stands beside the main area: headings, and under each its columns of positions."""
    mask, count = view.metagraph.mask, len(view.metagraph.children)
    blocks = [
        ("Auxiliary", [list(mask.in_extract), list(mask.out_extract)]),
        ("Functions", [list(range(count, count + len(view.functions)))]),
    ]
    return [(heading, columns) for heading, columns in blocks if any(columns)]


def _blocks(view: View, pieces: Sequence[Piece], upright: bool) -> list[tuple[str, list[list[Thing]]]]:
    """The same with the extent of each piece for its position."""
    return [
        (heading, [[_thing(pieces[at], upright) for at in column] for column in columns])
        for heading, columns in aside(view)
    ]


def _thing(one: Piece, upright: bool) -> Thing:
    """Width, height, and the middle of the box across the column."""
    return one.width, one.height, one.x + one.box[0] // 2 if upright else one.y + one.box[1] // 2


def drawn(view: View) -> dict[int, Line]:
    """The wires that are drawn, each with the metaedge or bridge it stands for."""
    metagraph = view.metagraph
    away = metagraph.mask.extracted
    found: dict[int, Line] = {}
    for index, wire in enumerate(view.skeleton.wires):
        if {wire.chain[0], wire.chain[-1]} & away:
            continue
        if wire.edge >= 0 and wire.edge not in metagraph.mask.stubbed:
            found[index] = metagraph.edges[wire.edge]
        elif wire.bridge >= 0 and metagraph.bridges[wire.bridge].drawable:
            found[index] = metagraph.bridges[wire.bridge]
    return found


def label_sizes(view: View, lines: Mapping[int, Line], outside: Outside) -> dict[int, tuple[int, int]]:
    """Width and height of the label of each wire that has one. What the level outside says is not said
    again."""
    told = {}
    for wire, line in lines.items():
        text, wide = labels.shown(line)
        bridge = view.skeleton.wires[wire].bridge
        if bridge >= 0:
            one = view.metagraph.bridges[bridge]
            if outside.get((one.other, one.inbound)) == text:
                continue
        if text:
            told[wire] = (wide, labels.LABEL_HEIGHT)
    return told


def laid_out(
    view: View,
    pieces: Sequence[Piece],
    below: Mapping[int, Frame],
    lines: Mapping[int, Line],
    told: Mapping[int, tuple[int, int]],
    direction: Direction,
) -> Level:
    """The level with coordinates, its flow running down."""
    main = set(view.metagraph.core())
    count = len(view.metagraph.children)
    sizes = [across_along(direction, _size(pieces[i])) if i in main else (0, 0) for i in range(count)]
    inner = {position: made.gates for position, made in below.items()}
    met = {position: made.ports for position, made in below.items()}
    fixed = anchors(view, pieces, inner, met, direction, GAPS)
    strokes = {
        wire: Stroke(thickness(line), tip(view, wire, line, inner), across_along(direction, told.get(wire, (0, 0))))
        for wire, line in lines.items()
    }
    longest = max((stroke.label[1] for stroke in strokes.values()), default=0)
    gaps = replace(GAPS, labelled=max(GAPS.labelled, longest + 2 * ROOM))
    return coordinates(view.skeleton, sizes, gaps, anchors=fixed, strokes=strokes)


def tip(view: View, wire: int, line: Line, inner: Gates) -> int:
    """The end of a wire with its arrow head: that of a reference edge is at its source; -1 where the line goes on in
    an open child or outside."""
    end = 0 if line.kind == "reference" else 1
    item = view.skeleton.wires[wire].chain[-1 if end else 0]
    return -1 if item >= view.skeleton.children or gate_of(view, wire, end, inner) is not None else end


def gates(view: View) -> dict[Gate, int]:
    """The port at which each neighbour outside is met."""
    return {(*other, slot.first): port for port, slot in enumerate(view.skeleton.ports) for other in slot.others}


def _slots(
    view: View,
    pieces: Sequence[Piece],
    level: Level,
    turn: Turn,
    area: Area,
    shift: Point,
    aside_at: Point,
) -> tuple[Slot | None, ...]:
    """Each child's piece with the corner of its slot."""
    slots: list[Slot | None] = [None] * len(pieces)
    for position in view.metagraph.core():
        one = pieces[position]
        slots[position] = (one, _add(turn.corner(level.positions[position], _size(one)), shift))
    listed = [position for _, columns in aside(view) for column in columns for position in column]
    for position, corner in zip(listed, area.places, strict=True):
        slots[position] = (pieces[position], _add(corner, aside_at))
    return tuple(slots)


def _port(first: bool, point: Point, size: tuple[int, int], direction: Direction) -> Point:
    """A port's place on the border."""
    if vertical(direction):
        return point[0], size[1] if first is (direction == "BT") else 0
    return size[0] if first is (direction == "RL") else 0, point[1]


def _title(view: View, face: Face | None, level: Level, area: Area, left: int, direction: Direction) -> Title:
    """The title bar, with the width that the frame takes."""
    if face is None:
        return NO_TITLE
    side = top_side(direction)
    ports = zip(view.skeleton.ports, level.ports, strict=True)
    return title(face, [AROUND + left + x for slot, x in ports if slot.first is side], area.width + 2 * AROUND)


def _reach(
    view: View,
    wire: int,
    points: list[Point],
    slots: Sequence[Slot | None],
    ports: Sequence[Point],
    turn: Turn,
) -> list[Point]:
    """The polyline of a wire, drawn on from the edge of the level to the border, and from the slot to its
    box."""
    chain, count = view.skeleton.wires[wire].chain, view.skeleton.children
    for at, end in ((0, chain[0]), (-1, chain[-1])):
        if end >= count:
            goal = ports[end - count]
        else:
            slot = slots[end]
            assert slot is not None
            goal = border(*slot, points[at], turn.vertical)
        if goal != points[at]:
            points.insert(0, goal) if at == 0 else points.append(goal)
    return points


def _taken(slots: Sequence[Slot | None], texts: Sequence[Text]) -> list[Rect]:
    """What labels keep clear of: the slots of children, and the title."""
    found = [(at[0], at[1], at[0] + one.width, at[1] + one.height) for one, at in filter(None, slots)]
    return found + [(text.x, text.y - text.size, text.x + text.width, text.y + 3) for text in texts]
