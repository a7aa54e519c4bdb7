"""A figure to print in its true size, without signs of a screen, readable without colours."""

from __future__ import annotations

from dataclasses import replace

from graphviz_tb.model.drawing import Drawing
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paint import Caption, Paint
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.theme import LIGHT_THEME
from graphviz_tb.options import PictureOptions
from graphviz_tb.render.compose import compose
from graphviz_tb.render.legend import PAPER_THEME

TEXT_WIDTH_MM = 178  # mm: the width of a page's text
POINTS_PER_MM = 72 / 25.4
MIN_UNIT_POINTS, MAX_UNIT_POINTS = 0.7, 1.0  # names are 10 units or more: 7 to 10 points high
FIGURE_MARGIN = 3  # units around the figure: the page has its own margins
TEXT_HEIGHT_MM = 240  # mm: the height of a page's text
PAPER_INK = replace(
    LIGHT_THEME,
    name=PAPER_THEME,
    text="#000000",
    secondary="#333333",
    quiet="#333333",
    main="#222222",
    data="#666666",
    reference="#222222",
    stroke="#666666",
    frames=("#FFFFFF", "#F7F7F7", "#EFEFEF"),
)


def compose_figure(scene: Scene, paint: Paint, caption: Caption, options: PictureOptions) -> Drawing:
    """Return the figure, exactly as wide as asked: with white on both sides where its text would be larger than usual.

    It is wider only if its text would be smaller than usual.
    """
    plain = replace(scene, boxes=tuple(replace(box, openable=False) for box in scene.boxes))
    line = paper_units(options)[0] - 2 * FIGURE_MARGIN
    drawing = compose(plain, replace(paint, theme=PAPER_INK), caption, options.legend, FIGURE_MARGIN, line)
    wide, tall = ((side or TEXT_WIDTH_MM) * POINTS_PER_MM for side in (options.width_mm, TEXT_HEIGHT_MM))
    points = max(MIN_UNIT_POINTS, min(MAX_UNIT_POINTS, tall / drawing.height))
    aside = max(0, int(wide / points) - drawing.width) // 2
    parts = tuple(replace(part, at=(part.at[0] + aside, part.at[1])) for part in drawing.parts)
    width = drawing.width + 2 * aside
    return replace(drawing, parts=parts, width=width, points=max(MIN_UNIT_POINTS, wide / width))


def paper_units(options: PictureOptions) -> tuple[int, int]:
    """Return how many units wide and high a figure may be with text of the least size.

    >>> paper_units(PictureOptions(paper=True)), paper_units(PictureOptions(paper=True, width_mm=84))
    ((720, 971), (340, 971))
    """
    units = POINTS_PER_MM / MIN_UNIT_POINTS
    return int((options.width_mm or TEXT_WIDTH_MM) * units), int(TEXT_HEIGHT_MM * units)


def width_notices(drawing: Drawing, options: PictureOptions) -> tuple[Notice, ...]:
    """Return a notice if a figure is wider than asked."""
    wide, asked = drawing.width * drawing.points / POINTS_PER_MM, options.width_mm or TEXT_WIDTH_MM
    if wide < asked + 0.1:
        return ()
    return (Notice("wide-figure", f"the figure is {wide:.0f} mm wide: text of 7 pt needs that", strict=False),)
