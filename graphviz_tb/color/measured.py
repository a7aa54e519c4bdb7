"""Colourings by a measured number: light is little, dark is much, hatched is not measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import sqrt
from typing import Self

from graphviz_tb.algorithms.calls import measured_through
from graphviz_tb.algorithms.colours import mixed
from graphviz_tb.color.colouring import ByNumber, ColourValues, is_op
from graphviz_tb.color.hues import contrast, stroke
from graphviz_tb.errors import MissingFacts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.measure import thousands
from graphviz_tb.model.paint import Fill, LegendRow, Tint, Tints
from graphviz_tb.model.paths import Path
from graphviz_tb.model.scene import Route, Scene
from graphviz_tb.model.stats import Figures, Stats
from graphviz_tb.model.theme import Theme
from graphviz_tb.model.view import View

TICKS = 5  # rows of the legend: nothing, the largest, and three between them
FADED = 55  # share of the background in lines to a box that was not measured
NOTHING = "not measured"
BLACK, WHITE = "#000000", "#FFFFFF"
FAINT = 40  # share of the background in the border of an unknown box


@dataclass(frozen=True)
class MeasuredColouring(ByNumber):
    """Fills rows by a quantity, "time" or "bytes", on a square-root scale from 0 to `top`.

    `format_value` writes a value with its unit, `ramp` are colours from zero to `top`. `scaled` sets `top` to the
    largest of the boxes shown closed. `_figures` caches the figures of nodes inside calls.
    """

    stats: Stats
    quantity: str
    format_value: Callable[[float], str]
    ramp: tuple[str, ...]
    top: float = 0.0
    _figures: dict[Path, Figures] = field(default_factory=dict, repr=False, compare=False)

    def scaled(self, closed: Sequence[Path]) -> Self:
        """Return a copy whose scale goes from 0 to the largest value of the nodes shown `closed`."""
        return replace(self, top=max((self.figures(path).of(self.quantity) for path in closed), default=0.0))

    def figures(self, path: Path) -> Figures:
        """Return the figures of the node at `path`."""
        figures = self._figures.get(path)
        if figures is None:
            figures = self._figures[path] = self.stats.at(path)
        return figures

    def fill(self, path: Path) -> Fill:
        """Return the colour of the node at `path`: of one call, not of all places together."""
        figures = self.figures(path)
        return self.shade(figures.of(self.quantity)) if figures.known else self.unknown(path[-1])

    def to_one(self) -> Self:
        """Return a copy whose scale goes from 0 to 1."""
        return replace(self, top=1.0)

    def numbers(self, inside: Sequence[Path]) -> ColourValues:
        """Return the measured values of every row and of the paths inside calls; -1 if not measured."""
        # Columns, and each text once: a page asks for every row at every step.
        column = zip(self.stats.column(self.quantity).median.tolist(), self.stats.known.tolist(), strict=True)
        values = [value if known else -1 for value, known in column]
        values += [figure.of(self.quantity) if figure.known else -1 for figure in map(self.stats.sums_at, inside)]
        texts = {value: self.format_value(value) if value >= 0 else "" for value in dict.fromkeys(values)}
        return ColourValues(values, list(map(texts.__getitem__, values)), missing=NOTHING)

    def shade(self, value: float) -> Fill:
        """Return the colour of a value."""
        # On a straight scale nearly all ops would be white: times and sizes differ by orders of magnitude.
        tone = tone_between(self.ramp, sqrt(min(1.0, value / self.top)) if self.top > 0 else 0.0)
        ink = max((BLACK, WHITE), key=lambda colour: contrast(colour, tone))
        return Fill(tone, stroke(tone, self.theme), ink, ink, hued=True)

    def account(self, path: Path) -> str:
        """Return minimum, median and maximum over several steps."""
        return self.stats.spread(path)

    def tints(self, scene: Scene, view: View, paths: Sequence[Path]) -> Tints:
        """Return a fainter colour for edges with an end that was not measured."""
        return faint_lines(scene, self.theme, [self.figures(path).known for path in paths])

    def unknown(self, row: int) -> Fill:
        """Return the fill of an unknown row: hatched, its label in the second colour."""
        return unmeasured(self.hierarchy, self.theme, row)

    def second(self, path: Path) -> str | None:
        """Return the formatted value; None if not measured."""
        figures = self.figures(path)
        return self.format_value(figures.of(self.quantity)) if figures.known else None

    def legend(self, shown: Sequence[Path]) -> list[LegendRow]:
        """Return five ticks, evenly spaced along the colours; the meaning of hatching; how much was measured."""
        rows = [
            LegendRow(self.format_value(value), self.shade(value))
            # Squares, because colours are on a square-root scale; without duplicates, if all are 0.
            for value in dict.fromkeys(self.top * (tick / (TICKS - 1)) ** 2 for tick in range(TICKS))
        ]
        unknown = [path[-1] for path in shown if not self.figures(path).known]
        if unknown:
            rows.append(LegendRow(NOTHING, self.unknown(unknown[0])))
        if len(self.stats.steps) > 1:
            left_out = ", without the first" if self.stats.warm_up else ""
            rows.append(LegendRow(f"median of {len(self.stats.steps)} steps{left_out}", self.unknown(0), "rest"))
        measured, ops = measured_through(self.hierarchy, self.stats)
        share = f"{thousands(measured)} of {'∞' if ops is None else thousands(ops)} ops measured"
        return [*rows, LegendRow(share, self.unknown(0), "rest")]


def unmeasured(hierarchy: Hierarchy, theme: Theme, row: int) -> Fill:
    """Return the fill of an unknown box: hatched, its label in the second colour."""
    ground = theme.op if is_op(hierarchy, row) else theme.neutral
    # The more readable of the two quiet inks on this ground.
    quiet = max((theme.secondary, theme.quiet), key=lambda colour: contrast(colour, ground))
    return Fill(ground, mixed(theme.stroke, theme.background, FAINT), quiet, quiet, hatch=True)


def faint_lines(scene: Scene, theme: Theme, known: Sequence[bool]) -> Tints:
    """Return a fainter colour for the lines that lead to unknown boxes; `known` is by box."""
    routes = tuple(
        # An end is -1 at a port: the box beyond it is not considered.
        None if all(known[end] for end in (route.source, route.target) if end >= 0) else Tint(faint(route, theme))
        for route in scene.routes
    )
    return Tints(routes, (None,) * len(scene.stubs))


def faint(route: Route, theme: Theme) -> str:
    """Return the colour of an edge that leads to an unknown box."""
    usual = theme.reference if route.kind == "reference" else theme.data
    return mixed(usual, theme.background, FADED)


def tone_between(ramp: tuple[str, ...], share: float) -> str:
    """Return the colour at `share` (0 to 1) of the way along evenly spaced colours.

    >>> tone_between(("#000000", "#FFFFFF"), 0.5), tone_between(("#000000", "#808080", "#FFFFFF"), 1.0)
    ('#808080', '#FFFFFF')
    """
    position = share * (len(ramp) - 1)
    # At a share of 1 the end of the last stretch, not the start of one more.
    first = min(int(position), len(ramp) - 2)
    return mixed(ramp[first], ramp[first + 1], round((position - first) * 100))


@lru_cache(256)
def ink_on(tone: str) -> str:
    """Return black or white, whichever is more readable on a colour."""
    return max((BLACK, WHITE), key=lambda colour: contrast(colour, tone))


def needed(stats: Stats | None, what: str) -> Stats:
    """Return the statistics. Raises MissingFacts with a hint how to give some."""
    if stats is None:
        raise MissingFacts(
            f"{what} needs run statistics",
            hint="give --run-metadata FILE, or --step TAG for a step of the log",
        )
    return stats
