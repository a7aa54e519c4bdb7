"""One open group: its level between a title bar and a border, its ports on the border, its auxiliary area beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphviz_tb.model.level import Gaps, Level
from graphviz_tb.model.metagraph import Annotation
from graphviz_tb.model.scene import Direction, Point, Rule, Text
from graphviz_tb.model.view import Face, View
from graphviz_tb.options import PictureOptions
from graphviz_tb.place import labels
from graphviz_tb.place.attach import attach, downward
from graphviz_tb.place.auxiliary import Area, beside_core
from graphviz_tb.place.coordinates import coordinates
from graphviz_tb.place.labels import Line
from graphviz_tb.place.pieces import Piece, framed, piece
from graphviz_tb.place.sizes import moved
from graphviz_tb.place.titles import BAR, NO_TITLE, Title, title
from graphviz_tb.place.turn import Turn, across_along, top_side, vertical

AROUND = 12
GAPS = Gaps()

Gate = tuple[int, bool, bool]  # row of the neighbour outside, inbound, on the first side

Slot = tuple[Piece, Point]


@dataclass(frozen=True, slots=True)
class Frame:
    """An open group at its own origin.

    `slots` are its children with the corner of their slot (None: not shown); `ports` where each port of the skeleton
    lies on the border, `gates` the same by neighbour; `routes` the polylines of the wires that are drawn, still
    ending at the edge of the level; `labels` the middle of each label; `lines` what the wires stand for.
    """

    width: int
    height: int
    slots: tuple[Slot | None, ...]
    ports: tuple[Point, ...] = ()
    gates: Mapping[Gate, Point] = field(default_factory=dict)
    routes: Mapping[int, tuple[Point, ...]] = field(default_factory=dict)
    labels: Mapping[int, Point] = field(default_factory=dict)
    lines: Mapping[int, Line] = field(default_factory=dict)
    texts: tuple[Text, ...] = ()
    rules: tuple[Rule, ...] = ()


def frame(view: View, face: Face | None, below: Mapping[int, Frame], options: PictureOptions) -> Frame:
    """Before: `below` are the frames of its open children by position, `face` its own face (None for the root).

    After: nothing in the frame overlaps, and every line ends at the border of a slot or of the frame.
    """
    direction = options.direction
    pieces = children(view, below, options)
    lines = drawn(view)
    level = laid_out(view, pieces, below, lines, direction)
    turn = Turn(direction, level.width, level.height)
    aside = extracted(view)
    area = beside_core(
        turn.size,
        [(head, [[_size(pieces[i]) for i in one] for one in columns]) for head, columns in aside],
        turn.vertical,
    )
    bar = _title(view, face, level, area, direction)
    shift = (AROUND + bar.shift, BAR + AROUND) if face else (0, 0)
    size = (bar.width, area.height + BAR + 2 * AROUND) if face else (area.width, area.height)
    ports = [
        _port(slot.first, _add(turn.point((x, 0)), shift), size, direction)
        for slot, x in zip(view.skeleton.ports, level.ports, strict=True)
    ]
    return Frame(
        *size,
        _slots(view, pieces, level, turn, aside, area, shift),
        tuple(ports),
        {
            (*other, slot.first): at
            for slot, at in zip(view.skeleton.ports, ports, strict=True)
            for other in slot.others
        },
        {wire: tuple(_add(turn.point(point), shift) for point in level.routes[wire]) for wire in lines},
        {wire: _add(turn.point(at), shift) for wire, at in level.labels.items() if at is not None},
        lines,
        (*bar.texts, *(moved(text, *shift) for text in area.texts)),
        tuple(Rule(r.x1 + shift[0], r.y1 + shift[1], r.x2 + shift[0], r.y2 + shift[1]) for r in area.rules),
    )


def _size(one: Piece) -> tuple[int, int]:
    return one.width, one.height


def _add(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def children(view: View, below: Mapping[int, Frame], options: PictureOptions) -> list[Piece]:
    """The piece of every child, then of every function."""
    notes: dict[int, list[Annotation]] = {}
    for annotation in view.metagraph.annotations:
        notes.setdefault(annotation.child, []).append(annotation)
    loops = dict(view.metagraph.loops)
    upright, most = vertical(options.direction), options.max_annotations
    return [
        framed((below[position].width, below[position].height))
        if position in below
        else piece(face, notes.get(position, ()), view.names, most, position in loops, upright)
        for position, face in enumerate((*view.faces, *view.functions))
    ]


def extracted(view: View) -> list[tuple[str, list[list[int]]]]:
    """What stands beside the main area: headings, and under each its columns of positions."""
    mask, count = view.metagraph.mask, len(view.metagraph.children)
    blocks = [
        ("Auxiliary", [list(mask.in_extract), list(mask.out_extract)]),
        ("Functions", [list(range(count, count + len(view.functions)))]),
    ]
    return [(heading, columns) for heading, columns in blocks if any(columns)]


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


def laid_out(
    view: View,
    pieces: Sequence[Piece],
    below: Mapping[int, Frame],
    lines: Mapping[int, Line],
    direction: Direction,
) -> Level:
    """The level with coordinates, its flow running down."""
    main = set(view.metagraph.core())
    count = len(view.metagraph.children)
    sizes = [across_along(direction, _size(pieces[i])) if i in main else (0, 0) for i in range(count)]
    told = {}
    for wire, edge in lines.items():
        text, wide = labels.shown(edge)
        if text:
            told[wire] = across_along(direction, (wide, labels.LABEL_HEIGHT))
    fixed = anchors(view, pieces, below, direction)
    return coordinates(view.skeleton, sizes, GAPS, anchors=fixed, labels=told)


def anchors(
    view: View, pieces: Sequence[Piece], below: Mapping[int, Frame], direction: Direction
) -> dict[tuple[int, int], int]:
    """Where wires touch their children: at a port of an open one, else spread over the box (not over its slot)."""
    skeleton, upright = view.skeleton, vertical(direction)
    boxes = [across_along(direction, one.box) for one in pieces[: skeleton.children]]
    spread = attach(skeleton, downward(skeleton), boxes, GAPS, {})
    fixed: dict[tuple[int, int], int] = {}
    for index, wire in enumerate(skeleton.wires):
        touch = spread[index][::-1] if wire.turned else spread[index]
        for end, child in enumerate((wire.chain[0], wire.chain[-1])):
            if child >= skeleton.children:
                continue
            gate = gate_of(view, index, end, below)
            one = pieces[child]
            offset = (gate[0] if upright else gate[1]) if gate else touch[end] + (one.x if upright else one.y)
            fixed[index, end] = offset
    return fixed


def gate_of(view: View, index: int, end: int, below: Mapping[int, Frame]) -> Point | None:
    """Where wire `index` goes on inside the open child at one end (0 its source, 1 its target): a point on the child's
    frame; None where the child is closed or holds no port for it."""
    wire = view.skeleton.wires[index]
    inner = below.get(wire.chain[-1 if end else 0])
    if inner is None:
        return None
    if wire.bridge >= 0:
        other = view.metagraph.bridges[wire.bridge].other
    else:
        edge = view.metagraph.edges[wire.edge]
        other = view.metagraph.children[edge.source if end else edge.target]
    return inner.gates.get((other, bool(end), bool(end) is not wire.turned))


def _slots(
    view: View,
    pieces: Sequence[Piece],
    level: Level,
    turn: Turn,
    aside: Sequence[tuple[str, Sequence[Sequence[int]]]],
    area: Area,
    shift: Point,
) -> tuple[Slot | None, ...]:
    """Each child's piece with the corner of its slot."""
    slots: list[Slot | None] = [None] * len(pieces)
    for position in view.metagraph.core():
        one = pieces[position]
        slots[position] = (one, _add(turn.corner(level.positions[position], _size(one)), shift))
    listed = [position for _, columns in aside for column in columns for position in column]
    for position, corner in zip(listed, area.places, strict=True):
        slots[position] = (pieces[position], _add(corner, shift))
    return tuple(slots)


def _port(first: bool, point: Point, size: tuple[int, int], direction: Direction) -> Point:
    """A port's place on the border."""
    if vertical(direction):
        return point[0], size[1] if first is (direction == "BT") else 0
    return size[0] if first is (direction == "RL") else 0, point[1]


def _title(view: View, face: Face | None, level: Level, area: Area, direction: Direction) -> Title:
    """The title bar, with the width that the frame takes."""
    if face is None:
        return NO_TITLE
    side = top_side(direction)
    ports = zip(view.skeleton.ports, level.ports, strict=True)
    return title(face, [AROUND + x for slot, x in ports if slot.first is side], area.width + 2 * AROUND)
