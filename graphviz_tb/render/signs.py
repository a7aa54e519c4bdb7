"""The signs of a diff: a disc at the upper left and an outline that show without colour how a box changed.

+  added     solid 2.5        −  removed           dashed 6 3
~  changed   double           →  renamed or moved  dotted 1 3
"""

from __future__ import annotations

from graphviz_tb.model.drawing import Curve, Disc, PathStep, Pen, Primitive, Rectangle
from graphviz_tb.model.paint import LineTint, RowFill
from graphviz_tb.model.theme import Theme

# px: long dashes for removed boxes, dots for renamed ones.
SIGN_DASHES: dict[str, tuple[float, ...]] = {"−": (6, 3), "→": (1, 3)}
SIGN_WIDTHS = {"+": 2.5, "−": 2, "~": 1, "→": 2}  # px: added and removed boxes are thicker than changed ones
SIGN_DISC_RADIUS = 6  # px
BEAD_RADIUS = 4.5  # the disc on a line or on a stub
# Drawn in a square of 6 around the middle of the disc.
SIGN_STROKES: dict[str, tuple[PathStep, ...]] = {
    "+": (("M", (-3, 0)), ("H", (3,)), ("M", (0, -3)), ("V", (3,))),
    "−": (("M", (-3, 0)), ("H", (3,))),
    "~": (("M", (-3.5, 1)), ("C", (-2.5, -2.5, -1, -1.5, 0, 0)), ("C", (1, 1.5, 2.5, 2.5, 3.5, -1))),
    "→": (("M", (-3.5, 0)), ("H", (3,)), ("M", (0.5, -2.5)), ("L", (3, 0)), ("L", (0.5, 2.5))),
}


def sign_outline(x: float, y: float, width: float, height: float, radius: float, fill: RowFill) -> list[Primitive]:
    """Return the outline of a box that has a sign, within the bounds of the box."""
    if not fill.sign:
        return []
    thick = SIGN_WIDTHS[fill.sign]
    insets = (thick / 2, 3) if fill.sign == "~" else (thick / 2,)
    return [sign_ring(x, y, width, height, radius, fill, inset) for inset in insets]


def sign_ring(x: float, y: float, width: float, height: float, radius: float, fill: RowFill, inset: float) -> Rectangle:
    dotted = fill.sign == "→"
    pen = Pen(fill.stroke, SIGN_WIDTHS[fill.sign], SIGN_DASHES.get(fill.sign, ()), cap="round" if dotted else "butt")
    rounded = max(0, radius - inset)
    return Rectangle(x + inset, y + inset, width - 2 * inset, height - 2 * inset, rounded, pen=pen)


def sign_disc(x: float, y: float, fill: RowFill, theme: Theme) -> list[Primitive]:
    """Return the sign in its disc, the middle at `x`, `y`."""
    return draw_sign(x, y, SIGN_DISC_RADIUS, fill.stroke, fill.sign, theme) if fill.sign else []


def sign_bead(x: float, y: float, tint: LineTint, theme: Theme) -> list[Primitive]:
    """Return the sign of an added or removed line, in a smaller disc."""
    return draw_sign(x, y, BEAD_RADIUS, tint.colour, tint.sign, theme)


def draw_sign(x: float, y: float, radius: float, colour: str, sign: str, theme: Theme) -> list[Primitive]:
    pen = Pen(theme.background, 1.5, cap="round")
    ground = Disc(x, y, radius, colour, Pen(theme.background))
    return [ground, Curve(SIGN_STROKES[sign], pen=pen, at=(x, y), scale=radius / SIGN_DISC_RADIUS)]
