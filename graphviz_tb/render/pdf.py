"""PDF: a drawing on one page of its size, with the letters it uses embedded.

    drawing ─ shapes and texts ─ content stream ─ fonts ─ objects ─ file

Letters come from Arimo, then from the files of `--font-file`, then from the font of the extra `cjk`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import pack

from graphviz_tb.errors import RequestError
from graphviz_tb.limits import PDF_SIDE
from graphviz_tb.model.drawing import Curve, Disc, Drawing, Hatch, Label, PathStep, Pen, Position, Primitive, Rectangle
from graphviz_tb.model.measure import known
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import PictureOptions
from graphviz_tb.render.fonts import font_files, foreign, lacking, typeface
from graphviz_tb.render.hatches import hatch_lines
from graphviz_tb.render.joining import letters_joined
from graphviz_tb.render.pdf_file import Fonts, file, n
from graphviz_tb.render.reading_order import as_seen
from graphviz_tb.render.svg import HALO

POINTS = 0.75  # per pixel
ROUND = 0.5523  # control points of a quarter circle
BOLD = 0.028  # of an em: the stroke that makes letters semibold


def pdf(drawing: Drawing, options: PictureOptions) -> bytes:
    """Return the drawing as a PDF of one page; equal drawings give equal bytes."""
    files = font_files(options.font_files, drawing)
    faces = [typeface(name) for name in files]
    for name, face in zip(files, faces, strict=True):
        if not face.outlined:
            raise RequestError(f"the font file {name!r} has no outlines", hint="give a .ttf or .otf file")
    fonts = Fonts(faces, [{} for _ in faces])
    scale = min(POINTS, PDF_SIDE / max(drawing.width, drawing.height))
    page = drawing.width * scale, drawing.height * scale
    # In PDF y grows upward from the foot of the page: flip it once.
    content = [f"{n(scale)} 0 0 {n(-scale)} 0 {n(page[1])} cm", *drawn(drawing, fonts)]
    return file(page, "\n".join(content).encode(), fonts, drawing.title)


def notices(drawing: Drawing, options: PictureOptions) -> tuple[Notice, ...]:
    """Return a notice of letters that no font has: they are empty boxes."""
    return lacking(foreign(drawing, options.font_files), "pdf-font", "the PDF shows empty boxes for them")


def drawn(drawing: Drawing, fonts: Fonts) -> Iterator[str]:
    """Yield the operators of everything on the sheet."""
    yield from shape(Rectangle(0, 0, drawing.width, drawing.height, fill=drawing.ground), drawing, fonts)
    for part in drawing.parts:
        for group in part.groups:
            origin = part.at[0] + group.at[0], part.at[1] + group.at[1]
            operators = [operator for primitive in group.shapes for operator in shape(primitive, drawing, fonts)]
            yield from (moved(origin, operators) if origin != (0, 0) else operators)


def moved(origin: Position, operators: Iterable[str], scale: float = 1) -> Iterator[str]:
    """Yield operators with the origin at `origin`, `scale` times as large."""
    yield f"q {n(scale)} 0 0 {n(scale)} {n(origin[0])} {n(origin[1])} cm"
    yield from operators
    yield "Q"


def shape(primitive: Primitive, drawing: Drawing, fonts: Fonts) -> Iterator[str]:
    """Yield the operators of one primitive."""
    match primitive:
        case Rectangle(fill=fill, pen=pen):
            yield from painted(rect(primitive), fill, pen)
        case Disc(fill=fill, pen=pen):
            yield from painted(circle(primitive), fill, pen)
        case Curve(steps, fill, pen, at, scale):
            outline = painted(path(steps), fill, pen)
            yield from moved(at, outline, scale) if (at, scale) != ((0, 0), 1) else outline
        case Hatch():
            yield from shape(hatch_lines(primitive, drawing.ground), drawing, fonts)
        case Label():
            yield from text_commands(primitive, fonts)


def painted(outline: str, fill: str | None, pen: Pen | None) -> Iterator[str]:
    """Yield the operators that fill and stroke an outline."""
    if fill:
        yield f"{colour(fill)} rg"
    if pen:
        dashes = " ".join(map(n, pen.dashes))
        ends = f"{int(pen.cap == 'round')} J {int(pen.join == 'round')} j"
        yield f"{colour(pen.colour)} RG {n(pen.width)} w {ends} [{dashes}] 0 d"
    if fill or pen:
        yield f"{outline} {'B' if fill and pen else 'f' if fill else 'S'}"


def colour(hexadecimal: str) -> str:
    """Return red, green and blue from 0 to 1.

    >>> colour("#FF8000")
    '1 0.502 0'
    """
    return " ".join(n(int(hexadecimal[start : start + 2], 16) / 255) for start in (1, 3, 5))


def rect(box: Rectangle) -> str:
    """Return a rectangle with rounded corners."""
    x, y, wide, tall, r = box.x, box.y, box.width, box.height, box.radius
    if not r:
        return f"{n(x)} {n(y)} {n(wide)} {n(tall)} re"
    right, bottom = x + wide, y + tall
    corners = [
        ((right - r, y), (right, y), (right, y + r)),
        ((right, bottom - r), (right, bottom), (right - r, bottom)),
        ((x + r, bottom), (x, bottom), (x, bottom - r)),
        ((x, y + r), (x, y), (x + r, y)),
    ]
    steps = [f"{n(x + r)} {n(y)} m"]
    for start, corner, stop in corners:
        steps += [f"{n(start[0])} {n(start[1])} l", quarter(start, corner, stop)]
    return " ".join((*steps, "h"))


def circle(disc: Disc) -> str:
    """Return a circle in four quarters."""
    x, y, r = disc.x, disc.y, disc.radius
    points = [(x, y - r), (x + r, y), (x, y + r), (x - r, y), (x, y - r)]
    corners = [(x + r, y - r), (x + r, y + r), (x - r, y + r), (x - r, y - r)]
    turns = zip(points, corners, points[1:], strict=False)
    return " ".join((f"{n(x)} {n(y - r)} m", *(quarter(*turn) for turn in turns), "h"))


def quarter(start: tuple[float, float], corner: tuple[float, float], stop: tuple[float, float]) -> str:
    """Return a quarter of a circle that touches the two sides of a corner."""
    near = [a + (c - a) * ROUND for a, c in zip(start, corner, strict=True)]
    far = [b + (c - b) * ROUND for b, c in zip(stop, corner, strict=True)]
    return " ".join(n(number) for number in (*near, *far, *stop)) + " c"


def path(steps: tuple[PathStep, ...]) -> str:
    """Return an outline in the operators of PDF.

    >>> path((("M", (0, 0)), ("H", (9,)), ("Z", ())))
    '0 0 m 9 0 l h'
    """
    operators: list[str] = []
    end: Position = (0, 0)
    for command, numbers in steps:
        if command == "Z":
            operators.append("h")
            continue
        before, end = end, end_of(command, numbers, end)
        if command in "MLHV":
            operators.append(f"{n(end[0])} {n(end[1])} {'m' if command == 'M' else 'l'}")
        elif command == "C":
            operators.append(" ".join(map(n, numbers)) + " c")
        elif command == "Q":
            bend = numbers[0], numbers[1]
            # A quadratic curve as a cubic one: both control points at two thirds of the way to its own.
            near = [a + (c - a) * 2 / 3 for a, c in zip(before, bend, strict=True)]
            far = [b + (c - b) * 2 / 3 for b, c in zip(end, bend, strict=True)]
            operators.append(" ".join(map(n, (*near, *far, *end))) + " c")
        else:
            # Quarters turn clockwise (y down): to the lower right and the upper left they begin horizontally.
            clockwise = (end[0] - before[0]) * (end[1] - before[1]) > 0
            operators.append(quarter(before, (end[0], before[1]) if clockwise else (before[0], end[1]), end))
    return " ".join(operators)


def end_of(command: str, numbers: tuple[float, ...], before: Position) -> Position:
    """Return where a step ends."""
    if command == "H":
        return numbers[0], before[1]
    if command == "V":
        return before[0], numbers[0]
    return numbers[-2], numbers[-1]


def text_commands(label: Label, fonts: Fonts) -> Iterator[str]:
    """Yield one line of text in its measured width; texts measured without their own font may be narrower."""
    runs = list(fonts.runs(as_seen(letters_joined(label.content, fonts.has))))
    natural = sum(fonts.advance(font, glyphs) for font, glyphs in runs) * label.size
    width = label.width if known(label.content) else min(label.width, natural)
    left = label.x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor]
    words = " ".join(
        f"/F{font} {label.size} Tf <{pack(f'>{len(glyphs)}H', *glyphs).hex().upper()}> Tj" for font, glyphs in runs
    )
    # Tz: per cent of the natural width; Tm flips letters back; Tr 0 fills, 1 strokes, 2 does both.
    stretch = n(100 * width / natural) if natural else "100"
    letters = f"BT {stretch} Tz 1 0 0 -1 {n(left)} {n(label.y)} Tm {words} ET"
    fill = colour(label.colour)
    if label.halo:
        yield f"{colour(label.halo)} RG {HALO} w [] 0 d 1 j 1 Tr {letters}"
    if label.semibold:
        yield f"{fill} rg {fill} RG {n(label.size * BOLD)} w [] 0 d 2 Tr {letters}"
    else:
        yield f"{fill} rg 0 Tr {letters}"
