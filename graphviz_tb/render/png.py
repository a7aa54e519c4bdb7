"""PNG: the SVG, drawn by a rasteriser from a wheel with the font files of a wheel, so that a bare machine can do it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from math import hypot, isqrt

from graphviz_tb.errors import RequestError, ToolFailed, ToolMissing
from graphviz_tb.model.drawing import Curve, Drawing, Step
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import PictureOptions
from graphviz_tb.render.fonts import font_files, foreign, lacking
from graphviz_tb.render.svg import svg

FAMILY = "Arimo"
WIDEST = 8_000  # pixels, unless asked
LARGEST_PIXELS = 64_000_000  # pixels in all, unless asked
NEVER = 256_000_000  # the rasteriser would take gigabytes, and end the process where there are none
USUAL = 2.0  # pixels per unit, for screens of double density
INK = 10_000_000  # pixels that all lines are long, unless asked: the rasteriser draws as many in ten seconds
MOST_INK = 3 * INK
FAINTEST = 0.1  # scale below which nothing can be distinguished: no picture is drawn smaller to save ink
HELD = re.compile(r' textLength="\d+" lengthAdjust="spacingAndGlyphs"([^>]*>)([^<]*)')


@dataclass(frozen=True, slots=True)
class Raster:
    """The size of the PNG in pixels, the scale that the options asked for, and what keeps it smaller."""

    width: int
    height: int
    zoom: float
    asked: float
    limit: str = ""


def png(drawing: Drawing, options: PictureOptions) -> bytes:
    """The drawing as PNG bytes. After: never more pixels than the cap."""
    try:
        import resvg_py
    except ImportError as error:  # pragma: no cover - it is a dependency
        raise ToolMissing("the PNG rasteriser is not installed", hint="pip install resvg-py") from error
    size = raster(drawing.width, drawing.height, options, ink_of(drawing))
    strange = foreign(drawing, options.font_files)
    try:
        data = resvg_py.svg_to_bytes(
            svg_string=unheld(svg(drawing).decode()) if strange else svg(drawing).decode(),
            # The height follows: given both, the narrower one rules, and a rounded height takes a pixel of width.
            width=size.width,
            font_files=font_files(options.font_files, drawing),
            skip_system_fonts=not strange,
            font_family=FAMILY,
            sans_serif_family=FAMILY,
            serif_family=FAMILY,
            monospace_family=FAMILY,
        )
    except ValueError as error:
        raise ToolFailed(f"the PNG rasteriser stopped: {error}") from error
    return bytes(data)


def unheld(sheet: str) -> str:
    """An SVG whose texts with joined letters, such as emoji of several people, are not held to their measured width.

    Of such a letter that no font has, the rasteriser counts only the first box, and draws the text far too wide.

    >>> unheld('<text textLength="42" lengthAdjust="spacingAndGlyphs" fill="#000">हिन्दी</text>')
    '<text fill="#000">हिन्दी</text>'
    >>> unheld('<text textLength="9" lengthAdjust="spacingAndGlyphs">한국</text>')
    '<text textLength="9" lengthAdjust="spacingAndGlyphs">한국</text>'
    """
    return HELD.sub(lambda match: match[1] + match[2] if any(map(joins, match[2])) else match[0], sheet)


def joins(char: str) -> bool:
    """Whether a character is drawn as one with that before it: a mark, a joiner, a colour of skin."""
    return unicodedata.category(char) in ("Mn", "Mc", "Me") or char == "\u200d" or "\U0001f3fb" <= char <= "\U0001f3ff"


def raster(width: int, height: int, options: PictureOptions, ink: float = 0) -> Raster:
    """How large the PNG of a picture of `width` × `height`, with lines `ink` long in all, comes out.

    >>> raster(1000, 500, PictureOptions()).width
    2000
    >>> raster(8000, 8000, PictureOptions()).width
    8000
    >>> raster(1000, 500, PictureOptions(), 2 * INK).width
    500
    """
    asked = options.width / width if options.width else options.scale or USUAL
    zoom, limit = asked, f"{LARGEST_PIXELS // 1_000_000} megapixels"
    if options.width is None and options.scale is None:
        zoom = min(zoom, WIDEST / width)
        if width * height * zoom * zoom > LARGEST_PIXELS:
            zoom = isqrt(LARGEST_PIXELS * 1_000_000 // (width * height)) / 1000
        if ink * zoom > INK:
            zoom = min(zoom, max(INK / ink, FAINTEST))
            limit = f"lines of {INK // 1_000_000} million pixels"
    size = Raster(options.width or max(1, int(width * zoom)), max(1, int(height * zoom)), zoom, asked, limit)
    if ink * zoom > MOST_INK:
        raise RequestError(
            f"a PNG with lines of {ink * zoom / 1e6:,.0f} million pixels in all would take minutes",
            hint="ask for a smaller --scale or --width, open fewer groups, fold them, or write SVG",
        )
    if size.width * size.height > NEVER:
        raise RequestError(
            f"a PNG of {size.width} × {size.height} pixels is too large",
            hint="ask for a smaller --scale or --width, open fewer groups, or write SVG",
        )
    return size


def ink_of(drawing: Drawing) -> float:
    """How long all lines of a drawing are together, in its units: what the rasteriser's time depends on."""
    curves = (shape for shape in drawing.shapes() if isinstance(shape, Curve) and shape.pen)
    return sum(shape.scale * length(shape.steps) for shape in curves)


def length(steps: tuple[Step, ...]) -> float:
    """About how long an outline is: its curves count as straight.

    >>> length((("M", (0, 0)), ("L", (3, 4)), ("H", (10,)), ("M", (50, 50)), ("V", (40,))))
    22.0
    """
    total = x = y = 0.0
    for kind, numbers in steps:
        if not numbers:
            continue
        to_x = x if kind == "V" else numbers[0] if kind == "H" else numbers[-2]
        to_y = y if kind == "H" else numbers[-1]
        if kind != "M":
            total += hypot(to_x - x, to_y - y)
        x, y = to_x, to_y
    return total


def notices(drawing: Drawing, options: PictureOptions) -> tuple[Notice, ...]:
    """What a PNG of this drawing does not do as asked: fewer pixels, letters from a face of this machine."""
    size = raster(drawing.width, drawing.height, options, ink_of(drawing))
    raised = []
    if size.zoom < size.asked:
        scaled = f"the PNG is drawn at scale {size.zoom:.2f} to stay within {size.limit}"
        raised.append(Notice("png-scaled", scaled, strict=False))
    drawn = "they are drawn with a face of this machine if it has one, else as empty boxes"
    return (*raised, *lacking(foreign(drawing, options.font_files), "png-font", drawn))
