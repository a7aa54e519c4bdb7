"""SVG: a document without scripts, styles and network access; equal drawings give equal bytes."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

from graphviz_tb.model.drawing import (
    Curve,
    Disc,
    Drawing,
    Group,
    Hatch,
    Label,
    PathStep,
    Pen,
    Primitive,
    Rectangle,
    Section,
)
from graphviz_tb.render.hatches import FAINT
from graphviz_tb.render.markup import line, num, tooltip, value, words

STACK = "Arimo, Arial, Helvetica, 'Liberation Sans', 'Noto Sans KR', 'Malgun Gothic', 'Apple SD Gothic Neo', sans-serif"
HATCH_FAINT = FAINT / 100  # opacity of the lines of a hatch
Viewport = tuple[int, int, float, int]  # width and height in pixels, pixels per unit, top
TEMPLATES = {
    command: command + " ".join(["%.1f"] * count)
    for command, count in (("M", 2), ("L", 2), ("H", 1), ("V", 1), ("Q", 4), ("C", 6), ("Z", 0))
} | {"A": "A%.1f %.1f 0 0 1 %.1f %.1f"}
HALO = 6  # three pixels on either side of a stroke


def svg(drawing: Drawing, window: Viewport | None = None) -> bytes:
    """Return the document as UTF-8 bytes: the whole sheet, or the part in a window."""
    size = f'width="{drawing.width}" height="{drawing.height}" viewBox="0 0 {drawing.width} {drawing.height}"'
    if window:
        wide, high, zoom, top = window
        size = f'width="{wide}" height="{high}" viewBox="0 {top / zoom:.9f} {wide / zoom:.9f} {high / zoom:.9f}"'
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{STACK}">',
        tooltip(drawing.title),
        f"<desc>{words(drawing.summary)}</desc>",
        definitions(drawing),
        f'<rect width="{drawing.width}" height="{drawing.height}" fill="{drawing.ground}"/>',
    ]
    # Piece by piece: names of deep groups may take hundreds of megabytes, which should not be held four times.
    text = BytesIO()
    text.write("\n".join(line for line in body if line).encode())
    for layer in drawing.parts:
        for piece in section_groups(layer):
            text.write(piece.encode())
    text.write(b"\n</svg>\n")
    return text.getvalue()


def definitions(drawing: Drawing) -> str:
    """Return the pattern of hatches, if there are any; they have one colour in a drawing."""
    colour = next((shape.colour for shape in drawing.shapes() if isinstance(shape, Hatch)), None)
    if colour is None:
        return ""
    # Vertical lines 6 px apart, rotated by 45°: they rise to the right, like those of `hatches.py`.
    lines = f'<path d="M0 0V6" stroke="{colour}" stroke-width="1" stroke-opacity="{HATCH_FAINT}"/>'
    pattern = '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    return f"<defs>{pattern}{lines}</pattern></defs>"


def section_groups(layer: Section) -> Iterator[str]:
    """Yield a part of the sheet, one group on each line."""
    moved = layer.at != (0, 0)
    if moved:
        yield f'\n<g transform="{translate(layer.at)}">'
    for number, inner in enumerate(layer.groups):
        element = group(inner)
        yield element if moved and not number else f"\n{element}"
    if moved:
        yield "</g>"


def group(marks: Group) -> str:
    """Return shapes as one element if they represent something, else bare."""
    body = tooltip(marks.tooltip) + "".join(shape_elements(inner) for inner in marks.shapes)
    moved = f' transform="{translate(marks.at)}"' if marks.at != (0, 0) else ""
    name = f' data-name="{value(marks.address)}"' if marks.address is not None else ""
    data = "".join(f' data-{key}="{value(word)}"' for key, word in marks.data)
    # A tooltip is a child of the element it explains.
    return f"<g{name}{data}{moved}>{body}</g>" if name or data or moved or marks.tooltip else body


def translate(offset: tuple[float, float]) -> str:
    """Return a move of the origin."""
    return f"translate({offset[0]:g} {offset[1]:g})"


def shape_elements(primitive: Primitive) -> str:
    """Return one primitive."""
    match primitive:
        case Rectangle(x, y, width, height, radius, fill, pen):
            return f'<rect {rectangle_attributes(x, y, width, height, radius)} fill="{fill or "none"}"{stroke(pen)}/>'
        case Hatch(x, y, width, height, radius):
            return f'<rect {rectangle_attributes(x, y, width, height, radius)} fill="url(#hatch)"/>'
        case Disc(x, y, radius, fill, pen):
            return f'<circle cx="{num(x)}" cy="{num(y)}" r="{num(radius)}" fill="{fill}"{stroke(pen)}/>'
        case Curve(steps, fill, pen):
            return f'<path d="{path(steps)}" fill="{fill or "none"}"{stroke(pen)}{placed(primitive)}/>'
        case Label():
            return text_element(primitive)


def rectangle_attributes(x: float, y: float, width: float, height: float, radius: float) -> str:
    """Return the place and the size of a rectangle."""
    corner = f' rx="{num(radius)}"' if radius else ""
    return f'x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}"{corner}'


def stroke(pen: Pen | None) -> str:
    """Return the attributes of an outline, without defaults."""
    if pen is None:
        return ""
    text = f' stroke="{pen.colour}"'
    if pen.width != 1:
        text += f' stroke-width="{num(pen.width)}"'
    if pen.dashes:
        text += f' stroke-dasharray="{spaced(pen.dashes)}"'
    if pen.cap != "butt":
        text += f' stroke-linecap="{pen.cap}"'
    if pen.join != "miter":
        text += f' stroke-linejoin="{pen.join}"'
    return text


def path(steps: tuple[PathStep, ...]) -> str:
    """Return path data.

    >>> path((("M", (0, 0)), ("A", (5, 5, 5)), ("Z", ())))
    'M0 0A5 5 0 0 1 5 5Z'
    """
    template: list[str] = []
    numbers: list[float] = []
    for command, values in steps:
        template.append(TEMPLATES[command])
        numbers += (values[0], *values) if command == "A" else values
    # Like `num`, but all at once: a drawing has hundreds of thousands of numbers.
    text = "".join(template) % tuple(numbers)
    return text.replace("-0.0", "0.0").replace(".0", "")


def spaced(values: tuple[float, ...]) -> str:
    """Return numbers separated by spaces."""
    return " ".join(map(num, values))


def placed(curve: Curve) -> str:
    """Return the place and scale of an outline; "" for the default."""
    if curve.at == (0, 0) and curve.scale == 1:
        return ""
    return f' transform="{translate(curve.at)}' + (f' scale({curve.scale:g})"' if curve.scale != 1 else '"')


def text_element(label: Label) -> str:
    """Return a text in its measured width whatever font the viewer has, with a halo if one is given.

    >>> text_element(Label("a", 0, 12, 12, 7, "#000000"))
    '<text x="0" y="12" font-size="12" textLength="7" lengthAdjust="spacingAndGlyphs" fill="#000000">a</text>'
    """
    weight = ' font-weight="600"' if label.semibold else ""
    anchor = f' text-anchor="{label.anchor}"' if label.anchor != "start" else ""
    size = f'font-size="{label.size}"{weight}{anchor} textLength="{label.width}" lengthAdjust="spacingAndGlyphs"'
    paint = f'fill="{label.colour}"'
    if label.halo:  # `paint-order`: the halo is under the letters
        paint += f' stroke="{label.halo}" stroke-width="{HALO}" stroke-linejoin="round" paint-order="stroke"'
    return f'<text x="{num(label.x)}" y="{num(label.y)}" {size} {paint}>{line(label.content)}</text>'
