"""Estimate the rasteriser's time from the sheet, the length of all lines, the filled area, the texts and the other
shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import hypot, inf

from graphviz_tb.limits import PNG_HALVINGS, PNG_STEPS, PNG_TEXTS
from graphviz_tb.model.drawing import Curve, Disc, Drawing, Hatch, Label, PathStep, Primitive, Rectangle
from graphviz_tb.model.frozen import dataclass

# Times in units of one pixel of a horizontal line, 0.6 µs (measured with resvg 0.45: pictures of 3,000 to 5,000 nodes
# took 6 to 13 % less than this estimate, unusual drawings half to one and a half of it).
DOWN = 2  # a pixel of a vertical line
SLANTING = 2.5  # a pixel of any other line, curve or arc
STEP = 20  # a step of an outline, in addition to its length
CORNERS = 4  # steps of a rectangle, a circle, a hatch
TEXT = 360  # a text of a dozen letters
# Done in one such unit.
FILLED = 1000  # filled pixels
PIXELS = 6  # pixels of the sheet that are created and written


@dataclass(frozen=True, slots=True)
class Ink:
    """The sheet of a drawing, the total length of its lines and outlines, and the filled area, overlaps counted.

    In units of the drawing and their squares; a vertical unit counts as `DOWN`, a slanted or curved one as `SLANTING`.
    `texts` are (size, number of texts); `shapes` are (covered area, number of other shapes of that area, their steps).
    """

    width: int
    height: int
    lines: float = 0
    filled: float = 0
    texts: tuple[tuple[int, int], ...] = ()
    shapes: tuple[tuple[int, int, int], ...] = ()

    def at(self, zoom: float) -> float:
        """Return the work of drawing it at a scale, in pixels of lines.

        >>> Ink(60, 1, 100, 4000, ((12, 1),)).at(2), Ink(60, 1, 100, 4000, ((12, 1),), ((9, 1, 3),)).at(0)
        (616.0, 60.0)
        """
        return self._growing(zoom) + self._steps()

    def zoom(self, work: float, most: float) -> float:
        """Return the largest scale, up to `most`, with at most that work; 0 if every scale needs more.

        >>> round(Ink(60, 1, 100, 4000).zoom(256, 9), 6), Ink(60, 1, 100, 4000, ((12, 1),)).zoom(616, 2)
        (2.0, 2)
        >>> Ink(60, 1, shapes=((9, 1, 3),)).zoom(10, 2)
        0
        """
        if self.at(most) <= work:
            return most
        below: float = 0
        work -= self._steps()
        for _ in range(PNG_HALVINGS):  # work grows with the scale, in steps where names become large enough to be drawn
            middle = (below + most) / 2
            if self._growing(middle) <= work:
                below = middle
            else:
                most = middle
        return below

    def least(self, zoom: float) -> float:
        """Return the size of the smallest texts that are drawn: at least a pixel high, and not too many with the larger
        ones.

        >>> Ink(1, 1, texts=((12, 5), (10, PNG_TEXTS))).least(2), Ink(1, 1, texts=((12, 5), (10, 1))).least(0.09)
        (12, 12)
        """
        count, least = 0, inf
        for size, many in sorted(self.texts, reverse=True):
            count += many
            if size * zoom < 1 or count > PNG_TEXTS:
                break
            least = size
        return least

    def smallest(self) -> int:
        """Return the area of the smallest shapes that are drawn, so that there are not too many steps. The largest are
        always drawn.

        >>> Ink(1, 1, shapes=((9, 5, 5),)).smallest(), Ink(1, 1, shapes=((9, 1, PNG_STEPS), (50, 5, 5))).smallest()
        (0, 50)
        """
        if sum(steps for _, _, steps in self.shapes) <= PNG_STEPS:
            return 0
        (least, _, count), *others = sorted(self.shapes, reverse=True)
        for area, _, steps in others:
            count += steps
            if count > PNG_STEPS:
                break
            least = area
        return least

    def _growing(self, zoom: float) -> float:
        square, least = self.filled / FILLED + self.width * self.height / PIXELS, self.least(zoom)
        texts = sum(many for size, many in self.texts if size >= least)
        return self.lines * zoom + square * zoom * zoom + TEXT * texts

    def _steps(self) -> float:
        smallest = self.smallest()
        return float(STEP * sum(steps for area, _, steps in self.shapes if area >= smallest))


def ink_of(drawing: Drawing) -> Ink:
    """Return the work of everything on the sheet."""
    lines: float = 0
    filled: float = 0
    texts: Counter[int] = Counter()
    many: Counter[int] = Counter()
    steps: Counter[int] = Counter()
    for shape in drawing.shapes():
        if isinstance(shape, Label):
            texts[shape.size] += 1
            continue
        line, fill = part_of(shape)
        lines, filled = lines + stroke(shape), filled + fill
        covers = int(area(shape, line, fill))
        many[covers] += 1
        steps[covers] += len(shape.steps) if isinstance(shape, Curve) else CORNERS
    shapes = tuple((covers, count, steps[covers]) for covers, count in sorted(many.items()))
    return Ink(drawing.width, drawing.height, lines, filled, tuple(sorted(texts.items())), shapes)


def part_of(shape: Primitive) -> tuple[float, float]:
    """Return the length of a shape's lines and its filled area; an outline of lines fills its bounding box.

    >>> part_of(Rectangle(0, 0, 30, 10, fill="#FFFFFF"))
    (0, 300)
    """
    match shape:
        case Rectangle(width=width, height=height, fill=fill, pen=pen):
            # Rounded corners make little difference.
            return 2 * (width + height) if pen else 0, width * height if fill else 0
        case Disc(radius=radius, pen=pen):
            return 2 * 3.14 * radius if pen else 0, 3.14 * radius * radius
        case Curve(steps, fill, pen, _, scale):
            return scale * length(steps) if pen else 0, scale * scale * bounds_area(steps) if fill else 0
        case _:
            return 0, 0


def stroke(shape: Primitive) -> float:
    """Return the lines of a shape as `Ink` counts them.

    >>> from graphviz_tb.model.drawing import Pen
    >>> stroke(Rectangle(0, 0, 30, 10, pen=Pen("#000000"))), stroke(Rectangle(0, 0, 30, 10, fill="#FFFFFF"))
    (100, 0)
    """
    if isinstance(shape, Hatch | Label) or not shape.pen:
        return 0
    match shape:
        case Rectangle(width=width, height=height):
            return 2 * (width + DOWN * height)
        case Disc(radius=radius):
            return SLANTING * 2 * 3.14 * radius
        case Curve(steps=steps, scale=scale):
            return scale * sum(
                SLANTING * hypot(x, y) if kind in "QCA" or (x and y) else abs(x) + DOWN * abs(y)
                for kind, x, y in moves(steps)
            )


def covered(shape: Primitive) -> float:
    """Return the approximate area of a shape, including its outline, in squares of the drawing's unit.

    >>> covered(Rectangle(0, 0, 30, 10, fill="#FFFFFF"))
    300
    """
    return area(shape, *part_of(shape))


def area(shape: Primitive, lines: float, filled: float) -> float:
    """Return the approximate area of a shape with lines of that length and that filled area."""
    if isinstance(shape, Hatch):
        return shape.width * shape.height
    pen = None if isinstance(shape, Label) else shape.pen
    return filled + lines * pen.width if pen else filled


def length(steps: tuple[PathStep, ...]) -> float:
    """Return the approximate length of an outline; curves count as straight.

    >>> length((("M", (0, 0)), ("L", (3, 4)), ("H", (10,)), ("M", (50, 50)), ("V", (40,))))
    22.0
    """
    return sum(hypot(x, y) for _, x, y in moves(steps))


def bounds_area(steps: tuple[PathStep, ...]) -> float:
    """Return the area of an outline's bounding box.

    >>> bounds_area((("M", (0, 0)), ("L", (3, 4)), ("H", (10,)), ("Z", ())))
    40
    """
    places = step_ends(steps)
    if not places:
        return 0.0
    across, down = [x for _, x, _ in places], [y for _, _, y in places]
    return (max(across) - min(across)) * (max(down) - min(down))


def step_ends(steps: tuple[PathStep, ...]) -> list[tuple[str, float, float]]:
    """Return the steps that move, and where each ends."""
    found: list[tuple[str, float, float]] = []
    x = y = 0.0
    for kind, numbers in steps:
        if numbers:
            x, y = (x if kind == "V" else numbers[0] if kind == "H" else numbers[-2]), y if kind == "H" else numbers[-1]
            found.append((kind, x, y))
    return found


def moves(steps: tuple[PathStep, ...]) -> Iterator[tuple[str, float, float]]:
    """Yield the steps that draw, and how far each leads.

    >>> list(moves((("M", (10, 0)), ("L", (13, 4)), ("V", (0,)), ("Z", ()))))
    [('L', 3, 4), ('V', 0, -4)]
    """
    for (_, from_x, from_y), (kind, x, y) in pairwise(step_ends(steps)):
        if kind != "M":
            yield kind, x - from_x, y - from_y
