"""PDF: a drawing on one page of its size, with the letters it uses embedded.

    drawing ─ shapes and texts ─ content stream ─ fonts ─ objects ─ file

Letters come from Arimo, then from the files of `--font-file`, then from the font of the extra `cjk`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import pack

from graphviz_tb.errors import RequestError
from graphviz_tb.limits import MAX_PDF_SIDE_POINTS
from graphviz_tb.model.drawing import (
    Curve,
    Disc,
    Drawing,
    DrawingPoint,
    Hatch,
    Label,
    PathStep,
    Pen,
    Primitive,
    Rectangle,
)
from graphviz_tb.model.measure import has_all_glyphs
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import PictureOptions
from graphviz_tb.render.fonts import font_files, missing_font_notices, read_typeface, undrawable_texts
from graphviz_tb.render.hatches import hatch_lines
from graphviz_tb.render.joining import shape_arabic
from graphviz_tb.render.pdf_file import PdfFonts, pdf_document, pdf_number
from graphviz_tb.render.reading_order import visual_order
from graphviz_tb.render.svg import HALO_WIDTH

POINTS_PER_PIXEL = 0.75  # per pixel
CIRCLE_CONTROL = 0.5523  # control points of a quarter circle
SEMIBOLD_STROKE = 0.028  # of an em: the stroke that makes letters semibold


def pdf_bytes(drawing: Drawing, options: PictureOptions) -> bytes:
    """Return the drawing as a PDF of one page; equal drawings give equal bytes."""
    files = font_files(options.font_files, drawing)
    faces = [read_typeface(name) for name in files]
    for name, face in zip(files, faces, strict=True):
        if not face.has_outlines:
            raise RequestError(f"the font file {name!r} has no outlines", hint="give a .ttf or .otf file")
    fonts = PdfFonts(faces, [{} for _ in faces])
    scale = min(POINTS_PER_PIXEL, MAX_PDF_SIDE_POINTS / max(drawing.width, drawing.height))
    page = drawing.width * scale, drawing.height * scale
    # In PDF y grows upward from the foot of the page: flip it once.
    content = [
        f"{pdf_number(scale)} 0 0 {pdf_number(-scale)} 0 {pdf_number(page[1])} cm",
        *page_operators(drawing, fonts),
    ]
    return pdf_document(page, "\n".join(content).encode(), fonts, drawing.title)


def pdf_notices(drawing: Drawing, options: PictureOptions) -> tuple[Notice, ...]:
    """Return a notice of letters that no font has: they are empty boxes."""
    return missing_font_notices(
        undrawable_texts(drawing, options.font_files), "pdf-font", "the PDF shows empty boxes for them"
    )


def page_operators(drawing: Drawing, fonts: PdfFonts) -> Iterator[str]:
    """Yield the operators of everything on the sheet."""
    yield from shape_operators(Rectangle(0, 0, drawing.width, drawing.height, fill=drawing.ground), drawing, fonts)
    for part in drawing.parts:
        for group in part.groups:
            origin = part.at[0] + group.at[0], part.at[1] + group.at[1]
            operators = [
                operator for primitive in group.shapes for operator in shape_operators(primitive, drawing, fonts)
            ]
            yield from (moved_operators(origin, operators) if origin != (0, 0) else operators)


def moved_operators(origin: DrawingPoint, operators: Iterable[str], scale: float = 1) -> Iterator[str]:
    """Yield operators with the origin at `origin`, `scale` times as large."""
    yield f"q {pdf_number(scale)} 0 0 {pdf_number(scale)} {pdf_number(origin[0])} {pdf_number(origin[1])} cm"
    yield from operators
    yield "Q"


def shape_operators(primitive: Primitive, drawing: Drawing, fonts: PdfFonts) -> Iterator[str]:
    """Yield the operators of one primitive."""
    match primitive:
        case Rectangle(fill=fill, pen=pen):
            yield from paint_operators(rect_path(primitive), fill, pen)
        case Disc(fill=fill, pen=pen):
            yield from paint_operators(circle_path(primitive), fill, pen)
        case Curve(steps, fill, pen, at, scale):
            outline = paint_operators(pdf_path(steps), fill, pen)
            yield from moved_operators(at, outline, scale) if (at, scale) != ((0, 0), 1) else outline
        case Hatch():
            yield from shape_operators(hatch_lines(primitive, drawing.ground), drawing, fonts)
        case Label():
            yield from text_operators(primitive, fonts)


def paint_operators(outline: str, fill: str | None, pen: Pen | None) -> Iterator[str]:
    """Yield the operators that fill and stroke an outline."""
    if fill:
        yield f"{pdf_colour(fill)} rg"
    if pen:
        dashes = " ".join(map(pdf_number, pen.dashes))
        ends = f"{int(pen.cap == 'round')} J {int(pen.join == 'round')} j"
        yield f"{pdf_colour(pen.colour)} RG {pdf_number(pen.width)} w {ends} [{dashes}] 0 d"
    if fill or pen:
        yield f"{outline} {'B' if fill and pen else 'f' if fill else 'S'}"


def pdf_colour(hexadecimal: str) -> str:
    """Return red, green and blue from 0 to 1.

    >>> pdf_colour("#FF8000")
    '1 0.502 0'
    """
    return " ".join(pdf_number(int(hexadecimal[start : start + 2], 16) / 255) for start in (1, 3, 5))


def rect_path(box: Rectangle) -> str:
    """Return a rectangle with rounded corners."""
    x, y, wide, tall, r = box.x, box.y, box.width, box.height, box.radius
    if not r:
        return f"{pdf_number(x)} {pdf_number(y)} {pdf_number(wide)} {pdf_number(tall)} re"
    right, bottom = x + wide, y + tall
    corners = [
        ((right - r, y), (right, y), (right, y + r)),
        ((right, bottom - r), (right, bottom), (right - r, bottom)),
        ((x + r, bottom), (x, bottom), (x, bottom - r)),
        ((x, y + r), (x, y), (x + r, y)),
    ]
    steps = [f"{pdf_number(x + r)} {pdf_number(y)} m"]
    for start, corner, stop in corners:
        steps += [f"{pdf_number(start[0])} {pdf_number(start[1])} l", quarter_arc(start, corner, stop)]
    return " ".join((*steps, "h"))


def circle_path(disc: Disc) -> str:
    """Return a circle in four quarters."""
    x, y, r = disc.x, disc.y, disc.radius
    points = [(x, y - r), (x + r, y), (x, y + r), (x - r, y), (x, y - r)]
    corners = [(x + r, y - r), (x + r, y + r), (x - r, y + r), (x - r, y - r)]
    turns = zip(points, corners, points[1:], strict=False)
    return " ".join((f"{pdf_number(x)} {pdf_number(y - r)} m", *(quarter_arc(*turn) for turn in turns), "h"))


def quarter_arc(start: tuple[float, float], corner: tuple[float, float], stop: tuple[float, float]) -> str:
    """Return a quarter of a circle that touches the two sides of a corner."""
    near = [a + (c - a) * CIRCLE_CONTROL for a, c in zip(start, corner, strict=True)]
    far = [b + (c - b) * CIRCLE_CONTROL for b, c in zip(stop, corner, strict=True)]
    return " ".join(pdf_number(number) for number in (*near, *far, *stop)) + " c"


def pdf_path(steps: tuple[PathStep, ...]) -> str:
    """Return an outline in the operators of PDF.

    >>> pdf_path((("M", (0, 0)), ("H", (9,)), ("Z", ())))
    '0 0 m 9 0 l h'
    """
    operators: list[str] = []
    end: DrawingPoint = (0, 0)
    for command, numbers in steps:
        if command == "Z":
            operators.append("h")
            continue
        before, end = end, step_end(command, numbers, end)
        if command in "MLHV":
            operators.append(f"{pdf_number(end[0])} {pdf_number(end[1])} {'m' if command == 'M' else 'l'}")
        elif command == "C":
            operators.append(" ".join(map(pdf_number, numbers)) + " c")
        elif command == "Q":
            bend = numbers[0], numbers[1]
            # A quadratic curve as a cubic one: both control points at two thirds of the way to its own.
            near = [a + (c - a) * 2 / 3 for a, c in zip(before, bend, strict=True)]
            far = [b + (c - b) * 2 / 3 for b, c in zip(end, bend, strict=True)]
            operators.append(" ".join(map(pdf_number, (*near, *far, *end))) + " c")
        else:
            # Quarters turn clockwise (y down): to the lower right and the upper left they begin horizontally.
            clockwise = (end[0] - before[0]) * (end[1] - before[1]) > 0
            operators.append(quarter_arc(before, (end[0], before[1]) if clockwise else (before[0], end[1]), end))
    return " ".join(operators)


def step_end(command: str, numbers: tuple[float, ...], before: DrawingPoint) -> DrawingPoint:
    """Return where a step ends."""
    if command == "H":
        return numbers[0], before[1]
    if command == "V":
        return before[0], numbers[0]
    return numbers[-2], numbers[-1]


def text_operators(label: Label, fonts: PdfFonts) -> Iterator[str]:
    """Yield one line of text in its measured width; texts measured without their own font may be narrower."""
    runs = list(fonts.glyph_runs(visual_order(shape_arabic(label.content, fonts.has_glyph))))
    natural = sum(fonts.run_width(font, glyphs) for font, glyphs in runs) * label.size
    width = label.width if has_all_glyphs(label.content) else min(label.width, natural)
    left = label.x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor]
    words = " ".join(
        f"/F{font} {label.size} Tf <{pack(f'>{len(glyphs)}H', *glyphs).hex().upper()}> Tj" for font, glyphs in runs
    )
    # Tz: per cent of the natural width; Tm flips letters back; Tr 0 fills, 1 strokes, 2 does both.
    stretch = pdf_number(100 * width / natural) if natural else "100"
    letters = f"BT {stretch} Tz 1 0 0 -1 {pdf_number(left)} {pdf_number(label.y)} Tm {words} ET"
    fill = pdf_colour(label.colour)
    if label.halo:
        yield f"{pdf_colour(label.halo)} RG {HALO_WIDTH} w [] 0 d 1 j 1 Tr {letters}"
    if label.semibold:
        yield f"{fill} rg {fill} RG {pdf_number(label.size * SEMIBOLD_STROKE)} w [] 0 d 2 Tr {letters}"
    else:
        yield f"{fill} rg 0 Tr {letters}"
