"""Hatches as lines, for PDF and for PNG, whose rasteriser fills an area with a pattern 500 times more slowly."""

from __future__ import annotations

from math import sqrt

from graphviz_tb.algorithms.colours import mix_colours
from graphviz_tb.model.drawing import Curve, Hatch, PathStep, Pen, Primitive

HATCH_STEP = 6 * sqrt(2)  # px between lines along a side: 6 px apart, as in the SVG's pattern
HATCH_PERCENT = 40  # share of its colour in a line, as in the SVG


def replace_hatch(shape: Primitive, ground: str) -> Primitive:
    """Replace a hatch by lines; return other shapes unchanged."""
    return hatch_lines(shape, ground) if isinstance(shape, Hatch) else shape


def hatch_lines(box: Hatch, ground: str) -> Curve:
    """Return the lines of a hatch, rising to the right, in its colour mixed with the ground."""
    steps: list[PathStep] = []
    across = HATCH_STEP / 2 - box.height
    while across < box.width:
        low, high = hatch_chord(box, across)  # start and end of the line, upwards and to the right alike
        if low < high:
            left, bottom = box.x + across, box.y + box.height
            steps.append(("M", (round(left + low, 2), round(bottom - low, 2))))
            steps.append(("L", (round(left + high, 2), round(bottom - high, 2))))
        across += HATCH_STEP
    return Curve(tuple(steps), pen=Pen(mix_colours(ground, box.colour, HATCH_PERCENT)))


def hatch_chord(box: Hatch, across: float) -> tuple[float, float]:
    """Return the part of a rising 45° line within a rounded rectangle; the line starts at `across` on its lower border.

    The first value is not below the second if no part of it is inside.

    >>> hatch_chord(Hatch(0, 0, 30, 10, 0, "#000000"), 5), hatch_chord(Hatch(0, 0, 30, 10, 0, "#000000"), 25)
    ((0, 10), (0, 5))
    """
    low, high = max(0, -across), min(box.height, box.width - across)
    for right in (False, True):
        for upper in (False, True):
            low, high = clip_at_corner(box, across, low, high, right, upper)
    return low, high


def clip_at_corner(box: Hatch, across: float, low: float, high: float, right: bool, upper: bool) -> tuple[float, float]:
    """Clip a chord at one rounded corner."""
    # (x, y): the centre of the corner's circle, relative to the line's start; the line is x = y.
    r = box.radius
    x, y = (box.width - r if right else r) - across, box.height - r if upper else r
    middle, away = (x + y) / 2, (x - y) / sqrt(2)
    half = sqrt(max(0, r * r - away * away) / 2)  # half of the chord, along either axis

    def is_outside(at: float) -> bool:
        return (at > x if right else at < x) and (at > y if upper else at < y)

    return (middle - half if is_outside(low) else low), (middle + half if is_outside(high) else high)
