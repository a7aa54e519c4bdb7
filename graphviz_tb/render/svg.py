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
from graphviz_tb.render.hatches import HATCH_PERCENT
from graphviz_tb.render.markup import escape_attribute, escape_line, escape_text, short_number, title_element

FONT_STACK = (
    "Arimo, Arial, Helvetica, 'Liberation Sans', 'Noto Sans KR', 'Malgun Gothic', 'Apple SD Gothic Neo', sans-serif"
)
HATCH_OPACITY = HATCH_PERCENT / 100  # opacity of the lines of a hatch
Viewport = tuple[int, int, float, int]  # width and height in pixels, pixels per unit, top
STEP_TEMPLATES = {
    command: command + " ".join(["%.1f"] * count)
    for command, count in (("M", 2), ("L", 2), ("H", 1), ("V", 1), ("Q", 4), ("C", 6), ("Z", 0))
} | {"A": "A%.1f %.1f 0 0 1 %.1f %.1f"}
HALO_WIDTH = 6  # three pixels on either side of a stroke


def svg_bytes(drawing: Drawing, window: Viewport | None = None) -> bytes:
    """Return the document as UTF-8 bytes: the whole sheet, or the part in a window."""
    size = f'width="{drawing.width}" height="{drawing.height}" viewBox="0 0 {drawing.width} {drawing.height}"'
    if window:
        wide, high, zoom, top = window
        size = f'width="{wide}" height="{high}" viewBox="0 {top / zoom:.9f} {wide / zoom:.9f} {high / zoom:.9f}"'
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT_STACK}">',
        title_element(drawing.title),
        f"<desc>{escape_text(drawing.summary)}</desc>",
        svg_definitions(drawing),
        f'<rect width="{drawing.width}" height="{drawing.height}" fill="{drawing.ground}"/>',
    ]
    # Piece by piece: names of deep groups may take hundreds of megabytes, which should not be held four times.
    text = BytesIO()
    text.write("\n".join(line for line in body if line).encode())
    for layer in drawing.parts:
        for piece in section_elements(layer):
            text.write(piece.encode())
    text.write(b"\n</svg>\n")
    return text.getvalue()


def svg_definitions(drawing: Drawing) -> str:
    """Return the pattern of hatches, if there are any; they have one colour in a drawing."""
    colour = next((shape.colour for shape in drawing.shapes() if isinstance(shape, Hatch)), None)
    if colour is None:
        return ""
    # Vertical lines 6 px apart, rotated by 45°: they rise to the right, like those of `hatches.py`.
    lines = f'<path d="M0 0V6" stroke="{colour}" stroke-width="1" stroke-opacity="{HATCH_OPACITY}"/>'
    pattern = '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    return f"<defs>{pattern}{lines}</pattern></defs>"


def section_elements(layer: Section) -> Iterator[str]:
    """Yield a part of the sheet, one group on each line."""
    moved = layer.at != (0, 0)
    if moved:
        yield f'\n<g transform="{translation(layer.at)}">'
    for number, inner in enumerate(layer.groups):
        element = group_element(inner)
        yield element if moved and not number else f"\n{element}"
    if moved:
        yield "</g>"


def group_element(marks: Group) -> str:
    """Return shapes as one element if they represent something, else bare."""
    body = title_element(marks.tooltip) + "".join(shape_element(inner) for inner in marks.shapes)
    moved = f' transform="{translation(marks.at)}"' if marks.at != (0, 0) else ""
    name = f' data-name="{escape_attribute(marks.address)}"' if marks.address is not None else ""
    data = "".join(f' data-{key}="{escape_attribute(word)}"' for key, word in marks.data)
    # A tooltip is a child of the element it explains.
    return f"<g{name}{data}{moved}>{body}</g>" if name or data or moved or marks.tooltip else body


def translation(offset: tuple[float, float]) -> str:
    """Return a move of the origin."""
    return f"translate({offset[0]:g} {offset[1]:g})"


def shape_element(primitive: Primitive) -> str:
    """Return one primitive."""
    match primitive:
        case Rectangle(x, y, width, height, radius, fill, pen):
            return f'<rect {rectangle_attributes(x, y, width, height, radius)} fill="{fill or "none"}"{stroke_attributes(pen)}/>'
        case Hatch(x, y, width, height, radius):
            return f'<rect {rectangle_attributes(x, y, width, height, radius)} fill="url(#hatch)"/>'
        case Disc(x, y, radius, fill, pen):
            return f'<circle cx="{short_number(x)}" cy="{short_number(y)}" r="{short_number(radius)}" fill="{fill}"{stroke_attributes(pen)}/>'
        case Curve(steps, fill, pen):
            return f'<path d="{path_data(steps)}" fill="{fill or "none"}"{stroke_attributes(pen)}{transform_attribute(primitive)}/>'
        case Label():
            return text_element(primitive)


def rectangle_attributes(x: float, y: float, width: float, height: float, radius: float) -> str:
    """Return the place and the size of a rectangle."""
    corner = f' rx="{short_number(radius)}"' if radius else ""
    return f'x="{short_number(x)}" y="{short_number(y)}" width="{short_number(width)}" height="{short_number(height)}"{corner}'


def stroke_attributes(pen: Pen | None) -> str:
    """Return the attributes of an outline, without defaults."""
    if pen is None:
        return ""
    text = f' stroke="{pen.colour}"'
    if pen.width != 1:
        text += f' stroke-width="{short_number(pen.width)}"'
    if pen.dashes:
        text += f' stroke-dasharray="{spaced_numbers(pen.dashes)}"'
    if pen.cap != "butt":
        text += f' stroke-linecap="{pen.cap}"'
    if pen.join != "miter":
        text += f' stroke-linejoin="{pen.join}"'
    return text


def path_data(steps: tuple[PathStep, ...]) -> str:
    """Return path data.

    >>> path_data((("M", (0, 0)), ("A", (5, 5, 5)), ("Z", ())))
    'M0 0A5 5 0 0 1 5 5Z'
    """
    template: list[str] = []
    numbers: list[float] = []
    for command, values in steps:
        template.append(STEP_TEMPLATES[command])
        numbers += (values[0], *values) if command == "A" else values
    # Like `short_number`, but all at once: a drawing has hundreds of thousands of numbers.
    text = "".join(template) % tuple(numbers)
    return text.replace("-0.0", "0.0").replace(".0", "")


def spaced_numbers(values: tuple[float, ...]) -> str:
    """Return numbers separated by spaces."""
    return " ".join(map(short_number, values))


def transform_attribute(curve: Curve) -> str:
    """Return the place and scale of an outline; "" for the default."""
    if curve.at == (0, 0) and curve.scale == 1:
        return ""
    return f' transform="{translation(curve.at)}' + (f' scale({curve.scale:g})"' if curve.scale != 1 else '"')


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
        paint += f' stroke="{label.halo}" stroke-width="{HALO_WIDTH}" stroke-linejoin="round" paint-order="stroke"'
    return f'<text x="{short_number(label.x)}" y="{short_number(label.y)}" {size} {paint}>{escape_line(label.content)}</text>'
