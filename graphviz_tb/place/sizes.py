"""How large a closed box is, and where its texts are in it. Numbers of the look are named here."""

from __future__ import annotations

from dataclasses import dataclass

from graphviz_tb.model.measure import NODE_SIZE, OP_SIZE, SMALL_SIZE, clean, elide, width
from graphviz_tb.model.scene import BoxKind, Text, TextRole
from graphviz_tb.model.view import NodeLabel

# px: two lines of text fit the height; the least width keeps short names clickable, the most leaves room for others.
SCOPE_HEIGHT, SCOPE_LEAST, SCOPE_MOST = 32, 72, 200
OP_HEIGHT, OP_LEAST, OP_MOST = 24, 48, 180
PADDING = 12  # px between a label and the border
MARK_ROOM = {"op": 24, "scope": 20}  # from the end of a label to the border where the +/− mark is between
SHEET = 4  # how far the sheets of a stack are set off
BADGE_ROOM = 16  # the letter of a structure, lower right, has its place in every box that may bear one
RANGE, BETWEEN_WORDS = " … ", "_./-[]"
BASELINE = {12: 4, 11: 4, 10: 3}  # from the middle of a line down to its baseline


@dataclass(frozen=True, slots=True)
class Shape:
    """A closed box at its own origin. `sheets` as in `Box`, `top` the y of the front sheet; texts are
    relative to the upper left corner."""

    width: int
    height: int
    sheets: int
    texts: tuple[Text, ...]
    top: int = 0

    @property
    def middle(self) -> int:
        """The y of the middle of the front sheet."""
        return (self.height + self.top) // 2


def closed(node: NodeLabel, second: str) -> Shape:
    """The box of a child that is not open; `second` is its second line.

    >>> from graphviz_tb.model.view import NodeLabel
    >>> shape = closed(NodeLabel(1, "conv1", "scope", "conv1", "conv1", openable=True), "12 ops")
    >>> shape.width, shape.height, [text.content for text in shape.texts]
    (73, 32, ['conv1', '12 ops'])
    >>> closed(NodeLabel(2, "Relu", "op", "Relu", "Relu"), "").height
    24
    """
    kind = drawn_as(node)
    stack = node.kind in ("series", "fold")
    two_lines = bool(second) or kind != "op"
    inner, height, texts = _front(node, kind, clean(second), two_lines)
    if not stack:
        return Shape(inner, height, 0, texts)
    if not node.connected:
        return Shape(inner + 2 * SHEET, height, 2, texts)
    return Shape(inner, height + 2 * SHEET, 2, tuple(moved(text, 0, 2 * SHEET) for text in texts), 2 * SHEET)


def drawn_as(node: NodeLabel) -> BoxKind:
    """The kind that decides the outline: a stack's front sheet is drawn as its members."""
    kind = node.member if node.kind in ("series", "fold") else node.kind
    return "op" if kind in ("op", "call") else "scope"


def _front(node: NodeLabel, kind: BoxKind, second: str, two_lines: bool) -> tuple[int, int, tuple[Text, ...]]:
    """Width, height and texts of the front sheet."""
    op = kind == "op"
    least, most, size = (OP_LEAST, OP_MOST, OP_SIZE) if op else (SCOPE_LEAST, SCOPE_MOST, NODE_SIZE)
    side = MARK_ROOM["op" if op else "scope"] if node.openable else PADDING
    name = clean(node.label)
    name = name if name.strip() else f"“{name}”"
    label = elide(name if width(name, size) <= most - 2 * side else briefly(name), most - 2 * side, size)
    second = elide(second, most - 2 * BADGE_ROOM, SMALL_SIZE)
    wanted = max(width(label, size) + 2 * side, width(second, SMALL_SIZE) + 2 * BADGE_ROOM if second else 0)
    total = max(least, wanted)
    height = SCOPE_HEIGHT if two_lines else OP_HEIGHT
    if not second:
        return total, height, (_line(total // 2, height // 2, label, node.full, size, "label"),)
    first = _line(total // 2, 10, label, node.full, size, "label")
    return total, height, (first, _line(total // 2, 23, second, second, SMALL_SIZE, "second"))


def briefly(name: str) -> str:
    """A range of two names, the second without the words that it begins with as the first does.

    >>> briefly("…LeakyRelu … …LeakyRelu_1"), briefly("block1_conv … block1_pool"), briefly("conv … pool")
    ('…LeakyRelu … _1', 'block1_conv … pool', 'conv … pool')
    """
    ends = name.split(RANGE)
    if len(ends) != 2:
        return name
    first, last = ends
    same = at = 0
    while at < min(len(first), len(last)) and first[at] == last[at]:
        at += 1
        if last[at - 1] in BETWEEN_WORDS or last[at : at + 1] in BETWEEN_WORDS:
            same = at
    return f"{first}{RANGE}{last[same:]}" if 0 < same < len(last) else name


def _line(middle: int, centre: int, content: str, full: str, size: int, role: TextRole) -> Text:
    baseline = centre + BASELINE[size]
    return Text(middle, baseline, content, full, size, width(content, size), role, "middle", inside=True)


def moved(text: Text, x: int, y: int, box: int | None = None) -> Text:
    """`text` set off by (x, y), belonging to `box` if one is given."""
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
