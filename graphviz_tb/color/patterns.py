"""Colour by the patterns of a view file: groups show their ops in proportion; the rest is coloured by structure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from graphviz_tb.color.colouring import Colouring
from graphviz_tb.color.measured import ink_on
from graphviz_tb.color.shares import CategoryColouring
from graphviz_tb.color.structure import structure_colouring
from graphviz_tb.errors import MissingFacts
from graphviz_tb.limits import MAX_CATEGORY_LETTERS
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measure import truncate_middle
from graphviz_tb.model.paint import LegendRow, RowFill
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.theme import Theme
from graphviz_tb.options import COLOR_BY_PATTERNS


@dataclass(frozen=True)
class PatternColouring(Colouring):
    """`given` are the shares of the patterns, `inner` colours the rows that match none."""

    given: CategoryColouring
    inner: Colouring

    def is_matched(self, row: int) -> bool:
        """Return whether a pattern matches a row, or an op in it."""
        counts = self.given.category_counts(row)
        return bool(counts) and counts[0][0] >= 0  # those of no pattern are last

    def fill_of(self, path: RowPath) -> RowFill:
        """Return the colour of the pattern with a readable ink, or bands."""
        if not self.is_matched(path[-1]):
            return self.inner.fill_of(path)
        fill = self.given.fill_of(path)
        if fill.bands:
            return fill
        ink = ink_on(fill.fill)
        return replace(fill, text=ink, second=ink)

    def look_key(self, row: int) -> Hashable:
        """Return a key equal for rows with as many ops of each pattern and an equal inner look."""
        return tuple(self.given.category_counts(row)), self.inner.look_key(row)

    def tooltip_text(self, path: RowPath) -> str:
        """Return the patterns that match a box, or ops in it, with their numbers."""
        row = path[-1]
        if not self.is_matched(row):
            return self.inner.tooltip_text(path)
        return self.given.tooltip_text(path) or self.given.names[self.given.category_counts(row)[0][0]]

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return the patterns of the boxes shown, then the structures of the others."""
        mine = [path for path in shown if self.is_matched(path[-1])]
        rows = [row for row in self.given.legend_rows(mine) if row.label != self.given.nothing]
        return rows + self.inner.legend_rows([path for path in shown if not self.is_matched(path[-1])])


def patterns_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> PatternColouring:
    """Make the colouring "patterns". Raises MissingFacts if no view gives colours."""
    given = facts.painted
    if given is None:
        raise MissingFacts("colouring by patterns needs a view with colours", hint='[colors] "op:Conv2D" = "orange"')
    names = tuple(truncate_middle(name, MAX_CATEGORY_LETTERS) for name in given.names)
    words = COLOR_BY_PATTERNS, "Patterns"
    toned = replace(theme, hues=given.tones)
    shares = CategoryColouring(hierarchy, toned, *words, given.category, names, "other", hierarchy.is_ordinary_op)
    return PatternColouring(hierarchy, theme, *words, shares, structure_colouring(hierarchy, theme, facts))
