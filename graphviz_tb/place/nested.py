"""From open groups to a picture with coordinates: sizes from the inside out, then places from the outside in.

    order of views ─ frames, innermost first ─ scene, outermost first

Nothing recurses: a graph with open groups ten thousand levels deep must work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from graphviz_tb.model.metagraph import Bridge, EdgeKind
from graphviz_tb.model.scene import Box, Point, Port, Route, Rule, Scene, Stub, Text
from graphviz_tb.model.view import Face, View
from graphviz_tb.options import PictureOptions
from graphviz_tb.place import labels
from graphviz_tb.place.frames import Frame, Outside, Slot, drawn, frame
from graphviz_tb.place.sizes import BASELINE, SMALL_SIZE, moved, second_line
from graphviz_tb.place.touch import gate_of

TOLD = 40  # names in a tooltip
AreaName = Literal["main", "in_extract", "out_extract", "functions"]


@dataclass(frozen=True, slots=True)
class Open:
    """An open group: its view, its own face, which group stands open at each position below, and what the
    level outside says of its edges."""

    view: View
    face: Face | None
    below: Mapping[int, int]
    outside: Outside


@dataclass(slots=True)
class Sketch:
    """The scene while it is drawn."""

    boxes: list[Box] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    ports: list[Port] = field(default_factory=list)
    stubs: list[Stub] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)


def place(view: View, options: PictureOptions) -> Scene:
    """Before: a view with a skeleton for every open group. After: boxes nest and do not overlap, labels fit,
    lines end at borders, and an edge that crosses a border goes on exactly where it met it."""
    groups = in_order(view)
    frames: dict[int, Frame] = {}
    for number in range(len(groups) - 1, -1, -1):
        group = groups[number]
        below = {position: frames[child] for position, child in group.below.items()}
        frames[number] = frame(group.view, group.face, below, group.outside, options)
    sketch = Sketch()
    todo: list[tuple[int, int, int, Point]] = [(0, -1, 0, (0, 0))]
    while todo:
        number, box, depth, origin = todo.pop()
        numbers = _boxes(sketch, groups[number], frames[number], box, depth, origin)
        _lines(sketch, groups[number], frames, number, numbers, box, origin)
        for position, child in sorted(groups[number].below.items(), reverse=True):
            corner = frames[number].slots[position]
            assert corner is not None
            todo.append((child, numbers[position], depth + 1, _add(corner[1], origin)))
    return Scene(
        frames[0].width,
        frames[0].height,
        options.direction,
        tuple(sketch.boxes),
        tuple(sketch.routes),
        tuple(sketch.ports),
        tuple(sketch.stubs),
        tuple(sketch.texts),
        tuple(sketch.rules),
    )


def in_order(view: View) -> list[Open]:
    """Open groups, parents before children."""
    groups: list[Open] = []
    todo: list[tuple[View, Face | None, Outside, dict[int, int], int]] = [(view, None, {}, {}, -1)]
    while todo:
        one, face, outside, above, position = todo.pop()
        above[position] = len(groups)
        below: dict[int, int] = {}
        groups.append(Open(one, face, below, outside))
        faces = (*one.faces, *one.functions)
        shown = {*one.metagraph.core(), *one.metagraph.mask.extracted, *range(len(one.faces), len(faces))}
        told = said(one) if one.opened else {}
        for at, inner in sorted(one.opened.items(), reverse=True):
            if at in shown:
                todo.append((inner, linked(one, at, faces[at]), told.get(at, {}), below, at))
    return groups


def linked(view: View, position: int, face: Face) -> Face:
    """The face of an open group: the stubs that stood beside it when it was closed are counted in its title."""
    count = len(links(view, position))
    told = (face.second, labels.plural(count, "link") if count else "")
    return replace(face, second=" · ".join(part for part in told if part))


def links(view: View, position: int) -> list[str]:
    """What the stubs of a child stand for."""
    return [view.names.get(one.other, "…") for one in view.metagraph.annotations if one.child == position]


def said(view: View) -> dict[int, dict[tuple[int, bool], str]]:
    """The labels of a level's lines, by the child they touch and the neighbour that child sees."""
    found: dict[int, dict[tuple[int, bool], str]] = {}
    for line in drawn(view).values():
        text = labels.shown(line)[0]
        if isinstance(line, Bridge):
            found.setdefault(line.child, {})[line.other, line.inbound] = text
        else:
            rows = view.metagraph.children
            found.setdefault(line.source, {})[rows[line.target], False] = text
            found.setdefault(line.target, {})[rows[line.source], True] = text
    return found


def _add(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def _boxes(sketch: Sketch, group: Open, made: Frame, parent: int, depth: int, origin: Point) -> dict[int, int]:
    """Draw the children of one group with their texts and stubs; give the box number of each position."""
    sketch.texts += [moved(text, *origin, parent) for text in made.texts]
    sketch.rules += [
        Rule(rule.x1 + origin[0], rule.y1 + origin[1], rule.x2 + origin[0], rule.y2 + origin[1]) for rule in made.rules
    ]
    numbers: dict[int, int] = {}
    faces = (*group.view.faces, *group.view.functions)
    areas = _areas(group.view)
    for position, (face, slot) in enumerate(zip(faces, made.slots, strict=True)):
        if slot is None:
            continue
        number = numbers[position] = len(sketch.boxes)
        at = _add(_add(slot[1], (slot[0].x, slot[0].y)), origin)
        opened = position in group.below
        area = areas.get(position, "main")
        more = links(group.view, position) if opened else []
        sketch.boxes.append(_box(face, slot, at, parent, depth, opened, area, more))
        sketch.texts += [moved(text, *at, number) for text in slot[0].texts]
        sketch.stubs += [_stub(one, at, number) for one in slot[0].stubs]
        if slot[0].loop:
            points = tuple(_add(point, at) for point in slot[0].loop)
            title = f"{labels.brief(face.full)} → itself"
            sketch.routes.append(Route(points, "data", number, number, labels.THIN, title=title))
    return numbers


def _areas(view: View) -> dict[int, AreaName]:
    """Where children stand that are not in the main area."""
    mask, count = view.metagraph.mask, len(view.faces)
    areas: dict[int, AreaName] = dict.fromkeys(mask.in_extract, "in_extract")
    areas.update(dict.fromkeys(mask.out_extract, "out_extract"))
    areas.update(dict.fromkeys(range(count, count + len(view.functions)), "functions"))
    return areas


def _box(
    face: Face, slot: Slot, at: Point, parent: int, depth: int, opened: bool, area: AreaName, more: list[str]
) -> Box:
    linked_to = f"linked with {', '.join(map(labels.brief, more[:TOLD]))}" if more else ""
    told = " · ".join(part for part in (labels.brief(face.full), second_line(face), linked_to) if part)
    return Box(
        face.address,
        face.row,
        face.kind,
        parent,
        depth,
        *at,
        *slot[0].box,
        open=opened,
        openable=bool(face.openable),
        sheets=0 if opened else slot[0].sheets,
        connected=face.connected,
        area=area,
        member=face.member,
        title=told,
    )


def _stub(one: Stub, at: Point, number: int) -> Stub:
    points = tuple(_add(point, at) for point in one.points)
    return replace(one, x=one.x + at[0], y=one.y + at[1], box=number, points=points)


def _lines(
    sketch: Sketch,
    group: Open,
    frames: Mapping[int, Frame],
    number: int,
    numbers: Mapping[int, int],
    box: int,
    origin: Point,
) -> None:
    """Draw the lines of one group with their labels, and the ports they touch."""
    made, view = frames[number], group.view
    gates = {position: frames[child].gates for position, child in group.below.items()}
    count = view.skeleton.children
    touched: dict[int, list[int]] = {}
    for index, line in made.lines.items():
        wire = view.skeleton.wires[index]
        ends = (wire.chain[0], wire.chain[-1])
        for end in ends:
            if end >= count:
                touched.setdefault(end - count, []).append(index)
        head = 0 if line.kind == "reference" else 1
        goes_on = ends[head] >= count or gate_of(view, index, head, gates) is not None
        source, target = (numbers[end] if end < count else -1 for end in ends)
        sketch.routes.append(
            Route(
                tuple(_add(point, origin) for point in made.routes[index]),
                line.kind,
                source,
                target,
                labels.thickness(line),
                back=wire.turned,
                arrow=not goes_on,
                frame=box if source < 0 or target < 0 else -1,
                title=_account(view, index, line),
            )
        )
        if index in made.labels:
            sketch.texts.append(_label(line, _add(made.labels[index], origin), box, sketch.routes[-1].title))
    sketch.ports += [_port(view, made, port, wires, box, origin) for port, wires in sorted(touched.items())]


def _account(view: View, index: int, line: labels.Line) -> str:
    """The full account of a line."""
    if not isinstance(line, Bridge):
        return labels.account(line, view.faces[line.source].full, view.faces[line.target].full)
    ends = (view.faces[line.child].full, view.names.get(line.other, "…"))
    return labels.account(line, *(ends[::-1] if line.inbound else ends))


def _label(line: labels.Line, middle: Point, box: int, title: str) -> Text:
    text, wide = labels.shown(line)
    y = middle[1] + BASELINE[SMALL_SIZE]
    return Text(middle[0], y, text, title, SMALL_SIZE, wide, "edge", box=box)


def _port(view: View, made: Frame, port: int, wires: list[int], box: int, origin: Point) -> Port:
    """The dot of one port; it has the colour of the strongest kind that passes."""
    kinds = {made.lines[index].kind for index in wires}
    kind: EdgeKind = "reference" if "reference" in kinds else "data" if "data" in kinds else "control"
    others = view.skeleton.ports[port].others
    names = [labels.brief(view.names.get(row, "…")) for row, _ in others[:TOLD]]
    return Port(*_add(made.ports[port], origin), box, kind, len(others), ", ".join(names))
