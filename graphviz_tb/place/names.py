"""The names in closed boxes, as long as there is room: cut where the names of a level agree, not where they differ."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import NODE_SIZE, OP_SIZE, clean, elide, elide_around, width
from graphviz_tb.model.scene import BoxKind
from graphviz_tb.model.view import NodeLabel

OP_MOST, SCOPE_MOST = 180, 200  # px
PADDING = 12  # px between a label and the border
MARK_ROOM = {"op": 24, "scope": 20}  # px from the end of a label to the border, with the +/− mark in between
RANGE, BETWEEN_WORDS = " … ", "_./-[]"


@dataclass(frozen=True, slots=True)
class Name:
    """The `label` of a closed box, in `size` px, with `side` px to its left and right."""

    label: str
    size: int
    side: int


def names_of(nodes: Sequence[NodeLabel]) -> list[Name]:
    """Return the name on each box of a level.

    >>> long = "while_tensorlistpushback_%d_while_cond_accumulator"
    >>> nodes = [NodeLabel(row, "", "op", long % row, "") for row in range(2)]
    >>> [name.label for name in names_of(nodes)]
    ['while_tensorlistpush…0…ulator', 'while_tensorlistpush…1…ulator']
    """
    names = [name_of(node) for node in nodes]
    alike: dict[str, list[int]] = {}
    for number, (node, name) in enumerate(zip(nodes, names, strict=True)):
        if name.label != full_name(node):  # only shortened names can have become equal
            alike.setdefault(name.label, []).append(number)
    for group in alike.values():
        texts = [full_name(nodes[number]) for number in group]
        if len(set(texts)) > 1:
            head, tail = agreed(texts)
            for number, text in zip(group, texts, strict=True):
                name = names[number]
                label = elide_around(text, head, tail, most(nodes[number]) - 2 * name.side, name.size)
                names[number] = Name(label, name.size, name.side)
    return names


def name_of(node: NodeLabel) -> Name:
    """Return the name on a box, regardless of others."""
    op = drawn_as(node) == "op"
    size = OP_SIZE if op else NODE_SIZE
    side = MARK_ROOM["op" if op else "scope"] if node.openable else PADDING
    name, room = full_name(node), most(node) - 2 * side
    return Name(elide(name if width(name, size) <= room else briefly(name), room, size), size, side)


def full_name(node: NodeLabel) -> str:
    """Return the full name of a box."""
    name = clean(node.label)
    return name if name.strip() else f"“{name}”"


def most(node: NodeLabel) -> int:
    """Return the largest width of a box."""
    return OP_MOST if drawn_as(node) == "op" else SCOPE_MOST


def drawn_as(node: NodeLabel) -> BoxKind:
    """Return the kind that decides the outline: a stack's front sheet is drawn like its members."""
    kind = node.member if node.kind in ("series", "fold") else node.kind
    return "op" if kind in ("op", "call") else "scope"


def agreed(names: Sequence[str]) -> tuple[int, int]:
    """Return the lengths of the common beginning and end of names, in whole words.

    >>> agreed(["conv_1_bias_add", "conv_12_bias_add"])
    (5, 9)
    """
    first, shortest = names[0], min(len(name) for name in names)
    head = tail = 0
    while head < shortest and all(name[head] == first[head] for name in names):
        head += 1
    while head and first[head - 1] not in BETWEEN_WORDS:  # back to the end of a word
        head -= 1
    while tail < shortest - head and all(name[len(name) - 1 - tail] == first[len(first) - 1 - tail] for name in names):
        tail += 1
    while tail and first[len(first) - tail] not in BETWEEN_WORDS:
        tail -= 1
    return head, tail


def briefly(name: str) -> str:
    """Shorten a range of two names: drop from the second the leading words it shares with the first.

    >>> briefly("…LeakyRelu … …LeakyRelu_1"), briefly("block1_conv … block1_pool"), briefly("conv … pool")
    ('…LeakyRelu … _1', 'block1_conv … pool', 'conv … pool')
    """
    ends = name.split(RANGE)
    if len(ends) != 2:
        return name
    first, last = ends
    same = length = 0
    while length < min(len(first), len(last)) and first[length] == last[length]:
        length += 1
        if last[length - 1] in BETWEEN_WORDS or last[length : length + 1] in BETWEEN_WORDS:
            same = length
    return f"{first}{RANGE}{last[same:]}" if 0 < same < len(last) else name
