"""The names in closed boxes, as long as there is room: cut where the names of a level agree, not where they differ."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import (
    NODE_FONT_PX,
    OP_FONT_PX,
    elide_ends,
    elide_text,
    replace_unsafe_characters,
    text_width,
)
from graphviz_tb.model.scene import BoxKind
from graphviz_tb.model.view import NodeLabel

MAX_OP_WIDTH, MAX_SCOPE_WIDTH = 180, 200  # px
LABEL_PADDING = 12  # px between a label and the border
MARK_ROOM = {"op": 24, "scope": 20}  # px from the end of a label to the border, with the +/− mark in between
RANGE_SEPARATOR, WORD_SEPARATORS = " … ", "_./-[]"


@dataclass(frozen=True, slots=True)
class BoxName:
    """The `label` of a closed box, in `size` px, with `side` px to its left and right."""

    label: str
    size: int
    side: int


def box_names(nodes: Sequence[NodeLabel]) -> list[BoxName]:
    """Return the name on each box of a level.

    >>> long = "while_tensorlistpushback_%d_while_cond_accumulator"
    >>> nodes = [NodeLabel(row, "", "op", long % row, "") for row in range(2)]
    >>> [name.label for name in box_names(nodes)]
    ['while_tensorlistpush…0…ulator', 'while_tensorlistpush…1…ulator']
    """
    names = [box_name(node) for node in nodes]
    alike: dict[str, list[int]] = {}
    for number, (node, name) in enumerate(zip(nodes, names, strict=True)):
        if name.label != full_box_name(node):  # only shortened names can have become equal
            alike.setdefault(name.label, []).append(number)
    for group in alike.values():
        texts = [full_box_name(nodes[number]) for number in group]
        if len(set(texts)) > 1:
            head, tail = common_ends(texts)
            for number, text in zip(group, texts, strict=True):
                name = names[number]
                label = elide_ends(text, head, tail, max_box_width(nodes[number]) - 2 * name.side, name.size)
                names[number] = BoxName(label, name.size, name.side)
    return names


def box_name(node: NodeLabel) -> BoxName:
    """Return the name on a box, regardless of others."""
    op = outline_kind(node) == "op"
    size = OP_FONT_PX if op else NODE_FONT_PX
    side = MARK_ROOM["op" if op else "scope"] if node.openable else LABEL_PADDING
    name, room = full_box_name(node), max_box_width(node) - 2 * side
    return BoxName(elide_text(name if text_width(name, size) <= room else shorten_range(name), room, size), size, side)


def full_box_name(node: NodeLabel) -> str:
    """Return the full name of a box."""
    name = replace_unsafe_characters(node.label)
    return name if name.strip() else f"“{name}”"


def max_box_width(node: NodeLabel) -> int:
    """Return the largest width of a box."""
    return MAX_OP_WIDTH if outline_kind(node) == "op" else MAX_SCOPE_WIDTH


def outline_kind(node: NodeLabel) -> BoxKind:
    """Return the kind that decides the outline: a stack's front sheet is drawn like its members."""
    kind = node.member if node.kind in ("series", "fold") else node.kind
    return "op" if kind in ("op", "call") else "scope"


def common_ends(names: Sequence[str]) -> tuple[int, int]:
    """Return the lengths of the common beginning and end of names, in whole words.

    >>> common_ends(["conv_1_bias_add", "conv_12_bias_add"])
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


def shorten_range(name: str) -> str:
    """Shorten a range of two names: drop from the second the leading words it shares with the first.

    >>> (
    ...     shorten_range("…LeakyRelu … …LeakyRelu_1"),
    ...     shorten_range("block1_conv … block1_pool"),
    ...     shorten_range("conv … pool"),
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
