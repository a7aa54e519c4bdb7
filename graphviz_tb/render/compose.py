"""Compose the picture as a `Drawing`: a scene in its colours, below its title, next to its legend; figures to print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from graphviz_tb.model.drawing import Disc, Drawing, Group, Pen, Primitive, Rectangle, Section
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import WORDS_DOT, elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paint import Caption, LineTint, Paint, RowFill
from graphviz_tb.model.scene import Box, Port, Scene, Separator, Stub, Text
from graphviz_tb.model.theme import LIGHT_THEME, Theme
from graphviz_tb.options import PictureOptions
from graphviz_tb.render import boxes
from graphviz_tb.render.close_frame import close_frame, sole_frame
from graphviz_tb.render.legend import (
    PAPER_THEME,
    LegendBlock,
    LegendShape,
    draw_legend,
    legend_blocks,
    legend_in_lines,
    rows_by_kind,
    text_labels,
)
from graphviz_tb.render.lines import draw_route, draw_web, edge_colour, straight_line

# The position of everything on the sheet, and the title row at its top.

PAGE_MARGIN = 24  # px around the sheet
TITLE_SIZE, FACTS_SIZE, TITLE_ROW = 16, 11, 48  # px: two lines of text, and the strip they are in
LEGEND_GAP = 24  # px between the drawing and its legend
MIN_TITLE_WIDTH = 240  # px: a shorter title is not readable
MAX_TITLE_GROWTH = 480  # px; a title, or the facts below it, may widen a picture up to this width
# px: the strip of a title in one line, the gap between name and facts, and the longest such line
TITLE_LINE_PX, TITLE_GAP_PX, MAX_TITLE_LINE_PX = 32, 14, 560
SCREEN_RATIO = 12, 7  # a laptop's window
MAX_LEGEND_PERCENT = 115  # of the width of the scene; a longer legend is broken into lines
MIN_LEGEND_LINE_PX = 320  # a legend is not broken into shorter lines


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """The whole picture: its size, the place of the scene, and the legend with its place."""

    width: int
    height: int
    scene: tuple[int, int]
    legend: LegendShape | None = None
    at: tuple[int, int] = (0, 0)


def _lay_out_sheet(
    scene: Scene, blocks: Sequence[LegendBlock], caption: Caption, margin: int = PAGE_MARGIN, line: int = 0
) -> SheetLayout:
    """Return the position of everything: the title above the scene, and the legend below it, in lines of at most `line`
    px (0: chosen by the width of the scene)."""
    title_width, title_height = _title_size(caption)
    if line:  # in print no title makes the figure wider
        title_width = min(title_width, line)
    # A line of the legend may be a little longer than the scene, or as long as a screen that shows the whole scene.
    screen = SCREEN_RATIO[0] * scene.height // SCREEN_RATIO[1]
    longest = max(scene.height, min(MAX_LEGEND_PERCENT * scene.width // 100, screen))
    limit = line or max(scene.width, title_width, MIN_LEGEND_LINE_PX, longest)
    legend = legend_in_lines(blocks, limit) if blocks else None
    top = margin + title_height
    bottom = top + scene.height
    width = max(scene.width, title_width, legend.width if legend else 0)
    corner = margin + (width - scene.width) // 2, top
    if legend is None:
        return SheetLayout(width + 2 * margin, bottom + margin, corner)
    at = margin, bottom + LEGEND_GAP
    return SheetLayout(width + 2 * margin, bottom + LEGEND_GAP + legend.height + margin, corner, legend, at)


def _title_size(caption: Caption) -> tuple[int, int]:
    """Return the size of the title: one line of name and facts if it is at most `MAX_TITLE_LINE_PX` long, otherwise
    two."""
    if not caption.title:
        return 0, 0
    name, facts = text_width(caption.title, TITLE_SIZE, True), text_width(caption.facts, FACTS_SIZE)
    if name + TITLE_GAP_PX + facts <= MAX_TITLE_LINE_PX:
        return max(MIN_TITLE_WIDTH, name + TITLE_GAP_PX + facts), TITLE_LINE_PX
    return max(MIN_TITLE_WIDTH, min(MAX_TITLE_GROWTH, max(name, facts))), TITLE_ROW


def _title_row(caption: Caption, theme: Theme, page_width: int) -> tuple[Group, ...]:
    """Return the name of the model, and the facts of the picture below it."""
    if not caption.title:
        return ()
    room = page_width - 2 * PAGE_MARGIN
    title_width, title_height = _title_size(caption)
    if title_height == TITLE_LINE_PX and title_width <= room:
        size = TITLE_SIZE, text_width(caption.title, TITLE_SIZE, True)
        title = text_labels(
            replace_unsafe_characters(caption.title), PAGE_MARGIN, PAGE_MARGIN + 14, *size, theme.text, semibold=True
        )
        left = PAGE_MARGIN + size[1] + TITLE_GAP_PX
        size = FACTS_SIZE, text_width(caption.facts, FACTS_SIZE)
        return (Group((*title, *text_labels(caption.facts, left, PAGE_MARGIN + 14, *size, theme.secondary))),)
    name = elide_text(replace_unsafe_characters(caption.title), room, TITLE_SIZE, True)
    facts = elide_text(caption.facts, room, FACTS_SIZE)
    size = TITLE_SIZE, text_width(name, TITLE_SIZE, True)
    title = text_labels(name, PAGE_MARGIN, PAGE_MARGIN + 14, *size, theme.text, semibold=True)
    facts_line = text_labels(
        facts, PAGE_MARGIN, PAGE_MARGIN + 32, FACTS_SIZE, text_width(facts, FACTS_SIZE), theme.secondary
    )
    return (Group((*title, *facts_line)),)


PORT_RADIUS = 2.5  # radius
COUNT_ENDINGS = ("ops", "new", "gone", "changed", "reconnected")  # of texts of a frame that only count
BADGE_SIZE = 9  # px; the letter is also in the legend, in a larger size


def compose(
    scene: Scene, paint: Paint, caption: Caption, with_legend: bool = True, margin: int = PAGE_MARGIN, line: int = 0
) -> Drawing:
    """Compose the whole sheet, independent of the output format.

    A frame around the whole model is not drawn, because its name is in the title, nor is a frame without a name. `line`
    is the longest line of the legend in px, for print.
    """
    chosen = {index for index, box in enumerate(scene.boxes) if box.address in caption.select}
    frame = _whole_frame(scene, paint, chosen)
    if frame >= 0 and caption.title:
        texts = [text for text in scene.texts if text.inside and text.box == frame]
        # Leave out counts of ops and changes, which are in the facts already.
        labels = [text.full for text in texts if text.role == "title" or not text.full.endswith(COUNT_ENDINGS)]
        phrases = [phrase for label in labels for phrase in label.split(WORDS_DOT)]
        words = [phrase for phrase in phrases if f"{phrase} parameters" not in caption.facts.split(WORDS_DOT)]
        caption = Caption(caption.title, " · ".join([*words, caption.facts]), caption.select)
    if frame >= 0:
        scene = close_frame(scene, frame)
    kinds = replace(paint, legend=tuple(rows_by_kind(paint.legend)))
    page = _lay_out_sheet(scene, legend_blocks(scene, kinds) if with_legend else (), caption, margin, line)
    parts = [
        Section("title", (0, 0), _title_row(caption, paint.theme, page.width)),
        Section("graph", page.scene, _graph_groups(scene, paint, chosen)),
    ]
    if page.legend:
        parts.append(Section("legend", page.at, tuple(draw_legend(page.legend, paint.theme))))
    return Drawing(
        width=page.width,
        height=page.height,
        title=caption.title or "graph",
        summary=caption.facts,
        ground=paint.theme.background,
        parts=tuple(parts),
    )


def _whole_frame(scene: Scene, paint: Paint, chosen: set[int]) -> int:
    """Return the frame that contains everything except single inputs and outputs, if its colours have no meaning; -1 if
    there is none."""
    frame = sole_frame(scene)
    if frame < 0 or paint.boxes[frame].hued or paint.boxes[frame].sign or frame in chosen:
        return -1
    return frame


def _graph_groups(scene: Scene, paint: Paint, chosen: set[int]) -> tuple[Group, ...]:
    """Draw the scene in layers: frames, rules, edges, stubs, boxes with their texts, titles, ports, labels of edges."""
    theme = paint.theme
    inside: dict[int, list[Text]] = {}
    for text in scene.texts:
        # Texts under -1 are drawn separately; other texts belong to the group of their box.
        inside.setdefault(text.box if text.inside else -1, []).append(text)
    opened = [index for index, box in enumerate(scene.boxes) if box.open]
    closed = [index for index, box in enumerate(scene.boxes) if not box.open]
    framed = [index for index in opened if not scene.boxes[index].bare]
    return (
        *(_node_group(scene, index, paint, [], chosen) for index in opened),
        *(_rule_group(rule, theme) for rule in scene.rules),
        *(group for bundle in scene.webs for group in draw_web(bundle, scene, theme)),
        *_draw_edges(scene, paint, chosen),
        *map(partial(_stub_group, theme), scene.stubs, paint.stubs, paint.tints.stubs),
        *(_node_group(scene, index, paint, inside.get(index, []), chosen) for index in closed),
        *(_titles_group(scene.boxes[index], inside.get(index, []), theme) for index in framed),
        *(_port_group(port, theme) for port in scene.ports if not port.bare),
        *(_free_text_group(text, scene, theme) for text in inside.get(-1, [])),
    )


def _draw_edges(scene: Scene, paint: Paint, chosen: set[int]) -> list[Group]:
    """Draw the edges in the order of `edge_order`."""
    drawn_lines = [(scene.routes[at], paint.tints.routes[at]) for at in edge_order(scene, paint)]
    return [
        group
        for line, tint in drawn_lines
        if (group := draw_route(line, paint.theme, line.source in chosen or line.target in chosen, tint)).shapes
    ]


def edge_order(scene: Scene, paint: Paint) -> list[int]:
    """Return the indices of the edges in drawing order: changed edges in front of others, main paths in front of edges
    that part from them, thick edges in front of thin ones, so that lines that coincide look like the thickest."""
    tints = paint.tints.routes
    return sorted(
        range(len(scene.routes)),
        key=lambda at: (_change_rank(tints[at]), scene.routes[at].main, scene.routes[at].thickness),
    )


def _change_rank(tint: LineTint | None) -> int:
    """Return 0 for a line that did not change between two graphs, 1 if a part of it changed, 2 if all of it changed."""
    return 0 if tint is None or not tint.sign else 1 + tint.whole


def _rule_group(rule: Separator, theme: Theme) -> Group:
    points = (rule.x1 + 0.5, rule.y1 + 0.5), (rule.x2 + 0.5, rule.y2 + 0.5)  # sharp in the middle of a pixel
    return Group((straight_line(*points, Pen(theme.rule)),))


def _stub_group(theme: Theme, mark: Stub, fill: RowFill | None, tint: LineTint | None) -> Group:
    return Group(tuple(boxes.draw_stub(mark, fill, theme, tint)), tooltip=mark.title)


def _node_group(scene: Scene, index: int, paint: Paint, texts: list[Text], chosen: set[int]) -> Group:
    """Draw one box as a group with its name."""
    box, fill, theme = scene.boxes[index], paint.boxes[index], paint.theme
    if box.bare:
        return Group((), address=box.address, tooltip=box.title)
    shapes = boxes.draw_frame(box, fill, theme) if box.open else boxes.draw_closed_box(box, fill, theme)
    if index in chosen:
        shapes.append(_selection_outline(box, theme))
    if not box.open and fill.badge:
        shapes += _badge_text(box, fill.badge, fill.text)
    halo = fill.fill if fill.hatch else None  # text on a hatch would be hard to read
    for text in texts:
        shapes += _scene_text(text, _text_colour(text, fill.text, fill.second, theme), halo)
    title = " · ".join(part for part in (box.title, paint.accounts[index]) if part)
    return Group(tuple(shapes), address=box.address, tooltip=title)


def _selection_outline(box: Box, theme: Theme) -> Rectangle:
    radius = 13 if boxes.is_pill(box) else 7
    return Rectangle(box.x - 1.5, box.y - 1.5, box.width + 3, box.height + 3, radius, pen=Pen(theme.selected, 2.5))


def _badge_text(box: Box, badge: str, colour: str) -> list[Primitive]:
    """Draw the letter of a structure, at the lower right."""
    x, y, wide, tall = boxes.front_bounds(box)
    return text_labels(badge, x + wide - 5, y + tall - 5, BADGE_SIZE, text_width(badge, BADGE_SIZE), colour, "end")


def _titles_group(box: Box, texts: list[Text], theme: Theme) -> Group:
    """Draw the texts of a title bar, above the edges that cross it."""
    shapes = [shape for text in texts for shape in _scene_text(text, _text_colour(text, "", "", theme))]
    return Group(tuple(shapes), tooltip=box.title)


def _text_colour(text: Text, first: str, second: str, theme: Theme) -> str:
    if text.role == "label":
        return first
    if text.role == "second":
        return second
    return theme.text if text.role in ("title", "heading") else theme.secondary


def _scene_text(text: Text, colour: str, halo: str | None = None) -> list[Primitive]:
    return text_labels(text.content, text.x, text.y, text.size, text.width, colour, text.anchor, text.semibold, halo)


def _free_text_group(text: Text, scene: Scene, theme: Theme) -> Group:
    """Draw a text outside of boxes; the label of an edge has a halo in the colour of its ground."""
    colour = theme.text if text.role == "heading" else theme.secondary
    ground = None
    if text.role == "edge":
        around = text.box
        while around >= 0 and scene.boxes[around].bare:
            around = scene.boxes[around].parent
        ground = theme.frame_fill(scene.boxes[around].depth + 1) if around >= 0 else theme.background
    return Group(tuple(_scene_text(text, colour, ground)), tooltip=text.full if text.full != text.content else "")


def _port_group(port: Port, theme: Theme) -> Group:
    dots = () if port.bare else (Disc(port.x, port.y, PORT_RADIUS, edge_colour(port, theme)),)
    return Group(dots, tooltip=port.title)


# A figure for print in its true size, without the marks that need a screen, and readable without colours.

TEXT_WIDTH_MM = 178  # mm: the width of a page's text
POINTS_PER_MM = 72 / 25.4
MIN_UNIT_POINTS, MAX_UNIT_POINTS = 0.7, 1.0  # points per unit; names of 10 units are 7 to 10 points high
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
    """Return the largest width and height of a figure in units, with text of the smallest size.

    >>> paper_units(PictureOptions(paper=True)), paper_units(PictureOptions(paper=True, width_mm=84))
    ((720, 971), (340, 971))
    """
    units = POINTS_PER_MM / MIN_UNIT_POINTS
    return int((options.width_mm or TEXT_WIDTH_MM) * units), int(TEXT_HEIGHT_MM * units)


def width_notices(drawing: Drawing, options: PictureOptions) -> tuple[Notice, ...]:
    """Return a notice if a figure is wider than requested."""
    wide, asked = drawing.width * drawing.points / POINTS_PER_MM, options.width_mm or TEXT_WIDTH_MM
    if wide < asked + 0.1:
        return ()
    return (Notice("wide-figure", f"the figure is {wide:.0f} mm wide: text of 7 pt needs that", strict=False),)
