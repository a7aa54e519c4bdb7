"""Estimate the rasteriser's time from the size of the sheet, the length of lines, the filled area, the texts and other
shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import hypot, inf

from graphviz_tb.limits import MAX_PNG_HALVINGS, MAX_PNG_STEPS, MAX_PNG_TEXTS
from graphviz_tb.model.drawing import Curve, Disc, Drawing, Hatch, Label, PathStep, Primitive, Rectangle
from graphviz_tb.model.frozen import dataclass

# Times in units of one pixel of a horizontal line, 0.6 µs (measured with resvg 0.45: pictures of 3,000 to 5,000 nodes
# took 6 to 13 % less than this estimate, unusual drawings half to one and a half of it).
VERTICAL_COST = 2  # a pixel of a vertical line
SLANTED_COST = 2.5  # a pixel of any other line, curve or arc
OUTLINE_STEP_COST = 20  # a step of an outline, in addition to its length
SIMPLE_SHAPE_STEPS = 4  # steps of a rectangle, a circle, a hatch
TEXT_COST = 360  # a text of a dozen letters
# Numbers of pixels that take one unit of time.
FILLED_PIXELS = 1000  # filled pixels
SHEET_PIXELS = 6  # pixels of the sheet that are created and written


@dataclass(frozen=True, slots=True)
class RasterWork:
    """The sheet of a drawing, the total length of its lines and outlines, and the filled area, including overlaps.

    In units of the drawing and their squares; a vertical unit counts as `VERTICAL_COST`, a slanted or curved one as
    `SLANTED_COST`.
    `texts` are (size, number of texts); `shapes` are (covered area, number of other shapes of that area, their steps).
    """

    width: int
    height: int
    lines: float = 0
    filled: float = 0
    texts: tuple[tuple[int, int], ...] = ()
    shapes: tuple[tuple[int, int, int], ...] = ()

    def work_at(self, zoom: float) -> float:
        """Return the work of drawing it at a scale, in pixels of lines.

        >>> (
        ...     RasterWork(60, 1, 100, 4000, ((12, 1),)).work_at(2),
        ...     RasterWork(60, 1, 100, 4000, ((12, 1),), ((9, 1, 3),)).work_at(0),
        ... )
        (616.0, 60.0)
        """
        return self._scaled_work(zoom) + self._fixed_work()

    def zoom_within(self, work: float, most: float) -> float:
        """Return the largest scale, up to `most`, that needs at most this work; 0 if every scale needs more.

        >>> (
        ...     round(RasterWork(60, 1, 100, 4000).zoom_within(256, 9), 6),
        ...     RasterWork(60, 1, 100, 4000, ((12, 1),)).zoom_within(616, 2),
        ... )
        (2.0, 2)
        >>> RasterWork(60, 1, shapes=((9, 1, 3),)).zoom_within(10, 2)
        0
        """
        if self.work_at(most) <= work:
            return most
        fitting: float = 0
        work -= self._fixed_work()
        # Work increases with the scale, with jumps where names become large enough to be drawn.
        for _ in range(MAX_PNG_HALVINGS):
            middle = (fitting + most) / 2
            if self._scaled_work(middle) <= work:
                fitting = middle
            else:
                most = middle
        return fitting

    def min_text_size(self, zoom: float) -> float:
        """Return the size of the smallest texts that are drawn, at least a pixel high, such that they are not too many.

        >>> (
        ...     RasterWork(1, 1, texts=((12, 5), (10, MAX_PNG_TEXTS))).min_text_size(2),
        ...     RasterWork(1, 1, texts=((12, 5), (10, 1))).min_text_size(0.09),
        ... )
        (12, 12)
        """
        count, least = 0, inf
        for size, texts in sorted(self.texts, reverse=True):
            count += texts
            if size * zoom < 1 or count > MAX_PNG_TEXTS:
                break
            least = size
        return least

    def min_shape_area(self) -> int:
        """Return the area of the smallest shapes that are drawn, such that there are not too many steps; the largest
        are always drawn.

        >>> (
        ...     RasterWork(1, 1, shapes=((9, 5, 5),)).min_shape_area(),
        ...     RasterWork(1, 1, shapes=((9, 1, MAX_PNG_STEPS), (50, 5, 5))).min_shape_area(),
        ... )
        (0, 50)
        """
        if sum(steps for _, _, steps in self.shapes) <= MAX_PNG_STEPS:
            return 0
        (least, _, count), *others = sorted(self.shapes, reverse=True)
        for area, _, steps in others:
            count += steps
            if count > MAX_PNG_STEPS:
                break
            least = area
        return least

    def _scaled_work(self, zoom: float) -> float:
        square, least = self.filled / FILLED_PIXELS + self.width * self.height / SHEET_PIXELS, self.min_text_size(zoom)
        texts = sum(many for size, many in self.texts if size >= least)
        return self.lines * zoom + square * zoom * zoom + TEXT_COST * texts

    def _fixed_work(self) -> float:
        smallest = self.min_shape_area()
        return float(OUTLINE_STEP_COST * sum(steps for area, _, steps in self.shapes if area >= smallest))


def raster_work(drawing: Drawing) -> RasterWork:
    """Return the work of everything on the sheet."""
    lines: float = 0
    filled: float = 0
    texts: Counter[int] = Counter()  # by size
    shapes: Counter[int] = Counter()  # by covered area
    steps: Counter[int] = Counter()
    for shape in drawing.shapes():
        if isinstance(shape, Label):
            texts[shape.size] += 1
            continue
        line, fill = _lines_and_fill(shape)
        lines, filled = lines + _stroke_work(shape), filled + fill
        area = int(_area_with_lines(shape, line, fill))
        shapes[area] += 1
        steps[area] += len(shape.steps) if isinstance(shape, Curve) else SIMPLE_SHAPE_STEPS
    by_area = tuple((area, count, steps[area]) for area, count in sorted(shapes.items()))
    return RasterWork(drawing.width, drawing.height, lines, filled, tuple(sorted(texts.items())), by_area)


def _lines_and_fill(shape: Primitive) -> tuple[float, float]:
    """Return the length of a shape's lines and its filled area; an outline of lines fills its bounding box.

    >>> _lines_and_fill(Rectangle(0, 0, 30, 10, fill="#FFFFFF"))
    (0, 300)
    """
    match shape:
        case Rectangle(width=width, height=height, fill=fill, pen=pen):
            # Rounded corners make little difference.
            return 2 * (width + height) if pen else 0, width * height if fill else 0
        case Disc(radius=radius, pen=pen):
            return 2 * 3.14 * radius if pen else 0, 3.14 * radius * radius
        case Curve(steps, fill, pen, _, scale):
            return scale * _outline_length(steps) if pen else 0, scale * scale * _outline_bounds_area(
                steps
            ) if fill else 0
        case _:
            return 0, 0


def _stroke_work(shape: Primitive) -> float:
    """Return the lines of a shape as `RasterWork` counts them.

    >>> from graphviz_tb.model.drawing import Pen
    >>> _stroke_work(Rectangle(0, 0, 30, 10, pen=Pen("#000000"))), _stroke_work(Rectangle(0, 0, 30, 10, fill="#FFFFFF"))
    (100, 0)
    """
    if isinstance(shape, Hatch | Label) or not shape.pen:
        return 0
    match shape:
        case Rectangle(width=width, height=height):
            return 2 * (width + VERTICAL_COST * height)
        case Disc(radius=radius):
            return SLANTED_COST * 2 * 3.14 * radius
        case Curve(steps=steps, scale=scale):
            return scale * sum(
                SLANTED_COST * hypot(x, y) if kind in "QCA" or (x and y) else abs(x) + VERTICAL_COST * abs(y)
                for kind, x, y in _drawing_moves(steps)
            )


def covered_area(shape: Primitive) -> float:
    """Return the approximate area of a shape, including its outline, in squares of the drawing's unit.

    >>> covered_area(Rectangle(0, 0, 30, 10, fill="#FFFFFF"))
    300
    """
    return _area_with_lines(shape, *_lines_and_fill(shape))


def _area_with_lines(shape: Primitive, lines: float, filled: float) -> float:
    """Return the approximate area of a shape with lines of that length and that filled area."""
    if isinstance(shape, Hatch):
        return shape.width * shape.height
    pen = None if isinstance(shape, Label) else shape.pen
    return filled + lines * pen.width if pen else filled


def _outline_length(steps: tuple[PathStep, ...]) -> float:
    """Return the approximate length of an outline; curves count as straight.

    >>> _outline_length((("M", (0, 0)), ("L", (3, 4)), ("H", (10,)), ("M", (50, 50)), ("V", (40,))))
    22.0
    """
    return sum(hypot(x, y) for _, x, y in _drawing_moves(steps))


def _outline_bounds_area(steps: tuple[PathStep, ...]) -> float:
    """Return the area of an outline's bounding box.

    >>> _outline_bounds_area((("M", (0, 0)), ("L", (3, 4)), ("H", (10,)), ("Z", ())))
    40
    """
    places = step_ends(steps)
    if not places:
        return 0.0
    across, down = [x for _, x, _ in places], [y for _, _, y in places]
    return (max(across) - min(across)) * (max(down) - min(down))


def step_ends(steps: tuple[PathStep, ...]) -> list[tuple[str, float, float]]:
    """Return the steps of an outline that move, each with its end."""
    found: list[tuple[str, float, float]] = []
    x = y = 0.0
    for kind, numbers in steps:
        if numbers:
            x, y = (x if kind == "V" else numbers[0] if kind == "H" else numbers[-2]), y if kind == "H" else numbers[-1]
            found.append((kind, x, y))
    return found


def _drawing_moves(steps: tuple[PathStep, ...]) -> Iterator[tuple[str, float, float]]:
    """Yield the steps of an outline that draw, each with its distances in x and y.

    >>> list(_drawing_moves((("M", (10, 0)), ("L", (13, 4)), ("V", (0,)), ("Z", ()))))
    [('L', 3, 4), ('V', 0, -4)]
    """
    for (_, from_x, from_y), (kind, x, y) in pairwise(step_ends(steps)):
        if kind != "M":
            yield kind, x - from_x, y - from_y
