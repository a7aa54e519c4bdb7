"""Levels without narrow places: exact long repeats between places that are equally wide, the largest first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphviz_tb.group.flow.box import group, stack
from graphviz_tb.group.flow.periods import numbered, periods, stretches_of
from graphviz_tb.group.flow.repeats import fold_repeats
from graphviz_tb.group.flow.sequence import Element, Repetition
from graphviz_tb.group.flow.setting import Setting
from graphviz_tb.group.flow.sizes import narrowed
from graphviz_tb.model.hierarchy import How

SHORTEST = 8  # elements of a template; shorter ones are accidents where lines run far


def outer_repeats(sequence: Sequence[Element], setting: Setting) -> list[Element]:
    """Stack the longest repeats; their inside is folded as any sequence."""
    taken = np.zeros(len(sequence), bool)
    chosen: list[Repetition] = []
    for repeat in sorted(
        candidates(sequence), key=lambda repeat: (-repeat.period * (repeat.count - 1), repeat.period, repeat.start)
    ):
        # Greedy: the repeat that hides most boxes, then what does not touch it.
        if not taken[repeat.start : repeat.stop].any():
            taken[repeat.start : repeat.stop] = True
            chosen.append(repeat)
    folded: list[Element] = []
    done = 0
    for repeat in sorted(chosen, key=lambda repeat: repeat.start):
        folded += [*sequence[done : repeat.start], stacked_turns(sequence, repeat, setting)]
        done = repeat.stop
    return folded + list(sequence[done:])


def candidates(sequence: Sequence[Element]) -> list[Repetition]:
    """Repeats whose borders all cut equally many lines, and nearly as few as any place inside."""
    symbols = numbered([element.symbol for element in sequence])
    repeats: list[Repetition] = []
    for period in periods(symbols):
        if period < SHORTEST:
            continue
        for start, stop in stretches_of(symbols, period):
            repeats += best_phase(sequence, start, stop, period)
    return repeats


def best_phase(sequence: Sequence[Element], start: int, stop: int, period: int) -> list[Repetition]:
    """The phase with the narrowest borders, if they are all alike; or nothing."""
    count, slack = divmod(stop - start, period)
    best: tuple[int, Repetition] | None = None
    # A stretch of 3 · 8 + 2 elements holds three repetitions of 8 in three phases.
    for shift in range(min(slack, period - 1) + 1):
        repeat = Repetition(start + shift, period, count)
        borders = [border for border, _ in repeat.turns()] + [repeat.stop]
        widths = {sequence[border - 1].cut for border in borders if border}
        if len(widths) == 1:
            [width] = widths
            best = (width, repeat) if best is None or width < best[0] else best
    if best is None:
        return []
    inside = min(element.cut for element in sequence[best[1].start : best[1].start + period])
    return [best[1]] if best[0] <= inside + 1 else []


def stacked_turns(sequence: Sequence[Element], repeat: Repetition, setting: Setting) -> Element:
    """The repetitions as one stack."""
    turns = [sequence[start:stop] for start, stop in repeat.turns()]
    unit = setting.symbols.of("block", *(element.symbol for element in turns[0]))
    boxes = []
    for turn in turns:
        inside = narrowed([element.box for element in fold_repeats(turn, setting)], setting, setting.soft)
        boxes.append(group(How.REPEAT, inside, unit))
    made = stack(setting.symbols, boxes, unit)
    return Element(made, made.symbol, ("stack", unit), sequence[repeat.stop - 1].cut)
