"""Stages: what is between two repeats becomes the head of the second.

stem  [block×2]  down  [block×3]  down  [block×2]        repeats of one block, with heads before them
stem  [block×2] [down  block×3 ] [down  block×2 ]        three stages
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from graphviz_tb.group.flow.box import FEWEST_OPS, group
from graphviz_tb.group.flow.repeats import block, holds_stack
from graphviz_tb.group.flow.sequence import Element
from graphviz_tb.group.flow.setting import Setting
from graphviz_tb.model.hierarchy import How

READABLE = 8  # boxes; shorter sequences need no stages
HEADS = 0.6  # of the ops of one repetition: a box so large may be the first of its stage

HeadAndStage = tuple[list[Element], Element | None]  # a head, and the repeat or stage after it


def fold_stages(sequence: list[Element], setting: Setting) -> list[Element]:
    """Join each repeat of the largest unit with the elements before it.

    After: `head stack head stack` are two stages; the elements before the first head are the stem. Sequences that are
    short, or have stages by name, stay as they are.
    """
    if len(sequence) <= READABLE or any(holds_stack(element.box) and not element.stage for element in sequence):
        return sequence
    body = find_body(sequence)
    if body is None:
        return sequence
    parts, tail = parted(sequence, body)
    heads = [tuple(each.word for each in head) for head, end in parts[1:] if head and end and end.word == body]
    folded: list[Element] = []
    # Before the first repeat there may be more than its head: the stem of the network.
    for number, (head, end) in enumerate(parts):
        if end is None or end.stage:
            folded += [*head, *([end] if end else [])]
            continue
        stem = len(head) - heading(head, end, heads) if number == 0 else 0
        folded += [*head[:stem], stage(head[stem:], end, setting) if head[stem:] else end]
    return folded + with_block(tail, heads, setting)


def find_body(sequence: Sequence[Element]) -> object | None:
    """Return the word of the repeat that ends stages: that of existing stages, or one that occurs twice; with most
    ops."""
    repeats = [
        (element, element.word)
        for element in sequence
        if isinstance(element.word, tuple) and element.word[0] == "stack" and element.box.ops >= FEWEST_OPS
    ]
    held = {member.unit for element in sequence if element.stage for member in element.box.members if member.stack}
    count = Counter(word for _, word in repeats)
    staged = any(element.stage for element in sequence)
    ops: dict[object, int] = {}
    for element, word in repeats:
        if word[1] in held if staged else count[word] > 1:
            ops[word] = ops.get(word, 0) + element.box.ops
    return max(ops, key=ops.__getitem__, default=None)


def parted(sequence: Sequence[Element], body: object) -> tuple[list[HeadAndStage], list[Element]]:
    """Split a sequence into heads with the repeat after each, and the elements behind the last."""
    parts: list[HeadAndStage] = []
    head: list[Element] = []
    for element in sequence:
        if element.stage:
            if head:
                parts.append((head, None))
            parts.append(([], element))
            head = []
        elif element.word == body:
            parts.append((head, element))
            head = []
        else:
            head.append(element)
    return parts, head


def heading(head: list[Element], end: Element, heads: list[tuple[object, ...]]) -> int:
    """Return how many elements before the first repeat belong to it.

    As many as head a different stage; one if other stages have heads, or if it is large.
    """
    words = tuple(element.word for element in head)
    length = max((len(other) for other in heads if words[len(words) - len(other) :] == other), default=0)
    large = bool(head) and head[-1].box.ops >= max(FEWEST_OPS, HEADS * end.box.each)
    return length or int(bool(head) and (large or bool(heads)))


def stage(head: list[Element], end: Element, setting: Setting) -> Element:
    """Join a head and its repeat."""
    elements = [*head, end]
    symbol = setting.symbols.of("stage", *(element.symbol for element in elements))
    box = group(How.STAGE, [element.box for element in elements], symbol)
    return Element(box, symbol, symbol, end.cut, stage=True)


def with_block(tail: list[Element], heads: list[tuple[object, ...]], setting: Setting) -> list[Element]:
    """Join the beginning of the rest if it equals a head."""
    words = tuple(element.word for element in tail)
    count = max((len(other) for other in heads if words[: len(other)] == other), default=0)
    if count < 2:
        return tail
    box = block(setting, tail[:count])
    return [Element(box, box.symbol, box.symbol, tail[count - 1].cut), *tail[count:]]
