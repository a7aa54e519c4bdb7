"""Sizes of closed boxes, and the places of their texts."""

from __future__ import annotations

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import SMALL_FONT_PX, elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.scene import BoxKind, Text, TextRole
from graphviz_tb.model.view import NodeLabel
from graphviz_tb.place.names import MAX_OP_WIDTH, MAX_SCOPE_WIDTH, BoxName, outline_kind

# px: two lines of text fit the height; the minimum width keeps short names clickable.
SCOPE_HEIGHT, MIN_SCOPE_WIDTH = 32, 72
OP_HEIGHT, MIN_OP_WIDTH = 24, 48
SHEET_OFFSET = 4  # px between the sheets of a stack
BADGE_ROOM = 16  # px for the letter of a structure, in every box that may have one
BASELINE_OFFSET = {12: 4, 11: 4, 10: 3}  # from the middle of a line down to its baseline


@dataclass(frozen=True, slots=True)
class ClosedBox:
    """A closed box at its own origin. `sheets` as in `Box`, `top` the y of the front sheet; texts are relative to the
    upper left corner."""

    width: int
    height: int
    sheets: int
    texts: tuple[Text, ...]
    top: int = 0

    @property
    def middle(self) -> int:
        """The y of the middle of the front sheet."""
        return (self.height + self.top) // 2


def closed_box(node: NodeLabel, name: BoxName, second: str) -> ClosedBox:
    """Return the box of a closed child; `name` is the name on it, `second` its second line.

    >>> from graphviz_tb.model.view import NodeLabel
    >>> from graphviz_tb.place.names import box_name
    >>> scope = NodeLabel(1, "conv1", "scope", "conv1", "conv1", openable=True)
    >>> op = NodeLabel(2, "Relu", "op", "Relu", "Relu")
    >>> shape = closed_box(scope, box_name(scope), "12 ops")
    >>> shape.width, shape.height, [text.content for text in shape.texts]
    (73, 32, ['conv1', '12 ops'])
    >>> closed_box(op, box_name(op), "").height
    24
    """
    kind = outline_kind(node)
    stack = node.kind in ("series", "fold")
    two_lines = bool(second) or kind != "op"
    inner, height, texts = front_sheet(node, name, kind, replace_unsafe_characters(second), two_lines)
    if not stack:
        return ClosedBox(inner, height, 0, texts)
    if not node.connected:
        return ClosedBox(inner + 2 * SHEET_OFFSET, height, 2, texts)
    return ClosedBox(
        inner,
        height + 2 * SHEET_OFFSET,
        2,
        tuple(move_text(text, 0, 2 * SHEET_OFFSET) for text in texts),
        2 * SHEET_OFFSET,
    )


def front_sheet(
    node: NodeLabel, name: BoxName, kind: BoxKind, second: str, two_lines: bool
) -> tuple[int, int, tuple[Text, ...]]:
    """Return width, height and texts of the front sheet."""
    least, most = (MIN_OP_WIDTH, MAX_OP_WIDTH) if kind == "op" else (MIN_SCOPE_WIDTH, MAX_SCOPE_WIDTH)
    label, size, side = name.label, name.size, name.side
    second = elide_text(second, most - 2 * BADGE_ROOM, SMALL_FONT_PX)
    wanted = max(
        text_width(label, size) + 2 * side, text_width(second, SMALL_FONT_PX) + 2 * BADGE_ROOM if second else 0
    )
    total = max(least, wanted)
    height = SCOPE_HEIGHT if two_lines else OP_HEIGHT
    if not second:
        return total, height, (centred_line(total // 2, height // 2, label, node.full, size, "label"),)
    first = centred_line(total // 2, 10, label, node.full, size, "label")
    return total, height, (first, centred_line(total // 2, 23, second, second, SMALL_FONT_PX, "second"))


def centred_line(middle: int, centre: int, content: str, full: str, size: int, role: TextRole) -> Text:
    baseline = centre + BASELINE_OFFSET[size]
    return Text(middle, baseline, content, full, size, text_width(content, size), role, "middle", inside=True)


def move_text(text: Text, x: int, y: int, box: int | None = None) -> Text:
    """Return `text` moved by (x, y), belonging to `box` if one is given."""
    return Text(
        text.x + x,
        text.y + y,
        text.content,
        text.full,
        text.size,
        text.width,
        text.role,
        text.anchor,
        text.semibold,
        text.box if box is None else box,
        text.inside,
        text.identities,
    )
