"""SVG: a standing document that needs no script, no style and no network, the same bytes for the same
scene."""

from __future__ import annotations

from dataclasses import dataclass

from graphviz_tb.model.measure import clean, elide, thousands, width
from graphviz_tb.model.paint import Caption, Painter, account_of, facts_of, fill_of, tint_of
from graphviz_tb.model.scene import Box, Port, Scene, Stub, Text
from graphviz_tb.model.theme import Theme
from graphviz_tb.options import PictureOptions
from graphviz_tb.render import boxes
from graphviz_tb.render.legend import Legend, legend
from graphviz_tb.render.lines import edge_colour, route
from graphviz_tb.render.markup import element, tooltip, value, words, written

STACK = "Arimo, Arial, Helvetica, 'Liberation Sans', 'Noto Sans KR', 'Malgun Gothic', 'Apple SD Gothic Neo', sans-serif"
MARGIN = 24
TITLE_SIZE, FACTS_SIZE, TITLE_ROW = 16, 11, 48
LEGEND_GAP = 32
LEAST_WIDTH = 240
PORT = 2.5


@dataclass(frozen=True, slots=True)
class Sheet:
    """The whole picture: its size, where the scene stands in it, where the legend."""

    width: int
    height: int
    scene: tuple[int, int]
    legend: tuple[int, int]


def svg(scene: Scene, painter: Painter, caption: Caption, options: PictureOptions) -> bytes:
    """The document as UTF-8 bytes."""
    key = legend(scene, painter) if options.legend else None
    page = sheet(scene, key, caption)
    theme = painter.theme
    body = [
        tooltip(caption.title or "graph"),
        f"<desc>{words(facts_of(painter, caption) or account(caption, painter.scheme))}</desc>",
        _definitions(theme) if any(painter.fill(box.row).hatch for box in scene.boxes) else "",
        element("rect", width=page.width, height=page.height, fill=theme.background),
        title_row(caption, painter, page.width),
        element("g", drawing(scene, painter, set(caption.select)), transform=_at(page.scene)),
        element("g", key.body, transform=_at(page.legend)) if key else "",
    ]
    told = "\n".join(part for part in body if part)
    return f"{_open_tag(page)}\n{told}\n</svg>\n".encode()


def document(scene: Scene, painter: Painter, caption: Caption, options: PictureOptions) -> Sheet:
    """The size of the document that `svg` makes."""
    return sheet(scene, legend(scene, painter) if options.legend else None, caption)


def _open_tag(page: Sheet) -> str:
    size = f'width="{page.width}" height="{page.height}" viewBox="0 0 {page.width} {page.height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{STACK}">'


def _at(point: tuple[int, int]) -> str:
    return f"translate({point[0]} {point[1]})"


def _definitions(theme: Theme) -> str:
    """The hatch of boxes that nothing is known about."""
    lines = element("path", d="M0 0V6", stroke=theme.stroke, stroke_width=1, stroke_opacity=0.4)
    pattern = '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    return f"<defs>{pattern}{lines}</pattern></defs>"


def sheet(scene: Scene, key: Legend | None, caption: Caption) -> Sheet:
    """Where everything stands. The legend goes below the drawing, at the left; beside it where the drawing is
    tall."""
    top = MARGIN + (TITLE_ROW if caption.title else 0)
    wide, tall = max(scene.width, _title_width(caption)), scene.height
    if key is None:
        return Sheet(wide + 2 * MARGIN, top + tall + MARGIN, (MARGIN, top), (0, 0))
    if tall > wide and tall >= key.height:
        left = MARGIN + key.width + LEGEND_GAP
        size = (left + scene.width + MARGIN, top + tall + MARGIN)
        return Sheet(max(size[0], wide + 2 * MARGIN), size[1], (left, top), (MARGIN, top + tall - key.height))
    under = top + tall + LEGEND_GAP
    return Sheet(max(wide, key.width) + 2 * MARGIN, under + key.height + MARGIN, (MARGIN, top), (MARGIN, under))


def _title_width(caption: Caption) -> int:
    if not caption.title:
        return 0
    return max(LEAST_WIDTH, min(480, width(caption.title, TITLE_SIZE, True)))


def account(caption: Caption, scheme: str) -> str:
    """What the title row says after the name.

    >>> account(Caption("mnist", 12670, 24), "structure")
    '12\\u2009670 ops · 24 shown · colour: structure'
    """
    ops = f"{thousands(caption.ops)} op{'' if caption.ops == 1 else 's'}"
    return f"{ops} · {thousands(caption.shown)} shown · colour: {scheme}"


def title_row(caption: Caption, painter: Painter, page_width: int) -> str:
    """The name of the model, and below it how much of it is shown and how it is coloured."""
    if not caption.title:
        return ""
    room = page_width - 2 * MARGIN
    name = elide(clean(caption.title), room, TITLE_SIZE, True)
    facts = elide(facts_of(painter, caption) or account(caption, painter.scheme), room, FACTS_SIZE)
    theme = painter.theme
    size = TITLE_SIZE, width(name, TITLE_SIZE, True)
    first = written(name, MARGIN, MARGIN + 14, *size, theme.text, semibold=True)
    return first + written(facts, MARGIN, MARGIN + 32, FACTS_SIZE, width(facts, FACTS_SIZE), theme.secondary)


def drawing(scene: Scene, painter: Painter, select: set[str]) -> str:
    """The scene, in layers: frames, rules, edges, boxes with their texts, stubs, ports, labels of edges."""
    theme = painter.theme
    chosen = {index for index, box in enumerate(scene.boxes) if box.address in select}
    inside: dict[int, list[Text]] = {}
    for text in scene.texts:
        inside.setdefault(text.box if text.inside else -1, []).append(text)
    opened = [index for index, box in enumerate(scene.boxes) if box.open]
    frames = [_node(scene, index, painter, [], chosen) for index in opened]
    closed = [
        _node(scene, index, painter, inside.get(index, []), chosen)
        for index, box in enumerate(scene.boxes)
        if not box.open
    ]
    rules = [
        element("path", d=f"M{rule.x1 + 0.5} {rule.y1 + 0.5}L{rule.x2 + 0.5} {rule.y2 + 0.5}", stroke=theme.rule)
        for rule in scene.rules
    ]
    edges = lines(scene, painter, chosen)
    stubs = [_stub(scene, one, painter) for one in scene.stubs]
    titles = [_titles(scene.boxes[index], inside.get(index, []), theme) for index in opened]
    free = [_free(text, scene, theme) for text in inside.get(-1, [])]
    ports = [_port(port, theme) for port in scene.ports]
    layers = (frames, rules, edges, stubs, closed, titles, ports, free)
    return "\n".join("\n".join(layer) for layer in layers if layer)


def lines(scene: Scene, painter: Painter, chosen: set[int]) -> list[str]:
    """The edges, those that changed between two graphs above the others."""
    tinted = [(one, tint_of(painter, scene, one)) for one in scene.routes]
    tinted.sort(key=lambda pair: 0 if pair[1] is None or not pair[1].sign else 1 + pair[1].whole)
    return [route(one, painter.theme, one.source in chosen or one.target in chosen, tint) for one, tint in tinted]


def _stub(scene: Scene, one: Stub, painter: Painter) -> str:
    fill = painter.fill(one.other) if one.other >= 0 else None
    return f"<g>{tooltip(one.title)}{boxes.stub(one, fill, painter.theme, tint_of(painter, scene, one))}</g>"


def _node(scene: Scene, index: int, painter: Painter, texts: list[Text], chosen: set[int]) -> str:
    """One box as a group that bears its name."""
    box = scene.boxes[index]
    fill = fill_of(painter, box.row, box.address)
    drawn = boxes.frame(box, fill, painter.theme) if box.open else boxes.closed(box, fill, painter.theme)
    if index in chosen:
        drawn += _outline(box, painter.theme)
    if not box.open and fill.badge:
        drawn += _badge(box, fill.badge, fill.text)
    halo = fill.fill if fill.hatch else None
    told = "".join(_text(text, _colour(text, fill.text, fill.second, painter.theme), halo) for text in texts)
    title = " · ".join(part for part in (box.title, account_of(painter, box.row)) if part)
    return f'<g data-name="{value(box.address)}">{tooltip(title)}{drawn}{told}</g>'


def _outline(box: Box, theme: Theme) -> str:
    return element(
        "rect",
        x=box.x - 1.5,
        y=box.y - 1.5,
        width=box.width + 3,
        height=box.height + 3,
        rx=13 if boxes.is_pill(box) else 7,
        fill="none",
        stroke=theme.selected,
        stroke_width=2.5,
    )


def _badge(box: Box, badge: str, colour: str) -> str:
    """The letter of a structure, at the lower right."""
    x, y, wide, tall = boxes.front(box)
    return written(badge, x + wide - 5, y + tall - 5, 9, width(badge, 9), colour, "end")


def _titles(box: Box, texts: list[Text], theme: Theme) -> str:
    """The texts of a title bar, above the edges that cross it."""
    told = "".join(_text(text, _colour(text, "", "", theme)) for text in texts)
    return f"<g>{tooltip(box.title)}{told}</g>"


def _colour(text: Text, first: str, second: str, theme: Theme) -> str:
    if text.role == "label":
        return first
    if text.role == "second":
        return second
    return theme.text if text.role in ("title", "heading") else theme.secondary


def _text(text: Text, colour: str, halo: str | None = None) -> str:
    """One text of the scene."""
    return written(text.content, text.x, text.y, text.size, text.width, colour, text.anchor, text.semibold, halo)


def _free(text: Text, scene: Scene, theme: Theme) -> str:
    """A text that lies in no box: its ground shows around its letters where it lies on an edge."""
    colour = theme.text if text.role == "heading" else theme.secondary
    ground = None
    if text.role == "edge":
        ground = theme.frame(scene.boxes[text.box].depth + 1) if text.box >= 0 else theme.background
    told = _text(text, colour, ground)
    return f"<g>{tooltip(text.full)}{told}</g>" if text.full != text.content else told


def _port(port: Port, theme: Theme) -> str:
    dot = element("circle", cx=port.x, cy=port.y, r=PORT, fill=edge_colour(port.kind, theme))
    return f"<g>{tooltip(port.title)}{dot}</g>" if port.title else dot
