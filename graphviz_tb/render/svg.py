"""SVG: a standing document that needs no script, no style and no network, the same bytes for the same drawing."""

from __future__ import annotations

from graphviz_tb.model.drawing import Curve, Disc, Drawing, Group, Hatch, Label, Part, Pen, Rect, Shape, Step
from graphviz_tb.render.markup import element, line, num, tooltip, value, words

STACK = "Arimo, Arial, Helvetica, 'Liberation Sans', 'Noto Sans KR', 'Malgun Gothic', 'Apple SD Gothic Neo', sans-serif"
HATCH_FAINT = 0.4  # opacity of the lines of a hatch
HALO = 6  # three pixels on either side of a stroke


def svg(drawing: Drawing) -> bytes:
    """The document as UTF-8 bytes."""
    size = f'width="{drawing.width}" height="{drawing.height}" viewBox="0 0 {drawing.width} {drawing.height}"'
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{STACK}">',
        tooltip(drawing.title),
        f"<desc>{words(drawing.summary)}</desc>",
        definitions(drawing),
        element("rect", width=drawing.width, height=drawing.height, fill=drawing.ground),
        *(part(layer) for layer in drawing.parts),
        "</svg>\n",
    ]
    return "\n".join(line for line in body if line).encode()


def definitions(drawing: Drawing) -> str:
    """The pattern that hatches are filled with, where there are some; they have one colour in a drawing."""
    colour = next((shape.colour for shape in drawing.shapes() if isinstance(shape, Hatch)), None)
    if colour is None:
        return ""
    lines = element("path", d="M0 0V6", stroke=colour, stroke_width=1, stroke_opacity=HATCH_FAINT)
    pattern = '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    return f"<defs>{pattern}{lines}</pattern></defs>"


def part(layer: Part) -> str:
    """A part of the sheet, a group a line."""
    body = "\n".join(group(inner) for inner in layer.groups)
    return element("g", body, transform=translate(layer.at)) if layer.at != (0, 0) else body


def group(marks: Group) -> str:
    """Shapes as one element where they stand for something, bare where not."""
    body = tooltip(marks.tooltip) + "".join(shape(inner) for inner in marks.shapes)
    moved = f' transform="{translate(marks.at)}"' if marks.at != (0, 0) else ""
    name = f' data-name="{value(marks.address)}"' if marks.address is not None else ""
    data = "".join(f' data-{key}="{value(word)}"' for key, word in marks.data)
    return f"<g{name}{data}{moved}>{body}</g>" if name or data or moved or marks.tooltip else body


def translate(offset: tuple[float, float]) -> str:
    """A move of the origin."""
    return f"translate({offset[0]:g} {offset[1]:g})"


def shape(primitive: Shape) -> str:
    """One primitive."""
    match primitive:
        case Rect(x, y, width, height, radius, fill, pen):
            size = {"x": x, "y": y, "width": width, "height": height, "rx": radius or None}
            return element("rect", **size, fill=fill or "none", **stroke(pen))
        case Hatch(x, y, width, height, radius):
            return element("rect", x=x, y=y, width=width, height=height, rx=radius or None, fill="url(#hatch)")
        case Disc(x, y, radius, fill, pen):
            return element("circle", cx=x, cy=y, r=radius, fill=fill, **stroke(pen))
        case Curve(steps, fill, pen):
            return element("path", d=path(steps), fill=fill or "none", **stroke(pen), transform=placed(primitive))
        case Label():
            return text(primitive)


def stroke(pen: Pen | None) -> dict[str, object]:
    """The attributes of an outline; what is usual is not said."""
    if pen is None:
        return {}
    return {
        "stroke": pen.colour,
        "stroke_width": pen.width if pen.width != 1 else None,
        "stroke_dasharray": " ".join(map(num, pen.dashes)) or None,
        "stroke_linecap": pen.cap if pen.cap != "butt" else None,
        "stroke_linejoin": pen.join if pen.join != "miter" else None,
    }


def path(steps: tuple[Step, ...]) -> str:
    """Path data.

    >>> path((("M", (0, 0)), ("A", (5, 5, 5)), ("Z", ())))
    'M0 0A5 5 0 0 1 5 5Z'
    """
    return "".join(
        f"A{num(values[0])} {num(values[0])} 0 0 1 {num(values[1])} {num(values[2])}"
        if command == "A"
        else command + numbers(values)
        for command, values in steps
    )


def numbers(values: tuple[float, ...]) -> str:
    """Numbers with spaces between."""
    return " ".join(map(num, values))


def placed(curve: Curve) -> str | None:
    """Where an outline is drawn, and how large; None where it says so itself."""
    if curve.at == (0, 0) and curve.scale == 1:
        return None
    return translate(curve.at) + (f" scale({curve.scale:g})" if curve.scale != 1 else "")


def text(label: Label) -> str:
    """A text, held to its measured width whatever face the viewer has; its letters in a halo where one is given.

    >>> text(Label("a", 0, 12, 12, 7, "#000000"))
    '<text x="0" y="12" font-size="12" textLength="7" lengthAdjust="spacingAndGlyphs" fill="#000000">a</text>'
    """
    halo = {"stroke": label.halo, "stroke_width": HALO, "stroke_linejoin": "round", "paint_order": "stroke"}
    return element(
        "text",
        line(label.content),
        x=label.x,
        y=label.y,
        font_size=label.size,
        font_weight=600 if label.semibold else None,
        text_anchor=label.anchor if label.anchor != "start" else None,
        textLength=label.width,
        lengthAdjust="spacingAndGlyphs",
        fill=label.colour,
        **(halo if label.halo else {}),
    )
