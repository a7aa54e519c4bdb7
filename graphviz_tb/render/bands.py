"""Cut a drawing into horizontal bands, so that the rasteriser holds one band at once, not the sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from graphviz_tb.model.drawing import Curve, Disc, Drawing, Group, Hatch, Label, Pen, Primitive, Rectangle, Section
from graphviz_tb.render.ink import step_ends

VerticalExtent = tuple[float, float]  # from … to …, downwards
MITER_FACTOR = 4  # reach of a stroke beyond its outline at a sharp corner, in line widths
LETTER_REACH = 2  # reach of letters of any script above and below the baseline, in font sizes


def split_bands(drawing: Drawing, tops: Sequence[float]) -> Iterator[Drawing]:
    """Yield for each band, from one of `tops` (ascending) to the next, the drawing with what may be visible in it.

    All bands have the full sheet; every shape is in all bands that it reaches, in the drawing's order.
    """
    count = len(tops)
    # For each band the parts, their groups and their shapes, including empty ones.
    kept: list[list[Section]] = [[] for _ in range(count)]
    for part in drawing.parts:
        groups: list[list[Group]] = [[] for _ in range(count)]
        for group in part.groups:
            shapes: list[list[Primitive]] = [[] for _ in range(count)]
            down = part.at[1] + group.at[1]
            for shape in group.shapes:
                top, bottom = vertical_extent(shape)
                for band in bands_reached(tops, top + down, bottom + down):
                    shapes[band].append(shape)
            for band, inside in enumerate(shapes):
                if inside:
                    groups[band].append(replace(group, shapes=tuple(inside), address=None, tooltip="", data=()))
        for band, found in enumerate(groups):
            kept[band].append(replace(part, groups=tuple(found)))
    return (replace(drawing, parts=tuple(parts)) for parts in kept)


def bands_reached(tops: Sequence[float], top: float, bottom: float) -> range:
    """Return the bands that an extent meets; the last has no end.

    >>> bands_reached([0, 10, 20], -5, 3), bands_reached([0, 10, 20], 5, 10), bands_reached([0, 10, 20], 40, 50)
    (range(0, 1), range(0, 2), range(2, 3))
    """
    first = sum(begin <= top for begin in tops[1:])
    last = sum(begin <= bottom for begin in tops[1:])
    return range(first, last + 1)


def vertical_extent(shape: Primitive) -> VerticalExtent:
    """Return how far up and down a shape may reach, including its stroke and the letters of any script.

    >>> vertical_extent(Disc(0, 10, 2, "#000000")), vertical_extent(Label("a", 0, 20, 10, 5, "#000000"))
    ((8, 12), (0, 40))
    """
    match shape:
        case Label(y=y, size=size):
            return y - LETTER_REACH * size, y + LETTER_REACH * size
        case Disc(y=y, radius=radius, pen=pen):
            return y - radius - stroke_reach(pen), y + radius + stroke_reach(pen)
        case Curve(steps=steps, pen=pen, at=at, scale=scale):
            # A curve is within its controls, a quarter of a circle within its radius.
            lowest = [y for _, _, y in step_ends(steps)] or [0.0]
            for kind, values in steps:
                if kind in "QC":
                    lowest += values[1::2]
            round_ = max((values[0] for kind, values in steps if kind == "A"), default=0)
            around = scale * round_ + stroke_reach(pen) * scale
            return at[1] + scale * min(lowest) - around, at[1] + scale * max(lowest) + around
        case Rectangle(y=y, height=height, pen=pen):
            return y - stroke_reach(pen), y + height + stroke_reach(pen)
        case Hatch(y=y, height=height):
            return y, y + height


def stroke_reach(pen: Pen | None) -> float:
    """Return how far a stroke may reach beyond its outline."""
    return MITER_FACTOR * pen.width if pen else 0
