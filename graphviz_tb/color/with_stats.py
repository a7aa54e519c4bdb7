"""Any colouring with run statistics: time and memory on the second line, what was not measured hatched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphviz_tb.color.measured import faint, needed, unmeasured
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paint import Fill, LegendRow, Painter, Tint
from graphviz_tb.model.paths import Path
from graphviz_tb.model.scene import Route, Scene
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.theme import Theme


@dataclass(frozen=True)
class WithStats:
    """`painter`, but for boxes that were not measured. `places` are the paths of what is shown, by address."""

    hierarchy: Hierarchy
    painter: Painter
    stats: Stats
    places: Mapping[str, Path] = field(default_factory=dict, repr=False)
    _known: dict[Path, bool] = field(default_factory=dict, repr=False, compare=False)

    @property
    def scheme(self) -> str:
        """The word of the colouring."""
        return self.painter.scheme

    @property
    def theme(self) -> Theme:
        """The theme it is made for."""
        return self.painter.theme

    def over(self, closed: Sequence[Path], places: Mapping[str, Path]) -> WithStats:
        """The same for one picture."""
        return replace(self, places=places)

    def known(self, path: Path) -> bool:
        """Whether anything was measured at `path`."""
        found = self._known.get(path)
        if found is None:
            found = self._known[path] = self.stats.at(path).known
        return found

    def fill(self, row: int) -> Fill:
        """The colour of a row, all places together."""
        return self.fill_at((row,))

    def fill_box(self, row: int, address: str) -> Fill:
        """The colour of a box."""
        return self.fill_at(self.places.get(address, (row,)))

    def fill_at(self, path: Path) -> Fill:
        """The colouring's own fill, or the hatch."""
        return self.painter.fill(path[-1]) if self.known(path) else unmeasured(self.hierarchy, self.theme, path[-1])

    def tint(self, scene: Scene, route: Route) -> Tint | None:
        """A fainter colour for an edge one of whose ends was not measured."""
        boxes = [scene.boxes[end] for end in (route.source, route.target) if end >= 0]
        known = all(self.known(self.places.get(box.address, (box.row,))) for box in boxes)
        return None if known else Tint(faint(route, self.theme))

    def second(self, row: int) -> str | None:
        """Time and memory; the colouring's own line where nothing was measured."""
        return self.second_at((row,))

    def second_at(self, path: Path) -> str | None:
        """Time and memory of the node at `path`."""
        return self.stats.told(path) or self.painter.second(path[-1])

    def legend(self, rows: Sequence[int]) -> list[LegendRow]:
        """The colouring's own rows, then what hatching means."""
        told = self.painter.legend(rows)
        paths = list(self.places.values()) or [(row,) for row in rows]
        unknown = next((path for path in paths if not self.known(path)), None)
        if unknown is None:
            return told
        return [*told, LegendRow("not measured", unmeasured(self.hierarchy, self.theme, unknown[-1]))]


def with_stats(hierarchy: Hierarchy, painter: Painter, stats: Stats | None) -> WithStats:
    """The colouring that `--stats` makes of another; `MissingFacts` without statistics."""
    return WithStats(hierarchy, painter, needed(stats, "--stats"))
