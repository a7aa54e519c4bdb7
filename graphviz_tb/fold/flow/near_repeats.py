"""Stretches that are nearly a repetition: they hold the ops of one but for a tenth, or, before the others, some more.

conv bn relu (conv bn) +   [conv bn relu +]  [conv bn relu +]        the first of a stage projects its shortcut
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

from graphviz_tb.fold.flow.box import FlowBox, walk_boxes
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.fold.flow.names import name_form
from graphviz_tb.fold.flow.sequence import Repetition, SequenceElement
from graphviz_tb.fold.flow.widths import OpTypes, is_layer_type
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import GroupOrigin
from graphviz_tb.ops.roles import (
    ADD_OPS,
    ALIAS_OPS,
    BATCH_PRODUCT_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    DILATION_BLOCK_OPS,
    INDEX_OPS,
    REARRANGE_OPS,
    SIZE_ARITHMETIC_OPS,
    is_elementwise,
)

UNLIKE = 0.1  # of the ops of a repetition may be missing, or be more
MORE = 1.5  # times its ops, in a first one: it projects its shortcut, or makes what all are given
AGAIN = 3  # times that a block of another kind stands among its like
NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
ARRANGING_OPS = REARRANGE_OPS | ALIAS_OPS | INDEX_OPS
MIXING_OPS = CONVOLUTION_OPS | DEPTHWISE_OPS | BATCH_PRODUCT_OPS
MIN_BLOCK_OPS = 10  # of each of two blocks in turn
MAX_WEIGHTLESS = 6  # elements before the first of a block that has weights: norms, activations, paddings
SMALLEST = 5  # ops of a repetition: that fewer are alike is no wonder


@dataclass(frozen=True, slots=True)
class Likeness:
    """The ops of one repetition, `size` in all, the elements that it begins and ends with, and whether it holds a
    stack."""

    ops: Counter[str]
    size: int
    first: SequenceElement
    last: SequenceElement
    nested: bool = False

    def count_unlike_ops(self, ops: Counter[str]) -> int:
        """Count the surplus and missing ops of a stretch; -1 above a tenth."""
        unlike = sum(abs(self.ops[kind] - ops[kind]) for kind in {*self.ops, *ops})
        return unlike if unlike <= UNLIKE * self.size else -1

    def is_reduced(self, ops: Counter[str]) -> bool:
        """Return whether a stretch contains only content of a repetition, and at least half of it."""
        return 2 * ops.total() >= self.size and all(self.ops[kind] >= count for kind, count in ops.items())

    def lacks_layers(self, ops: Counter[str]) -> bool:
        """Return whether a stretch lacks half of the layers of a repetition: half a block is none."""
        layers, missing = (
            sum(count for kind, count in each.items() if is_layer_type(kind)) for each in (self.ops, self.ops - ops)
        )
        return 0 < layers <= 2 * missing

    def has_same_layers(self, ops: Counter[str]) -> bool:
        """Return whether a stretch has the layers and the elementwise ops of a repetition, such as a first one that
        dilates or pads less; the sum of a shortcut may lack."""
        missing = self.ops - ops
        sums = missing.keys() & ADD_OPS
        unlike = (missing if sum(missing[kind] for kind in sums) != 1 else missing - Counter(sums)) + (ops - self.ops)
        computing = any(is_layer_type(kind) or is_elementwise(kind) for kind in unlike)
        return any(map(is_layer_type, ops)) and not computing

    def is_extended(self, ops: Counter[str], size: int) -> bool:
        """Return whether a stretch holds all of a repetition, however that is arranged, and little more; a tenth that
        may compute sizes can be missing."""
        missing = {kind: many for kind, many in (self.ops - ops).items() if kind not in ARRANGING_OPS}
        sizes = missing.keys() <= SIZE_ARITHMETIC_OPS and sum(missing.values()) <= UNLIKE * self.size
        return size <= MORE * self.size and sizes


def _likeness(turn: Sequence[SequenceElement], types: OpTypes, layers: bool = False) -> Likeness | None:
    """Return the ops of a repetition; None if it is too small to compare. A few `layers` are much."""
    ops: Counter[str] = Counter()
    for element in turn:
        ops.update(types.type_counts(element.box))
    size = ops.total()
    nested = any(each.box.is_repetition for each in turn)
    return Likeness(ops, size, turn[0], turn[-1], nested) if size >= SMALLEST or layers else None


def nearly_before(
    sequence: Sequence[SequenceElement], done: int, turn: Sequence[SequenceElement], stop: int, context: FoldContext
) -> int:
    """Return where a stretch up to `stop` begins that is nearly a repetition like `turn`, or a larger one; `stop` if
    there is none. It begins at `done` or later."""
    if stop <= done:
        return stop
    head = start = _head_before(sequence, turn, stop)
    if start == stop:
        layers = context.widths.holds_layer(walk_boxes(_boxes_of(turn)))
        like, first = _likeness(turn, context.types, layers), sequence[stop - 1]
        if like is None or not _ends_match(first.box.last_row(), like.last.box.last_row(), first.box, like.last.box):
            return stop
        if len(turn) == 1 and _is_named_scope(first.box) and _is_named_scope(turn[0].box):
            # Its name says as much: it may hold what leads to the stage.
            ops = context.types.type_counts(first.box)
            plain = like.is_reduced(ops) and not any(map(is_layer_type, like.ops - ops))
            shorter = plain and are_numbered([first.box, turn[0].box])  # such as one without its shortcut
            start = stop - (like.is_extended(ops, 0) or like.count_unlike_ops(ops) >= 0 or shorter)
            return stop if start < stop and _in_turn(sequence, start, stop, turn, context) else start
        start = _longer_before(sequence, done, like, stop, context.types)
        # With as many ends as two repetitions it is two smaller ones.
        ends = [sum(element.word == turn[-1].word for element in part) for part in (sequence[start:stop], turn)]
        start = start if ends[0] <= ends[1] else stop
    if head == stop > start and _in_turn(sequence, start, stop, turn, context):
        return stop
    after = sequence[stop + len(turn) : stop + 2 * len(turn)]
    again = [element.word for element in after] == [element.word for element in turn]
    tapers = again and _has_other_channels(
        context.widths.output_channels(_boxes_of(turn)), context.widths.output_channels(_boxes_of(after))
    )
    whole, stretch = _boxes_of(turn), _boxes_of(sequence[start:stop])
    if start < stop and sequence[start].shortcut and not tapers:
        own, other = (context.widths.output_channels(boxes) for boxes in (stretch[:1], whole))
        if own and other and own.isdisjoint(other):
            return stop  # a whole block of the stage before
    if any(each.shortcut for each in sequence[start : _first_step(sequence, start, stop, context)]):
        return stop  # the same, before the step
    return start if start < stop and _same_stage(stretch, whole, context, tapers) else stop


def _first_step(sequence: Sequence[SequenceElement], start: int, stop: int, context: FoldContext) -> int:
    """Return the first place in a stretch that has larger steps, but for those of a branch: what is added to its own
    input has the size of that. `start` if there is none."""
    places = (at for at in range(start, stop) if not sequence[at].shortcut)
    return next((at for at in places if context.widths.halves([sequence[at].box])), start)


def _has_other_channels(widths: frozenset[int], later: frozenset[int]) -> bool:
    """Return whether a repetition has other channels than the one before it, so that those of a first one say nothing;
    not if the channels of one are unknown.

    >>> narrow, wide = frozenset({64}), frozenset({96})
    >>> [_has_other_channels(narrow, later) for later in (wide, narrow, frozenset())]
    [True, False, False]
    """
    return bool(widths) and bool(later) and widths.isdisjoint(later)


def _in_turn(
    sequence: Sequence[SequenceElement], start: int, stop: int, turn: Sequence[SequenceElement], context: FoldContext
) -> bool:
    """Return whether a stretch is a block of another kind, one after every few others: it occurs again and again, and
    has the same products and convolutions, of the same sizes. The first others have none before them.

    a a a b a a a b a a a b        b is the last of four; in `b a a a b a a a b a a` it is the first
    """
    words, once = ([element.word for element in part] for part in (sequence[start:stop], turn))
    begins = _places_of([*words, *once], sequence)
    apart = len(begins) > 1 and begins[1] - begins[0] >= len(words) + len(once)
    leads = apart and begins[0] + len(words) == _places_of(once, sequence)[0]
    if leads or len(_places_of(words, sequence)) < AGAIN:
        return False
    stretch, whole = _boxes_of(sequence[start:stop]), _boxes_of(turn)
    widths = context.widths
    if widths.output_channels(stretch) != widths.output_channels(whole) or (
        widths.halves(stretch) and not widths.halves(whole)
    ):
        return False  # it begins a stage
    mine, other = (sum(map(context.types.type_counts, part), Counter[str]()) for part in (stretch, whole))
    return bool(mine - other or other - mine) and all(
        mine[kind] == other[kind] for kind in {*mine, *other} if is_layer_type(kind)
    )


def _places_of(words: Sequence[object], sequence: Sequence[SequenceElement]) -> list[int]:
    """Return where a sequence has elements with these words."""
    return [
        at
        for at, element in enumerate(sequence)
        if element.word == words[0] and [each.word for each in sequence[at : at + len(words)]] == words
    ]


def _same_stage(
    stretch: Sequence[FlowBox], turn: Sequence[FlowBox], context: FoldContext, tapers: bool = False
) -> bool:
    """Return whether a stretch before repetitions may belong to their stage: it shares output channels, unless it
    `tapers`, and kernels with them, and takes larger steps where each of them does, not only behind other layers."""
    mine, other = context.widths.output_channels(stretch), context.widths.output_channels(turn)
    if mine and other and not mine & other and not tapers:
        return False
    if not context.widths.kernels(turn) <= context.widths.kernels(stretch):
        return False
    widths, steps = context.widths, context.widths.halves(stretch)
    if widths.halves(turn) or not steps:
        return steps or not widths.halves(turn)
    # What ends with larger steps behind other layers leads to the stage.
    first = next(at for at, box in enumerate(stretch) if widths.halves([box]))
    maps = context.types.maps_channels
    return not any(map(maps, stretch[:first])) or any(maps(box) and not widths.halves([box]) for box in stretch[first:])


def begins_stage_behind(sequence: Sequence[SequenceElement], repeat: Repetition, context: FoldContext) -> bool:
    """Return whether the last repetition is the first block of the stage behind: it is nearly equal to the blocks there
    and shares channels with them, and none with the repetition before it. If channels are unknown, or only one block is
    there, it takes larger steps, as the repetition before it does. It has all convolutions and products of a block
    there."""
    stop, period, widths = repeat.stop, repeat.period, context.widths
    starts = range(stop - 2 * period, stop + 2 * period, period)
    one, last, behind, after = (sequence[start : start + period] for start in starts)
    repeats = [element.word for element in behind] == [element.word for element in after]
    steps = [widths.halves(_boxes_of(turn)) for turn in (one, last, behind)]
    before, own, later = (widths.output_channels(_boxes_of(turn)) for turn in (one, last, behind))
    known = own or later
    if not behind or (known and own.isdisjoint(later)):
        return False
    if steps != [True, True, False] and not (repeats and (own.isdisjoint(before) if known else steps[1])):
        return False
    mine, theirs = (sum(map(context.types.type_counts, _boxes_of(turn)), Counter[str]()) for turn in (last, behind))
    if any(is_layer_type(kind) or kind in MIXING_OPS for kind in theirs - mine):
        return False
    return nearly_before(sequence, stop - period, behind, stop, context) == stop - period


def _head_before(sequence: Sequence[SequenceElement], turn: Sequence[SequenceElement], stop: int) -> int:
    """Return where a block without its shortcut begins that ends at `stop`; `stop` if there is none."""
    return stop - (len(turn) == 1 and sequence[stop - 1].word == ("head", turn[0].symbol))


def _longer_before(sequence: Sequence[SequenceElement], done: int, like: Likeness, stop: int, types: OpTypes) -> int:
    """Return where a stretch begins that has the ops of a repetition, apart from a tenth; if there is none, or fewer
    lines cross the border of a longer one, a stretch with more ops; else `stop`."""
    ops: Counter[str] = Counter()
    best, least, larger = stop, like.size, stop
    for start in range(stop - 1, done - 1, -1):
        element = sequence[start]
        held = types.type_counts(element.box)
        if element.stage or element.memory or ops.total() + held.total() > MORE * like.size:
            break
        if not like.nested and _is_stack_of_blocks(element.box):
            break  # what others lack is not a first one's, but a stage
        ops.update(held)
        unlike = like.count_unlike_ops(ops)
        if 0 <= unlike < least:
            best, least = start, unlike
        if larger == stop and (like.is_extended(ops, ops.total()) or like.has_same_layers(ops)):
            larger = start
    cuts = [sequence[start - 1].cut if start else 0 for start in (larger, best)]
    narrower = larger < best and cuts[0] < cuts[1]  # what begins in the middle of a block is none
    return larger if best == stop or narrower else best


def _is_stack_of_blocks(box: FlowBox) -> bool:
    return box.is_repetition and not box.sideways and box.ops_per_repetition >= MIN_BLOCK_OPS


def nearly_behind(
    sequence: Sequence[SequenceElement], turn: Sequence[SequenceElement], start: int, limit: int, context: FoldContext
) -> int:
    """Return the end of a stretch from `start` on that is nearly a repetition like `turn`, up to `limit`; `start` if
    there is none. The head of another repetition, or a stretch with other steps or channels, does not count, except
    where other channels follow: there larger steps end the stage."""
    layers = context.widths.holds_layer(walk_boxes(_boxes_of(turn)))
    like = _likeness(turn, context.types, layers)
    if like is None or start >= limit or not _may_begin(sequence[start], like):
        return start
    if len(turn) == 1 and _is_named_scope(turn[0].box) and _is_named_scope(sequence[start].box):
        limit = start + 1  # its name says where it ends
    ops: Counter[str] = Counter()
    closing = {*_last_types(like.last, context)} & ADD_OPS
    best, least, less = start, like.size, start
    for place in range(start, limit):
        element = sequence[place]
        held = context.types.type_counts(element.box)
        foreign = element.source and not any(each.source for each in turn)  # another input of the program
        if element.stage or foreign or ops.total() + held.total() > (1 + UNLIKE) * like.size:
            break
        ops.update(held)
        unlike = like.count_unlike_ops(ops)
        if 0 <= unlike < least:
            best, least = place + 1, unlike
        if like.is_reduced(ops) and not like.lacks_layers(ops):
            less = place + 1
        if closing and closing <= {*_last_types(element, context)} and all(ops[op] >= like.ops[op] for op in closing):
            break  # the sum that ends a repetition
    stop = best if best > start else less
    if stop == start or (stop < len(sequence) and sequence[stop].word == turn[0].word):
        return start
    stretch, other, widths = _boxes_of(sequence[start:stop]), _boxes_of(turn), context.widths
    given = widths.output_channels(stretch)
    if given != widths.output_channels(other) or widths.halves(other):
        return start
    if not given and any(each.shortcut for each in turn) and not any(each.shortcut for each in sequence[start:stop]):
        return start  # without a sum its channels may be others
    # One that lacks something is one only where its channels or its number say so.
    if not (stop == best or given or are_numbered([*other, *stretch])):
        return start
    if not widths.halves(stretch):
        return stop
    later = next(
        filter(None, (widths.output_channels([each.box]) for each in sequence[stop : stop + MAX_WEIGHTLESS])),
        frozenset[int](),
    )
    return stop if given and later and given.isdisjoint(later) else start


def _last_types(element: SequenceElement, context: FoldContext) -> Counter[str]:
    return context.types.type_counts(element.box.last_row())


def halves_of(turn: Sequence[SequenceElement], context: FoldContext) -> int:
    """Return where the second half of a repetition begins if it consists of two blocks: at most a tenth of their ops
    differ, and none of their kernels; 0 if it is one block."""
    ops = [context.types.type_counts(element.box) for element in turn]
    whole = sum(ops, Counter[str]())
    before: Counter[str] = Counter()
    for place, held in enumerate(ops[:-1], 1):
        before += held
        size = before.total()
        if 2 * size < (1 - UNLIKE) * whole.total() or turn[place - 1].cut > 1:
            continue
        if 2 * size > (1 + UNLIKE) * whole.total():
            return 0
        behind = whole - before
        like = Likeness(before, size, turn[0], turn[place])
        if size >= MIN_BLOCK_OPS and like.count_unlike_ops(behind) >= 0 and _mixes(before):
            kernels = [context.widths.kernels(_boxes_of(half)) for half in (turn[:place], turn[place:])]
            return place if kernels[0] == kernels[1] else 0
    return 0


def _mixes(ops: Collection[str]) -> bool:
    """Return whether a stretch convolves or attends: two that only multiply are parts of a block (MLP-Mixer)."""
    return any(kind in MIXING_OPS or "softmax" in kind.lower() for kind in ops)


def _boxes_of(elements: Sequence[SequenceElement]) -> list[FlowBox]:
    return [element.box for element in elements]


def _may_begin(element: SequenceElement, like: Likeness) -> bool:
    """Return whether a near repetition may begin with an element: it begins as one, or forks before, as a shortcut that
    takes larger steps does."""
    return _alike_begin(element, like.first) or (element.fork and not _is_named_scope(like.first.box))


def _alike_begin(element: SequenceElement, other: SequenceElement) -> bool:
    """Return whether two stretches begin with ops of one type, or with scopes of one name."""
    return _ends_match(element.box.first_row(), other.box.first_row(), element.box, other.box)


def _ends_match(row: FlowBox, other: FlowBox, box: FlowBox, whole: FlowBox) -> bool:
    if _is_named_scope(box) and _is_named_scope(whole):
        return name_form(box.name) == name_form(whole.name)
    return row.symbol == other.symbol or (
        row.op == other.op if row.op or other.op else name_form(row.name) == name_form(other.name)
    )


def _is_named_scope(box: FlowBox) -> bool:
    return box.scope or box.how == GroupOrigin.NAME


def are_numbered_in_order(elements: Sequence[SequenceElement], context: FoldContext) -> bool:
    """Return whether elements are scopes of one class, numbered in flow order, with channels in common: alternating
    blocks of two kinds."""
    boxes = _boxes_of(elements)
    if not are_numbered(boxes):
        return False
    given = [context.widths.output_channels([box]) for box in boxes]
    return not any(given) or bool(frozenset.intersection(*given))


def are_two_blocks(pair: Sequence[SequenceElement], context: FoldContext) -> bool:
    """Return whether two elements are blocks of one stage: scopes of one class, numbered in order, with at least nine
    tenths of their ops in common; only the first may take larger steps, or have more."""
    boxes = _boxes_of(pair)
    like = _likeness(pair[1:], context.types) if are_numbered(boxes) else None
    first = context.types.type_counts(boxes[0])
    return (
        like is not None
        and bool(context.widths.output_channels(boxes) or context.widths.halves(boxes[:1]))
        and (like.count_unlike_ops(first) >= 0 or like.is_extended(first, first.total()))
        and _same_stage(boxes[:1], boxes[1:], context)
        and not context.widths.halves(boxes[1:])
    )


def are_of_one_stage(one: SequenceElement, other: SequenceElement, context: FoldContext) -> bool:
    """Return whether two stacks are of one unit and one stage, by their layers, channels, kernels and steps."""
    if not (one.box.is_repetition and other.box.is_repetition) or one.box.sideways or one.word != other.word:
        return False
    last, first = one.box.members[-1], other.box.members[0]
    widths, mine, theirs = context.widths, context.types.type_counts(last), context.types.type_counts(first)
    if any(is_layer_type(op) or op in DILATION_BLOCK_OPS for op in (mine - theirs) | (theirs - mine)):
        return False  # a projection, or a new cycle of dilations
    if not widths.output_channels([last]):
        return False
    return all(each([last]) == each([first]) for each in (widths.output_channels, widths.kernels, widths.halves))


def are_numbered(boxes: Sequence[FlowBox]) -> bool:
    """Return whether boxes are scopes of one class, numbered in order."""
    named = all(_is_named_scope(box) and not box.is_repetition for box in boxes)
    if not named or len({name_form(box.name) for box in boxes}) > 1:
        return False
    return all(_steps_on(one, other) for one, other in pairwise([NUMBER.findall(box.name) for box in boxes]))


def _steps_on(numbers: Sequence[str], later: Sequence[str]) -> bool:
    """Return whether `later` equals `numbers` but for one number that is greater by one.

    >>> _steps_on(["2", "9"], ["2", "10"]), _steps_on(["2", "9"], ["3", "10"])
    (True, False)
    """
    differing = [int(other) - int(one) for one, other in zip(numbers, later, strict=False) if one != other]
    return len(numbers) == len(later) and differing == [1]
