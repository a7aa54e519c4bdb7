"""Place a box into the foot of a frame that is not drawn, beside the boxes that feed the stack in it.

 ┌───────────┐          ┌───────────┐
 │   stack   │          │   stack   │
 └─▲───────▲─┘          └─▲───────▲─┘
 ┌─┴──┐    │      to    ┌─┴──┐ ┌──┴──┐
 │mask│    │            │mask│ │ box │
 └─▲──┘ ┌──┴──┐         └─▲──┘ └──▲──┘
   │    │ box │
        └──▲──┘

The frame keeps room for the box beside its own boxes. The level around it, which is laid out later, moves the frame and
all that follows it towards the box, if nothing is in the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Point, Size
from graphviz_tb.model.skeleton import LevelGaps, LevelLayout, Skeleton
from graphviz_tb.model.view import View
from graphviz_tb.place.attachment import Gates
from graphviz_tb.place.boxes import box_names, closed_piece

FOOT_MARGIN_PX = 16  # between a box in a foot and the boxes beside it
STACK_DISTANCE_PX = LevelGaps().labelled  # from a box in a foot to the stack


@dataclass(frozen=True, slots=True)
class Foot:
    """The foot of a frame, with the flow running down: its `boxes` (left, right), which are between `top` and `bottom`,
    the y of its `stack`, and the `port` from which the main path runs straight there."""

    boxes: tuple[Point, ...]
    top: int
    bottom: int
    stack: int
    port: int


@dataclass(frozen=True, slots=True)
class RaisedEnd:
    """A line that reaches the stack of the open child `item` through its foot: its `port` there, and how far that is
    from the border."""

    item: int
    port: int
    depth: int


def _foot_items(skeleton: Skeleton) -> tuple[int, tuple[int, ...]]:
    """Return the waypoint of the main path in the foot of a level, and the boxes beside it; (-1, ()) if there is no
    foot."""
    starts = [skeleton.wires[wire] for wire in skeleton.main_path if _is_from_port(skeleton, wire)]
    rows = skeleton.parts[skeleton.port_part] if skeleton.port_part >= 0 else ()
    if len(starts) != 1 or len(starts[0].chain) != 3 or starts[0].turned or len(rows) < 3 or any(skeleton.breaks):
        return -1, ()
    way = starts[0].chain[1]
    boxes = tuple(item for item in rows[1] if item < skeleton.children)
    alone = [item for item in rows[2] if item < skeleton.children] == [starts[0].chain[-1]]
    return (way, boxes) if boxes and alone and way in rows[1] else (-1, ())


def _is_from_port(skeleton: Skeleton, wire: int) -> bool:
    return skeleton.wires[wire].chain[0] >= skeleton.children


def room_in_foot(skeleton: Skeleton, around: View, frame: int) -> int:
    """Return the pixels to keep free in the foot of a frame, at both sides of the main path, for the closed
    box that feeds the frame on the level around; 0 if there is no foot or no such box."""
    outer = around.skeleton
    chains = [outer.wires[wire].chain for wire in outer.main_path if not outer.wires[wire].turned]
    before = [chain[0] for chain in chains if len(chain) == 2 and chain[1] == frame and chain[0] < outer.children]
    if len(before) != 1 or before[0] in around.opened or not _foot_items(skeleton)[1]:
        return 0
    names = box_names((*around.node_labels, *around.functions))
    piece = closed_piece(around.node_labels[before[0]], names[before[0]], around.words, before[0], True)
    return max(piece.x + piece.box[0] // 2, piece.width - piece.x - piece.box[0] // 2) + FOOT_MARGIN_PX


def rooms_in_foot(skeleton: Skeleton, room: int) -> dict[int, int]:
    """Return the distance to the next item of each item in the foot of a level, with `room` px for a box there."""
    way, boxes = _foot_items(skeleton) if room else (-1, ())
    return dict.fromkeys((way, *boxes), room) if boxes else {}


def find_foot(skeleton: Skeleton, level: LevelLayout, sizes: Sequence[Size]) -> Foot | None:
    """Return the foot of a level that is laid out; None if it has none."""
    way, boxes = _foot_items(skeleton)
    wire = next((wire for wire in skeleton.main_path if way in skeleton.wires[wire].chain), -1)
    if wire < 0 or len(level.routes[wire]) != 2:
        return None
    tops = [level.positions[item][1] for item in boxes]
    bottoms = [level.positions[item][1] + sizes[item][1] for item in boxes]
    sides = [(level.positions[item][0], level.positions[item][0] + sizes[item][0]) for item in boxes]
    stack = level.positions[skeleton.wires[wire].chain[-1]][1]
    return Foot(tuple(sides), min(tops), max(bottoms), stack, skeleton.wires[wire].chain[0] - skeleton.children)


def stand_in_feet(
    skeleton: Skeleton, level: LevelLayout, sizes: Sequence[Size], feet: Mapping[int, Foot], gates: Gates
) -> tuple[LevelLayout, dict[int, RaisedEnd]]:
    """Return a level with the boxes before frames in the feet of these, and the lines that reach into feet, by wire."""
    raised: dict[int, RaisedEnd] = {}
    for wire in skeleton.main_path:
        chain = skeleton.wires[wire].chain
        source, item = chain[0], chain[-1]
        plain = len(chain) == 2 and not skeleton.wires[wire].turned and source < skeleton.children
        if item not in feet or not plain or source in gates or level.rules or skeleton.falling:
            continue
        foot, border = feet[item], level.positions[item][1]
        top, high = level.positions[source][1], sizes[source][1]
        centred_up = border + (foot.top + foot.bottom) // 2 - top - high // 2
        up = min(centred_up, border + foot.stack - top - high - STACK_DISTANCE_PX)
        moved = _moved_up(level, border, up) if up > FOOT_MARGIN_PX else None
        if moved is None or not _fits(level, sizes, foot, item, up):
            continue
        depth = foot.stack - 1
        routes = [*moved.routes]
        routes[wire] = (*routes[wire][:-1], (routes[wire][-1][0], border - up + depth))
        turns_kept = [_directions(one) == _directions(two) for one, two in zip(level.routes, routes, strict=True)]
        if all(turns_kept) and len(level.routes[wire]) == 2:
            level = replace(moved, routes=tuple(routes))
            raised[wire] = RaisedEnd(item, foot.port, depth)
    return level, raised


def _moved_up(level: LevelLayout, border: int, up: int) -> LevelLayout:
    """Return a level with all from `border` on moved up."""
    return replace(
        level,
        positions=tuple([(x, y - up if y >= border else y) for x, y in level.positions]),
        routes=tuple([tuple([(x, y - up if y >= border else y) for x, y in line]) for line in level.routes]),
        height=level.height - up,
    )


def _directions(line: Sequence[Point]) -> list[tuple[bool, bool, bool, bool]]:
    """Return the direction of each run of a line."""
    return [(a[0] < b[0], a[0] > b[0], a[1] < b[1], a[1] > b[1]) for a, b in pairwise(line)]


def _fits(level: LevelLayout, sizes: Sequence[Size], foot: Foot, item: int, up: int) -> bool:
    """Return whether the frame of `item`, moved up, keeps clear of all boxes and lines before it."""
    (left, border), (width, height) = level.positions[item], sizes[item]
    near, last = border - up - FOOT_MARGIN_PX, border - up + foot.bottom + FOOT_MARGIN_PX
    beside = [(left + start, left + end) for start, end in foot.boxes]
    for child, (x, y) in enumerate(level.positions):
        wide, high = sizes[child]
        passes = y + high <= near or y >= border + height or not _is_near(x, x + wide, [(left, left + width)], 0)
        if child == item or not wide or (passes and not border <= y < border + height):
            continue
        if y >= border or y + high > last or _is_near(x, x + wide, beside, FOOT_MARGIN_PX):
            return False
    for line in level.routes:
        for (x, y), (end, goal) in pairwise(line):
            inside = near + FOOT_MARGIN_PX < max(y, goal) and min(y, goal) < border
            run = (min(x, end), max(x, end))
            if inside and max(y, goal) < border and _is_near(*run, beside, FOOT_MARGIN_PX // 2):
                return False
    return True


def _is_near(start: int, end: int, spans: Sequence[Point], margin: int) -> bool:
    return any(start < right + margin and end > left - margin for left, right in spans)
