"""Heads (first blocks without a shortcut), and stages (a stack of blocks with its head)."""

from __future__ import annotations

from collections import Counter

from graphviz_tb.fold.flow.box import MIN_STACK_OPS, make_group
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.fold.flow.repeats import holds_stack, make_block
from graphviz_tb.fold.flow.sequence import FlowElements, SequenceElement
from graphviz_tb.model.hierarchy import GroupOrigin
from graphviz_tb.ops.roles import ADD_OPS

# Heads: the first block of a stage changes the shape, so it has no shortcut; the others add their input.
#
# conv bn relu  [conv bn relu +]  [conv bn relu +]        a head, and two equal blocks with a shortcut

MIN_HEAD_BOXES = 4  # shorter matches are often chance, and need no group
MAX_HEAD_STRAYS = 2  # extra boxes of a head: paddings
MIN_HEADED_SHARE = 0.5  # of the runs of a block have a head; with fewer, the match is chance


def fold_heads(sequence: FlowElements, context: FoldContext) -> list[SequenceElement]:
    """Fold the elements right before a repeated block that equal it except for the shortcut to one element: its head.

    Requires a sequence along the flow without stacks. Heads of one block have equal words, whatever else they hold.
    """
    repeated = Counter(element.symbol for element in sequence if element.shortcut)
    runs = [
        number
        for number, element in enumerate(sequence)
        if element.shortcut and (not number or sequence[number - 1].symbol != element.symbol)
    ]
    starts = {
        number: start
        for number in runs
        if (start := _find_head_start(sequence, number, context)) < number
        and _is_plausible_head(sequence[start:number], sequence[number], repeated[sequence[number].symbol] > 1, context)
    }
    runs = [number for number in runs if number in starts or repeated[sequence[number].symbol] > 1]
    beginning = Counter(sequence[number].symbol for number in runs)
    headed = Counter(sequence[number].symbol for number in starts)
    folded: list[SequenceElement] = []
    taken = 0
    for number, start in starts.items():
        symbol = sequence[number].symbol
        if start >= taken and headed[symbol] > MIN_HEADED_SHARE * beginning[symbol]:
            folded += [*sequence[taken:start], _make_head(sequence[start:number], symbol, context)]
            taken = number
    return [*folded, *sequence[taken:]]


def _is_plausible_head(head: FlowElements, block: SequenceElement, repeated: bool, context: FoldContext) -> bool:
    """Return whether elements that match a block may be its head.

    Before a block that occurs once, they must downsample, or have output channels in common with the block that ends in
    a sum.
    """
    before, widths = [element.box for element in head], context.widths
    sums = not ADD_OPS.isdisjoint(context.types.type_counts(block.box.last_row()))
    if repeated or (sums and not widths.output_channels(before).isdisjoint(widths.output_channels([block.box]))):
        return True
    return widths.has_downsampling(before) and not widths.has_downsampling([block.box])


def _find_head_start(sequence: FlowElements, run: int, context: FoldContext) -> int:
    """Return where the head of the run of blocks at place `run` begins; `run` itself if it has none."""
    # Backwards from the run: a head has all but the last box (the sum with the shortcut), in the same order.
    *wanted, shortcut = [box.symbol for box in sequence[run].boxes]
    left, stray = len(wanted), MAX_HEAD_STRAYS
    # A block with a shortcut may end in a dropout, which its head lacks.
    drops = left > 1 and not context.types.maps_channels(sequence[run].boxes[-2])
    for number in range(run - 1, -1, -1):
        for symbol in [box.symbol for box in reversed(sequence[number].boxes)]:
            if left == len(wanted) and drops and symbol == wanted[-2] != wanted[-1]:
                left -= 1
            if left and wanted[left - 1] == symbol:
                left -= 1
            elif stray and symbol != shortcut:
                stray -= 1
            else:
                return run
        if not left:
            # Count the parts of layers.
            boxes = sum(len(element.box.members) or 1 for element in sequence[number:run])
            return number if max(boxes, len(wanted)) >= MIN_HEAD_BOXES else run
    return run


def _make_head(elements: FlowElements, body: int, context: FoldContext) -> SequenceElement:
    """Fold the elements of a head to one; `body` is the symbol of its equal blocks."""
    if len(elements) == 1:
        return elements[0]
    box = make_block(context, elements)
    return SequenceElement(box, box.symbol, ("head", body), elements[-1].cut)


# Stages: the elements between two repeats become the head of the second.
#
# stem  [block×2]  down  [block×3]  down  [block×2]        repeats of one block, with heads before them
# stem  [block×2] [down  block×3 ] [down  block×2 ]        three stages

READABLE_BOXES = 8  # shorter sequences need no stages
MIN_STAGE_HEAD_SHARE = 0.6  # of the ops of one repetition; a smaller box is not the first block of a stage

HeadAndStage = tuple[list[SequenceElement], SequenceElement | None]  # a head, and the repeat or stage after it


def fold_stages(sequence: list[SequenceElement], context: FoldContext) -> list[SequenceElement]:
    """Join each repeat of the largest unit with the elements before it.

    After: `head stack head stack` are two stages; the elements before the first head are the stem. Sequences that are
    short, or have stages by name, stay as they are.
    """
    if len(sequence) <= READABLE_BOXES or any(holds_stack(element.box) and not element.stage for element in sequence):
        return sequence
    body = _find_stage_body(sequence)
    if body is None:
        return sequence
    parts, tail = _split_at_body(sequence, body)
    headed = any(head and end and end.word == body for head, end in parts[1:])
    folded: list[SequenceElement] = []
    # Before the first repeat there may be more than its head: the stem of the network.
    for number, (head, end) in enumerate(parts):
        if end is None or end.stage:
            folded += [*head, *([end] if end else [])]
            continue
        stem = len(head) - _stage_head_length(head, end, headed) if number == 0 else 0
        folded += [*head[:stem], _make_stage(head[stem:], end, context) if head[stem:] else end]
    return folded + tail


def _find_stage_body(sequence: FlowElements) -> object | None:
    """Return the word of the stacks that end stages: in existing stages, or occurring twice; the one with most ops."""
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


def _split_at_body(sequence: FlowElements, body: object) -> tuple[list[HeadAndStage], list[SequenceElement]]:
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


def _stage_head_length(head: list[SequenceElement], end: SequenceElement, headed: bool) -> int:
    """Return the number of elements before the first repeat that are its head; the rest are the stem.

    One if other stages have heads (`headed`), or if the last element is large.
    """
    large = bool(head) and head[-1].box.ops >= max(MIN_STACK_OPS, MIN_STAGE_HEAD_SHARE * end.box.ops_per_repetition)
    return int(bool(head) and (large or headed))


def _make_stage(head: list[SequenceElement], end: SequenceElement, context: FoldContext) -> SequenceElement:
    elements = [*head, end]
    symbol = context.symbols.symbol_of("stage", *(element.symbol for element in elements))
    box = make_group(GroupOrigin.STAGE, [element.box for element in elements], symbol)
    return SequenceElement(box, symbol, symbol, end.cut, stage=True)
