"""PDF: the SVG, redrawn in the words of PDF on one page of its size, with the letters it uses embedded.

    SVG ─ shapes and texts ─ content stream ─ fonts ─ objects ─ file

It knows the SVG that `svg` writes and no other: groups moved by `translate`, rectangles, circles, paths of
M L Q V H A Z, texts. Letters come from Arimo, then from the files of `--font-file`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from graphviz_tb.errors import RequestError
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paint import Caption, Painter
from graphviz_tb.model.scene import Scene
from graphviz_tb.options import PictureOptions
from graphviz_tb.render.png import font_files, foreign
from graphviz_tb.render.svg import svg
from graphviz_tb.render.truetype import Face

POINTS = 0.75  # of a pixel
LONGEST = 14_400  # points that a side of a page may have
ROUND = 0.5523  # control points of a quarter circle
BOLD = 0.028  # of an em: the stroke that makes letters semibold
HATCH = 6
SVG = "{http://www.w3.org/2000/svg}"
COMMANDS = re.compile(r"([MLQVHAZ])([^MLQVHAZ]*)")
NUMBERS = re.compile(r"-?\d*\.?\d+")


@dataclass(slots=True)
class Fonts:
    """The faces, and which of their glyphs were used for which character."""

    faces: list[Face]
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


def pdf(scene: Scene, painter: Painter, caption: Caption, options: PictureOptions) -> bytes:
    """The picture as a PDF of one page. After: the same bytes for the same picture."""
    faces = [Face(Path(name).read_bytes()) for name in font_files(options)]
    for name, face in zip(font_files(options), faces, strict=True):
        if not face.usable:
            raise RequestError(f"the font file {name!r} has no TrueType outlines", hint="give a .ttf file")
    fonts = Fonts(faces, [{} for _ in faces])
    root = ElementTree.fromstring(svg(scene, painter, caption, options))
    size = float(root.attrib["width"]), float(root.attrib["height"])
    scale = min(POINTS, LONGEST / max(size))
    page = size[0] * scale, size[1] * scale
    content = [f"{n(scale)} 0 0 {n(-scale)} 0 {n(page[1])} cm", *drawn(root, fonts)]
    return file(page, "\n".join(content).encode(), fonts, caption.title)


def notices(scene: Scene, painter: Painter, caption: Caption, options: PictureOptions) -> tuple[Notice, ...]:
    """Letters that no face has are empty boxes."""
    text = foreign(scene, caption, options)
    message = "a name has letters that the font lacks: the PDF shows empty boxes for them (see --font-file)"
    return (Notice("pdf-font", message, text),) if text else ()


def n(number: float) -> str:
    """A number as PDF writes it.

    >>> n(1.0), n(0.12345), n(-0.00001)
    ('1', '0.1235', '0')
    """
    told = f"{number:.4f}".rstrip("0").rstrip(".")
    return "0" if told in ("-0", "") else told


def drawn(element: ElementTree.Element, fonts: Fonts) -> Iterator[str]:
    """The operators of an element and of what is in it."""
    tag, get = element.tag.removeprefix(SVG), element.attrib.get
    if tag in ("title", "desc", "defs"):
        return
    moved = NUMBERS.findall(get("transform", ""))
    if moved:
        yield f"q 1 0 0 1 {' '.join(moved)} cm"
    if tag == "text":
        yield from text(element, fonts)
    elif tag in ("rect", "circle", "path"):
        yield from shape(element, tag)
    for child in element:
        yield from drawn(child, fonts)
    if moved:
        yield "Q"


def shape(element: ElementTree.Element, tag: str) -> Iterator[str]:
    """The operators of one shape."""
    get = element.attrib.get
    outline = {"rect": rect, "circle": circle, "path": path}[tag](element)
    fill, stroke = get("fill", "#000000"), get("stroke", "none")
    if fill.startswith("url"):
        yield from hatched(element, outline)
        return
    if fill != "none":
        yield f"{colour(fill)} rg"
    if stroke != "none":
        dashes = get("stroke-dasharray", "")
        yield f"{colour(stroke)} RG {get('stroke-width', '1')} w [{dashes}] 0 d"
    if fill != "none" or stroke != "none":
        yield f"{outline} {'B' if fill != 'none' and stroke != 'none' else 'f' if fill != 'none' else 'S'}"


def colour(told: str) -> str:
    """Red, green and blue from 0 to 1.

    >>> colour("#FF8000")
    '1 0.502 0'
    """
    return " ".join(n(int(told[at : at + 2], 16) / 255) for at in (1, 3, 5))


def rect(element: ElementTree.Element) -> str:
    """A rectangle, its corners rounded."""
    x, y, wide, tall, r = (float(element.attrib.get(key, 0)) for key in ("x", "y", "width", "height", "rx"))
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


def circle(element: ElementTree.Element) -> str:
    """A circle in four quarters."""
    x, y, r = (float(element.attrib[key]) for key in ("cx", "cy", "r"))
    points = [(x, y - r), (x + r, y), (x, y + r), (x - r, y), (x, y - r)]
    corners = [(x + r, y - r), (x + r, y + r), (x - r, y + r), (x - r, y - r)]
    turns = zip(points, corners, points[1:], strict=False)
    return " ".join((f"{n(x)} {n(y - r)} m", *(quarter(*turn) for turn in turns), "h"))


def quarter(start: tuple[float, float], corner: tuple[float, float], stop: tuple[float, float]) -> str:
    """A quarter of a circle that touches the two sides of a corner."""
    near = [a + (c - a) * ROUND for a, c in zip(start, corner, strict=True)]
    far = [b + (c - b) * ROUND for b, c in zip(stop, corner, strict=True)]
    return " ".join(n(one) for one in (*near, *far, *stop)) + " c"


def path(element: ElementTree.Element) -> str:
    """Path data in the operators of PDF."""
    told: list[str] = []
    x = y = 0.0
    for command, rest in COMMANDS.findall(element.attrib["d"]):
        numbers = [float(word) for word in NUMBERS.findall(rest)]
        before = (x, y)
        if command == "Z":
            told.append("h")
            continue
        x, y = {"V": (x, numbers[-1]), "H": (numbers[-1], y)}.get(command, tuple(numbers[-2:]))
        if command in "MLVH":
            told.append(f"{n(x)} {n(y)} {'m' if command == 'M' else 'l'}")
        elif command == "Q":
            bend = (numbers[0], numbers[1])
            near = [a + (c - a) * 2 / 3 for a, c in zip(before, bend, strict=True)]
            far = [b + (c - b) * 2 / 3 for b, c in zip((x, y), bend, strict=True)]
            told.append(" ".join(n(one) for one in (*near, *far, x, y)) + " c")
        else:  # an arc of ours is a quarter, clockwise
            corner = (x, before[1]) if (x - before[0]) * (y - before[1]) > 0 else (before[0], y)
            told.append(quarter(before, corner, (x, y)))
    return " ".join(told)


def hatched(element: ElementTree.Element, outline: str) -> Iterator[str]:
    """Slanting lines within an outline."""
    x, y, wide, tall = (int(float(element.attrib.get(key, 0))) for key in ("x", "y", "width", "height"))
    yield f"q {outline} W n 0.6 0.6 0.6 RG 1 w [] 0 d"
    step = HATCH * 1.4142
    at = float(x - tall)
    while at < x + wide:
        yield f"{n(at)} {n(y + tall)} m {n(at + tall)} {n(y)} l S"
        at += step
    yield "Q"


def text(element: ElementTree.Element, fonts: Fonts) -> Iterator[str]:
    """One line of text, held to its width."""
    get = element.attrib.get
    size, wide = float(get("font-size", "0")), float(get("textLength", "0"))
    runs = list(fonts.runs(element.text or ""))
    natural = sum(fonts.advance(at, glyphs) for at, glyphs in runs) * size
    left = float(get("x", "0")) - wide * {"middle": 0.5, "end": 1.0}.get(get("text-anchor", ""), 0.0)
    words = " ".join(f"/F{at} {n(size)} Tf <{''.join(f'{glyph:04X}' for glyph in glyphs)}> Tj" for at, glyphs in runs)
    stretch = n(100 * wide / natural) if natural else "100"
    set_ = f"BT {stretch} Tz 1 0 0 -1 {n(left)} {n(float(get('y', '0')))} Tm {words} ET"
    fill = get("fill", "#000000")
    if get("paint-order"):
        yield f"{colour(get('stroke', '#FFFFFF'))} RG {get('stroke-width', '1')} w [] 0 d 1 j 1 Tr {set_}"
    if get("font-weight"):
        yield f"{colour(fill)} rg {colour(fill)} RG {n(size * BOLD)} w [] 0 d 2 Tr {set_}"
    else:
        yield f"{colour(fill)} rg 0 Tr {set_}"


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


def font(face: Face, used: dict[int, str], number: int) -> list[bytes]:
    """The five objects of one font; the first has `number`."""
    unit = 1000 / face.em
    name = f"/{'ABCDEF'}+Face{number}"
    widths = " ".join(f"{glyph} [{round(face.advance(glyph) * unit)}]" for glyph in sorted(used))
    bounds = " ".join(str(round(one * unit)) for one in face.bounds)
    up, down = (round(one * unit) for one in face.heights)
    system = "/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"
    kind = "/Type/Font/Subtype/CIDFontType2/CIDToGIDMap/Identity"
    flags = f"/Flags 4/ItalicAngle 0/StemV 80/CapHeight 700/Ascent {up}/Descent {down}/FontBBox[{bounds}]"
    data = face.subset(used)
    return [
        f"<</Type/Font/Subtype/Type0/BaseFont{name}/Encoding/Identity-H/DescendantFonts[{number + 1} 0 R]"
        f"/ToUnicode {number + 4} 0 R>>".encode(),
        f"<<{kind}/BaseFont{name}{system}/FontDescriptor {number + 2} 0 R/W[{widths}]>>".encode(),
        f"<</Type/FontDescriptor/FontName{name}{flags}/FontFile2 {number + 3} 0 R>>".encode(),
        stream(data, f"/Length1 {len(data)}"),
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
