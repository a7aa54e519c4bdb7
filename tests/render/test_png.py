"""PNG: decoded, never compared by bytes."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.errors import RequestError
from graphviz_tb.limits import MAX_ASKED_PNG_WORK, MAX_PNG_PIXELS, MAX_PNG_SIDE_PX, MAX_PNG_TEXTS, MAX_PNG_WORK
from graphviz_tb.model.drawing import Curve, Disc, Drawing, Group, Label, PathStep, Pen, Primitive, Rectangle, Section
from graphviz_tb.options import PictureOptions
from graphviz_tb.render.png import MIN_WORK_SCALE, PNG_HARD_LIMIT, _band_count, _raster_size, png_bytes, png_notices
from graphviz_tb.render.raster_work import (
    OUTLINE_STEP_COST,
    SHEET_PIXELS,
    TEXT_COST,
    VERTICAL_COST,
    RasterWork,
    raster_work,
)
from tests.timing import seconds

TWO = b'node{name:"a" op:"X"} node{name:"b" op:"X" input:"a"}'


def decode(data: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and rows of RGBA pixels of an 8-bit PNG."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body, wide, tall = 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        chunk = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            wide, tall, depth, colour = struct.unpack(">IIBB", chunk[:10])
            assert (depth, colour) == (8, 6)
        elif kind == b"IDAT":
            body += chunk
        at += 12 + length
    return wide, tall, unfiltered(zlib.decompress(body), wide * 4)


def unfiltered(raw: bytes, stride: int) -> list[bytes]:
    """Undo the filters of PNG rows."""
    rows, above = [], bytes(stride)
    for start in range(0, len(raw), stride + 1):
        kind, row = raw[start], bytearray(raw[start + 1 : start + 1 + stride])
        for i in range(stride):
            left, up, corner = row[i - 4] if i >= 4 else 0, above[i], above[i - 4] if i >= 4 else 0
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda one: abs(guess - one))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, paeth)[kind]) & 255
        above = bytes(row)
        rows.append(above)
    return rows


@pytest.mark.parametrize(("theme", "ground"), [("light", (255, 255, 255)), ("dark", (13, 17, 23))])
def test_a_picture_at_double_scale(theme: str, ground: tuple[int, int, int]) -> None:
    picture = graphviz_tb.load(TWO).picture(theme=theme)
    wide, tall, rows = decode(picture.render("png"))
    head = picture.render("svg").split(b">", 1)[0]
    assert f'width="{wide // 2}" height="{tall // 2}"'.encode() in head
    assert tuple(rows[0][:3]) == ground
    colours = {row[at : at + 3] for row in rows for at in range(0, len(row), 4)}
    assert len(colours) > 20  # letters, strokes and their soft edges


def test_letters_are_drawn_without_a_font_on_the_machine() -> None:
    # The title alone: its rows hold dark pixels.
    picture = graphviz_tb.load(b'node{name:"i" op:"X"}').picture(title="MMMM", legend=False)
    _, _, rows = decode(picture.render("png"))
    dark = sum(row[at] < 80 for row in rows[40:90] for at in range(0, len(row), 4))
    assert dark > 300


def test_width_and_scale() -> None:
    picture = graphviz_tb.load(TWO).picture(width=500)
    assert decode(picture.render("png"))[0] == 500
    picture = graphviz_tb.load(TWO).picture(scale=1.0)
    assert decode(picture.render("png"))[0] == int(picture.render("svg").split(b'width="')[1].split(b'"')[0])


def test_never_more_pixels_than_the_cap_unless_asked() -> None:
    size = _raster_size(RasterWork(30_000, 2_000), PictureOptions())
    assert size.width <= MAX_PNG_SIDE_PX
    size = _raster_size(RasterWork(7_000, 40_000), PictureOptions())
    assert size.width * size.height <= MAX_PNG_PIXELS
    size = _raster_size(RasterWork(10_000, 5_000), PictureOptions(width=15_000))
    assert size.width == 15_000
    with pytest.raises(RequestError, match="too large"):
        _raster_size(RasterWork(10_000, 5_000), PictureOptions(width=100_000))


def thicket(lines: int) -> Drawing:
    """A square of 1,000 pixels with lines from side to side."""
    across: tuple[PathStep, ...] = (("M", (0, 0)), ("L", (1000, 0)))
    return sheet(*[Curve(across, pen=Pen("#000000"))] * lines)


def stack(sheets: int) -> Drawing:
    """A square of 1,000 pixels with sheets of that size, one upon another."""
    return sheet(*[Rectangle(0, 0, 1000, 1000, fill="#000000")] * sheets)


def sheet(*shapes: Primitive) -> Drawing:
    return Drawing(1000, 1000, "", "", "#FFFFFF", (Section("graph", (0, 0), (Group(shapes),)),))


def size(drawing: Drawing, **choices: float) -> tuple[int, list[str]]:
    options = PictureOptions(**choices)  # type: ignore[arg-type]
    told = [notice.message for notice in png_notices(drawing, options)]
    return _raster_size(raster_work(drawing), options).width, told


def test_a_thicket_of_lines_is_drawn_smaller_or_not_at_all() -> None:
    assert raster_work(thicket(3)) == RasterWork(1000, 1000, lines=3 * 1000, shapes=((1000, 3, 6),))
    assert size(thicket(1000)) == (2000, [])
    width, told = size(thicket(MAX_PNG_WORK // 1000 * 2))
    assert 450 < width < 500  # the sheet and the ends of lines take a little too
    assert 0.99 * MAX_PNG_WORK < raster_work(thicket(MAX_PNG_WORK // 1000 * 2)).work_at(width / 1000) <= MAX_PNG_WORK
    assert told[0].startswith("the PNG is drawn at scale 0.4")
    assert told[0].endswith(" to stay within the work of lines of 16 million pixels")
    assert size(thicket(1000), scale=0.05) == (50, [])
    with pytest.raises(RequestError, match="its lines count as 24 million pixels"):
        _raster_size(RasterWork(1000, 1000, lines=MAX_ASKED_PNG_WORK / MIN_WORK_SCALE), PictureOptions())
    with pytest.raises(RequestError, match="would take too long"):
        size(thicket(MAX_ASKED_PNG_WORK // 2000 + 1), scale=2)


def test_a_picture_of_any_size_has_its_bound_of_work() -> None:
    """A drawing of 100,000 pixels with 31,000 long lines was at scale 0.07, and took half a minute."""
    wide = RasterWork(107_000, 62_000, 150_000_000, 2e11, shapes=((9_000, 31_000, 250_000),))
    size = _raster_size(wide, PictureOptions())
    assert MIN_WORK_SCALE < size.zoom < MAX_PNG_SIDE_PX / wide.width
    assert 0.99 * MAX_PNG_WORK < wide.work_at(size.zoom) <= MAX_PNG_WORK


def test_lines_cost_what_they_take() -> None:
    """Up and down twice as long as across, slanting and bent two and a half times; the steps of an outline besides."""

    def lines(*steps: PathStep) -> RasterWork:
        return raster_work(sheet(Curve((("M", (0, 0)), *steps), pen=Pen("#000000"))))

    assert lines(("H", (100,))).lines == lines(("V", (50,))).lines == lines(("L", (0, -50))).lines == 100
    assert lines(("L", (30, 40))).lines == lines(("Q", (0, 30, 30, 40))).lines == 125
    assert lines(("H", (50,)), ("H", (100,))).work_at(1) - lines(("H", (100,))).work_at(1) == OUTLINE_STEP_COST


def test_boxes_within_boxes_are_drawn_smaller_or_not_at_all() -> None:
    assert raster_work(stack(3)) == RasterWork(1000, 1000, filled=3 * 1000 * 1000, shapes=((1000 * 1000, 3, 12),))
    assert size(stack(2500)) == (2000, [])
    width, told = size(stack(MAX_PNG_WORK // 250))
    assert 400 < width < 500
    assert 0.99 * MAX_PNG_WORK < raster_work(stack(MAX_PNG_WORK // 250)).work_at(width / 1000) <= MAX_PNG_WORK
    assert told[0].startswith("the PNG is drawn at scale 0.4")
    with pytest.raises(RequestError, match="its boxes fill 24,004 million"):
        size(stack(6001), scale=2)


def test_outlines_are_lines_and_what_is_empty_fills_nothing() -> None:
    pen = Pen("#000000")
    outlines = sheet(Rectangle(0, 0, 30, 10, pen=pen), Disc(0, 0, 0, "#000000", pen))
    assert raster_work(outlines) == RasterWork(
        1000, 1000, lines=2 * (30 + VERTICAL_COST * 10), shapes=((0, 1, 4), (80, 1, 4))
    )
    square: tuple[PathStep, ...] = (("M", (0, 0)), ("H", (10,)), ("V", (10,)), ("H", (0,)), ("Z", ()))
    assert raster_work(sheet(Curve(square, fill="#000000", scale=2))) == RasterWork(
        1000, 1000, filled=400, shapes=((400, 1, 5),)
    )


def test_what_cannot_be_done_as_asked_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphviz_tb.render.fonts._cjk_font_files", list)

    def codes(picture: graphviz_tb.Picture) -> list[str]:
        told = picture.shortfalls("png")
        return [notice.code for notice in told]

    assert codes(graphviz_tb.load(TWO).picture()) == []
    hangul = graphviz_tb.load('node{name:"합성곱" op:"X"}'.encode()).picture()
    assert codes(hangul) == ["png-font"]
    many = b"".join(b'node{name:"n%d%s" op:"X"}' % (i, b"x" * 40) for i in range(3000))
    wide = graphviz_tb.load(many, max_children=4000, series_min=9999, folds=False)
    assert "png-scaled" in codes(wide.picture())


def block_font(path: Path, letters: str) -> str:
    """Write a font that draws each of `letters` as a block, 0.9 em wide and 0.7 em high; return its path."""
    fonttools = pytest.importorskip("fontTools.fontBuilder")
    pen = pytest.importorskip("fontTools.pens.ttGlyphPen").TTGlyphPen(None)
    empty = pen.glyph()
    for step, point in enumerate([(0, 0), (0, 700), (900, 700), (900, 0)]):
        (pen.lineTo if step else pen.moveTo)(point)
    pen.closePath()
    builder = fonttools.FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "block"])
    builder.setupCharacterMap({ord(char): "block" for char in letters})
    builder.setupGlyf({".notdef": empty, "block": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (1000, 0), "block": (1000, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    # The rasteriser leaves out a font that has no PostScript name.
    builder.setupNameTable({"familyName": "Block", "styleName": "Regular", "psName": "Block-Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)
    return str(path)


def test_a_font_file_that_has_the_letters_ends_the_notice(tmp_path: Path) -> None:
    file = block_font(tmp_path / "block.ttf", "합성곱")
    picture = graphviz_tb.load('node{name:"합성곱" op:"X"}'.encode()).picture(font_files=(file,))
    for format in ("png", "pdf"):
        assert picture.shortfalls(format) == ()
    _, _, rows = decode(picture.render("png"))
    below_title = rows[110:]
    dark = sum(row[at] < 80 for row in below_title for at in range(0, len(row), 4))
    letter = 2 * 11  # pixels of an em
    assert dark == pytest.approx(3 * (0.9 * letter) * (0.7 * letter), rel=0.1)  # a font of strokes has a quarter of it
    assert b"Face" in picture.render("pdf")


def test_a_missing_font_file_is_told() -> None:
    with pytest.raises(RequestError, match="no font file"):
        graphviz_tb.load(TWO).picture(font_files=("nowhere.ttf",))


def test_a_font_file_that_is_given_is_used() -> None:
    import fontpkg_arimo

    italic = next(Path(fontpkg_arimo.ROOT).glob("files/*Italic*.ttf"))
    picture = graphviz_tb.load(TWO).picture(font_files=(str(italic),))
    assert decode(picture.render("png"))[0] > 0


def test_the_limits_themselves_are_drawn() -> None:
    asked = PictureOptions(scale=1.0)
    lines, half = MAX_ASKED_PNG_WORK - 120 * 100 // SHEET_PIXELS, MAX_ASKED_PNG_WORK / 2
    texts = ((12, MAX_PNG_TEXTS),)
    left = MAX_ASKED_PNG_WORK - TEXT_COST * MAX_PNG_TEXTS - 120 * 100 // SHEET_PIXELS
    for limit in (
        RasterWork(120, 100, lines),
        RasterWork(PNG_HARD_LIMIT // 100, 100),
        RasterWork(PNG_HARD_LIMIT // 200, 100, half),  # half of it for pixels
        RasterWork(120, 100, left, texts=texts),
    ):
        assert _raster_size(limit, asked).width == limit.width
        for more in (replace(limit, lines=limit.lines + 1), replace(limit, width=limit.width + 1)):
            with pytest.raises(RequestError):
                _raster_size(more, asked)
    assert _raster_size(RasterWork(100, 100, (MAX_PNG_WORK - 200 * 200 / SHEET_PIXELS) / 2), PictureOptions()).zoom == 2
    small = _raster_size(RasterWork(1, 1), PictureOptions(scale=0.1))
    assert (small.width, small.height) == (1, 1)


def test_lines_names_and_the_sheet_share_one_budget() -> None:
    """Each was within its own, and all together took half a minute."""
    most = RasterWork(8000, 8000, 5_000_000, 10**9, ((12, MAX_PNG_TEXTS),))
    size = _raster_size(most, PictureOptions())
    assert 0.9 * MAX_PNG_WORK < most.work_at(size.zoom) <= MAX_PNG_WORK
    with pytest.raises(RequestError, match="and it has 25,000 names"):
        _raster_size(most, PictureOptions(scale=1.0))


def test_what_is_drawn_unasked_is_never_refused() -> None:
    # The most pixels that there are unasked, with as much ink as is drawn.
    for ink in (
        RasterWork(8_000, 8_000, MAX_PNG_WORK),
        RasterWork(8_000, 8_000, 5 * MAX_PNG_WORK),
        RasterWork(8_000, 8_000, filled=10**11),
        RasterWork(8_000, 8_000, MAX_PNG_WORK, texts=((20, MAX_PNG_TEXTS),)),
    ):
        assert _raster_size(ink, PictureOptions()).width > 0


@pytest.mark.slow
def test_what_nobody_can_see_costs_nothing() -> None:
    """At a scale where letters are no pixel high, 300,000 of them took a minute and 3 GB."""
    row = tuple(Rectangle(30 * x, 10, 20, 20, fill="#FFFFFF", pen=Pen("#000000")) for x in range(20_000))
    texts = tuple(Label("an op", 30 * x, 25, 12, 20, "#000000") for x in range(20_000))
    beam = Rectangle(0, 0, 8_000_000, 600, fill="#336699")
    bare, full = (
        Drawing(8_000_000, 1000, "", "", "#FFFFFF", (Section("graph", (0, 0), (Group(shapes),)),))
        for shapes in ((beam,), (beam, *row, *texts))
    )
    with seconds(1.5):  # 2.5 s where all are drawn
        made = png_bytes(full, PictureOptions())
    assert made == png_bytes(bare, PictureOptions())
    assert "at scale 0.001 " in png_notices(full, PictureOptions())[0].message


def test_of_too_many_names_the_largest_are_drawn() -> None:
    small = tuple(Label("op", 30 * (n % 250), 30 * (n // 250), 11, 10, "#000000") for n in range(MAX_PNG_TEXTS))
    title = Label("the model", 24, 24, 16, 90, "#000000", semibold=True)
    full, bare, fits = (
        Drawing(8000, 6000, "", "", "#FFFFFF", (Section("graph", (0, 0), (Group(shapes),)),))
        for shapes in ((title, *small), (title,), small)
    )
    assert png_bytes(full, PictureOptions(scale=0.2)) == png_bytes(bare, PictureOptions(scale=0.2))
    told = {notice.code: notice.message for notice in png_notices(full, PictureOptions(scale=0.2))}
    assert "25,000 names are left out" in told["png-names"]
    assert not png_notices(fits, PictureOptions(scale=0.2))
    assert not png_notices(bare, PictureOptions(scale=0.2))


def test_of_too_many_shapes_the_largest_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub of 100,000 consumers, each with its arrow and its mark, took half a minute and more than a gigabyte."""
    monkeypatch.setattr("graphviz_tb.render.raster_work.MAX_PNG_STEPS", 200)
    boxes = tuple(Rectangle(30 * x, 10, 20, 20, fill="#FFFFFF", pen=Pen("#000000")) for x in range(30))
    marks = tuple(Disc(30 * x + 25, 40, 3, "#000000") for x in range(30))
    few, many, bare, equal = (
        Drawing(1000, 200, "", "", "#FFFFFF", (Section("graph", (0, 0), (Group(shapes),)),))
        for shapes in (boxes + marks[:20], boxes + marks, boxes, boxes * 2)
    )
    assert png_bytes(many, PictureOptions()) == png_bytes(bare, PictureOptions()) != png_bytes(few, PictureOptions())
    assert ["30 shapes are left out" in notice.message for notice in png_notices(many, PictureOptions())] == [True]
    assert png_notices(many, PictureOptions())[0].code == "png-shapes"
    assert not png_notices(few, PictureOptions())
    # the largest are drawn, however many
    assert png_bytes(equal, PictureOptions()) == png_bytes(bare, PictureOptions())


def test_shapes_that_nobody_can_see_are_not_counted_as_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphviz_tb.render.raster_work.MAX_PNG_STEPS", 4)
    beam = Rectangle(0, 0, 8_000_000, 600, fill="#336699")
    sheet = Drawing(8_000_000, 1000, "", "", "#FFFFFF", (Section("graph", (0, 0), (Group((beam, DOT)),)),))
    assert [notice.code for notice in png_notices(sheet, PictureOptions())] == ["png-scaled"]


@pytest.mark.slow
def test_many_shapes_are_drawn_in_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = tuple(Rectangle(30 * x, 40 * x, 20, 20, fill="#FFFFFF", pen=Pen("#000000")) for x in range(30))
    drawing = Drawing(1000, 1200, "", "", "#FFFFFF", (Section("graph", (0, 0), (Group(boxes),)),))
    small = PictureOptions(scale=1.0)
    size = _raster_size(raster_work(drawing), small)
    assert _band_count(drawing, size) == 1
    whole = decode(png_bytes(drawing, small))
    monkeypatch.setattr("graphviz_tb.render.png.BAND_SHAPES", 10)
    assert _band_count(drawing, size) == 3
    assert decode(png_bytes(drawing, small)) == whole


def test_what_can_be_seen_is_drawn_however_small() -> None:
    sheet = Drawing(80_000, 1000, "", "", "#FFFFFF", (Section("graph", (0, 0), (Group((DOT,)),)),))
    blank = replace(sheet, parts=())
    assert png_bytes(sheet, PictureOptions()) != png_bytes(blank, PictureOptions())


DOT = Disc(40_000, 500, 3, "#000000")
