"""Place a level too large to be laid out: its rows one below the other, and the ends of its lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphviz_tb.model.level import LevelGaps, LevelLayout
from graphviz_tb.model.metagraph import EdgeKind
from graphviz_tb.model.scene import Point, Web
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.view import View


def place_plain_rows(skeleton: Skeleton, sizes: Sequence[tuple[int, int]], gaps: LevelGaps) -> LevelLayout:
    """Centre each row, and set the ports of a side at equal distances; no line is laid out.

    >>> from graphviz_tb.model.skeleton import Skeleton
    >>> level = place_plain_rows(
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
    return LevelLayout(tuple(positions), tuple(spread_ports(skeleton, width)), (), width, max(0, top - gaps.ranks))


def spread_ports(skeleton: Skeleton, width: int) -> list[int]:
    """Return where the ports are across the flow."""
    first = sum([slot.first for slot in skeleton.ports])
    places = []
    for index, slot in enumerate(skeleton.ports):
        number, many = (index, first) if slot.first else (index - first, len(skeleton.ports) - first)
        places.append(width * (2 * number + 1) // (2 * many))
    return places


def level_webs(view: View, frame: int, boxes: Mapping[int, int], ports: Mapping[int, int]) -> list[Web]:
    """Return the lines of a level by kind.

    `boxes` are numbers of boxes by position, `ports` those of ports by their index in the skeleton.
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
