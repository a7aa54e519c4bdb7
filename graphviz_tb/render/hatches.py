"""Hatches as lines: in a PDF, and in a PNG, whose rasteriser fills an area with a pattern 500 times as slowly."""

from __future__ import annotations

from math import sqrt

from graphviz_tb.algorithms.colours import mixed
from graphviz_tb.model.drawing import Curve, Hatch, PathStep, Pen, Primitive

STEP = 6 * sqrt(2)  # px from line to line along a side: they are 6 apart, as in the pattern of the SVG
FAINT = 40  # per cent of its colour in a line, as there


def without_hatch(shape: Primitive, ground: str) -> Primitive:
    """Another shape as it is."""
    return hatch_lines(shape, ground) if isinstance(shape, Hatch) else shape


def hatch_lines(box: Hatch, ground: str) -> Curve:
    """The lines of a hatch, which rise to the right, in its colour mixed with the ground."""
    steps: list[PathStep] = []
    across = STEP / 2 - box.height
    while across < box.width:
        low, high = chord(box, across)  # how far up the line begins and ends, and as far to the right
        if low < high:
            left, bottom = box.x + across, box.y + box.height
            steps.append(("M", (round(left + low, 2), round(bottom - low, 2))))
            steps.append(("L", (round(left + high, 2), round(bottom - high, 2))))
        across += STEP
    return Curve(tuple(steps), pen=Pen(mixed(ground, box.colour, FAINT)))


def chord(box: Hatch, across: float) -> tuple[float, float]:
    """From where to where a line lies within a rounded rectangle: it starts so far `across` its lower border, and goes
    as far up as to the right. The first is not below the second where none of it does.

    >>> chord(Hatch(0, 0, 30, 10, 0, "#000000"), 5), chord(Hatch(0, 0, 30, 10, 0, "#000000"), 25)
    ((0, 10), (0, 5))
    """
    low, high = max(0, -across), min(box.height, box.width - across)
    for right in (False, True):
        for upper in (False, True):
            low, high = rounded(box, across, low, high, right, upper)
    return low, high


def rounded(box: Hatch, across: float, low: float, high: float, right: bool, upper: bool) -> tuple[float, float]:
    """What is left of a chord within one rounded corner."""
    # (x, y): the middle of the corner's circle, from where the line begins; the line runs along x = y.
    r = box.radius
    x, y = (box.width - r if right else r) - across, box.height - r if upper else r
    middle, away = (x + y) / 2, (x - y) / sqrt(2)
    half = sqrt(max(0, r * r - away * away) / 2)  # half of the chord, along either axis

    def cut(at: float) -> bool:
        return (at > x if right else at < x) and (at > y if upper else at < y)

    return (middle - half if cut(low) else low), (middle + half if cut(high) else high)
