"""Coordinates of a level too large to be laid out: its rows one below the other."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.model.level import Gaps, LevelLayout
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton


def in_rows(skeleton: Skeleton, sizes: Sequence[tuple[int, int]], gaps: Gaps) -> LevelLayout:
    """Each row in the middle, the ports of a side at equal distances; no line is laid out.

    >>> from graphviz_tb.model.skeleton import Skeleton
    >>> level = in_rows(Skeleton(3, (), (), (), (((0, 1), (2,)),), ((0,),), plain=True), [(40, 20)] * 3, Gaps())
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
    return LevelLayout(tuple(positions), tuple(spread(skeleton, width)), (), width, max(0, top - gaps.ranks))


def spread(skeleton: Skeleton, width: int) -> list[int]:
    """Where the ports lie across the flow."""
    first = sum([slot.first for slot in skeleton.ports])
    places = []
    for index, slot in enumerate(skeleton.ports):
        number, many = (index, first) if slot.first else (index - first, len(skeleton.ports) - first)
        places.append(width * (2 * number + 1) // (2 * many))
    return places
