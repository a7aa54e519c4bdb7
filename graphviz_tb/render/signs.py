"""The signs of a diff: a disc at the upper left and an outline that tells without colour what became of a box.

+  added     solid 2.5        −  removed           dashed 6 3
~  changed   double           →  renamed or moved  dotted 1 3
"""

from __future__ import annotations

from graphviz_tb.model.paint import Fill, Tint
from graphviz_tb.model.theme import Theme
from graphviz_tb.render.markup import element

DASHES = {"−": "6 3", "→": "1 3"}
WIDTHS = {"+": 2.5, "−": 2, "~": 1, "→": 2}
DISC = 6
BEAD = 4.5  # the disc on a line or on a stub
# Drawn in a square of 6 around the middle of the disc.
STROKES = {
    "+": "M-3 0H3M0 -3V3",
    "−": "M-3 0H3",
    "~": "M-3.5 1C-2.5 -2.5 -1 -1.5 0 0C1 1.5 2.5 2.5 3.5 -1",
    "→": "M-3.5 0H3M0.5 -2.5L3 0L0.5 2.5",
}


def outline(x: float, y: float, width: float, height: float, radius: float, fill: Fill) -> str:
    """The outline of a box that bears a sign; it lies in the box's bounds."""
    if not fill.sign:
        return ""
    thick = WIDTHS[fill.sign]
    told = _ring(x, y, width, height, radius, fill, thick, thick / 2)
    return told + (_ring(x, y, width, height, radius, fill, thick, 3) if fill.sign == "~" else "")


def _ring(
    x: float, y: float, width: float, height: float, radius: float, fill: Fill, thick: float, inset: float
) -> str:
    return element(
        "rect",
        x=x + inset,
        y=y + inset,
        width=width - 2 * inset,
        height=height - 2 * inset,
        rx=max(0, radius - inset) or None,
        fill="none",
        stroke=fill.stroke,
        stroke_width=thick,
        stroke_dasharray=DASHES.get(fill.sign),
        stroke_linecap="round" if fill.sign == "→" else None,
    )


def disc(x: float, y: float, fill: Fill, theme: Theme) -> str:
    """The sign in its disc, the middle at `x`, `y`."""
    if not fill.sign:
        return ""
    return _disc(x, y, DISC, fill.stroke, fill.sign, theme)


def bead(x: float, y: float, tint: Tint, theme: Theme) -> str:
    """The sign of a line that came or went, in a smaller disc."""
    return _disc(x, y, BEAD, tint.colour, tint.sign, theme)


def _disc(x: float, y: float, radius: float, colour: str, sign: str, theme: Theme) -> str:
    scale = f" scale({radius / DISC:g})" if radius != DISC else ""
    ground = element("circle", cx=x, cy=y, r=radius, fill=colour, stroke=theme.background, stroke_width=1)
    drawn = element(
        "path",
        d=STROKES[sign],
        fill="none",
        stroke=theme.background,
        stroke_width=1.5,
        stroke_linecap="round",
        transform=f"translate({x:g} {y:g}){scale}",
    )
    return ground + drawn
