"""Lay out the level of one open group on the screen: its children in their slots, its lines, its labels.

pieces ─ lines ─ level with its flow running down ─ turned to the screen ─ labels
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from graphviz_tb.graphs.skyline import Skyline, SkylineRect
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import SMALL_FONT_PX, text_width
from graphviz_tb.model.metagraph import EdgeKind, Metaedge, MetagraphLine, line_thickness
from graphviz_tb.model.scene import Direction, Point, Separator, Text, Web
from graphviz_tb.model.skeleton import (
    LevelGaps,
    LevelLayout,
    Skeleton,
    Wire,
    WireStroke,
    training_items,
)
from graphviz_tb.model.view import MIXED_TRAINING, SMALL_GAPS, View
from graphviz_tb.place.attachment import Gates, LineEnds, border_point, line_anchors, port_at_end
from graphviz_tb.place.bars import branch_bars, item_places, places_before_end
from graphviz_tb.place.boxes import (
    HEADING_ROOM,
    HEADING_SIZE,
    TITLE_BAR_HEIGHT,
    Piece,
    box_names,
    closed_piece,
    heading_text,
    open_piece,
)
from graphviz_tb.place.coordinates import place_level
from graphviz_tb.place.feet import Foot, RaisedEnd, find_foot, rooms_in_foot, stand_in_feet
from graphviz_tb.place.labels import LineLabel, label_overhang, labels_said_once, place_labels, unshared_parts
from graphviz_tb.place.orientation import FlowTurn, flow_size, is_vertical, upper_flow_side
from graphviz_tb.place.side_entries import SideEntries, find_side_entries, part_late, shift_to_boxes, side_point
from graphviz_tb.place.side_ports import enter_at_sides, leave_at_sides, slide_ports
from graphviz_tb.place.ties import InnerPorts, Slot, Tie, find_ties, tie_points, tied_sides

# A few boxes without lines are placed in a free corner of their level.

MAX_LOOSE_BOXES = 6  # more stay on the shelves


def loose_boxes(skeleton: Skeleton) -> list[int]:
    """Return the boxes without lines in the order of their parts; [] if they are many, or half of the level.

    >>> from graphviz_tb.model.skeleton import Wire
    >>> parts = (((0,), (1,)), ((2,),))
    >>> loose_boxes(Skeleton(3, (), (Wire(0, -1, (0, 1)),), (), parts, ((0, 1),)))
    [2]
    """
    lonely = [skeleton.parts[part][0][0] for part in _single_box_parts(skeleton)]
    boxes = sum(item < skeleton.children for part in skeleton.parts for row in part for item in row)
    return lonely if len(lonely) <= MAX_LOOSE_BOXES and 2 * len(lonely) < boxes else []


def _single_box_parts(skeleton: Skeleton) -> list[int]:
    return [
        number
        for number, part in enumerate(skeleton.parts)
        if number != skeleton.port_part and len(part) == 1 and len(part[0]) == 1
    ]


def _drop_loose_parts(skeleton: Skeleton) -> Skeleton:
    """Return the skeleton without the parts of loose boxes on its shelves."""
    if not loose_boxes(skeleton):
        return skeleton
    loose_parts = set(_single_box_parts(skeleton))
    shelves = [tuple(part for part in shelf if part not in loose_parts) for shelf in skeleton.shelves]
    return replace(skeleton, shelves=tuple(shelf for shelf in shelves if shelf))


# Separate the lines of a bus to an open box, with a waypoint for each port of its frame.


def _separate_at_ports(
    view: View, gates: Gates, ports: Mapping[int, Sequence[Point]], axis: int, entering: Mapping[int, int]
) -> Skeleton:
    """Return the skeleton with separate waypoints for lines to different ports of an open child, and for branches that
    enter a bar; `entering` has the places where they enter.

    `ports` are the places of the ports of each open child, `axis` the coordinate across the flow. The new waypoints are
    adjacent, in the order of the ports; all other items keep their order.
    """
    skeleton = view.skeleton
    chains = [list(wire.chain) for wire in skeleton.wires]
    waypoint = list(skeleton.waypoint)
    beside: dict[int, list[int]] = {}
    places = item_places(skeleton)
    # The lines of a bus to an open box continue to ports that may be far apart.
    for item, wires in _wires_by_waypoint(skeleton).items() if gates or entering else ():
        if any(wire in entering for wire in wires):
            steps = sorted([(places_before_end(skeleton.wires[wire].chain, places), wire) for wire in wires])
            wires_by_place = {number: [wire] for number, (_, wire) in enumerate(steps)}
        else:
            wires_by_place = _wires_by_port(view, wires, gates, ports, axis)
        beside[item] = []
        # Lines to the first port keep the waypoint; new waypoints are to its right.
        for place in sorted(wires_by_place)[1:]:
            new_waypoint = skeleton.first_waypoint + len(waypoint)
            waypoint.append(wires_by_place[place][0])
            beside[item].append(new_waypoint)
            for wire in wires_by_place[place]:
                chains[wire][chains[wire].index(item)] = new_waypoint
    if len(waypoint) == len(skeleton.waypoint):
        return skeleton
    first_wire: dict[int, int] = {}
    for wire, chain in enumerate(chains):
        for item in chain[1:-1]:
            first_wire.setdefault(item, wire)
    parts = tuple(
        tuple(tuple(one for item in row for one in (item, *beside.get(item, ()))) for row in part)
        for part in skeleton.parts
    )
    return replace(
        skeleton,
        wires=tuple(
            Wire(wire.edge, wire.bridge, tuple(chain), wire.turned)
            for wire, chain in zip(skeleton.wires, chains, strict=True)
        ),
        waypoint=tuple(first_wire.get(skeleton.first_waypoint + at, wire) for at, wire in enumerate(waypoint)),
        parts=parts,
    )


def _wires_by_waypoint(skeleton: Skeleton) -> dict[int, list[int]]:
    users: dict[int, list[int]] = {}
    for number, wire in enumerate(skeleton.wires):
        for item in wire.chain[1:-1]:
            users.setdefault(item, []).append(number)
    return {item: wires for item, wires in users.items() if len(wires) > 1}


def _wires_by_port(
    view: View, wires: Sequence[int], gates: Gates, ports: Mapping[int, Sequence[Point]], axis: int
) -> dict[int, list[int]]:
    """Return wires that share an open box at one end, by the place of their port there."""
    chains = [view.skeleton.wires[wire].chain for wire in wires]
    # Lines of a bus share their target, others a source. A turned line has its target at the start of the chain.
    for box in (chains[0][-1], chains[0][0]):
        if all(box in (chain[0], chain[-1]) for chain in chains):
            found: dict[int, list[int]] = {}
            for wire, chain in zip(wires, chains, strict=True):
                gate = port_at_end(view, wire, 1 if chain[-1] == box else 0, gates)
                if gate is not None:
                    found.setdefault(ports[box][gate][axis], []).append(wire)
            if found:
                return found
    return {}


# Place a level in plain rows.


def _place_plain_rows(skeleton: Skeleton, sizes: Sequence[tuple[int, int]], gaps: LevelGaps) -> LevelLayout:
    """Centre each row, and place the ports of a side at equal distances; no line is routed.

    >>> from graphviz_tb.model.skeleton import Skeleton
    >>> level = _place_plain_rows(
    ...     Skeleton(3, (), (), (), (((0, 1), (2,)),), ((0,),), plain=True), [(40, 20)] * 3, LevelGaps()
    ... )
    >>> level.positions, level.width, level.height
    (((0, 0), (56, 0), (28, 46)), 96, 66)
    """
    count = skeleton.children
    rows = [row for part in skeleton.parts for row in part if row[0] < count]
    spans = [sum([sizes[box][0] for box in row]) + gaps.siblings * (len(row) - 1) for row in rows]
    width, top = max(spans, default=0), 0
    positions: list[Point] = [(0, 0)] * count
    for row, span in zip(rows, spans, strict=True):
        left = (width - span) // 2
        deep = max([sizes[box][1] for box in row])
        for box in row:
            positions[box] = (left, top + (deep - sizes[box][1]) // 2)
            left += sizes[box][0] + gaps.siblings
        top += deep + gaps.ranks
    return LevelLayout(tuple(positions), tuple(_spread_ports(skeleton, width)), (), width, max(0, top - gaps.ranks))


def _spread_ports(skeleton: Skeleton, width: int) -> list[int]:
    """Return the places of the ports across the flow."""
    first = sum([slot.first for slot in skeleton.ports])
    places = []
    for index, slot in enumerate(skeleton.ports):
        number, count = (index, first) if slot.first else (index - first, len(skeleton.ports) - first)
        places.append(width * (2 * number + 1) // (2 * count))
    return places


def level_webs(view: View, frame: int, boxes: Mapping[int, int], ports: Mapping[int, int]) -> list[Web]:
    """Return the lines of a level by kind.

    `boxes` are the numbers of boxes by position, `ports` the numbers of ports by their index in the skeleton.
    """
    count = view.skeleton.children
    ends_of: dict[EdgeKind, tuple[list[int], list[int]]] = {}
    for wire in view.drawn_wires():
        chain = view.skeleton.wires[wire].chain
        # -1 - p represents port p.
        for ends, item in zip(
            ends_of.setdefault(view.line_of_wire(wire).kind, ([], [])), (chain[0], chain[-1]), strict=True
        ):
            ends.append(boxes[item] if item < count else -1 - ports[item - count])
    return [Web(kind, frame, tuple(ends[0]), tuple(ends[1])) for kind, ends in ends_of.items()]


LEVEL_GAPS = LevelGaps()
NARROW_GAPS = LevelGaps(siblings=12, ranks=20, labelled=20, start=7, straight=5, column=12)  # where room is scarce
LINE_LABEL_HEIGHT = 12  # px
GAP_LABEL_ROOM, NARROW_LABEL_ROOM = 8, 4  # px above and below a label in a gap between two ranks
TRAINING_HEADING, HEADING_DISTANCE = "Training", 10  # next to a rule, and px from it
HEADING_REACH = 72  # px from the rule to the end of its heading, with a margin
RULE_CLEARANCE = 4  # px from a rule to the label of a line that crosses it
FRAME_OVERLAP = 9  # px by which a label may reach into the border of a frame

OutsideLabels = Mapping[tuple[int, bool], str]  # labels of edges to a neighbour outside, by row and inbound


@dataclass(frozen=True, slots=True)
class CoreDrawing:
    """The drawing of one level at its own origin.

    - `slots`: the children in the main area with the corner of their slot.
    - `ports`: the place of each port of the skeleton.
    - `routes`: the polyline of each drawn wire; `labels`: the middle of its label.
    - `rules`, `headings`: the rules between the model and its training, with their headings.
    - `entered`: by open child, its ports on a side, with their y; `slid`: its ports that moved, with their x.
    - `foot`: its foot if a box may stand there; `raised`: the lines that reach into the feet of its open children.
    """

    width: int
    height: int
    slots: Mapping[int, Slot]
    ports: tuple[Point, ...]
    routes: Mapping[int, tuple[Point, ...]]
    labels: Mapping[int, Point]
    rules: tuple[Separator, ...] = ()
    headings: tuple[Text, ...] = ()
    entered: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    slid: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    foot: Foot | None = None
    raised: tuple[RaisedEnd, ...] = ()

    def skyline(self, sizes: Mapping[int, LineLabel], upright: bool) -> Skyline:
        """Return the outline of the drawing; lines to ports on its last side extend without end."""
        sky = Skyline(len(self.routes))
        for child, (left, top) in self.slots.values():
            sky.add_rect((left, top, left + child.width, top + child.height))
        for points in self.routes.values():
            sky.add_line(points)
        for wire, (x, y) in self.labels.items():
            wide, tall = sizes[wire].size
            sky.add_rect((x - wide // 2, y - tall // 2, x + wide // 2, y + tall // 2))
        for x, y in self.ports:
            if y if upright else x:  # ports at the top or left are at the frame already
                sky.add_ray((x, y), upright)
        for rule in self.rules:
            sky.add_line(((rule.x1, rule.y1), (rule.x2, rule.y2)))
        for text in self.headings:
            sky.add_rect(_text_box(text))
        return sky


def _text_box(text: Text) -> SkylineRect:
    return text.x, text.y - text.size, text.x + text.width, text.y


def draw_core(
    view: View,
    pieces: Sequence[Piece],
    lines: Mapping[int, MetagraphLine],
    line_labels: Mapping[int, LineLabel],
    inner: InnerPorts,
    direction: Direction,
    framed: bool,
    room: int = 0,
) -> CoreDrawing:
    """Lay out and draw the level; `framed`: it has a border and a title bar around it; `room`: the pixels to keep free
    in its foot at both sides of the main path.

    Labels of the main path that stick out at the sides count in its size.
    """
    ties = find_ties(view, pieces, line_labels, inner, direction)
    ranked = _without_ties(view, min(ties)) if ties else view
    upright = is_vertical(direction)
    entering = _bar_entries(ranked, pieces) if upright else {}
    side_entries = find_side_entries(ranked, pieces, inner, upright, set(entering), tied_sides(ties))
    line_labels = labels_said_once(view, line_labels, inner.gates)
    level = _lay_out_level(
        ranked, pieces, lines, line_labels, inner, direction, side_entries, entering, ties, framed, room
    )
    level = shift_to_boxes(level, side_entries)
    raised: dict[int, RaisedEnd] = {}
    sizes = [flow_size(direction, _piece_size(piece)) for piece in pieces]
    if inner.feet and upright:
        level, raised = stand_in_feet(ranked.skeleton, level, sizes, inner.feet, inner.gates)
    drawing = _draw_level(view, pieces, lines, line_labels, direction, level, side_entries, ties, inner, raised)
    foot = find_foot(ranked.skeleton, level, sizes) if room else None
    return replace(drawing, foot=foot, raised=tuple(raised.values()))


def _without_ties(view: View, first: int) -> View:
    """Return a view without the wires from `first` on, the ties, which are drawn beside the ranks."""
    skeleton = view.skeleton
    main_path = tuple(wire for wire in skeleton.main_path if wire < first)
    return replace(view, skeleton=replace(skeleton, wires=skeleton.wires[:first], main_path=main_path))


def _draw_level(
    view: View,
    pieces: Sequence[Piece],
    lines: Mapping[int, MetagraphLine],
    line_labels: Mapping[int, LineLabel],
    direction: Direction,
    level: LevelLayout,
    side_entries: SideEntries,
    ties: Mapping[int, Tie],
    inner: InnerPorts,
    raised: Mapping[int, RaisedEnd],
) -> CoreDrawing:
    """Turn a laid-out level to the screen, extend its lines to the boxes, and label them."""
    loose = set(loose_boxes(view.skeleton))
    turn = FlowTurn(direction, level.width, level.height)
    slots = {
        position: (pieces[position], turn.corner_on_screen(level.positions[position], _piece_size(pieces[position])))
        for position in view.metagraph.core_children()
        if position not in loose
    }
    routes = _level_routes(view, lines, slots, level, turn, side_entries, ties, raised)
    entered = enter_at_sides(view, routes, slots, inner) if turn.runs_vertically else {}
    if turn.runs_vertically and level.rules:
        leave_at_sides(view, routes, slots, [_text_box(text) for text in _draw_training_rules(level, turn, (0, 0))[1]])
    axis = 0 if turn.runs_vertically else 1
    slid = slide_ports(view, routes, slots, inner) if turn.runs_vertically and inner.slides else {}
    # If labels of the main path stick out at the sides, the level grows, and its content moves by `before`.
    before, after = label_overhang(routes, line_labels, turn.screen_size[axis], axis)
    left, top = (0, before) if axis else (before, 0)
    wide, tall = turn.screen_size
    size = (wide, tall + before + after) if axis else (wide + before + after, tall)
    slots = {position: (child, (x + left, y + top)) for position, (child, (x, y)) in slots.items()}
    routes = {wire: tuple((x + left, y + top) for x, y in points) for wire, points in routes.items()}
    ports = [
        turn.to_screen((x, 0 if slot.first else level.height))
        for slot, x in zip(view.skeleton.ports, level.ports, strict=True)
    ]
    drawn_ports = tuple((x + left, y + top) for x, y in ports)
    rules, headings = _draw_training_rules(level, turn, (left, top))
    foot_depths = {end.item: end.depth for end in raised.values()}
    obstacles = [_closed_room(slot, foot_depths.get(position, 0), direction) for position, slot in slots.items()]
    obstacles += [_around_rule(rule) for rule in rules]
    reach = FRAME_OVERLAP if view.path != (0,) else -1  # the root has no frame to overlap
    label_parts = _label_parts(view, lines, routes, tuple(line_labels))
    thicknesses = {wire: line_thickness(line) for wire, line in lines.items()}
    bounds = (1, -reach, size[0] - 1, size[1] + reach) if axis else (-reach, 1, size[0] + reach, size[1] - 1)
    labels = place_labels(routes, line_labels, obstacles, bounds, label_parts, thicknesses)
    return CoreDrawing(*size, slots, drawn_ports, routes, labels, rules, headings, entered, slid)


def _level_routes(
    view: View,
    lines: Mapping[int, MetagraphLine],
    slots: Mapping[int, Slot],
    level: LevelLayout,
    turn: FlowTurn,
    side_entries: SideEntries,
    ties: Mapping[int, Tie],
    raised: Mapping[int, RaisedEnd],
) -> dict[int, tuple[Point, ...]]:
    """Return the polylines of the lines of a level on the screen, up to the boxes."""
    routes = {}
    for wire in lines:
        if wire in ties:
            routes[wire] = tie_points(ties[wire], slots, level, turn)
        else:
            points = [turn.to_screen(point) for point in level.routes[wire]]
            inside = raised[wire].item if wire in raised else -1
            routes[wire] = _extend_to_boxes(view, wire, points, slots, turn, side_entries, inside)
    routes.update(part_late(view.skeleton, routes))
    return routes


def _closed_room(slot: Slot, depth: int, direction: Direction) -> SkylineRect:
    """Return the rectangle of a child without its foot, which is `depth` px along the flow."""
    child, (x, y) = slot
    upwards = direction == "BT"
    return x, y + (0 if upwards else depth), x + child.width, y + child.height - (depth if upwards else 0)


def _around_rule(rule: Separator) -> SkylineRect:
    """Return the rectangle around a rule, of which labels keep clear."""
    left, right, top, bottom = (
        min(rule.x1, rule.x2),
        max(rule.x1, rule.x2),
        min(rule.y1, rule.y2),
        max(rule.y1, rule.y2),
    )
    return left - RULE_CLEARANCE, top - RULE_CLEARANCE, right + RULE_CLEARANCE, bottom + RULE_CLEARANCE


def _draw_training_rules(
    level: LevelLayout, turn: FlowTurn, shift: Point
) -> tuple[tuple[Separator, ...], tuple[Text, ...]]:
    """Return the rules before the training, moved by `shift`, and their headings."""
    rules, headings = [], []
    size = text_width(TRAINING_HEADING, HEADING_SIZE, True), HEADING_ROOM
    for rule in level.rules:
        (x1, y1), (x2, y2) = turn.to_screen((rule.x, rule.top)), turn.to_screen((rule.x, rule.bottom))
        rules.append(Separator(x1 + shift[0], y1 + shift[1], x2 + shift[0], y2 + shift[1]))
        if rule.heading >= 0:
            x, y = turn.corner_on_screen((rule.x + HEADING_DISTANCE, rule.heading), size)
            headings.append(heading_text(TRAINING_HEADING, (x + shift[0], y + shift[1])))
    return tuple(rules), tuple(headings)


def _piece_size(child: Piece) -> tuple[int, int]:
    return child.width, child.height


def child_pieces(view: View, below: Mapping[int, tuple[int, int]], direction: Direction) -> list[Piece]:
    """Return the piece of every child, then of every function; `below` are the sizes of the open ones."""
    upright = is_vertical(direction)
    nodes = (*view.node_labels, *view.functions)
    names, words = box_names(nodes), view.words
    pieces = [
        open_piece(below[position], node)
        if position in below
        else closed_piece(node, names[position], words, position, upright)
        for position, node in enumerate(nodes)
    ]
    for position, bar in (branch_bars(view, [piece.width for piece in pieces]) if upright else {}).items():
        pieces[position] = closed_piece(nodes[position], names[position], words, position, upright, bar.width)
    return pieces


def line_label_sizes(view: View, lines: Mapping[int, MetagraphLine], outside: OutsideLabels) -> dict[int, LineLabel]:
    """Return the labels of wires, without labels repeated from the level outside."""
    main = set(view.skeleton.main_path)
    labels = {}
    for wire, line in lines.items():
        text = view.words.lines[wire].label
        written = line.kind == "reference" and line.training > 0
        made_for_all = isinstance(line, Metaedge) and view.node_labels[line.source].shared
        bridge, telling = view.skeleton.wires[wire].bridge, wire in main or written or made_for_all
        if bridge >= 0:
            crossing = view.metagraph.bridges[bridge]
            telling = telling or crossing.members[1] > 0  # without the label, all members seem to have the line
            if outside.get((crossing.other, crossing.inbound)) == text:
                continue
        if text:
            labels[wire] = LineLabel(
                (text_width(text, SMALL_FONT_PX), LINE_LABEL_HEIGHT), line_thickness(line), telling
            )
    return labels


def _bar_entries(view: View, pieces: Sequence[Piece]) -> dict[int, int]:
    """Return, by wire, the place where it enters a bar, from the edge of the bar's slot."""
    entries: dict[int, int] = {}
    for position, bar in branch_bars(view, [piece.width for piece in pieces]).items():
        if pieces[position].box[0] == bar.width:  # no bar if its name needs more room
            for wire, entry in bar.entries.items():
                entries[wire] = pieces[position].x + entry
    return entries


def _label_parts(
    view: View, lines: Mapping[int, MetagraphLine], routes: Mapping[int, Sequence[Point]], labelled: Sequence[int]
) -> dict[int, Sequence[Point]]:
    """Return the part of each line at which its label is placed: the part that it does not share with others, but for
    joined lines of training the shared part."""
    parts = unshared_parts(view.skeleton, routes, labelled)
    for wire in labelled:
        joined = len(parts[wire]) != len(routes[wire]) or parts[wire][-1] != routes[wire][-1]
        if joined and view.skeleton.wires[wire].edge >= 0 and lines[wire].training:
            parts[wire] = [parts[wire][-1], *routes[wire][len(parts[wire]) - 1 :]]
    return parts


def _lay_out_level(
    view: View,
    pieces: Sequence[Piece],
    lines: Mapping[int, MetagraphLine],
    line_labels: Mapping[int, LineLabel],
    inner: InnerPorts,
    direction: Direction,
    side_entries: SideEntries,
    entering: Mapping[int, int],
    ties: Mapping[int, Tie],
    framed: bool,
    room: int,
) -> LevelLayout:
    """Return the level with coordinates, with its flow running down; `entering` are the places where wires enter bars,
    `ties` the lines beside the ranks, `room` the pixels to keep free in its foot."""
    core = set(view.metagraph.core_children())
    count = len(view.metagraph.children)
    # (across, along) the flow.
    sizes = [flow_size(direction, _piece_size(pieces[i])) if i in core else (0, 0) for i in range(count)]
    if view.skeleton.plain:
        return _place_plain_rows(view.skeleton, sizes, LEVEL_GAPS)
    anchors = line_anchors(view, pieces, inner.gates, inner.ports, direction, LEVEL_GAPS, side_entries.absent_ends())
    for wire, entry in entering.items():
        anchors[wire, 1] = entry
    side_entries.move_anchors(view.skeleton, anchors, [across for across, _ in sizes])
    sizes = [(side_entries.widen(box, across), along) for box, (across, along) in enumerate(sizes)]
    strokes = {}
    for wire, line in lines.items():
        if wire in ties:
            continue
        size = line_labels[wire].size if wire in line_labels else (0, 0)
        head = _arrow_end(view, wire, line, inner.gates)
        is_main = wire in line_labels and line_labels[wire].main
        strokes[wire] = WireStroke(line_thickness(line), head, flow_size(direction, size), is_main)
    gaps = _level_gaps(strokes, ties, direction, narrow=view.narrow >= SMALL_GAPS)
    gaps = gaps if framed else replace(gaps, beyond=0, bar=(0, 0))
    skeleton = _drop_loose_parts(
        _separate_at_ports(view, inner.gates, inner.ports, 0 if is_vertical(direction) else 1, entering)
    )
    sides = [
        (0, 0) if i in inner.gates else _flow_side(pieces[i], direction, side_entries.shift(i)) for i in range(count)
    ]
    return place_level(
        skeleton,
        sizes,
        gaps,
        line_ends=LineEnds(anchors, sides, side_entries.entries),
        strokes=strokes,
        trained=_trained_items(view, skeleton),
        room={**{tie.left: tie.room for tie in ties.values()}, **rooms_in_foot(skeleton, room)},
    )


def _level_gaps(
    strokes: Mapping[int, WireStroke], ties: Mapping[int, Tie], direction: Direction, narrow: bool
) -> LevelGaps:
    """Return the distances in a level, with room for its largest label, its title bars, its heading and its ties."""
    longest = max((stroke.label[1] for stroke in strokes.values()), default=0)
    usual = NARROW_GAPS if narrow else LEVEL_GAPS
    return replace(
        usual,
        labelled=max(usual.labelled, longest + 2 * (NARROW_LABEL_ROOM if narrow else GAP_LABEL_ROOM)),
        bar=_bar_heights(direction),
        upward=direction in ("BT", "RL"),
        ranks=usual.ranks + max([tie.depth for tie in ties.values()], default=0),
        heading=flow_size(direction, (HEADING_REACH, HEADING_ROOM)),
    )


def _trained_items(view: View, skeleton: Skeleton) -> set[int]:
    """Return the items that train the model or do its bookkeeping; empty if no line leads to or from training."""
    edges = view.metagraph.edges
    ends = [edges[wire.edge].training if wire.edge >= 0 else 0 for wire in skeleton.wires]
    if view.narrow >= MIXED_TRAINING or not any(ends):
        return set()
    return training_items([wire.chain for wire in skeleton.wires], ends).union(view.metagraph.training)


def _flow_side(child: Piece, direction: Direction, shift: int) -> tuple[int, int]:
    """Return where the flow side of a closed box begins and ends, from the edge of its slot, which is `shift` px before
    the piece."""
    upright = is_vertical(direction)
    start, wide = (child.x, child.box[0]) if upright else (child.y, child.box[1])
    return shift + start, shift + start + wide


def _bar_heights(direction: Direction) -> tuple[int, int]:
    """Return the pixels that the title bar takes on the first and on the last side of a frame.

    >>> _bar_heights("BT"), _bar_heights("LR")
    ((0, 24), (0, 0))
    """
    first = upper_flow_side(direction)
    return (TITLE_BAR_HEIGHT if first else 0, TITLE_BAR_HEIGHT if first is False else 0)


def _arrow_end(view: View, wire: int, line: MetagraphLine, inner: Gates) -> int:
    """Return the end of a wire with its arrow head (the source for a reference edge); -1 if the line continues in an
    open child or outside."""
    end = 0 if line.kind == "reference" else 1
    item = view.skeleton.wires[wire].chain[-1 if end else 0]
    return -1 if item >= view.skeleton.children or port_at_end(view, wire, end, inner) is not None else end


def _extend_to_boxes(
    view: View,
    wire: int,
    points: list[Point],
    slots: Mapping[int, Slot],
    turn: FlowTurn,
    side_entries: SideEntries,
    inside: int,
) -> tuple[Point, ...]:
    """Extend the polyline of a wire from the edge of a slot to the box in it, but not where it ends inside the child
    `inside`."""
    line, upright = view.skeleton.wires[wire], turn.runs_vertically
    for end, item in enumerate((line.chain[0], line.chain[-1])):
        points = points[::-1] if not end else points  # this end last
        if item in slots and side_entries.has_entry(wire, line, end):
            points = points[:-1] + side_point(*slots[item], points[-1], upright)
        elif item in slots and item != inside:
            goal = border_point(*slots[item], points[-1], upright)
            points = points if goal == points[-1] else [*points, goal]
        points = points[::-1] if not end else points
    return tuple(points)
