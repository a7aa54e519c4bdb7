"""Draw nodes: closed boxes, stacks, open frames, the +/− mark, and the stubs next to a box."""

from __future__ import annotations

from graphviz_tb.model.drawing import Curve, Disc, Hatch, PathStep, Pen, Primitive, Rectangle
from graphviz_tb.model.paint import Fill, Tint
from graphviz_tb.model.scene import Box, Stub
from graphviz_tb.model.theme import Theme
from graphviz_tb.render.lines import head, rounded, shortened
from graphviz_tb.render.signs import bead, disc, outline

# px, see docs/visual.md: corners; sheets of a stack; the folded corner; the bar of several colours, and the minimum
# height of one of them.
CORNER = 6
SHEET = 4
EAR = 8
BAND_WIDTH = 8
BAND_LEAST = 4
FRAME_DASHES, STUB_DASHES, CONTROL_DASHES = (4, 3), (2, 2), (2, 2)  # short lines need short dashes
STUB_LINE, STUB_TINTED = 0.8, 1.5  # px: thinner than any edge; thicker if it has a colour


def is_pill(box: Box) -> bool:
    """Return whether the outline is that of an op."""
    kind = box.member if box.kind in ("series", "fold") else box.kind
    return kind in ("op", "call")


def front(box: Box) -> tuple[int, int, int, int]:
    """Return x, y, width and height of the front sheet."""
    if not box.sheets:
        return box.x, box.y, box.width, box.height
    away = SHEET * box.sheets
    if box.connected:
        return box.x, box.y + away, box.width, box.height - away
    return box.x, box.y, box.width - away, box.height


def closed_box(box: Box, fill: Fill, theme: Theme) -> list[Primitive]:
    """Draw the outline of a closed box, its stack and its mark; several colours are a bar at its left, clear of
    texts."""
    x, y, width, height = front(box)
    radius = min(12, height // 2) if is_pill(box) else 2 if box.kind == "function" else CORNER
    border = None if fill.sign else Pen(fill.stroke)  # a diff sign draws the outline itself
    ground = theme.neutral if fill.bands else fill.fill
    shapes: list[Primitive] = [*sheets(box, radius, ground, Pen(fill.stroke))]
    if box.kind == "fold":
        shapes += _eared(x, y, width, height, ground, fill.stroke)
    else:
        shapes.append(_rect(x, y, width, height, radius, ground, border))
    if fill.bands:
        ear = EAR if box.kind == "fold" else 0  # the bar begins below the folded corner
        shapes += bands(x, y + ear, height - ear, 0 if ear else radius, 0 if ear else radius, fill)
    if fill.hatch:
        shapes.append(Hatch(x + 0.5, y + 0.5, width - 1, height - 1, radius - 0.5, theme.stroke))
    if box.kind == "call":
        shapes.append(_inner_ring(x, y, width, height, radius, fill))
    shapes += outline(x, y, width, height, radius, fill)
    if box.openable:
        shapes += mark(*mark_place(box), theme, opened=False)
    return [*shapes, *disc(x + 4, y + 3, fill, theme)]


def sheets(box: Box, radius: int, ground: str | None, pen: Pen) -> list[Rectangle]:
    """Draw the sheets of a stack behind the front one, from the back."""
    x, y, width, height = front(box)
    away = [SHEET * sheet for sheet in range(box.sheets, 0, -1)]
    shifts = [(0, -by) if box.connected else (by, 0) for by in away]
    return [_rect(x + dx, y + dy, width, height, radius, ground, pen) for dx, dy in shifts]


def _rect(
    x: float, y: float, width: float, height: float, radius: float, fill: str | None, pen: Pen | None
) -> Rectangle:
    """Return a rounded rectangle whose 1 px stroke is inside its bounds."""
    return Rectangle(x + 0.5, y + 0.5, width - 1, height - 1, radius - 0.5, fill, pen)


def _inner_ring(x: int, y: int, width: int, height: int, radius: int, fill: Fill) -> Rectangle:
    """Draw the second outline of a call, which contains a body."""
    return Rectangle(x + 2.5, y + 2.5, width - 5, height - 5, radius - 2.5, pen=Pen(fill.stroke))


def _eared(x: int, y: int, width: int, height: int, ground: str, stroke: str) -> list[Primitive]:
    """Draw a sheet whose upper left corner is folded over."""
    left, top, right, bottom = x + 0.5, y + 0.5, x + width - 0.5, y + height - 0.5
    pen = Pen(stroke, join="round")
    corners = [(right, top), (right, bottom), (left, bottom), (left, top + EAR)]
    lines: list[PathStep] = [("L", corner) for corner in corners]
    ear: tuple[PathStep, ...] = (
        ("M", (left + EAR, top)),
        ("L", (left + EAR, top + EAR)),
        ("L", (left, top + EAR)),
    )
    return [Curve((("M", (left + EAR, top)), *lines, ("Z", ())), ground, pen), Curve(ear, pen=pen)]


def bands(x: int, y: int, height: int, top: int, foot: int, fill: Fill) -> list[Primitive]:
    """Draw colours one below the other in proportion, at the left; `top`, `foot` are the radii of the bar's corners."""
    shapes: list[Primitive] = []
    heights = band_heights(height - 2, [share for _, share in fill.bands])
    below = y + 1
    for index, ((colour, _), tall) in enumerate(zip(fill.bands, heights, strict=True)):
        corners = top if index == 0 else 0, foot if index == len(heights) - 1 else 0
        shapes.append(Curve(_band(x + 1, below, max(BAND_WIDTH, top, foot), tall, *corners), colour))
        below += tall
    return shapes


def band_heights(height: int, shares: list[int]) -> list[int]:
    """Return integer heights in proportion to `shares`, with a minimum while there is room; their sum is `height`.

    >>> band_heights(40, [985, 10, 5])
    [32, 4, 4]
    >>> band_heights(9, [800, 100, 100])
    [3, 3, 3]
    """
    least, total = min(BAND_LEAST, height // len(shares)), sum(shares)
    tall = [max(least, height * share // total) for share in shares]
    tallest = max(range(len(tall)), key=lambda index: (tall[index], -index))
    tall[tallest] += height - sum(tall)  # remainder of rounding and minimum heights
    return tall


def _band(x: int, y: int, width: int, height: int, top: int, foot: int) -> tuple[PathStep, ...]:
    """Return the outline of one colour; the outer ones follow the left corners of the box."""
    top, foot = (max(0, min(radius - 1, height)) for radius in (top, foot))
    right, bottom = x + width, y + height
    steps: list[PathStep] = [("M", (x + top, y)), ("L", (right, y)), ("L", (right, bottom)), ("L", (x + foot, bottom))]
    if foot:
        steps.append(("A", (foot, x, bottom - foot)))
    steps.append(("L", (x, y + top)))
    if top:
        steps.append(("A", (top, x + top, y)))
    return (*steps, ("Z", ()))


def mark_place(box: Box) -> tuple[int, int]:
    """Return the centre of the +/− mark: on the first of two lines, above a letter or a long second line."""
    x, y, width, height = front(box)
    if is_pill(box) and not box.open:
        return x + width - 12, y + min(height // 2, 12)
    return x + width - 10, y + (12 if box.open else 10)


def mark(x: int, y: int, theme: Theme, opened: bool) -> list[Primitive]:
    """Draw the sign that a box opens (+) or is open (−)."""
    across: tuple[PathStep, ...] = (("M", (x - 3, y)), ("H", (x + 3,)))
    down: tuple[PathStep, ...] = () if opened else (("M", (x, y - 3)), ("V", (y + 3,)))
    disc = Disc(x, y, 6, theme.mark, Pen(theme.sign, 0.5))
    return [disc, Curve(across + down, pen=Pen(theme.sign, 1.5))]


def frame(box: Box, fill: Fill, theme: Theme) -> list[Primitive]:
    """Draw an open group: its ground, its border, and the bar in its hue."""
    x, y, width, height = front(box)
    stack = box.kind in ("series", "fold") and not box.sheets
    stroke = fill.stroke if fill.hued else theme.stroke
    pen = Pen(stroke, dashes=FRAME_DASHES if stack else ())
    shapes: list[Primitive] = [
        *sheets(box, CORNER, fill.fill if fill.hued else theme.frame(box.depth + 1), Pen(stroke)),
        _rect(x, y, width, height, CORNER, theme.frame(box.depth + 1), None if fill.sign else pen),
    ]
    if fill.hued:
        shapes.append(_bar(x, y, y + height - 1, fill.fill))
    shapes += outline(x, y, width, height, CORNER, fill)
    if box.openable:
        shapes += mark(*mark_place(box), theme, opened=True)
    return [*shapes, *disc(x + 2, y + 2, fill, theme)]


def _bar(x: int, y: int, foot: int, colour: str) -> Curve:
    """Draw the bar at the left of a frame, within its rounded corners."""
    steps: tuple[PathStep, ...] = (
        ("M", (x + 3, y + 1)),
        ("V", (foot,)),
        ("A", (5, x, foot - CORNER + 1)),
        ("V", (y + CORNER,)),
        ("A", (5, x + 3, y + 1)),
        ("Z", ()),
    )
    return Curve(steps, colour)


def stub(mark: Stub, fill: Fill | None, theme: Theme, tint: Tint | None = None) -> list[Primitive]:
    """Draw a constant, a summary or an extracted neighbour with the line to its box; `tint` is the diff colour of the
    line."""
    shapes: list[Primitive] = [] if mark.kind == "more" else _stub_line(mark, theme, tint)
    middle = mark.x + mark.width / 2, mark.y + mark.height / 2
    if mark.kind == "constant":
        shapes.append(Disc(*middle, mark.width / 2 - 0.5, theme.background, Pen(theme.stroke)))
    elif mark.kind == "weight":
        shapes.append(Curve(diamond(mark), theme.secondary, Pen(theme.stroke)))
    elif mark.kind == "summary":
        shapes += bars(mark.x, mark.y, theme)
    elif mark.kind == "shortcut" and fill is not None:
        pen = Pen(fill.stroke, dashes=STUB_DASHES)
        shapes.append(_rect(mark.x, mark.y, mark.width, mark.height, 5, fill.fill, pen))
    if tint is not None and tint.whole:
        shapes += bead(*middle, tint, theme)
    elif fill is not None:
        shapes += disc(*middle, fill, theme)
    return shapes


def diamond(mark: Stub) -> tuple[PathStep, ...]:
    """Return the outline of a weight: a square on its tip, within the stub."""
    across, along = mark.x + mark.width / 2, mark.y + mark.height / 2
    right, foot = mark.x + mark.width, mark.y + mark.height
    return ("M", (across, mark.y)), ("L", (right, along)), ("L", (across, foot)), ("L", (mark.x, along)), ("Z", ())


def bars(x: float, y: float, theme: Theme) -> list[Primitive]:
    """Draw the icon of a summary: a small bar chart, 12 × 12."""
    chart: list[PathStep] = []
    for right, top in ((3.5, 6), (6, 3), (8.5, 5)):
        chart += [("M", (x + right, y + 10)), ("V", (y + top,))]
    ground = Rectangle(x + 0.5, y + 0.5, 11, 11, 1.5, theme.background, Pen(theme.stroke))
    return [ground, Curve(tuple(chart), pen=Pen(theme.secondary, 1.5))]


def _stub_line(mark: Stub, theme: Theme, tint: Tint | None) -> list[Primitive]:
    points: list[tuple[float, float]] = list(mark.points)
    arrow = head(points[-1], points[-2], 0.7)
    colour = tint.colour if tint else theme.data
    dashes = (tint.dashes if tint else ()) or (CONTROL_DASHES if mark.control else ())
    pen = Pen(colour, STUB_TINTED if tint else STUB_LINE, dashes)
    return [Curve(rounded(shortened(points, 4, False)), pen=pen), Curve(arrow, colour)]
