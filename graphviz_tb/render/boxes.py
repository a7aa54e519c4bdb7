"""Draw nodes: closed boxes, stacks, open frames, the +/− mark, and the stubs next to a box."""

from __future__ import annotations

from graphviz_tb.model.drawing import Curve, Disc, Hatch, PathStep, Pen, Primitive, Rectangle
from graphviz_tb.model.paint import LineTint, RowFill
from graphviz_tb.model.scene import Box, Stub
from graphviz_tb.model.theme import Theme
from graphviz_tb.render.lines import arrow_head, rounded_outline, shorten_line, sign_bead, sign_disc, sign_outline

# px, see docs/visual.md. The last is the minimum height of a colour in the bar of several colours.
BOX_CORNER = 6
STACK_SHEET_OFFSET = 4
FOLDED_CORNER = 8
COLOUR_BAR_WIDTH = 8
MIN_COLOUR_HEIGHT = 4
FRAME_DASHES, STUB_DASHES, CONTROL_DASHES = (4, 3), (2, 2), (2, 2)  # px; short dashes for short lines
SURPLUS_DASHES = (5, 3)
STUB_LINE_WIDTH, TINTED_STUB_WIDTH = 0.8, 1.5  # px: thinner than any edge; thicker if it has a colour


def is_pill(box: Box) -> bool:
    """Return whether the outline is that of an op."""
    kind = box.member if box.kind in ("series", "fold") else box.kind
    return kind in ("op", "call")


def front_bounds(box: Box) -> tuple[int, int, int, int]:
    """Return x, y, width and height of the front sheet."""
    if not box.sheets:
        return box.x, box.y, box.width, box.height
    away = STACK_SHEET_OFFSET * box.sheets
    if box.connected:
        return box.x, box.y + away, box.width, box.height - away
    return box.x, box.y, box.width - away, box.height


def draw_closed_box(box: Box, fill: RowFill, theme: Theme) -> list[Primitive]:
    """Draw the outline of a closed box, its stack and its mark. Several colours form a bar at its left, clear of
    texts."""
    x, y, width, height = front_bounds(box)
    radius = min(12, height // 2) if is_pill(box) else 2 if box.kind == "function" else BOX_CORNER
    dashes = SURPLUS_DASHES if box.surplus else ()
    border = None if fill.sign else Pen(fill.stroke, dashes=dashes)  # a diff sign draws the outline itself
    ground = theme.neutral if fill.bands else theme.op if box.sign and not (fill.hued or fill.sign) else fill.fill
    shapes: list[Primitive] = [*_draw_back_sheets(box, radius, ground, Pen(fill.stroke))]
    if box.kind == "fold":
        shapes += _folded_sheet(x, y, width, height, ground, fill.stroke)
    else:
        shapes.append(_inset_rect(x, y, width, height, radius, ground, border))
    if fill.bands:
        ear = FOLDED_CORNER if box.kind == "fold" else 0  # the bar begins below the folded corner
        shapes += _colour_bar(x, y + ear, height - ear, 0 if ear else radius, 0 if ear else radius, fill)
    if fill.hatch:
        shapes.append(Hatch(x + 0.5, y + 0.5, width - 1, height - 1, radius - 0.5, theme.stroke))
    if box.kind == "call":
        shapes.append(Rectangle(x + 2.5, y + 2.5, width - 5, height - 5, radius - 2.5, pen=Pen(fill.stroke)))
    shapes += sign_outline(x, y, width, height, radius, fill)
    if box.openable:
        shapes += _draw_open_mark(*_open_mark_place(box), theme, opened=False)
    return [*shapes, *sign_disc(x + 4, y + 3, fill, theme)]


def _draw_back_sheets(box: Box, radius: int, ground: str | None, pen: Pen) -> list[Rectangle]:
    """Draw the sheets of a stack behind the front sheet, the rearmost first."""
    x, y, width, height = front_bounds(box)
    away = [STACK_SHEET_OFFSET * sheet for sheet in range(box.sheets, 0, -1)]
    shifts = [(0, -by) if box.connected else (by, 0) for by in away]
    return [_inset_rect(x + dx, y + dy, width, height, radius, ground, pen) for dx, dy in shifts]


def _inset_rect(
    x: float, y: float, width: float, height: float, radius: float, fill: str | None, pen: Pen | None
) -> Rectangle:
    """Return a rounded rectangle whose 1 px stroke is inside its bounds."""
    return Rectangle(x + 0.5, y + 0.5, width - 1, height - 1, radius - 0.5, fill, pen)


def _folded_sheet(x: int, y: int, width: int, height: int, ground: str, stroke: str) -> list[Primitive]:
    """Draw a sheet whose upper left corner is folded over."""
    left, top, right, bottom = x + 0.5, y + 0.5, x + width - 0.5, y + height - 0.5
    pen = Pen(stroke, join="round")
    corners = [(right, top), (right, bottom), (left, bottom), (left, top + FOLDED_CORNER)]
    lines: list[PathStep] = [("L", corner) for corner in corners]
    ear: tuple[PathStep, ...] = (
        ("M", (left + FOLDED_CORNER, top)),
        ("L", (left + FOLDED_CORNER, top + FOLDED_CORNER)),
        ("L", (left, top + FOLDED_CORNER)),
    )
    return [Curve((("M", (left + FOLDED_CORNER, top)), *lines, ("Z", ())), ground, pen), Curve(ear, pen=pen)]


def _colour_bar(x: int, y: int, height: int, top: int, foot: int, fill: RowFill) -> list[Primitive]:
    """Draw a bar of colours in proportion; `top` and `foot` are the radii of its upper and lower corners."""
    shapes: list[Primitive] = []
    heights = _colour_heights(height - 2, [share for _, share in fill.bands])
    below = y + 1
    for index, ((colour, _), tall) in enumerate(zip(fill.bands, heights, strict=True)):
        corners = top if index == 0 else 0, foot if index == len(heights) - 1 else 0
        shapes.append(Curve(_colour_outline(x + 1, below, max(COLOUR_BAR_WIDTH, top, foot), tall, *corners), colour))
        below += tall
    return shapes


def _colour_heights(height: int, shares: list[int]) -> list[int]:
    """Return integer heights in proportion to `shares`, with a minimum while there is room; their sum is `height`.

    >>> _colour_heights(40, [985, 10, 5])
    [32, 4, 4]
    >>> _colour_heights(9, [800, 100, 100])
    [3, 3, 3]
    """
    least, total = min(MIN_COLOUR_HEIGHT, height // len(shares)), sum(shares)
    tall = [max(least, height * share // total) for share in shares]
    tallest = max(range(len(tall)), key=lambda index: (tall[index], -index))
    tall[tallest] += height - sum(tall)  # the remainder of rounding and minimum heights
    return tall


def _colour_outline(x: int, y: int, width: int, height: int, top: int, foot: int) -> tuple[PathStep, ...]:
    """Return the outline of one colour of a bar; the first and the last follow the left corners of the box."""
    top, foot = (max(0, min(radius - 1, height)) for radius in (top, foot))
    right, bottom = x + width, y + height
    steps: list[PathStep] = [("M", (x + top, y)), ("L", (right, y)), ("L", (right, bottom)), ("L", (x + foot, bottom))]
    if foot:
        steps.append(("A", (foot, x, bottom - foot)))
    steps.append(("L", (x, y + top)))
    if top:
        steps.append(("A", (top, x + top, y)))
    return (*steps, ("Z", ()))


def _open_mark_place(box: Box) -> tuple[int, int]:
    """Return the centre of the +/− mark: on the first line, if a letter or a long second line is below it."""
    x, y, width, height = front_bounds(box)
    if is_pill(box) and not box.open:
        return x + width - 12, y + min(height // 2, 12)
    return x + width - 10, y + (12 if box.open else 10)


def _draw_open_mark(x: int, y: int, theme: Theme, opened: bool) -> list[Primitive]:
    """Draw the sign that a box opens (+) or is open (−)."""
    across: tuple[PathStep, ...] = (("M", (x - 3, y)), ("H", (x + 3,)))
    down: tuple[PathStep, ...] = () if opened else (("M", (x, y - 3)), ("V", (y + 3,)))
    disc = Disc(x, y, 6, theme.mark, Pen(theme.sign, 0.5))
    return [disc, Curve(across + down, pen=Pen(theme.sign, 1.5))]


def draw_frame(box: Box, fill: RowFill, theme: Theme) -> list[Primitive]:
    """Draw an open group: its ground, its border, and the bar in its hue."""
    x, y, width, height = front_bounds(box)
    is_stack = box.kind in ("series", "fold") and not box.sheets
    stroke = fill.stroke if fill.hued else theme.stroke
    pen = Pen(stroke, dashes=FRAME_DASHES if is_stack else ())
    shapes: list[Primitive] = [
        *_draw_back_sheets(box, BOX_CORNER, fill.fill if fill.hued else theme.frame_fill(box.depth + 1), Pen(stroke)),
        _inset_rect(x, y, width, height, BOX_CORNER, theme.frame_fill(box.depth + 1), None if fill.sign else pen),
    ]
    if fill.hued:
        shapes.append(_frame_bar(x, y, y + height - 1, fill.fill))
        shapes += _bar_bands(x, y + BOX_CORNER, height - 2 * BOX_CORNER, fill)
    shapes += sign_outline(x, y, width, height, BOX_CORNER, fill)
    if box.openable:
        shapes += _draw_open_mark(*_open_mark_place(box), theme, opened=True)
    return [*shapes, *sign_disc(x + 2, y + 2, fill, theme)]


def _frame_bar(x: int, y: int, foot: int, colour: str) -> Curve:
    """Draw the bar at the left of a frame, within its rounded corners."""
    steps: tuple[PathStep, ...] = (
        ("M", (x + 3, y + 1)),
        ("V", (foot,)),
        ("A", (5, x, foot - BOX_CORNER + 1)),
        ("V", (y + BOX_CORNER,)),
        ("A", (5, x + 3, y + 1)),
        ("Z", ()),
    )
    return Curve(steps, colour)


def _bar_bands(x: int, y: int, height: int, fill: RowFill) -> list[Primitive]:
    """Draw the shares of several colours in the bar of a frame, from its head to its foot."""
    shapes: list[Primitive] = []
    total = sum(share for _, share in fill.bands)
    above = 0
    for colour, share in fill.bands:
        top, foot = y + height * above // total, y + height * (above + share) // total
        shapes.append(
            Curve((("M", (x + 0.5, top)), ("H", (x + 3,)), ("V", (foot,)), ("H", (x + 0.5,)), ("Z", ())), colour)
        )
        above += share
    return shapes


def draw_stub(mark: Stub, fill: RowFill | None, theme: Theme, tint: LineTint | None = None) -> list[Primitive]:
    """Draw a stub with the line to its box; `tint` is the diff colour of the line."""
    shapes: list[Primitive] = [] if mark.kind == "more" else _draw_stub_line(mark, theme, tint)
    middle = mark.x + mark.width / 2, mark.y + mark.height / 2
    if mark.kind == "constant":
        shapes.append(Disc(*middle, mark.width / 2 - 0.5, theme.background, Pen(theme.stroke)))
    elif mark.kind == "weight":
        shapes.append(Curve(_diamond_outline(mark), theme.secondary, Pen(theme.stroke)))
    elif mark.kind == "summary":
        shapes += _summary_icon(mark.x, mark.y, theme)
    elif mark.kind == "shortcut" and fill is not None:
        pen = Pen(fill.stroke, dashes=STUB_DASHES)
        shapes.append(_inset_rect(mark.x, mark.y, mark.width, mark.height, 5, fill.fill, pen))
    if tint is not None and tint.whole:
        shapes += sign_bead(*middle, tint, theme)
    elif fill is not None:
        shapes += sign_disc(*middle, fill, theme)
    return shapes


def _diamond_outline(mark: Stub) -> tuple[PathStep, ...]:
    """Return the outline of a weight: a square on its tip, within the stub."""
    across, along = mark.x + mark.width / 2, mark.y + mark.height / 2
    right, foot = mark.x + mark.width, mark.y + mark.height
    return ("M", (across, mark.y)), ("L", (right, along)), ("L", (across, foot)), ("L", (mark.x, along)), ("Z", ())


def _summary_icon(x: float, y: float, theme: Theme) -> list[Primitive]:
    """Draw the icon of a summary: a small bar chart, 12 × 12."""
    chart: list[PathStep] = []
    for right, top in ((3.5, 6), (6, 3), (8.5, 5)):
        chart += [("M", (x + right, y + 10)), ("V", (y + top,))]
    ground = Rectangle(x + 0.5, y + 0.5, 11, 11, 1.5, theme.background, Pen(theme.stroke))
    return [ground, Curve(tuple(chart), pen=Pen(theme.secondary, 1.5))]


def _draw_stub_line(mark: Stub, theme: Theme, tint: LineTint | None) -> list[Primitive]:
    points: list[tuple[float, float]] = list(mark.points)
    arrow = arrow_head(points[-1], points[-2], 0.7)
    colour = tint.colour if tint else theme.data
    dashes = (tint.dashes if tint else ()) or (CONTROL_DASHES if mark.control else ())
    pen = Pen(colour, TINTED_STUB_WIDTH if tint else STUB_LINE_WIDTH, dashes)
    return [Curve(rounded_outline(shorten_line(points, 4, False)), pen=pen), Curve(arrow, colour)]
