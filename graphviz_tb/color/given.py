"""Colour by facts that a user gives: numbers light to dark like logged values, texts as categories."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphviz_tb.color.colouring import Colouring
from graphviz_tb.color.logged import LoggedColouring
from graphviz_tb.color.shares import CategoryColouring, category_colouring
from graphviz_tb.errors import MissingFacts
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.given import UserFacts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measured_tags import LoggedValues, RowValue
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.theme import Theme
from graphviz_tb.options import COLOR_BY_FACTS

LOG_SCALE_RATIO = 1e3  # largest by least value: beyond it the scale is logarithmic


@dataclass(frozen=True)
class GivenNumbers(LoggedColouring):
    """One number for each row; `facts_colouring` are all facts, listed in tooltips."""

    given: UserFacts

    def tooltip_text(self, path: RowPath) -> str:
        """Return the facts of a box; for a group without any, the range within it."""
        return self.given.text_of_row(path[-1]) or super().tooltip_text(path)

    def in_theme(self, theme: Theme) -> GivenNumbers:
        """Return a copy in another theme."""
        return GivenNumbers(self.hierarchy, theme, self.scheme, self.heading, self.values, self.given)


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
        rows = spread_values(hierarchy, {row: float(value) for row, value in values.items()})
        return GivenNumbers(hierarchy, theme, COLOR_BY_FACTS, found.shown, scaled_values(found.shown, rows), found)
    return texts_colouring(hierarchy, theme, found, {row: str(value) for row, value in values.items()})


def spread_values(hierarchy: Hierarchy, own: dict[int, float]) -> dict[int, RowValue]:
    """Return a value for each row that has one, and for each group around them the largest by magnitude within it."""
    inside: dict[int, list[float]] = {}  # least magnitude, value of largest magnitude, count
    found: dict[int, RowValue] = {}
    for row in sorted({*own, *(around for each in own for around in hierarchy.ancestors(each))}, reverse=True):
        held = inside.get(row)
        if row in own:
            value = own[row]
            found[row] = RowValue(value, 0, 1, 1, abs(value), abs(value))
            least, most, count = abs(value), value, 1.0
        elif held is not None:
            least, most, count = held
            found[row] = RowValue(most, 0, int(count), int(count), least, abs(most))
        else:
            continue
        around = int(hierarchy.parent[row])
        if around >= 0:
            old = inside.get(around)
            if old is None:
                inside[around] = [least, most, count]
            else:
                inside[around] = [min(old[0], least), max(old[1], most, key=abs), old[2] + count]
    return found


def scaled_values(heading: str, rows: dict[int, RowValue]) -> LoggedValues:
    """Return values with their scale from the least to the largest, logarithmic if these are far apart."""
    finite = [each.value for each in rows.values() if math.isfinite(each.value)] or [0.0]
    low, high = min(finite), max(finite)
    if low < 0:
        return LoggedValues(heading, 0, rows, frozenset(), 0.0, max(high, -low), signed=True, noun="nodes")
    log = low > 0 and high > LOG_SCALE_RATIO * low
    return LoggedValues(heading, 0, rows, frozenset(), low if log else min(low, 0.0), high, log=log, noun="nodes")


def texts_colouring(hierarchy: Hierarchy, theme: Theme, found: UserFacts, values: dict[int, str]) -> GivenTexts:
    """Make the colouring of texts: the most frequent takes the first hue; a group's text applies to its ops without
    one."""
    counts: dict[str, int] = {}
    for text in values.values():
        counts[text] = counts.get(text, 0) + 1
    names = sorted(counts, key=lambda text: (-counts[text], text))
    number = {text: at for at, text in enumerate(names)}
    by_row = np.full(len(hierarchy), -1, np.int32)
    for row in sorted(values):  # parents before children, whose own text wins
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
