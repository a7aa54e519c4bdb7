"""Remove the room around the content of a frame that is not drawn, so that inputs and outputs are next to the content.

The frame around a whole model has a title bar and a border in the layout, but is not drawn if the title of the sheet
has its name. Then boxes outside move in by that room. An output with one straight line moves further, to the end of its
column, but not beyond the last output; an input whose line passes its box and turns back to it, as in a U, moves to the
other side of that box. Positions along the flow increase downstream in every direction.
"""

from __future__ import annotations

from dataclasses import replace

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Box, Point, Route, Scene, Size, Stub, Text

PORT_GAP_PX = 4  # between the content and the point where a line crosses the frame
BOX_GAP_PX, TEXT_GAP_PX = 28, 6  # along the flow, before a box with an arrow head and before a label
ASIDE_PX = 6  # across the flow, between a moved box and the items that it passes
LABEL_REACH_PX = 16  # from a line to its label
INPUT_LINE_PX = 44  # from an input to its box; room for a label and an arrow head


@dataclass(frozen=True, slots=True)
class Extent:
    """A rectangle: from `left` to `right` across the flow, from `start` to `end` along it."""

    left: int
    right: int
    start: int
    end: int


def sole_frame(scene: Scene) -> int:
    """Return the frame, not of a stack, that contains everything except single inputs and outputs; -1 if there is
    none."""
    outer = [index for index, box in enumerate(scene.boxes) if box.parent < 0]
    frames = [index for index in outer if scene.boxes[index].open]
    if len(frames) != 1 or scene.rules or scene.boxes[frames[0]].kind == "series":
        return -1
    sources, targets = {line.source for line in scene.routes}, {line.target for line in scene.routes}
    for index in outer:
        between = index in sources and index in targets
        if index != frames[0] and (scene.boxes[index].openable or scene.boxes[index].area != "main" or between):
            return -1
    return frames[0]


def drawn_size(scene: Scene) -> Size:
    """Return the width and height of a scene without its sole frame, which is not drawn."""
    frame = sole_frame(scene)
    closing = _closing_of(scene, frame) if frame >= 0 else None
    moved = None if closing is None else closing.closed_scene()
    return (scene.width, scene.height) if closing is None or moved is None else closing.drawn_area(moved)[2:]


def close_frame(scene: Scene, frame: int) -> Scene:
    """Return the scene with the frame bare and its room removed."""
    bare = replace(scene.boxes[frame], bare=True)
    scene = replace(
        scene,
        boxes=(*scene.boxes[:frame], bare, *scene.boxes[frame + 1 :]),
        ports=tuple([replace(port, bare=True) if port.box == frame else port for port in scene.ports]),
    )
    closing = _closing_of(scene, frame)
    moved = None if closing is None else closing.closed_scene()
    return scene if closing is None or moved is None else closing.cropped_scene(moved)


def _closing_of(scene: Scene, frame: int) -> _FrameClosing | None:
    """Return the closing of a frame; None if its room stays."""
    if scene.webs or scene.rules or any(box.area != "main" for box in scene.boxes):
        return None
    closing = _FrameClosing(scene, frame)
    return closing if closing.is_simple() else None


def _free_room(moving: list[Extent], others: list[Extent], most: int) -> int:
    """Return how far extents can move back along the flow, at most `most`, without touching the others."""
    room = most
    near_pairs = [
        (extent, other)
        for extent in moving
        for other in others
        if other.left - ASIDE_PX < extent.right and other.right + ASIDE_PX > extent.left
    ]
    has_changed = True
    while has_changed:  # each step moves an extent behind another one, so there are at most as many steps as pairs
        has_changed = False
        for extent, other in near_pairs:
            gap = BOX_GAP_PX if extent is moving[0] else TEXT_GAP_PX
            if extent.start - room < other.end + gap and extent.end - room > other.start - TEXT_GAP_PX:
                room, has_changed = extent.start - other.end - gap, True
    return room


class _FrameClosing:
    """The parts of a scene inside and outside of a frame, and the moves of the parts outside."""

    def __init__(self, scene: Scene, frame: int) -> None:
        self.scene, self.frame = scene, frame
        self.axis = 1 if scene.direction in ("BT", "TB") else 0  # of a point, along the flow
        self.sign = -1 if scene.direction in ("BT", "RL") else 1
        box = scene.boxes[frame]
        self.whole = self.extent((box.x, box.y), (box.x + box.width, box.y + box.height))
        self.outer = {number for number, other in enumerate(scene.boxes) if other.parent < 0 and number != frame}
        self.moves: dict[int, int] = {}  # by outer box, along the flow
        self.cuts: dict[int, int] = {}  # by port, its new place along the flow
        self.asides: dict[int, int] = {}  # by outer box, across the flow
        self.redrawn: dict[int, tuple[Point, ...]] = {}  # by route, its new points
        self.labels: dict[int, Point] = {}  # by text, its new place
        self.joints: dict[int, Point] = {}  # by port of such a route, its new place

    def along_flow(self, point: Point) -> int:
        """Return the place of a point along the flow."""
        return self.sign * point[self.axis]

    def extent(self, *points: Point) -> Extent:
        across, along = [point[1 - self.axis] for point in points], [self.along_flow(point) for point in points]
        return Extent(min(across), max(across), min(along), max(along))

    def box_extent(self, box: Box | Stub) -> Extent:
        return self.extent((box.x, box.y), (box.x + box.width, box.y + box.height))

    def text_extent(self, text: Text) -> Extent:
        left = text.x - {"start": 0, "middle": text.width // 2, "end": text.width}[text.anchor]
        return self.extent((left, text.y - text.size), (left + text.width, text.y + 2))

    def is_outer_route(self, route: Route) -> bool:
        """Return whether a line is on the level around the frame."""
        return route.frame < 0 and all(end == self.frame or end in self.outer for end in (route.source, route.target))

    def outer_extents(self) -> list[Extent]:
        """Return the extents of everything outside of the frame."""
        found = [self.box_extent(self.scene.boxes[number]) for number in self.outer]
        found += [self.extent(*route.points) for route in self.scene.routes if self.is_outer_route(route)]
        return [*found, *(self.text_extent(text) for text in self.scene.texts if text.box < 0)]

    def is_simple(self) -> bool:
        """Return whether everything outside is before or behind the frame, and joined only to its content."""
        joined = all(
            self.frame in (route.source, route.target) for route in self.scene.routes if self.is_outer_route(route)
        )
        return joined and all(
            extent.end <= self.whole.start or extent.start >= self.whole.end for extent in self.outer_extents()
        )

    def inner_extents(self) -> list[Extent]:
        """Return the extents of the content; lines to the frame count only up to the content."""
        scene, skipped = self.scene, {*self.outer, self.frame}
        found = [self.box_extent(box) for number, box in enumerate(scene.boxes) if number not in skipped]
        found += [self.box_extent(stub) for stub in scene.stubs if stub.box not in skipped]
        for text in scene.texts:
            if text.box >= 0 and text.box not in self.outer and not (text.inside and text.box == self.frame):
                found.append(self.text_extent(text))
        for route in scene.routes:
            if not self.is_outer_route(route):
                first, last = self.port_ends(route)
                inside = route.points[first : len(route.points) - last]
                found += [self.extent(*pair) for pair in zip(inside, inside[1:] or inside, strict=False)]
        return found

    def port_ends(self, route: Route) -> tuple[bool, bool]:
        """Return whether a line of the content begins at the frame, and whether it ends there."""
        return (
            route.frame == self.frame and route.source < 0,
            route.frame == self.frame and route.target < 0,
        )

    def closed_scene(self) -> Scene | None:
        """Return the scene with everything outside moved in; None if the frame has no content."""
        inner = self.inner_extents()
        if not inner:
            return None
        start, end = min(extent.start for extent in inner), max(extent.end for extent in inner)
        forward = max(0, start - PORT_GAP_PX - self.whole.start)
        backward = max(0, self.whole.end - end - PORT_GAP_PX)
        for number in self.outer:
            behind = self.box_extent(self.scene.boxes[number]).start >= self.whole.end
            self.moves[number] = -backward if behind else forward
        for number, port in enumerate(self.scene.ports):
            if port.box == self.frame:
                place = self.along_flow((port.x, port.y))
                self.cuts[number] = place + (forward if 2 * place < self.whole.start + self.whole.end else -backward)
        for number in sorted(self.outer):
            if self.moves[number] <= 0:
                self.move_output(number, inner)
            else:
                self.move_input(number, inner)
        return self.moved_scene()

    def move_input(self, number: int, inner: list[Extent]) -> None:
        """Move an input whose line passes a box and turns back to it to the other side of that box."""
        scene = self.scene
        lines = [index for index, route in enumerate(scene.routes) if number in (route.source, route.target)]
        if len(lines) != 1 or scene.routes[lines[0]].target_port < 0 or any(stub.box == number for stub in scene.stubs):
            return
        line, port = scene.routes[lines[0]], scene.routes[lines[0]].target_port
        # The line is straight up to the port in the border, and one line continues from there to the box.
        port_lines = [at for at, route in enumerate(scene.routes) if port in (route.source_port, route.target_port)]
        inner_lines = [index for index in port_lines if self.port_ends(scene.routes[index])[0]]
        if len(port_lines) != 2 or len(inner_lines) != 1 or len({point[1 - self.axis] for point in line.points}) > 1:
            return
        turn, head = scene.routes[inner_lines[0]].points[-2:]
        if self.along_flow(turn) <= self.along_flow(head) or turn[1 - self.axis] != head[1 - self.axis]:
            return  # it does not turn back
        box = self.box_extent(scene.boxes[number])
        shift = head[1 - self.axis] - line.points[0][1 - self.axis]
        start = self.along_flow(head) + INPUT_LINE_PX
        moved_box = Extent(box.left + shift, box.right + shift, start, start + box.end - box.start)
        freed = self.extent(*scene.routes[inner_lines[0]].points[-3:])  # the line leaves it
        others = [self.box_extent(scene.boxes[other]) for other in self.outer if other != number]
        for extent in (*inner, *others):
            is_apart = extent.left - ASIDE_PX >= moved_box.right or extent.right + ASIDE_PX <= moved_box.left
            is_freed = extent.left >= freed.left and extent.right <= freed.right and extent.start >= freed.start
            if not is_apart and extent.end > start - INPUT_LINE_PX // 2 and not is_freed:
                return  # there is no room for the input
        self.moves[number] = start - box.start
        self.asides[number] = shift
        new_start, new_port = self.point_at(head, start), self.point_at(head, start - INPUT_LINE_PX // 2)
        self.redrawn[lines[0]] = (new_start, new_port)
        self.redrawn[inner_lines[0]] = (new_port, head)
        self.joints[port] = new_port
        for index, text in enumerate(scene.texts):
            extent = self.text_extent(text)
            is_near = extent.left - LABEL_REACH_PX <= line.points[0][1 - self.axis] <= extent.right + LABEL_REACH_PX
            if text.box < 0 and text.role == "edge" and is_near and extent.end <= self.whole.start:
                middle = (extent.start + extent.end) // 2
                x, y = self.moved_point((text.x, text.y), start - INPUT_LINE_PX // 2 - middle, shift)
                self.labels[index] = (x, y)

    def move_output(self, number: int, inner: list[Extent]) -> None:
        """Move an output with one straight line further in, to the end of its column."""
        scene = self.scene
        lines = [route for route in scene.routes if number in (route.source, route.target)]
        if len(lines) != 1 or lines[0].target != number or lines[0].source_port < 0:
            return
        line, port = lines[0], lines[0].source_port
        port_lines = [route for route in scene.routes if port in (route.source_port, route.target_port)]
        inner_lines = [route for route in port_lines if self.port_ends(route)[1]]
        if len(port_lines) != 2 or len(inner_lines) != 1:
            return
        path = [*inner_lines[0].points[-2:], *line.points]
        if len(line.points) != 2 or len({point[1 - self.axis] for point in path}) > 1:
            return
        across = path[0][1 - self.axis]
        box = self.box_extent(scene.boxes[number])
        moving = [box, *(self.box_extent(stub) for stub in scene.stubs if stub.box == number)]
        moving += [
            extent
            for text in scene.texts
            if text.box < 0 and text.role == "edge"
            for extent in [self.text_extent(text)]
            if extent.left - LABEL_REACH_PX <= across <= extent.right + LABEL_REACH_PX and extent.end <= box.start
        ]
        others = [self.box_extent(scene.boxes[other]) for other in self.outer if other != number]
        room = _free_room(moving, [*inner, *others], box.start - self.along_flow(path[0]) - BOX_GAP_PX)
        if room > -self.moves[number]:
            self.moves[number] = -room
            self.cuts[port] = max(self.along_flow(path[0]) + PORT_GAP_PX, self.along_flow(line.points[0]) - room)

    def moved_point(self, point: Point, move: int, aside: int = 0) -> Point:
        """Return a point moved along and across the flow."""
        along = self.sign * move
        return (point[0] + aside, point[1] + along) if self.axis else (point[0] + along, point[1] + aside)

    def point_at(self, point: Point, place: int) -> Point:
        """Return a point moved to a place along the flow."""
        return self.moved_point(point, place - self.along_flow(point))

    def moved_scene(self) -> Scene:
        scene = self.scene
        texts = []
        for at, text in enumerate(scene.texts):
            move = self.moves.get(text.box, 0) if text.box >= 0 else self.label_move(text)
            x, y = self.moved_point((text.x, text.y), move, self.asides.get(text.box, 0))
            x, y = self.labels.get(at, (x, y))
            texts.append(text if (x, y) == (text.x, text.y) else replace(text, x=x, y=y))
        boxes = []
        for number, box in enumerate(scene.boxes):
            x, y = self.moved_point((box.x, box.y), self.moves.get(number, 0), self.asides.get(number, 0))
            boxes.append(box if (x, y) == (box.x, box.y) else replace(box, x=x, y=y))
        stubs = []
        for stub in scene.stubs:
            move = self.moves.get(stub.box, 0)
            x, y = self.moved_point((stub.x, stub.y), move)
            stubs.append(replace(stub, x=x, y=y, points=tuple(self.moved_point(point, move) for point in stub.points)))
        ports = []
        for number, port in enumerate(scene.ports):
            x, y = self.point_at((port.x, port.y), self.cuts[number]) if number in self.cuts else (port.x, port.y)
            x, y = self.joints.get(number, (x, y))
            ports.append(port if (x, y) == (port.x, port.y) else replace(port, x=x, y=y))
        return replace(
            scene,
            boxes=tuple(boxes),
            routes=tuple(
                replace(route, points=self.redrawn[at], parting=None) if at in self.redrawn else self.moved_route(route)
                for at, route in enumerate(scene.routes)
            ),
            ports=tuple(ports),
            stubs=tuple(stubs),
            texts=tuple(texts),
        )

    def label_move(self, text: Text) -> int:
        """Return the move of a label outside of the frame, that of the nearest box on its side of the frame."""
        extent = self.text_extent(text)
        middle = (extent.left + extent.right) // 2
        behind = extent.start >= self.whole.end
        near = [
            (max(0, box.left - middle, middle - box.right), number)
            for number in sorted(self.outer)
            for box in [self.box_extent(self.scene.boxes[number])]
            if (box.start >= self.whole.end) == behind
        ]
        return self.moves[min(near)[1]] if near else 0

    def moved_route(self, route: Route) -> Route:
        points = list(route.points)
        if self.is_outer_route(route):
            move = self.moves[route.target if route.source == self.frame else route.source]
            points = [self.moved_point(point, move) for point in points]
            at, port = (0, route.source_port) if route.source == self.frame else (-1, route.target_port)
            if port in self.cuts:
                points[at] = self.point_at(points[at], self.cuts[port])
            parting = route.parting and self.moved_point(route.parting, move)
            return replace(route, points=tuple(points), parting=parting)
        first, last = self.port_ends(route)
        for at, port, ends in ((0, route.source_port, first), (-1, route.target_port, last)):
            if ends and port in self.cuts:
                points[at] = self.point_at(points[at], self.cuts[port])
        return replace(route, points=tuple(points))

    def drawn_area(self, scene: Scene) -> tuple[int, int, int, int]:
        """Return left, top, width and height of the drawn part of a scene."""
        corners: list[Point] = []
        for number, box in enumerate(scene.boxes):
            if number != self.frame:
                corners += [(box.x, box.y), (box.x + box.width, box.y + box.height)]
        for stub in scene.stubs:
            corners += [(stub.x, stub.y), (stub.x + stub.width, stub.y + stub.height), *stub.points]
        for route in scene.routes:
            half = 1 + route.thickness // 20
            corners += [point for x, y in route.points for point in ((x - half, y - half), (x + half, y + half))]
        for text in scene.texts:
            if not (text.inside and text.box == self.frame):
                left = text.x - {"start": 0, "middle": text.width // 2, "end": text.width}[text.anchor]
                corners += [(left, text.y - text.size), (left + text.width, text.y + 2)]
        across, down = zip(*corners, strict=True)
        x, y = min(across), min(down)
        return x, y, max(across) - x, max(down) - y

    def cropped_scene(self, scene: Scene) -> Scene:
        """Return the scene cropped to its drawn part."""
        x, y, wide, tall = self.drawn_area(scene)
        return replace(
            scene,
            width=wide,
            height=tall,
            boxes=tuple(replace(box, x=box.x - x, y=box.y - y) for box in scene.boxes),
            routes=tuple(
                replace(
                    route,
                    points=tuple((left - x, top - y) for left, top in route.points),
                    parting=route.parting and (route.parting[0] - x, route.parting[1] - y),
                )
                for route in scene.routes
            ),
            ports=tuple(replace(port, x=port.x - x, y=port.y - y) for port in scene.ports),
            stubs=tuple(
                replace(
                    stub, x=stub.x - x, y=stub.y - y, points=tuple((left - x, top - y) for left, top in stub.points)
                )
                for stub in scene.stubs
            ),
            texts=tuple(replace(text, x=text.x - x, y=text.y - y) for text in scene.texts),
        )
