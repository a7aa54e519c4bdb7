"""Nodes: closed boxes, stacks, open frames, the +/− mark, and what is drawn beside a box."""

from __future__ import annotations

from graphviz_tb.model.paint import Fill, Tint
from graphviz_tb.model.scene import Box, Stub
from graphviz_tb.model.theme import Theme
from graphviz_tb.render import signs
from graphviz_tb.render.lines import head, rounded, shortened
from graphviz_tb.render.markup import element

CORNER = 6
SHEET = 4
EAR = 8
BAND_LEAST = 4
FRAME_DASHES, STUB_DASHES, CONTROL_DASHES = "4 3", "2 2", "2 2"
STUB_LINE, STUB_TINTED = 0.8, 1.5


def is_pill(box: Box) -> bool:
    """Whether the outline is that of an op."""
    kind = box.member if box.kind in ("series", "fold") else box.kind
    return kind in ("op", "call")


def front(box: Box) -> tuple[int, int, int, int]:
    """x, y, width and height of the front sheet."""
    if not box.sheets:
        return box.x, box.y, box.width, box.height
    away = SHEET * box.sheets
    if box.connected:
        return box.x, box.y + away, box.width, box.height - away
    return box.x, box.y, box.width - away, box.height


def closed(box: Box, fill: Fill, theme: Theme) -> str:
    """The outline of a closed box, its bands, its stack, its mark."""
    x, y, width, height = front(box)
    radius = min(12, height // 2) if is_pill(box) else 2 if box.kind == "function" else CORNER
    border = "none" if fill.sign else fill.stroke
    told = []
    for sheet in range(box.sheets, 0, -1):
        dx, dy = (0, -SHEET * sheet) if box.connected else (SHEET * sheet, 0)
        told.append(_rect(x + dx, y + dy, width, height, radius, fill.fill, fill.stroke))
    if box.kind == "fold":
        told.append(_eared(x, y, width, height, fill))
    else:
        told.append(_rect(x, y, width, height, radius, fill.fill, border, bool(fill.bands)))
    if fill.bands:
        told += bands(x, y, width, height, radius, fill)
    if fill.hatch:
        told.append(_rect(x, y, width, height, radius, "url(#hatch)", "none"))
    if box.kind == "call":
        told.append(_inner_ring(x, y, width, height, radius, fill))
    told.append(signs.outline(x, y, width, height, radius, fill))
    if box.openable:
        told.append(mark(*mark_place(box), theme, opened=False))
    told.append(signs.disc(x + 4, y + 3, fill, theme))
    return "".join(told)


def _rect(
    x: float, y: float, width: float, height: float, radius: float, fill: str, stroke: str, bare: bool = False
) -> str:
    """A rounded rectangle whose 1 px stroke lies inside its bounds."""
    return element(
        "rect",
        x=x + 0.5,
        y=y + 0.5,
        width=width - 1,
        height=height - 1,
        rx=radius - 0.5 if radius else None,
        fill="none" if bare else fill,
        stroke=stroke if stroke != "none" else None,
    )


def _inner_ring(x: int, y: int, width: int, height: int, radius: int, fill: Fill) -> str:
    """A call is an op with a second outline: it holds a body."""
    return element(
        "rect",
        x=x + 2.5,
        y=y + 2.5,
        width=width - 5,
        height=height - 5,
        rx=radius - 2.5,
        fill="none",
        stroke=fill.stroke,
    )


def _eared(x: int, y: int, width: int, height: int, fill: Fill) -> str:
    """A sheet whose upper left corner is folded over."""
    left, top, right, bottom = x + 0.5, y + 0.5, x + width - 0.5, y + height - 0.5
    around = [(left + EAR, top), (right, top), (right, bottom), (left, bottom), (left, top + EAR)]
    outline = "M" + "L".join(f"{px:g} {py:g}" for px, py in around) + "Z"
    ear = f"M{left + EAR:g} {top:g}L{left + EAR:g} {top + EAR:g}L{left:g} {top + EAR:g}"
    sheet = element("path", d=outline, fill=fill.fill, stroke=fill.stroke, stroke_linejoin="round")
    return sheet + element("path", d=ear, fill="none", stroke=fill.stroke, stroke_linejoin="round")


def bands(x: int, y: int, width: int, height: int, radius: int, fill: Fill) -> list[str]:
    """Colours side by side in proportion, each at least a sliver wide, then the outline again."""
    told, left = [], float(x)
    widths = band_widths(width, [share for _, share in fill.bands])
    for index, ((colour, _), wide) in enumerate(zip(fill.bands, widths, strict=True)):
        first, last = index == 0, index == len(widths) - 1
        told.append(element("path", d=_band(left, y, wide, height, radius, first, last), fill=colour))
        left += wide
    told.append(_rect(x, y, width, height, radius, "none", fill.stroke))
    return told


def band_widths(width: int, shares: list[int]) -> list[int]:
    """Whole widths in proportion to `shares`, none under the least, their sum `width`.

    >>> band_widths(100, [985, 10, 5])
    [92, 4, 4]
    """
    total = sum(shares) or 1
    wide = [max(BAND_LEAST, width * share // total) for share in shares]
    largest = max(range(len(wide)), key=lambda index: (wide[index], -index))
    wide[largest] += width - sum(wide)
    return wide


def _band(x: float, y: int, width: float, height: int, radius: int, first: bool, last: bool) -> str:
    """Path data of one band; the outer ones take the corners of the box."""
    radius = min(radius, int(width)) if first or last else 0
    a, b = (radius if first else 0), (radius if last else 0)
    right, bottom = x + width, y + height
    told = f"M{x + a:g} {y}L{right - b:g} {y}"
    told += (
        f"A{b} {b} 0 0 1 {right:g} {y + b}L{right:g} {bottom - b}A{b} {b} 0 0 1 {right - b:g} {bottom}"
        if b
        else (f"L{right:g} {bottom}")
    )
    told += f"L{x + a:g} {bottom}"
    if a:
        told += f"A{a} {a} 0 0 1 {x:g} {bottom - a}L{x:g} {y + a}A{a} {a} 0 0 1 {x + a:g} {y}"
    return told + "Z"


def mark_place(box: Box) -> tuple[int, int]:
    """The centre of the +/− mark."""
    x, y, width, height = front(box)
    if is_pill(box) and not box.open:
        return x + width - 12, y + height // 2
    return x + width - 10, y + (12 if box.open else 10)


def mark(x: int, y: int, theme: Theme, opened: bool) -> str:
    """The sign that a box opens (+) or is open (−)."""
    sign = f"M{x - 3} {y}H{x + 3}" + ("" if opened else f"M{x} {y - 3}V{y + 3}")
    disc = element("circle", cx=x, cy=y, r=6, fill=theme.mark, stroke=theme.sign, stroke_width=0.5)
    return disc + element("path", d=sign, fill="none", stroke=theme.sign, stroke_width=1.5)


def frame(box: Box, fill: Fill, theme: Theme) -> str:
    """An open group: its ground, its border, and the bar that bears its hue."""
    x, y, width, height = box.x, box.y, box.width, box.height
    stroke = fill.stroke if fill.hued else theme.stroke
    told = [
        element(
            "rect",
            x=x + 0.5,
            y=y + 0.5,
            width=width - 1,
            height=height - 1,
            rx=CORNER - 0.5,
            fill=theme.frame(box.depth + 1),
            stroke=None if fill.sign else stroke,
            stroke_dasharray=FRAME_DASHES if box.kind in ("series", "fold") else None,
        )
    ]
    if fill.hued:
        right, foot = x + 3, y + height - 1
        round_off = f"A5 5 0 0 1 {x} {foot - CORNER + 1}V{y + CORNER}A5 5 0 0 1 {right} {y + 1}Z"
        bar = f"M{right} {y + 1}V{foot}{round_off}"
        told.append(element("path", d=bar, fill=fill.fill))
    told.append(signs.outline(x, y, width, height, CORNER, fill))
    if box.openable:
        told.append(mark(*mark_place(box), theme, opened=True))
    told.append(signs.disc(x + 2, y + 2, fill, theme))
    return "".join(told)


def stub(one: Stub, fill: Fill | None, theme: Theme, tint: Tint | None = None) -> str:
    """A constant, a summary or an extracted neighbour with the line to its box; `tint` is what became of the line."""
    told = [] if one.kind == "more" else [_stub_line(one, theme, tint)]
    if one.kind == "constant":
        radius = one.width / 2 - 0.5
        centre = (one.x + one.width / 2, one.y + one.height / 2)
        told.append(element("circle", cx=centre[0], cy=centre[1], r=radius, fill=theme.background, stroke=theme.stroke))
    elif one.kind == "weight":
        told.append(element("path", d=diamond(one), fill=theme.secondary, stroke=theme.stroke))
    elif one.kind == "summary":
        told.append(bars(one.x, one.y, theme))
    elif one.kind == "shortcut" and fill is not None:
        told.append(
            element(
                "rect",
                x=one.x + 0.5,
                y=one.y + 0.5,
                width=one.width - 1,
                height=one.height - 1,
                rx=4.5,
                fill=fill.fill,
                stroke=fill.stroke,
                stroke_dasharray=STUB_DASHES,
            )
        )
    middle = one.x + one.width / 2, one.y + one.height / 2
    if tint is not None and tint.whole:
        told.append(signs.bead(*middle, tint, theme))
    elif fill is not None:
        told.append(signs.disc(*middle, fill, theme))
    return "".join(told)


def diamond(one: Stub) -> str:
    """The outline of a weight: a square on its tip, within the stub."""
    across, along = one.width / 2, one.height / 2
    return f"M{one.x + across:g} {one.y:g}l{across:g} {along:g}l{-across:g} {along:g}l{-across:g} {-along:g}Z"


def bars(x: float, y: float, theme: Theme) -> str:
    """The icon of a summary: a small bar chart, 12 × 12."""
    ground = element(
        "rect", x=x + 0.5, y=y + 0.5, width=11, height=11, rx=1.5, fill=theme.background, stroke=theme.stroke
    )
    chart = f"M{x + 3.5:g} {y + 10:g}V{y + 6:g}M{x + 6:g} {y + 10:g}V{y + 3:g}M{x + 8.5:g} {y + 10:g}V{y + 5:g}"
    return ground + element("path", d=chart, fill="none", stroke=theme.secondary, stroke_width=1.5)


def _stub_line(one: Stub, theme: Theme, tint: Tint | None) -> str:
    points: list[tuple[float, float]] = list(one.points)
    arrow = head(points[-1], points[-2], 0.7)
    colour = tint.colour if tint else theme.data
    dashes = tint.dashes if tint else None
    line = element(
        "path",
        d=rounded(shortened(points, 4, False)),
        fill="none",
        stroke=colour,
        stroke_width=STUB_TINTED if tint else STUB_LINE,
        stroke_dasharray=dashes or (CONTROL_DASHES if one.control else None),
    )
    return line + element("path", d=arrow, fill=colour)
