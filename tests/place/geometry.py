"""Faults of a picture that can be read from its coordinates: the list a reader would complain about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from graphviz_tb.graphs.skyline import SkylineRect
from graphviz_tb.model.scene import Box, Point, Scene, Text
from graphviz_tb.place.labels import (
    _grow_rect,
    _line_crosses_rect,
    _rects_meet,
    _rects_overlap,
    _segment_bounds,
    _straight_runs,
)

BAR = 24
ROUND = 12  # how far the round end of a pill stands back from its rectangle
T = TypeVar("T")


def run_touches_rect(run: tuple[Point, Point], rect: SkylineRect) -> bool:
    """Whether a run passes through a rectangle."""
    return _rects_meet(_segment_bounds(run), rect) and _line_crosses_rect(run, rect)


def faults(scene: Scene) -> list[str]:
    """Everything wrong with a scene, in words; empty for a good one."""
    checks = (nesting, siblings, labels_inside, texts_apart, texts_on_boxes, lines_through_boxes, lines_through_texts)
    checks += (ports_meet, lines_end_at_borders)
    return [fault for check in checks for fault in check(scene)]


def of_box(box: Box) -> SkylineRect:
    return box.x, box.y, box.x + box.width, box.y + box.height


def of_text(text: Text) -> SkylineRect:
    """The letters of a text: from the height of capitals to the foot of descenders."""
    left = text.x - {"start": 0, "middle": text.width // 2, "end": text.width}[text.anchor]
    return left, text.y - text.size * 3 // 4, left + text.width, text.y + text.size // 5


def above(scene: Scene, box: int) -> set[int]:
    """A box and all boxes around it; -1 is the picture."""
    found = {box}
    while box >= 0:
        box = scene.boxes[box].parent
        found.add(box)
    return found


def nesting(scene: Scene) -> Iterator[str]:
    whole = (0, 0, scene.width, scene.height)
    for box in scene.boxes:
        around = of_box(scene.boxes[box.parent]) if box.parent >= 0 else whole
        left, top, right, bottom = of_box(box)
        titled = box.parent >= 0 and not scene.boxes[box.parent].bare
        least = around[1] + (BAR if titled else 0)
        if not (around[0] <= left and least <= top and right <= around[2] and bottom <= around[3]):
            yield f"{box.address} is not inside what holds it"
        if box.parent >= 0 and not scene.boxes[box.parent].open:
            yield f"{box.address} lies in a closed box"
    for text in scene.texts:
        left, top, right, bottom = of_text(text)
        if left < 0 or top < 0 or right > scene.width or bottom > scene.height:
            yield f"text {text.content!r} leaves the picture"


def siblings(scene: Scene) -> Iterator[str]:
    """Boxes in one drawn frame do not overlap; what is in a frame that is not drawn is in the drawn one around it."""
    groups: dict[int, list[Box]] = {}
    for box in scene.boxes:
        parent = box.parent
        while parent >= 0 and scene.boxes[parent].bare:
            parent = scene.boxes[parent].parent
        if not box.bare:
            groups.setdefault(parent, []).append(box)
    for group in groups.values():
        for box, other in close_pairs([(of_box(box), box) for box in group]):
            yield f"{box.address} overlaps {other.address}"


def close_pairs(things: list[tuple[SkylineRect, T]]) -> Iterator[tuple[T, T]]:
    """Pairs whose rectangles overlap."""
    cells: dict[tuple[int, int], list[tuple[int, SkylineRect, T]]] = {}
    size, seen = 128, set()
    for index, (rect, thing) in enumerate(things):
        for column in range(rect[0] // size, rect[2] // size + 1):
            for row in range(rect[1] // size, rect[3] // size + 1):
                for other, rival, found in cells.setdefault((column, row), []):
                    if (other, index) not in seen and _rects_overlap(rect, rival):
                        seen.add((other, index))
                        yield found, thing
                cells[column, row].append((index, rect, thing))


def labels_inside(scene: Scene) -> Iterator[str]:
    for text in scene.texts:
        if not text.inside:
            continue
        box = of_box(scene.boxes[text.box])
        rect = of_text(text)
        if not (box[0] + 2 <= rect[0] and box[1] <= rect[1] and rect[2] <= box[2] - 2 and rect[3] <= box[3]):
            yield f"label {text.content!r} leaves its box {scene.boxes[text.box].address}"


def texts_apart(scene: Scene) -> Iterator[str]:
    shown = [(of_text(text), text) for text in scene.texts if text.content]
    for text, other in close_pairs(shown):
        yield f"text {text.content!r} ({text.role}) overlaps {other.content!r} ({other.role})"


def texts_on_boxes(scene: Scene) -> Iterator[str]:
    """A text lies on no box but its own and those around it; nor on a stub."""
    things: list[tuple[SkylineRect, tuple[str, int | Text]]] = [
        (of_box(box), ("box", index)) for index, box in enumerate(scene.boxes) if not box.bare
    ]
    things += [((s.x, s.y, s.x + s.width, s.y + s.height), ("stub", -1)) for s in scene.stubs if s.kind != "more"]
    things += [(of_text(text), ("text", text)) for text in scene.texts if text.content]
    for one, other in close_pairs(things):
        if {one[0], other[0]} == {"text", "box"} or {one[0], other[0]} == {"text", "stub"}:
            text = one[1] if one[0] == "text" else other[1]
            thing = other if one[0] == "text" else one
            assert isinstance(text, Text)
            if thing[0] == "box" and thing[1] in own(scene, text):
                continue
            name = scene.boxes[int(thing[1])].address if thing[0] == "box" else "a stub"  # type: ignore[call-overload]
            yield f"text {text.content!r} ({text.role}) lies on {name}"


def own(scene: Scene, text: Text) -> set[int]:
    """Boxes that a text may lie on."""
    if text.role == "stub":
        return above(scene, scene.boxes[text.box].parent)
    return above(scene, text.box)


def lines_through_boxes(scene: Scene) -> Iterator[str]:
    """A line touches no box but those at its ends and those around it, and those at its ends only from
    outside."""
    filed = Filed([(of_box(box), index) for index, box in enumerate(scene.boxes) if not box.bare])
    for edge in scene.routes:
        ends = {edge.source, edge.target} - {-1}
        inner = next(iter(ends)) if ends else -1
        allowed = above(scene, scene.boxes[inner].parent) if inner >= 0 else above(scene, edge.frame)
        for run in _straight_runs(edge.points):
            for rect, index in filed.near(run):
                if index in allowed:
                    continue
                if run_touches_rect(run, _grow_rect(rect, -ROUND if index in ends else 0)):
                    yield f"line {edge.title!r} runs through {scene.boxes[index].address}"


def lines_through_texts(scene: Scene) -> Iterator[str]:
    """A line runs through no title, label or mark; through no label of another edge."""
    filed = Filed([(of_text(text), text) for text in scene.texts if text.content])
    for edge in scene.routes:
        for run in _straight_runs(edge.points):
            for rect, text in filed.near(run):
                mine = text.role == "edge" and text.full == edge.title
                if not mine and run_touches_rect(run, rect):
                    yield f"line {edge.title!r} runs through text {text.content!r} ({text.role})"


class Filed(Generic[T]):
    """Rectangles filed by squares."""

    def __init__(self, things: list[tuple[SkylineRect, T]]) -> None:
        self.cells: dict[tuple[int, int], list[tuple[SkylineRect, T]]] = {}
        for rect, thing in things:
            for cell in squares(rect):
                self.cells.setdefault(cell, []).append((rect, thing))

    def near(self, run: tuple[Point, Point]) -> list[tuple[SkylineRect, T]]:
        """What lies in the squares of a run."""
        (ax, ay), (bx, by) = run
        rect = (min(ax, bx), min(ay, by), max(ax, bx), max(ay, by))
        found: dict[int, tuple[SkylineRect, T]] = {}
        for cell in squares(rect):
            for one in self.cells.get(cell, ()):
                found[id(one)] = one
        return list(found.values())


def squares(rect: SkylineRect, size: int = 128) -> Iterator[tuple[int, int]]:
    for column in range(rect[0] // size, rect[2] // size + 1):
        for row in range(rect[1] // size, rect[3] // size + 1):
            yield column, row


def ports_meet(scene: Scene) -> Iterator[str]:
    """Every port is met by a line inside its frame and by one outside, at the same point."""
    inside: set[tuple[int, Point]] = set()
    outside: set[tuple[int, Point]] = set()
    for edge in scene.routes:
        for end, box in ((edge.points[0], edge.source), (edge.points[-1], edge.target)):
            if box < 0:
                inside.add((edge.frame, end))
            else:
                outside.add((box, end))
    for port in scene.ports:
        name = scene.boxes[port.box].address
        if (port.box, (port.x, port.y)) not in inside:
            yield f"no line inside meets the port {port.title!r} of {name}"
        if (port.box, (port.x, port.y)) not in outside:
            yield f"no line outside meets the port {port.title!r} of {name}"


def lines_end_at_borders(scene: Scene) -> Iterator[str]:
    """A line ends on the border of its box (within the round end of a pill) or at a port."""
    at_ports = {(port.box, (port.x, port.y)) for port in scene.ports}
    for edge in scene.routes:
        for (x, y), index in ((edge.points[0], edge.source), (edge.points[-1], edge.target)):
            if index < 0 or scene.boxes[index].bare:
                if (edge.frame if index < 0 else index, (x, y)) not in at_ports:
                    yield f"line {edge.title!r} ends at no port"
                continue
            left, top, right, bottom = of_box(scene.boxes[index])
            off = min(abs(x - left), abs(x - right), abs(y - top), abs(y - bottom))
            if not (left <= x <= right and top <= y <= bottom and off <= ROUND):
                yield f"line {edge.title!r} does not end at {scene.boxes[index].address}"
