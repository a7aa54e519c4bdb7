"""From open groups to a picture with coordinates: sizes from the inside out, then places from the outside in.

    order of views ─ frames, innermost first ─ scene, outermost first

Nothing recurses: a graph with open groups ten thousand levels deep must work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isqrt
from typing import Literal

from graphviz_tb.model.measure import clean
from graphviz_tb.model.metagraph import Bridge, EdgeKind
from graphviz_tb.model.scene import Box, Point, Port, Route, Rule, Scene, Stub, Text
from graphviz_tb.model.view import Face, View
from graphviz_tb.options import PictureOptions
from graphviz_tb.place import labels
from graphviz_tb.place.frames import Frame, Slot, frame, gate_of
from graphviz_tb.place.sizes import BASELINE, SMALL_SIZE, moved
from graphviz_tb.place.turn import vertical

AreaName = Literal["main", "in_extract", "out_extract", "functions"]


@dataclass(frozen=True, slots=True)
class Open:
    """An open group: its view, its own face, and which group stands open at each position below."""

    view: View
    face: Face | None
    below: Mapping[int, int]


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
    """Before: a view with a skeleton for every open group. After: boxes nest and do not overlap, labels fit, lines end
    at borders, and an edge that crosses a border goes on exactly where it met it."""
    groups = in_order(view)
    frames: dict[int, Frame] = {}
    for number in range(len(groups) - 1, -1, -1):
        group = groups[number]
        below = {position: frames[child] for position, child in group.below.items()}
        frames[number] = frame(group.view, group.face, below, options)
    sketch = Sketch()
    todo: list[tuple[int, int, int, Point]] = [(0, -1, 0, (0, 0))]
    while todo:
        number, box, depth, origin = todo.pop()
        numbers = _boxes(sketch, groups[number], frames[number], box, depth, origin)
        _lines(sketch, groups[number], frames, number, numbers, box, origin, options)
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
    todo: list[tuple[View, Face | None, dict[int, int] | None, int]] = [(view, None, None, -1)]
    while todo:
        one, face, above, position = todo.pop()
        if above is not None:
            above[position] = len(groups)
        below: dict[int, int] = {}
        groups.append(Open(one, face, below))
        faces = (*one.faces, *one.functions)
        shown = {*one.metagraph.core(), *one.metagraph.mask.extracted, *range(len(one.faces), len(faces))}
        for place_, inner in sorted(one.opened.items(), reverse=True):
            if place_ in shown:
                todo.append((inner, faces[place_], below, place_))
    return groups


def _add(point: Point, shift: Point) -> Point:
    return point[0] + shift[0], point[1] + shift[1]


def _boxes(
    sketch: Sketch, group: Open, made: Frame, parent: int, depth: int, origin: Point
) -> dict[int, int]:
    """Draw the children of one group with their texts and stubs; give the box number of each position."""
    sketch.texts += [moved(text, *origin, parent) for text in made.texts]
    sketch.rules += [
        Rule(rule.x1 + origin[0], rule.y1 + origin[1], rule.x2 + origin[0], rule.y2 + origin[1])
        for rule in made.rules
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
        sketch.boxes.append(_box(face, slot, at, parent, depth, opened, area))
        sketch.texts += [moved(text, *at, number) for text in slot[0].texts]
        sketch.stubs += [_stub(one, at, number) for one in slot[0].stubs]
        if slot[0].loop:
            points = tuple(_add(point, at) for point in slot[0].loop)
            title = f"{clean(face.full)} → itself"
            sketch.routes.append(Route(points, "data", number, number, labels.THIN, title=title))
    return numbers


def _areas(view: View) -> dict[int, AreaName]:
    """Where children stand that are not in the main area."""
    mask, count = view.metagraph.mask, len(view.faces)
    areas: dict[int, AreaName] = dict.fromkeys(mask.in_extract, "in_extract")
    areas.update(dict.fromkeys(mask.out_extract, "out_extract"))
    areas.update(dict.fromkeys(range(count, count + len(view.functions)), "functions"))
    return areas


def _box(face: Face, slot: Slot, at: Point, parent: int, depth: int, opened: bool, area: AreaName) -> Box:
    told = " · ".join(part for part in (clean(face.full), face.badge, face.second) if part)
    return Box(
        face.address,
        face.row,
        face.kind,
        parent,
        depth,
        *at,
        *slot[0].box,
        open=opened,
        openable=face.openable,
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
    options: PictureOptions,
) -> None:
    """Draw the lines of one group with their labels, and the ports they touch."""
    made, view = frames[number], group.view
    below = {position: frames[child] for position, child in group.below.items()}
    count = view.skeleton.children
    touched: dict[int, list[int]] = {}
    for index, line in made.lines.items():
        wire = view.skeleton.wires[index]
        ends = (wire.chain[0], wire.chain[-1])
        for end in ends:
            if end >= count:
                touched.setdefault(end - count, []).append(index)
        head = 0 if line.kind == "reference" else 1
        goes_on = ends[head] >= count or gate_of(view, index, head, below) is not None
        points = _reach(made, index, ends, count, vertical(options.direction))
        source, target = (numbers[end] if end < count else -1 for end in ends)
        sketch.routes.append(
            Route(
                tuple(_add(point, origin) for point in points),
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
    names = [clean(view.names.get(row, "…")) for row, _ in others]
    return Port(*_add(made.ports[port], origin), box, kind, len(others), ", ".join(names))


def _reach(made: Frame, index: int, ends: tuple[int, int], count: int, upright: bool) -> list[Point]:
    """The polyline of a wire, drawn on from the edge of the level to the border, and from the slot to its box."""
    points = list(made.routes[index])
    for at, end in ((0, ends[0]), (-1, ends[1])):
        goal = made.ports[end - count] if end >= count else _border(made.slots[end], points[at], upright)
        if goal != points[at]:
            points.insert(0, goal) if at == 0 else points.append(goal)
    return points


def _border(slot: Slot | None, point: Point, upright: bool) -> Point:
    """Where a line that comes straight to the edge of a slot meets the box in it."""
    assert slot is not None
    one, corner = slot
    left, top = corner[0] + one.x, corner[1] + one.y
    right, bottom = left + one.box[0], top + one.box[1]
    if upright:
        high = abs(point[1] - corner[1]) <= abs(point[1] - corner[1] - one.height)
        dent = _dent(one.pill, min(point[0] - left, right - point[0]), one.box[1])
        return point[0], top + dent if high else bottom - dent
    near = abs(point[0] - corner[0]) <= abs(point[0] - corner[0] - one.width)
    dent = _dent(one.pill, min(point[1] - top, bottom - point[1]), one.box[1])
    return left + dent if near else right - dent, point[1]


def _dent(pill: bool, inset: int, height: int) -> int:
    """How far the round end of a pill stands back, `inset` from the corner of its rectangle.

    >>> _dent(True, 12, 24), _dent(True, 4, 24), _dent(False, 0, 24)
    (0, 4, 0)
    """
    radius = min(12, height // 2)
    if not pill or inset >= radius:
        return 0
    return radius - isqrt(radius * radius - (radius - max(inset, 0)) ** 2)
