"""The auxiliary area: what was taken out of the drawing, set apart behind a rule, in columns under a
heading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphviz_tb.model.measure import width
from graphviz_tb.model.scene import Point, Rule, Text
from graphviz_tb.place.sizes import BASELINE

AWAY = 48  # from the drawing to the area, the rule half way
HEADING_SIZE, HEADING_ROOM = 11, 24
GAP = 16
LEAST_LONG = 480  # a column is not broken before it is this long

Size = tuple[int, int]
Thing = tuple[int, int, int]  # width, height, and where its axis is: boxes of one column stand on one axis


@dataclass(frozen=True, slots=True)
class Area:
    """Places (upper left corners, in the order of the sizes given), and the size of everything."""

    places: tuple[Point, ...]
    texts: tuple[Text, ...]
    rules: tuple[Rule, ...]
    width: int
    height: int


def beside_core(core: Size, blocks: Sequence[tuple[str, Sequence[Sequence[Thing]]]], upright: bool) -> Area:
    """Set blocks, each a heading and columns of sizes, to the right of a drawing of size `core` (below it
    where the flow is horizontal).

    >>> area = beside_core((100, 300), [("Auxiliary", [[(80, 24, 40), (60, 24, 30)], []])], True)
    >>> area.places, area.width
    (((148, 24), (158, 64)), 228)
    """
    places: list[Point] = []
    texts: list[Text] = []
    rules: list[Rule] = []
    wide, tall = core
    for heading, columns in blocks:
        if not any(columns):
            continue
        origin = (wide + AWAY, 0) if upright else (0, tall + AWAY)
        found, size = _block(columns, core, upright)
        places += [(origin[0] + x, origin[1] + HEADING_ROOM + y) for x, y in found]
        label = _heading(heading, origin)
        texts.append(label)
        right = origin[0] + max(size[0], label.width)
        bottom = origin[1] + HEADING_ROOM + size[1]
        rules.append(_rule((wide, tall), (right, bottom), upright))
        wide, tall = max(wide, right), max(tall, bottom)
    return Area(tuple(places), tuple(texts), tuple(rules), wide, tall)


def _heading(content: str, origin: Point) -> Text:
    wide = width(content, HEADING_SIZE, True)
    y = origin[1] + HEADING_ROOM // 2 + BASELINE[HEADING_SIZE] - 6
    return Text(origin[0], y, content, content, HEADING_SIZE, wide, "heading", "start", True)


def _rule(before: Size, after: Size, upright: bool) -> Rule:
    if upright:
        x = before[0] + AWAY // 2
        return Rule(x, 0, x, max(before[1], after[1]))
    y = before[1] + AWAY // 2
    return Rule(0, y, max(before[0], after[0]), y)


def _block(columns: Sequence[Sequence[Thing]], core: Size, upright: bool) -> tuple[list[Point], Size]:
    """Places within one block: columns from top to bottom, or rows from left to right, broken where they get
    long."""
    limit = max(LEAST_LONG, core[1] if upright else core[0])
    places: list[Point] = []
    start = longest = 0
    for column in columns:
        for part in broken(column, limit, upright):
            axis = max(thing[2] for thing in part)
            along = 0
            for wide, tall, mine in part:
                off = start + axis - mine
                places.append((off, along) if upright else (along, off))
                along += (tall if upright else wide) + GAP
            longest = max(longest, along - GAP)
            start += axis + max((thing[0] if upright else thing[1]) - thing[2] for thing in part) + GAP
    start -= GAP
    return places, (start, longest) if upright else (longest, start)


def broken(column: Sequence[Thing], limit: int, upright: bool) -> list[list[Thing]]:
    """A column cut where it gets longer than `limit`.

    >>> broken([(10, 30, 5)] * 3, 80, True)
    [[(10, 30, 5), (10, 30, 5)], [(10, 30, 5)]]
    """
    parts: list[list[Thing]] = []
    along = 0
    for thing in column:
        deep = thing[1] if upright else thing[0]
        if not parts or along + deep > limit:
            parts.append([])
            along = 0
        parts[-1].append(thing)
        along += deep + GAP
    return parts
