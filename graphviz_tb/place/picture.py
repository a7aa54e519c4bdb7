"""Place a picture: first the sizes of open groups, from the inside out, then their places, from the outside in.

    order of views ─ main path through them ─ frames, innermost first ─ scene, outermost first

Nothing recurses, because open groups may be nested ten thousand levels deep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import SMALL_FONT_PX, text_width
from graphviz_tb.model.metagraph import THINNEST_TENTHS, EdgeKind, line_thickness
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.scene import Box, Direction, Point, Port, Route, Scene, Separator, Stub, Text, Web
from graphviz_tb.model.skeleton import BOTH_ENDS_TRAIN, backward_wires
from graphviz_tb.model.view import LineWords, NodeLabel, View
from graphviz_tb.options import PictureOptions
from graphviz_tb.place.attachment import Gate, port_at_end
from graphviz_tb.place.bars import wires_beside_main_path
from graphviz_tb.place.boxes import BASELINE_OFFSET, move_text
from graphviz_tb.place.frames import (
    GroupLayout,
    OpenGroup,
    StubIdentities,
    lay_out_frame,
    list_open_groups,
    loop_identity,
    loop_index_by_child,
    wire_identity,
)
from graphviz_tb.place.level import level_webs
from graphviz_tb.place.moved_ports import move_ports
from graphviz_tb.place.picture_path import lead_main_path
from graphviz_tb.place.ties import Slot

# Draw the scene, group by group: boxes with their texts and stubs, lines, ports.

AreaName = Literal["main", "in_extract", "out_extract", "functions"]
PortKey = tuple[int, int]  # group, and port in its skeleton


class SceneSketch:
    """The scene while it is drawn. Groups are added in order, parents before children."""

    def __init__(self, groups: Sequence[OpenGroup], frames: Mapping[int, GroupLayout]) -> None:
        self.groups, self.frames = groups, frames
        self.boxes: list[Box] = []
        self.routes: list[Route] = []
        self.ports: list[Port] = []
        self.stubs: list[Stub] = []
        self.texts: list[Text] = []
        self.rules: list[Separator] = []
        self.webs: list[Web] = []
        # Number the ports first, because lines outside refer to ports of groups drawn later.
        touched = [(number, port) for number in range(len(groups)) for port in sorted(self.touched_ports(number))]
        self.port_number: dict[PortKey, int] = {key: index for index, key in enumerate(touched)}

    def draw_group(self, number: int, box: int, depth: int, origin: Point) -> dict[int, int]:
        """Draw one group inside box `box` (-1: the picture) with its frame's corner at `origin`; return the box number
        of each position."""
        made = self.frames[number]
        self.texts += [move_text(text, *origin, box) for text in made.texts]
        self.rules += [
            Separator(*_point_sum((r.x1, r.y1), origin), *_point_sum((r.x2, r.y2), origin)) for r in made.rules
        ]
        numbers = self._draw_boxes(number, box, depth, origin)
        if self.groups[number].view.skeleton.plain:
            self._draw_webs(number, numbers, box)
        gates = {position: self.frames[child].gates for position, child in self.groups[number].below.items()}
        skeleton = self.groups[number].view.skeleton
        main, backward = set(skeleton.main_path), backward_wires(skeleton)
        main |= wires_beside_main_path(self.groups[number].view)
        for index in made.lines:
            self._draw_line(number, index, numbers, box, origin, gates, index in main, index in backward)
        for port, wires in sorted(self.touched_ports(number).items()):
            self._draw_port(number, port, wires, box, origin)
        return numbers

    def to_scene(self, direction: Direction) -> Scene:
        """Return everything that was drawn."""
        return Scene(
            self.frames[0].width,
            self.frames[0].height,
            direction,
            tuple(self.boxes),
            tuple(self.routes),
            tuple(self.ports),
            tuple(self.stubs),
            tuple(self.texts),
            tuple(self.rules),
            tuple(self.webs),
        )

    def touched_ports(self, number: int) -> dict[int, list[int]]:
        """Return the ports of a group that drawn lines touch, with these lines."""
        skeleton = self.groups[number].view.skeleton
        # A plain level draws its lines as webs, not one by one, so all its ports count.
        lines: dict[int, list[int]] = {port: [] for port in range(len(skeleton.ports)) if skeleton.plain}
        for index in self.frames[number].lines:
            chain = skeleton.wires[index].chain
            for end in (chain[0], chain[-1]):
                if end >= skeleton.children:
                    lines.setdefault(end - skeleton.children, []).append(index)
        return lines

    def _draw_boxes(self, number: int, parent: int, depth: int, origin: Point) -> dict[int, int]:
        """Draw the children of one group with their texts and stubs."""
        group, made = self.groups[number], self.frames[number]
        numbers: dict[int, int] = {}
        areas, undrawn, loops = _child_areas(group.view), StubIdentities(group.view), loop_index_by_child(group.view)
        node_labels, words = group.node_labels, group.view.words
        for position, slot in enumerate(made.slots):
            if slot is None:
                continue
            node = node_labels[position]
            box = numbers[position] = len(self.boxes)
            corner = _point_sum(_point_sum(slot[1], (slot[0].x, slot[0].y)), origin)
            opened = position in group.below
            area, title = areas.get(position, "main"), words.titles[position]
            bare = opened and self.groups[group.below[position]].bare
            self.boxes.append(_scene_box(node, slot, corner, parent, depth, opened, area, title, bare))
            self.texts += [move_text(text, *corner, box) for text in slot[0].texts]
            self.stubs += [_scene_stub(stub, corner, box, undrawn) for stub in slot[0].stubs]
            if slot[0].loop:
                points = tuple(_point_sum(point, corner) for point in slot[0].loop)
                identity = loop_identity(group.view, position, loops[position])
                loop = Route(points, "data", box, box, THINNEST_TENTHS, title=words.loops[position], identity=identity)
                self.routes.append(loop)
        return numbers

    def _draw_webs(self, number: int, numbers: Mapping[int, int], box: int) -> None:
        """Draw all lines of a level too large to be laid out."""
        view = self.groups[number].view
        ports = {port: self.port_number[number, port] for port in range(len(view.skeleton.ports))}
        self.webs += level_webs(view, box, numbers, ports)

    def _draw_line(
        self,
        number: int,
        index: int,
        numbers: Mapping[int, int],
        box: int,
        origin: Point,
        gates: Mapping[int, Mapping[Gate, int]],
        main: bool,
        back: bool,
    ) -> None:
        """Draw one line of a group with its label. `main`: it is on the main path; `back`: it runs against the flow;
        `gates` are the gates of open children."""
        layout, view = self.frames[number], self.groups[number].view
        wire, line = view.skeleton.wires[index], layout.lines[index]
        ends, count = (wire.chain[0], wire.chain[-1]), view.skeleton.children
        source, target = (numbers[end] if end < count else -1 for end in ends)  # -1: a port of the frame
        # Draw an arrow head where a line ends, not where it crosses a frame.
        goes_on = [
            end >= count or port_at_end(view, index, end_number, gates) is not None
            for end_number, end in enumerate(ends)
        ]
        route = Route(
            tuple(_point_sum(point, origin) for point in layout.routes[index]),
            line.kind,
            source,
            target,
            line_thickness(line),
            back=back is not (line.training == BOTH_ENDS_TRAIN),
            arrow=not goes_on[0 if line.kind == "reference" else 1],
            frame=box if source < 0 or target < 0 else -1,
            title=view.words.lines[index].title,
            identity=wire_identity(view, index),
            source_port=self.port_of_end(number, index, 0),
            target_port=self.port_of_end(number, index, 1),
            main=main,
            parting=_point_sum(layout.partings[index], origin) if index in layout.partings else None,
        )
        self.routes.append(route)
        if index in layout.labels:
            self.texts.append(_edge_label(view.words.lines[index], _point_sum(layout.labels[index], origin), box))

    def port_of_end(self, number: int, index: int, end: int) -> int:
        """Return the port at which an end (0 source, 1 target) of a line crosses a frame; -1 if it crosses no frame."""
        group = self.groups[number]
        item = group.view.skeleton.wires[index].chain[-1 if end else 0]
        if item >= group.view.skeleton.children:
            return self.port_number[number, item - group.view.skeleton.children]
        if item not in group.below:
            return -1
        child = group.below[item]
        port = port_at_end(group.view, index, end, {item: self.frames[child].gates})
        return -1 if port is None else self.port_number.get((child, port), -1)

    def _draw_port(self, number: int, port: int, wires: Sequence[int], box: int, origin: Point) -> None:
        """Draw the dot of one port, in the colour of the strongest kind of line that passes."""
        made, view = self.frames[number], self.groups[number].view
        kinds = {made.lines[index].kind for index in wires}
        kind: EdgeKind = "reference" if "reference" in kinds else "data" if "data" in kinds or not kinds else "control"
        slot = view.skeleton.ports[port]
        point = _point_sum(made.ports[port], origin)
        others = tuple(view.addresses.get(row, "") for row, _ in slot.others)
        title = view.words.ports[port]
        bare = self.groups[number].bare
        self.ports.append(
            Port(*point, box, kind, len(slot.others), title, view.address, port, slot.first, others, bare)
        )


def _point_sum(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def _child_areas(view: View) -> dict[int, AreaName]:
    """Return the areas of children that are not in the main area."""
    mask, count = view.metagraph.mask, len(view.node_labels)
    areas: dict[int, AreaName] = dict.fromkeys(mask.in_extract, "in_extract")
    areas.update(dict.fromkeys(mask.out_extract, "out_extract"))
    areas.update(dict.fromkeys(range(count, count + len(view.functions)), "functions"))
    return areas


def _scene_box(
    node: NodeLabel,
    slot: Slot,
    corner: Point,
    parent: int,
    depth: int,
    opened: bool,
    area: AreaName,
    title: str,
    bare: bool,
) -> Box:
    return Box(
        node.address,
        node.row,
        node.kind,
        parent,
        depth - 1 if bare else depth,
        *corner,
        *slot[0].box,
        open=opened,
        openable=(opened or bool(node.openable)) and not bare,
        sheets=slot[0].sheets,
        connected=node.connected,
        area=area,
        member=node.member,
        title=title,
        sign=slot[0].sign,
        surplus=node.surplus,
        bare=bare,
    )


def _scene_stub(stub: Stub, corner: Point, number: int, undrawn: StubIdentities) -> Stub:
    """Return a stub in its place, with the edges behind its annotations."""
    points = tuple(_point_sum(point, corner) for point in stub.points)
    identities = tuple(undrawn.annotation_identity(identity.index) for identity in stub.identities)
    return replace(stub, x=stub.x + corner[0], y=stub.y + corner[1], box=number, points=points, identities=identities)


def _edge_label(words: LineWords, middle: Point, box: int) -> Text:
    y = middle[1] + BASELINE_OFFSET[SMALL_FONT_PX]
    return Text(
        middle[0], y, words.label, words.title, SMALL_FONT_PX, text_width(words.label, SMALL_FONT_PX), "edge", box=box
    )


@dataclass(frozen=True, slots=True)
class CachedFrame:
    """The frame of an open group with the inputs of its layout: the group, its level before the main path of the
    picture was applied, and the frames in it."""

    group: OpenGroup
    level: View
    below: Mapping[int, GroupLayout]
    frame: GroupLayout


class FrameCache:
    """The frames of pictures of one graph in one direction, so that unchanged groups reuse their frames."""

    def __init__(self) -> None:
        self.known: dict[RowPath, CachedFrame] = {}


def place(view: View, options: PictureOptions, cache: FrameCache | None = None) -> Scene:
    """Place the boxes and lines of a view that has a skeleton for every open group.

    Boxes nest and do not overlap, labels fit, lines end at borders, and an edge that crosses a border continues at the
    same point. Unchanged groups take their frame from `cache`; new frames are stored there.
    """
    known = (cache or FrameCache()).known
    levels = list_open_groups(view)
    groups = lead_main_path(levels)
    frames: dict[int, GroupLayout] = {}
    for number in range(len(groups) - 1, -1, -1):  # the size of a frame depends on the frames in it
        group = groups[number]
        below = {position: frames[child] for position, child in group.below.items()}
        last = known.get(group.view.path)
        if last is not None and _is_frame_unchanged(last, group, levels[number].view, below):
            frames[number] = last.frame
            continue
        frames[number] = lay_out_frame(group.view, group.heading, below, group.outside, options.direction, group.room)
        known[group.view.path] = CachedFrame(group, levels[number].view, below, frames[number])
    move_ports(groups, frames, options.direction)
    sketch = SceneSketch(groups, frames)
    where: dict[int, tuple[int, int, Point]] = {0: (-1, 0, (0, 0))}  # of each group: its box, depth and corner
    for number, group in enumerate(groups):
        box, depth, (x, y) = where[number]
        numbers = sketch.draw_group(number, box, depth, (x, y))
        for position, child in group.below.items():
            slot = frames[number].slots[position]
            assert slot is not None
            inside = depth if groups[child].bare else depth + 1
            where[child] = (numbers[position], inside, (slot[1][0] + x, slot[1][1] + y))
    return sketch.to_scene(options.direction)


def _is_frame_unchanged(last: CachedFrame, group: OpenGroup, level: View, below: Mapping[int, GroupLayout]) -> bool:
    """Return whether a group has the same level, labels and inner frames as before."""
    was = last.level
    return (
        was.metagraph is level.metagraph
        and was.skeleton == level.skeleton
        and was.address == level.address
        and last.group.view.skeleton.main_path == group.view.skeleton.main_path
        and len(last.below) == len(below)
        and all(last.below.get(position) is made for position, made in below.items())
        and last.group.heading == group.heading
        and last.group.bare == group.bare
        and last.group.room == group.room
        and last.group.outside == group.outside
        and was.node_labels == level.node_labels
        and was.functions == level.functions
        and was.words == level.words
    )
