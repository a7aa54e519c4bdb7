"""Colour by the difference of two measurements of one graph: red took more than before, blue less."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Self

from graphviz_tb.color.colouring import Colouring, ColourValues, NumberColouring
from graphviz_tb.color.hues import border_colour, contrast
from graphviz_tb.color.measured import (
    BLACK,
    WHITE,
    MeasuredColouring,
    faint_lines,
    required_stats,
    tone_between,
    unmeasured_fill,
)
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paint import LegendRow, LineTints, RowFill
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.view import View

# From no difference to the largest; distinguishable without red-green vision.
MORE_RAMPS = {"light": ("#F4F4F4", "#F4A582", "#B2182B"), "dark": ("#2B2B2E", "#A8443A", "#FFB9A8")}
LESS_RAMPS = {"light": ("#F4F4F4", "#92C5DE", "#2166AC"), "dark": ("#2B2B2E", "#3A6FA5", "#BFDDFB")}
NOT_TWICE = "not measured twice"
# shares of the largest difference, even along the colours' square-root scale
DIFFERENCE_TICKS = (-1.0, -0.25, 0.0, 0.25, 1.0)


def measured_or_difference(
    hierarchy: Hierarchy,
    theme: Theme,
    facts: Facts,
    names: tuple[str, str],
    quantity: str,
    format_value: Callable[[float], str],
    ramps: Mapping[str, tuple[str, ...]],
) -> Colouring:
    """Return the colouring of a measured quantity, or of its difference if there are statistics of before.

    `names` are the scheme and the heading of the legend, `ramps` the colours by theme. Raises MissingFacts without
    statistics.
    """
    scheme, heading = names
    stats = required_stats(facts.stats, scheme)
    if facts.before is None:
        ramp = ramps[theme.name]
        return MeasuredColouring(hierarchy, theme, scheme, heading, stats, quantity, format_value, ramp).scaled_to(
            [(0,)]
        )
    heading = f"{heading}, more or less than before"
    return DifferenceColouring(
        hierarchy, theme, scheme, heading, stats, facts.before, quantity, format_value
    ).scaled_to([(0,)])


@dataclass(frozen=True)
class DifferenceColouring(NumberColouring):
    """Fills rows by a quantity in `now` minus that in `before`, on a square-root scale to `top`, the largest difference
    of the boxes shown closed. Rows that one of the two did not measure are hatched."""

    now: Stats
    before: Stats
    quantity: str
    format_value: Callable[[float], str]
    top: float = 0.0

    def difference(self, path: RowPath) -> float | None:
        """Return how much more it is than before; None if one of the two is unknown."""
        now, before = self.now.figures_at(path), self.before.figures_at(path)
        # Not measured is not 0: a new op has no difference.
        return now.quantity(self.quantity) - before.quantity(self.quantity) if now.known and before.known else None

    def scaled_to(self, closed: Sequence[RowPath]) -> Self:
        """Return a copy scaled to the largest difference of the nodes shown `closed`."""
        changes = [abs(change) for path in closed if (change := self.difference(path)) is not None]
        return replace(self, top=max(changes, default=0.0))

    def fill_of(self, path: RowPath) -> RowFill:
        """Return the colour of the difference."""
        change = self.difference(path)
        return self.unknown_fill(path[-1]) if change is None else self.shade_of(change)

    def unknown_fill(self, row: int) -> RowFill:
        """Return the hatched fill of a row that one of the two did not measure."""
        return unmeasured_fill(self.hierarchy, self.theme, row)

    def scaled_to_one(self) -> Self:
        """Return a copy whose scale goes to a difference of 1."""
        return replace(self, top=1.0)

    def number_values(self, inside: Sequence[RowPath]) -> ColourValues:
        """Return the difference at every row and inside calls; None where nothing was measured."""
        rows: list[RowPath] = [(row,) for row in range(len(self.hierarchy))]
        paths = [*rows, *inside]
        return ColourValues(
            [self.difference(path) for path in paths],
            [self.second_line(path) or "" for path in paths],
            [self.tooltip_text(path) for path in rows],
            NOT_TWICE,
            signed=True,
        )

    def shade_of(self, change: float) -> RowFill:
        """Return the colour of a difference."""
        ramp = (MORE_RAMPS if change > 0 else LESS_RAMPS)[self.theme.name]
        # By the root, as in `measured`, so that small differences are visible too.
        tone = tone_between(ramp, sqrt(min(1.0, abs(change) / self.top)) if self.top > 0 else 0.0)
        ink = max((BLACK, WHITE), key=lambda colour: contrast(colour, tone))
        return RowFill(tone, border_colour(tone, self.theme), ink, ink, hued=True)

    def line_tints(self, scene: Scene, view: View, paths: Sequence[RowPath]) -> LineTints:
        """Return a fainter colour for edges with an end that cannot be compared."""
        return faint_lines(scene, self.theme, [self.difference(path) is not None for path in paths])

    def format_signed(self, change: float) -> str:
        """Return a difference with its sign."""
        sign = "+" if change > 0 else "−" if change < 0 else "±"
        return f"{sign}{self.format_value(abs(change))}"

    def second_line(self, path: RowPath) -> str | None:
        """Return the difference, then the present value."""
        change = self.difference(path)
        return (
            None
            if change is None
            else f"{self.format_signed(change)} · {self.format_value(self.now.figures_at(path).quantity(self.quantity))}"
        )

    def tooltip_text(self, path: RowPath) -> str:
        """Return both values, and the difference as a share of the first."""
        change = self.difference(path)
        if change is None:
            return ""
        now, before = (
            self.now.figures_at(path).quantity(self.quantity),
            self.before.figures_at(path).quantity(self.quantity),
        )
        # A share of nothing has no number.
        share = f" ({change / before:+.0%})" if before else ""
        return f"{self.format_value(now)}, before {self.format_value(before)}{share}"

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return five ticks from the largest gain to the largest loss, and the meaning of hatching."""
        rows = [
            LegendRow(self.format_signed(self.top * tick), self.shade_of(self.top * tick)) for tick in DIFFERENCE_TICKS
        ]
        # If nothing differs, all five are equal.
        rows = list(dict.fromkeys(rows))
        unknown = next((path for path in shown if self.difference(path) is None), None)
        if unknown is not None:
            rows.append(LegendRow(NOT_TWICE, self.unknown_fill(unknown[-1])))
        return rows
