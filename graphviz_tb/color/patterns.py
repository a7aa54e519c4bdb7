"""Colour by the patterns of a view file: groups show their ops in proportion; the rest is coloured by structure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from graphviz_tb.color.colouring import Colouring
from graphviz_tb.color.measured import ink_on
from graphviz_tb.color.shares import Shares
from graphviz_tb.color.structure import structure
from graphviz_tb.errors import MissingFacts
from graphviz_tb.limits import CATEGORY_NAME
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measure import cut_middle
from graphviz_tb.model.paint import Fill, LegendRow
from graphviz_tb.model.paths import Path
from graphviz_tb.model.theme import Theme
from graphviz_tb.options import PATTERNS


@dataclass(frozen=True)
class ByPatterns(Colouring):
    """`given` are the shares of the patterns, `inner` colours the rows that match none."""

    given: Shares
    inner: Colouring

    def meant(self, row: int) -> bool:
        """Return whether a pattern matches a row, or an op in it."""
        counts = self.given.counts(row)
        return bool(counts) and counts[0][0] >= 0  # those of no pattern are last

    def fill(self, path: Path) -> Fill:
        """Return the colour of the pattern with a readable ink, or bands."""
        if not self.meant(path[-1]):
            return self.inner.fill(path)
        fill = self.given.fill(path)
        if fill.bands:
            return fill
        ink = ink_on(fill.fill)
        return replace(fill, text=ink, second=ink)

    def alike(self, row: int) -> Hashable:
        """Return a key equal for rows with as many ops of each pattern and an equal inner look."""
        return tuple(self.given.counts(row)), self.inner.alike(row)

    def account(self, path: Path) -> str:
        """Return the patterns that match a box, or ops in it, with their numbers."""
        row = path[-1]
        if not self.meant(row):
            return self.inner.account(path)
        return self.given.account(path) or self.given.names[self.given.counts(row)[0][0]]

    def legend(self, shown: Sequence[Path]) -> list[LegendRow]:
        """Return the patterns of the boxes shown, then the structures of the others."""
        mine = [path for path in shown if self.meant(path[-1])]
        rows = [row for row in self.given.legend(mine) if row.label != self.given.nothing]
        return rows + self.inner.legend([path for path in shown if not self.meant(path[-1])])


def patterns(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> ByPatterns:
    """Make the colouring "patterns". Raises MissingFacts if no view gives colours."""
    given = facts.painted
    if given is None:
        raise MissingFacts("colouring by patterns needs a view with colours", hint='[colors] "op:Conv2D" = "orange"')
    names = tuple(cut_middle(name, CATEGORY_NAME) for name in given.names)
    words = PATTERNS, "Patterns"
    toned = replace(theme, hues=given.tones)
    shares = Shares(hierarchy, toned, *words, given.category, names, "other", hierarchy.ordinary)
    return ByPatterns(hierarchy, theme, *words, shares, structure(hierarchy, theme, facts))
