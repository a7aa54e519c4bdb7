"""Repeats in a sequence: the shortest period first, and again from the beginning after every hit.

A period whose repetitions are equal becomes one stack. One whose repetitions hold stacks of different heights
(`down block×2 down block×3 …`) becomes stages side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import accumulate

from graphviz_tb.group.flow.box import FEWEST_OPS, FlowBox, group, stack
from graphviz_tb.group.flow.periods import numbered, periods, stretches_of
from graphviz_tb.group.flow.sequence import Element, Repetition, around, ends_of, same_inside, with_ends
from graphviz_tb.group.flow.setting import Setting
from graphviz_tb.group.flow.words import form, shared
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.hierarchy import How

ROUNDS = 30  # levels of repeats in repeats; networks have three or four
PLAIN = 3  # a box of few ops repeats if it does three times
INPUTS = 5  # inputs that bear names of their own are distinguished up to here: a query, a memory and a mask
STAGES = 3  # equal stages that hold a repeat are stacked from this many on: of two a reader wants both counts
LONG = 24  # repetitions that nobody counts: where they begin shall not hang on where the flow was cut

Rotations = dict[tuple[str, ...], tuple[object, ...]]


def fold_repeats(sequence: Sequence[Element], setting: Setting) -> list[Element]:
    """Fold all repeats of a sequence.

    Before: boxes along the flow. After: the same in the same order, repeats inside stacks and stages.
    """
    folded = list(sequence)
    # For each template, by its words in any order, where it began first: later runs begin alike.
    rotations: Rotations = {}
    for _ in range(ROUNDS):
        made = fold_once(folded, setting, rotations)
        if made is None:
            break
        folded = made
    return folded


def fold_once(sequence: list[Element], setting: Setting, rotations: Rotations) -> list[Element] | None:
    """Fold the repeats of the shortest period that has any."""
    mark_members(sequence)
    held = [element.word for element in sequence]
    if len(set(held)) == len(held):  # only saves time
        return None
    words = numbered(held)
    for period in periods(words):
        stretches = repeats_of(sequence, words, period)
        if not stretches:
            continue
        # The first decides where all of one template begin: later ones may follow an odd box.
        placed = [in_phase(sequence, start, stop, period, setting, rotations) for start, stop in stretches]
        folded, hit = put_together(sequence, sorted(placed, key=lambda repeat: repeat.start), setting)
        if hit:
            return folded
    return None


def mark_members(sequence: list[Element]) -> None:
    """Mark elements that equal the unit of a stack as stacks of one, in place."""
    units = {element.box.unit for element in sequence if element.box.stack}
    for element in sequence:
        if not element.box.stack and element.symbol in units:
            element.word = ("stack", element.symbol)


def repeats_of(sequence: list[Element], words: Longs, period: int) -> list[tuple[int, int]]:
    """Maximal stretches that repeat themselves after `period`, along the sequence."""
    return [(start, stop) for start, stop in stretches_of(words, period) if worth(sequence, start, stop, period)]


def worth(sequence: list[Element], start: int, stop: int, period: int) -> bool:
    """Whether a reader would call it a repeat."""
    first, count = sequence[start], (stop - start) // period
    if period == 1:
        if not first.plain:
            return False
        unlike = len({form(sequence[index].box.name) for index in range(start, stop)}) > 1
        if unlike and first.box.how == How.NAME:
            return False
        return first.box.ops >= FEWEST_OPS or count >= (INPUTS if unlike and first.source else PLAIN)
    once = sequence[start : start + period]
    if periodic([element.word for element in once]):
        return False
    # Two stages with repeats inside are stages side by side.
    if count < 3 and any(holds_stack(element.box) for element in once):
        return False
    return sum(element.box.each for element in once) >= FEWEST_OPS


def periodic(words: list[object]) -> bool:
    """Whether a template repeats itself."""
    count = len(words)
    return any(count % part == 0 and words[part:] == words[:-part] for part in range(1, count // 2 + 1))


def holds_stack(box: FlowBox) -> bool:
    """Whether a group directly holds a stack of something behind each other."""
    if box.stack or box.how not in (How.NAME, How.STAGE, How.REPEAT):
        return False
    return any(member.stack and not member.sideways and member.each >= FEWEST_OPS for member in box.members)


def in_phase(
    sequence: list[Element], start: int, stop: int, period: int, setting: Setting, rotations: Rotations
) -> Repetition:
    """Where the repetitions begin, if there is a choice: the stretch may be longer than they are together. A better
    beginning is worth one repetition of a long stretch, and of one that begins with a side output."""
    count, slack = divmod(stop - start, period)
    # Free: the phase may also shift past the slack, at the price of one repetition.
    free = count >= LONG or (count > 2 and sequence[start].side)
    shifts = range(period if free else min(slack, period - 1) + 1)
    choices = [Repetition(start + shift, period, (stop - start - shift) // period) for shift in shifts]
    words = tuple([element.word for element in sequence[start:stop]])
    # The same for each choice: to sort as many words for every one of them takes the square of their number.
    held = multiset(words[:period])
    known, best = rotations.get(held), choices[0]

    def template(repeat: Repetition) -> tuple[object, ...]:
        return words[repeat.start - start : repeat.start - start + period]

    if len(choices) > 1:  # only saves time
        unlike = unlike_after(sequence[start:stop], period)

        def key(repeat: Repetition) -> tuple[object, ...]:
            # Repetitions that are wholly equal first: a reader counts them at a glance.
            uneven = unlike[repeat.stop - period - start] - unlike[repeat.start - start]
            more = period > 1 and setting.budget.take(period) and ends_of(sequence, repeat).count
            return not uneven, template(repeat) == known, more, *phase_key(sequence, repeat, setting)

        best = max(choices, key=key)
    rotations.setdefault(held, template(best))
    return best


def unlike_after(sequence: Sequence[Element], period: int) -> list[int]:
    """Count the elements before each place that differ in symbol from the one a period later: words are equal where
    stacks inside differ in height, symbols are not."""
    pairs = zip(sequence, sequence[period:], strict=False)
    return list(accumulate((one.symbol != other.symbol for one, other in pairs), initial=0))


def multiset(words: tuple[object, ...]) -> tuple[str, ...]:
    """Return a key that is equal for all rotations of a template."""
    return tuple(sorted(map(str, words)))


def phase_key(sequence: list[Element], repeat: Repetition, setting: Setting) -> tuple[object, ...]:
    """Return the sort key of a phase, besides a known template: narrow borders, side outputs kept with their sources,
    borders that agree with names, the shape of a template."""
    borders = [border for border, _ in repeat.turns()] + [repeat.stop]
    inner = borders[bool(not repeat.start) : -1]
    cuts = [sequence[border - 1].cut for border in borders if 0 < border < len(sequence)]  # the ends speak for no phase
    words = setting.vocabulary.words
    close = sum(
        shared(words(sequence[border - 1].box.last().name), words(sequence[border].box.first().name))
        for border in inner
    )
    first, last = sequence[repeat.start], sequence[repeat.start + repeat.period - 1]
    # Compared from the first to the last: a later one decides only between equals.
    return (
        -sum(cuts) / len(cuts),
        not first.side,
        -close / len(inner),
        last.box.stack and not first.box.stack,
        first.fork,
    )


def put_together(sequence: list[Element], repeats: list[Repetition], setting: Setting) -> tuple[list[Element], bool]:
    """The sequence with repeats in the place of their elements, and whether there was any."""
    folded: list[Element] = []
    units: dict[tuple[int, ...], None] = {}
    done, hit = 0, False
    for repeat in repeats:
        if repeat.start < done:  # overlaps the one before
            continue
        before, turns, stop = sequence[done : repeat.start], sequence[repeat.start : repeat.stop], repeat.stop
        if repeat.period == 1:
            before, turns = with_first(before, turns)
        else:
            before, turns, stop = with_ends(sequence, done, repeat)
        made = fold_one(turns, repeat.period, setting)
        folded += sequence[done:stop] if made is None else [*before, *made]
        if made and len(made) == 1 and repeat.period > 1 and turns[0].fork:  # of plain chains any two ops
            units[tuple(element.symbol for element in turns[: repeat.period])] = None
        hit = hit or made is not None
        done = stop
    return alone(folded + sequence[done:], units, setting), hit


def alone(sequence: list[Element], units: Collection[tuple[int, ...]], setting: Setting) -> list[Element]:
    """Fold stretches that equal one repetition of a new stack, but are alone, into blocks too.

    `units` are the symbols of one repetition of each stack, all of the same length.
    """
    if not units:
        return sequence
    period = len(next(iter(units)))
    folded: list[Element] = []
    place = 0
    while place < len(sequence):
        turn = sequence[place : place + period]
        if tuple(element.symbol for element in turn) in units:
            box = block(setting, turn)
            turn = [Element(box, box.symbol, box.symbol, turn[-1].cut, turn[0].fork, place=around(turn))]
            place += period - 1
        folded.append(turn[0])
        place += 1
    return folded


def with_first(before: list[Element], run: list[Element]) -> tuple[list[Element], list[Element]]:
    """Extend a run of equal boxes by those right before it that hold the same, even if they are wired differently
    outside: the first layers. A region that ends in one, behind an embedding that only it reads, is opened."""
    first = run[0]
    if not first.plain or first.box.ops < FEWEST_OPS:
        return before, run
    if before and before[-1].box.how == How.REGION and same_inside(before[-1].box.members[-1], first.box):
        before = [*before[:-1], *parts_of(before[-1])]
    count = len(before)
    while count and before[count - 1].plain and same_inside(before[count - 1].box, first.box):
        count -= 1
    # Now equal to the others, so that they stack.
    return before[:count], [*(replace(each, symbol=first.symbol, word=first.word) for each in before[count:]), *run]


def parts_of(element: Element) -> list[Element]:
    """Return what a region holds, as elements in its place."""
    return [Element(box, box.symbol, box.symbol, element.cut) for box in element.box.members]


def fold_one(elements: list[Element], period: int, setting: Setting) -> list[Element] | None:
    """A stack of equal repetitions of `period` elements, or stages; None where neither helps."""
    symbols = setting.symbols
    turns = [elements[start : start + period] for start in range(0, len(elements), period)]
    once = turns[0]
    equal = not unlike_after(elements, period)[-1]
    boxes = [turn[0].box if period == 1 else block(setting, turn) for turn in turns]
    # Two groups that count something themselves: a reader wants both counts.
    if equal and period == 1 and len(turns) == 2 and is_stage(boxes[0]):
        return None
    if equal and not (period > 1 and len(turns) < STAGES and any(shows_stack(element.box) for element in once)):
        unit = once[0].symbol if period == 1 else boxes[0].symbol
        made = stack(symbols, boxes, unit)
        last = turns[-1][-1]
        return [Element(made, made.symbol, ("stack", unit), last.cut, once[0].fork, place=around(elements))]
    word = ("stage", *(element.word for element in once))
    for box in boxes:
        box.how = How.STAGE
    return [Element(box, box.symbol, word, turn[-1].cut, stage=True) for box, turn in zip(boxes, turns, strict=True)]


def is_stage(box: FlowBox) -> bool:
    """Return whether a group is mostly one stack, or a run of equal names with numbers or letters."""
    if not holds_stack(box) and box.how != How.NAME:
        return False
    parts = [member for member in box.members if member.stack and not member.sideways]
    if not parts:
        large = [named for named in box.members if named.how == How.NAME]
        forms = Counter(form(named.name) for named in large)
        common = max(forms, key=forms.__getitem__, default="")
        parts = [named for named in large if form(named.name) == common]
        if len(parts) < 2:
            return False
    return sum(member.ops for member in parts) >= box.ops / 2


def shows_stack(box: FlowBox) -> bool:
    """Return whether a box shows a number of repeats: a stack of three or more, or a stack inside."""
    return (box.stack and len(box.members) > 2) or holds_stack(box)


def block(setting: Setting, turn: Sequence[Element]) -> FlowBox:
    """One repetition of several boxes."""
    symbol = setting.symbols.of("block", *(element.symbol for element in turn))
    return group(How.REPEAT, [element.box for element in turn], symbol)
