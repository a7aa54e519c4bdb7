"""What every colouring says, and what it says where it has nothing to say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from graphviz_tb.color.hues import plain
from graphviz_tb.model.hierarchy import OP, STACKS, Hierarchy
from graphviz_tb.model.paint import Fill, LegendRow, Tints
from graphviz_tb.model.paths import Path
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.view import View


@dataclass(frozen=True)
class Colouring:
    """A colouring of one file in one theme; `scheme` is its word, `heading` is above its rows of the legend.

    It is asked by path, so that it may distinguish the calls of one function. It never depends on what is open, but
    for the scale of what was measured (`scaled`).
    """

    hierarchy: Hierarchy
    theme: Theme
    scheme: str
    heading: str

    def fill(self, path: Path) -> Fill:
        """How the box at `path` is filled: neutral, white for ops and for stacks of ops."""
        return plain(self.theme, is_op(self.hierarchy, path[-1]))

    def alike(self, row: int) -> Hashable:
        """Rows of one key look alike and have the same words: ask one of them for all."""
        return row

    def second(self, path: Path) -> str | None:
        """The second line of the box at `path`; None leaves the usual one."""
        return None

    def account(self, path: Path) -> str:
        """What a tooltip says beside the usual; "" for nothing."""
        return ""

    def summary(self, ops: int, shown: int) -> str:
        """What the title row says of a picture that shows so many boxes; "" for the usual counts."""
        return ""

    def in_theme(self, theme: Theme) -> Self | None:
        """The same in another theme; None where it has to be made anew."""
        return None

    def by_number(self) -> ByNumber | None:
        """Itself, if it is a colouring by a number."""
        return None

    def scaled(self, closed: Sequence[Path]) -> Self:
        """The same, its scale set by the boxes that are shown closed."""
        return self

    def tints(self, scene: Scene, view: View, paths: Sequence[Path]) -> Tints:
        """The colours of lines and of lines of stubs, where they are not the usual ones. `paths` are by box."""
        return Tints.none(scene)

    def legend(self, shown: Sequence[Path]) -> list[LegendRow]:
        """What the colours of the boxes shown represent: at most ten rows, then one that counts the rest."""
        return []


@dataclass(frozen=True)
class ColourValues:
    """What a colouring by a number says, its scale left to whoever draws: of every row, then of boxes inside calls.

    `values` are None or -1 where there is none, `words` how they are written, `accounts` by row what a tooltip adds.
    `missing` names boxes without a number; "" where that is no lack. `signed`: less than nothing is a value too. Costs
    say the `batch` that they count with, and by what they may lack how often each row lacks it.
    """

    values: Sequence[float | None]
    words: Sequence[str]
    accounts: Sequence[str] = ()
    missing: str = ""
    signed: bool = False
    batch: int | None = None
    lacks: Mapping[str, Sequence[int]] = field(default_factory=dict)


class ByNumber(Colouring, ABC):
    """A colouring by a number, on a scale from nothing to the largest."""

    def by_number(self) -> ByNumber | None:
        """Itself."""
        return self

    @abstractmethod
    def to_one(self) -> Self:
        """The same on a scale from 0 to 1."""

    @abstractmethod
    def shade(self, value: float) -> Fill:
        """The colour of a value."""

    @abstractmethod
    def unknown(self, row: int) -> Fill:
        """How a row without a number is filled."""

    @abstractmethod
    def numbers(self, inside: Sequence[Path]) -> ColourValues:
        """The number of every row, then of the boxes `inside` calls where these differ from call to call."""


def is_op(hierarchy: Hierarchy, row: int) -> bool:
    """Whether a row is drawn like an op: an op, or a stack whose members are ops."""
    # Stacks may hold stacks; the first member represents them all.
    while hierarchy.kind[row] in STACKS:
        below = hierarchy.children(row)
        if not len(below):
            return False
        row = int(below[0])
    return int(hierarchy.kind[row]) == OP
