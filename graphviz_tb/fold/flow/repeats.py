"""Repeats in a sequence: fold the shortest period first, and start again after every hit.

    a b b a b b        period 1: a [b×2] a [b×2]; then period 2: [a [b×2]]×2

A period with equal repetitions becomes one stack. One whose repetitions hold stacks of different heights (`down block×2
down block×3 …`) becomes stages side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, pairwise

from graphviz_tb.fold.flow.box import MIN_STACK_OPS, FlowBox, make_group, make_stack
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.fold.flow.names import name_form, shared_prefix_length
from graphviz_tb.fold.flow.near_repeats import (
    are_numbered_in_order,
    are_two_blocks,
    begins_stage_behind,
    halves_of,
    nearly_before,
    nearly_behind,
)
from graphviz_tb.fold.flow.sequence import (
    Repetition,
    SequenceElement,
    candidate_periods,
    covering_stretch,
    extend_with_ends,
    find_matching_ends,
    has_same_content,
    number_words,
    periodic_stretches,
    tapering_stretches,
)
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.hierarchy import GroupOrigin

MAX_REPEAT_ROUNDS = 30  # nested repeats; networks have three or four
MIN_SMALL_REPEATS = 3  # repetitions of a box of few ops, or of a layer and what follows it
MIN_NAMED_INPUTS = 5  # fewer inputs with distinct names stay separate: a query, a memory and a mask
MIN_STACKED_STAGES = 3  # equal stages with a repeat inside; of two, both counts are shown
MIN_STAGE_BLOCKS = 2
MIN_CROSSED_STAGE_BLOCKS = 3  # where lines cross its borders: the levels of a U-Net have two, and are one stack
MAX_LISTED_LAYERS = 4  # layers, each with other sizes, that are no stack
MIN_IN_TURN = 4  # elements that are two repetitions of two
LONG_REPETITION = 24  # so many repetitions that their start should not depend on where the flow was cut

TemplateRotations = dict[tuple[str, ...], tuple[object, ...]]


def fold_repeats(sequence: Sequence[SequenceElement], context: FoldContext) -> list[SequenceElement]:
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
    """Stack scopes of one class that are numbered in order and nearly equal: a stage whose first block may lack the
    shortcut."""
    folded: list[SequenceElement] = []
    run: list[SequenceElement] = []
    for element in [*sequence, None]:
        if element is not None and _continues_stage(run, element, context):
            run.append(element)
            continue
        folded += [_stack_of_stage(run, context)] if len(run) > 1 else run
        run = [element] if element is not None else []
    return folded


def _continues_stage(run: Sequence[SequenceElement], element: SequenceElement, context: FoldContext) -> bool:
    """Return whether an element is the next block of the stage that a run of blocks is of."""
    pair = [*run[-1:], element]
    single = len(pair) > 1 and all(each.is_single_box and not holds_stack(each.box) for each in pair)
    return single and are_two_blocks(pair, context)


def _stack_of_stage(run: Sequence[SequenceElement], context: FoldContext) -> SequenceElement:
    last = run[-1]
    made = make_stack(context.symbols, [element.box for element in run], last.symbol)
    return SequenceElement(made, made.symbol, ("stack", last.symbol), last.cut, place=covering_stretch(run))


def _fold_repeats_once(
    sequence: list[SequenceElement], context: FoldContext, rotations: TemplateRotations
) -> list[SequenceElement] | None:
    """Fold the repeats of the shortest period that has any."""
    _mark_stack_units(sequence)
    held = [element.word for element in sequence]
    if len(set(held)) == len(held):  # only saves time
        return None
    # Elements with other kernels are not a repetition: a stem of 7×7, a stage of 5×5.
    for element in sequence:
        if element.kernels is None:
            element.kernels = context.widths.kernels([element.box])
    words, plain = number_words([(element.word, element.kernels) for element in sequence]), number_words(held)
    for period in candidate_periods(plain):
        stretches = _find_repeats(sequence, words, plain, period, context)
        if not stretches:
            continue
        # One without a choice decides the alignment of its template, else the first: later ones may follow an odd box.
        stretches.sort(key=lambda stretch: (stretch[1] - stretch[0]) % period > 0)
        placed = [_best_alignment(sequence, start, stop, period, context, rotations) for start, stop in stretches]
        placed = [replace(each, count=each.count - begins_stage_behind(sequence, each, context)) for each in placed]
        placed = sorted([repeat for repeat in placed if repeat.count > 1], key=lambda repeat: repeat.start)
        ready = [repeat for repeat in placed if not _follows_repeat_of(sequence, repeat, placed, context)]
        folded, hit = _apply_repeats(sequence, ready or placed, context)
        if hit:
            return folded
    return None


def _follows_repeat_of(
    sequence: Sequence[SequenceElement], repeat: Repetition, others: Sequence[Repetition], context: FoldContext
) -> bool:
    """Return whether what is nearly a repetition right before a repeat holds another repeat, which is folded first."""
    if len(others) == 1 or not context.budget.take(repeat.period):
        return False
    once = sequence[repeat.start : repeat.start + repeat.period]
    start = nearly_before(sequence, 0, once, repeat.start, context)
    return any(start <= other.start and other.stop < repeat.start for other in others)


def _mark_stack_units(sequence: list[SequenceElement]) -> None:
    """Mark elements that equal the unit of a stack as stacks of one, in place."""
    units = {element.box.unit for element in sequence if element.box.is_repetition}
    for element in sequence:
        if not element.box.is_repetition and element.symbol in units:
            element.word = ("stack", element.symbol)


def _find_repeats(
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
    """Return whether a reader would call it a repeat."""
    first, count, once = sequence[start], (stop - start) // period, sequence[start : start + period]
    again = count == 2 and sum(element.word == first.word for element in sequence) > 2 * count
    if again and not any(context.types.maps_channels(element.box) for element in once):
        return False  # a part of blocks: the last norm of the last one, and the norm behind it
    alternate = period <= 2 and _have_two_widths_in_turn(sequence[start:stop], context)
    if period == 1:
        alone = not first.is_single_box or _are_few_unlike_layers(sequence[start:stop], context)
        if alternate or alone:
            return False
        unlike = len({name_form(sequence[index].box.name) for index in range(start, stop)}) > 1
        if unlike and first.box.how == GroupOrigin.NAME:
            return False
        return first.box.ops >= MIN_STACK_OPS or count >= (
            MIN_NAMED_INPUTS if unlike and first.source else MIN_SMALL_REPEATS
        )
    if not alternate and _has_smaller_period([element.word for element in once]):
        return False
    # Two stages with repeats inside stay stages side by side.
    if count < 3 and any(holds_stack(element.box) for element in once):
        return False
    ops = sum(element.box.ops_per_repetition for element in once)
    return ops >= MIN_STACK_OPS or (
        count >= MIN_SMALL_REPEATS and context.widths.holds_layer(element.box for element in once)
    )


def _are_few_unlike_layers(run: Sequence[SequenceElement], context: FoldContext) -> bool:
    """Return whether a run is a few layers, no two alike, with several kernels or steps: a stem, a branch of a module.
    Where only channels grow, it is a repeat."""
    if len(run) > MAX_LISTED_LAYERS or any(element.box.how != GroupOrigin.LAYER for element in run):
        return False
    widths, boxes = context.widths, [[element.box] for element in run]
    windows = [(widths.kernels(box), widths.halves(box)) for box in boxes]
    sizes = {(window, widths.output_channels(box)) for window, box in zip(windows, boxes, strict=True)}
    return len(sizes) == len(run) and len(set(windows)) > 1


def _have_two_widths_in_turn(run: Sequence[SequenceElement], context: FoldContext) -> bool:
    """Return whether elements are equal but for their output channels, of which there are two in turn, so that two
    elements are a repetition: one mixes tokens, the other channels (MLP-Mixer, Tolstikhin et al. 2021)."""
    if len(run) < MIN_IN_TURN or any(element.word != run[0].word for element in run):
        return False
    given = [context.widths.output_channels([element.box]) for element in run]
    return all(given) and given[0] != given[1] and given[2:] == given[:-2]


def _has_smaller_period(words: list[object]) -> bool:
    """Return whether a template repeats itself."""
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
) -> Repetition:
    """Choose the alignment of a repetition, if the stretch is longer than its repetitions.

    A better alignment may cost one repetition of a long stretch, or of one that begins with a side output.
    """
    count, slack = divmod(stop - start, period)
    # Free: the start may also shift past the slack, at the price of one repetition.
    free = count >= LONG_REPETITION or (count > 2 and sequence[start].side)
    shifts = range(period if free else min(slack, period - 1) + 1)
    choices = [Repetition(start + shift, period, (stop - start - shift) // period) for shift in shifts]
    words = tuple([element.word for element in sequence[start:stop]])
    # Equal for all choices; sorting for each would be quadratic.
    held = _rotation_key(words[:period])
    known, best = rotations.get(held), choices[0]

    def template(repeat: Repetition) -> tuple[object, ...]:
        return words[repeat.start - start : repeat.start - start + period]

    if len(choices) > 1:  # only saves time
        unlike = _count_unlike(sequence[start:stop], period)
        # No repetition of convolutions holds a border of widths, if another alignment has it between two.
        given = [
            context.widths.output_channels([element.box]) if element.kernels else frozenset[int]()
            for element in sequence[start:stop]
        ]

        def key(repeat: Repetition) -> tuple[object, ...]:
            # Prefer fully equal repetitions.
            uneven = unlike[repeat.stop - period - start] - unlike[repeat.start - start]
            more = context.budget.take(period) and find_matching_ends(sequence, repeat).count
            near = not more and context.budget.take(period) and _nearly_ends(sequence, repeat, context)
            paired = context.budget.take(period) and _pair_in(sequence[repeat.start : repeat.start + period], context)
            borders = _alignment_key(sequence, repeat, context)
            wide = len({frozenset[int]().union(*given[at - start : to - start]) for at, to in repeat.turns()})
            return not uneven, -wide, template(repeat) == known, bool(paired), more, near, *borders

        best = max(choices, key=key)
    rotations.setdefault(held, template(best))
    return best


def _count_unlike(sequence: Sequence[SequenceElement], period: int) -> list[int]:
    """Return prefix counts of the elements that differ in symbol from the one a period later.

    Words are equal even if stacks inside differ in height; symbols are not.
    """
    pairs = zip(sequence, sequence[period:], strict=False)
    return list(accumulate((one.symbol != other.symbol for one, other in pairs), initial=0))


def _rotation_key(words: tuple[object, ...]) -> tuple[str, ...]:
    """Return a key that is equal for all rotations of a template."""
    return tuple(sorted(map(str, words)))


def _alignment_key(sequence: list[SequenceElement], repeat: Repetition, context: FoldContext) -> tuple[object, ...]:
    """Return the sort key of an alignment, by importance: narrow borders, side outputs kept with their sources, borders
    that agree with names, the shape of a template."""
    borders = [border for border, _ in repeat.turns()] + [repeat.stop]
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


def _apply_repeats(
    sequence: list[SequenceElement], repeats: list[Repetition], context: FoldContext
) -> tuple[list[SequenceElement], bool]:
    """Replace repeats in the sequence by their folded elements; return whether there was any."""
    folded: list[SequenceElement] = []
    units: dict[tuple[int, ...], int] = {}  # where the second half of each begins
    done, hit = 0, False
    for number, repeat in enumerate(repeats):
        if repeat.start < done:  # overlaps the one before
            continue
        before, turns, stop = sequence[done : repeat.start], sequence[repeat.start : repeat.stop], repeat.stop
        limit = _limit_of(sequence, repeats, number, context)
        if repeat.period == 1 and not turns[0].fork:
            before, turns = _extend_to_first(before, turns, context)
        else:
            before, turns, stop = extend_with_ends(sequence, done, limit, repeat)
        start, end = done + len(before), stop
        half = halves_of(turns[: repeat.period], context)
        if before == sequence[done:start]:
            start = nearly_before(sequence, done, turns[half : repeat.period], start, context)
        end = nearly_behind(sequence, turns[-repeat.period :][: half or None], stop, limit, context)
        if start < done + len(before):
            first, before = sequence[start : done + len(before)], sequence[done:start]
        else:
            first = []
        made = _fold_repetitions(turns, repeat.period, context, first, sequence[stop:end], half)
        if made is not None:
            stop = end
        folded += sequence[done:stop] if made is None else [*before, *made]
        forks = any(element.fork for element in turns[: repeat.period])  # in plain chains any two ops would match
        if made and len(made) == 1 and repeat.period > 1 and forks:
            units[tuple(element.symbol for element in turns[: repeat.period])] = half
        hit = hit or made is not None
        done = stop
    return _stack_pairs(_fold_single_units(folded + sequence[done:], units, context), context), hit


def _limit_of(
    sequence: Sequence[SequenceElement], repeats: Sequence[Repetition], number: int, context: FoldContext
) -> int:
    """Return where the next repeat begins, including a nearly equal repetition right before it."""
    if number + 1 == len(repeats):
        return len(sequence)
    later = repeats[number + 1]
    once = sequence[later.start : later.start + later.period]
    return nearly_before(sequence, repeats[number].stop, once, later.start, context)


def _stack_pairs(sequence: list[SequenceElement], context: FoldContext) -> list[SequenceElement]:
    """Stack a single block that equals the members of a stack with a near repetition right before or behind it: a stage
    of two blocks; and join stacks of one block in a row: one of their repetitions makes what the rest are given."""
    units = {element.box.unit for element in sequence if element.box.is_repetition and not element.box.sideways}
    folded: list[SequenceElement] = []
    done = 0
    for number, element in enumerate(sequence):
        if number < done:
            continue
        if folded and element.box.is_repetition:
            before = folded[-1]
            if before.box.is_repetition and _continue_stage(before, [element], element, context):
                blocks = [*before.box.members, *element.box.members]
                folded[-1] = _stack_of_blocks(blocks, element.box.unit, [before, element], context)
                continue
        folded.append(element)
        stop = len(folded) - 1
        headed = stop > 0 and folded[stop - 1].word == ("head", element.symbol)
        if element.box.is_repetition or not (headed or element.symbol in units):
            continue
        start = nearly_before(folded, 0, [element], stop, context)
        done = nearly_behind(sequence, [element], number + 1, len(sequence), context)
        whole, last = folded[start:], sequence[number + 1 : done]
        if not last and start == stop:
            continue
        blocks = [*([_as_one(whole[:-1], context)] if start < stop else []), element.box]
        blocks += [_as_one(last, context)] if last else []
        whole += last
        if start and _continue_stage(folded[start - 1], whole, element, context):
            start -= 1
            blocks, whole = [*_blocks_of(folded[start]), *blocks], [folded[start], *whole]
        folded[start:] = [_stack_of_blocks(blocks, element.symbol, whole, context)]
    return folded


def _continue_stage(
    before: SequenceElement, whole: Sequence[SequenceElement], block: SequenceElement, context: FoldContext
) -> bool:
    """Return whether elements around a block or stack are of the stage of the one before them: two kinds in turn."""
    widths, unit = context.widths, block.box.unit if block.box.is_repetition else block.symbol
    if any(each.box.is_repetition and each.word != ("stack", unit) for each in (before, block)):
        return False
    like, own = ([box for box in _blocks_of(each) if box.symbol == unit] for each in (before, block))
    if not like or not own or widths.halves([element.box for element in whole]):
        return False
    if widths.kernels(own[-1:]) != widths.kernels(like[-1:]):
        return False
    channels = widths.output_channels(own[-1:])
    return bool(channels) and channels == widths.output_channels(like[-1:])


def _stack_of_blocks(
    blocks: Sequence[FlowBox], unit: int, whole: Sequence[SequenceElement], context: FoldContext
) -> SequenceElement:
    made = make_stack(context.symbols, blocks, unit)
    place = covering_stretch(whole)
    return SequenceElement(made, made.symbol, ("stack", unit), whole[-1].cut, whole[0].fork, place=place)


def _blocks_of(element: SequenceElement) -> list[FlowBox]:
    return element.box.members if element.box.is_repetition else [element.box]


def _fold_single_units(
    sequence: list[SequenceElement], units: Mapping[tuple[int, ...], int], context: FoldContext
) -> list[SequenceElement]:
    """Fold single stretches that equal one repetition of a new stack to blocks too; two blocks in turn are a stack.

    `units` are the symbols of one repetition of each stack, all of the same length, with its second half's beginning.
    """
    if not units:
        return sequence
    period = len(next(iter(units)))
    folded: list[SequenceElement] = []
    place = 0
    while place < len(sequence):
        turn = sequence[place : place + period]
        half = units.get(tuple(element.symbol for element in turn))
        if half is not None:
            box = make_block(context, turn)
            word: object = box.symbol
            if half:
                unit, blocks = box.symbol, [_as_one(part, context) for part in (turn[:half], turn[half:])]
                box, word = make_stack(context.symbols, blocks, unit), ("stack", unit)
            turn = [SequenceElement(box, box.symbol, word, turn[-1].cut, turn[0].fork, place=covering_stretch(turn))]
            place += period - 1
        folded.append(turn[0])
        place += 1
    return folded


def _extend_to_first(
    before: list[SequenceElement], run: list[SequenceElement], context: FoldContext
) -> tuple[list[SequenceElement], list[SequenceElement]]:
    """Extend a run of equal boxes by boxes right before it with equal content but different inputs: the first
    layers."""
    first = run[0]
    if first.box.ops < MIN_STACK_OPS:
        return before, run
    count = len(before)
    kernels = context.widths.kernels([first.box])
    while (
        count
        and before[count - 1].is_single_box
        and has_same_content(before[count - 1].box, first.box)
        and context.widths.kernels([before[count - 1].box]) == kernels
    ):
        count -= 1
    # Give them the symbol of the run, so that they stack.
    return before[:count], [*(replace(each, symbol=first.symbol, word=first.word) for each in before[count:]), *run]


def _nearly_ends(sequence: Sequence[SequenceElement], repeat: Repetition, context: FoldContext) -> int:
    """Count the near repetitions right before and after those of a repeat."""
    once = sequence[repeat.start : repeat.start + repeat.period]
    before = nearly_before(sequence, 0, once, repeat.start, context) < repeat.start
    return before + (nearly_behind(sequence, once, repeat.stop, len(sequence), context) > repeat.stop)


def _fold_repetitions(
    elements: list[SequenceElement],
    period: int,
    context: FoldContext,
    first: Sequence[SequenceElement] = (),
    last: Sequence[SequenceElement] = (),
    half: int = 0,
) -> list[SequenceElement] | None:
    """Return a stack of equal repetitions of `period` elements, with nearly equal ones before (`first`) and behind
    (`last`), or stages; None if neither helps. `half` is where a repetition splits into two blocks."""
    ends = [[_as_one(end, context)] if end else [] for end in (first, last)]
    if period > 1 and are_numbered_in_order(elements, context):
        period, ends = 1, [[element.box for element in end] for end in (first, last)]
        equal = True
    else:
        equal = not _count_unlike(elements, period)[-1]
    turns = [elements[start : start + period] for start in range(0, len(elements), period)]
    if period > 1 and not half and (paired := _stages_of_pairs(turns, context)):
        return [*first, *_as_stages(paired, context), *last]
    if period > 1 and not equal and any(map(_is_long_run, runs := _runs_of_equal_turns(turns))):
        return [*first, *(element for run in runs for element in _fold_equal_run(run, period, context, half)), *last]
    once = turns[0]
    boxes = [turn[0].box if period == 1 else make_block(context, turn) for turn in turns]
    # Two groups with counts inside: show both. A group whose flow parts and joins again is a block, not a stage.
    counted = len(turns) < MIN_STACKED_STAGES and any(_shows_stack(element.box) for element in once)
    if equal and period == 1 and (counted or (not once[0].fork and context.widths.are_stages(boxes))):
        return None
    crossed = any(turn[-1].cut > 1 for turn in turns)
    least = MIN_CROSSED_STAGE_BLOCKS if crossed else MIN_STAGE_BLOCKS
    staged = period > 1 and (counted or context.widths.are_stages(boxes, least))
    if equal and not staged:
        unit = once[0].symbol if period == 1 else boxes[0].symbol
        if half and period > 1:
            boxes = [_as_one(part, context) for turn in turns for part in (turn[:half], turn[half:])]
        if not half and (borders := context.widths.stage_borders([*ends[0], *boxes, *ends[1]])):
            return _part_at_borders(first, turns, last, borders, unit, context)
        return [_stack_of_blocks([*ends[0], *boxes, *ends[1]], unit, [*first, *elements, *last], context)]
    return [*first, *_as_stages(turns, context), *last]


def _as_stages(turns: Sequence[Sequence[SequenceElement]], context: FoldContext) -> list[SequenceElement]:
    """Return repetitions as stages side by side."""
    word = ("stage", *(element.word for element in turns[0]))
    stages = []
    for turn in turns:
        box = turn[0].box if len(turn) == 1 else make_block(context, turn)
        box.how = GroupOrigin.STAGE
        stages.append(SequenceElement(box, box.symbol, word, turn[-1].cut, stage=True))
    return stages


def _runs_of_equal_turns(turns: Sequence[list[SequenceElement]]) -> list[list[list[SequenceElement]]]:
    return [list(run) for _, run in groupby(turns, lambda turn: [element.symbol for element in turn])]


def _is_long_run(run: Sequence[Sequence[SequenceElement]]) -> bool:
    """Return whether equal repetitions are not stages: three or more, without repeats inside."""
    return len(run) >= MIN_STACKED_STAGES and not any(
        each.box.is_repetition or holds_stack(each.box) for each in run[0]
    )


def _fold_equal_run(
    run: Sequence[list[SequenceElement]], period: int, context: FoldContext, half: int
) -> list[SequenceElement]:
    """Fold some equal repetitions among others that hold repeats: an odd one must not hide that the rest are equal."""
    if not _is_long_run(run):
        return _as_stages(run, context)
    elements = [element for turn in run for element in turn]
    return _fold_repetitions(elements, period, context, half=half) or elements


def _pair_in(turn: Sequence[SequenceElement], context: FoldContext) -> range:
    """Return where the first of two blocks of a stage is in a repetition, before one that it nearly equals; an
    empty range if there are no such blocks."""
    last = len(turn) - 1
    while last > 0 and not turn[last].fork and not context.types.maps_channels(turn[last].box):
        last -= 1
    ends = turn[last + 1 :]
    if not turn[last].shortcut:
        return range(0)
    # The norm before the first block may be at the end of the stage before it.
    line, stop = [*ends, *turn[: last + 1]], last + len(ends)
    start = nearly_before(line, 0, turn[last : last + 1], stop, context)
    alike = 2 * sum(element.box.ops for element in line[start:stop]) >= turn[last].box.ops
    return range(max(0, start - len(ends)), last) if alike else range(0)


def _stages_of_pairs(turns: Sequence[list[SequenceElement]], context: FoldContext) -> list[list[SequenceElement]]:
    """Return the repetitions with two blocks of each as a stack; nothing unless they are stages: channels change from
    each to the next, or all but the first take larger steps."""
    widths = [context.widths.output_channels([element.box for element in turn]) for turn in turns]
    steps = all(context.widths.halves([element.box for element in turn]) for turn in turns[1:])
    if not steps and any(one == other for one, other in pairwise(widths)):
        return []
    first = _pair_in(turns[-1], context)
    stages = []
    for turn in turns if first else ():
        block = turn[first.stop]
        boxes = [_as_one(turn[first.start : first.stop], context), block.box]
        box = make_stack(context.symbols, boxes, block.symbol)
        pair = SequenceElement(box, box.symbol, ("stack", block.symbol), block.cut, turn[first.start].fork)
        stages.append([*turn[: first.start], pair, *turn[first.stop + 1 :]])
    return stages


def _part_at_borders(
    first: Sequence[SequenceElement],
    turns: Sequence[Sequence[SequenceElement]],
    last: Sequence[SequenceElement],
    borders: Sequence[int],
    unit: int,
    context: FoldContext,
) -> list[SequenceElement]:
    """Return a stack for each stage of some equal blocks; `borders` are the blocks at which a stage begins."""
    blocks = [turn for turn in (first, *turns, last) if turn]
    stages = []
    for start, stop in pairwise([0, *borders, len(blocks)]):
        held = [element for turn in blocks[start:stop] for element in turn]
        boxes = [_as_one(turn, context) for turn in blocks[start:stop]]
        box = boxes[0] if len(boxes) == 1 else make_stack(context.symbols, boxes, unit)
        place = covering_stretch(held)
        stages.append(SequenceElement(box, box.symbol, ("stack", unit), held[-1].cut, held[0].fork, place=place))
    return stages


def _as_one(elements: Sequence[SequenceElement], context: FoldContext) -> FlowBox:
    return elements[0].box if len(elements) == 1 else make_block(context, elements)


def _shows_stack(box: FlowBox) -> bool:
    """Return whether a box shows a repetition count: a stack of three or more, or a stack inside."""
    return (box.is_repetition and len(box.members) > 2) or holds_stack(box)


def make_block(context: FoldContext, turn: Sequence[SequenceElement]) -> FlowBox:
    symbol = context.symbols.symbol_of("block", *(element.symbol for element in turn))
    return make_group(GroupOrigin.REPEAT, [element.box for element in turn], symbol)
