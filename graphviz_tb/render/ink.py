"""What the rasteriser's time depends on: how long all lines of a drawing are, and how much of the plane is filled."""

from __future__ import annotations

from math import hypot, sqrt

from graphviz_tb.model.drawing import Curve, Disc, Drawing, Hatch, Rect, Shape, Step
from graphviz_tb.model.frozen import dataclass

FILLED = 1000  # pixels are filled in the time in which one pixel of a line is drawn (measured with resvg 0.45)


@dataclass(frozen=True, slots=True)
class Ink:
    """How long the lines and outlines of a drawing are together, and what its shapes fill, one over the other.

    In the units of the drawing, and in squares of them.
    """

    lines: float = 0
    filled: float = 0

    def at(self, zoom: float) -> float:
        """The work to draw it so large, in pixels of lines.

        >>> Ink(100, 4000).at(2)
        216.0
        """
        return self.lines * zoom + self.filled * zoom * zoom / FILLED

    def zoom(self, work: float) -> float:
        """The largest scale at which it is no more work.

        >>> Ink(100, 4000).zoom(216)
        2.0
        """
        if not self.filled:
            return work / self.lines if self.lines else float("inf")
        square = self.filled / FILLED
        # square · zoom² + lines · zoom = work
        return (sqrt(self.lines * self.lines + 4 * square * work) - self.lines) / (2 * square)


def ink_of(drawing: Drawing) -> Ink:
    """The ink of everything on the sheet but its letters and its ground."""
    parts = [part_of(shape) for shape in drawing.shapes()]
    return Ink(sum(lines for lines, _ in parts), sum(filled for _, filled in parts))


def part_of(shape: Shape) -> tuple[float, float]:
    """How long the lines of a shape are, and how much it fills: an outline of lines fills as much as its extent.

    >>> part_of(Rect(0, 0, 30, 10, fill="#FFFFFF"))
    (0, 300)
    """
    match shape:
        case Rect(width=width, height=height, fill=fill, pen=pen):
            # Rounded corners make little difference.
            return 2 * (width + height) if pen else 0, width * height if fill else 0
        case Disc(radius=radius, pen=pen):
            return 2 * 3.14 * radius if pen else 0, 3.14 * radius * radius
        case Curve(steps, fill, pen, _, scale):
            return scale * length(steps) if pen else 0, scale * scale * extent(steps) if fill else 0
        case _:
            return 0, 0


def covered(shape: Shape) -> float:
    """About the area that a shape covers, in squares of the drawing's unit, its outline included.

    >>> covered(Rect(0, 0, 30, 10, fill="#FFFFFF"))
    300
    """
    if isinstance(shape, Hatch):
        return shape.width * shape.height
    lines, filled = part_of(shape)
    pen = shape.pen if isinstance(shape, Rect | Disc | Curve) else None
    return filled + lines * (pen.width if pen else 0)


def length(steps: tuple[Step, ...]) -> float:
    """About how long an outline is: its curves count as straight.

    >>> length((("M", (0, 0)), ("L", (3, 4)), ("H", (10,)), ("M", (50, 50)), ("V", (40,))))
    22.0
    """
    total = x = y = 0.0
    for kind, to_x, to_y in ends(steps):
        if kind != "M":
            total += hypot(to_x - x, to_y - y)
        x, y = to_x, to_y
    return total


def extent(steps: tuple[Step, ...]) -> float:
    """The area of the rectangle that holds an outline.

    >>> extent((("M", (0, 0)), ("L", (3, 4)), ("H", (10,)), ("Z", ())))
    40
    """
    places = ends(steps)
    if not places:
        return 0.0
    across, down = [x for _, x, _ in places], [y for _, _, y in places]
    return (max(across) - min(across)) * (max(down) - min(down))


def ends(steps: tuple[Step, ...]) -> list[tuple[str, float, float]]:
    """The steps that move, and where each ends."""
    found: list[tuple[str, float, float]] = []
    x = y = 0.0
    for kind, numbers in steps:
        if numbers:
            x, y = (x if kind == "V" else numbers[0] if kind == "H" else numbers[-2]), y if kind == "H" else numbers[-1]
            found.append((kind, x, y))
    return found
