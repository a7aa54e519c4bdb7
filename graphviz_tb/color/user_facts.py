"""Colour by what a user supplies: facts about nodes, or the patterns of a view file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from graphviz_tb.color.category import CategoryColouring, category_colouring
from graphviz_tb.color.colouring import Colouring
from graphviz_tb.color.logged import LoggedColouring
from graphviz_tb.color.measured import ink_on
from graphviz_tb.color.structure import structure_colouring
from graphviz_tb.errors import MissingFacts
from graphviz_tb.limits import MAX_CATEGORY_LETTERS
from graphviz_tb.model.facts import Facts, UserFacts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.joins import LoggedValues, RowValue
from graphviz_tb.model.measure import truncate_middle
from graphviz_tb.model.paint import LegendRow, RowFill
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.theme import Theme
from graphviz_tb.options import COLOR_BY_FACTS, COLOR_BY_PATTERNS

# Colour by facts that a user gives: numbers light to dark like logged values, texts as categories.

LOG_SCALE_RATIO = 1e3  # largest by least value; beyond it the scale is logarithmic


@dataclass(frozen=True)
class GivenNumbers(LoggedColouring):
    """One number for each row; `given` are all facts, listed in tooltips."""

    given: UserFacts

    def tooltip_text(self, path: RowPath) -> str:
        """Return the facts of a box; for a group without any, the range within it."""
        return self.given.text_of_row(path[-1]) or super().tooltip_text(path)


@dataclass(frozen=True)
class GivenTexts(CategoryColouring):
    """One text for each op."""

    given: UserFacts | None = None

    def tooltip_text(self, path: RowPath) -> str:
        """Return the facts of a box; for a group without any, how many ops have each text."""
        own = self.given.text_of_row(path[-1]) if self.given is not None else ""
        return own or super().tooltip_text(path)


def facts_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Colouring:
    """Make the colouring "facts". Raises MissingFacts if none were given."""
    found = facts.given
    if found is None:
        raise MissingFacts(
            "colouring by facts needs some", hint="--facts FILE.csv, a column of names and one of values"
        )
    values = found.columns[found.shown]
    if found.is_numeric(found.shown):
        rows = _spread_values(hierarchy, {row: float(value) for row, value in values.items()})
        return GivenNumbers(hierarchy, theme, COLOR_BY_FACTS, found.shown, _scaled_values(found.shown, rows), found)
    return _texts_colouring(hierarchy, theme, found, {row: str(value) for row, value in values.items()})


class _ValueSpread(NamedTuple):
    """The values in a group."""

    least: float  # magnitude
    most: float  # the value of largest magnitude
    rows: int


def _spread_values(hierarchy: Hierarchy, own: dict[int, float]) -> dict[int, RowValue]:
    """Return a value for each row that has one, and for each group around them the value of largest magnitude in it."""
    spreads: dict[int, _ValueSpread] = {}
    found: dict[int, RowValue] = {}
    for row in sorted({*own, *(around for marked in own for around in hierarchy.ancestors(marked))}, reverse=True):
        if row in own:
            value = own[row]
            found[row] = RowValue(value, 0, 1, 1, abs(value), abs(value))
            spread = _ValueSpread(abs(value), value, 1)
        elif row in spreads:
            spread = spreads[row]
            found[row] = RowValue(spread.most, 0, spread.rows, spread.rows, spread.least, abs(spread.most))
        else:
            continue
        around = int(hierarchy.parent[row])
        if around >= 0:
            if (other := spreads.get(around)) is not None:
                most = max(other.most, spread.most, key=abs)
                spread = _ValueSpread(min(other.least, spread.least), most, other.rows + spread.rows)
            spreads[around] = spread
    return found


def _scaled_values(heading: str, rows: dict[int, RowValue]) -> LoggedValues:
    """Return values with their scale from the least to the largest, logarithmic if these are far apart."""
    finite = [row.value for row in rows.values() if math.isfinite(row.value)] or [0.0]
    low, high = min(finite), max(finite)
    if low < 0:
        return LoggedValues(heading, 0, rows, frozenset(), 0.0, max(high, -low), signed=True, noun="nodes")
    log = low > 0 and high > LOG_SCALE_RATIO * low
    return LoggedValues(heading, 0, rows, frozenset(), low if log else min(low, 0.0), high, log=log, noun="nodes")


def _texts_colouring(hierarchy: Hierarchy, theme: Theme, found: UserFacts, values: dict[int, str]) -> GivenTexts:
    """Make the colouring of texts. The most frequent text has the first hue; the text of a group applies to its ops
    without a text."""
    counts = Counter(values.values())
    names = sorted(counts, key=lambda text: (-counts[text], text))
    number = {text: at for at, text in enumerate(names)}
    by_row = np.full(len(hierarchy), -1, np.int32)
    for row in sorted(values):  # children come after parents and override their text
        by_row[row : hierarchy.end[row]] = number[values[row]]
    by_node = np.full(max(len(hierarchy.graph), 1), -1, np.int32)
    ops = np.flatnonzero(hierarchy.node >= 0)
    by_node[hierarchy.node[ops]] = by_row[ops]
    plain = category_colouring(hierarchy, theme, (COLOR_BY_FACTS, found.shown), by_node, names, f"no {found.shown}")
    return GivenTexts(
        hierarchy,
        theme,
        COLOR_BY_FACTS,
        found.shown,
        plain.category,
        plain.names,
        plain.nothing,
        plain.ordinary,
        given=found,
    )


# Colour by the patterns of a view file: groups show their ops in proportion; the rest is coloured by structure.


@dataclass(frozen=True)
class PatternColouring(Colouring):
    """Colours rows by patterns: `given` has the shares of the patterns, `inner` colours the rows without a match."""

    given: CategoryColouring
    inner: Colouring

    def is_matched(self, row: int) -> bool:
        """Return whether a pattern matches a row, or an op in it."""
        counts = self.given.category_counts(row)
        return bool(counts) and counts[0][0] >= 0  # ops without a pattern are last

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
        """Return a key that is equal for rows with equal counts of each pattern and an equal inner key."""
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
        rows = [entry for entry in self.given.legend_rows(mine) if entry.label != self.given.nothing]
        return rows + self.inner.legend_rows([path for path in shown if not self.is_matched(path[-1])])

    def whole_row_legend(self, row: int) -> list[LegendRow]:
        """Return the patterns of one row, or its structure."""
        if not self.is_matched(row):
            return self.inner.whole_row_legend(row)
        return [entry for entry in self.given.whole_row_legend(row) if entry.label != self.given.nothing]


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
