"""Near repetitions: the first and the last block of a stage are rarely equal to the blocks between them.

A' a A A A A"      one stack of six

A'  a head         the block without its sum: its elements were joined by `stages.fold_heads`
    more ops       it projects its shortcut, downsamples, or computes a value for all blocks
    fewer ops      it pads less, or has no shortcut
a   equal ops      other inputs, so that it equals no other block; there may be several
A"  fewer ops      what would follow them is part of the next stage

A stretch beside equal repetitions is such a block if it has nearly their ops (at most a tenth differ, or it is one of
these kinds), and if nothing says that it belongs to the stage beside theirs: channels, kernels, downsampling.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from graphviz_tb.fold.flow.box import MIN_STACK_OPS, FlowBox, walk_boxes, walk_groups
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.fold.flow.names import name_form
from graphviz_tb.fold.flow.sequence import FlowElements, Repeat, SequenceElement
from graphviz_tb.fold.flow.widths import OpTypes, is_layer_type
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import GroupOrigin
from graphviz_tb.ops.roles import (
    ADD_OPS,
    ALIAS_OPS,
    BATCH_PRODUCT_OPS,
    CONVOLUTION_OPS,
    DEPTHWISE_OPS,
    INDEX_OPS,
    REARRANGE_OPS,
    SIZE_ARITHMETIC_OPS,
    is_elementwise,
)

MAX_UNLIKE_SHARE = 0.1  # missing and surplus ops, as a share of the ops of a repetition
MAX_FIRST_BLOCK_GROWTH = 1.5  # the first block may be larger: it projects its shortcut, or computes a shared input
MAX_BLOCK_GROWTH = 2  # ops of the largest block of a stage, times those of the smallest
MIN_ALTERNATE_BLOCKS = 3  # occurrences of a second kind of block that alternates with the first
NAME_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
ARRANGING_OPS = REARRANGE_OPS | ALIAS_OPS | INDEX_OPS
MIXING_OPS = CONVOLUTION_OPS | DEPTHWISE_OPS | BATCH_PRODUCT_OPS
MIN_BLOCK_OPS = 10  # ops of each of two blocks that form one repetition
MAX_WEIGHTLESS_ELEMENTS = 6  # norms, activations and paddings before the first weights of a block
MIN_COMPARED_OPS = 5  # shorter stretches are often nearly alike by chance


@dataclass(frozen=True, slots=True)
class RepetitionProfile:
    """One of several equal repetitions, the number of its ops of each type, and their sum.

    Before small ones without layers (`is_small`) only equal ones count, and none behind them.
    """

    elements: FlowElements
    ops: Counter[str]
    size: int
    is_small: bool = False

    def unlike_op_count(self, ops: Counter[str]) -> int:
        """Return the number of surplus and missing ops of a stretch; -1 if that is more than a tenth."""
        unlike = sum(abs(self.ops[kind] - ops[kind]) for kind in {*self.ops, *ops})
        return unlike if unlike <= MAX_UNLIKE_SHARE * self.size else -1

    def is_part_of_repetition(self, ops: Counter[str]) -> bool:
        """Return whether a stretch has at least half of the ops of a repetition, and no others."""
        return 2 * ops.total() >= self.size and all(self.ops[kind] >= count for kind, count in ops.items())

    def lacks_half_of_layers(self, ops: Counter[str]) -> bool:
        layers, missing = (
            sum(count for kind, count in each.items() if is_layer_type(kind)) for each in (self.ops, self.ops - ops)
        )
        return 0 < layers <= 2 * missing

    def has_same_layers(self, ops: Counter[str]) -> bool:
        """Return whether a stretch has the layers and elementwise ops of a repetition; a sum may be missing.

        The first block often dilates or pads less.
        """
        missing = self.ops - ops
        sums = missing.keys() & ADD_OPS
        unlike = (missing if sum(missing[kind] for kind in sums) != 1 else missing - Counter(sums)) + (ops - self.ops)
        computing = any(is_layer_type(kind) or is_elementwise(kind) for kind in unlike)
        return any(map(is_layer_type, ops)) and not computing

    def is_extended(self, ops: Counter[str], size: int) -> bool:
        """Return whether a stretch of `size` ops has all ops of a repetition, and at most half as many again.

        Ops that rearrange tensors may be missing, and a tenth of the ops if they compute sizes.
        """
        missing = {kind: count for kind, count in (self.ops - ops).items() if kind not in ARRANGING_OPS}
        sizes = missing.keys() <= SIZE_ARITHMETIC_OPS and sum(missing.values()) <= MAX_UNLIKE_SHARE * self.size
        return size <= MAX_FIRST_BLOCK_GROWTH * self.size and sizes


def _op_counts(elements: FlowElements, types: OpTypes) -> Counter[str]:
    ops: Counter[str] = Counter()
    for element in elements:  # a sum of counters would walk all types for each element
        ops.update(types.type_counts(element.box))
    return ops


def _repetition_profile(repetition: FlowElements, context: FoldContext) -> RepetitionProfile | None:
    """Return the profile of a repetition; None if it is too small to compare and has no layers."""
    ops = _op_counts(repetition, context.types)
    size = ops.total()
    is_small = size < MIN_COMPARED_OPS and not context.widths.holds_layer(walk_boxes(_boxes_of(repetition)))
    return None if is_small and size < MIN_STACK_OPS else RepetitionProfile(repetition, ops, size, is_small)


# The first block.


def near_repetition_start(
    sequence: FlowElements,
    earliest: int,
    repetition: FlowElements,
    stop: int,
    context: FoldContext,
) -> int:
    """Return the start, from `earliest` on, of a near repetition that ends at `stop`; `stop` if there is none."""
    if stop <= earliest:
        return stop
    if len(repetition) == 1 and sequence[stop - 1].word == ("head", repetition[0].symbol):
        start = stop - 1
    else:
        start = _start_of_like_ops(sequence, earliest, repetition, stop, context)
        if start == stop or _is_alternate_block(sequence, start, stop, repetition, context):
            return stop
        if _are_named_scopes(sequence[start], repetition):
            return start  # the name says that it belongs to them
    return start if _begins_stage(sequence, start, stop, repetition, context) else stop


def near_blocks_before(
    sequence: FlowElements, earliest: int, repetition: FlowElements, stop: int, context: FoldContext
) -> list[FlowElements]:
    """Return the near repetitions right before `stop`: those that differ only in inputs, and one that differs more."""
    blocks: list[FlowElements] = []
    types, has_downsampling = context.types, context.widths.has_downsampling
    while (start := near_repetition_start(sequence, earliest, repetition, stop, context)) < stop:
        block, stop = sequence[start:stop], start
        blocks.append(block)
        is_equal = _op_counts(block, types) == _op_counts(repetition, types)
        if not is_equal or has_downsampling(_boxes_of(block)) != has_downsampling(_boxes_of(repetition)):
            break  # the first one
        if not context.budget.take(len(sequence)):  # each search looks for its blocks in all of it
            break
    return blocks[::-1]


def _start_of_like_ops(
    sequence: FlowElements, earliest: int, repetition: FlowElements, stop: int, context: FoldContext
) -> int:
    """Return the start of a stretch up to `stop` that has nearly the ops of a repetition, and its last one."""
    profile, last = _repetition_profile(repetition, context), sequence[stop - 1].box
    end = repetition[-1].box
    if profile is None or not _ends_match(last.last_row(), end.last_row(), last, end):
        return stop
    if _are_named_scopes(sequence[stop - 1], repetition):
        # Scopes of one class may contain more: the name says that they are alike.
        ops = context.types.type_counts(last)
        plain = profile.is_part_of_repetition(ops) and not any(map(is_layer_type, profile.ops - ops))
        shorter = plain and are_numbered([last, end])  # e.g. without a shortcut
        alike = profile.unlike_op_count(ops) >= 0
        is_member = alike if profile.is_small else profile.is_extended(ops, 0) or alike or shorter
        return stop - 1 if is_member else stop
    start = _best_start_before(sequence, earliest, profile, stop, context.types)
    if _op_counts(sequence[start:stop], context.types) == profile.ops:
        return start
    if profile.is_small:
        return stop
    # A stretch with the ends of two repetitions is two smaller ones.
    ends, own_ends = (
        sum(element.word == repetition[-1].word for element in part) for part in (sequence[start:stop], repetition)
    )
    return start if ends <= own_ends else stop


def _begins_stage(
    sequence: FlowElements, start: int, stop: int, repetition: FlowElements, context: FoldContext
) -> bool:
    """Return whether a stretch before repetitions is the first block of their stage, not of the stage before."""
    stretch, whole, widths = _boxes_of(sequence[start:stop]), _boxes_of(repetition), context.widths
    after = sequence[stop + len(repetition) : stop + 2 * len(repetition)]
    again = [element.word for element in after] == [element.word for element in repetition]
    channels, later = (widths.output_channels(boxes) for boxes in (whole, _boxes_of(after)))
    tapers = again and bool(channels and later) and channels.isdisjoint(later)
    if sequence[start].shortcut and not tapers:
        own = widths.output_channels(stretch[:1])
        if own and channels and own.isdisjoint(channels):
            return False  # a complete block of the previous stage
    # Downsampling in a residual block does not count: its sum keeps the size of its input.
    places = (at for at in range(start, stop) if not sequence[at].shortcut)
    first_stride = next((at for at in places if widths.has_downsampling([sequence[at].box])), start)
    if any(each.shortcut for each in sequence[start:first_stride]):
        return False  # such a block before the downsampling
    return _may_share_stage(stretch, whole, context, tapers)


def _is_alternate_block(
    sequence: FlowElements,
    start: int,
    stop: int,
    repetition: FlowElements,
    context: FoldContext,
) -> bool:
    """Return whether a stretch is a second kind of block, after every few `repetition`s, with equal layers and widths.

    a a a b a a a b a a a b        b is such a block; in `b a a a b a a a b a a` it is the first block of each stage
    """
    words, once = ([element.word for element in part] for part in (sequence[start:stop], repetition))
    starts = _occurrences([*words, *once], sequence)
    is_spaced = len(starts) > 1 and starts[1] - starts[0] >= len(words) + len(once)
    leads_stages = is_spaced and starts[0] + len(words) == _occurrences(once, sequence)[0]
    if leads_stages or len(_occurrences(words, sequence)) < MIN_ALTERNATE_BLOCKS:
        return False
    stretch, whole = _boxes_of(sequence[start:stop]), _boxes_of(repetition)
    widths = context.widths
    if widths.output_channels(stretch) != widths.output_channels(whole) or (
        widths.has_downsampling(stretch) and not widths.has_downsampling(whole)
    ):
        return False  # the first block of a stage
    stretch_ops, block_ops = (_op_counts(part, context.types) for part in (sequence[start:stop], repetition))
    return stretch_ops != block_ops and _have_equal_layers(stretch_ops, block_ops)


def _have_equal_layers(ops: Counter[str], other: Counter[str]) -> bool:
    return all(ops[kind] == other[kind] for kind in {*ops, *other} if is_layer_type(kind))


def _occurrences(words: Sequence[object], sequence: FlowElements) -> list[int]:
    """Return the places at which a sequence has these words."""
    return [
        at
        for at, element in enumerate(sequence)
        if element.word == words[0] and [each.word for each in sequence[at : at + len(words)]] == words
    ]


def _may_share_stage(
    stretch: Sequence[FlowBox], repetition: Sequence[FlowBox], context: FoldContext, tapers: bool = False
) -> bool:
    """Return whether a stretch before repetitions may be the first block of their stage.

    It has their kernels and, unless channels change in each repetition (`tapers`), some of their channels. It
    downsamples if they do. If only the stretch downsamples, it does so before its last layers.
    """
    channels, block_channels = context.widths.output_channels(stretch), context.widths.output_channels(repetition)
    if channels and block_channels and not channels & block_channels and not tapers:
        return False
    if not context.widths.kernels(repetition) <= context.widths.kernels(stretch):
        return False
    widths, steps = context.widths, context.widths.has_downsampling(stretch)
    if widths.has_downsampling(repetition) or not steps:
        return steps or not widths.has_downsampling(repetition)
    # Layers that end in downsampling belong to the previous stage.
    first = next(at for at, box in enumerate(stretch) if widths.has_downsampling([box]))
    maps = context.types.maps_channels
    return not any(map(maps, stretch[:first])) or any(
        maps(box) and not widths.has_downsampling([box]) for box in stretch[first:]
    )


def begins_next_stage(sequence: FlowElements, repeat: Repeat, context: FoldContext) -> bool:
    """Return whether the last repetition is the first block of the next stage.

    It is nearly equal to the blocks of that stage, has all their layers, and has channels in common with them, but none
    with the repetition before it. If channels are unknown, it downsamples; if the next stage has one block, the
    repetition before it does so too.
    """
    stop, period, widths = repeat.stop, repeat.period, context.widths
    starts = range(stop - 2 * period, stop + 2 * period, period)
    earlier, last, behind, after = (sequence[start : start + period] for start in starts)
    repeats = [element.word for element in behind] == [element.word for element in after]
    steps = [widths.has_downsampling(_boxes_of(repetition)) for repetition in (earlier, last, behind)]
    before, own, later = (widths.output_channels(_boxes_of(repetition)) for repetition in (earlier, last, behind))
    known = own or later
    if not behind or (known and own.isdisjoint(later)):
        return False
    if steps != [True, True, False] and not (repeats and (own.isdisjoint(before) if known else steps[1])):
        return False
    last_ops, next_ops = (_op_counts(repetition, context.types) for repetition in (last, behind))
    if any(is_layer_type(kind) or kind in MIXING_OPS for kind in next_ops - last_ops):
        return False
    return near_repetition_start(sequence, stop - period, behind, stop, context) == stop - period


def _best_start_before(
    sequence: FlowElements, earliest: int, profile: RepetitionProfile, stop: int, types: OpTypes
) -> int:
    """Return the start of the stretch up to `stop` whose ops differ least from a repetition; `stop` if there is none.

    A stretch with more ops is preferred if fewer edges cross its start, or if no other is found.
    """
    ops: Counter[str] = Counter()
    best_start, least_unlike, larger_start = stop, profile.size, stop
    has_stack = any(box.is_repetition for box in walk_groups(_boxes_of(profile.elements)))
    words = [element.word for element in profile.elements]
    for start in range(stop - 1, earliest - 1, -1):
        element = sequence[start]
        element_ops = types.type_counts(element.box)
        is_memory = element.memory and element.word not in words  # the result of an encoder
        if element.stage or is_memory or ops.total() + element_ops.total() > MAX_FIRST_BLOCK_GROWTH * profile.size:
            break
        if not has_stack and _is_stack_of_blocks(element.box):
            break  # another stage
        if [element.word] == words:
            break  # an equal block, not a part of one
        ops.update(element_ops)
        unlike = profile.unlike_op_count(ops)
        if 0 <= unlike < least_unlike:
            best_start, least_unlike = start, unlike
        if larger_start == stop and (profile.is_extended(ops, ops.total()) or profile.has_same_layers(ops)):
            larger_start = start
    cuts = [sequence[start - 1].cut if start else 0 for start in (larger_start, best_start)]
    narrower = larger_start < best_start and cuts[0] < cuts[1]  # the start is not inside a block
    return larger_start if best_start == stop or narrower else best_start


def _is_stack_of_blocks(box: FlowBox) -> bool:
    return box.is_repetition and not box.sideways and box.ops_per_repetition >= MIN_BLOCK_OPS


# The last block.


def near_repetition_end(
    sequence: FlowElements,
    repetition: FlowElements,
    start: int,
    limit: int,
    context: FoldContext,
) -> int:
    """Return the end, up to `limit`, of a near repetition that begins at `start`; `start` if there is none."""
    profile = _repetition_profile(repetition, context)
    if profile is None or profile.is_small or start >= limit:
        return start
    box, first = sequence[start].box, repetition[0].box
    forks = sequence[start].fork and not _is_named_scope(first)  # before a projected shortcut
    if not forks and not _ends_match(box.first_row(), first.first_row(), box, first):
        return start
    if _are_named_scopes(sequence[start], repetition):
        limit = start + 1  # a named scope is one block
    stop, is_complete = _best_end_after(sequence, profile, range(start, limit), context)
    if stop == start or (stop < len(sequence) and sequence[stop].word == repetition[0].word):
        return start
    return stop if _ends_stage(sequence, start, stop, repetition, is_complete, context) else start


def _ends_stage(
    sequence: FlowElements,
    start: int,
    stop: int,
    repetition: FlowElements,
    is_complete: bool,
    context: FoldContext,
) -> bool:
    """Return whether a stretch behind repetitions is the last block of their stage.

    It has their channels, and downsamples only before other channels. If it is incomplete, its channels are known or
    its name has the next number.
    """
    stretch, other, widths = _boxes_of(sequence[start:stop]), _boxes_of(repetition), context.widths
    channels = widths.output_channels(other)
    # A side output may belong to no block.
    main = [element.box for element in sequence[start:stop] if not element.side]
    if channels not in map(widths.output_channels, (stretch, main)) or widths.has_downsampling(other):
        return False
    lacks_shortcut = any(each.shortcut for each in repetition) and not any(
        each.shortcut for each in sequence[start:stop]
    )
    # Only a sum requires equal channels; other kernels say that the layers are none of the stage.
    if lacks_shortcut and not (channels and widths.kernels(stretch) <= widths.kernels(other)):
        return False
    if not (is_complete or channels or are_numbered([*other, *stretch])):
        return False
    if not widths.has_downsampling(stretch):
        return True
    later_channels = next(
        filter(None, (widths.output_channels([each.box]) for each in sequence[stop : stop + MAX_WEIGHTLESS_ELEMENTS])),
        frozenset[int](),
    )
    return bool(channels and later_channels) and channels.isdisjoint(later_channels)


def _best_end_after(
    sequence: FlowElements, profile: RepetitionProfile, places: range, context: FoldContext
) -> tuple[int, bool]:
    """Return the end of the stretch from the first of `places` whose ops differ least from a repetition, and True.

    Without one, return the end of the longest stretch with at least half of a repetition and no other ops, and False.
    """
    ops: Counter[str] = Counter()
    last_add_ops = {*_last_types(profile.elements[-1], context)} & ADD_OPS
    has_source = any(each.source for each in profile.elements)
    best_end, least_unlike, incomplete_end = places.start, profile.size, places.start
    for place in places:
        element = sequence[place]
        element_ops = context.types.type_counts(element.box)
        is_other_input = element.source and not has_source
        if element.stage or is_other_input or ops.total() + element_ops.total() > (1 + MAX_UNLIKE_SHARE) * profile.size:
            break
        ops.update(element_ops)
        unlike = profile.unlike_op_count(ops)
        if 0 <= unlike < least_unlike:
            best_end, least_unlike = place + 1, unlike
        if profile.is_part_of_repetition(ops) and not profile.lacks_half_of_layers(ops):
            incomplete_end = place + 1
        if (
            last_add_ops
            and last_add_ops <= {*_last_types(element, context)}
            and all(ops[op] >= profile.ops[op] for op in last_add_ops)
        ):
            break  # at the last sum of the repetition
    return (best_end, True) if best_end > places.start else (incomplete_end, False)


def _last_types(element: SequenceElement, context: FoldContext) -> Counter[str]:
    return context.types.type_counts(element.box.last_row())


def count_near_blocks(sequence: FlowElements, repeat: Repeat, context: FoldContext) -> tuple[int, int]:
    """Return how many blocks beside a repeat have its ops; if none, how many are near repetitions."""
    once = sequence[repeat.start : repeat.start + repeat.period]
    stop = near_repetition_end(sequence, once, repeat.stop, len(sequence), context)
    blocks = near_blocks_before(sequence, 0, once, repeat.start, context)
    blocks += [sequence[repeat.stop : stop]] if stop > repeat.stop else []
    ops = _op_counts(once, context.types) if blocks else None
    equal = sum(_op_counts(block, context.types) == ops for block in blocks)
    return equal, 0 if equal else len(blocks)


def second_block_start(repetition: FlowElements, context: FoldContext) -> int:
    """Return where the second block of a repetition of two begins; 0 if it is one block.

    The blocks have equal kernels and layers, and at most a tenth of their ops differ.
    """
    ops = [context.types.type_counts(element.box) for element in repetition]
    whole = sum(ops, Counter[str]())
    before: Counter[str] = Counter()
    for place, element_ops in enumerate(ops[:-1], 1):
        before += element_ops
        size = before.total()
        if 2 * size < (1 - MAX_UNLIKE_SHARE) * whole.total() or repetition[place - 1].cut > 1:
            continue
        if 2 * size > (1 + MAX_UNLIKE_SHARE) * whole.total():
            return 0
        behind = whole - before
        profile = RepetitionProfile(repetition[:place], before, size)
        # Two halves that only multiply are one block (MLP-Mixer), also with gates, if one alone transposes.
        mixes = any(kind in MIXING_OPS for kind in before) or (
            any("softmax" in kind.lower() for kind in before) and _transpose_count(before) == _transpose_count(behind)
        )
        if (
            size >= MIN_BLOCK_OPS
            and profile.unlike_op_count(behind) >= 0
            and mixes
            and _have_equal_layers(before, behind)
        ):
            kernels = [context.widths.kernels(_boxes_of(half)) for half in (repetition[:place], repetition[place:])]
            return place if kernels[0] == kernels[1] else 0
    return 0


def _transpose_count(ops: Counter[str]) -> int:
    return sum(count for kind, count in ops.items() if "transpose" in kind.lower() and kind in REARRANGE_OPS)


def _boxes_of(elements: FlowElements) -> list[FlowBox]:
    return [element.box for element in elements]


def _ends_match(row: FlowBox, other_row: FlowBox, box: FlowBox, other: FlowBox) -> bool:
    """Return whether two boxes are scopes of one name, or their first or last rows have one op type or name."""
    if _is_named_scope(box) and _is_named_scope(other):
        return name_form(box.name) == name_form(other.name)
    return row.symbol == other_row.symbol or (
        row.op == other_row.op if row.op or other_row.op else name_form(row.name) == name_form(other_row.name)
    )


def _is_named_scope(box: FlowBox) -> bool:
    return box.scope or box.how == GroupOrigin.NAME


def _are_named_scopes(element: SequenceElement, repetition: FlowElements) -> bool:
    """Return whether an element and a repetition are one named scope each."""
    return len(repetition) == 1 and _is_named_scope(element.box) and _is_named_scope(repetition[0].box)


def are_numbered_in_order(elements: FlowElements, context: FoldContext) -> bool:
    """Return whether elements are scopes of one class, numbered along the flow, with channels in common."""
    boxes = _boxes_of(elements)
    if not are_numbered(boxes):
        return False
    given = [context.widths.output_channels([box]) for box in boxes]
    return not any(given) or bool(frozenset.intersection(*given))


def are_blocks_of_one_stage(one: FlowBox, other: FlowBox, context: FoldContext) -> bool:
    """Return whether two boxes are consecutive blocks of a stage: scopes of one class with consecutive numbers.

    At most a tenth of their ops differ, or the first has more; convolutional blocks may have other kernels and gates.
    Only the first may downsample.
    """
    if not are_numbered([one, other]):
        return False
    widths, (first, ops) = context.widths, map(context.types.type_counts, (one, other))
    profile = RepetitionProfile((), ops, ops.total())
    sizes = sorted([first.total(), ops.total()])
    unlike = (
        all(not CONVOLUTION_OPS.isdisjoint(each) for each in (first, ops))
        and sizes[1] <= MAX_BLOCK_GROWTH * sizes[0]
        and not widths.output_channels([one]).isdisjoint(widths.output_channels([other]))
        and not widths.are_stages([one, other])
    )
    return (
        profile.size >= MIN_COMPARED_OPS
        and bool(widths.output_channels([one, other]) or widths.has_downsampling([one]))
        and (unlike or profile.unlike_op_count(first) >= 0 or profile.is_extended(first, first.total()))
        and (unlike or _may_share_stage([one], [other], context))
        and not widths.has_downsampling([other])
    )


def are_numbered(boxes: Sequence[FlowBox]) -> bool:
    """Return whether boxes are scopes of one class, numbered in order."""
    named = all(_is_named_scope(box) and not box.is_repetition for box in boxes)
    if not named or len({name_form(box.name) for box in boxes}) > 1:
        return False
    return all(_is_next_number(one, other) for one, other in pairwise([NAME_NUMBER.findall(box.name) for box in boxes]))


def _is_next_number(numbers: Sequence[str], later: Sequence[str]) -> bool:
    """Return whether `later` equals `numbers`, except that one number is greater by one.

    >>> _is_next_number(["2", "9"], ["2", "10"]), _is_next_number(["2", "9"], ["3", "10"])
    (True, False)
    """
    differing = [int(other) - int(one) for one, other in zip(numbers, later, strict=False) if one != other]
    return len(numbers) == len(later) and differing == [1]
