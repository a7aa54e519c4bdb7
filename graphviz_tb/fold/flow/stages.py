"""Heads (first blocks without a shortcut), stacks of residual blocks, and stages (a stack of blocks with its head)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace

from graphviz_tb.fold.flow.box import MIN_STACK_OPS, FlowBox, make_group
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.fold.flow.near_repeats import MAX_BLOCK_GROWTH
from graphviz_tb.fold.flow.repeats import blocks_of, holds_stack, make_block, stack_of_blocks
from graphviz_tb.fold.flow.sequence import FlowElements, SequenceElement
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import GroupOrigin
from graphviz_tb.ops.roles import ADD_OPS, CONVOLUTION_OPS, MULTIPLY_OPS

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
        if (start := min(find(sequence, number, context) for find in (_find_head_start, _find_widening))) < number
        and _is_plausible_head(sequence[start:number], sequence[number], repeated[sequence[number].symbol] > 1, context)
    }
    runs = [number for number in runs if number in starts or repeated[sequence[number].symbol] > 1]
    run_counts = Counter(sequence[number].symbol for number in runs)
    head_counts = Counter(sequence[number].symbol for number in starts)
    folded: list[SequenceElement] = []
    end_of_previous = 0
    for number, start in starts.items():
        symbol = sequence[number].symbol
        if start >= end_of_previous and head_counts[symbol] > MIN_HEADED_SHARE * run_counts[symbol]:
            folded += [*sequence[end_of_previous:start], _make_head(sequence[start:number], symbol, context)]
            end_of_previous = number
    return [*folded, *sequence[end_of_previous:]]


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
    missing, strays_left = len(wanted), MAX_HEAD_STRAYS
    # A block with a shortcut may end in a dropout, which its head lacks.
    may_drop = missing > 1 and not context.types.maps_channels(sequence[run].boxes[-2])
    for number in range(run - 1, -1, -1):
        for symbol in [box.symbol for box in reversed(sequence[number].boxes)]:
            if missing == len(wanted) and may_drop and symbol == wanted[-2] != wanted[-1]:
                missing -= 1
            if missing and wanted[missing - 1] == symbol:
                missing -= 1
            elif strays_left and symbol != shortcut:
                strays_left -= 1
            else:
                return run
        if not missing:
            # Count the parts of layers.
            boxes = sum(len(element.box.members) or 1 for element in sequence[number:run])
            return number if max(boxes, len(wanted)) >= MIN_HEAD_BOXES else run
    return run


def _find_widening(sequence: FlowElements, run: int, context: FoldContext) -> int:
    """Return where the layers begin that widen their input and end in the channels of the inverted block at `run`.

    Such a head may have other kernels than the block, no gate, or one layer less; `run` if there is none.
    """
    block, widths = sequence[run].box, context.widths
    channels, wide = (max(found, default=0) for found in (widths.exit_channels(block), widths.output_channels([block])))
    most = _count_layers([block], context) + 1
    start = run
    for number in range(run - 1, -1, -1) if wide > channels else ():
        box = sequence[number].box
        own = max(widths.exit_channels(box), default=0)
        narrow = own == channels if start == run else own > channels
        if box.is_repetition or _ends_in_sum(box, context) or sequence[number].side or (own and not narrow):
            break
        start = number if own else start
    head = [element.box for element in sequence[start:run]]
    layers = _count_layers(head, context)
    return start if 1 < layers <= most and widths.kernels(head) & widths.kernels([block]) else run


def _count_layers(boxes: Sequence[FlowBox], context: FoldContext) -> int:
    counts = (context.types.type_counts(box) for box in boxes)
    return sum(count for each in counts for kind, count in each.items() if kind in CONVOLUTION_OPS)


def _make_head(elements: FlowElements, body: int, context: FoldContext) -> SequenceElement:
    """Fold the elements of a head to one; `body` is the symbol of its equal blocks."""
    if len(elements) == 1:
        return elements[0]
    box = make_block(context, elements)
    return SequenceElement(box, box.symbol, ("head", body), elements[-1].cut)


# Residual blocks: each adds its input, so that none of them changes the shape.
#
# first  [k3 +]  [k3 gate +]  [k3 +]  [k5 +]        one stage of five blocks
#
# Blocks that differ only in a gate or a norm are equal before repeats are folded; others are stacked afterwards.


def equate_residual_blocks(sequence: FlowElements, context: FoldContext) -> list[SequenceElement]:
    """Give consecutive residual blocks the symbol of the largest if they have all its convolutions with these kernels.

    They may lack its gate: every other block of X3D has one (Feichtenhofer 2020).
    """
    equated = list(sequence)
    run: list[int] = []
    for number, element in enumerate([*sequence, None]):
        if element is not None and run and not element.shortcut and _closes_block(element, context):
            continue
        if element is not None and run and _are_residual_and_alike(sequence[run[-1]], element, context):
            run.append(number)
            continue
        if len({sequence[at].symbol for at in run}) > 1:
            largest = max((sequence[at] for at in run), key=lambda each: each.box.ops)
            for at in run:
                equated[at] = replace(sequence[at], symbol=largest.symbol, word=largest.word)
        run = [number] if element is not None and element.shortcut else []
    return equated


def _are_residual_and_alike(one: SequenceElement, other: SequenceElement, context: FoldContext) -> bool:
    if one.symbol == other.symbol or not other.shortcut:
        return other.shortcut
    widths, boxes = context.widths, [one.box, other.box]
    less, more = sorted(map(context.types.type_counts, boxes), key=Counter.total)
    kernels, channels = (
        [measure(box) for box in boxes] for measure in (lambda box: widths.kernels([box]), widths.exit_channels)
    )
    return (
        less <= more
        and not MULTIPLY_OPS.isdisjoint(more - less)
        and more.total() <= MAX_BLOCK_GROWTH * less.total()
        and not CONVOLUTION_OPS.isdisjoint(less)
        and bool(kernels[0])
        and kernels[0] == kernels[1]
        and len(channels[0]) == 1
        and channels[0] == channels[1]
        and _ends_in_sum(one.box, context)
        and _ends_in_sum(other.box, context)
    )


def _closes_block(element: SequenceElement, context: FoldContext) -> bool:
    """Return whether an element is an activation or a norm, as behind the sum of a block."""
    box = element.box
    return not box.members and context.widths.keeps_channels(box) and not context.types.maps_channels(box)


def _ends_in_sum(box: FlowBox, context: FoldContext) -> bool:
    return not ADD_OPS.isdisjoint(context.types.type_counts(box.last_row()))


@dataclass(slots=True, eq=False)
class _StageRun:
    """Elements that are one stage so far, their blocks, the fewest and the most ops of a block, and the kind of block
    (`unit`, -1 if it is not a stack)."""

    elements: list[SequenceElement]
    blocks: list[FlowBox]
    fewest: int
    most: int
    unit: int

    def extend(self, behind: _StageRun) -> None:
        """Add the elements of another run."""
        self.elements += behind.elements
        self.blocks += behind.blocks
        self.fewest, self.most = min(self.fewest, behind.fewest), max(self.most, behind.most)
        self.unit = next((unit for unit in (self.unit, behind.unit) if unit >= 0), behind.blocks[0].symbol)

    def as_element(self, context: FoldContext) -> SequenceElement:
        """Return the stack of the blocks; a single element stays."""
        several = len(self.elements) > 1
        return stack_of_blocks(self.blocks, self.unit, self.elements, context) if several else self.elements[0]


def join_residual_blocks(
    folded: list[SequenceElement], sequence: FlowElements, context: FoldContext
) -> list[SequenceElement]:
    """Stack the convolutional blocks of a stage that are unlike each other, with the block that leads to them.

    Blocks of a stage may differ in kernels and widths inside (MobileNetV4, Qin et al. 2024).
    """
    residual = {element.box.symbol for element in sequence if element.shortcut}
    if not residual:
        return folded
    runs: list[_StageRun] = []
    parts: dict[int, FlowElements] = {}  # of blocks that are not joined
    for element in _with_activations(folded, parts, context):
        blocks = _residual_blocks_of(element, residual)
        sizes = [context.types.type_counts(block).total() for block in blocks]
        run = _StageRun([element], blocks, min(sizes), max(sizes), element.box.unit)
        if runs and _continues_stage(runs[-1], run, residual, context):
            runs[-1].extend(run)
        else:
            runs.append(run)
    joined = [run.as_element(context) for run in runs]
    return [part for element in joined for part in parts.get(id(element), [element])]


def _with_activations(
    sequence: FlowElements, parts: dict[int, FlowElements], context: FoldContext
) -> list[SequenceElement]:
    """Return the elements, each block that ends in a sum with the activation or norm behind it; `parts` are the two."""
    whole: list[SequenceElement] = []
    for element in sequence:
        block = whole[-1] if whole else element
        is_open = block.fork and block.box.how == GroupOrigin.REGION and id(block) not in parts
        if is_open and _ends_in_sum(block.box, context) and _closes_block(element, context):
            box = make_block(context, [block, element])
            whole[-1] = SequenceElement(box, box.symbol, box.symbol, element.cut, True)
            parts[id(whole[-1])] = [block, element]
        else:
            whole.append(element)
    return whole


def _continues_stage(run: _StageRun, behind: _StageRun, residual: Set[int], context: FoldContext) -> bool:
    """Return whether an element `behind` a run is the residual blocks of the same stage."""
    first, element, last, blocks = run.elements[0], behind.elements[0], run.blocks[-1], behind.blocks
    is_joined = len(run.elements) > 1  # then its blocks were compared
    is_head = not is_joined and first.word == ("head", blocks[0].symbol)
    adds = is_head or any(_ends_in_sum(box, context) for box in (last, *last.members[:1]))
    if not adds or any(each.stage or each.box.sideways for each in (first, element)):
        return False
    if not all(_is_residual(block, residual, context) for block in blocks):
        return False
    counts = [context.types.type_counts(block) for block in (*(() if is_joined else run.blocks), *blocks)]
    grows = max(run.most, behind.most) > MAX_BLOCK_GROWTH * min(run.fewest, behind.fewest)
    if grows or any(CONVOLUTION_OPS.isdisjoint(each) for each in counts):
        return False
    widths, channels = context.widths, context.widths.exit_channels(blocks[0])
    same = len(channels) == 1 and all(widths.exit_channels(block) == channels for block in (last, *blocks))
    if not same or widths.has_downsampling(blocks) or not widths.kernels(blocks) & widths.kernels([last]):
        return False
    return len(run.blocks) == 1 or len(blocks) == 1 or not _have_own_kernels(run.blocks[-2:], blocks, context)


def _have_own_kernels(blocks: Sequence[FlowBox], others: Sequence[FlowBox], context: FoldContext) -> bool:
    """Return whether the blocks of two stacks have equal kernels each, and neither has those of the other."""
    (one, *more), (other, *rest) = ({context.widths.kernels([block]) for block in part} for part in (blocks, others))
    return not more and not rest and not one <= other and not other <= one


def _is_residual(block: FlowBox, residual: Set[int], context: FoldContext) -> bool:
    """Return whether a block adds its input, with or without an activation behind the sum."""
    first, *behind = [block] if block.symbol in residual else block.members or [block]
    return first.symbol in residual and not any(map(context.types.maps_channels, behind))


def _residual_blocks_of(element: SequenceElement, residual: Set[int]) -> list[FlowBox]:
    """Return the blocks of an element; equal residual blocks that were taken for one, apart."""
    blocks: list[FlowBox] = []
    for block in blocks_of(element):
        equal = len({part.symbol for part in block.members}) == 1 and block.members[0].symbol in residual
        blocks += block.members if equal else [block]
    return blocks


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
    have_heads = any(head and end and end.word == body for head, end in parts[1:])
    folded: list[SequenceElement] = []
    # Before the first repeat there may be more than its head: the stem of the network.
    for number, (head, end) in enumerate(parts):
        if end is None or end.stage:
            folded += [*head, *([end] if end else [])]
            continue
        stem = len(head) - _stage_head_length(head, end, have_heads) if number == 0 else 0
        folded += [*head[:stem], _make_stage(head[stem:], end, context) if head[stem:] else end]
    return folded + tail


def _find_stage_body(sequence: FlowElements) -> object | None:
    """Return the word of the stacks that end stages: in existing stages, or occurring twice; the one with most ops."""
    repeats = [
        (element, element.word)
        for element in sequence
        if isinstance(element.word, tuple) and element.word[0] == "stack" and element.box.ops >= MIN_STACK_OPS
    ]
    stage_units = {
        member.unit for element in sequence if element.stage for member in element.box.members if member.is_repetition
    }
    count = Counter(word for _, word in repeats)
    staged = any(element.stage for element in sequence)
    ops: dict[object, int] = {}
    for element, word in repeats:
        if word[1] in stage_units if staged else count[word] > 1:
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


def _stage_head_length(head: list[SequenceElement], end: SequenceElement, have_heads: bool) -> int:
    """Return the number of elements before the first repeat that are its head; the rest are the stem.

    One if other stages have heads (`have_heads`), or if the last element is large.
    """
    large = bool(head) and head[-1].box.ops >= max(MIN_STACK_OPS, MIN_STAGE_HEAD_SHARE * end.box.ops_per_repetition)
    return int(bool(head) and (large or have_heads))


def _make_stage(head: list[SequenceElement], end: SequenceElement, context: FoldContext) -> SequenceElement:
    elements = [*head, end]
    symbol = context.symbols.symbol_of("stage", *(element.symbol for element in elements))
    box = make_group(GroupOrigin.STAGE, [element.box for element in elements], symbol)
    return SequenceElement(box, symbol, symbol, end.cut, stage=True)
