"""Colour by the difference of two measurements of one graph: red took more than before, blue less."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Self

from graphviz_tb.color.colouring import ByNumber, Colouring, ColourValues
from graphviz_tb.color.hues import contrast, stroke
from graphviz_tb.color.measured import BLACK, WHITE, MeasuredColouring, faint_lines, needed, tone_between, unmeasured
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paint import Fill, LegendRow, Tints
from graphviz_tb.model.paths import Path
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.view import View

# From no difference to the largest; distinguishable without red-green vision.
MORE = {"light": ("#F4F4F4", "#F4A582", "#B2182B"), "dark": ("#2B2B2E", "#A8443A", "#FFB9A8")}
LESS = {"light": ("#F4F4F4", "#92C5DE", "#2166AC"), "dark": ("#2B2B2E", "#3A6FA5", "#BFDDFB")}
NOT_TWICE = "not measured twice"
TICKS = (-1.0, -0.25, 0.0, 0.25, 1.0)  # shares of the largest difference, even along the colours' square-root scale


def by_statistics(
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
    stats = needed(facts.stats, scheme)
    if facts.before is None:
        ramp = ramps[theme.name]
        return MeasuredColouring(hierarchy, theme, scheme, heading, stats, quantity, format_value, ramp).scaled([(0,)])
    heading = f"{heading}, more or less than before"
    return Against(hierarchy, theme, scheme, heading, stats, facts.before, quantity, format_value).scaled([(0,)])


@dataclass(frozen=True)
class Against(ByNumber):
    """Fills rows by a quantity in `now` minus that in `before`, on a square-root scale to `top`, the largest difference
    of the boxes shown closed. Rows that one of the two did not measure are hatched."""

    now: Stats
    before: Stats
    quantity: str
    format_value: Callable[[float], str]
    top: float = 0.0

    def change(self, path: Path) -> float | None:
        """Return how much more it is than before; None if one of the two is unknown."""
        now, before = self.now.at(path), self.before.at(path)
        # Not measured is not 0: a new op has no difference.
        return now.of(self.quantity) - before.of(self.quantity) if now.known and before.known else None

    def scaled(self, closed: Sequence[Path]) -> Self:
        """Return a copy scaled to the largest difference of the nodes shown `closed`."""
        changes = [abs(change) for path in closed if (change := self.change(path)) is not None]
        return replace(self, top=max(changes, default=0.0))

    def fill(self, path: Path) -> Fill:
        """Return the colour of the difference."""
        change = self.change(path)
        return self.unknown(path[-1]) if change is None else self.shade(change)

    def unknown(self, row: int) -> Fill:
        """Return the hatched fill of a row that one of the two did not measure."""
        return unmeasured(self.hierarchy, self.theme, row)

    def to_one(self) -> Self:
        """Return a copy whose scale goes to a difference of 1."""
        return replace(self, top=1.0)

    def numbers(self, inside: Sequence[Path]) -> ColourValues:
        """Return the difference at every row and inside calls; None where nothing was measured."""
        rows: list[Path] = [(row,) for row in range(len(self.hierarchy))]
        paths = [*rows, *inside]
        return ColourValues(
            [self.change(path) for path in paths],
            [self.second(path) or "" for path in paths],
            [self.account(path) for path in rows],
            NOT_TWICE,
            signed=True,
        )

    def shade(self, change: float) -> Fill:
        """Return the colour of a difference."""
        ramp = (MORE if change > 0 else LESS)[self.theme.name]
        # By the root, as in `measured`, so that small differences are visible too.
        tone = tone_between(ramp, sqrt(min(1.0, abs(change) / self.top)) if self.top > 0 else 0.0)
        ink = max((BLACK, WHITE), key=lambda colour: contrast(colour, tone))
        return Fill(tone, stroke(tone, self.theme), ink, ink, hued=True)

    def tints(self, scene: Scene, view: View, paths: Sequence[Path]) -> Tints:
        """Return a fainter colour for edges with an end that cannot be compared."""
        return faint_lines(scene, self.theme, [self.change(path) is not None for path in paths])

    def signed(self, change: float) -> str:
        """Return a difference with its sign."""
        sign = "+" if change > 0 else "−" if change < 0 else "±"
        return f"{sign}{self.format_value(abs(change))}"

    def second(self, path: Path) -> str | None:
        """Return the difference, then the present value."""
        change = self.change(path)
        return (
            None
            if change is None
            else f"{self.signed(change)} · {self.format_value(self.now.at(path).of(self.quantity))}"
        )

    def account(self, path: Path) -> str:
        """Return both values, and the difference as a share of the first."""
        change = self.change(path)
        if change is None:
            return ""
        now, before = self.now.at(path).of(self.quantity), self.before.at(path).of(self.quantity)
        # A share of nothing has no number.
        share = f" ({change / before:+.0%})" if before else ""
        return f"{self.format_value(now)}, before {self.format_value(before)}{share}"

    def legend(self, shown: Sequence[Path]) -> list[LegendRow]:
        """Return five ticks from the largest gain to the largest loss, and the meaning of hatching."""
        rows = [LegendRow(self.signed(self.top * tick), self.shade(self.top * tick)) for tick in TICKS]
        # If nothing differs, all five are equal.
        rows = list(dict.fromkeys(rows))
        unknown = next((path for path in shown if self.change(path) is None), None)
        if unknown is not None:
            rows.append(LegendRow(NOT_TWICE, self.unknown(unknown[-1])))
        return rows
