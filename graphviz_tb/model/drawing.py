"""A finished picture as flat primitives: what `render` composes once, and SVG, PDF, PNG and the page write.

Lengths are in pixels, x to the right, y down; colours are `#RRGGBB`. A writer decides nothing: it knows no graph, no
theme and no option of looks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from graphviz_tb.model.frozen import dataclass

Position = tuple[float, float]
# One step of an outline, as SVG names them: M start, L line, H and V line to an x or a y, Q and C curve (one or two
# control points, its end), Z close; but A is a quarter of a circle, turned clockwise (its radius, its end).
PathStep = tuple[Literal["M", "L", "H", "V", "Q", "C", "A", "Z"], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Pen:
    """How an outline is stroked. `dashes` are lengths of strokes and gaps, empty where it is solid."""

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
    """Slanting lines in `colour`, fainter than it, within a rounded rectangle."""

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
    at: Position = (0, 0)
    scale: float = 1


@dataclass(frozen=True, slots=True)
class Label:
    """One line of text: `x` is where `anchor` says, `y` the baseline, `width` what it measures and is held to.

    `halo` is the colour around its letters, None for none.
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

    What they represent: `address` of a box (None for other things), `tooltip` the full account of it ("" for none),
    `data` further words for machines, by name.
    """

    shapes: tuple[Primitive, ...]
    address: str | None = None
    tooltip: str = ""
    data: tuple[tuple[str, str], ...] = ()
    at: Position = (0, 0)


@dataclass(frozen=True, slots=True)
class Section:
    """The title row, the graph itself, or the legend, its origin at `at`; `groups` in drawing order."""

    name: Literal["title", "graph", "legend"]
    at: Position
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A whole sheet. `title` and `summary` say in words what it shows; `ground` is the colour behind everything."""

    width: int
    height: int
    title: str
    summary: str
    ground: str
    parts: tuple[Section, ...]

    def shapes(self) -> tuple[Primitive, ...]:
        """Every primitive, in drawing order, each in the coordinates of its group."""
        return tuple(shape for part in self.parts for group in part.groups for shape in group.shapes)

    def mapped(self, change: Callable[[Primitive], tuple[Primitive, ...]]) -> Drawing:
        """Return a copy in which each primitive is replaced by others, or by none."""
        parts = []
        for part in self.parts:
            groups = []
            for group in part.groups:
                kept = tuple(after for shape in group.shapes for after in change(shape))
                groups.append(replace(group, shapes=kept))
            parts.append(replace(part, groups=tuple(groups)))
        return replace(self, parts=tuple(parts))
