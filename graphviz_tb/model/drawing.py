"""A finished picture as flat primitives: composed once by `render`, written by the SVG, PDF, PNG and page writers.

Lengths are in pixels, x to the right, y down; colours are `#RRGGBB`. Writers make no
decisions: they know no graph, no theme and no style options.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from graphviz_tb.model.frozen import dataclass

DrawingPoint = tuple[float, float]
# One step of an outline, as SVG names them: M start, L line, H and V line to an x or a y, Q and C curve (one or two
# control points, its end), Z close; but A is a quarter of a circle, turned clockwise (its radius, its end).
PathStep = tuple[Literal["M", "L", "H", "V", "Q", "C", "A", "Z"], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Pen:
    """The stroke of an outline. `dashes` are lengths of strokes and gaps, empty for a solid line."""

    colour: str
    width: float = 1
    dashes: tuple[float, ...] = ()
    cap: Literal["butt", "round"] = "butt"
    join: Literal["miter", "round"] = "miter"


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle, its corners rounded by `radius`; `fill` None leaves it empty."""

    x: float
    y: float
    width: float
    height: float
    radius: float = 0
    fill: str | None = None
    pen: Pen | None = None


@dataclass(frozen=True, slots=True)
class Hatch:
    """Slanting lines in `colour`, drawn faintly, in a rounded rectangle."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    colour: str


@dataclass(frozen=True, slots=True)
class Disc:
    """A circle around `x`, `y`."""

    x: float
    y: float
    radius: float
    fill: str
    pen: Pen | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """An outline of lines, curves and quarter circles; its steps are drawn at `at`, `scale` times as large."""

    steps: tuple[PathStep, ...]
    fill: str | None = None
    pen: Pen | None = None
    at: DrawingPoint = (0, 0)
    scale: float = 1


@dataclass(frozen=True, slots=True)
class Label:
    """One line of text. `x` is the position of the `anchor`, `y` the baseline, `width` the measured width, which
    writers enforce.

    `halo` is the colour around the letters, None for none.
    """

    content: str
    x: float
    y: float
    size: int
    width: int
    colour: str
    anchor: Literal["start", "middle", "end"] = "start"
    semibold: bool = False
    halo: str | None = None


Primitive = Rectangle | Hatch | Disc | Curve | Label


@dataclass(frozen=True, slots=True)
class Group:
    """Shapes that belong together, drawn in order, their origin at `at`.

    `address` is that of the box they represent (None for other things), `tooltip` its full description ("" for none),
    `data` further machine-readable words by name.
    """

    shapes: tuple[Primitive, ...]
    address: str | None = None
    tooltip: str = ""
    data: tuple[tuple[str, str], ...] = ()
    at: DrawingPoint = (0, 0)


@dataclass(frozen=True, slots=True)
class Section:
    """The title row, the graph itself, or the legend, its origin at `at`; `groups` in drawing order."""

    name: Literal["title", "graph", "legend"]
    at: DrawingPoint
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A whole sheet. `title` and `summary` describe it in words; `ground` is the background colour; `points` is the
    size of a unit in print (0: a pixel)."""

    width: int
    height: int
    title: str
    summary: str
    ground: str
    parts: tuple[Section, ...]
    points: float = 0

    def shapes(self) -> tuple[Primitive, ...]:
        """Return every primitive in drawing order, in the coordinates of its group."""
        return tuple(shape for part in self.parts for group in part.groups for shape in group.shapes)

    def replace_shapes(self, change: Callable[[Primitive], tuple[Primitive, ...]]) -> Drawing:
        """Return a copy in which `change` replaces each primitive by any number of primitives."""
        parts = []
        for part in self.parts:
            groups = []
            for group in part.groups:
                kept = tuple(after for shape in group.shapes for after in change(shape))
                groups.append(replace(group, shapes=kept))
            parts.append(replace(part, groups=tuple(groups)))
        return replace(self, parts=tuple(parts))
