"""Write a drawing as PDF, on one page of its size, with the glyphs it uses embedded.

    drawing ─ shapes and texts ─ content stream ─ fonts ─ objects ─ file

Glyphs come from Arimo, then from the files of `--font-file`, then from the font of the extra `cjk`.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
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
from graphviz_tb.render.fonts import Typeface, font_files, missing_font_notices, read_typeface, undrawable_texts
from graphviz_tb.render.svg import HALO_WIDTH, hatch_lines

# The file around a page of PDF: objects, fonts and their used letters.


@dataclass(slots=True)
class PdfFonts:
    """The fonts, and for each the used glyphs with their characters."""

    faces: list[Typeface]
    used: list[dict[int, str]] = field(default_factory=list)
    known: dict[str, tuple[int, int]] = field(default_factory=dict)

    def glyph_runs(self, text: str) -> Iterator[tuple[int, list[int]]]:
        """Yield the text as runs of glyphs of one font; characters that no font has are empty boxes of the first
        font."""
        # Look up each character once, because titles of nested groups may have millions of characters.
        for char in dict.fromkeys(text):
            if char not in self.known:
                self.known[char] = self.glyph_of(char)
        drawn = [place for place in map(self.known.__getitem__, text) if place[0] >= 0]
        for font, run in groupby(drawn, key=itemgetter(0)):
            yield font, [glyph for _, glyph in run]

    def glyph_of(self, char: str) -> tuple[int, int]:
        """Return the font and the glyph of a character; font -1 if it is not drawn."""
        if _is_invisible(char):
            return -1, 0
        font = next((index for index, face in enumerate(self.faces) if ord(char) in face.glyphs), 0)
        glyph = self.faces[font].glyphs.get(ord(char), 0)  # 0: the box for missing glyphs
        self.used[font].setdefault(glyph, char)
        return font, glyph

    def run_width(self, font: int, glyphs: list[int]) -> float:
        face = self.faces[font]
        return sum(face.glyph_advance(glyph) for glyph in glyphs) / face.units_per_em


def _is_invisible(char: str) -> bool:
    """Return whether a character is not drawn but changes others: a joiner, a variation selector.

    >>> [char for char in "a\u200d\ufe0fb" if not _is_invisible(char)]
    ['a', 'b']
    """
    return unicodedata.category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _pdf_document(page: tuple[float, float], content: bytes, fonts: PdfFonts, title: str) -> bytes:
    objects: list[bytes] = [b""] * 5  # catalog, pages, page, content, info
    named = []
    for index, face in enumerate(fonts.faces):
        if fonts.used[index]:
            named.append(f"/F{index} {len(objects) + 1} 0 R")
            objects += _font_objects(face, fonts.used[index], len(objects) + 1)
    box = f"[0 0 {_pdf_number(page[0])} {_pdf_number(page[1])}]"
    resources = f"<</Font<<{' '.join(named)}>>>>"
    objects[0] = b"<</Type/Catalog/Pages 2 0 R>>"
    objects[1] = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
    objects[2] = f"<</Type/Page/Parent 2 0 R/MediaBox{box}/Contents 4 0 R/Resources{resources}>>".encode()
    objects[3] = _compressed_stream(content)
    objects[4] = f"<</Title<FEFF{title.encode('utf-16-be', 'replace').hex()}>/Producer(tbgraph)>>".encode()
    # Four bytes above 127 tell programs that the file is binary (ISO 32000-1, 7.5.2).
    written, starts = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(objects, 1):
        starts.append(len(written))
        written += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{start:010d} 00000 n \n" for start in starts)  # entries of exactly 20 bytes
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<</Size {size}/Root 1 0 R/Info 5 0 R>>\n"
    return bytes(written + f"{end}startxref\n{len(written)}\n%%EOF\n".encode())


def _font_objects(face: Typeface, used: dict[int, str], number: int) -> list[bytes]:
    """Return the five objects of one font; the first has `number`."""
    unit = 1000 / face.units_per_em
    name = f"/{'ABCDEF'}+Face{number}"  # six capitals and a plus mark a subset
    widths = " ".join(f"{glyph} [{round(face.glyph_advance(glyph) * unit)}]" for glyph in sorted(used))
    bounds = " ".join(str(round(bound * unit)) for bound in face.glyph_bounds)
    up, down = (round(bound * unit) for bound in face.ascent_and_descent)
    system = "/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"
    kind = f"/Type/Font/Subtype/{'CIDFontType0' if face.is_postscript else 'CIDFontType2/CIDToGIDMap/Identity'}"
    flags = f"/Flags 4/ItalicAngle 0/StemV 80/CapHeight 700/Ascent {up}/Descent {down}/FontBBox[{bounds}]"
    data = face.subset_font(used)
    outlines = "FontFile3" if face.is_postscript else "FontFile2"
    return [
        f"<</Type/Font/Subtype/Type0/BaseFont{name}/Encoding/Identity-H/DescendantFonts[{number + 1} 0 R]"
        f"/ToUnicode {number + 4} 0 R>>".encode(),
        f"<<{kind}/BaseFont{name}{system}/FontDescriptor {number + 2} 0 R/W[{widths}]>>".encode(),
        f"<</Type/FontDescriptor/FontName{name}{flags}/{outlines} {number + 3} 0 R>>".encode(),
        _compressed_stream(data, "/Subtype/CIDFontType0C" if face.is_postscript else f"/Length1 {len(data)}"),
        _compressed_stream(_unicode_map(used).encode()),
    ]


def _unicode_map(used: dict[int, str]) -> str:
    """Return the characters of glyphs, so that texts can be searched and copied."""
    known = sorted((glyph, char) for glyph, char in used.items() if glyph)
    pairs = [f"<{glyph:04X}> <{char.encode('utf-16-be').hex()}>" for glyph, char in known]
    blocks = [pairs[start : start + 100] for start in range(0, len(pairs), 100)]  # at most 100 in a block
    body = "\n".join("\n".join((f"{len(block)} beginbfchar", *block, "endbfchar")) for block in blocks)
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        "1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
        f"{body}\nendcmap CMapName currentdict /CMap defineresource pop end end"
    )


def _compressed_stream(data: bytes, more: str = "") -> bytes:
    packed = zlib.compress(data, 9)
    return f"<</Length {len(packed)}/Filter/FlateDecode{more}>>\nstream\n".encode() + packed + b"\nendstream"


def _pdf_number(number: float) -> str:
    """Format a number for PDF.

    >>> _pdf_number(1.0), _pdf_number(0.12345), _pdf_number(-0.00001)
    ('1', '0.1235', '0')
    """
    digits = f"{number:.4f}".rstrip("0").rstrip(".")
    return "0" if digits in ("-0", "") else digits


POINTS_PER_PIXEL = 0.75
CIRCLE_CONTROL = 0.5523  # distance of the control points of a quarter circle, in radii
SEMIBOLD_STROKE = 0.028  # width in em of the stroke that makes letters semibold


def pdf_bytes(drawing: Drawing, options: PictureOptions) -> bytes:
    """Return the drawing as a PDF of one page; equal drawings give equal bytes."""
    files = font_files(options.font_files, drawing)
    faces = [read_typeface(name) for name in files]
    for name, face in zip(files, faces, strict=True):
        if not face.has_outlines:
            raise RequestError(f"the font file {name!r} has no outlines", hint="give a .ttf or .otf file")
    fonts = PdfFonts(faces, [{} for _ in faces])
    scale = min(drawing.points or POINTS_PER_PIXEL, MAX_PDF_SIDE_POINTS / max(drawing.width, drawing.height))
    page = drawing.width * scale, drawing.height * scale
    # In PDF, y grows upward from the bottom of the page, so flip it once.
    content = [
        f"{_pdf_number(scale)} 0 0 {_pdf_number(-scale)} 0 {_pdf_number(page[1])} cm",
        *_page_operators(drawing, fonts),
    ]
    return _pdf_document(page, "\n".join(content).encode(), fonts, drawing.title)


def pdf_notices(drawing: Drawing, options: PictureOptions) -> tuple[Notice, ...]:
    """Return a notice about letters that no font has, which are empty boxes."""
    return missing_font_notices(
        undrawable_texts(drawing, options.font_files), "pdf-font", "the PDF shows empty boxes for them"
    )


def _page_operators(drawing: Drawing, fonts: PdfFonts) -> Iterator[str]:
    """Yield the operators of everything on the sheet."""
    yield from _shape_operators(Rectangle(0, 0, drawing.width, drawing.height, fill=drawing.ground), drawing, fonts)
    for part in drawing.parts:
        for group in part.groups:
            origin = part.at[0] + group.at[0], part.at[1] + group.at[1]
            operators = [
                operator for primitive in group.shapes for operator in _shape_operators(primitive, drawing, fonts)
            ]
            yield from (_moved_operators(origin, operators) if origin != (0, 0) else operators)


def _moved_operators(origin: DrawingPoint, operators: Iterable[str], scale: float = 1) -> Iterator[str]:
    """Yield operators with the origin at `origin`, `scale` times as large."""
    yield f"q {_pdf_number(scale)} 0 0 {_pdf_number(scale)} {_pdf_number(origin[0])} {_pdf_number(origin[1])} cm"
    yield from operators
    yield "Q"


def _shape_operators(primitive: Primitive, drawing: Drawing, fonts: PdfFonts) -> Iterator[str]:
    match primitive:
        case Rectangle(fill=fill, pen=pen):
            yield from _paint_operators(_rect_path(primitive), fill, pen)
        case Disc(fill=fill, pen=pen):
            yield from _paint_operators(_circle_path(primitive), fill, pen)
        case Curve(steps, fill, pen, at, scale):
            outline = _paint_operators(_pdf_path(steps), fill, pen)
            yield from _moved_operators(at, outline, scale) if (at, scale) != ((0, 0), 1) else outline
        case Hatch():
            yield from _shape_operators(hatch_lines(primitive, drawing.ground), drawing, fonts)
        case Label():
            yield from _text_operators(primitive, fonts)


def _paint_operators(outline: str, fill: str | None, pen: Pen | None) -> Iterator[str]:
    if fill:
        yield f"{_pdf_colour(fill)} rg"
    if pen:
        dashes = " ".join(map(_pdf_number, pen.dashes))
        ends = f"{int(pen.cap == 'round')} J {int(pen.join == 'round')} j"
        yield f"{_pdf_colour(pen.colour)} RG {_pdf_number(pen.width)} w {ends} [{dashes}] 0 d"
    if fill or pen:
        yield f"{outline} {'B' if fill and pen else 'f' if fill else 'S'}"


def _pdf_colour(hexadecimal: str) -> str:
    """Return red, green and blue from 0 to 1.

    >>> _pdf_colour("#FF8000")
    '1 0.502 0'
    """
    return " ".join(_pdf_number(int(hexadecimal[start : start + 2], 16) / 255) for start in (1, 3, 5))


def _rect_path(box: Rectangle) -> str:
    x, y, wide, tall, r = box.x, box.y, box.width, box.height, box.radius
    if not r:
        return f"{_pdf_number(x)} {_pdf_number(y)} {_pdf_number(wide)} {_pdf_number(tall)} re"
    right, bottom = x + wide, y + tall
    corners = [
        ((right - r, y), (right, y), (right, y + r)),
        ((right, bottom - r), (right, bottom), (right - r, bottom)),
        ((x + r, bottom), (x, bottom), (x, bottom - r)),
        ((x, y + r), (x, y), (x + r, y)),
    ]
    steps = [f"{_pdf_number(x + r)} {_pdf_number(y)} m"]
    for start, corner, stop in corners:
        steps += [f"{_pdf_number(start[0])} {_pdf_number(start[1])} l", _quarter_arc(start, corner, stop)]
    return " ".join((*steps, "h"))


def _circle_path(disc: Disc) -> str:
    x, y, r = disc.x, disc.y, disc.radius
    points = [(x, y - r), (x + r, y), (x, y + r), (x - r, y), (x, y - r)]
    corners = [(x + r, y - r), (x + r, y + r), (x - r, y + r), (x - r, y - r)]
    turns = zip(points, corners, points[1:], strict=False)
    return " ".join((f"{_pdf_number(x)} {_pdf_number(y - r)} m", *(_quarter_arc(*turn) for turn in turns), "h"))


def _quarter_arc(start: tuple[float, float], corner: tuple[float, float], stop: tuple[float, float]) -> str:
    """Return a quarter of a circle that touches the two sides of a corner."""
    near = [a + (c - a) * CIRCLE_CONTROL for a, c in zip(start, corner, strict=True)]
    far = [b + (c - b) * CIRCLE_CONTROL for b, c in zip(stop, corner, strict=True)]
    return " ".join(_pdf_number(number) for number in (*near, *far, *stop)) + " c"


def _pdf_path(steps: tuple[PathStep, ...]) -> str:
    """Return an outline in the operators of PDF.

    >>> _pdf_path((("M", (0, 0)), ("H", (9,)), ("Z", ())))
    '0 0 m 9 0 l h'
    """
    operators: list[str] = []
    end: DrawingPoint = (0, 0)
    for command, numbers in steps:
        if command == "Z":
            operators.append("h")
            continue
        before, end = end, _step_end(command, numbers, end)
        if command in "MLHV":
            operators.append(f"{_pdf_number(end[0])} {_pdf_number(end[1])} {'m' if command == 'M' else 'l'}")
        elif command == "C":
            operators.append(" ".join(map(_pdf_number, numbers)) + " c")
        elif command == "Q":
            bend = numbers[0], numbers[1]
            # A quadratic curve as a cubic one has its control points at two thirds of the way to the original.
            near = [a + (c - a) * 2 / 3 for a, c in zip(before, bend, strict=True)]
            far = [b + (c - b) * 2 / 3 for b, c in zip(end, bend, strict=True)]
            operators.append(" ".join(map(_pdf_number, (*near, *far, *end))) + " c")
        else:
            # Quarters turn clockwise (y down), so those to the lower right and the upper left begin horizontally.
            clockwise = (end[0] - before[0]) * (end[1] - before[1]) > 0
            operators.append(_quarter_arc(before, (end[0], before[1]) if clockwise else (before[0], end[1]), end))
    return " ".join(operators)


def _step_end(command: str, numbers: tuple[float, ...], before: DrawingPoint) -> DrawingPoint:
    if command == "H":
        return numbers[0], before[1]
    if command == "V":
        return before[0], numbers[0]
    return numbers[-2], numbers[-1]


def _text_operators(label: Label, fonts: PdfFonts) -> Iterator[str]:
    """Yield one line of text in its measured width; texts measured without their own font may be narrower."""
    runs = list(fonts.glyph_runs(_visual_order(label.content)))
    natural = sum(fonts.run_width(font, glyphs) for font, glyphs in runs) * label.size
    width = label.width if has_all_glyphs(label.content) else min(label.width, natural)
    left = label.x - width * {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor]
    words = " ".join(
        f"/F{font} {label.size} Tf <{pack(f'>{len(glyphs)}H', *glyphs).hex().upper()}> Tj" for font, glyphs in runs
    )
    # Tz: per cent of the natural width; Tm flips letters back; Tr 0 fills, 1 strokes, 2 does both.
    stretch = _pdf_number(100 * width / natural) if natural else "100"
    letters = f"BT {stretch} Tz 1 0 0 -1 {_pdf_number(left)} {_pdf_number(label.y)} Tm {words} ET"
    fill = _pdf_colour(label.colour)
    if label.halo:
        yield f"{_pdf_colour(label.halo)} RG {HALO_WIDTH} w [] 0 d 1 j 1 Tr {letters}"
    if label.semibold:
        yield f"{fill} rg {fill} RG {_pdf_number(label.size * SEMIBOLD_STROKE)} w [] 0 d 2 Tr {letters}"
    else:
        yield f"{fill} rg 0 Tr {letters}"


# Hebrew and Arabic in visual order, because PDF operators place one letter after the other.
#
# Unicode's bidirectional algorithm (https://www.unicode.org/reports/tr9/) for a line that begins at the left, without
# embeddings, which no name needs. Letters are not joined: PNG is shaped by its rasteriser, PDF shows them apart.

RIGHT_TO_LEFT = ("R", "AL")  # Hebrew and similar scripts; Arabic
NUMBER_CLASSES = ("EN", "AN")
BETWEEN_DIGITS = ("ES", "CS")  # a sign or a point within a number
MIRRORED_BRACKETS = str.maketrans("()[]{}<>«»", ")(][}{><»«")


def _visual_order(text: str) -> str:
    """Return the letters of a text in the order in which they appear from left to right.

    >>> _visual_order("אבג abc"), _visual_order("אב 12 ג"), _visual_order("a(12)")
    ('גבא abc', 'ג 12 בא', 'a(12)')
    """
    if text.isascii():
        return text
    letters = list(_letters_with_marks(text))
    levels = _embedding_levels([unicodedata.bidirectional(letter[0]) for letter in letters])
    letters = [
        letter.translate(MIRRORED_BRACKETS) if level == 1 else letter
        for level, letter in zip(levels, letters, strict=True)
    ]
    placed = list(zip(levels, letters, strict=True))
    for least in (2, 1):  # the innermost runs first (rule L2)
        placed = _reverse_runs(placed, least)
    return "".join(letter for _, letter in placed)


def _reverse_runs(placed: Sequence[tuple[int, str]], least: int) -> list[tuple[int, str]]:
    """Reverse each run of letters of at least some level."""
    line: list[tuple[int, str]] = []
    for backwards, entries in groupby(placed, lambda entry: entry[0] >= least):
        run = list(entries)
        line += reversed(run) if backwards else run
    return line


def _letters_with_marks(text: str) -> Iterator[str]:
    """Yield each letter with the marks that follow it.

    >>> [len(letter) for letter in _letters_with_marks("a" + "e\\u0301" + "b")]
    [1, 2, 1]
    """
    letter = ""
    for char in text:
        if letter and unicodedata.bidirectional(char) != "NSM":
            yield letter
            letter = ""
        letter += char
    if letter:
        yield letter


def _embedding_levels(kinds: Sequence[str]) -> list[int]:
    """Return the level of each letter: 0 from left to right, 1 from right to left, 2 a number in text from right to
    left.

    >>> _embedding_levels(["R", "WS", "EN", "CS", "EN", "WS", "L", "EN"])
    [1, 1, 2, 2, 2, 0, 0, 0]
    """
    stated: list[int | None] = []
    strong = "L"  # the last kind with a direction
    for kind in kinds:
        if kind in ("L", *RIGHT_TO_LEFT):
            strong = kind
            stated.append(int(kind in RIGHT_TO_LEFT))
        elif kind in NUMBER_CLASSES:
            stated.append(2 if strong in RIGHT_TO_LEFT else 0)
        else:
            stated.append(None)
    before, after = _fill_levels(stated), _fill_levels(stated[::-1])[::-1]
    return [
        level if level is not None else 2 if low == high == 2 and kind in BETWEEN_DIGITS else int(min(low, high) > 0)
        for level, low, high, kind in zip(stated, before, after, kinds, strict=True)
    ]


def _fill_levels(levels: Sequence[int | None]) -> list[int]:
    """Replace each None by the level before it, or at the beginning by the level of the line."""
    known = 0
    return [known := known if level is None else level for level in levels]
