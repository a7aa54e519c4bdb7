"""Repeats in a sequence: fold the shortest period first, and start again after every hit.

a b b a b b        period 1: a [b×2] a [b×2]; then period 2: [a [b×2]]×2

A period with equal repetitions becomes one stack. One whose repetitions hold stacks of different heights (`down block×2
down block×3 …`) becomes stages side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import accumulate

from graphviz_tb.group.flow.box import MIN_STACK_OPS, FlowBox, make_group, make_stack
from graphviz_tb.group.flow.periods import candidate_periods, number_words, periodic_stretches
from graphviz_tb.group.flow.sequence import (
    Repetition,
    SequenceElement,
    covering_stretch,
    extend_with_ends,
    find_matching_ends,
    has_same_content,
)
from graphviz_tb.group.flow.setting import FoldContext
from graphviz_tb.group.flow.words import name_form, shared_prefix_length
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.hierarchy import GroupOrigin

MAX_REPEAT_ROUNDS = 30  # nested repeats; networks have three or four
MIN_SMALL_REPEATS = 3  # repetitions of a box of few ops
MIN_NAMED_INPUTS = 5  # fewer inputs with distinct names stay separate: a query, a memory and a mask
MIN_STACKED_STAGES = 3  # equal stages with a repeat inside; of two, both counts are shown
LONG_REPETITION = 24  # so many repetitions that their start should not depend on where the flow was cut

TemplateRotations = dict[tuple[str, ...], tuple[object, ...]]


def fold_repeats(sequence: Sequence[SequenceElement], setting: FoldContext) -> list[SequenceElement]:
    """Fold all repeats of a sequence, in the same order, into stacks and stages."""
    folded = list(sequence)
    # The first alignment of each template, by its sorted words: later runs follow it.
    rotations: TemplateRotations = {}
    for _ in range(MAX_REPEAT_ROUNDS):
        made = fold_repeats_once(folded, setting, rotations)
        if made is None:
            break
        folded = made
    return folded


def fold_repeats_once(
    sequence: list[SequenceElement], setting: FoldContext, rotations: TemplateRotations
) -> list[SequenceElement] | None:
    """Fold the repeats of the shortest period that has any."""
    mark_stack_units(sequence)
    held = [element.word for element in sequence]
    if len(set(held)) == len(held):  # only saves time
        return None
    words = number_words(held)
    for period in candidate_periods(words):
        stretches = find_repeats(sequence, words, period)
        if not stretches:
            continue
        # The first decides the alignment of its template: later ones may follow an odd box.
        placed = [best_alignment(sequence, start, stop, period, setting, rotations) for start, stop in stretches]
        folded, hit = apply_repeats(sequence, sorted(placed, key=lambda repeat: repeat.start), setting)
        if hit:
            return folded
    return None


def mark_stack_units(sequence: list[SequenceElement]) -> None:
    """Mark elements that equal the unit of a stack as stacks of one, in place."""
    units = {element.box.unit for element in sequence if element.box.is_repetition}
    for element in sequence:
        if not element.box.is_repetition and element.symbol in units:
            element.word = ("stack", element.symbol)


def find_repeats(sequence: list[SequenceElement], words: Longs, period: int) -> list[tuple[int, int]]:
    """Return maximal stretches that repeat with `period`, along the sequence."""
    return [
        (start, stop)
        for start, stop in periodic_stretches(words, period)
        if is_worth_folding(sequence, start, stop, period)
    ]


def is_worth_folding(sequence: list[SequenceElement], start: int, stop: int, period: int) -> bool:
    """Return whether a reader would call it a repeat."""
    first, count = sequence[start], (stop - start) // period
    if period == 1:
        if not first.is_single_box:
            return False
        unlike = len({name_form(sequence[index].box.name) for index in range(start, stop)}) > 1
        if unlike and first.box.how == GroupOrigin.NAME:
            return False
        return first.box.ops >= MIN_STACK_OPS or count >= (
            MIN_NAMED_INPUTS if unlike and first.source else MIN_SMALL_REPEATS
        )
    once = sequence[start : start + period]
    if has_smaller_period([element.word for element in once]):
        return False
    # Two stages with repeats inside stay stages side by side.
    if count < 3 and any(holds_stack(element.box) for element in once):
        return False
    return sum(element.box.ops_per_repetition for element in once) >= MIN_STACK_OPS


def has_smaller_period(words: list[object]) -> bool:
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


def best_alignment(
    sequence: list[SequenceElement],
    start: int,
    stop: int,
    period: int,
    setting: FoldContext,
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
    held = rotation_key(words[:period])
    known, best = rotations.get(held), choices[0]

    def template(repeat: Repetition) -> tuple[object, ...]:
        return words[repeat.start - start : repeat.start - start + period]

    if len(choices) > 1:  # only saves time
        unlike = count_unlike(sequence[start:stop], period)

        def key(repeat: Repetition) -> tuple[object, ...]:
            # Prefer fully equal repetitions.
            uneven = unlike[repeat.stop - period - start] - unlike[repeat.start - start]
            more = period > 1 and setting.budget.take(period) and find_matching_ends(sequence, repeat).count
            return not uneven, template(repeat) == known, more, *alignment_key(sequence, repeat, setting)

        best = max(choices, key=key)
    rotations.setdefault(held, template(best))
    return best


def count_unlike(sequence: Sequence[SequenceElement], period: int) -> list[int]:
    """Return prefix counts of the elements that differ in symbol from the one a period later.

    Words are equal even if stacks inside differ in height; symbols are not.
    """
    pairs = zip(sequence, sequence[period:], strict=False)
    return list(accumulate((one.symbol != other.symbol for one, other in pairs), initial=0))


def rotation_key(words: tuple[object, ...]) -> tuple[str, ...]:
    """Return a key that is equal for all rotations of a template."""
    return tuple(sorted(map(str, words)))


def alignment_key(sequence: list[SequenceElement], repeat: Repetition, setting: FoldContext) -> tuple[object, ...]:
    """Return the sort key of an alignment: narrow borders, side outputs kept with their sources, borders that agree
    with names, the shape of a template."""
    borders = [border for border, _ in repeat.turns()] + [repeat.stop]
    inner = borders[bool(not repeat.start) : -1]
    cuts = [sequence[border - 1].cut for border in borders if 0 < border < len(sequence)]  # not the ends
    words = setting.vocabulary.name_words
    close = sum(
        shared_prefix_length(
            words(sequence[border - 1].box.last_row().name), words(sequence[border].box.first_row().name)
        )
        for border in inner
    )
    first, last = sequence[repeat.start], sequence[repeat.start + repeat.period - 1]
    # In order of importance.
    return (
        -sum(cuts) / len(cuts),
        not first.side,
        -close / len(inner),
        last.box.is_repetition and not first.box.is_repetition,
        first.fork,
    )


def apply_repeats(
    sequence: list[SequenceElement], repeats: list[Repetition], setting: FoldContext
) -> tuple[list[SequenceElement], bool]:
    """Replace repeats in the sequence by their folded elements; return whether there was any."""
    folded: list[SequenceElement] = []
    units: dict[tuple[int, ...], None] = {}
    done, hit = 0, False
    for repeat in repeats:
        if repeat.start < done:  # overlaps the previous one
            continue
        before, turns, stop = sequence[done : repeat.start], sequence[repeat.start : repeat.stop], repeat.stop
        if repeat.period == 1:
            before, turns = extend_to_first(before, turns)
        else:
            before, turns, stop = extend_with_ends(sequence, done, repeat)
        made = fold_repetitions(turns, repeat.period, setting)
        folded += sequence[done:stop] if made is None else [*before, *made]
        if made and len(made) == 1 and repeat.period > 1 and turns[0].fork:  # in plain chains any two ops would match
            units[tuple(element.symbol for element in turns[: repeat.period])] = None
        hit = hit or made is not None
        done = stop
    return fold_single_units(folded + sequence[done:], units, setting), hit


def fold_single_units(
    sequence: list[SequenceElement], units: Collection[tuple[int, ...]], setting: FoldContext
) -> list[SequenceElement]:
    """Fold single stretches that equal one repetition of a new stack to blocks too.

    `units` are the symbols of one repetition of each stack, all of the same length.
    """
    if not units:
        return sequence
    period = len(next(iter(units)))
    folded: list[SequenceElement] = []
    place = 0
    while place < len(sequence):
        turn = sequence[place : place + period]
        if tuple(element.symbol for element in turn) in units:
            box = make_block(setting, turn)
            turn = [
                SequenceElement(box, box.symbol, box.symbol, turn[-1].cut, turn[0].fork, place=covering_stretch(turn))
            ]
            place += period - 1
        folded.append(turn[0])
        place += 1
    return folded


def extend_to_first(
    before: list[SequenceElement], run: list[SequenceElement]
) -> tuple[list[SequenceElement], list[SequenceElement]]:
    """Extend a run of equal boxes by boxes right before it with equal content but different inputs: the first layers.

    A region that ends in such a box, e.g. after an embedding that only it reads, is opened.
    """
    first = run[0]
    if not first.is_single_box or first.box.ops < MIN_STACK_OPS:
        return before, run
    if before and before[-1].box.how == GroupOrigin.REGION and has_same_content(before[-1].box.members[-1], first.box):
        before = [*before[:-1], *region_elements(before[-1])]
    count = len(before)
    while count and before[count - 1].is_single_box and has_same_content(before[count - 1].box, first.box):
        count -= 1
    # Give them the symbol of the run, so that they stack.
    return before[:count], [*(replace(each, symbol=first.symbol, word=first.word) for each in before[count:]), *run]


def region_elements(element: SequenceElement) -> list[SequenceElement]:
    """Return the boxes of a region as elements in its place."""
    return [SequenceElement(box, box.symbol, box.symbol, element.cut) for box in element.box.members]


def fold_repetitions(
    elements: list[SequenceElement], period: int, setting: FoldContext
) -> list[SequenceElement] | None:
    """Fold repetitions of `period` elements to a stack or to stages; return None if neither helps."""
    symbols = setting.symbols
    turns = [elements[start : start + period] for start in range(0, len(elements), period)]
    once = turns[0]
    equal = not count_unlike(elements, period)[-1]
    boxes = [turn[0].box if period == 1 else make_block(setting, turn) for turn in turns]
    # Two groups with counts inside: show both.
    if equal and period == 1 and len(turns) == 2 and is_stage(boxes[0]):
        return None
    if equal and not (
        period > 1 and len(turns) < MIN_STACKED_STAGES and any(shows_stack(element.box) for element in once)
    ):
        unit = once[0].symbol if period == 1 else boxes[0].symbol
        made = make_stack(symbols, boxes, unit)
        last = turns[-1][-1]
        return [
            SequenceElement(
                made, made.symbol, ("stack", unit), last.cut, once[0].fork, place=covering_stretch(elements)
            )
        ]
    word = ("stage", *(element.word for element in once))
    for box in boxes:
        box.how = GroupOrigin.STAGE
    return [
        SequenceElement(box, box.symbol, word, turn[-1].cut, stage=True) for box, turn in zip(boxes, turns, strict=True)
    ]


def is_stage(box: FlowBox) -> bool:
    """Return whether a group is mostly one stack, or a run of equal names with numbers or letters."""
    if not holds_stack(box) and box.how != GroupOrigin.NAME:
        return False
    parts = [member for member in box.members if member.is_repetition and not member.sideways]
    if not parts:
        large = [named for named in box.members if named.how == GroupOrigin.NAME]
        forms = Counter(name_form(named.name) for named in large)
        common = max(forms, key=forms.__getitem__, default="")
        parts = [named for named in large if name_form(named.name) == common]
        if len(parts) < 2:
            return False
    return sum(member.ops for member in parts) >= box.ops / 2


def shows_stack(box: FlowBox) -> bool:
    """Return whether a box shows a repetition count: a stack of three or more, or a stack inside."""
    return (box.is_repetition and len(box.members) > 2) or holds_stack(box)


def make_block(setting: FoldContext, turn: Sequence[SequenceElement]) -> FlowBox:
    """Make one box of a repetition of several."""
    symbol = setting.symbols.symbol_of("block", *(element.symbol for element in turn))
    return make_group(GroupOrigin.REPEAT, [element.box for element in turn], symbol)
