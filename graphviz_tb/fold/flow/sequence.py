"""A level as a sequence of elements along its flow, and stretches of it that repeat.

line of boxes   a  b  c  d  b  c  d  e      places 0 … 7
elements        a [b  c  d][b  c  d] e      an element is one box: a row, a region or a stack
repeat             └─ period 1, count 2 ─┘  of elements, start 1

The first and last repetition often have different inputs or users, and thus different symbols. `find_matching_ends`
looks for them in the line of boxes, right before and after a repetition, by content and inner wiring.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphviz_tb.fold.flow.box import MIN_STACK_OPS, FlowBox, copy_groups_onto
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.frozen import dataclass

# Candidate periods of a sequence, and the stretches where it repeats itself.
#
# a b c a b c a b      period 3: each word equals the one three places later
#
# In long sequences only some periods are tried: the shortest, and the commonest distances between equal words and equal
# short stretches (compared by hash).

MAX_EXHAUSTIVE_LENGTH = 400  # sequence length below which every period is tried
SHORTEST_PERIODS, COMMONEST_PERIODS = 8, 48  # number of periods tried in longer sequences
STRETCH_LENGTHS = (4, 16)  # lengths of the stretches whose distances are candidates


def number_words(words: Sequence[object]) -> Longs:
    """Number words, equal ones equally."""
    known: dict[object, int] = {}
    return np.array([known.setdefault(word, len(known)) for word in words], np.int64)


def candidate_periods(words: Longs) -> list[int]:
    """Return the periods to try, shortest first."""
    most = len(words) // 2
    if len(words) < MAX_EXHAUSTIVE_LENGTH:
        return list(range(1, most + 1))
    gaps: Counter[int] = Counter()
    for length in (1, *STRETCH_LENGTHS):
        gaps.update(_count_distances(_hash_stretches(words, length)))
    common = sorted(gaps, key=lambda gap: (-gaps[gap], gap))[:COMMONEST_PERIODS]
    return sorted({*(gap for gap in common if gap <= most), *range(1, min(SHORTEST_PERIODS, most) + 1)})


def _hash_stretches(words: Longs, length: int) -> Longs:
    mixed = words.astype(np.uint64)
    for step in range(1, length):
        # Wraps at 2^64. A collision only costs a period tried in vain.
        mixed = mixed[:-1] * np.uint64(1_000_003) ^ words[step:].astype(np.uint64)
    return mixed.view(np.int64)


def _count_distances(words: Longs) -> dict[int, int]:
    """Count the distances between each word and its next occurrence."""
    by_word = np.argsort(words, kind="stable")
    # Sorted by word, then by place: adjacent entries of one word are consecutive occurrences.
    near = words[by_word][1:] == words[by_word][:-1]
    gaps, counts = np.unique(np.diff(by_word)[near], return_counts=True)
    return dict(zip(gaps.tolist(), counts.tolist(), strict=True))


def periodic_stretches(symbols: Longs, period: int) -> list[tuple[int, int]]:
    """Return maximal stretches that repeat with `period`."""
    equal = np.concatenate(([False], symbols[:-period] == symbols[period:], [False]))
    ends = np.flatnonzero(equal[1:] != equal[:-1]).tolist()  # begins and ends of runs of True, alternating
    return [(start, stop + period) for start, stop in zip(ends[::2], ends[1::2], strict=True) if stop - start >= period]


MIN_TAPERING_REPETITIONS = 3  # repetitions with different kernels


def tapering_stretches(words: Longs, plain: Longs, period: int) -> list[tuple[int, int]]:
    """Return maximal stretches that repeat with `period` apart from kernels, if all repetitions have different kernels.

    `plain` are the words without kernels, `words` with kernels. If two repetitions are equal, they are a stage, and the
    stretch does not count.

    >>> plain, period = np.array([0, 1, 0, 1, 0, 1]), 2
    >>> tapering_stretches(np.array([3, 0, 5, 0, 7, 0]), plain, period)
    [(0, 6)]
    >>> tapering_stretches(np.array([3, 0, 3, 0, 7, 0]), plain, period)
    []
    """
    if np.max(words) == np.max(plain):  # only saves time
        return []
    return [
        (start, stop)
        for start, stop in periodic_stretches(plain, period)
        if stop - start >= MIN_TAPERING_REPETITIONS * period and _are_all_unlike(words[start:stop], period)
    ]


def _are_all_unlike(words: Longs, period: int) -> bool:
    """Return whether all complete repetitions of a stretch are different."""
    repetitions = words[: len(words) // period * period].reshape(-1, period)
    return len(set(map(tuple, repetitions.tolist()))) == len(repetitions)


MAX_STRAYS = 4  # initial states between the boxes of a first repetition


@dataclass(frozen=True, slots=True, eq=False)
class BoxLine:
    """The boxes of a level along its flow.

    `boxes[p]` is number `order[p]` in the level, and `place` is the inverse of `order`. `sources_of` has the numbers of
    the boxes that feed each box of the level.
    """

    boxes: Sequence[FlowBox]
    order: Sequence[int]
    place: Sequence[int]
    sources_of: Sequence[Sequence[int]]

    def source_places(self, place: int) -> list[int]:
        """Return the places that feed the box at `place`."""
        return [self.place[source] for source in self.sources_of[self.order[place]]]

    def match_before(self, once: Stretch) -> tuple[list[int], list[int]]:
        """Return the places right before a stretch that equal it in content and inner wiring, and strays between them.

        A stray is a small initial state. Both lists are empty if there is no such stretch.
        """
        places: list[int] = []
        strays: list[int] = []
        spot = once.start - 1
        for box in reversed(once.boxes()):
            while spot >= 0 and not has_same_content(self.boxes[spot], box) and _is_small_state(self.boxes[spot]):
                if len(strays) == MAX_STRAYS:
                    return [], []
                strays.append(spot)
                spot -= 1
            if spot < 0 or not has_same_content(self.boxes[spot], box):
                return [], []
            places.append(spot)
            spot -= 1
        places.reverse()
        strays.reverse()
        # A stray that depends on these boxes, or on an input that only they have, is a shortcut.
        own = {*places, *self.feeding_places(places)} - self.feeding_places(once.places())
        if not own.isdisjoint(self.feeding_places(strays)) or self.inner_wiring(places) != self.inner_wiring(
            once.places()
        ):
            return [], []
        return places, strays

    def match_behind(self, last: Stretch) -> list[int]:
        """Return the places right after a stretch that equal it in content and inner wiring; empty if there are none.

        The stretch must feed them if the boxes before it feed the stretch.
        """
        length = last.stop - last.start
        places = range(last.stop, last.stop + length)
        if places.stop > len(self.boxes) or not all(
            map(has_same_content, self.boxes[places.start : places.stop], last.boxes())
        ):
            return []
        fed = self.inner_wiring(places) == self.inner_wiring(last.places()) and self.is_fed_from(last.start, places)
        return list(places) if fed == self.is_fed_from(last.start - length, last.places()) else []

    def inner_wiring(self, places: Sequence[int]) -> list[list[int]]:
        """Return, for each of some places, which of them feed it."""
        step_of = {place: step for step, place in enumerate(places)}
        return [sorted([step_of[each] for each in self.source_places(place) if each in step_of]) for place in places]

    def feeding_places(self, places: Sequence[int]) -> set[int]:
        """Return the places that feed some places."""
        return {source for place in places for source in self.source_places(place)}

    def is_fed_from(self, start: int, places: Sequence[int]) -> bool:
        """Return whether a place from `start` on feeds one of the later `places`."""
        return any(start <= source < places[0] for place in places for source in self.source_places(place))


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """The places of a line from `start` up to, not including, `stop`."""

    line: BoxLine
    start: int
    stop: int

    def boxes(self) -> Sequence[FlowBox]:
        return self.line.boxes[self.start : self.stop]

    def places(self) -> Sequence[int]:
        return range(self.start, self.stop)


def _is_small_state(box: FlowBox) -> bool:
    """Return whether a box may be an initial state: few ops, no feeders."""
    return box.ops < MIN_STACK_OPS and not box.feeders and not box.members


def has_same_content(box: FlowBox, other: FlowBox) -> bool:
    """Return whether two boxes have equal content; their inputs may differ."""
    return box.symbol == other.symbol or (box.inside is not None and box.inside == other.inside)


@dataclass(slots=True, eq=False)
class SequenceElement:
    """One box of a sequence.

    symbol    equal for equal structures with equal wiring
    word      compared to find repeats: equal for stacks of one unit, whatever their height
    cut       number of edges that cross the place after it
    fork      it is a region of several boxes
    stage     it is a stage
    side      it is a side output of the element before it
    held      symbols of the boxes in it, along the flow
    shortcut  its last box also has an input from before the element
    source    it has no inputs
    memory    its result is used by all later elements
    place     places of its boxes in the line, None if not contiguous or not needed
    kernels   ids of the kernel sizes in it, None until computed
    """

    box: FlowBox
    symbol: int
    word: object
    cut: int = 0
    fork: bool = False
    stage: bool = False
    side: bool = False
    held: tuple[int, ...] = ()
    shortcut: bool = False
    source: bool = False
    memory: bool = False
    place: Stretch | None = None
    kernels: frozenset[int] | None = None

    @property
    def is_single_box(self) -> bool:
        """Return whether it is neither a stack nor a stage."""
        return not self.stage and not self.box.is_repetition


FlowElements = Sequence[SequenceElement]


def covering_stretch(elements: FlowElements) -> Stretch | None:
    """Return the stretch from the first to the last element; None if their places are unknown."""
    first, last = elements[0].place, elements[-1].place
    return None if first is None or last is None else Stretch(first.line, first.start, last.stop)


@dataclass(frozen=True, slots=True)
class Repeat:
    """`count` repetitions of `period` elements from place `start` on."""

    start: int
    period: int
    count: int

    @property
    def stop(self) -> int:
        """One past the last element."""
        return self.start + self.period * self.count

    def repetitions(self) -> list[tuple[int, int]]:
        """Return the start and stop of each repetition."""
        return [(start, start + self.period) for start in range(self.start, self.stop, self.period)]


@dataclass(frozen=True, slots=True, eq=False)
class StretchEnds:
    """The repetitions right before and right behind a repeat, with the repeat between elements `start` and `stop`.

    `before` and `behind` are their places in the line, empty if there is none; `strays` are places between those
    `before`.
    """

    start: int
    strays: Sequence[int]
    before: Sequence[int]
    behind: Sequence[int]
    stop: int

    @property
    def count(self) -> int:
        """Number of these repetitions."""
        return bool(self.before) + bool(self.behind)


def find_matching_ends(sequence: FlowElements, repeat: Repeat) -> StretchEnds:
    """Return the repetitions right before and behind a repeat that have equal content but different inputs."""
    once = covering_stretch(sequence[repeat.start : repeat.start + repeat.period])
    last = covering_stretch(sequence[repeat.stop - repeat.period : repeat.stop])
    before, strays = once.line.match_before(once) if once is not None else ([], [])
    behind = last.line.match_behind(last) if last is not None else []
    if once is None or not (before or behind) or not _is_worth_extending(sequence[repeat.start : repeat.stop], once):
        return StretchEnds(repeat.start, (), (), (), repeat.stop)
    # They must begin and end at the border of an element: a region is never split.
    start, stop = repeat.start, repeat.stop
    if before:
        begin = min([*before[:1], *strays[:1]])
        while start and (place := sequence[start].place) is not None and place.start > begin:
            start -= 1
        place = sequence[start].place
        before = before if place is not None and place.start == begin else []
    if behind:
        while stop < len(sequence) and (place := sequence[stop].place) is not None and place.stop <= behind[-1]:
            stop += 1
        place = sequence[stop].place if stop < len(sequence) else None
        behind = behind if place is not None and place.stop == behind[-1] + 1 else []
    return StretchEnds(
        start if before else repeat.start, strays if before else (), before, behind, stop + 1 if behind else repeat.stop
    )


def _is_worth_extending(elements: FlowElements, once: Stretch) -> bool:
    """Return whether repetitions have enough ops and known places."""
    return sum(box.ops for box in once.boxes()) >= MIN_STACK_OPS and all(each.place is not None for each in elements)


def extend_with_matching_ends(
    sequence: list[SequenceElement], done: int, limit: int, repeat: Repeat
) -> tuple[list[SequenceElement], list[SequenceElement], int]:
    """Return the elements from `done` to a repeat, the elements of the repeat with its matching ends, and where these
    stop.

    They stop at `limit` at the latest.
    """
    repetitions, stop = sequence[repeat.start : repeat.stop], repeat.stop
    ends = find_matching_ends(sequence, repeat)
    first, last = repetitions[: repeat.period], repetitions[-repeat.period :]
    if ends.behind and ends.stop <= limit:
        repetitions, stop = repetitions + _copy_repetition_onto(last, ends.behind), ends.stop
    if not ends.before or ends.start < done:
        return sequence[done : repeat.start], repetitions, stop
    line = first[0].place.line if first[0].place else None
    strays = [
        SequenceElement(box, box.symbol, box.symbol) for place in ends.strays if line for box in [line.boxes[place]]
    ]
    return [*sequence[done : ends.start], *strays], _copy_repetition_onto(first, ends.before) + repetitions, stop


def _copy_repetition_onto(repetition: FlowElements, places: Sequence[int]) -> list[SequenceElement]:
    """Copy the elements of a repetition onto the boxes at other places of the line."""
    elements = []
    start = 0
    for element in repetition:
        if (place := element.place) is None:
            return list(repetition)
        here = places[start : start + place.stop - place.start]
        start += len(here)
        [box] = copy_groups_onto([element.box], place.boxes(), [place.line.boxes[new] for new in here])
        whole = Stretch(place.line, here[0], here[-1] + 1) if here[-1] - here[0] == len(here) - 1 else None
        elements.append(replace(element, box=box, place=whole, kernels=None))
    return elements
