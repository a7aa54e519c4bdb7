"""PDF: a sound file of one page, its letters embedded and searchable."""

from __future__ import annotations

import io
import re
import zlib
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

import graphviz_tb
from graphviz_tb.errors import RequestError
from graphviz_tb.render.fonts import font_files
from graphviz_tb.render.pdf import LONGEST
from graphviz_tb.render.pdf_file import Fonts
from graphviz_tb.render.typeface import Typeface

REAL = Path(__file__).parents[2] / "fixtures" / "real"


def streams(data: bytes) -> list[bytes]:
    """Every stream of a document, unpacked."""
    found = re.finditer(rb"<</Length (\d+)/Filter/FlateDecode[^\n]*>>\nstream\n", data)
    return [zlib.decompress(data[one.end() : one.end() + int(one[1])]) for one in found]


def arimo() -> Typeface:
    return Typeface(Path(font_files(())[0]).read_bytes())


@pytest.mark.parametrize("name", ["mnist_cnn.pbtxt", "odd_names.pbtxt", "multi_device.pb", "while_v1.pb"])
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
    assert float(box[1]) <= LONGEST


def test_a_subset_is_a_sound_font() -> None:
    face = arimo()
    wanted = [face.glyphs[ord(char)] for char in "aé…×"]  # é is made of parts
    data = face.subset(wanted)
    font = TTFont(io.BytesIO(data))
    names = font.getGlyphOrder()
    for glyph in wanted:
        outline = font["glyf"][names[glyph]]
        assert outline.numberOfContours
    assert len(data) < 60_000
    assert face.advance(face.glyphs[ord("a")]) == 1139


def test_letters_that_the_font_lacks_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphviz_tb.render.fonts.east_asian", list)
    picture = graphviz_tb.load('node{name:"합성곱" op:"X"}'.encode()).picture()
    told = picture.shortfalls("pdf")
    assert [notice.code for notice in told] == ["pdf-font"]
    assert picture.render("pdf").startswith(b"%PDF")


def test_a_file_that_is_no_font_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.ttf"
    path.write_bytes(b"\0\1\0\0" + bytes(8))
    with pytest.raises(RequestError, match="is no font"):
        graphviz_tb.load(b'node{name:"a" op:"X"}').picture(font_files=(str(path),)).render("pdf")


def test_joiners_and_variation_selectors_draw_nothing() -> None:
    """An emoji of two people is two empty boxes, not three with a sign over them."""
    fonts = Fonts([arimo()], [{}])
    assert list(fonts.runs("a\u200db\ufe0f")) == list(fonts.runs("ab"))
    assert list(fonts.runs("\u200d")) == []
