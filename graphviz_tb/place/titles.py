"""The title bar of an open group: its text keeps clear of the edges that cross the bar and of the +/− mark."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import NODE_SIZE, SMALL_SIZE, clean, elide, width
from graphviz_tb.model.scene import Text
from graphviz_tb.model.view import NodeLabel

BAR = 24  # px: one line of text, and room for the mark
LEFT, RIGHT = 12, 24  # room before the text, and after it for the mark
CLEAR = 8  # between the text and an edge
BETWEEN = 8  # between the name and the count
MOST = 240  # px of a name, even if the group is narrower
BASE = 16  # px from the top of the bar to the foot of its letters


@dataclass(frozen=True, slots=True)
class Title:
    """The texts of a title bar, and how far the content must move right and the frame widen for them."""

    texts: tuple[Text, ...]
    shift: int
    width: int


NO_TITLE = Title((), 0, 0)


def title(node: NodeLabel, count: str, crossing: Sequence[int], wide: int) -> Title:
    """Find room for the name and the count.

    `crossing` are the x, ascending, at which edges cross the bar of a frame `wide` px wide. The name is left of all of
    them; if it has no room there, the content moves to the right. The count follows it, or is in the first gap that is
    wide enough, or is left out.
    """
    name = elide(clean(node.label), max(MOST, wide - LEFT - RIGHT), NODE_SIZE, True)
    end = LEFT + width(name, NODE_SIZE, True)
    shift = max(0, end + CLEAR - min(crossing, default=end + CLEAR))
    moved = sorted(x + shift for x in crossing)
    wide = max([wide + shift, end + RIGHT, *(x + RIGHT for x in moved)])
    if not count:
        return Title((_name(node, name),), shift, wide)
    need = width(count, SMALL_SIZE)
    if not moved:  # no edge in the way: the frame may grow for the count
        wide = max(wide, end + BETWEEN + need + RIGHT)
    for start, stop in _gaps(end + BETWEEN, moved, wide):
        if stop - start >= need:
            return Title((_name(node, name), _count(count, start)), shift, wide)
    if node.stacked:  # the count of a stack is always shown, behind the last edge
        start = moved[-1] + CLEAR
        return Title((_name(node, name), _count(count, start)), shift, max(wide, start + need + RIGHT))
    return Title((_name(node, name),), shift, wide)


def _gaps(begin: int, crossing: Sequence[int], wide: int) -> list[tuple[int, int]]:
    """Return where text may be from `begin` on, from left to right."""
    starts = [begin, *(x + CLEAR for x in crossing)]
    stops = [*(x - CLEAR for x in crossing), wide - RIGHT]
    return list(zip(starts, stops, strict=True))


def _name(node: NodeLabel, name: str) -> Text:
    wide = width(name, NODE_SIZE, True)
    return Text(LEFT, BASE, name, node.full, NODE_SIZE, wide, "title", "start", True, inside=True)


def _count(count: str, x: int) -> Text:
    return Text(x, BASE, count, count, SMALL_SIZE, width(count, SMALL_SIZE), "count", "start", inside=True)
