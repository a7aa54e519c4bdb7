"""Heads: blocks without their shortcut. The first block of a stage changes the shape, the rest add their input.

conv bn relu  [conv bn relu +]  [conv bn relu +]        a head, and two equal blocks with a shortcut
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from graphviz_tb.group.flow.repeats import make_block
from graphviz_tb.group.flow.sequence import SequenceElement, covering_stretch
from graphviz_tb.group.flow.setting import FoldContext

MIN_HEAD_BOXES = 4  # shorter matches are chance, and a head of two hides more than it explains
MAX_HEAD_STRAYS = 2  # extra boxes of a head: paddings
MIN_HEADED_SHARE = 0.5  # of the runs of a block: with fewer heads the match is chance


def fold_heads(sequence: Sequence[SequenceElement], setting: FoldContext) -> list[SequenceElement]:
    """Fold the elements right before a repeated block that equal it, except for the shortcut, to one element: its head.

    Before: a sequence along the flow, not stacked yet. After: heads of one block have equal words, whatever else they
    hold.
    """
    # A block with a shortcut must occur twice.
    repeated = Counter(each.symbol for each in sequence if each.shortcut)
    runs = [
        number
        for number, element in enumerate(sequence)
        if element.shortcut
        and repeated[element.symbol] > 1
        and (not number or sequence[number - 1].symbol != element.symbol)
    ]
    starts = {number: start for number in runs if (start := find_head_start(sequence, number)) < number}
    beginning = Counter(sequence[number].symbol for number in runs)
    headed = Counter(sequence[number].symbol for number in starts)
    folded: list[SequenceElement] = []
    taken = 0
    for number, start in starts.items():
        symbol = sequence[number].symbol
        if start >= taken and headed[symbol] > MIN_HEADED_SHARE * beginning[symbol]:
            folded += [*sequence[taken:start], make_head(sequence[start:number], symbol, setting)]
            taken = number
    return [*folded, *sequence[taken:]]


def find_head_start(sequence: Sequence[SequenceElement], run: int) -> int:
    """Return where the head of the run of blocks at place `run` begins; `run` itself if it has none."""
    # Backwards from the run: a head has all but the last box (the sum with the shortcut), in the same order.
    *wanted, shortcut = sequence[run].held
    left, stray = len(wanted), MAX_HEAD_STRAYS
    for number in range(run - 1, -1, -1):
        for symbol in reversed(sequence[number].held):
            if left and wanted[left - 1] == symbol:
                left -= 1
            elif stray and symbol != shortcut:
                stray -= 1
            else:
                return run
        if not left:
            return number if len(wanted) >= MIN_HEAD_BOXES else run
    return run


def make_head(elements: Sequence[SequenceElement], body: int, setting: FoldContext) -> SequenceElement:
    """Fold the elements of a head to one; `body` is the symbol of its equal blocks."""
    if len(elements) == 1:
        return elements[0]
    box = make_block(setting, elements)
    return SequenceElement(box, box.symbol, ("head", body), elements[-1].cut, place=covering_stretch(elements))
