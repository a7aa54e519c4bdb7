"""Colourings by a measured number: light is little, dark is much, hatched is not measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import sqrt
from typing import Self

from graphviz_tb.algorithms.calls import count_measured_ops
from graphviz_tb.algorithms.colours import mix_colours
from graphviz_tb.color.colouring import ColourValues, NumberColouring, is_drawn_as_op
from graphviz_tb.color.hues import border_colour, contrast
from graphviz_tb.errors import MissingFacts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measure import group_thousands
from graphviz_tb.model.paint import LegendRow, LineTint, LineTints, RowFill
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.scene import Route, Scene
from graphviz_tb.model.stats import RunFigures, Stats
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.view import View

LEGEND_TICKS = 5  # rows of the legend: nothing, the largest, and three between them
FADED_PERCENT = 55  # share of the background in lines to a box that was not measured
NOT_MEASURED = "not measured"
BLACK, WHITE = "#000000", "#FFFFFF"
FAINT_PERCENT = 40  # share of the background in the border of an unknown box


@dataclass(frozen=True)
class MeasuredColouring(NumberColouring):
    """Fills rows by a quantity, "time" or "bytes", on a square-root scale from 0 to `top`.

    `format_value` writes a value with its unit, `ramp` are colours from zero to `top`. `scaled` sets `top` to the
    largest of the boxes shown closed. `_figures` caches the figures of nodes inside calls.
    """

    stats: Stats
    quantity: str
    format_value: Callable[[float], str]
    ramp: tuple[str, ...]
    top: float = 0.0
    _figures: dict[RowPath, RunFigures] = field(default_factory=dict, repr=False, compare=False)

    def scaled_to(self, closed: Sequence[RowPath]) -> Self:
        """Return a copy whose scale goes from 0 to the largest value of the nodes shown `closed`."""
        return replace(self, top=max((self.figures_at(path).quantity(self.quantity) for path in closed), default=0.0))

    def figures_at(self, path: RowPath) -> RunFigures:
        """Return the figures of the node at `path`."""
        figures = self._figures.get(path)
        if figures is None:
            figures = self._figures[path] = self.stats.figures_at(path)
        return figures

    def fill_of(self, path: RowPath) -> RowFill:
        """Return the colour of the node at `path`: of one call, not of all places together."""
        figures = self.figures_at(path)
        return self.shade_of(figures.quantity(self.quantity)) if figures.known else self.unknown_fill(path[-1])

    def scaled_to_one(self) -> Self:
        """Return a copy whose scale goes from 0 to 1."""
        return replace(self, top=1.0)

    def number_values(self, inside: Sequence[RowPath]) -> ColourValues:
        """Return the measured values of every row and of the paths inside calls; -1 if not measured."""
        # Columns, and each text once: a page asks for every row at every step.
        column = zip(self.stats.quantity_column(self.quantity).median.tolist(), self.stats.known.tolist(), strict=True)
        values = [value if known else -1 for value, known in column]
        values += [
            figure.quantity(self.quantity) if figure.known else -1 for figure in map(self.stats.sums_at_path, inside)
        ]
        texts = {value: self.format_value(value) if value >= 0 else "" for value in dict.fromkeys(values)}
        return ColourValues(values, list(map(texts.__getitem__, values)), missing=NOT_MEASURED)

    def shade_of(self, value: float) -> RowFill:
        """Return the colour of a value."""
        # On a straight scale nearly all ops would be white: times and sizes differ by orders of magnitude.
        tone = tone_between(self.ramp, sqrt(min(1.0, value / self.top)) if self.top > 0 else 0.0)
        ink = max((BLACK, WHITE), key=lambda colour: contrast(colour, tone))
        return RowFill(tone, border_colour(tone, self.theme), ink, ink, hued=True)

    def tooltip_text(self, path: RowPath) -> str:
        """Return minimum, median and maximum over several steps."""
        return self.stats.spread_text(path)

    def line_tints(self, scene: Scene, view: View, paths: Sequence[RowPath]) -> LineTints:
        """Return a fainter colour for edges with an end that was not measured."""
        return faint_lines(scene, self.theme, [self.figures_at(path).known for path in paths])

    def unknown_fill(self, row: int) -> RowFill:
        """Return the fill of an unknown row: hatched, its label in the second colour."""
        return unmeasured_fill(self.hierarchy, self.theme, row)

    def second_line(self, path: RowPath) -> str | None:
        """Return the formatted value; None if not measured."""
        figures = self.figures_at(path)
        return self.format_value(figures.quantity(self.quantity)) if figures.known else None

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return five ticks, evenly spaced along the colours; the meaning of hatching; how much was measured."""
        rows = [
            LegendRow(self.format_value(value), self.shade_of(value))
            # Squares, because colours are on a square-root scale; without duplicates, if all are 0.
            for value in dict.fromkeys(self.top * (tick / (LEGEND_TICKS - 1)) ** 2 for tick in range(LEGEND_TICKS))
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


def unmeasured_fill(hierarchy: Hierarchy, theme: Theme, row: int) -> RowFill:
    """Return the fill of an unknown box: hatched, its label in the second colour."""
    ground = theme.op if is_drawn_as_op(hierarchy, row) else theme.neutral
    # The more readable of the two quiet inks on this ground.
    quiet = max((theme.secondary, theme.quiet), key=lambda colour: contrast(colour, ground))
    return RowFill(ground, mix_colours(theme.stroke, theme.background, FAINT_PERCENT), quiet, quiet, hatch=True)


def faint_lines(scene: Scene, theme: Theme, known: Sequence[bool]) -> LineTints:
    """Return a fainter colour for the lines that lead to unknown boxes; `known` is by box."""
    routes = tuple(
        # An end is -1 at a port: the box beyond it is not considered.
        None
        if all(known[end] for end in (route.source, route.target) if end >= 0)
        else LineTint(faint_colour(route, theme))
        for route in scene.routes
    )
    return LineTints(routes, (None,) * len(scene.stubs))


def faint_colour(route: Route, theme: Theme) -> str:
    """Return the colour of an edge that leads to an unknown box."""
    usual = theme.reference if route.kind == "reference" else theme.data
    return mix_colours(usual, theme.background, FADED_PERCENT)


def tone_between(ramp: tuple[str, ...], share: float) -> str:
    """Return the colour at `share` (0 to 1) of the way along evenly spaced colours.

    >>> tone_between(("#000000", "#FFFFFF"), 0.5), tone_between(("#000000", "#808080", "#FFFFFF"), 1.0)
    ('#808080', '#FFFFFF')
    """
    position = share * (len(ramp) - 1)
    # At a share of 1 the end of the last stretch, not the start of one more.
    first = min(int(position), len(ramp) - 2)
    return mix_colours(ramp[first], ramp[first + 1], round((position - first) * 100))


@lru_cache(256)
def ink_on(tone: str) -> str:
    """Return black or white, whichever is more readable on a colour."""
    return max((BLACK, WHITE), key=lambda colour: contrast(colour, tone))


def required_stats(stats: Stats | None, what: str) -> Stats:
    """Return the statistics. Raises MissingFacts with a hint how to give some."""
    if stats is None:
        raise MissingFacts(
            f"{what} needs run statistics",
            hint="give --run-metadata FILE, or --step TAG for a step of the log",
        )
    return stats
