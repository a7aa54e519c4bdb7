"""Colour by facts that a user gives: numbers light to dark like logged values, texts as categories."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphviz_tb.color.colouring import Colouring
from graphviz_tb.color.logged import ByLogged
from graphviz_tb.color.shares import Shares, shares
from graphviz_tb.errors import MissingFacts
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.given import GivenFacts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measured_tags import LoggedValues, RowValue
from graphviz_tb.model.paths import Path
from graphviz_tb.model.theme import Theme
from graphviz_tb.options import GIVEN

WIDE = 1e3  # largest by least value: beyond it the scale is logarithmic


@dataclass(frozen=True)
class GivenNumbers(ByLogged):
    """One number for each row; `given` are all facts, listed in tooltips."""

    given: GivenFacts

    def account(self, path: Path) -> str:
        """Return the facts of a box; for a group without any, the range within it."""
        return self.given.words(path[-1]) or super().account(path)

    def in_theme(self, theme: Theme) -> GivenNumbers:
        """Return a copy in another theme."""
        return GivenNumbers(self.hierarchy, theme, self.scheme, self.heading, self.values, self.given)


@dataclass(frozen=True)
class GivenTexts(Shares):
    """One text for each op."""

    given: GivenFacts | None = None

    def account(self, path: Path) -> str:
        """Return the facts of a box; for a group without any, how many ops have each text."""
        own = self.given.words(path[-1]) if self.given is not None else ""
        return own or super().account(path)


def given(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Colouring:
    """Make the colouring "facts". Raises MissingFacts if none were given."""
    found = facts.given
    if found is None:
        raise MissingFacts(
            "colouring by facts needs some", hint="--facts FILE.csv, a column of names and one of values"
        )
    values = found.columns[found.shown]
    if found.numeric(found.shown):
        rows = values_by_row(hierarchy, {row: float(value) for row, value in values.items()})
        return GivenNumbers(hierarchy, theme, GIVEN, found.shown, scaled(found.shown, rows), found)
    return texts(hierarchy, theme, found, {row: str(value) for row, value in values.items()})


def values_by_row(hierarchy: Hierarchy, own: dict[int, float]) -> dict[int, RowValue]:
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


def scaled(heading: str, rows: dict[int, RowValue]) -> LoggedValues:
    """Return values with their scale from the least to the largest, logarithmic if these are far apart."""
    finite = [each.value for each in rows.values() if math.isfinite(each.value)] or [0.0]
    low, high = min(finite), max(finite)
    if low < 0:
        return LoggedValues(heading, 0, rows, frozenset(), 0.0, max(high, -low), signed=True, noun="nodes")
    log = low > 0 and high > WIDE * low
    return LoggedValues(heading, 0, rows, frozenset(), low if log else min(low, 0.0), high, log=log, noun="nodes")


def texts(hierarchy: Hierarchy, theme: Theme, found: GivenFacts, values: dict[int, str]) -> GivenTexts:
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
    plain = shares(hierarchy, theme, (GIVEN, found.shown), by_node, names, f"no {found.shown}")
    return GivenTexts(
        hierarchy, theme, GIVEN, found.shown, plain.category, plain.names, plain.nothing, plain.ordinary, given=found
    )
