"""PDF: a sound file of one page, its letters embedded and searchable."""

from __future__ import annotations

import io
import re
import zlib
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from pdf_reader import Part, characters, document, texts

import graphviz_tb
from graphviz_tb.errors import RequestError
from graphviz_tb.limits import MAX_PDF_SIDE_POINTS
from graphviz_tb.model.drawing import Drawing, Group, Label
from graphviz_tb.model.drawing import Section as Layer
from graphviz_tb.options import PictureOptions
from graphviz_tb.render import pdf
from graphviz_tb.render.fonts import Typeface, font_files
from graphviz_tb.render.pdf import PdfFonts, pdf_bytes
from tests.effort import part

REAL = Path(__file__).parents[2] / "fixtures" / "real"
LONG = "".join(map(chr, (*range(33, 127), *range(161, 173), *range(174, 384))))  # four blocks of characters


def streams(data: bytes) -> list[bytes]:
    """Every stream of a document, unpacked."""
    found = re.finditer(rb"<</Length (\d+)/Filter/FlateDecode[^\n]*>>\nstream\n", data)
    return [zlib.decompress(data[one.end() : one.end() + int(one[1])]) for one in found]


def arimo() -> Typeface:
    return Typeface(Path(font_files((), alone("a"))[0]).read_bytes())


@pytest.mark.parametrize("name", part(["mnist_cnn.pbtxt", "odd_names.pbtxt", "multi_device.pb", "while_v1.pb"], 2))
def test_every_object_is_where_the_table_says(name: str) -> None:
    data = graphviz_tb.load(REAL / name).picture(color_by="device", theme="dark").render("pdf")
    start = int(data.split(b"startxref\n")[1].split(b"\n")[0])
    rows = re.findall(rb"(\d{10}) 00000 n ", data[start:])
    assert data[start : start + 4] == b"xref"
    for number, row in enumerate(rows, 1):
        assert data[int(row) :].startswith(f"{number} 0 obj\n".encode())
    content = streams(data)[0].decode()
    assert content.count("q ") == content.count("Q")
    assert content.count("BT ") == content.count(" ET")


def test_texts_can_be_found() -> None:
    data = graphviz_tb.load(b'node{name:"Relu" op:"X"}').picture(title="t").render("pdf")
    glyphs = arimo().glyphs
    shown = "".join(f"{glyphs[ord(char)]:04X}" for char in "Relu")
    told = streams(data)
    assert f"<{shown}>" in told[0].decode()
    assert f"<{glyphs[ord('R')]:04X}> <0052>".encode() in told[-1]


def test_the_page_has_the_size_of_the_picture() -> None:
    picture = graphviz_tb.load(b'node{name:"a" op:"X"}').picture()
    wide = int(picture.render("svg").split(b'width="')[1].split(b'"')[0])
    box = re.search(rb"/MediaBox\[0 0 ([\d.]+) ", picture.render("pdf"))
    assert box
    assert float(box[1]) == wide * 0.75
    many = b"".join(b'node{name:"n%d" op:"X" input:"n%d"}' % (at, at - 1) for at in range(1, 900))
    tall = graphviz_tb.load(many, folds=False, series_min=9999).picture(open_all=True).render("pdf")
    box = re.search(rb"/MediaBox\[0 0 [\d.]+ ([\d.]+)\]", tall)
    assert box
    assert float(box[1]) <= MAX_PDF_SIDE_POINTS


def test_a_subset_is_a_sound_font() -> None:
    face = arimo()
    wanted = [face.glyphs[ord(char)] for char in "aé…×"]  # é is made of parts
    data = face.subset_font(wanted)
    font = TTFont(io.BytesIO(data))
    names = font.getGlyphOrder()
    for glyph in wanted:
        outline = font["glyf"][names[glyph]]
        assert outline.numberOfContours
    assert len(data) < 60_000
    assert face.glyph_advance(face.glyphs[ord("a")]) == 1139


def test_letters_that_the_font_lacks_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphviz_tb.render.fonts._cjk_font_files", list)
    picture = graphviz_tb.load('node{name:"합성곱" op:"X"}'.encode()).picture()
    told = picture.shortfalls("pdf")
    assert [notice.code for notice in told] == ["pdf-font"]
    assert picture.render("pdf").startswith(b"%PDF")


def test_a_file_that_is_no_font_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.ttf"
    path.write_bytes(b"\0\1\0\0" + bytes(8))
    with pytest.raises(RequestError, match="is not a font"):
        graphviz_tb.load(b'node{name:"a" op:"X"}').picture(font_files=(str(path),)).render("pdf")


def test_hebrew_is_written_from_the_right() -> None:
    data = graphviz_tb.load('node{name:"שלום ab 12" op:"X"}'.encode()).picture(title="t").render("pdf")
    shown = "".join(f"{arimo().glyphs[ord(char)]:04X}" for char in "םולש ab 12")
    assert f"<{shown}>" in streams(data)[0].decode()


def test_joiners_and_variation_selectors_draw_nothing() -> None:
    """An emoji of two people is two empty boxes, not three with a sign over them."""
    fonts = PdfFonts([arimo()], [{}])
    assert list(fonts.glyph_runs("a\u200db\ufe0f")) == list(fonts.glyph_runs("ab"))
    assert list(fonts.glyph_runs("\u200d")) == []


@pytest.mark.parametrize("name", ["multi_device.pb", "xor.pbtxt", "while_v1.pb"])
def test_a_strict_reader_finds_every_text(name: str) -> None:
    drawing = graphviz_tb.load(REAL / name).picture(title="a title", theme="dark").drawing
    assert shown(drawing) == [label.content for label in labels(drawing)]


def test_a_strict_reader_finds_more_letters_than_one_block_takes() -> None:
    drawing = alone(LONG)
    assert shown(drawing) == [LONG]
    parts, _, information = document(pdf_bytes(drawing, PictureOptions()))
    title = re.search(r"/Title<(\w+)>", parts[information].words)
    assert title
    assert bytes.fromhex(title[1]).decode("utf-16") == drawing.title


def test_the_widths_of_a_font_are_those_of_its_outlines() -> None:
    parts, _, _ = document(pdf_bytes(alone(LONG), PictureOptions()))
    (own,) = [part for part in parts.values() if "/Subtype/CIDFontType2" in part.words]
    about = parts[own.reference("FontDescriptor")]
    outlines = parts[about.reference("FontFile2")]
    assert f"/Length1 {len(outlines.stream)}>>" in outlines.words
    font = TTFont(io.BytesIO(outlines.stream))
    unit, names = 1000 / font["head"].unitsPerEm, font.getGlyphOrder()
    widths = re.findall(r"(\d+) \[(\d+)\]", own.words)
    assert len(widths) == len(LONG)
    assert all(int(wide) == round(font["hmtx"][names[int(glyph)]][0] * unit) for glyph, wide in widths)
    heights = re.search(r"/Ascent (-?\d+)/Descent (-?\d+)/FontBBox\[([-\d]+) ", about.words)
    assert heights
    wanted = font["hhea"].ascent, font["hhea"].descent, arimo().glyph_bounds[0]
    assert list(map(int, heights.groups())) == [round(number * unit) for number in wanted]


@pytest.mark.parametrize(
    ("size", "box"), [((1000, 40_000), "360 14400"), ((40_000, 1000), "14400 360"), ((19_200, 9), "14400 6.75")]
)
def test_a_side_of_a_page_is_never_longer_than_readers_take(size: tuple[int, int], box: str) -> None:
    parts, _, _ = document(pdf_bytes(Drawing(*size, "", "", "#FFFFFF", ()), PictureOptions()))
    assert f"/MediaBox[0 0 {box}]" in parts[3].words


@pytest.mark.parametrize("table", [b"glyf", b"loca"])
def test_a_font_without_a_table_of_outlines_has_none(table: bytes) -> None:
    data = Path(font_files((), alone("a"))[0]).read_bytes()
    assert Typeface(data).has_outlines
    assert not Typeface(data.replace(table, b"zzzz", 1)).has_outlines


def alone(content: str) -> Drawing:
    """A sheet with one text."""
    text = Label(content, 4, 20, 12, 900, "#112233")
    return Drawing(1000, 30, f"title {content}", "", "#FFFFFF", (Layer("graph", (0, 0), (Group((text,)),)),))


def labels(drawing: Drawing) -> list[Label]:
    """The texts of a sheet; one in a halo is drawn twice."""
    found = [shape for shape in drawing.shapes() if isinstance(shape, Label)]
    return [label for label in found for _ in range(2 if label.halo else 1)]


def shown(drawing: Drawing) -> list[str]:
    """The texts that a PDF of the sheet shows, as a strict reader finds them."""
    parts, catalogue, _ = document(pdf_bytes(drawing, PictureOptions()))
    page = parts[parts[parts[catalogue].reference("Pages")].reference("Kids")]
    assert page.reference("Parent") == parts[catalogue].reference("Pages")
    fonts = {name: written(parts, int(number)) for name, number in re.findall(r"/(F\d+) (\d+) 0 R", page.words)}
    return texts(parts[page.reference("Contents")].stream.decode(), fonts)


def written(parts: dict[int, Part], number: int) -> dict[str, str]:
    """The characters of a font."""
    return characters(parts[parts[number].reference("ToUnicode")].stream.decode())


def test_a_character_is_looked_up_once_however_often_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(pdf, "_is_invisible", lambda char: bool(asked.append(char)))
    fonts = PdfFonts([arimo()], [{}])
    for _ in range(3):
        assert [len(glyphs) for _, glyphs in fonts.glyph_runs("abba" * 50)] == [200]
    assert asked == ["a", "b"]
