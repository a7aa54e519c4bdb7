"""Stages: what is between two repeats becomes the head of the second.

stem  [block×2]  down  [block×3]  down  [block×2]        repeats of one block, with heads before them
stem  [block×2] [down  block×3 ] [down  block×2 ]        three stages
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from graphviz_tb.group.flow.box import MIN_STACK_OPS, make_group
from graphviz_tb.group.flow.repeats import holds_stack, make_block
from graphviz_tb.group.flow.sequence import SequenceElement
from graphviz_tb.group.flow.setting import FoldContext
from graphviz_tb.model.hierarchy import GroupOrigin

READABLE_BOXES = 8  # boxes; shorter sequences need no stages
MIN_STAGE_HEAD_SHARE = 0.6  # of the ops of one repetition: a box so large may be the first of its stage

HeadAndStage = tuple[list[SequenceElement], SequenceElement | None]  # a head, and the repeat or stage after it


def fold_stages(sequence: list[SequenceElement], setting: FoldContext) -> list[SequenceElement]:
    """Join each repeat of the largest unit with the elements before it.

    After: `head stack head stack` are two stages; the elements before the first head are the stem. Sequences that are
    short, or have stages by name, stay as they are.
    """
    if len(sequence) <= READABLE_BOXES or any(holds_stack(element.box) and not element.stage for element in sequence):
        return sequence
    body = find_stage_body(sequence)
    if body is None:
        return sequence
    parts, tail = split_at_body(sequence, body)
    heads = [tuple(each.word for each in head) for head, end in parts[1:] if head and end and end.word == body]
    folded: list[SequenceElement] = []
    # Before the first repeat there may be more than its head: the stem of the network.
    for number, (head, end) in enumerate(parts):
        if end is None or end.stage:
            folded += [*head, *([end] if end else [])]
            continue
        stem = len(head) - stage_head_length(head, end, heads) if number == 0 else 0
        folded += [*head[:stem], make_stage(head[stem:], end, setting) if head[stem:] else end]
    return folded + fold_leading_block(tail, heads, setting)


def find_stage_body(sequence: Sequence[SequenceElement]) -> object | None:
    """Return the word of the repeat that ends stages: that of existing stages, or one that occurs twice; with most
    ops."""
    repeats = [
        (element, element.word)
        for element in sequence
        if isinstance(element.word, tuple) and element.word[0] == "stack" and element.box.ops >= MIN_STACK_OPS
    ]
    held = {
        member.unit for element in sequence if element.stage for member in element.box.members if member.is_repetition
    }
    count = Counter(word for _, word in repeats)
    staged = any(element.stage for element in sequence)
    ops: dict[object, int] = {}
    for element, word in repeats:
        if word[1] in held if staged else count[word] > 1:
            ops[word] = ops.get(word, 0) + element.box.ops
    return max(ops, key=ops.__getitem__, default=None)


def split_at_body(
    sequence: Sequence[SequenceElement], body: object
) -> tuple[list[HeadAndStage], list[SequenceElement]]:
    """Split a sequence into heads with the repeat after each, and the elements behind the last."""
    parts: list[HeadAndStage] = []
    head: list[SequenceElement] = []
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


def stage_head_length(head: list[SequenceElement], end: SequenceElement, heads: list[tuple[object, ...]]) -> int:
    """Return how many elements before the first repeat belong to it.

    As many as head a different stage; one if other stages have heads, or if it is large.
    """
    words = tuple(element.word for element in head)
    length = max((len(other) for other in heads if words[len(words) - len(other) :] == other), default=0)
    large = bool(head) and head[-1].box.ops >= max(MIN_STACK_OPS, MIN_STAGE_HEAD_SHARE * end.box.ops_per_repetition)
    return length or int(bool(head) and (large or bool(heads)))


def make_stage(head: list[SequenceElement], end: SequenceElement, setting: FoldContext) -> SequenceElement:
    """Join a head and its repeat."""
    elements = [*head, end]
    symbol = setting.symbols.symbol_of("stage", *(element.symbol for element in elements))
    box = make_group(GroupOrigin.STAGE, [element.box for element in elements], symbol)
    return SequenceElement(box, symbol, symbol, end.cut, stage=True)


def fold_leading_block(
    tail: list[SequenceElement], heads: list[tuple[object, ...]], setting: FoldContext
) -> list[SequenceElement]:
    """Join the beginning of the rest if it equals a head."""
    words = tuple(element.word for element in tail)
    count = max((len(other) for other in heads if words[: len(other)] == other), default=0)
    if count < 2:
        return tail
    box = make_block(setting, tail[:count])
    return [SequenceElement(box, box.symbol, box.symbol, tail[count - 1].cut), *tail[count:]]
