"""Lay out one open group: its level, its auxiliary area, its title bar, and its border with ports.

level on the screen ─ auxiliary area ─ title ─ border
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from graphviz_tb.graphs.skyline import Skyline, SkylineRect
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import SMALL_FONT_PX, text_width
from graphviz_tb.model.metagraph import Annotation, Bridge, MetagraphLine, Side
from graphviz_tb.model.scene import Direction, IdentityKind, LineIdentity, Point, Separator, Size, Text
from graphviz_tb.model.view import NodeLabel, View
from graphviz_tb.place.attachment import Gate, port_gates
from graphviz_tb.place.boxes import (
    HEADING_ROOM,
    HEADING_SIZE,
    NO_TITLE_BAR,
    TITLE_BAR_HEIGHT,
    Piece,
    TitleBar,
    heading_text,
    lay_out_title,
    move_text,
    sheet_margins,
)
from graphviz_tb.place.feet import Foot, RaisedEnd, room_in_foot
from graphviz_tb.place.labels import LineLabel
from graphviz_tb.place.level import (
    CoreDrawing,
    OutsideLabels,
    child_pieces,
    draw_core,
    line_label_sizes,
    loose_boxes,
)
from graphviz_tb.place.orientation import is_vertical, upper_flow_side
from graphviz_tb.place.side_entries import find_partings
from graphviz_tb.place.side_ports import find_side_ports, find_slides, move_beside
from graphviz_tb.place.ties import InnerPorts, SidePort, Slot

# List the open groups of a picture.

MAX_BARE_BOXES = 3  # boxes of a group whose frame is not drawn, including its stack
Heading = tuple[NodeLabel, str]  # label of an open group, second line of its title bar


@dataclass(frozen=True, slots=True)
class OpenGroup:
    """An open group.

    - `heading`: the texts of its title bar.
    - `below`: the numbers of the open groups in it, by position.
    - `outside`: the labels of its edges on the level around it.
    - `bare`: its frame is not drawn, because it has no name or contains one stack.
    - `room`: the pixels at both sides of the main path for a box in its foot; 0 for none.
    """

    view: View
    heading: Heading | None
    below: Mapping[int, int]
    outside: OutsideLabels
    bare: bool = False
    room: int = 0

    @property
    def node_labels(self) -> tuple[NodeLabel, ...]:
        """The labels of the children, then of the functions."""
        return (*self.view.node_labels, *self.view.functions)


def list_open_groups(view: View) -> list[OpenGroup]:
    """Return the open groups, parents before children."""
    groups: list[OpenGroup] = []
    todo: list[tuple[View, Heading | None, OutsideLabels, dict[int, int], int, View]] = [(view, None, {}, {}, -1, view)]
    while todo:
        current, heading, outside, parent_below, position, around = todo.pop()
        parent_below[position] = len(groups)  # the parent refers to this group by its number
        below: dict[int, int] = {}
        bare = heading is not None and (not heading[0].label or _is_around_one_stack(current))
        room = room_in_foot(current.skeleton, around, position) if bare else 0
        groups.append(OpenGroup(current, None if bare else heading, below, outside, bare, room))
        prefix = f"{heading[0].label} / " if bare and heading is not None and heading[0].label else ""
        node_labels = (*current.node_labels, *current.functions)
        shown = {
            *current.metagraph.core_children(),
            *current.metagraph.mask.extracted_children,
            *range(len(current.node_labels), len(node_labels)),
        }
        labels = _outside_line_labels(current) if current.opened else {}
        for child, inner in sorted(current.opened.items(), reverse=True):  # a stack: the first child is popped first
            if child in shown:
                node, second = node_labels[child], current.words.seconds[child]
                if prefix:
                    node = replace(node, label=prefix + node.label)
                todo.append((inner, (node, second), labels.get(child, {}), below, child, current))
    return groups


def _is_around_one_stack(view: View) -> bool:
    """Return whether the frame of a group would only repeat that of the open stack in it: only the stack is on the main
    path, and besides it there are only a few closed boxes that feed it."""
    skeleton, boxes = view.skeleton, len(view.metagraph.core_children())
    if len(view.opened) != 1 or boxes < 2 or boxes > MAX_BARE_BOXES or skeleton.plain or view.functions:
        return False
    stacks = {child for child in view.opened if view.node_labels[child].stacked}
    chains = [skeleton.wires[wire].chain for wire in skeleton.main_path]
    main = {end for chain in chains for end in (chain[0], chain[-1]) if end < skeleton.children}
    alone = not view.metagraph.mask.extracted_children and not view.words.notes and not loose_boxes(skeleton)
    return len(stacks) == 1 and main == stacks and alone


def _outside_line_labels(view: View) -> dict[int, dict[tuple[int, bool], str]]:
    """Return the labels of a level's lines, by child and by the neighbour (row, inbound) at the other end."""
    texts: dict[int, dict[tuple[int, bool], str]] = {}
    for wire, line in view.drawn_lines().items():
        text = view.words.lines[wire].label
        if isinstance(line, Bridge):
            texts.setdefault(line.child, {})[line.other, line.inbound] = text
        else:
            rows = view.metagraph.children
            texts.setdefault(line.source, {})[rows[line.target], False] = text
            texts.setdefault(line.target, {})[rows[line.source], True] = text
    return texts


# The identity of a drawn line: the edge it represents, by the addresses of its group and of its ends.

StubKey = tuple[Side, int]  # side, row of the neighbour


def wire_identity(view: View, index: int) -> LineIdentity:
    """Return the metaedge or bridge that wire `index` of the skeleton represents."""
    wire = view.skeleton.wires[index]
    if wire.edge >= 0:
        edge = view.metagraph.edges[wire.edge]
        return LineIdentity(
            view.address,
            "edge",
            wire.edge,
            view.node_labels[edge.source].address,
            view.node_labels[edge.target].address,
            view.path,
        )
    bridge = view.metagraph.bridges[wire.bridge]
    # In the order of an outgoing edge; reversed if inbound.
    ends = view.node_labels[bridge.child].address, view.addresses.get(bridge.other, "")
    return LineIdentity(view.address, "bridge", wire.bridge, *(ends[::-1] if bridge.inbound else ends), view.path)


def loop_index_by_child(view: View) -> dict[int, int]:
    """Return for each child with edges to itself the index of these edges in `Metagraph.loops`."""
    return {child: index for index, (child, _) in enumerate(view.metagraph.loops)}


def loop_identity(view: View, position: int, index: int) -> LineIdentity:
    """Return the identity of the edges from a child to itself; `index` counts in `Metagraph.loops`."""
    address = view.node_labels[position].address
    return LineIdentity(view.address, "loop", index, address, address, view.path)


class StubIdentities:
    """The metaedges and bridges of one group that stubs represent."""

    def __init__(self, view: View) -> None:
        self.view = view
        # Indices of edges by child: a level can have a million edges, but draws few stubs.
        self.edges: dict[int, list[int]] = {}
        self.bridges: dict[int, list[int]] = {}
        level = view.metagraph
        drawn = set(level.core_bridges())
        for index, bridge in enumerate(level.bridges):
            if index not in drawn:
                self.bridges.setdefault(bridge.child, []).append(index)
        for index in level.mask.stubbed:
            edge = level.edges[index]
            if not edge.writes:
                self.edges.setdefault(edge.source, []).append(index)
                self.edges.setdefault(edge.target, []).append(index)
        self.child = -1  # the last child for which `stub_entries` was called
        self.entries: dict[StubKey, tuple[IdentityKind, int]] = {}

    def annotation_identity(self, index: int) -> LineIdentity:
        """Return the edge behind annotation `index`; the annotation itself for constants and summaries, which have no
        edge."""
        note: Annotation = self.view.metagraph.annotations[index]
        if note.child != self.child:
            self.child, self.entries = note.child, self.stub_entries(note.child)
        entry, number = self.entries.get((note.side, note.other), ("annotation", index))
        ends = self.view.addresses.get(note.other, ""), self.view.node_labels[note.child].address
        return LineIdentity(
            self.view.address, entry, number, *(ends if note.side == "in" else ends[::-1]), self.view.path
        )

    def stub_entries(self, child: int) -> dict[StubKey, tuple[IdentityKind, int]]:
        """Return the edges, bridges and annotations that the stubs of a child represent."""
        level = self.view.metagraph
        entries: dict[StubKey, tuple[IdentityKind, int]] = {}
        for index in self.bridges.get(child, []):
            bridge = level.bridges[index]
            entries["in" if bridge.inbound else "out", bridge.other] = "bridge", index
        for index in self.edges.get(child, []):
            edge = level.edges[index]
            if edge.source == child:
                entries["out", level.children[edge.target]] = "edge", index
            if edge.target == child:
                entries["in", level.children[edge.source]] = "edge", index
        return entries


# The auxiliary area: extracted children in columns under a heading, separated from the drawing by a rule.
#
# It is placed where the total area is smallest: in a free corner, below the drawing, or at its side.

AREA_DISTANCE = 32  # px from the drawing to the area; the rule is half way
AREA_GAP = 16  # px between two boxes of a column, and between two columns
COLUMN_LENGTHS = (96, 160, 240, 320, 480, 0)  # alternative lengths of a column in px; 0 makes a row
SCREEN_HEIGHT_PX = 900  # a drawing up to this height (and 8/5 of it in width) is shown at full size

AxisExtent = tuple[int, int, int]  # width, height, and x of the axis on which boxes of a column are aligned


@dataclass(frozen=True, slots=True)
class AuxiliaryArea:
    """The corners of the children in the order of their sizes, texts and rules, and the size with the drawing."""

    places: tuple[Point, ...]
    texts: tuple[Text, ...]
    rules: tuple[Separator, ...]
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class BlockPlacement:
    """One way to place a block: its corner, its size, the total size, and whether it is beside the drawing."""

    corner: Point
    size: Size
    whole: Size
    beside: bool
    places: tuple[Point, ...]

    @property
    def placement_cost(self) -> int:
        """The total area, more for a tower, plus the area of the smallest screen that shows it."""
        wide, tall = self.whole
        screen = max(5 * wide // 8, tall, SCREEN_HEIGHT_PX)  # the height of the smallest 8:5 screen that shows all
        area = max(wide * tall, tall * (tall * tall // max(1, 4 * wide)))  # more if it is higher than 1:2
        return area + 8 * screen * screen // 5


def _place_blocks(
    core: Size, sky: Skyline, blocks: Sequence[tuple[str, Sequence[Sequence[AxisExtent]]]], notes: Sequence[Text] = ()
) -> AuxiliaryArea:
    """Place blocks, and notes below them, next to a drawing of size `core` with the outline `sky`.

    A block is a heading ("" for neither heading nor rule) and columns of sizes.

    >>> sky = Skyline()
    >>> sky.add_rect((0, 0, 100, 300))
    >>> area = _place_blocks((100, 300), sky, [("Auxiliary", [[(80, 24, 40), (60, 24, 30)], []])])
    >>> area.places, area.width
    (((132, 24), (142, 64)), 212)
    """
    places: list[Point] = []
    texts: list[Text] = []
    rules: list[Separator] = []
    whole = core
    for heading, columns in blocks:
        if not any(columns):
            continue
        room = HEADING_ROOM if heading else 0
        placement = _cheapest_placement(whole, sky, columns, text_width(heading, HEADING_SIZE, True), room)
        (left, top), (wide, tall) = placement.corner, placement.size
        places += [(left + x, top + room + y) for x, y in placement.places]
        half = AREA_DISTANCE // 2
        if heading:
            texts.append(heading_text(heading, placement.corner))
            beside = Separator(left - half, top, left - half, top + tall)
            rules.append(beside if placement.beside else Separator(left, top - half, left + wide, top - half))
        # Include the rule, so that the next block keeps clear of both.
        sky.add_rect((left - half, top - half, left + wide, top + tall))
        whole = placement.whole
    if notes:
        size = max(note.width for note in notes), notes[-1].y + 4
        placement = min(_corner_placements(whole, sky, size, ()), key=lambda placement: placement.placement_cost)
        texts += [move_text(note, *placement.corner) for note in notes]
        whole = placement.whole
    return AuxiliaryArea(tuple(places), tuple(texts), tuple(rules), *whole)


def _cheapest_placement(
    core: Size, sky: Skyline, columns: Sequence[Sequence[AxisExtent]], least: int, room: int
) -> BlockPlacement:
    """Return the cheapest placement of all shapes of a block in all corners, the first of equals; `room` is for its
    heading."""
    possible: list[BlockPlacement] = []
    # Try columns as long as the drawing is high, half and a third of that, and of fixed lengths.
    for limit in (core[1], *COLUMN_LENGTHS, core[1] // 2, core[1] // 3):
        places, (wide, tall) = _block_places(columns, limit)
        wide, tall = max(wide, least), tall + room
        possible += _corner_placements(core, sky, (wide, tall), tuple(places))
    return min(possible, key=lambda placement: placement.placement_cost)


def _corner_placements(core: Size, sky: Skyline, size: Size, places: tuple[Point, ...]) -> list[BlockPlacement]:
    """Return the placements of a block slid against the drawing: from the right, at its top and bottom, and from below,
    at its left and right."""
    (wide, tall), (across, along) = core, size
    possible = []
    for top in (0, max(0, tall - along)):
        reach = sky.right_extent(top - AREA_DISTANCE, top + along + AREA_DISTANCE)
        left = reach + AREA_DISTANCE if reach else 0
        possible.append(BlockPlacement((left, top), size, (max(wide, left + across), max(tall, along)), True, places))
    for left in (0, max(0, wide - across)):
        reach = sky.bottom_extent(left - AREA_DISTANCE, left + across + AREA_DISTANCE)
        top = reach + AREA_DISTANCE if reach else 0
        possible.append(BlockPlacement((left, top), size, (max(wide, across), max(tall, top + along)), False, places))
    return possible


def _block_places(columns: Sequence[Sequence[AxisExtent]], limit: int) -> tuple[list[Point], Size]:
    """Return the places within a block, and its size. Columns longer than `limit` are broken.

    >>> _block_places([[(80, 24, 40), (60, 24, 30)]], 30)
    ([(0, 0), (96, 0)], (156, 24))
    """
    places: list[Point] = []
    start = longest = 0
    for column in columns:
        for part in _break_column(column, limit):
            axis = max(thing[2] for thing in part)
            along = 0
            for _, tall, own_axis in part:
                places.append((start + axis - own_axis, along))
                along += tall + AREA_GAP
            longest = max(longest, along - AREA_GAP)
            start += axis + max(thing[0] - thing[2] for thing in part) + AREA_GAP
    return places, (start - AREA_GAP, longest)


def _break_column(column: Sequence[AxisExtent], limit: int) -> list[list[AxisExtent]]:
    """Return a column broken where it gets longer than `limit`.

    >>> _break_column([(10, 30, 5)] * 3, 80)
    [[(10, 30, 5), (10, 30, 5)], [(10, 30, 5)]]
    """
    parts: list[list[AxisExtent]] = []
    along = 0
    for thing in column:
        if not parts or along + thing[1] > limit:
            parts.append([])
            along = 0
        parts[-1].append(thing)
        along += thing[1] + AREA_GAP
    return parts


FRAME_PADDING = 12  # px between a frame and its content
NOTE_LINE_HEIGHT = 14  # px from one note to the next


@dataclass(frozen=True, slots=True)
class GroupLayout:
    """An open group at its own origin.

    - `slots`: its children with the corner of their slot; None for a child that is not shown.
    - `ports`: the place of each port of the skeleton on the border; `gates`: the port of each neighbour.
    - `routes`: the polyline of each drawn wire; `lines`: the edges it represents; `labels`: the middle of its label.
    - `partings`: the points where wires leave others.
    - `side_ports`: the ports that may be on a side instead; `entered`: by open child, its ports on a side, with their
      y.
    - `slides`: how far ports may move; `slid`: by open child, its ports that moved, with their x.
    - `foot`: its foot if a box may stand there; `raised`: the lines that reach into the feet of its open children.
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
    partings: Mapping[int, Point] = field(default_factory=dict)
    side_ports: Mapping[int, SidePort] = field(default_factory=dict)
    entered: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    slides: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    slid: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    foot: Foot | None = None
    raised: tuple[RaisedEnd, ...] = ()


def _ports_of_open_children(below: Mapping[int, GroupLayout]) -> InnerPorts:
    """Return where lines may enter the open children of a group, by their positions."""
    return InnerPorts(
        {position: made.gates for position, made in below.items()},
        {position: made.ports for position, made in below.items()},
        {position: made.side_ports for position, made in below.items()},
        {position: made.slides for position, made in below.items() if made.slides},
        {position: made.foot for position, made in below.items() if made.foot is not None},
    )


def lay_out_frame(
    view: View,
    heading: Heading | None,
    below: Mapping[int, GroupLayout],
    outside: OutsideLabels,
    direction: Direction,
    room: int = 0,
) -> GroupLayout:
    """Lay out an open group without overlaps; every line ends at the border of a box or of the frame.

    `below` are the frames of its open children by position, `heading` the texts of its title bar (None for the root),
    `room` the pixels to keep free in its foot at both sides of the main path.
    """
    sizes = {position: (made.width, made.height) for position, made in below.items()}
    pieces = child_pieces(view, sizes, direction)
    lines = view.drawn_lines()
    line_labels = line_label_sizes(view, lines, outside)
    inner = _ports_of_open_children(below)
    # Each step needs the previous ones: the area needs the drawing, the title the width of both, ports the total size.
    core = draw_core(view, pieces, lines, line_labels, inner, direction, framed=heading is not None, room=room)
    area = _auxiliary_area(view, core, line_labels, pieces, direction)
    bar = _frame_title(view, heading, core, area, direction)
    # The root has neither title bar nor border.
    padding, title_height = (FRAME_PADDING, TITLE_BAR_HEIGHT) if heading else (0, 0)
    right, top = sheet_margins(heading[0]) if heading else (0, 0)
    shift = (padding + bar.shift, title_height + padding + top)
    border_x = bar.width if heading else area.width
    size = (border_x + right, area.height + title_height + 2 * padding + top)
    ports = tuple(
        _border_port(slot.first, _shifted_point(corner, shift), (border_x, size[1]), top, direction)
        for slot, corner in zip(view.skeleton.ports, core.ports, strict=True)
    )
    texts = [move_text(text, 0, top) for text in bar.texts]
    texts += [move_text(text, *shift) for text in (*core.headings, *area.texts)]
    layout = GroupLayout(
        *size,
        _child_slots(view, pieces, core, area, shift),
        ports,
        port_gates(view),
        {wire: _extend_to_ports(view, wire, points, ports, shift) for wire, points in core.routes.items()},
        {wire: _shifted_point(middle, shift) for wire, middle in core.labels.items()},
        lines,
        tuple(texts),
        tuple(_shifted_separator(rule, shift) for rule in (*core.rules, *area.rules)),
        entered=core.entered,
        slid=core.slid,
        foot=core.foot,
        raised=core.raised,
    )
    if heading is not None and is_vertical(direction):
        layout = _with_side_ports(view, layout, line_labels, inner, set(below), border_x)
    return replace(layout, partings=find_partings(view.skeleton, layout.routes))


def _with_side_ports(
    view: View,
    layout: GroupLayout,
    line_labels: Mapping[int, LineLabel],
    inner: InnerPorts,
    opened: set[int],
    border_x: int,
) -> GroupLayout:
    """Return a layout whose lines use the side ports of open children, with the ports that may move to its own sides;
    `border_x` is the x of its right side."""
    routes, ports, labels = {**layout.routes}, [*layout.ports], layout.labels
    slots = {item: slot for item, slot in enumerate(layout.slots) if slot is not None}
    entered = {item: {**side_y} for item, side_y in layout.entered.items()}
    label_boxes = [_label_box(labels[wire], line_labels[wire]) for wire in labels]
    for entry, line in list(move_beside(view, routes, slots, inner, border_x, label_boxes)):
        routes[entry.wire] = line
        ports[view.skeleton.wires[entry.wire].chain[0] - view.skeleton.children] = line[0]
        entered.setdefault(entry.item, {})[entry.port] = entry.place[1] - slots[entry.item][1][1]
    return replace(
        layout,
        ports=tuple(ports),
        routes=routes,
        side_ports=find_side_ports(view, routes, slots, opened, (0, border_x), labels),
        entered=entered,
        slides=find_slides(view, routes, slots, ports, border_x, labels),
    )


def _label_box(middle: Point, label: LineLabel) -> SkylineRect:
    """Return the rectangle of a label around its middle."""
    (x, y), (wide, high) = middle, label.size
    return x - wide // 2, y - high // 2, x + (wide + 1) // 2, y + (high + 1) // 2


def _shifted_separator(rule: Separator, shift: Point) -> Separator:
    return Separator(*_shifted_point((rule.x1, rule.y1), shift), *_shifted_point((rule.x2, rule.y2), shift))


def _auxiliary_area(
    view: View, core: CoreDrawing, line_labels: Mapping[int, LineLabel], pieces: Sequence[Piece], direction: Direction
) -> AuxiliaryArea:
    """Place the auxiliary area next to the drawing of a level, if there is one."""
    size, things, notes = (core.width, core.height), _block_extents(view, pieces), _note_lines(view)
    if not things and not notes:
        return AuxiliaryArea((), (), (), *size)
    return _place_blocks(size, core.skyline(line_labels, is_vertical(direction)), things, notes)


def _shifted_point(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def _side_blocks(view: View) -> list[tuple[str, list[list[int]]]]:
    """Return the blocks next to the drawing, each a heading and columns of positions: boxes without lines, and boxes
    outside of the main area."""
    mask, count = view.metagraph.mask, len(view.metagraph.children)
    blocks = [
        ("", [loose_boxes(view.skeleton)]),
        ("Auxiliary", [list(mask.in_extract), list(mask.out_extract)]),
        ("Functions", [list(range(count, count + len(view.functions)))]),
    ]
    return [(heading, columns) for heading, columns in blocks if any(columns)]


def _block_extents(view: View, pieces: Sequence[Piece]) -> list[tuple[str, list[list[AxisExtent]]]]:
    """Return the blocks of `_side_blocks` with extents in place of positions."""
    return [
        (heading, [[_axis_extent(pieces[child]) for child in column] for column in columns])
        for heading, columns in _side_blocks(view)
    ]


def _axis_extent(piece: Piece) -> AxisExtent:
    """Return width, height, and the middle of the box across the column."""
    return piece.width, piece.height, piece.x + piece.box[0] // 2


def _note_lines(view: View) -> list[Text]:
    """Return the notes as lines of text below each other."""
    identities = _note_identities(view)
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


def _note_identities(view: View) -> dict[int, LineIdentity]:
    undrawn, annotations = StubIdentities(view), view.metagraph.annotations
    indices = [index for note in view.words.notes for index in note.annotations]
    # Sort by child, because `StubIdentities` caches one child and a note has stubs of many boxes.
    return {
        index: undrawn.annotation_identity(index)
        for index in sorted(indices, key=lambda index: (annotations[index].child, index))
    }


def _frame_title(
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


def _child_slots(
    view: View, pieces: Sequence[Piece], core: CoreDrawing, area: AuxiliaryArea, shift: Point
) -> tuple[Slot | None, ...]:
    """Return each child's piece with the corner of its slot, in the main and in the auxiliary area."""
    slots: list[Slot | None] = [None] * len(pieces)
    for position, (piece, corner) in core.slots.items():
        slots[position] = (piece, _shifted_point(corner, shift))
    listed = [position for _, columns in _side_blocks(view) for column in columns for position in column]
    for position, corner in zip(listed, area.places, strict=True):
        slots[position] = (pieces[position], _shifted_point(corner, shift))
    return tuple(slots)


def _border_port(first: bool, point: Point, size: tuple[int, int], top: int, direction: Direction) -> Point:
    """Return a port's place on the border, which begins at `top`."""
    if is_vertical(direction):
        return point[0], size[1] if first is (direction == "BT") else top  # in BT the flow begins at the bottom
    return size[0] if first is (direction == "RL") else 0, point[1]


def _extend_to_ports(
    view: View, wire: int, points: Sequence[Point], ports: Sequence[Point], shift: Point
) -> list[Point]:
    """Extend the polyline of a wire to the ports on the frame's border."""
    line = [_shifted_point(point, shift) for point in points]
    chain, count = view.skeleton.wires[wire].chain, view.skeleton.children
    if chain[0] >= count and ports[chain[0] - count] != line[0]:
        line.insert(0, ports[chain[0] - count])
    if chain[-1] >= count and ports[chain[-1] - count] != line[-1]:
        line.append(ports[chain[-1] - count])
    return line
