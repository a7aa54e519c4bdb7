"""PDF: a drawing on one page of its size, with the letters it uses embedded.

    drawing ─ shapes and texts ─ content stream ─ fonts ─ objects ─ file

Letters come from Arimo, then from the files of `--font-file`, then from the face of the extra `cjk`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from graphviz_tb.errors import RequestError
from graphviz_tb.model.drawing import Curve, Disc, Drawing, Hatch, Label, Pen, Place, Rect, Shape, Step
from graphviz_tb.model.notice import Notice
from graphviz_tb.options import PictureOptions
from graphviz_tb.render.fonts import font_files, foreign, lacking, typeface
from graphviz_tb.render.typeface import Typeface

POINTS = 0.75  # of a pixel
LONGEST = 14_400  # points that a side of a page may have
ROUND = 0.5523  # control points of a quarter circle
BOLD = 0.028  # of an em: the stroke that makes letters semibold
HATCH = 6
HATCH_FAINT = 40  # per cent of the colour in the lines of a hatch
HALO = 6  # width of the stroke around letters in a halo


@dataclass(slots=True)
class Fonts:
    """The faces, and which of their glyphs were used for which character."""

    faces: list[Typeface]
    used: list[dict[int, str]] = field(default_factory=list)

    def runs(self, text: str) -> Iterator[tuple[int, list[int]]]:
        """The text as runs of glyphs of one face; what no face has is an empty box of the first."""
        run: list[int] = []
        current = 0
        for char in text:
            at = next((index for index, face in enumerate(self.faces) if ord(char) in face.glyphs), 0)
            glyph = self.faces[at].glyphs.get(ord(char), 0)
            self.used[at].setdefault(glyph, char)
            if run and at != current:
                yield current, run
                run = []
            current = at
            run.append(glyph)
        if run:
            yield current, run

    def advance(self, at: int, glyphs: list[int]) -> float:
        """The width of a run, in em."""
        face = self.faces[at]
        return sum(face.advance(glyph) for glyph in glyphs) / face.em


def pdf(drawing: Drawing, options: PictureOptions) -> bytes:
    """The drawing as a PDF of one page. After: the same bytes for the same drawing."""
    files = font_files(options.font_files, drawing)
    faces = [typeface(name) for name in files]
    for name, face in zip(files, faces, strict=True):
        if not face.outlined:
            raise RequestError(f"the font file {name!r} has no outlines", hint="give a .ttf or .otf file")
    fonts = Fonts(faces, [{} for _ in faces])
    scale = min(POINTS, LONGEST / max(drawing.width, drawing.height))
    page = drawing.width * scale, drawing.height * scale
    content = [f"{n(scale)} 0 0 {n(-scale)} 0 {n(page[1])} cm", *drawn(drawing, fonts)]
    return file(page, "\n".join(content).encode(), fonts, drawing.title)


def notices(drawing: Drawing, options: PictureOptions) -> tuple[Notice, ...]:
    """Letters that no face has are empty boxes."""
    return lacking(foreign(drawing, options.font_files), "pdf-font", "the PDF shows empty boxes for them")


def n(number: float) -> str:
    """A number as PDF writes it.

    >>> n(1.0), n(0.12345), n(-0.00001)
    ('1', '0.1235', '0')
    """
    told = f"{number:.4f}".rstrip("0").rstrip(".")
    return "0" if told in ("-0", "") else told


def drawn(drawing: Drawing, fonts: Fonts) -> Iterator[str]:
    """The operators of everything on the sheet."""
    yield from shape(Rect(0, 0, drawing.width, drawing.height, fill=drawing.ground), drawing, fonts)
    for part in drawing.parts:
        for group in part.groups:
            at = part.at[0] + group.at[0], part.at[1] + group.at[1]
            operators = [told for one in group.shapes for told in shape(one, drawing, fonts)]
            yield from (moved(at, operators) if at != (0, 0) else operators)


def moved(at: Place, operators: Iterable[str], scale: float = 1) -> Iterator[str]:
    """The same with the origin at `at`, `scale` times as large."""
    yield f"q {n(scale)} 0 0 {n(scale)} {n(at[0])} {n(at[1])} cm"
    yield from operators
    yield "Q"


def shape(one: Shape, drawing: Drawing, fonts: Fonts) -> Iterator[str]:
    """The operators of one primitive."""
    match one:
        case Rect(fill=fill, pen=pen):
            yield from painted(rect(one), fill, pen)
        case Disc(fill=fill, pen=pen):
            yield from painted(circle(one), fill, pen)
        case Curve(steps, fill, pen, at, scale):
            outline = painted(path(steps), fill, pen)
            yield from moved(at, outline, scale) if (at, scale) != ((0, 0), 1) else outline
        case Hatch():
            yield from hatched(one, drawing.ground)
        case Label():
            yield from text(one, fonts)


def painted(outline: str, fill: str | None, pen: Pen | None) -> Iterator[str]:
    """An outline filled and stroked."""
    if fill:
        yield f"{colour(fill)} rg"
    if pen:
        dashes = " ".join(map(n, pen.dashes))
        ends = f"{int(pen.cap == 'round')} J {int(pen.join == 'round')} j"
        yield f"{colour(pen.colour)} RG {n(pen.width)} w {ends} [{dashes}] 0 d"
    if fill or pen:
        yield f"{outline} {'B' if fill and pen else 'f' if fill else 'S'}"


def colour(told: str) -> str:
    """Red, green and blue from 0 to 1.

    >>> colour("#FF8000")
    '1 0.502 0'
    """
    return " ".join(n(int(told[at : at + 2], 16) / 255) for at in (1, 3, 5))


def rect(one: Rect | Hatch) -> str:
    """A rectangle, its corners rounded."""
    x, y, wide, tall, r = one.x, one.y, one.width, one.height, one.radius
    if not r:
        return f"{n(x)} {n(y)} {n(wide)} {n(tall)} re"
    right, bottom = x + wide, y + tall
    corners = [
        ((right - r, y), (right, y), (right, y + r)),
        ((right, bottom - r), (right, bottom), (right - r, bottom)),
        ((x + r, bottom), (x, bottom), (x, bottom - r)),
        ((x, y + r), (x, y), (x + r, y)),
    ]
    told = [f"{n(x + r)} {n(y)} m"]
    for start, corner, stop in corners:
        told += [f"{n(start[0])} {n(start[1])} l", quarter(start, corner, stop)]
    return " ".join((*told, "h"))


def circle(one: Disc) -> str:
    """A circle in four quarters."""
    x, y, r = one.x, one.y, one.radius
    points = [(x, y - r), (x + r, y), (x, y + r), (x - r, y), (x, y - r)]
    corners = [(x + r, y - r), (x + r, y + r), (x - r, y + r), (x - r, y - r)]
    turns = zip(points, corners, points[1:], strict=False)
    return " ".join((f"{n(x)} {n(y - r)} m", *(quarter(*turn) for turn in turns), "h"))


def quarter(start: tuple[float, float], corner: tuple[float, float], stop: tuple[float, float]) -> str:
    """A quarter of a circle that touches the two sides of a corner."""
    near = [a + (c - a) * ROUND for a, c in zip(start, corner, strict=True)]
    far = [b + (c - b) * ROUND for b, c in zip(stop, corner, strict=True)]
    return " ".join(n(one) for one in (*near, *far, *stop)) + " c"


def path(steps: tuple[Step, ...]) -> str:
    """An outline in the operators of PDF.

    >>> path((("M", (0, 0)), ("H", (9,)), ("Z", ())))
    '0 0 m 9 0 l h'
    """
    told: list[str] = []
    end: Place = (0, 0)
    for command, numbers in steps:
        if command == "Z":
            told.append("h")
            continue
        before, end = end, end_of(command, numbers, end)
        if command in "MLHV":
            told.append(f"{n(end[0])} {n(end[1])} {'m' if command == 'M' else 'l'}")
        elif command == "C":
            told.append(" ".join(map(n, numbers)) + " c")
        elif command == "Q":
            bend = numbers[0], numbers[1]
            near = [a + (c - a) * 2 / 3 for a, c in zip(before, bend, strict=True)]
            far = [b + (c - b) * 2 / 3 for b, c in zip(end, bend, strict=True)]
            told.append(" ".join(map(n, (*near, *far, *end))) + " c")
        else:
            clockwise = (end[0] - before[0]) * (end[1] - before[1]) > 0
            told.append(quarter(before, (end[0], before[1]) if clockwise else (before[0], end[1]), end))
    return " ".join(told)


def end_of(command: str, numbers: tuple[float, ...], before: Place) -> Place:
    """Where a step ends."""
    if command == "H":
        return numbers[0], before[1]
    if command == "V":
        return before[0], numbers[0]
    return numbers[-2], numbers[-1]


def hatched(one: Hatch, ground: str) -> Iterator[str]:
    """Slanting lines within an outline, their colour mixed with the ground."""
    x, y, wide, tall = int(one.x), int(one.y), int(one.width), int(one.height)
    faint = [
        n((int(one.colour[at : at + 2], 16) * HATCH_FAINT + int(ground[at : at + 2], 16) * (100 - HATCH_FAINT)) / 25500)
        for at in (1, 3, 5)
    ]
    yield f"q {rect(one)} W n {' '.join(faint)} RG 1 w [] 0 d"
    step = HATCH * 1.4142
    at = float(x - tall)
    while at < x + wide:
        yield f"{n(at)} {n(y + tall)} m {n(at + tall)} {n(y)} l S"
        at += step
    yield "Q"


def text(one: Label, fonts: Fonts) -> Iterator[str]:
    """One line of text, held to its width."""
    runs = list(fonts.runs(one.content))
    natural = sum(fonts.advance(at, glyphs) for at, glyphs in runs) * one.size
    left = one.x - one.width * {"start": 0.0, "middle": 0.5, "end": 1.0}[one.anchor]
    words = " ".join(f"/F{at} {one.size} Tf <{''.join(f'{glyph:04X}' for glyph in glyphs)}> Tj" for at, glyphs in runs)
    stretch = n(100 * one.width / natural) if natural else "100"
    letters = f"BT {stretch} Tz 1 0 0 -1 {n(left)} {n(one.y)} Tm {words} ET"
    fill = colour(one.colour)
    if one.halo:
        yield f"{colour(one.halo)} RG {HALO} w [] 0 d 1 j 1 Tr {letters}"
    if one.semibold:
        yield f"{fill} rg {fill} RG {n(one.size * BOLD)} w [] 0 d 2 Tr {letters}"
    else:
        yield f"{fill} rg 0 Tr {letters}"


def file(page: tuple[float, float], content: bytes, fonts: Fonts, title: str) -> bytes:
    """The objects of a document of one page, and the table that says where they are."""
    objects: list[bytes] = [b""] * 5
    named = []
    for at, face in enumerate(fonts.faces):
        if fonts.used[at]:
            named.append(f"/F{at} {len(objects) + 1} 0 R")
            objects += font(face, fonts.used[at], len(objects) + 1)
    box = f"[0 0 {n(page[0])} {n(page[1])}]"
    resources = f"<</Font<<{' '.join(named)}>>>>"
    objects[0] = b"<</Type/Catalog/Pages 2 0 R>>"
    objects[1] = b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
    objects[2] = f"<</Type/Page/Parent 2 0 R/MediaBox{box}/Contents 4 0 R/Resources{resources}>>".encode()
    objects[3] = stream(content)
    objects[4] = f"<</Title<FEFF{title.encode('utf-16-be', 'replace').hex()}>/Producer(tbgraph)>>".encode()
    told, starts = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
    for number, one in enumerate(objects, 1):
        starts.append(len(told))
        told += f"{number} 0 obj\n".encode() + one + b"\nendobj\n"
    table = "".join(f"{start:010d} 00000 n \n" for start in starts)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<</Size {size}/Root 1 0 R/Info 5 0 R>>\n"
    return bytes(told + f"{end}startxref\n{len(told)}\n%%EOF\n".encode())


def stream(data: bytes, more: str = "") -> bytes:
    """A compressed stream."""
    packed = zlib.compress(data, 9)
    return f"<</Length {len(packed)}/Filter/FlateDecode{more}>>\nstream\n".encode() + packed + b"\nendstream"


def font(face: Typeface, used: dict[int, str], number: int) -> list[bytes]:
    """The five objects of one font; the first has `number`."""
    unit = 1000 / face.em
    name = f"/{'ABCDEF'}+Face{number}"
    widths = " ".join(f"{glyph} [{round(face.advance(glyph) * unit)}]" for glyph in sorted(used))
    bounds = " ".join(str(round(one * unit)) for one in face.bounds)
    up, down = (round(one * unit) for one in face.heights)
    system = "/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"
    kind = f"/Type/Font/Subtype/{'CIDFontType0' if face.postscript else 'CIDFontType2/CIDToGIDMap/Identity'}"
    flags = f"/Flags 4/ItalicAngle 0/StemV 80/CapHeight 700/Ascent {up}/Descent {down}/FontBBox[{bounds}]"
    data = face.subset(used)
    outlines = "FontFile3" if face.postscript else "FontFile2"
    return [
        f"<</Type/Font/Subtype/Type0/BaseFont{name}/Encoding/Identity-H/DescendantFonts[{number + 1} 0 R]"
        f"/ToUnicode {number + 4} 0 R>>".encode(),
        f"<<{kind}/BaseFont{name}{system}/FontDescriptor {number + 2} 0 R/W[{widths}]>>".encode(),
        f"<</Type/FontDescriptor/FontName{name}{flags}/{outlines} {number + 3} 0 R>>".encode(),
        stream(data, "/Subtype/CIDFontType0C" if face.postscript else f"/Length1 {len(data)}"),
        stream(unicode_map(used).encode()),
    ]


def unicode_map(used: dict[int, str]) -> str:
    """Which character each glyph stands for, so that texts can be searched and copied."""
    pairs = [f"<{glyph:04X}> <{char.encode('utf-16-be').hex()}>" for glyph, char in sorted(used.items()) if glyph]
    blocks = [pairs[at : at + 100] for at in range(0, len(pairs), 100)]
    body = "\n".join("\n".join((f"{len(block)} beginbfchar", *block, "endbfchar")) for block in blocks)
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        "1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
        f"{body}\nendcmap CMapName currentdict /CMap defineresource pop end end"
    )
