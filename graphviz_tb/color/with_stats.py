"""Any colouring with run statistics: time and memory on the second line, hatching for what was not measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from graphviz_tb.color.colouring import Colouring
from graphviz_tb.color.measured import faint_lines, needed, unmeasured
from graphviz_tb.model.paint import Fill, LegendRow, Tints
from graphviz_tb.model.paths import Path
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.view import View


@dataclass(frozen=True)
class WithStats(Colouring):
    """`inner`, except for boxes that were not measured."""

    inner: Colouring
    stats: Stats
    _known: dict[Path, bool] = field(default_factory=dict, repr=False, compare=False)

    def known(self, path: Path) -> bool:
        """Return whether anything was measured at `path`."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self.stats.at(path).known
        return known

    def scaled(self, closed: Sequence[Path]) -> Self:
        """Return a copy whose inner colouring is scaled for one picture."""
        return replace(self, inner=self.inner.scaled(closed))

    def fill(self, path: Path) -> Fill:
        """Return the inner colouring's fill, or the hatch."""
        return self.inner.fill(path) if self.known(path) else unmeasured(self.hierarchy, self.theme, path[-1])

    def tints(self, scene: Scene, view: View, paths: Sequence[Path]) -> Tints:
        """Return a fainter colour for edges with an end that was not measured."""
        return faint_lines(scene, self.theme, [self.known(path) for path in paths])

    def second(self, path: Path) -> str | None:
        """Return time and memory; the inner colouring's line if not measured."""
        return self.stats.format_time_and_memory(path) or self.inner.second(path)

    def account(self, path: Path) -> str:
        """Return the text of the inner colouring, then minimum, median and maximum over several steps."""
        spread = self.stats.spread(path)
        return " · ".join(filter(None, (self.inner.account(path), spread)))

    def legend(self, shown: Sequence[Path]) -> list[LegendRow]:
        """Return the inner colouring's rows, then the meaning of hatching."""
        rows = self.inner.legend(shown)
        unknown = next((path for path in shown if not self.known(path)), None)
        if unknown is None:
            return rows
        return [*rows, LegendRow("not measured", unmeasured(self.hierarchy, self.theme, unknown[-1]))]


def with_stats(inner: Colouring, stats: Stats | None) -> WithStats:
    """Make the colouring of `--stats`. Raises MissingFacts without statistics."""
    words = inner.scheme, inner.heading
    return WithStats(inner.hierarchy, inner.theme, *words, inner, needed(stats, "--stats"))
