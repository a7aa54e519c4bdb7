"""Repeats in a sequence: fold the shortest period first, and start again after every hit.

    a b b a b b        period 1: a [b×2] a [b×2]; then period 2: [a [b×2]]×2

Equal repetitions become one stack. Repetitions that hold stacks of different heights (`down block×2 down block×3 …`)
become stages side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, pairwise

from graphviz_tb.fold.flow.box import MIN_STACK_OPS, FlowBox, make_group, make_stack
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.fold.flow.names import name_form, shared_prefix_length
from graphviz_tb.fold.flow.near_repeats import (
    are_blocks_of_one_stage,
    are_numbered_in_order,
    begins_next_stage,
    count_near_blocks,
    near_blocks_before,
    near_repetition_end,
    near_repetition_start,
    second_block_start,
)
from graphviz_tb.fold.flow.sequence import (
    FlowElements,
    Repeat,
    SequenceElement,
    candidate_periods,
    number_words,
    periodic_stretches,
    tapering_stretches,
)
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import GroupOrigin

MAX_REPEAT_ROUNDS = 30  # depth of nested repeats; networks have three or four
MIN_SMALL_REPEATS = 3  # repetitions of a box of few ops, or of a layer and the ops after it
MIN_NAMED_INPUTS = 5  # fewer inputs with distinct names stay separate: query, memory, mask
MIN_STACKED_STAGES = 3  # equal stages with a repeat inside; two show both counts
MIN_STAGE_BLOCKS = 2
MIN_CROSSED_STAGE_BLOCKS = 3  # if edges skip the stage: the levels of a U-Net have two blocks and are one stack
MAX_UNSTACKED_LAYERS = 4  # layers of different sizes that are not stacked
MIN_ALTERNATING_ELEMENTS = 4  # two repetitions of two elements
MIN_LONG_REPEAT = 24  # repetitions; the start of a longer repeat may move, wherever the flow was cut

TemplateRotations = dict[tuple[str, ...], tuple[object, ...]]


def fold_repeats(sequence: FlowElements, context: FoldContext) -> list[SequenceElement]:
    """Fold all repeats of a sequence, in the same order, into stacks and stages."""
    folded = list(sequence)
    # The first alignment of each template, by its sorted words: later runs follow it.
    rotations: TemplateRotations = {}
    for _ in range(MAX_REPEAT_ROUNDS):
        made = _fold_repeats_once(folded, context, rotations)
        if made is None:
            break
        folded = made
    return _stack_numbered_scopes(folded, context)


def _stack_numbered_scopes(sequence: list[SequenceElement], context: FoldContext) -> list[SequenceElement]:
    """Stack scopes of one class with consecutive numbers, and stacks of them: the blocks of a stage may differ."""
    runs: list[list[SequenceElement]] = []
    for element in sequence:
        if runs and _continues_numbers(runs[-1][-1], element, context):
            runs[-1].append(element)
        else:
            runs.append([element])
    return [run[0] if len(run) == 1 else _stack_of_stage(run, context) for run in runs]


def _stack_of_stage(run: FlowElements, context: FoldContext) -> SequenceElement:
    blocks = [block for element in run for block in blocks_of(element)]
    return stack_of_blocks(blocks, blocks[-1].symbol, run, context)


def _continues_numbers(before: SequenceElement, element: SequenceElement, context: FoldContext) -> bool:
    """Return whether an element is the next block of the stage of `before`, or a stack of the next blocks."""
    blocks = blocks_of(element)
    if any(each.stage or each.box.sideways for each in (before, element)) or any(
        map(holds_stack, (*blocks_of(before), *blocks))
    ):
        return False
    return are_blocks_of_one_stage(blocks_of(before)[-1], blocks[0], context) and not any(
        map(context.widths.has_downsampling, ([block] for block in blocks))
    )


def _fold_repeats_once(
    sequence: list[SequenceElement], context: FoldContext, rotations: TemplateRotations
) -> list[SequenceElement] | None:
    """Fold the repeats of the shortest period that has any; return None if there are no repeats."""
    _mark_stack_units(sequence)
    plain_words = [element.word for element in sequence]
    if len(set(plain_words)) == len(plain_words):  # only saves time
        return None
    # Elements with different kernels do not repeat each other: a stem of 7×7, a stage of 5×5.
    for element in sequence:
        if element.kernels is None:
            element.kernels = context.widths.kernels([element.box])
    words, plain = number_words([(element.word, element.kernels) for element in sequence]), number_words(plain_words)
    for period in candidate_periods(plain):
        stretches = _stretches_worth_folding(sequence, words, plain, period, context)
        if not stretches:
            continue
        # Stretches with one possible alignment come first, since they decide the alignment of their template.
        stretches.sort(key=lambda stretch: (stretch[1] - stretch[0]) % period > 0)
        repeats = [_best_alignment(sequence, start, stop, period, context, rotations) for start, stop in stretches]
        repeats = [replace(each, count=each.count - begins_next_stage(sequence, each, context)) for each in repeats]
        repeats = sorted([repeat for repeat in repeats if repeat.count > 1], key=lambda repeat: repeat.start)
        ready = [repeat for repeat in repeats if not _waits_for_other_repeat(sequence, repeat, repeats, context)]
        folded, hit = _apply_repeats(sequence, ready or repeats, context)
        if hit:
            return folded
    return None


def _waits_for_other_repeat(
    sequence: FlowElements, repeat: Repeat, others: Sequence[Repeat], context: FoldContext
) -> bool:
    """Return whether the near repetition right before a repeat contains another repeat, which must be folded first."""
    if len(others) == 1 or not context.budget.take(repeat.period):
        return False
    once = sequence[repeat.start : repeat.start + repeat.period]
    start = near_repetition_start(sequence, 0, once, repeat.start, context)
    return any(start <= other.start and other.stop < repeat.start for other in others)


def _mark_stack_units(sequence: list[SequenceElement]) -> None:
    """Mark elements that equal the unit of a stack as stacks of one, in place."""
    units = {element.box.unit for element in sequence if element.box.is_repetition}
    for element in sequence:
        if not element.box.is_repetition and element.symbol in units:
            element.word = ("stack", element.symbol)


def _stretches_worth_folding(
    sequence: list[SequenceElement], words: Longs, plain: Longs, period: int, context: FoldContext
) -> list[tuple[int, int]]:
    """Return maximal stretches that repeat with `period`, along the sequence."""
    return [
        (start, stop)
        for start, stop in [*periodic_stretches(words, period), *tapering_stretches(words, plain, period)]
        if _is_worth_folding(sequence, start, stop, period, context)
    ]


def _is_worth_folding(
    sequence: list[SequenceElement], start: int, stop: int, period: int, context: FoldContext
) -> bool:
    """Return whether a stretch is worth folding: large enough, and not a run of inputs, stages or unlike layers."""
    first, count, repetition = sequence[start], (stop - start) // period, sequence[start : start + period]
    recurs_elsewhere = count == 2 and sum(element.word == first.word for element in sequence) > 2 * count
    if recurs_elsewhere and not any(context.types.maps_channels(element.box) for element in repetition):
        return False  # parts of blocks: the norm at the end of the last one, and the norm behind it
    alternate = period <= 2 and _alternate_between_two_widths(sequence[start:stop], context)
    if period == 1:
        if alternate or not first.is_single_box or _are_few_unlike_layers(sequence[start:stop], context):
            return False
        has_unlike_names = len({name_form(sequence[index].box.name) for index in range(start, stop)}) > 1
        if has_unlike_names and first.box.how == GroupOrigin.NAME:
            return False
        return first.box.ops >= MIN_STACK_OPS or count >= (
            MIN_NAMED_INPUTS if has_unlike_names and first.source else MIN_SMALL_REPEATS
        )
    alternate = alternate or _have_kernels_in_turn(sequence[start:stop], period, context)
    if not alternate and _has_smaller_period([element.word for element in repetition]):
        return False
    # Two stages with repeats inside stay stages side by side.
    if count < 3 and any(holds_stack(element.box) for element in repetition):
        return False
    ops = sum(element.box.ops_per_repetition for element in repetition)
    return ops >= MIN_STACK_OPS or (
        count >= MIN_SMALL_REPEATS and context.widths.holds_layer(element.box for element in repetition)
    )


def _are_few_unlike_layers(run: FlowElements, context: FoldContext) -> bool:
    """Return whether a run is a few layers that differ not only in channels: a stem or a branch."""
    if len(run) > MAX_UNSTACKED_LAYERS or any(element.box.how != GroupOrigin.LAYER for element in run):
        return False
    widths, boxes = context.widths, [[element.box] for element in run]
    windows = [(widths.kernels(box), widths.has_downsampling(box)) for box in boxes]
    sizes = {(window, widths.output_channels(box)) for window, box in zip(windows, boxes, strict=True)}
    return len(sizes) == len(run) and len(set(windows)) > 1


def _alternate_between_two_widths(run: FlowElements, context: FoldContext) -> bool:
    """Return whether equal elements alternate between two numbers of output channels.

    Two of them are one repetition: one mixes tokens, the other channels (MLP-Mixer, Tolstikhin et al. 2021).
    """
    if len(run) < MIN_ALTERNATING_ELEMENTS or any(element.word != run[0].word for element in run):
        return False
    channels = [context.widths.exit_channels(element.box) for element in run]
    return all(channels) and channels[0] != channels[1] and channels[2:] == channels[:-2]


def _have_kernels_in_turn(run: FlowElements, period: int, context: FoldContext) -> bool:
    """Return whether layers with kernels in turn, as 3×3 and 1×1, are blocks: two of them end in equal channels."""
    if _has_smaller_period([(element.word, element.kernels) for element in run[:period]]):
        return False
    exits = (context.widths.exit_channels(element.box) for element in run[period - 1 :: period])
    return any(one and one == other for one, other in pairwise(exits))


def _has_smaller_period(words: Sequence[object]) -> bool:
    """Return whether the words of one period consist of a shorter period."""
    count = len(words)
    return any(count % part == 0 and words[part:] == words[:-part] for part in range(1, count // 2 + 1))


def holds_stack(box: FlowBox) -> bool:
    """Return whether a group directly holds a stack of consecutive repetitions."""
    if box.is_repetition or box.how not in (GroupOrigin.NAME, GroupOrigin.STAGE, GroupOrigin.REPEAT):
        return False
    return any(
        member.is_repetition and not member.sideways and member.ops_per_repetition >= MIN_STACK_OPS
        for member in box.members
    )


def _best_alignment(
    sequence: list[SequenceElement],
    start: int,
    stop: int,
    period: int,
    context: FoldContext,
    rotations: TemplateRotations,
) -> Repeat:
    """Return the alignment of a repeat within its stretch that agrees best with names, widths and side outputs.

    If the stretch is long, or begins with a side output, a better alignment may cost one repetition.
    """
    count, slack = divmod(stop - start, period)
    # The start may also shift past the slack, which costs one repetition.
    is_free = count >= MIN_LONG_REPEAT or (count > 2 and sequence[start].side)
    shifts = range(period if is_free else min(slack, period - 1) + 1)
    choices = [Repeat(start + shift, period, (stop - start - shift) // period) for shift in shifts]
    words = tuple([element.word for element in sequence[start:stop]])
    sorted_words = tuple(sorted(map(str, words[:period])))  # equal for all choices
    known, best = rotations.get(sorted_words), choices[0]

    def template(repeat: Repeat) -> tuple[object, ...]:
        return words[repeat.start - start : repeat.start - start + period]

    if len(choices) > 1:  # only saves time
        unlike = _unlike_prefix_counts(sequence[start:stop], period)
        # Channels change between repetitions rather than inside them.
        channels = [
            context.widths.output_channels([element.box]) if element.kernels else frozenset[int]()
            for element in sequence[start:stop]
        ]

        def key(repeat: Repeat) -> tuple[object, ...]:
            # Prefer fully equal repetitions.
            unlike_count = unlike[repeat.stop - period - start] - unlike[repeat.start - start]
            near = count_near_blocks(sequence, repeat, context) if context.budget.take(2 * period) else (0, 0)
            borders = _alignment_key(sequence, repeat, context)
            sets = {frozenset[int]().union(*channels[at - start : to - start]) for at, to in repeat.repetitions()}
            return not unlike_count, -len(sets), template(repeat) == known, sum(near) > 1, near, *borders

        best = max(choices, key=key)
    rotations.setdefault(sorted_words, template(best))
    return best


def _unlike_prefix_counts(sequence: FlowElements, period: int) -> list[int]:
    """Return prefix counts of the elements whose symbol differs from that of the element one period later.

    Words are equal even if stacks inside differ in height; symbols are not.
    """
    pairs = zip(sequence, sequence[period:], strict=False)
    return list(accumulate((one.symbol != other.symbol for one, other in pairs), initial=0))


def _alignment_key(sequence: list[SequenceElement], repeat: Repeat, context: FoldContext) -> tuple[object, ...]:
    """Return the sort key of an alignment.

    By importance: few edges cross its borders, side outputs follow their sources, names change at borders, a stack
    comes last.
    """
    borders = [border for border, _ in repeat.repetitions()] + [repeat.stop]
    inner = borders[bool(not repeat.start) : -1]
    cuts = [sequence[border - 1].cut for border in borders if 0 < border < len(sequence)]  # not the ends
    words = context.vocabulary.name_words
    close = sum(
        shared_prefix_length(
            words(sequence[border - 1].box.last_row().name), words(sequence[border].box.first_row().name)
        )
        for border in inner
    )
    first, last = sequence[repeat.start], sequence[repeat.start + repeat.period - 1]
    return (
        -sum(cuts) / len(cuts),
        not first.side,
        -close / len(inner),
        last.box.is_repetition and not first.box.is_repetition,
        first.fork,
    )


@dataclass(frozen=True, slots=True, eq=False)
class WholeRepeat:
    """Equal repetitions of `period` elements, and the near repetitions right before and behind them.

    A' | A A A | A"   `first` are the blocks before, in most stages one; `last` is empty if there is none
    half              where a repetition splits into two blocks; 0 if it is one block
    """

    elements: list[SequenceElement]
    period: int
    first: Sequence[FlowElements] = ()
    last: FlowElements = ()
    half: int = 0

    def repetitions(self) -> list[list[SequenceElement]]:
        return [self.elements[start : start + self.period] for start in range(0, len(self.elements), self.period)]

    def has_equal_heights(self) -> bool:
        """Return whether the stacks in all repetitions have as many members."""
        return not _unlike_prefix_counts(self.elements, self.period)[-1]


def _apply_repeats(
    sequence: list[SequenceElement], repeats: list[Repeat], context: FoldContext
) -> tuple[list[SequenceElement], bool]:
    """Replace repeats in the sequence by their folded elements; return whether there was any."""
    folded: list[SequenceElement] = []
    units: dict[tuple[int, ...], int] = {}  # where the second block of each begins
    done, hit = 0, False
    for number, repeat in enumerate(repeats):
        if repeat.start < done:  # overlaps the one before
            continue
        limit = _start_of_next_repeat(sequence, repeats, number, context)
        before, whole, stop = _complete_repeat(sequence, repeat, done, limit, context)
        made = _fold_repetitions(whole, context)
        if made is None:
            folded += sequence[done : repeat.stop]
            done = repeat.stop
            continue
        folded += [*before, *made]
        done, hit = stop, True
        once = whole.elements[: repeat.period]
        # In plain chains any two ops would match.
        if len(made) == 1 and repeat.period > 1 and any(element.fork for element in once):
            units[tuple(element.symbol for element in once)] = whole.half
    return _stack_blocks_of_stages(_fold_single_units(folded + sequence[done:], units, context), context), hit


def _complete_repeat(
    sequence: list[SequenceElement], repeat: Repeat, done: int, limit: int, context: FoldContext
) -> tuple[list[SequenceElement], WholeRepeat, int]:
    """Return the elements from `done` to a repeat, the repeat with what belongs to it, and where that stops.

    It stops at `limit` at the latest.
    """
    period = repeat.period
    elements = sequence[repeat.start : repeat.stop]
    half = second_block_start(elements[:period], context)
    first = near_blocks_before(sequence, done, elements[half:period], repeat.start, context)
    stop = near_repetition_end(sequence, elements[-period:][: half or None], repeat.stop, limit, context)
    before = sequence[done : repeat.start - sum(map(len, first))]
    return before, WholeRepeat(elements, period, first, sequence[repeat.stop : stop], half), stop


def _start_of_next_repeat(sequence: FlowElements, repeats: Sequence[Repeat], number: int, context: FoldContext) -> int:
    """Return where the next repeat begins, including a nearly equal repetition right before it."""
    if number + 1 == len(repeats):
        return len(sequence)
    later = repeats[number + 1]
    once = sequence[later.start : later.start + later.period]
    return near_repetition_start(sequence, repeats[number].stop, once, later.start, context)


def _stack_blocks_of_stages(sequence: list[SequenceElement], context: FoldContext) -> list[SequenceElement]:
    """Stack the blocks of stages that no repeat covers.

    A block that equals the members of a stack is stacked with a near repetition beside it, and consecutive stacks of
    one unit are joined.
    """
    units = {element.box.unit for element in sequence if element.box.is_repetition and not element.box.sideways}
    folded: list[SequenceElement] = []
    next_number = 0
    for number, element in enumerate(sequence):
        if number < next_number:
            continue
        if folded and element.box.is_repetition:
            before = folded[-1]
            if before.box.is_repetition and _are_of_same_stage(before, [element], element, context):
                blocks = [*before.box.members, *element.box.members]
                folded[-1] = stack_of_blocks(blocks, element.box.unit, [before, element], context)
                continue
        folded.append(element)
        stop = len(folded) - 1
        follows_head = stop > 0 and folded[stop - 1].word == ("head", element.symbol)
        if element.box.is_repetition or not (follows_head or element.symbol in units):
            continue
        start = near_repetition_start(folded, 0, [element], stop, context)
        next_number = near_repetition_end(sequence, [element], number + 1, len(sequence), context)
        stacked, behind = folded[start:], sequence[number + 1 : next_number]
        if not behind and start == stop:
            continue
        blocks = [*([_as_block(stacked[:-1], context)] if start < stop else []), element.box]
        blocks += [_as_block(behind, context)] if behind else []
        stacked += behind
        if start and _are_of_same_stage(folded[start - 1], stacked, element, context):
            start -= 1
            blocks, stacked = [*blocks_of(folded[start]), *blocks], [folded[start], *stacked]
        folded[start:] = [stack_of_blocks(blocks, element.symbol, stacked, context)]
    return folded


def _are_of_same_stage(
    before: SequenceElement, whole: FlowElements, block: SequenceElement, context: FoldContext
) -> bool:
    """Return whether `whole`, the elements of a block or stack, continues the stage of the element before it.

    It does not downsample, and its last block has the kernels and channels of the last one before it.
    """
    widths, unit = context.widths, block.box.unit if block.box.is_repetition else block.symbol
    if any(each.box.is_repetition and each.word != ("stack", unit) for each in (before, block)):
        return False
    previous, blocks = ([box for box in blocks_of(each) if box.symbol == unit] for each in (before, block))
    if not previous or not blocks or widths.has_downsampling([element.box for element in whole]):
        return False
    if widths.kernels(blocks[-1:]) != widths.kernels(previous[-1:]):
        return False
    channels = widths.output_channels(blocks[-1:])
    return bool(channels) and channels == widths.output_channels(previous[-1:])


def stack_of_blocks(boxes: Sequence[FlowBox], unit: int, whole: FlowElements, context: FoldContext) -> SequenceElement:
    """Return a stack of blocks of the kind `unit`, made of the elements `whole`; a single block is none."""
    box = boxes[0] if len(boxes) == 1 else make_stack(context.symbols, boxes, unit)
    return SequenceElement(box, box.symbol, ("stack", unit), whole[-1].cut, whole[0].fork)


def blocks_of(element: SequenceElement) -> list[FlowBox]:
    return element.box.members if element.box.is_repetition else [element.box]


def _fold_single_units(
    sequence: list[SequenceElement], units: Mapping[tuple[int, ...], int], context: FoldContext
) -> list[SequenceElement]:
    """Fold single stretches that equal one repetition of a new stack to a block, or to a stack of two blocks.

    `units` maps the symbols of one repetition, all of equal length, to the place where its second block begins (0: it
    is one block).
    """
    if not units:
        return sequence
    period = len(next(iter(units)))
    folded: list[SequenceElement] = []
    place = 0
    while place < len(sequence):
        repetition = sequence[place : place + period]
        half = units.get(tuple(element.symbol for element in repetition))
        if half is not None:
            box = make_block(context, repetition)
            word: object = box.symbol
            if half:
                unit, blocks = box.symbol, [_as_block(part, context) for part in (repetition[:half], repetition[half:])]
                box, word = make_stack(context.symbols, blocks, unit), ("stack", unit)
            repetition = [SequenceElement(box, box.symbol, word, repetition[-1].cut, repetition[0].fork)]
            place += period - 1
        folded.append(repetition[0])
        place += 1
    return folded


def _fold_repetitions(whole: WholeRepeat, context: FoldContext) -> list[SequenceElement] | None:
    """Return a repeat as one stack, a stack for each stage, or stages; None if it stays as it is."""
    last, period = whole.last, whole.period
    first = [element for block in whole.first for element in block]
    if period > 1 and are_numbered_in_order(whole.elements, context):
        return _stack_blocks(
            [[element] for element in [*first, *whole.elements, *last]], whole.elements[0].symbol, context
        )
    repetitions = whole.repetitions()
    if period == 1:
        stages = [] if whole.has_equal_heights() else _as_stages(repetitions, context)
        if not stages and _are_stages_side_by_side(repetitions, context):
            return None
    else:
        stages = _fold_to_stages(whole, context)
    if stages:
        return [*first, *stages, *last]
    unit = repetitions[0][0].symbol if period == 1 else make_block(context, repetitions[0]).symbol
    if not whole.half:
        return _stack_blocks([block for block in (*whole.first, *repetitions, last) if block], unit, context)
    halves = [part for each in repetitions for part in (each[: whole.half], each[whole.half :])]
    boxes = [_as_block(block, context) for block in (*whole.first, *halves, last) if block]
    return [stack_of_blocks(boxes, unit, [*first, *whole.elements, *last], context)]


def _fold_to_stages(whole: WholeRepeat, context: FoldContext) -> list[SequenceElement]:
    """Return repetitions of several elements as stages; an empty list if they are blocks of one stack."""
    repetitions = whole.repetitions()
    if not whole.has_equal_heights():
        runs = [list(run) for _, run in groupby(repetitions, lambda each: [element.symbol for element in each])]
        if any(map(_is_long_run, runs)):
            return [element for run in runs for element in _fold_run_of_repetitions(run, whole, context)]
        return _as_stages(repetitions, context)
    crossed = any(repetition[-1].cut > 1 for repetition in repetitions)
    least = MIN_CROSSED_STAGE_BLOCKS if crossed else MIN_STAGE_BLOCKS
    blocks = [make_block(context, repetition) for repetition in repetitions]
    if _show_counts(repetitions) or context.widths.are_stages(blocks, least):
        return _as_stages(repetitions, context)
    return []


def _are_stages_side_by_side(repetitions: Sequence[FlowElements], context: FoldContext) -> bool:
    """Return whether equal boxes are stages that stay as they are: a group with parallel branches is a block."""
    boxes = [repetition[0].box for repetition in repetitions]
    return _show_counts(repetitions) or (not repetitions[0][0].fork and context.widths.are_stages(boxes))


def _show_counts(repetitions: Sequence[FlowElements]) -> bool:
    """Return whether each of two repetitions contains a count, so that a reader sees both."""
    return len(repetitions) < MIN_STACKED_STAGES and any(_shows_stack(element.box) for element in repetitions[0])


def _stack_blocks(blocks: Sequence[FlowElements], unit: int, context: FoldContext) -> list[SequenceElement]:
    """Return one stack of blocks, or a stack for each stage if their widths say where stages begin."""
    boxes = [_as_block(block, context) for block in blocks]
    stages = pairwise([0, *context.widths.stage_borders(boxes), len(blocks)])
    return [
        stack_of_blocks(boxes[start:stop], unit, [each for block in blocks[start:stop] for each in block], context)
        for start, stop in stages
    ]


def _as_stages(repetitions: Sequence[FlowElements], context: FoldContext) -> list[SequenceElement]:
    word = ("stage", *(element.word for element in repetitions[0]))
    stages = []
    for repetition in repetitions:
        box = _as_block(repetition, context)
        box.how = GroupOrigin.STAGE
        stages.append(SequenceElement(box, box.symbol, word, repetition[-1].cut, stage=True))
    return stages


def _is_long_run(run: Sequence[FlowElements]) -> bool:
    """Return whether a run has three or more repetitions without stacks inside, so that it is no run of stages."""
    return len(run) >= MIN_STACKED_STAGES and not any(
        each.box.is_repetition or holds_stack(each.box) for each in run[0]
    )


def _fold_run_of_repetitions(
    run: Sequence[list[SequenceElement]], whole: WholeRepeat, context: FoldContext
) -> list[SequenceElement]:
    """Fold a run of equal repetitions between different ones: to a stack if it is long, else to stages."""
    if not _is_long_run(run):
        return _as_stages(run, context)
    elements = [element for repetition in run for element in repetition]
    return _fold_repetitions(WholeRepeat(elements, whole.period, half=whole.half), context) or elements


def _as_block(elements: FlowElements, context: FoldContext) -> FlowBox:
    return elements[0].box if len(elements) == 1 else make_block(context, elements)


def _shows_stack(box: FlowBox) -> bool:
    """Return whether a box is a stack of three or more, or holds a stack, so that a count is shown."""
    return (box.is_repetition and len(box.members) > 2) or holds_stack(box)


def make_block(context: FoldContext, repetition: FlowElements) -> FlowBox:
    symbol = context.symbols.symbol_of("block", *(element.symbol for element in repetition))
    return make_group(GroupOrigin.REPEAT, [element.box for element in repetition], symbol)
