"""Write PNG: a rasteriser draws the SVG. It and the fonts are Python packages, so no other program is needed."""

from __future__ import annotations

import re
import struct
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isqrt

from graphviz_tb.errors import RequestError, ToolFailed, ToolMissing
from graphviz_tb.extras import install_line
from graphviz_tb.limits import (
    MAX_ASKED_PNG_WORK,
    MAX_PNG_PIXELS,
    MAX_PNG_SIDE_PX,
    MAX_PNG_STEPS,
    MAX_PNG_TEXTS,
    MAX_PNG_WORK,
)
from graphviz_tb.model.drawing import Curve, Disc, Drawing, Group, Hatch, Label, Pen, Primitive, Rectangle, Section
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import PictureOptions
from graphviz_tb.progress import advance
from graphviz_tb.render.fonts import font_files, missing_font_notices, undrawable_texts
from graphviz_tb.render.raster_work import SHEET_PIXELS, RasterWork, covered_area, raster_work, step_ends
from graphviz_tb.render.svg import Viewport, replace_hatch, svg_bytes

# Stack PNG files of equal width into one (PNG specification, third edition, 2025).

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
BYTES_PER_PIXEL = 4  # bytes of a pixel: red, green, blue, alpha
PNG_FORMAT = bytes((8, 6, 0, 0, 0))  # bits of a sample, colours with alpha, deflated, with filters, not interlaced
FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH = range(5)  # filters of a row
COMPRESSION_LEVEL = 4  # half the time of the default 6, and 5 % more bytes


def _stack_pngs(files: Iterable[bytes], width: int, height: int) -> bytes:
    """Return one PNG of `width` × `height` pixels from PNGs that are stacked vertically.

    All have 8 bits a sample, red, green, blue and alpha, not interlaced.
    """
    packer, packed = zlib.compressobj(COMPRESSION_LEVEL), []
    for file in files:
        rows = bytearray(zlib.decompress(b"".join(body for kind, body in _read_chunks(file) if kind == b"IDAT")))
        _detach_first_row(rows, 1 + BYTES_PER_PIXEL * width)
        packed.append(packer.compress(rows))
    packed.append(packer.flush())
    header = struct.pack(">II", width, height) + PNG_FORMAT
    return (
        PNG_SIGNATURE + _png_chunk(b"IHDR", header) + _png_chunk(b"IDAT", b"".join(packed)) + _png_chunk(b"IEND", b"")
    )


def with_software(file: bytes) -> bytes:
    """Return the PNG with the name of this program in it, which identifies files that the program may overwrite."""
    end = len(PNG_SIGNATURE) + 25  # the header: 13 bytes, and 12 around them
    return file[:end] + _png_chunk(b"tEXt", b"Software\0tbgraph") + file[end:]


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _read_chunks(file: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(PNG_SIGNATURE)
    while at < len(file):
        size, kind = struct.unpack_from(">I4s", file, at)
        yield kind, file[at + 8 : at + 8 + size]
        at += size + 12


def _detach_first_row(rows: bytearray, stride: int) -> None:
    """Change the filter of an image's first row so that it ignores the row above, because another image precedes it.

    >>> row = bytearray((FILTER_AVERAGE, 8, 8, 8, 255, 4, 4, 4, 128))
    >>> _detach_first_row(row, 9)
    >>> list(row)
    [0, 8, 8, 8, 255, 8, 8, 8, 255]
    """
    row_filter = rows[0]
    if row_filter == FILTER_UP:  # the row above was zero
        rows[0] = FILTER_NONE
    elif row_filter == FILTER_PAETH:  # always the pixel to the left
        rows[0] = FILTER_SUB
    elif row_filter == FILTER_AVERAGE:  # half of the pixel to the left
        rows[0] = FILTER_NONE
        for index in range(1 + BYTES_PER_PIXEL, stride):
            rows[index] = (rows[index] + rows[index - BYTES_PER_PIXEL] // 2) & 255


# Cut a drawing into horizontal bands, so that the rasteriser needs memory for one band, not for the sheet.

VerticalExtent = tuple[float, float]  # from … to …, downwards
MITER_FACTOR = 4  # reach of a stroke beyond its outline at a sharp corner, in line widths
LETTER_REACH = 2  # reach of letters of any script above and below the baseline, in font sizes


def _split_bands(drawing: Drawing, tops: Sequence[float]) -> Iterator[Drawing]:
    """Yield for each band, from one of `tops` (ascending) to the next, the drawing with the shapes that may be visible
    in it.

    All bands have the full sheet; every shape is in all bands that it reaches, in the drawing's order.
    """
    count = len(tops)
    # For each band the parts, their groups and their shapes, including empty ones.
    sections: list[list[Section]] = [[] for _ in range(count)]
    for part in drawing.parts:
        groups: list[list[Group]] = [[] for _ in range(count)]
        for group in part.groups:
            shapes: list[list[Primitive]] = [[] for _ in range(count)]
            down = part.at[1] + group.at[1]
            for shape in group.shapes:
                top, bottom = _vertical_extent(shape)
                for band in _bands_reached(tops, top + down, bottom + down):
                    shapes[band].append(shape)
            for band, shapes_in_band in enumerate(shapes):
                if shapes_in_band:
                    groups[band].append(replace(group, shapes=tuple(shapes_in_band), address=None, tooltip="", data=()))
        for band, groups_in_band in enumerate(groups):
            sections[band].append(replace(part, groups=tuple(groups_in_band)))
    return (replace(drawing, parts=tuple(parts)) for parts in sections)


def _bands_reached(tops: Sequence[float], top: float, bottom: float) -> range:
    """Return the bands that an extent meets; the last has no end.

    >>> _bands_reached([0, 10, 20], -5, 3), _bands_reached([0, 10, 20], 5, 10), _bands_reached([0, 10, 20], 40, 50)
    (range(0, 1), range(0, 2), range(2, 3))
    """
    first = sum(begin <= top for begin in tops[1:])
    last = sum(begin <= bottom for begin in tops[1:])
    return range(first, last + 1)


def _vertical_extent(shape: Primitive) -> VerticalExtent:
    """Return how far up and down a shape may reach, including its stroke and the letters of any script.

    >>> _vertical_extent(Disc(0, 10, 2, "#000000")), _vertical_extent(Label("a", 0, 20, 10, 5, "#000000"))
    ((8, 12), (0, 40))
    """
    match shape:
        case Label(y=y, size=size):
            return y - LETTER_REACH * size, y + LETTER_REACH * size
        case Disc(y=y, radius=radius, pen=pen):
            return y - radius - _stroke_reach(pen), y + radius + _stroke_reach(pen)
        case Curve(steps=steps, pen=pen, at=at, scale=scale):
            # A curve is within its controls, a quarter of a circle within its radius.
            ys = [y for _, _, y in step_ends(steps)] or [0.0]
            for kind, values in steps:
                if kind in "QC":
                    ys += values[1::2]
            radius = max((values[0] for kind, values in steps if kind == "A"), default=0)
            reach = scale * radius + _stroke_reach(pen) * scale
            return at[1] + scale * min(ys) - reach, at[1] + scale * max(ys) + reach
        case Rectangle(y=y, height=height, pen=pen):
            return y - _stroke_reach(pen), y + height + _stroke_reach(pen)
        case Hatch(y=y, height=height):
            return y, y + height


def _stroke_reach(pen: Pen | None) -> float:
    """Return how far a stroke may reach beyond its outline."""
    return MITER_FACTOR * pen.width if pen else 0


PRINTED_DOTS_PER_INCH = 300  # of a figure to print
FONT_FAMILY = "Arimo"
DEFAULT_SCALE = 2.0  # pixels per unit, for high-density screens
PNG_HARD_LIMIT = MAX_ASKED_PNG_WORK * SHEET_PIXELS  # pixels of any PNG, even an empty one
MIN_WORK_SCALE = 0.04  # do not scale further down to save work, because nothing would be recognisable
ALL_VISIBLE_SCALE = 0.1  # at this scale every shape may be visible
FILLED_OUTLINE_SCALE = 0.5  # up to this scale outlines, half a pixel wide, are drawn as fills
# Limits of one band: the rasteriser takes 7 bytes for a pixel, 10 kB for a text and 2 kB for another shape.
BAND_PIXELS, BAND_TEXTS, BAND_SHAPES = 16_000_000, 8_000, 80_000
HELD_TEXT = re.compile(r' textLength="\d+" lengthAdjust="spacingAndGlyphs"([^>]*>)([^<]*)')


@dataclass(frozen=True, slots=True)
class RasterSize:
    """The size of the PNG in pixels, its scale, the requested scale, and the reason for a smaller one."""

    width: int
    height: int
    zoom: float
    asked: float
    limit: str = ""


def png_bytes(drawing: Drawing, options: PictureOptions) -> bytes:
    """Return the drawing as PNG bytes, never with more pixels than the cap."""
    if drawing.points and options.scale is None and options.width is None:
        options = replace(options, scale=round(drawing.points * PRINTED_DOTS_PER_INCH / 72, 3))
    drawing = replace(drawing, points=0)  # sizes in pixels
    ink = raster_work(drawing)
    size = _raster_size(ink, options)
    rasterise = _make_rasteriser(drawing, options)
    drawn = _simplify_drawing(drawing, size.zoom, ink.min_text_size(size.zoom), ink.min_shape_area())
    count = _band_count(drawn, size)
    if count == 1:
        # Pass only the width: with both, a rounded height could cost a pixel of width.
        return rasterise(svg_bytes(drawn).decode(), size.width)
    zoom = size.width / drawing.width
    height = -(-drawing.height * size.width // drawing.width)  # rounded up, as the rasteriser does
    tops = [height * band // count for band in range(count)]
    windows: list[Viewport] = [(size.width, bottom - top, zoom, top) for top, bottom in pairwise((*tops, height))]
    bands = _split_bands(drawn, [top / zoom for top in tops])

    def rasterised_bands() -> Iterator[bytes]:
        for number, (band_drawing, window) in enumerate(zip(bands, windows, strict=True)):
            advance("bands", number, count)
            yield rasterise(svg_bytes(band_drawing, window).decode(), size.width)

    return _stack_pngs(rasterised_bands(), size.width, height)


def _simplify_drawing(drawing: Drawing, zoom: float, least: float, smallest: int) -> Drawing:
    """Return the drawing with lines instead of hatches, with fills instead of outlines at small scales, and without
    shapes that are invisible at this scale.

    Texts smaller than `least` and other shapes smaller than `smallest` are dropped, too, because there may be hundreds
    of thousands, and each takes as long as a visible shape.
    """

    def visible_shapes(shape: Primitive) -> tuple[Primitive, ...]:
        if isinstance(shape, Label):
            return (shape,) if shape.size >= least else ()
        if not _is_visible(shape, zoom) or (smallest and covered_area(shape) < smallest):
            return ()
        if isinstance(shape, Rectangle) and zoom <= FILLED_OUTLINE_SCALE:
            return _outline_as_fill(shape)
        return (replace_hatch(shape, drawing.ground),)

    return drawing.replace_shapes(visible_shapes)


def _outline_as_fill(box: Rectangle) -> tuple[Rectangle, ...]:
    """Return a box with a solid outline as two filled boxes, one over the other, which takes half the time.

    >>> from graphviz_tb.model.drawing import Pen
    >>> _outline_as_fill(Rectangle(0.5, 0.5, 9, 9, 2, "#FFFFFF", Pen("#000000")))[1]
    Rectangle(x=1.0, y=1.0, width=8.0, height=8.0, radius=1.5, fill='#FFFFFF', pen=None)
    """
    pen = box.pen
    if pen is None or box.fill is None or pen.dashes or pen.width >= min(box.width, box.height):
        return (box,)
    half = pen.width / 2
    return _grown_rect(box, half, pen.colour), _grown_rect(box, -half, box.fill)


def _grown_rect(box: Rectangle, by: float, fill: str) -> Rectangle:
    """Return a filled rectangle, larger on each side; sharp corners stay sharp."""
    radius = max(0, box.radius + by) if box.radius else 0
    return Rectangle(box.x - by, box.y - by, box.width + 2 * by, box.height + 2 * by, radius, fill)


def _is_visible(shape: Primitive, zoom: float) -> bool:
    """Return whether a shape may change a pixel by more than one of the 256 steps of a colour; true at usual scales.

    >>> from graphviz_tb.model.drawing import Disc
    >>> _is_visible(Disc(0, 0, 20, "#FFFFFF"), 0.01), _is_visible(Disc(0, 0, 20, "#FFFFFF"), 0.001)
    (True, False)
    """
    return zoom >= ALL_VISIBLE_SCALE or covered_area(shape) * zoom * zoom >= 1 / 256


def _band_count(drawing: Drawing, size: RasterSize) -> int:
    shapes = drawing.shapes()
    texts = sum(isinstance(shape, Label) for shape in shapes)
    limits = (size.width * size.height, BAND_PIXELS), (texts, BAND_TEXTS), (len(shapes) - texts, BAND_SHAPES)
    most = max(1, *(-(-many // limit) for many, limit in limits))
    return min(most, size.height)


def _make_rasteriser(drawing: Drawing, options: PictureOptions) -> Callable[[str, int], bytes]:
    """Return a function that makes a PNG of a given width from an SVG of this drawing, or of a part of it."""
    try:
        import resvg_py
    except ImportError as error:  # pragma: no cover - it is a dependency
        raise ToolMissing("the PNG rasteriser is not installed", hint=install_line("resvg-py")) from error
    strange = undrawable_texts(drawing, options.font_files)
    files = font_files(options.font_files, drawing)

    def rasterise(sheet: str, width: int) -> bytes:
        try:
            data = resvg_py.svg_to_bytes(
                svg_string=_release_joined_texts(sheet),
                width=width,
                font_files=files,
                # Use fonts of the machine only if needed, so that other pictures are equal on all machines.
                skip_system_fonts=not strange,
                font_family=FONT_FAMILY,
                sans_serif_family=FONT_FAMILY,
                serif_family=FONT_FAMILY,
                monospace_family=FONT_FAMILY,
            )
        except ValueError as error:
            raise ToolFailed(f"the PNG rasteriser stopped: {error}") from error
        return bytes(data)

    return rasterise


def _release_joined_texts(sheet: str) -> str:
    """Return an SVG whose texts with joined letters, such as emoji sequences, have no fixed width.

    If no font has such a sequence, the rasteriser would draw the text far too wide; joined Arabic letters are narrower
    than their measured single forms and would be stretched.

    >>> _release_joined_texts('<text textLength="42" lengthAdjust="spacingAndGlyphs" fill="#000">हिन्दी</text>')
    '<text fill="#000">हिन्दी</text>'
    >>> _release_joined_texts('<text textLength="9" lengthAdjust="spacingAndGlyphs">한국</text>')
    '<text textLength="9" lengthAdjust="spacingAndGlyphs">한국</text>'
    """

    def release_width(match: re.Match[str]) -> str:
        text = match[2]
        return match[0] if text.isascii() or not any(map(_joins_previous, text)) else match[1] + text

    return sheet if sheet.isascii() else HELD_TEXT.sub(release_width, sheet)


def _joins_previous(char: str) -> bool:
    """Return whether a character is joined with the previous character: a mark, a joiner, a skin colour, an Arabic
    letter.

    >>> _joins_previous("\u200d"), _joins_previous("م"), _joins_previous("한")
    (True, True, False)
    """
    marks, arabic = unicodedata.category(char) in ("Mn", "Mc", "Me"), unicodedata.bidirectional(char) == "AL"
    return marks or arabic or char == "\u200d" or "\U0001f3fb" <= char <= "\U0001f3ff"


def _raster_size(ink: RasterWork, options: PictureOptions) -> RasterSize:
    """Return the size of the PNG of a drawing.

    >>> _raster_size(RasterWork(1000, 500), PictureOptions()).width
    2000
    >>> _raster_size(RasterWork(8000, 8000), PictureOptions()).width
    8000
    >>> _raster_size(RasterWork(1000, 500, lines=2 * MAX_PNG_WORK), PictureOptions()).width
    499
    """
    width, height = ink.width, ink.height
    requested = options.width / width if options.width else options.scale or DEFAULT_SCALE
    zoom, limit = requested, f"{MAX_PNG_PIXELS // 1_000_000} megapixels"
    if options.width is None and options.scale is None:
        zoom = min(zoom, MAX_PNG_SIDE_PX / width)
        if width * height * zoom * zoom > MAX_PNG_PIXELS:
            zoom = isqrt(MAX_PNG_PIXELS * 1_000_000 // (width * height)) / 1000  # rounded down
        if ink.work_at(zoom) > MAX_PNG_WORK:
            zoom = min(zoom, max(ink.zoom_within(MAX_PNG_WORK, zoom), MIN_WORK_SCALE))
            limit = f"the work of lines of {MAX_PNG_WORK // 1_000_000} million pixels"
    size = RasterSize(options.width or max(1, int(width * zoom)), max(1, int(height * zoom)), zoom, requested, limit)
    if size.width * size.height > PNG_HARD_LIMIT:
        raise RequestError(
            f"a PNG of {size.width} × {size.height} pixels is too large",
            hint="ask for a smaller --scale or --width, open fewer groups, or write SVG",
        )
    if ink.work_at(zoom) > MAX_ASKED_PNG_WORK:
        lines, filled = ink.lines * zoom / 1e6, ink.filled * zoom * zoom / 1e6
        names = sum(count for _, count in ink.texts)
        raise RequestError(
            f"this PNG of {size.width} × {size.height} pixels would take too long: "
            f"its lines count as {lines:,.0f} million pixels, its boxes fill {filled:,.0f} million, one upon another, "
            f"and it has {names:,} names",
            hint="ask for a smaller --scale or --width, open fewer groups, fold them, or write SVG",
        )
    return size


def _format_scale(zoom: float) -> str:
    """Format a scale: two decimals, or its first digit.

    >>> _format_scale(0.5), _format_scale(0.00094)
    ('0.50', '0.0009')
    """
    return f"{zoom:.2f}" if zoom >= 0.01 else f"{zoom:.1g}"


def png_notices(drawing: Drawing, options: PictureOptions) -> tuple[Notice, ...]:
    """Return notices if a PNG of this drawing has fewer pixels than requested, or uses fonts of this machine."""
    ink = raster_work(drawing)
    size, raised = _raster_size(ink, options), []
    if size.zoom < size.asked:
        scaled = f"the PNG is drawn at scale {_format_scale(size.zoom)} to stay within {size.limit}"
        raised.append(Notice("png-scaled", scaled, strict=False))
    min_size = ink.min_text_size(size.zoom)
    small = sum(count for height, count in ink.texts if height * size.zoom >= 1 and height < min_size)
    if small:
        text = f"{small:,} names are left out of the PNG: up to {MAX_PNG_TEXTS:,}, the largest, are drawn"
        raised.append(Notice("png-names", text, strict=False))
    min_area = ink.min_shape_area()
    min_visible_area = 0 if size.zoom >= ALL_VISIBLE_SCALE else 1 / (256 * size.zoom * size.zoom)  # as in `_is_visible`
    tiny = sum(count for area, count, _ in ink.shapes if min_visible_area <= area < min_area)
    if tiny:
        text = (
            f"{tiny:,} shapes are left out of the PNG: the largest are drawn, up to {MAX_PNG_STEPS:,} steps of outlines"
        )
        raised.append(Notice("png-shapes", text, strict=False))
    drawn = "they are drawn with a face of this machine where one fits, else as empty boxes"
    return (*raised, *missing_font_notices(undrawable_texts(drawing, options.font_files), "png-font", drawn))
