"""What the rasteriser's time depends on: the sheet, how long all lines are, how much is filled, texts, other shapes."""

from __future__ import annotations

from collections import Counter
from math import hypot, inf, sqrt

from graphviz_tb.model.drawing import Curve, Disc, Drawing, Hatch, Label, Rect, Shape, Step
from graphviz_tb.model.frozen import dataclass

# What is done in the time in which one pixel of a line is drawn, 0.6 µs (measured with resvg 0.45).
FILLED = 1000  # pixels are filled
PIXELS = 8  # of the sheet are made, and written
TEXT = 400  # such times for a text of a dozen letters
MOST_TEXTS = 25_000  # that are drawn: as long as 10 million pixels of lines
MOST_SHAPES = 300_000  # besides texts: a small one takes some 20 µs and 2 kB


@dataclass(frozen=True, slots=True)
class Ink:
    """The sheet of a drawing, how long its lines and outlines are together, what its shapes fill, one over the other.

    In the units of the drawing, and in squares of them; `texts` are sizes, and how many texts have each, `shapes` areas
    that are covered, and how many other shapes cover each.
    """

    width: int
    height: int
    lines: float = 0
    filled: float = 0
    texts: tuple[tuple[int, int], ...] = ()
    shapes: tuple[tuple[int, int], ...] = ()

    def at(self, zoom: float) -> float:
        """The work to draw it so large, in pixels of lines.

        >>> Ink(80, 1, 100, 4000, ((12, 1),)).at(2), Ink(80, 1, 100, 4000, ((12, 1),)).at(0)
        (656.0, 0.0)
        """
        return self.lines * zoom + self._square() * zoom * zoom + self._letters(zoom)

    def zoom(self, work: float, most: float) -> float:
        """The largest scale, up to `most`, at which it is surely no more work: as many texts as at `most` are counted.

        >>> Ink(80, 1, 100, 4000).zoom(256, 9), Ink(80, 1, 100, 4000, ((12, 1),)).zoom(656, 9)
        (2.0, 2.0)
        """
        if self.at(most) <= work:
            return most
        left, square = work - self._letters(most), self._square()
        # square · zoom² + lines · zoom = left
        return (sqrt(self.lines * self.lines + 4 * square * left) - self.lines) / (2 * square)

    def least(self, zoom: float) -> float:
        """The size of the smallest texts that are drawn: a pixel high, and with those that are larger not too many.

        >>> Ink(1, 1, texts=((12, 5), (10, MOST_TEXTS))).least(2), Ink(1, 1, texts=((12, 5), (10, 1))).least(0.09)
        (12, 12)
        """
        count, least = 0, inf
        for size, many in sorted(self.texts, reverse=True):
            count += many
            if size * zoom < 1 or count > MOST_TEXTS:
                break
            least = size
        return least

    def smallest(self) -> int:
        """The area that the smallest shapes that are drawn cover: with those that are larger they are not too many.

        The largest are always drawn.

        >>> Ink(1, 1, shapes=((9, MOST_SHAPES), (50, 5), (80, 1))).smallest(), Ink(1, 1, shapes=((9, 5),)).smallest()
        (50, 0)
        """
        if sum(many for _, many in self.shapes) <= MOST_SHAPES:
            return 0
        (least, count), *others = sorted(self.shapes, reverse=True)
        for area, many in others:
            count += many
            if count > MOST_SHAPES:
                break
            least = area
        return least

    def _letters(self, zoom: float) -> float:
        least = self.least(zoom)
        return TEXT * float(sum(many for size, many in self.texts if size >= least))

    def _square(self) -> float:
        return self.filled / FILLED + self.width * self.height / PIXELS


def ink_of(drawing: Drawing) -> Ink:
    """The ink of everything on the sheet."""
    lines: float = 0
    filled: float = 0
    texts: Counter[int] = Counter()
    areas: Counter[int] = Counter()
    for shape in drawing.shapes():
        if isinstance(shape, Label):
            texts[shape.size] += 1
            continue
        line, fill = part_of(shape)
        lines, filled = lines + line, filled + fill
        areas[int(area(shape, line, fill))] += 1
    return Ink(drawing.width, drawing.height, lines, filled, tuple(sorted(texts.items())), tuple(sorted(areas.items())))


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
    return area(shape, *part_of(shape))


def area(shape: Shape, lines: float, filled: float) -> float:
    """About the area that a shape covers whose lines are so long, and that fills so much."""
    if isinstance(shape, Hatch):
        return shape.width * shape.height
    pen = None if isinstance(shape, Label) else shape.pen
    return filled + lines * pen.width if pen else filled


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
