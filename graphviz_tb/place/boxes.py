"""Lay out a child of a level: its box with texts and the stubs next to it, or the title bar of an open group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import (
    NODE_FONT_PX,
    OP_FONT_PX,
    SMALL_FONT_PX,
    elide_ends,
    elide_text,
    replace_unsafe_characters,
    text_width,
)
from graphviz_tb.model.metagraph import Side
from graphviz_tb.model.scene import BoxKind, LineIdentity, Point, Stub, Text, TextRole
from graphviz_tb.model.view import LevelWords, NodeLabel, StubWords

# The names in closed boxes. A long name is cut where the names of a level agree, not where they differ.

MAX_OP_WIDTH, MAX_SCOPE_WIDTH, MAX_PRINTED_WIDTH = 180, 200, 248  # px; the last in a figure
LABEL_PADDING = 12  # px between a label and the border
MARK_ROOM = {"op": 24, "scope": 20}  # px from the end of a label to the border, for the +/− mark
RANGE_SEPARATOR, WORD_SEPARATORS = " … ", "_./-[]"


@dataclass(frozen=True, slots=True)
class BoxName:
    """The `label` of a closed box, in `size` px, with `side` px to its left and right."""

    label: str
    size: int
    side: int
    semibold: bool = False


def box_names(nodes: Sequence[NodeLabel]) -> list[BoxName]:
    """Return the name on each box of a level.

    >>> long = "while_tensorlistpushback_%d_while_cond_accumulator"
    >>> nodes = [NodeLabel(row, "", "op", long % row, "") for row in range(2)]
    >>> [name.label for name in box_names(nodes)]
    ['while_tensorlistpush…0…ulator', 'while_tensorlistpush…1…ulator']
    """
    names = [_box_name(node) for node in nodes]
    alike: dict[str, list[int]] = {}
    for number, (node, name) in enumerate(zip(nodes, names, strict=True)):
        if name.label != _full_box_name(node):  # only shortened names can be equal by accident
            alike.setdefault(name.label, []).append(number)
    for group in alike.values():
        texts = [_full_box_name(nodes[number]) for number in group]
        if len(set(texts)) > 1:
            head, tail = _common_ends(texts)
            for number, text in zip(group, texts, strict=True):
                name = names[number]
                label = elide_ends(text, head, tail, _max_box_width(nodes[number]) - 2 * name.side, name.size)
                names[number] = BoxName(label, name.size, name.side, name.semibold)
    return names


def _box_name(node: NodeLabel) -> BoxName:
    """Return the name on a box, regardless of the names on other boxes."""
    op = _outline_kind(node) == "op"
    size = OP_FONT_PX if op else NODE_FONT_PX
    side = MARK_ROOM["op" if op else "scope"] if node.openable else LABEL_PADDING
    name, room = _full_box_name(node), _max_box_width(node) - 2 * side
    name = name if text_width(name, size, node.semibold) <= room else _shorten_range(name)
    return BoxName(elide_text(name, room, size, node.semibold), size, side, node.semibold)


def _full_box_name(node: NodeLabel) -> str:
    name = replace_unsafe_characters(node.label)
    name = name if name.strip() else f"“{name}”"
    return f"{name} {node.badge}" if node.kind == "series" and node.badge else name


def _max_box_width(node: NodeLabel) -> int:
    if _outline_kind(node) == "op":
        return MAX_OP_WIDTH
    return MAX_PRINTED_WIDTH if node.printed and node.semibold else MAX_SCOPE_WIDTH


def _outline_kind(node: NodeLabel) -> BoxKind:
    """Return the kind that decides the outline; the front sheet of a stack is drawn like its members."""
    kind = node.member if node.kind in ("series", "fold") else node.kind
    return "op" if kind in ("op", "call") else "scope"


def _common_ends(names: Sequence[str]) -> tuple[int, int]:
    """Return the lengths of the common beginning and end of names, in whole words.

    >>> _common_ends(["conv_1_bias_add", "conv_12_bias_add"])
    (5, 9)
    """
    first, shortest = names[0], min(len(name) for name in names)
    head = tail = 0
    while head < shortest and all(name[head] == first[head] for name in names):
        head += 1
    while head and first[head - 1] not in WORD_SEPARATORS:  # back to the end of a word
        head -= 1
    while tail < shortest - head and all(name[len(name) - 1 - tail] == first[len(first) - 1 - tail] for name in names):
        tail += 1
    while tail and first[len(first) - tail] not in WORD_SEPARATORS:
        tail -= 1
    return head, tail


def _shorten_range(name: str) -> str:
    """Shorten a range of two names: drop from the second the leading words it shares with the first.

    >>> (
    ...     _shorten_range("…LeakyRelu … …LeakyRelu_1"),
    ...     _shorten_range("block1_conv … block1_pool"),
    ...     _shorten_range("conv … pool"),
    ... )
    ('…LeakyRelu … _1', 'block1_conv … pool', 'conv … pool')
    """
    ends = name.split(RANGE_SEPARATOR)
    if len(ends) != 2:
        return name
    first, last = ends
    same = length = 0
    while length < min(len(first), len(last)) and first[length] == last[length]:
        length += 1
        if last[length - 1] in WORD_SEPARATORS or last[length : length + 1] in WORD_SEPARATORS:
            same = length
    return f"{first}{RANGE_SEPARATOR}{last[same:]}" if 0 < same < len(last) else name


# Sizes of closed boxes, and the places of their texts.

# px: two lines of text fit the height; the minimum width keeps short names clickable.
SCOPE_HEIGHT, MIN_SCOPE_WIDTH = 32, 72
OP_HEIGHT, MIN_OP_WIDTH = 24, 48
THIRD_LINE_PX = 13  # for a third line, about the first member of a stack
SIGN_DIAMETER = 18  # of the circle of a sum or a product
SHEET_OFFSET = 4  # px between the sheets of a stack
BADGE_ROOM = 16  # px for the letter of a structure, in every box that may have a letter
BASELINE_OFFSET = {12: 4, 11: 4, 10: 3}  # from the middle of a line down to its baseline


@dataclass(frozen=True, slots=True)
class ClosedBox:
    """A closed box at its own origin. `sheets` and `sign` as in `Box`, `top` the y of the front sheet; texts are
    relative to the upper left corner."""

    width: int
    height: int
    sheets: int
    texts: tuple[Text, ...]
    top: int = 0
    sign: str = ""

    @property
    def middle(self) -> int:
        """The y of the middle of the front sheet."""
        return (self.height + self.top) // 2


def _closed_box(node: NodeLabel, name: BoxName, second: str) -> ClosedBox:
    """Return the box of a closed child; `name` is the name on it, `second` its second line.

    >>> from graphviz_tb.model.view import NodeLabel
    >>> from graphviz_tb.place.boxes import _box_name
    >>> scope = NodeLabel(1, "conv1", "scope", "conv1", "conv1", openable=True)
    >>> op = NodeLabel(2, "Relu", "op", "Relu", "Relu")
    >>> shape = _closed_box(scope, _box_name(scope), "12 ops")
    >>> shape.width, shape.height, [text.content for text in shape.texts]
    (73, 32, ['conv1', '12 ops'])
    >>> _closed_box(op, _box_name(op), "").height
    24
    """
    if node.sign and not second:
        middle = SIGN_DIAMETER // 2
        drawn = _centred_line(middle, middle, node.sign, node.full, NODE_FONT_PX, "label")
        return ClosedBox(SIGN_DIAMETER, SIGN_DIAMETER, 0, (drawn,), sign=node.sign)
    kind = _outline_kind(node)
    stack = node.kind in ("series", "fold")
    two_lines = bool(second) or (kind != "op" and not node.printed)
    inner, height, texts = _front_sheet(node, name, kind, replace_unsafe_characters(second), two_lines)
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


def _front_sheet(
    node: NodeLabel, name: BoxName, kind: BoxKind, second: str, two_lines: bool
) -> tuple[int, int, tuple[Text, ...]]:
    """Return width, height and texts of the front sheet."""
    least, most = (MIN_OP_WIDTH, MAX_OP_WIDTH) if kind == "op" else (MIN_SCOPE_WIDTH, MAX_SCOPE_WIDTH)
    label, size, side = name.label, name.size, name.side
    words = [word for word in (second, replace_unsafe_characters(node.first)) if word] if second else []
    words = [elide_text(word, most - 2 * BADGE_ROOM, SMALL_FONT_PX) for word in words]
    wanted = [text_width(label, size, name.semibold) + 2 * side]
    wanted += [text_width(word, SMALL_FONT_PX) + 2 * BADGE_ROOM for word in words]
    total = max([least, *wanted])
    height = SCOPE_HEIGHT if two_lines else OP_HEIGHT
    middle = total // 2
    if not words:
        return total, height, (_centred_line(middle, height // 2, label, node.full, size, "label", name.semibold),)
    first = _centred_line(middle, 10, label, node.full, size, "label", name.semibold)
    below = [
        _centred_line(middle, 23 + THIRD_LINE_PX * at, word, word, SMALL_FONT_PX, "second")
        for at, word in enumerate(words)
    ]
    return total, height + THIRD_LINE_PX * (len(words) - 1), (first, *below)


def _centred_line(
    middle: int, centre: int, content: str, full: str, size: int, role: TextRole, semibold: bool = False
) -> Text:
    baseline, wide = centre + BASELINE_OFFSET[size], text_width(content, size, semibold)
    return Text(middle, baseline, content, full, size, wide, role, "middle", semibold, inside=True)


def move_text(text: Text, x: int, y: int, box: int | None = None) -> Text:
    """Return `text` moved by (x, y); if `box` is not None, the text belongs to that box."""
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


# The stubs next to a box: constants, summaries, extracted neighbours, the "+N" rest, and self loops.
#
# With a vertical flow, inputs are in a column on the left, outputs in a column on the right; with a horizontal flow,
# inputs are in rows above, outputs in rows below, joined by a rail. The two flow sides of the box are for its edges.

STUB_ROW = 14  # px from one stub to the next
STUB_LABEL_GAP = 4  # px between a stub and its label
STUB_LEAD = 18  # px of the line between a stub and its box
STUB_JOINT = 10  # px from a box to the point where the lines of its stubs join
RAIL_GAP = 10  # px from the rail to the first stub
STUB_SIZES: dict[str, tuple[int, int]] = {
    "shortcut": (18, 10),
    "constant": (10, 10),
    "summary": (12, 12),
    "weight": (10, 10),
    "more": (0, 10),
}
STUB_GAP = 4  # px after a label


@dataclass(frozen=True, slots=True)
class StubColumn:
    """The stubs on one side of a box, relative to the box's upper left corner."""

    stubs: tuple[Stub, ...] = ()
    texts: tuple[Text, ...] = ()


def _stub_width(stub: StubWords) -> int:
    """Return the width of a stub with its label."""
    return (
        STUB_SIZES[stub.kind][0]
        + (STUB_LABEL_GAP if stub.kind != "more" else 0)
        + text_width(stub.label, SMALL_FONT_PX)
    )


def _stub_column_width(column: Sequence[StubWords]) -> int:
    """Return the width of a column of stubs, including its lines."""
    return max((_stub_width(stub) for stub in column), default=-STUB_LEAD) + STUB_LEAD


def _stub_column(words: Sequence[StubWords], side: Side, middle: int, edge: int, reach: int, off: int) -> StubColumn:
    """Lay out a column of stubs around the height `middle`, outwards from `edge` (the x of the box's side) plus `off`.

    The lines are straight if all meet the side within `reach` of the middle; otherwise they join in the middle.
    """
    top = middle - STUB_ROW * (len(words) - 1) // 2  # the y of the first stub's middle
    sign = -1 if side == "in" else 1  # outwards: inputs to the left
    stubs, texts = [], []
    for index, stub in enumerate(words):
        y = top + STUB_ROW * index
        near, rail = edge + sign * (STUB_LEAD + off), edge + sign * (STUB_JOINT + off)
        line: tuple[Point, ...] = ((near, y), (edge, y))
        if abs(top - middle) > reach and y != middle:
            line = ((near, y), (rail, y), (rail, middle), (edge, middle))
        stubs.append(_stub_shape(stub, side, near if sign > 0 else near - STUB_SIZES[stub.kind][0], y, line))
        far = near + sign * (STUB_SIZES[stub.kind][0] + (STUB_LABEL_GAP if stub.kind != "more" else 0))
        texts.append(_stub_text(stub, far, y, "start" if sign > 0 else "end"))
    return StubColumn(tuple(stubs), tuple(texts))


def _stub_rows_height(words: Sequence[StubWords]) -> int:
    """Return the height of the stubs above or below a box."""
    return STUB_ROW * len(words) + STUB_LABEL_GAP if words else 0


def _stub_rail(words: Sequence[StubWords], side: Side, box: tuple[int, int], x: int) -> StubColumn:
    """Lay out stubs above (in) or below (out) a box, each joined to a rail at `x` that meets the box."""
    stubs, texts = [], []
    border = 0 if side == "in" else box[1]
    for index, stub in enumerate(words):
        away = STUB_LABEL_GAP + STUB_ROW * (len(words) - 1 - index if side == "in" else index) + STUB_ROW // 2
        y = border - away if side == "in" else border + away
        left = x + RAIL_GAP
        stubs.append(_stub_shape(stub, side, left, y, ((left, y), (x, y), (x, border))))
        texts.append(
            _stub_text(
                stub, left + STUB_SIZES[stub.kind][0] + (STUB_LABEL_GAP if stub.kind != "more" else 0), y, "start"
            )
        )
    return StubColumn(tuple(stubs), tuple(texts))


def _stub_shape(stub: StubWords, side: Side, left: int, middle: int, line: tuple[Point, ...]) -> Stub:
    """Return a stub. `line` goes from the stub to the box and is reversed for an outgoing edge."""
    across, along = STUB_SIZES[stub.kind]
    points = line if side == "in" else line[::-1]
    top = middle - along // 2
    notes = tuple(LineIdentity(kind="annotation", index=index) for index in stub.notes)
    return Stub(left, top, across, along, stub.kind, side, -1, stub.other, points, stub.control, stub.title, notes)


def _stub_text(stub: StubWords, x: int, middle: int, anchor: Literal["start", "end"]) -> Text:
    wide = text_width(stub.label, SMALL_FONT_PX)
    y = middle + BASELINE_OFFSET[SMALL_FONT_PX]
    return Text(x, y, stub.label, stub.title, SMALL_FONT_PX, wide, "stub", anchor)


HEADING_SIZE, HEADING_ROOM = 11, 24  # px: the font of a heading of an area, and its strip


def heading_text(content: str, corner: Point) -> Text:
    """Return the heading of an area in the strip whose upper left corner is given."""
    wide = text_width(content, HEADING_SIZE, True)
    y = corner[1] + HEADING_ROOM // 2 + BASELINE_OFFSET[HEADING_SIZE] - 6
    return Text(corner[0], y, content, content, HEADING_SIZE, wide, "heading", "start", True)


# A child in its slot: its box, the stubs next to it, and the rectangle around both.

LOOP_ROOM = 16  # px at the right of a box for its self loop

Stubs = Sequence[StubWords]


@dataclass(frozen=True, slots=True)
class Piece:
    """A slot of `width` × `height` with the box at (`x`, `y`) in it; texts and stubs are relative to the box.

    `behind`: the pixels at the right and at the top that the sheets of an open stack take; lines pass over them.
    """

    width: int
    height: int
    x: int
    y: int
    box: tuple[int, int]
    sheets: int = 0
    pill: bool = False
    texts: tuple[Text, ...] = ()
    stubs: tuple[Stub, ...] = ()
    loop: tuple[Point, ...] = ()
    behind: tuple[int, int] = (0, 0)
    sign: str = ""


def open_piece(size: tuple[int, int], node: NodeLabel) -> Piece:
    """Return the piece of an open child: the frame fills its slot, with the sheets of a stack."""
    return Piece(*size, 0, 0, size, 2 if node.stacked else 0, behind=sheet_margins(node))


def sheet_margins(node: NodeLabel) -> tuple[int, int]:
    """Return the pixels that the sheets of an open stack take at the right and at the top of its frame."""
    if not node.stacked:
        return 0, 0
    return (0, 2 * SHEET_OFFSET) if node.connected else (2 * SHEET_OFFSET, 0)


def closed_piece(
    node: NodeLabel, name: BoxName, words: LevelWords, position: int, upright: bool, least: int = 0
) -> Piece:
    """Return the piece of a closed child, at least `least` px wide; `upright` for a vertical flow."""
    shape = _closed_box(node, name, words.seconds[position])
    if shape.width < least:
        texts = tuple([move_text(text, (least - shape.width) // 2, 0) for text in shape.texts])
        shape = replace(shape, width=least, texts=texts)
    pill = _outline_kind(node) == "op"
    make = _vertical_piece if upright else _horizontal_piece
    return make(shape, words.incoming[position], words.outgoing[position], position in words.loops, pill)


def _vertical_piece(shape: ClosedBox, incoming: Stubs, outgoing: Stubs, loop: bool, pill: bool) -> Piece:
    """Place stub columns on the left and on the right."""
    wide, tall = box = (shape.width, shape.height)
    lead = _stub_column_width(incoming) + STUB_GAP if incoming else 0
    tail = _stub_column_width(outgoing) + STUB_GAP if outgoing else 0
    room = LOOP_ROOM if loop else 0
    stack = max(len(incoming), len(outgoing)) * STUB_ROW
    height = max(tall, stack)
    middle = shape.middle
    reach = max(0, (tall - shape.top) // 2 - 10)
    left = _stub_column(incoming, "in", middle, 0, reach, 0)
    right = _stub_column(outgoing, "out", middle, wide, reach, room)
    y = max(0, height // 2 - middle)  # the box is centred on its columns, by the middle of its front sheet
    return Piece(
        lead + wide + max(tail + room, room),
        max(height, y + tall),
        lead,
        y,
        box,
        shape.sheets,
        pill,
        shape.texts + left.texts + right.texts,
        left.stubs + right.stubs,
        _loop_points(box, middle) if loop else (),
        sign=shape.sign,
    )


def _horizontal_piece(shape: ClosedBox, incoming: Stubs, outgoing: Stubs, loop: bool, pill: bool) -> Piece:
    """Place stub rows above and below."""
    wide, tall = box = (shape.width, shape.height)
    above, below = _stub_rows_height(incoming), _stub_rows_height(outgoing)
    room = LOOP_ROOM if loop else 0
    start = 14
    over = _stub_rail(incoming, "in", box, start)
    under = _stub_rail(outgoing, "out", box, start)
    reach = max((start + RAIL_GAP + _stub_width(stub) for stub in (*incoming, *outgoing)), default=0)
    return Piece(
        max(wide + room, reach),
        above + tall + below,
        0,
        above,
        box,
        shape.sheets,
        pill,
        shape.texts + over.texts + under.texts,
        over.stubs + under.stubs,
        _loop_points(box, shape.middle) if loop else (),
        sign=shape.sign,
    )


def _loop_points(box: tuple[int, int], middle: int) -> tuple[Point, ...]:
    """Return an edge from a box to itself, at its right side."""
    x, up = box[0], box[1] // 4
    return ((x, middle - up), (x + LOOP_ROOM - 4, middle - up), (x + LOOP_ROOM - 4, middle + up), (x, middle + up))


# The title bar of an open group, whose text keeps clear of the edges that cross the bar and of the +/− mark.

TITLE_BAR_HEIGHT = 24  # px: one line of text, and room for the mark
TITLE_LEFT, TITLE_RIGHT = 12, 24  # px before the text, and after it for the mark
TITLE_CLEARANCE = 8  # px between the text and an edge
NAME_COUNT_GAP = 8  # px between the name and the count
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

    Edges cross the bar of the frame, `wide` px wide, at each x of `crossing`, ascending. The name is left of all edges;
    if it has no room there, the content moves to the right. The count follows the name, or is in the first gap that is
    wide enough, or is left out.
    """
    title, count = _title_words(node, count)
    name = elide_text(
        replace_unsafe_characters(title), max(MAX_TITLE_WIDTH, wide - TITLE_LEFT - TITLE_RIGHT), NODE_FONT_PX, True
    )
    end = TITLE_LEFT + text_width(name, NODE_FONT_PX, True)
    shift = max(0, end + TITLE_CLEARANCE - min(crossing, default=end + TITLE_CLEARANCE))
    moved = sorted(x + shift for x in crossing)
    wide = max([wide + shift, end + TITLE_RIGHT, *(x + TITLE_RIGHT for x in moved)])
    if not count:
        return TitleBar((_title_name(node, name),), shift, wide)
    need = text_width(count, SMALL_FONT_PX)
    if not moved:  # no edge is in the way, so the frame may grow for the count
        wide = max(wide, end + NAME_COUNT_GAP + need + TITLE_RIGHT)
    for start, stop in _title_gaps(end + NAME_COUNT_GAP, moved, wide):
        if stop - start >= need:
            return TitleBar((_title_name(node, name), _title_count(count, start)), shift, wide)
    if node.stacked:  # the count of a stack is always shown, after the last edge
        start = moved[-1] + TITLE_CLEARANCE
        return TitleBar(
            (_title_name(node, name), _title_count(count, start)), shift, max(wide, start + need + TITLE_RIGHT)
        )
    return TitleBar((_title_name(node, name),), shift, wide)


def _title_words(node: NodeLabel, count: str) -> tuple[str, str]:
    """Return the name and the count of a title bar. The name may be the second line of the closed box.

    >>> _title_words(NodeLabel(1, "", "scope", "4 heads", "a/attention", "attention", semibold=True), "attention")
    ('attention', '4 heads')
    """
    name = node.second.partition(" · ")[0]
    named = node.semibold and not node.stacked and len(name) > 0
    if not (named and node.full.endswith(name) and count.startswith(name)):
        return node.label, count
    return name, node.label + count[len(name) :]


def _title_gaps(begin: int, crossing: Sequence[int], wide: int) -> list[tuple[int, int]]:
    """Return the free ranges for text from `begin` on, from left to right."""
    starts = [begin, *(x + TITLE_CLEARANCE for x in crossing)]
    stops = [*(x - TITLE_CLEARANCE for x in crossing), wide - TITLE_RIGHT]
    return list(zip(starts, stops, strict=True))


def _title_name(node: NodeLabel, name: str) -> Text:
    wide = text_width(name, NODE_FONT_PX, True)
    return Text(TITLE_LEFT, TITLE_BASELINE, name, node.full, NODE_FONT_PX, wide, "title", "start", True, inside=True)


def _title_count(count: str, x: int) -> Text:
    return Text(
        x, TITLE_BASELINE, count, count, SMALL_FONT_PX, text_width(count, SMALL_FONT_PX), "count", "start", inside=True
    )
