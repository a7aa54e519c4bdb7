"""Write a drawing as SVG without scripts, styles and network access; equal drawings yield equal bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from math import sqrt

from graphviz_tb.graphs.drawing_math import mix_colours
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
from graphviz_tb.model.measure import DANGEROUS_CHARACTERS

# Small pieces of SVG text: escaped strings, short numbers.

# Characters that XML 1.0 forbids, that would reverse text in a tooltip, or that need an escape.
SPECIAL_CHARACTERS = re.compile(f"[\x00-\x1f\x7f-\x9f{DANGEROUS_CHARACTERS}&<>\"']")  # and those that need an escape
ATTRIBUTE_ESCAPES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#x27;",
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
}
TEXT_ESCAPES = ATTRIBUTE_ESCAPES | {plain: plain for plain in "\"'\t\n\r"}
NO_BREAK = "\N{NO-BREAK SPACE}"


def escape_text(text: str) -> str:
    """Return `text` as XML character data.

    >>> escape_text("<script>&\\x00")
    '&lt;script&gt;&amp;�'
    """
    return SPECIAL_CHARACTERS.sub(lambda found: TEXT_ESCAPES.get(found[0], "\N{REPLACEMENT CHARACTER}"), text)


def _escape_attribute(text: str) -> str:
    """Return `text` as the value of an attribute, with line ends kept.

    >>> _escape_attribute('a"b\\nc')
    'a&quot;b&#10;c'
    """
    return SPECIAL_CHARACTERS.sub(lambda found: ATTRIBUTE_ESCAPES.get(found[0], "\N{REPLACEMENT CHARACTER}"), text)


def _escape_line(text: str) -> str:
    """Return `text` as the content of a text element, with no-break spaces where XML would drop spaces.

    >>> _escape_line(" a  b") == "\\xa0a\\xa0\\xa0b"
    True
    """
    if text[:1] == " " or text[-1:] == " " or "  " in text:
        text = text.replace(" ", NO_BREAK)
    return escape_text(text)


def _short_number(number: float) -> str:
    """Return a number with at most one decimal.

    >>> _short_number(3), _short_number(3.0), _short_number(2.25), _short_number(-0.04)
    ('3', '3', '2.2', '0')
    """
    if isinstance(number, int):
        return str(number)
    short = f"{number:.1f}"
    if short[-1] == "0":  # "3.0" is "3", and "-0.0" is "0"
        return short[:-2] if short != "-0.0" else "0"
    return short


def _title_element(text: str) -> str:
    return f"<title>{escape_text(text)}</title>" if text else ""


# Hatches as lines, for PDF and for PNG, whose rasteriser fills an area with a pattern 500 times more slowly.

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
        low, high = _hatch_chord(box, across)  # start and end of the line, both upwards and to the right
        if low < high:
            left, bottom = box.x + across, box.y + box.height
            steps.append(("M", (round(left + low, 2), round(bottom - low, 2))))
            steps.append(("L", (round(left + high, 2), round(bottom - high, 2))))
        across += HATCH_STEP
    return Curve(tuple(steps), pen=Pen(mix_colours(ground, box.colour, HATCH_PERCENT)))


def _hatch_chord(box: Hatch, across: float) -> tuple[float, float]:
    """Return the part of a rising 45° line within a rounded rectangle; the line starts at `across` on its lower border.

    The first value is not below the second if no part of it is inside.

    >>> _hatch_chord(Hatch(0, 0, 30, 10, 0, "#000000"), 5), _hatch_chord(Hatch(0, 0, 30, 10, 0, "#000000"), 25)
    ((0, 10), (0, 5))
    """
    low, high = max(0, -across), min(box.height, box.width - across)
    for right in (False, True):
        for upper in (False, True):
            low, high = _clip_at_corner(box, across, low, high, right, upper)
    return low, high


def _clip_at_corner(
    box: Hatch, across: float, low: float, high: float, right: bool, upper: bool
) -> tuple[float, float]:
    """Clip a chord at one rounded corner."""
    # (x, y) is the centre of the corner's circle, relative to the start of the line, which is x = y.
    r = box.radius
    x, y = (box.width - r if right else r) - across, box.height - r if upper else r
    middle, away = (x + y) / 2, (x - y) / sqrt(2)
    half = sqrt(max(0, r * r - away * away) / 2)  # half of the chord, along either axis

    def is_outside(at: float) -> bool:
        return (at > x if right else at < x) and (at > y if upper else at < y)

    return (middle - half if is_outside(low) else low), (middle + half if is_outside(high) else high)


FONT_STACK = (
    "Arimo, Arial, Helvetica, 'Liberation Sans', 'Noto Sans KR', 'Malgun Gothic', 'Apple SD Gothic Neo', sans-serif"
)
HATCH_OPACITY = HATCH_PERCENT / 100  # opacity of the lines of a hatch
Viewport = tuple[int, int, float, int]  # width and height in pixels, pixels per unit, top
STEP_TEMPLATES = {
    command: command + " ".join(["%.1f"] * count)
    for command, count in (("M", 2), ("L", 2), ("H", 1), ("V", 1), ("Q", 4), ("C", 6), ("Z", 0))
} | {"A": "A%.1f %.1f 0 0 1 %.1f %.1f"}
MM_PER_POINT = 25.4 / 72
HALO_WIDTH = 6  # px, half of it on each side of a stroke


def svg_bytes(drawing: Drawing, window: Viewport | None = None) -> bytes:
    """Return the document as UTF-8 bytes: the whole sheet, or the part in a window."""
    size = f'width="{drawing.width}" height="{drawing.height}" viewBox="0 0 {drawing.width} {drawing.height}"'
    if drawing.points:
        printed_width, printed_height = (
            f"{side * drawing.points * MM_PER_POINT:.2f}mm" for side in (drawing.width, drawing.height)
        )
        size = f'width="{printed_width}" height="{printed_height}" viewBox="0 0 {drawing.width} {drawing.height}"'
    if window:
        wide, high, zoom, top = window
        size = f'width="{wide}" height="{high}" viewBox="0 {top / zoom:.9f} {wide / zoom:.9f} {high / zoom:.9f}"'
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT_STACK}">',
        _title_element(drawing.title),
        f"<desc>{escape_text(drawing.summary)}</desc>",
        _svg_definitions(drawing),
        f'<rect width="{drawing.width}" height="{drawing.height}" fill="{drawing.ground}"/>',
    ]
    # Write piece by piece, because names of deep groups may take hundreds of megabytes.
    text = BytesIO()
    text.write("\n".join(line for line in body if line).encode())
    for layer in drawing.parts:
        for piece in _section_elements(layer):
            text.write(piece.encode())
    text.write(b"\n</svg>\n")
    return text.getvalue()


def _svg_definitions(drawing: Drawing) -> str:
    """Return the pattern of hatches, or "" without hatches; all hatches of a drawing have one colour."""
    colour = next((shape.colour for shape in drawing.shapes() if isinstance(shape, Hatch)), None)
    if colour is None:
        return ""
    # Vertical lines 6 px apart, rotated by 45°, so that they rise to the right, as in `hatch_lines`.
    lines = f'<path d="M0 0V6" stroke="{colour}" stroke-width="1" stroke-opacity="{HATCH_OPACITY}"/>'
    pattern = '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    return f"<defs>{pattern}{lines}</pattern></defs>"


def _section_elements(layer: Section) -> Iterator[str]:
    """Yield a part of the sheet, one group on each line."""
    moved = layer.at != (0, 0)
    if moved:
        yield f'\n<g transform="{_translation(layer.at)}">'
    for number, inner in enumerate(layer.groups):
        element = _group_element(inner)
        yield element if moved and not number else f"\n{element}"
    if moved:
        yield "</g>"


def _group_element(marks: Group) -> str:
    """Return shapes as a group element if they have an identity or a tooltip, otherwise without one."""
    body = _title_element(marks.tooltip) + "".join(_shape_element(inner) for inner in marks.shapes)
    moved = f' transform="{_translation(marks.at)}"' if marks.at != (0, 0) else ""
    name = f' data-name="{_escape_attribute(marks.address)}"' if marks.address is not None else ""
    data = "".join(f' data-{key}="{_escape_attribute(word)}"' for key, word in marks.data)
    # A tooltip is a child of the element it explains.
    return f"<g{name}{data}{moved}>{body}</g>" if name or data or moved or marks.tooltip else body


def _translation(offset: tuple[float, float]) -> str:
    return f"translate({offset[0]:g} {offset[1]:g})"


def _shape_element(primitive: Primitive) -> str:
    match primitive:
        case Rectangle(x, y, width, height, radius, fill, pen):
            shape = _rectangle_attributes(x, y, width, height, radius)
            return f'<rect {shape} fill="{fill or "none"}"{_stroke_attributes(pen)}/>'
        case Hatch(x, y, width, height, radius):
            return f'<rect {_rectangle_attributes(x, y, width, height, radius)} fill="url(#hatch)"/>'
        case Disc(x, y, radius, fill, pen):
            shape = f'cx="{_short_number(x)}" cy="{_short_number(y)}" r="{_short_number(radius)}"'
            return f'<circle {shape} fill="{fill}"{_stroke_attributes(pen)}/>'
        case Curve(steps, fill, pen):
            look = f'fill="{fill or "none"}"{_stroke_attributes(pen)}{_transform_attribute(primitive)}'
            return f'<path d="{_path_data(steps)}" {look}/>'
        case Label():
            return _text_element(primitive)


def _rectangle_attributes(x: float, y: float, width: float, height: float, radius: float) -> str:
    corner = f' rx="{_short_number(radius)}"' if radius else ""
    size = f'width="{_short_number(width)}" height="{_short_number(height)}"'
    return f'x="{_short_number(x)}" y="{_short_number(y)}" {size}{corner}'


def _stroke_attributes(pen: Pen | None) -> str:
    """Return the attributes of an outline, without defaults."""
    if pen is None:
        return ""
    text = f' stroke="{pen.colour}"'
    if pen.width != 1:
        text += f' stroke-width="{_short_number(pen.width)}"'
    if pen.dashes:
        text += f' stroke-dasharray="{" ".join(map(_short_number, pen.dashes))}"'
    if pen.cap != "butt":
        text += f' stroke-linecap="{pen.cap}"'
    if pen.join != "miter":
        text += f' stroke-linejoin="{pen.join}"'
    return text


def _path_data(steps: tuple[PathStep, ...]) -> str:
    """Return path data.

    >>> _path_data((("M", (0, 0)), ("A", (5, 5, 5)), ("Z", ())))
    'M0 0A5 5 0 0 1 5 5Z'
    """
    template: list[str] = []
    numbers: list[float] = []
    for command, values in steps:
        template.append(STEP_TEMPLATES[command])
        numbers += (values[0], *values) if command == "A" else values
    # Like `_short_number`, but all at once: a drawing has hundreds of thousands of numbers.
    text = "".join(template) % tuple(numbers)
    return text.replace("-0.0", "0.0").replace(".0", "")


def _transform_attribute(curve: Curve) -> str:
    """Return the transform of an outline; "" for the default."""
    if curve.at == (0, 0) and curve.scale == 1:
        return ""
    return f' transform="{_translation(curve.at)}' + (f' scale({curve.scale:g})"' if curve.scale != 1 else '"')


def _text_element(label: Label) -> str:
    """Return a text in its measured width, independent of the fonts of the viewer, with its halo if it has one.

    >>> _text_element(Label("a", 0, 12, 12, 7, "#000000"))
    '<text x="0" y="12" font-size="12" textLength="7" lengthAdjust="spacingAndGlyphs" fill="#000000">a</text>'
    """
    weight = ' font-weight="600"' if label.semibold else ""
    anchor = f' text-anchor="{label.anchor}"' if label.anchor != "start" else ""
    size = f'font-size="{label.size}"{weight}{anchor} textLength="{label.width}" lengthAdjust="spacingAndGlyphs"'
    paint = f'fill="{label.colour}"'
    if label.halo:  # `paint-order`: the halo is under the letters
        paint += f' stroke="{label.halo}" stroke-width="{HALO_WIDTH}" stroke-linejoin="round" paint-order="stroke"'
    place = f'x="{_short_number(label.x)}" y="{_short_number(label.y)}"'
    return f"<text {place} {size} {paint}>{_escape_line(label.content)}</text>"
