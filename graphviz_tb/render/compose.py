"""Compose the picture as a `Drawing`: a scene in its colours, below its title and next to its legend."""

from __future__ import annotations

from functools import partial

from graphviz_tb.model.drawing import Disc, Drawing, Group, Pen, Primitive, Rectangle, Section
from graphviz_tb.model.measure import text_width
from graphviz_tb.model.paint import Caption, LineTint, Paint, RowFill
from graphviz_tb.model.scene import Box, Port, Scene, Separator, Stub, Text
from graphviz_tb.model.theme import Theme
from graphviz_tb.render import boxes
from graphviz_tb.render.legend import legend_blocks
from graphviz_tb.render.lines import draw_route, draw_web, edge_colour, straight_line
from graphviz_tb.render.rows import draw_legend
from graphviz_tb.render.sheet import lay_out_sheet, title_row
from graphviz_tb.render.texts import text_labels

PORT_RADIUS = 2.5  # radius
BADGE_SIZE = 9  # px: the smallest text of a drawing, one letter that is also in the legend


def compose(scene: Scene, paint: Paint, caption: Caption, with_legend: bool = True) -> Drawing:
    """Compose the whole sheet, independent of the output format."""
    page = lay_out_sheet(scene, legend_blocks(scene, paint) if with_legend else (), caption)
    parts = [
        Section("title", (0, 0), title_row(caption, paint.theme, page.width)),
        Section("graph", page.scene, graph_groups(scene, paint, set(caption.select))),
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


def graph_groups(scene: Scene, paint: Paint, select: set[str]) -> tuple[Group, ...]:
    """Draw the scene in layers: frames, rules, edges, stubs, boxes with their texts, titles, ports, labels of edges."""
    theme = paint.theme
    chosen = {index for index, box in enumerate(scene.boxes) if box.address in select}
    inside: dict[int, list[Text]] = {}
    for text in scene.texts:
        # -1: texts drawn on their own; the others belong to the group of their box.
        inside.setdefault(text.box if text.inside else -1, []).append(text)
    opened = [index for index, box in enumerate(scene.boxes) if box.open]
    closed = [index for index, box in enumerate(scene.boxes) if not box.open]
    return (
        *(node_group(scene, index, paint, [], chosen) for index in opened),
        *(rule_group(rule, theme) for rule in scene.rules),
        *(group for bundle in scene.webs for group in draw_web(bundle, scene, theme)),
        *draw_edges(scene, paint, chosen),
        *map(partial(stub_group, theme), scene.stubs, paint.stubs, paint.tints.stubs),
        *(node_group(scene, index, paint, inside.get(index, []), chosen) for index in closed),
        *(titles_group(scene.boxes[index], inside.get(index, []), theme) for index in opened),
        *(port_group(port, theme) for port in scene.ports),
        *(free_text_group(text, scene, theme) for text in inside.get(-1, [])),
    )


def draw_edges(scene: Scene, paint: Paint, chosen: set[int]) -> list[Group]:
    """Draw the edges, those in front last."""
    drawn_lines = [(scene.routes[at], paint.tints.routes[at]) for at in edge_order(scene, paint)]
    return [
        group
        for line, tint in drawn_lines
        if (group := draw_route(line, paint.theme, line.source in chosen or line.target in chosen, tint)).shapes
    ]


def edge_order(scene: Scene, paint: Paint) -> list[int]:
    """Return the indices of the edges in drawing order: changed ones in front of others, thick ones in front of thin
    ones, so that lines that coincide look like the thickest."""
    tints = paint.tints.routes
    return sorted(range(len(scene.routes)), key=lambda at: (change_rank(tints[at]), scene.routes[at].thickness))


def change_rank(tint: LineTint | None) -> int:
    """Return 0 for a line that did not change between two graphs, 1 if a part of it did, 2 if all of it did."""
    return 0 if tint is None or not tint.sign else 1 + tint.whole


def rule_group(rule: Separator, theme: Theme) -> Group:
    points = (rule.x1 + 0.5, rule.y1 + 0.5), (rule.x2 + 0.5, rule.y2 + 0.5)  # sharp in the middle of a pixel
    return Group((straight_line(*points, Pen(theme.rule)),))


def stub_group(theme: Theme, mark: Stub, fill: RowFill | None, tint: LineTint | None) -> Group:
    return Group(tuple(boxes.draw_stub(mark, fill, theme, tint)), tooltip=mark.title)


def node_group(scene: Scene, index: int, paint: Paint, texts: list[Text], chosen: set[int]) -> Group:
    """Draw one box as a group with its name."""
    box, fill, theme = scene.boxes[index], paint.boxes[index], paint.theme
    shapes = boxes.draw_frame(box, fill, theme) if box.open else boxes.draw_closed_box(box, fill, theme)
    if index in chosen:
        shapes.append(selection_outline(box, theme))
    if not box.open and fill.badge:
        shapes += badge_text(box, fill.badge, fill.text)
    halo = fill.fill if fill.hatch else None  # letters on a hatch are hard to read
    for text in texts:
        shapes += scene_text(text, text_colour(text, fill.text, fill.second, theme), halo)
    title = " · ".join(part for part in (box.title, paint.accounts[index]) if part)
    return Group(tuple(shapes), address=box.address, tooltip=title)


def selection_outline(box: Box, theme: Theme) -> Rectangle:
    radius = 13 if boxes.is_pill(box) else 7
    return Rectangle(box.x - 1.5, box.y - 1.5, box.width + 3, box.height + 3, radius, pen=Pen(theme.selected, 2.5))


def badge_text(box: Box, badge: str, colour: str) -> list[Primitive]:
    """Draw the letter of a structure, at the lower right."""
    x, y, wide, tall = boxes.front_bounds(box)
    return text_labels(badge, x + wide - 5, y + tall - 5, BADGE_SIZE, text_width(badge, BADGE_SIZE), colour, "end")


def titles_group(box: Box, texts: list[Text], theme: Theme) -> Group:
    """Draw the texts of a title bar, above the edges that cross it."""
    shapes = [shape for text in texts for shape in scene_text(text, text_colour(text, "", "", theme))]
    return Group(tuple(shapes), tooltip=box.title)


def text_colour(text: Text, first: str, second: str, theme: Theme) -> str:
    if text.role == "label":
        return first
    if text.role == "second":
        return second
    return theme.text if text.role in ("title", "heading") else theme.secondary


def scene_text(text: Text, colour: str, halo: str | None = None) -> list[Primitive]:
    """Draw one text of the scene."""
    return text_labels(text.content, text.x, text.y, text.size, text.width, colour, text.anchor, text.semibold, halo)


def free_text_group(text: Text, scene: Scene, theme: Theme) -> Group:
    """Draw a text outside of boxes; the label of an edge has a halo in the colour of its ground."""
    colour = theme.text if text.role == "heading" else theme.secondary
    ground = None
    if text.role == "edge":
        ground = theme.frame_fill(scene.boxes[text.box].depth + 1) if text.box >= 0 else theme.background
    return Group(tuple(scene_text(text, colour, ground)), tooltip=text.full if text.full != text.content else "")


def port_group(port: Port, theme: Theme) -> Group:
    return Group((Disc(port.x, port.y, PORT_RADIUS, edge_colour(port, theme)),), tooltip=port.title)
