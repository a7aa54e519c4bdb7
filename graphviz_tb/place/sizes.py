"""Sizes of closed boxes, and the places of their texts."""

from __future__ import annotations

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import SMALL_SIZE, clean, elide, width
from graphviz_tb.model.scene import BoxKind, Text, TextRole
from graphviz_tb.model.view import NodeLabel
from graphviz_tb.place.names import OP_MOST, SCOPE_MOST, Name, drawn_as

# px: two lines of text fit the height; the minimum width keeps short names clickable.
SCOPE_HEIGHT, SCOPE_LEAST = 32, 72
OP_HEIGHT, OP_LEAST = 24, 48
SHEET = 4  # px between the sheets of a stack
BADGE_ROOM = 16  # px for the letter of a structure, in every box that may have one
BASELINE = {12: 4, 11: 4, 10: 3}  # from the middle of a line down to its baseline


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


def closed(node: NodeLabel, name: Name, second: str) -> ClosedBox:
    """Return the box of a closed child; `name` is the name on it, `second` its second line.

    >>> from graphviz_tb.model.view import NodeLabel
    >>> from graphviz_tb.place.names import name_of
    >>> scope = NodeLabel(1, "conv1", "scope", "conv1", "conv1", openable=True)
    >>> op = NodeLabel(2, "Relu", "op", "Relu", "Relu")
    >>> shape = closed(scope, name_of(scope), "12 ops")
    >>> shape.width, shape.height, [text.content for text in shape.texts]
    (73, 32, ['conv1', '12 ops'])
    >>> closed(op, name_of(op), "").height
    24
    """
    kind = drawn_as(node)
    stack = node.kind in ("series", "fold")
    two_lines = bool(second) or kind != "op"
    inner, height, texts = _front(node, name, kind, clean(second), two_lines)
    if not stack:
        return ClosedBox(inner, height, 0, texts)
    if not node.connected:
        return ClosedBox(inner + 2 * SHEET, height, 2, texts)
    return ClosedBox(inner, height + 2 * SHEET, 2, tuple(moved(text, 0, 2 * SHEET) for text in texts), 2 * SHEET)


def _front(
    node: NodeLabel, name: Name, kind: BoxKind, second: str, two_lines: bool
) -> tuple[int, int, tuple[Text, ...]]:
    """Return width, height and texts of the front sheet."""
    least, most = (OP_LEAST, OP_MOST) if kind == "op" else (SCOPE_LEAST, SCOPE_MOST)
    label, size, side = name.label, name.size, name.side
    second = elide(second, most - 2 * BADGE_ROOM, SMALL_SIZE)
    wanted = max(width(label, size) + 2 * side, width(second, SMALL_SIZE) + 2 * BADGE_ROOM if second else 0)
    total = max(least, wanted)
    height = SCOPE_HEIGHT if two_lines else OP_HEIGHT
    if not second:
        return total, height, (_line(total // 2, height // 2, label, node.full, size, "label"),)
    first = _line(total // 2, 10, label, node.full, size, "label")
    return total, height, (first, _line(total // 2, 23, second, second, SMALL_SIZE, "second"))


def _line(middle: int, centre: int, content: str, full: str, size: int, role: TextRole) -> Text:
    baseline = centre + BASELINE[size]
    return Text(middle, baseline, content, full, size, width(content, size), role, "middle", inside=True)


def moved(text: Text, x: int, y: int, box: int | None = None) -> Text:
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
