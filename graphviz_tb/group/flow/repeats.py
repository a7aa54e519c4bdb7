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

from graphviz_tb.group.flow.box import FEWEST_OPS, FlowBox, group, stack
from graphviz_tb.group.flow.periods import numbered, periods, stretches_of
from graphviz_tb.group.flow.sequence import Element, Repetition, around, ends_of, same_inside, with_ends
from graphviz_tb.group.flow.setting import Setting
from graphviz_tb.group.flow.words import form, shared
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.hierarchy import How

ROUNDS = 30  # nested repeats; networks have three or four
PLAIN = 3  # repetitions of a box of few ops
INPUTS = 5  # fewer inputs with distinct names stay separate: a query, a memory and a mask
STAGES = 3  # equal stages with a repeat inside; of two, both counts are shown
LONG = 24  # so many repetitions that their start should not depend on where the flow was cut

Rotations = dict[tuple[str, ...], tuple[object, ...]]


def fold_repeats(sequence: Sequence[Element], setting: Setting) -> list[Element]:
    """Fold all repeats of a sequence, in the same order, into stacks and stages."""
    folded = list(sequence)
    # The first alignment of each template, by its sorted words: later runs follow it.
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
        # The first decides the alignment of its template: later ones may follow an odd box.
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
    """Return maximal stretches that repeat with `period`, along the sequence."""
    return [(start, stop) for start, stop in stretches_of(words, period) if worth(sequence, start, stop, period)]


def worth(sequence: list[Element], start: int, stop: int, period: int) -> bool:
    """Return whether a reader would call it a repeat."""
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
    # Two stages with repeats inside stay stages side by side.
    if count < 3 and any(holds_stack(element.box) for element in once):
        return False
    return sum(element.box.each for element in once) >= FEWEST_OPS


def periodic(words: list[object]) -> bool:
    """Return whether a template repeats itself."""
    count = len(words)
    return any(count % part == 0 and words[part:] == words[:-part] for part in range(1, count // 2 + 1))


def holds_stack(box: FlowBox) -> bool:
    """Return whether a group directly holds a stack of consecutive repetitions."""
    if box.stack or box.how not in (How.NAME, How.STAGE, How.REPEAT):
        return False
    return any(member.stack and not member.sideways and member.each >= FEWEST_OPS for member in box.members)


def in_phase(
    sequence: list[Element], start: int, stop: int, period: int, setting: Setting, rotations: Rotations
) -> Repetition:
    """Choose the alignment of a repetition, if the stretch is longer than its repetitions.

    A better alignment may cost one repetition of a long stretch, or of one that begins with a side output.
    """
    count, slack = divmod(stop - start, period)
    # Free: the start may also shift past the slack, at the price of one repetition.
    free = count >= LONG or (count > 2 and sequence[start].side)
    shifts = range(period if free else min(slack, period - 1) + 1)
    choices = [Repetition(start + shift, period, (stop - start - shift) // period) for shift in shifts]
    words = tuple([element.word for element in sequence[start:stop]])
    # Equal for all choices; sorting for each would be quadratic.
    held = multiset(words[:period])
    known, best = rotations.get(held), choices[0]

    def template(repeat: Repetition) -> tuple[object, ...]:
        return words[repeat.start - start : repeat.start - start + period]

    if len(choices) > 1:  # only saves time
        unlike = unlike_after(sequence[start:stop], period)

        def key(repeat: Repetition) -> tuple[object, ...]:
            # Prefer fully equal repetitions.
            uneven = unlike[repeat.stop - period - start] - unlike[repeat.start - start]
            more = period > 1 and setting.budget.take(period) and ends_of(sequence, repeat).count
            return not uneven, template(repeat) == known, more, *phase_key(sequence, repeat, setting)

        best = max(choices, key=key)
    rotations.setdefault(held, template(best))
    return best


def unlike_after(sequence: Sequence[Element], period: int) -> list[int]:
    """Return prefix counts of the elements that differ in symbol from the one a period later.

    Words are equal even if stacks inside differ in height; symbols are not.
    """
    pairs = zip(sequence, sequence[period:], strict=False)
    return list(accumulate((one.symbol != other.symbol for one, other in pairs), initial=0))


def multiset(words: tuple[object, ...]) -> tuple[str, ...]:
    """Return a key that is equal for all rotations of a template."""
    return tuple(sorted(map(str, words)))


def phase_key(sequence: list[Element], repeat: Repetition, setting: Setting) -> tuple[object, ...]:
    """Return the sort key of an alignment: narrow borders, side outputs kept with their sources, borders that agree
    with names, the shape of a template."""
    borders = [border for border, _ in repeat.turns()] + [repeat.stop]
    inner = borders[bool(not repeat.start) : -1]
    cuts = [sequence[border - 1].cut for border in borders if 0 < border < len(sequence)]  # not the ends
    words = setting.vocabulary.words
    close = sum(
        shared(words(sequence[border - 1].box.last().name), words(sequence[border].box.first().name))
        for border in inner
    )
    first, last = sequence[repeat.start], sequence[repeat.start + repeat.period - 1]
    # In order of importance.
    return (
        -sum(cuts) / len(cuts),
        not first.side,
        -close / len(inner),
        last.box.stack and not first.box.stack,
        first.fork,
    )


def put_together(sequence: list[Element], repeats: list[Repetition], setting: Setting) -> tuple[list[Element], bool]:
    """Replace repeats in the sequence by their folded elements; return whether there was any."""
    folded: list[Element] = []
    units: dict[tuple[int, ...], None] = {}
    done, hit = 0, False
    for repeat in repeats:
        if repeat.start < done:  # overlaps the previous one
            continue
        before, turns, stop = sequence[done : repeat.start], sequence[repeat.start : repeat.stop], repeat.stop
        if repeat.period == 1:
            before, turns = with_first(before, turns)
        else:
            before, turns, stop = with_ends(sequence, done, repeat)
        made = fold_one(turns, repeat.period, setting)
        folded += sequence[done:stop] if made is None else [*before, *made]
        if made and len(made) == 1 and repeat.period > 1 and turns[0].fork:  # in plain chains any two ops would match
            units[tuple(element.symbol for element in turns[: repeat.period])] = None
        hit = hit or made is not None
        done = stop
    return alone(folded + sequence[done:], units, setting), hit


def alone(sequence: list[Element], units: Collection[tuple[int, ...]], setting: Setting) -> list[Element]:
    """Fold single stretches that equal one repetition of a new stack to blocks too.

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
    """Extend a run of equal boxes by boxes right before it with equal content but different inputs: the first layers.

    A region that ends in such a box, e.g. after an embedding that only it reads, is opened.
    """
    first = run[0]
    if not first.plain or first.box.ops < FEWEST_OPS:
        return before, run
    if before and before[-1].box.how == How.REGION and same_inside(before[-1].box.members[-1], first.box):
        before = [*before[:-1], *parts_of(before[-1])]
    count = len(before)
    while count and before[count - 1].plain and same_inside(before[count - 1].box, first.box):
        count -= 1
    # Give them the symbol of the run, so that they stack.
    return before[:count], [*(replace(each, symbol=first.symbol, word=first.word) for each in before[count:]), *run]


def parts_of(element: Element) -> list[Element]:
    """Return the boxes of a region as elements in its place."""
    return [Element(box, box.symbol, box.symbol, element.cut) for box in element.box.members]


def fold_one(elements: list[Element], period: int, setting: Setting) -> list[Element] | None:
    """Fold repetitions of `period` elements to a stack or to stages; return None if neither helps."""
    symbols = setting.symbols
    turns = [elements[start : start + period] for start in range(0, len(elements), period)]
    once = turns[0]
    equal = not unlike_after(elements, period)[-1]
    boxes = [turn[0].box if period == 1 else block(setting, turn) for turn in turns]
    # Two groups with counts inside: show both.
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
    """Return whether a box shows a repetition count: a stack of three or more, or a stack inside."""
    return (box.stack and len(box.members) > 2) or holds_stack(box)


def block(setting: Setting, turn: Sequence[Element]) -> FlowBox:
    """Make one box of a repetition of several."""
    symbol = setting.symbols.of("block", *(element.symbol for element in turn))
    return group(How.REPEAT, [element.box for element in turn], symbol)
