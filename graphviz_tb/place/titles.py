"""The title bar of an open group: its text keeps clear of the edges that cross the bar and of the +/−
mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphviz_tb.model.measure import clean, elide, width
from graphviz_tb.model.scene import Text
from graphviz_tb.model.view import Face
from graphviz_tb.place.sizes import NODE_SIZE, SMALL_SIZE, second_line

BAR = 24
LEFT, RIGHT = 12, 24  # room before the text, and after it for the mark
CLEAR = 8  # between the text and an edge
BETWEEN = 8  # between the name and the count
MOST = 240
BASE = 16


@dataclass(frozen=True, slots=True)
class Title:
    """The texts of a title bar, and how far the content must be moved right and the frame widened for
    them."""

    texts: tuple[Text, ...]
    shift: int
    width: int


NO_TITLE = Title((), 0, 0)


def title(face: Face, crossing: Sequence[int], wide: int) -> Title:
    """Find room for the name and the count.

    Before: `crossing` are the x, ascending, at which edges cross the bar of a frame that would be `wide`.
    After: the text lies left of all of them, or in the first gap that is wide enough; where there is none,
    the name alone is tried, and at last the content moves to the right.
    """
    name = elide(clean(face.label), max(MOST, wide - LEFT - RIGHT), NODE_SIZE, True)
    count = second_line(face)
    crossing = sorted(crossing)
    wide = max([wide, *(x + RIGHT for x in crossing)])
    for told in (count, ""):
        need = _need(name, told)
        for start, stop in _gaps(crossing, max(wide, LEFT + need + RIGHT) if not crossing else wide):
            if stop - start >= need:
                return Title(_texts(face, name, told, start), 0, max(wide, start + need + RIGHT))
    shift = LEFT + _need(name, "") + CLEAR - crossing[0]
    if len(crossing) < 2 and wide - crossing[-1] > crossing[0]:
        # One edge near the left: the name goes to its right, and the frame grows there.
        start = crossing[-1] + CLEAR
        return Title(_texts(face, name, "", start), 0, start + _need(name, "") + RIGHT)
    return Title(_texts(face, name, "", LEFT), shift, wide + shift)


def _gaps(crossing: Sequence[int], wide: int) -> list[tuple[int, int]]:
    """Where text may stand, from left to right."""
    starts = [LEFT, *(x + CLEAR for x in crossing)]
    stops = [*(x - CLEAR for x in crossing), wide - RIGHT]
    return list(zip(starts, stops, strict=True))


def _need(name: str, count: str) -> int:
    need = width(name, NODE_SIZE, True)
    return need + BETWEEN + width(count, SMALL_SIZE) if count else need


def _texts(face: Face, name: str, count: str, x: int) -> tuple[Text, ...]:
    wide = width(name, NODE_SIZE, True)
    first = Text(x, BASE, name, face.full, NODE_SIZE, wide, "title", "start", True, inside=True)
    if not count:
        return (first,)
    x += wide + BETWEEN
    return first, Text(x, BASE, count, count, SMALL_SIZE, width(count, SMALL_SIZE), "count", "start", inside=True)
