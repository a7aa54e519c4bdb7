"""The title bar of an open group: its text keeps clear of the edges that cross the bar and of the +/− mark."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import NODE_FONT_PX, SMALL_FONT_PX, elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.scene import Text
from graphviz_tb.model.view import NodeLabel

TITLE_BAR_HEIGHT = 24  # px: one line of text, and room for the mark
TITLE_LEFT, TITLE_RIGHT = 12, 24  # room before the text, and after it for the mark
TITLE_CLEARANCE = 8  # between the text and an edge
NAME_COUNT_GAP = 8  # between the name and the count
MAX_TITLE_WIDTH = 240  # px of a name, even if the group is narrower
TITLE_BASELINE = 16  # px from the top of the bar to the foot of its letters


@dataclass(frozen=True, slots=True)
class TitleBar:
    """The texts of a title bar, and how far the content must move right and the frame widen for them."""

    texts: tuple[Text, ...]
    shift: int
    width: int


NO_TITLE_BAR = TitleBar((), 0, 0)


def lay_out_title(node: NodeLabel, count: str, crossing: Sequence[int], wide: int) -> TitleBar:
    """Find room for the name and the count.

    `crossing` are the x, ascending, at which edges cross the bar of a frame `wide` px wide. The name is left of all of
    them; if it has no room there, the content moves to the right. The count follows it, or is in the first gap that is
    wide enough, or is left out.
    """
    name = elide_text(
        replace_unsafe_characters(node.label), max(MAX_TITLE_WIDTH, wide - TITLE_LEFT - TITLE_RIGHT), NODE_FONT_PX, True
    )
    end = TITLE_LEFT + text_width(name, NODE_FONT_PX, True)
    shift = max(0, end + TITLE_CLEARANCE - min(crossing, default=end + TITLE_CLEARANCE))
    moved = sorted(x + shift for x in crossing)
    wide = max([wide + shift, end + TITLE_RIGHT, *(x + TITLE_RIGHT for x in moved)])
    if not count:
        return TitleBar((title_name(node, name),), shift, wide)
    need = text_width(count, SMALL_FONT_PX)
    if not moved:  # no edge in the way: the frame may grow for the count
        wide = max(wide, end + NAME_COUNT_GAP + need + TITLE_RIGHT)
    for start, stop in title_gaps(end + NAME_COUNT_GAP, moved, wide):
        if stop - start >= need:
            return TitleBar((title_name(node, name), title_count(count, start)), shift, wide)
    if node.stacked:  # the count of a stack is always shown, behind the last edge
        start = moved[-1] + TITLE_CLEARANCE
        return TitleBar(
            (title_name(node, name), title_count(count, start)), shift, max(wide, start + need + TITLE_RIGHT)
        )
    return TitleBar((title_name(node, name),), shift, wide)


def title_gaps(begin: int, crossing: Sequence[int], wide: int) -> list[tuple[int, int]]:
    """Return where text may be from `begin` on, from left to right."""
    starts = [begin, *(x + TITLE_CLEARANCE for x in crossing)]
    stops = [*(x - TITLE_CLEARANCE for x in crossing), wide - TITLE_RIGHT]
    return list(zip(starts, stops, strict=True))


def title_name(node: NodeLabel, name: str) -> Text:
    wide = text_width(name, NODE_FONT_PX, True)
    return Text(TITLE_LEFT, TITLE_BASELINE, name, node.full, NODE_FONT_PX, wide, "title", "start", True, inside=True)


def title_count(count: str, x: int) -> Text:
    return Text(
        x, TITLE_BASELINE, count, count, SMALL_FONT_PX, text_width(count, SMALL_FONT_PX), "count", "start", inside=True
    )
