"""No colouring: groups neutral, ops white."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphviz_tb.color.hues import plain
from graphviz_tb.model.hierarchy import Hierarchy, Kind
from graphviz_tb.model.paint import Fill, LegendRow
from graphviz_tb.model.theme import Theme

OP, STACKS = int(Kind.OP), frozenset((int(Kind.SERIES), int(Kind.FOLD)))


@dataclass(frozen=True)
class Plain:
    """Says nothing; the other colourings fall back on it."""

    hierarchy: Hierarchy
    theme: Theme
    scheme: str = "none"

    def fill(self, row: int) -> Fill:
        """Neutral, white for ops and for runs of ops."""
        return plain(self.theme, is_op(self.hierarchy, row))

    def second(self, row: int) -> str | None:
        """The usual second line."""
        return None

    def legend(self, rows: Sequence[int]) -> list[LegendRow]:
        """Nothing to explain."""
        return []


def is_op(hierarchy: Hierarchy, row: int) -> bool:
    """Whether a row is drawn like an op: an op, or a stack whose members are ops."""
    while hierarchy.kind[row] in STACKS:
        below = hierarchy.children(row)
        if not len(below):
            return False
        row = int(below[0])
    return int(hierarchy.kind[row]) == OP


def none(hierarchy: Hierarchy, theme: Theme) -> Plain:
    """The colouring "none"."""
    return Plain(hierarchy, theme)
