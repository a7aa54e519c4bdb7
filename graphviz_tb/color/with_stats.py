"""Any colouring with run statistics: time and memory on the second line, hatching for what was not measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from graphviz_tb.color.colouring import Colouring
from graphviz_tb.color.measured import faint_lines, required_stats, unmeasured_fill
from graphviz_tb.model.paint import LegendRow, LineTints, RowFill
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.view import View


@dataclass(frozen=True)
class StatsColouring(Colouring):
    """`inner`, except for boxes that were not measured."""

    inner: Colouring
    stats: Stats
    _known: dict[RowPath, bool] = field(default_factory=dict, repr=False, compare=False)

    def is_measured(self, path: RowPath) -> bool:
        """Return whether anything was measured at `path`."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self.stats.figures_at(path).known
        return known

    def scaled_to(self, closed: Sequence[RowPath]) -> Self:
        """Return a copy whose inner colouring is scaled for one picture."""
        return replace(self, inner=self.inner.scaled_to(closed))

    def fill_of(self, path: RowPath) -> RowFill:
        """Return the inner colouring's fill, or the hatch."""
        return (
            self.inner.fill_of(path)
            if self.is_measured(path)
            else unmeasured_fill(self.hierarchy, self.theme, path[-1])
        )

    def line_tints(self, scene: Scene, view: View, paths: Sequence[RowPath]) -> LineTints:
        """Return a fainter colour for edges with an end that was not measured."""
        return faint_lines(scene, self.theme, [self.is_measured(path) for path in paths])

    def second_line(self, path: RowPath) -> str | None:
        """Return time and memory; the inner colouring's line if not measured."""
        return self.stats.format_time_and_memory(path) or self.inner.second_line(path)

    def tooltip_text(self, path: RowPath) -> str:
        """Return the text of the inner colouring, then minimum, median and maximum over several steps."""
        spread = self.stats.spread_text(path)
        return " · ".join(filter(None, (self.inner.tooltip_text(path), spread)))

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return the inner colouring's rows, then the meaning of hatching."""
        rows = self.inner.legend_rows(shown)
        unknown = next((path for path in shown if not self.is_measured(path)), None)
        if unknown is None:
            return rows
        return [*rows, LegendRow("not measured", unmeasured_fill(self.hierarchy, self.theme, unknown[-1]))]


def stats_colouring(inner: Colouring, stats: Stats | None) -> StatsColouring:
    """Make the colouring of `--stats`. Raises MissingFacts without statistics."""
    words = inner.scheme, inner.heading
    return StatsColouring(inner.hierarchy, inner.theme, *words, inner, required_stats(stats, "--stats"))
