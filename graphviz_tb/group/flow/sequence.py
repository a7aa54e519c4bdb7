"""A level as a sequence along its flow, and stretches of it that repeat themselves."""

from __future__ import annotations

from graphviz_tb.group.flow.box import FlowBox
from graphviz_tb.model.frozen import dataclass


@dataclass(slots=True, eq=False)
class Element:
    """One box of a sequence. `symbol` is equal for equal structures that are wired alike; `word` is what is compared:
    stacks of one unit are equal whatever their height.

    `cut` counts the lines that cross behind it; `fork` says that it is a stretch of several boxes, `side` that it hangs
    on what comes before it, `source` that nothing does. `held` are the symbols of the boxes of a level in it, in the
    order of the flow; `shortcut` says that the last of them also takes what all of them are given.
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

    @property
    def plain(self) -> bool:
        """Neither stack nor stage."""
        return not self.stage and not self.box.stack


@dataclass(frozen=True, slots=True)
class Repetition:
    """`count` repetitions of `period` elements from place `start` on."""

    start: int
    period: int
    count: int

    @property
    def stop(self) -> int:
        """One past the last element."""
        return self.start + self.period * self.count

    def turns(self) -> list[tuple[int, int]]:
        """Where each repetition starts and stops."""
        return [(start, start + self.period) for start in range(self.start, self.stop, self.period)]
