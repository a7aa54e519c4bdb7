"""Colourings by run statistics: compute time, memory, or the difference of two measurements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import floor, log2, log10, sqrt
from typing import Self

from graphviz_tb.color.colouring import Colouring, ColourValues, NumberColouring, border_colour, contrast
from graphviz_tb.errors import MissingFacts
from graphviz_tb.graphs.calls import count_measured_ops
from graphviz_tb.graphs.drawing_math import mix_colours
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.formatting import format_bytes, format_micros
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measure import group_thousands
from graphviz_tb.model.paint import LegendRow, LineTint, LineTints, RowFill
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.stats import RunFigures, Stats
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.view import View

# Colourings by a measured number: light is little, dark is much, hatched is not measured.

# Ticks as shares of the largest round number on a scale, about evenly spaced on the square-root scale.
DECIMAL_TICKS = {1: (0, 0.05, 0.2, 0.5, 1), 2: (0, 0.05, 0.25, 0.5, 1), 5: (0, 0.04, 0.2, 0.4, 1)}
BINARY_TICKS = (0, 1 / 64, 1 / 16, 1 / 4, 1)
FADED_PERCENT = 55  # share of the background in the colour of lines to a box that was not measured
NOT_MEASURED = "not measured"
BLACK, WHITE = "#000000", "#FFFFFF"


@dataclass(frozen=True)
class MeasuredColouring(NumberColouring):
    """Fills rows by a quantity, "time" or "bytes", on a square-root scale from 0 to `top`.

    `format_value` writes a value with its unit, `ramp` has colours from zero to `top`. `_figures` caches the figures of
    nodes inside calls.
    """

    stats: Stats
    quantity: str
    format_value: Callable[[float], str]
    ramp: tuple[str, ...]
    _figures: dict[RowPath, RunFigures] = field(default_factory=dict, repr=False, compare=False)

    def figures_at(self, path: RowPath) -> RunFigures:
        figures = self._figures.get(path)
        if figures is None:
            figures = self._figures[path] = self.stats.figures_at(path)
        return figures

    def value_at(self, path: RowPath) -> float | None:
        """Return the value of the node at `path`, for one call, not for all calls together."""
        figures = self.figures_at(path)
        return figures.quantity(self.quantity) if figures.known else None

    def number_values(self, inside: Sequence[RowPath]) -> ColourValues:
        """Return the measured values of every row and of the paths inside calls; -1 if not measured."""
        # Use columns and format each value once, because a page reads every row at every step.
        column = zip(self.stats.quantity_column(self.quantity).median.tolist(), self.stats.known.tolist(), strict=True)
        values = [value if known else -1 for value, known in column]
        values += [
            figure.quantity(self.quantity) if figure.known else -1 for figure in map(self.stats.sums_at_path, inside)
        ]
        texts = {value: self.format_value(value) if value >= 0 else "" for value in dict.fromkeys(values)}
        return ColourValues(values, list(map(texts.__getitem__, values)), missing=NOT_MEASURED)

    def shade_of(self, value: float) -> RowFill:
        # Times and sizes differ by orders of magnitude; on a linear scale nearly all ops would be white.
        tone = tone_between(self.ramp, sqrt(min(1.0, value / self.top)) if self.top > 0 else 0.0)
        return toned_fill(tone, self.theme)

    def tooltip_text(self, path: RowPath) -> str:
        """Return minimum, median and maximum over several steps."""
        return self.stats.spread_text(path)

    def line_tints(self, scene: Scene, view: View, paths: Sequence[RowPath]) -> LineTints:
        """Return a fainter colour for edges with an end that was not measured."""
        return _faint_lines(scene, self.theme, [self.figures_at(path).known for path in paths])

    def second_line(self, path: RowPath) -> str | None:
        """Return the formatted value; None if not measured."""
        value = self.value_at(path)
        return None if value is None else self.format_value(value)

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return round ticks of the scale, the meaning of hatching, and how much was measured."""
        rows = [
            LegendRow(self.format_value(value), self.shade_of(value))
            for value in round_ticks(self.top, binary=self.quantity == "bytes")
        ]
        unknown = [path[-1] for path in shown if not self.figures_at(path).known]
        if unknown:
            rows.append(LegendRow(NOT_MEASURED, self.unknown_fill(unknown[0])))
        if len(self.stats.steps) > 1:
            left_out = ", without the first" if self.stats.warm_up else ""
            rows.append(LegendRow(f"median of {len(self.stats.steps)} steps{left_out}", self.unknown_fill(0), "rest"))
        measured, ops = count_measured_ops(self.hierarchy, self.stats)
        share = f"{group_thousands(measured)} of {'∞' if ops is None else group_thousands(ops)} ops measured"
        return [*rows, LegendRow(share, self.unknown_fill(0), "rest")]


def round_ticks(top: float, binary: bool = False) -> list[float]:
    """Return zero and round values up to `top`; for bytes powers of two.

    >>> round_ticks(3200), round_ticks(5000, binary=True), round_ticks(0)
    ([0.0, 100.0, 500.0, 1000.0, 2000.0], [0.0, 64.0, 256.0, 1024.0, 4096.0], [0.0])
    """
    if not top > 0:
        return [0.0]
    if binary:
        return [2.0 ** floor(log2(top)) * part for part in BINARY_TICKS]
    power = floor(log10(top))
    lead = next(digit for digit in (5, 2, 1) if digit == 1 or top >= digit * 10.0**power)
    return [float(f"{lead * part:.4g}e{power}") for part in DECIMAL_TICKS[lead]]


def _faint_lines(scene: Scene, theme: Theme, known: Sequence[bool]) -> LineTints:
    """Return a fainter colour for the lines that lead to unknown boxes; `known` is by box."""
    routes = tuple(
        # An end is -1 at a port; the box beyond it does not count.
        None
        if all(known[end] for end in (route.source, route.target) if end >= 0)
        else LineTint(faint_line_colour(route.kind, theme))
        for route in scene.routes
    )
    return LineTints(routes, (None,) * len(scene.stubs))


def faint_line_colour(kind: str, theme: Theme) -> str:
    """Return the colour of an edge of a kind that leads to an unknown box."""
    return mix_colours(theme.reference if kind == "reference" else theme.data, theme.background, FADED_PERCENT)


def tone_between(ramp: tuple[str, ...], share: float) -> str:
    """Return the colour at `share` (0 to 1) of the way along evenly spaced colours.

    >>> tone_between(("#000000", "#FFFFFF"), 0.5), tone_between(("#000000", "#808080", "#FFFFFF"), 1.0)
    ('#808080', '#FFFFFF')
    """
    position = share * (len(ramp) - 1)
    # A share of 1 is the end of the last stretch.
    first = min(int(position), len(ramp) - 2)
    return mix_colours(ramp[first], ramp[first + 1], round((position - first) * 100))


def toned_fill(tone: str, theme: Theme, badge: str = "") -> RowFill:
    """Return a fill of this colour, with texts in the more readable ink."""
    ink = ink_on(tone)
    return RowFill(tone, border_colour(tone, theme), ink, ink, badge=badge, hued=True)


@lru_cache(256)
def ink_on(tone: str) -> str:
    """Return black or white, whichever is more readable on a colour."""
    return max((BLACK, WHITE), key=lambda colour: contrast(colour, tone))


def _required_stats(stats: Stats | None, what: str) -> Stats:
    """Return the statistics. Raises MissingFacts with a hint how to supply them."""
    if stats is None:
        raise MissingFacts(
            f"{what} needs run statistics",
            hint="give --run-metadata FILE, or --step TAG for a step of the log",
        )
    return stats


# Colour by the difference of two measurements of one graph: red is more than before, blue less.

# From no difference to the largest; readable with red-green colour blindness.
MORE_RAMPS = {"light": ("#F4F4F4", "#F4A582", "#B2182B"), "dark": ("#2B2B2E", "#A8443A", "#FFB9A8")}
LESS_RAMPS = {"light": ("#F4F4F4", "#92C5DE", "#2166AC"), "dark": ("#2B2B2E", "#3A6FA5", "#BFDDFB")}
NOT_TWICE = "not measured twice"
# Shares of the largest difference, evenly spaced on the square-root scale.
DIFFERENCE_TICKS = (-1.0, -0.25, 0.0, 0.25, 1.0)


def _measured_or_difference(
    hierarchy: Hierarchy,
    theme: Theme,
    facts: Facts,
    names: tuple[str, str],
    quantity: str,
    format_value: Callable[[float], str],
    ramps: Mapping[str, tuple[str, ...]],
) -> Colouring:
    """Return the colouring of a measured quantity, or of its difference if there are statistics of an earlier run.

    `names` are the scheme and the heading of the legend, `ramps` the colours by theme. Raises MissingFacts without
    statistics.
    """
    scheme, heading = names
    stats = _required_stats(facts.stats, scheme)
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
    """Fills rows by a quantity in `now` minus the same in `before`, on a square-root scale. Rows that one of the two
    did not measure are hatched."""

    now: Stats
    before: Stats
    quantity: str
    format_value: Callable[[float], str]

    def value_at(self, path: RowPath) -> float | None:
        """Return the increase of the quantity; None if one of the two values is unknown."""
        now, before = self.now.figures_at(path), self.before.figures_at(path)
        # Not measured is not 0: a new op has no difference.
        return now.quantity(self.quantity) - before.quantity(self.quantity) if now.known and before.known else None

    def number_values(self, inside: Sequence[RowPath]) -> ColourValues:
        """Return the difference at every row and inside calls; None where nothing was measured."""
        rows: list[RowPath] = [(row,) for row in range(len(self.hierarchy))]
        paths = [*rows, *inside]
        return ColourValues(
            [self.value_at(path) for path in paths],
            [self.second_line(path) or "" for path in paths],
            [self.tooltip_text(path) for path in rows],
            NOT_TWICE,
            signed=True,
        )

    def shade_of(self, change: float) -> RowFill:
        ramp = (MORE_RAMPS if change > 0 else LESS_RAMPS)[self.theme.name]
        # Use the square root, so that small differences are visible, too.
        tone = tone_between(ramp, sqrt(min(1.0, abs(change) / self.top)) if self.top > 0 else 0.0)
        return toned_fill(tone, self.theme)

    def line_tints(self, scene: Scene, view: View, paths: Sequence[RowPath]) -> LineTints:
        """Return a fainter colour for edges with an end that cannot be compared."""
        return _faint_lines(scene, self.theme, [self.value_at(path) is not None for path in paths])

    def format_signed(self, change: float) -> str:
        sign = "+" if change > 0 else "−" if change < 0 else "±"
        return f"{sign}{self.format_value(abs(change))}"

    def second_line(self, path: RowPath) -> str | None:
        """Return the difference, then the present value."""
        change = self.value_at(path)
        if change is None:
            return None
        now = self.now.figures_at(path).quantity(self.quantity)
        return f"{self.format_signed(change)} · {self.format_value(now)}"

    def tooltip_text(self, path: RowPath) -> str:
        """Return both values, and the difference as a share of the first."""
        change = self.value_at(path)
        if change is None:
            return ""
        now = self.now.figures_at(path).quantity(self.quantity)
        before = self.before.figures_at(path).quantity(self.quantity)
        # There is no share of zero.
        share = f" ({change / before:+.0%})" if before else ""
        return f"{self.format_value(now)}, before {self.format_value(before)}{share}"

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return five ticks from the largest gain to the largest loss, and the meaning of hatching."""
        rows = [
            LegendRow(self.format_signed(self.top * tick), self.shade_of(self.top * tick)) for tick in DIFFERENCE_TICKS
        ]
        # If there is no difference, all five are equal.
        rows = list(dict.fromkeys(rows))
        unknown = next((path for path in shown if self.value_at(path) is None), None)
        if unknown is not None:
            rows.append(LegendRow(NOT_TWICE, self.unknown_fill(unknown[-1])))
        return rows


# Colour by memory: the bytes that the ops under a node allocated.

MEMORY_RAMPS = {
    "light": ("#EFF3FF", "#9ECAE1", "#4292C6", "#08306B"),
    "dark": ("#16263B", "#1D4F86", "#4292C6", "#CFE3F5"),  # high values are bright on a dark ground
}


def memory_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Colouring:
    """Make the colouring "memory" of one measurement, or of the difference of two. Raises MissingFacts without any."""
    return _measured_or_difference(hierarchy, theme, facts, ("memory", "Memory"), "bytes", format_bytes, MEMORY_RAMPS)


# Colour by compute time: the sum of all executions under a node.

COMPUTE_TIME_RAMPS = {
    "light": ("#FFF7E6", "#FDD49E", "#FC8D59", "#B30000"),
    "dark": ("#2A1A1C", "#7F1D1D", "#DC4A3A", "#FFD6C9"),  # high values are bright on a dark ground
}


def compute_time_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Colouring:
    """Make the colouring "compute-time" of one measurement, or of the difference of two. Raises MissingFacts without
    any."""
    return _measured_or_difference(
        hierarchy, theme, facts, ("compute-time", "Compute time"), "time", format_micros, COMPUTE_TIME_RAMPS
    )


# Any colouring with run statistics: time and memory on the second line, hatching for what was not measured.


@dataclass(frozen=True)
class StatsColouring(Colouring):
    """`inner`, except for boxes that were not measured."""

    inner: Colouring
    stats: Stats
    _known: dict[RowPath, bool] = field(default_factory=dict, repr=False, compare=False)

    def is_measured(self, path: RowPath) -> bool:
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self.stats.figures_at(path).known
        return known

    def scaled_to(self, closed: Sequence[RowPath]) -> Self:
        """Return a copy whose inner colouring is scaled for one picture."""
        return replace(self, inner=self.inner.scaled_to(closed))

    def fill_of(self, path: RowPath) -> RowFill:
        """Return the inner colouring's fill, or the hatch."""
        return self.inner.fill_of(path) if self.is_measured(path) else self.unknown_fill(path[-1])

    def line_tints(self, scene: Scene, view: View, paths: Sequence[RowPath]) -> LineTints:
        """Return a fainter colour for edges with an end that was not measured."""
        return _faint_lines(scene, self.theme, [self.is_measured(path) for path in paths])

    def second_line(self, path: RowPath) -> str | None:
        """Return time and memory; the inner colouring's line if not measured."""
        return self.stats.format_time_and_memory(path) or self.inner.second_line(path)

    def tooltip_text(self, path: RowPath) -> str:
        """Return the text of the inner colouring, then minimum, median and maximum over several steps."""
        spread = self.stats.spread_text(path)
        return " · ".join(filter(None, (self.inner.tooltip_text(path), spread)))

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return the inner colouring's rows, then the meaning of hatching."""
        return self.inner.legend_rows(shown) + self._unmeasured_legend(shown)

    def whole_row_legend(self, row: int) -> list[LegendRow]:
        """Return the colours of the inner colouring, then hatching."""
        return self.inner.whole_row_legend(row) + self._unmeasured_legend([(row,)])

    def _unmeasured_legend(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        for path in shown:
            if not self.is_measured(path):
                return [LegendRow("not measured", self.unknown_fill(path[-1]))]
        return []


def stats_colouring(inner: Colouring, stats: Stats | None) -> StatsColouring:
    """Make the colouring of `--stats`. Raises MissingFacts without statistics."""
    words = inner.scheme, inner.heading
    return StatsColouring(inner.hierarchy, inner.theme, *words, inner, _required_stats(stats, "--stats"))
