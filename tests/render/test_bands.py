"""A large PNG is drawn in bands, and looks as if it were drawn at once."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from random import Random

import pytest

import graphviz_tb
from graphviz_tb.model.drawing import Curve, Disc, Drawing, Group, Hatch, Label, Pen, Primitive, Rectangle, Section
from graphviz_tb.options import PictureOptions
from graphviz_tb.render import png as module
from graphviz_tb.render.png import (
    PNG_SIGNATURE,
    RasterSize,
    _band_count,
    _png_chunk,
    _split_bands,
    _stack_pngs,
    _vertical_extent,
    png_bytes,
)
from tests.render.test_png import decode

FIXTURES = Path(__file__).parents[2] / "fixtures"
BLACK = Pen("#000000")
SHAPES: tuple[Primitive, ...] = (
    Rectangle(5, 10, 60, 20, 4, "#3366CC", Pen("#000000", 2)),
    Rectangle(2, 2, 196, 196, pen=BLACK),  # in every band
    Hatch(80, 30, 40, 50, 4, "#CC0000"),
    Disc(150, 100, 9, "#00AA00", BLACK),
    Curve((("M", (10, 190)), ("C", (10, 20, 190, 180, 190, 8))), pen=Pen("#880088", 3)),
    Curve((("M", (0, 0)), ("A", (20, 20, 20)), ("L", (0, 20)), ("Z", ())), fill="#FFAA00", at=(100, 120), scale=2),
    Label("gjpqy", 20, 104, 24, 60, "#000000"),
    Label("halo", 60, 152, 24, 50, "#000000", halo="#FFFF00"),
)


def sheet(*shapes: Primitive) -> Drawing:
    """A drawing of 200 × 200."""
    return Drawing(200, 200, "t", "s", "#FFFFFF", (Section("graph", (0, 0), (Group(shapes),)),))


def apart(one: list[bytes], other: list[bytes]) -> list[int]:
    """How far each sample of a picture is from that of another."""
    return [abs(a - b) for row, beside in zip(one, other, strict=True) for a, b in zip(row, beside, strict=True)]


@pytest.mark.parametrize("high", [100, 10])
def test_bands_look_as_the_whole(high: int, monkeypatch: pytest.MonkeyPatch) -> None:
    options = PictureOptions(width=200)
    wide, tall, rows = decode(png_bytes(sheet(*SHAPES), options))
    monkeypatch.setattr(module, "BAND_PIXELS", 200 * high)
    found = decode(png_bytes(sheet(*SHAPES), options))
    assert (wide, tall) == found[:2] == (200, 200)
    differences = apart(rows, found[2])
    assert max(differences) <= 100  # soft edges: an outline that is cut is divided at other places
    assert sum(differences) / len(differences) < 0.3


def test_a_graph_in_bands_looks_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    model = graphviz_tb.load(FIXTURES / "rules" / "bridges.pbtxt")
    wide, tall, rows = decode(model.render("png", open_all=True, scale=0.7))
    monkeypatch.setattr(module, "BAND_TEXTS", 3)
    found = decode(model.render("png", open_all=True, scale=0.7))
    assert (wide, tall) == found[:2]
    differences = apart(rows, found[2])
    assert sum(differences) / len(differences) < 1  # text is lighter by a hair where a line of it begins elsewhere


def test_how_many() -> None:
    raster = RasterSize(8000, 4000, 1, 1)
    assert _band_count(sheet(*SHAPES), raster) == 2
    assert _band_count(sheet(*[Label("a", 0, 9, 9, 5, "#000000")] * 24_001), raster) == 4
    assert _band_count(sheet(*SHAPES), RasterSize(200, 200, 1, 1)) == 1
    assert _band_count(sheet(*[Label("a", 0, 9, 9, 5, "#000000")] * 24_001), RasterSize(200, 2, 1, 1)) == 2


def test_each_shape_is_in_all_bands_that_it_reaches() -> None:
    tops = [0, 50, 100, 150]
    cut = [each.shapes() for each in _split_bands(sheet(*SHAPES), tops)]
    for shape in SHAPES:
        top, bottom = _vertical_extent(shape)
        there = [shape in shapes for shapes in cut]
        ends = [*tops[1:], 10**9]
        assert there == [top < end and bottom >= begin for begin, end in zip(tops, ends, strict=True)]
    assert all(list(shapes) == [shape for shape in SHAPES if shape in shapes] for shapes in cut)


def test_moved_groups_are_where_they_are_moved_to() -> None:
    disc = Disc(5, 5, 1, "#000000")
    group = Group((disc,), at=(0, 60))
    drawing = Drawing(99, 200, "t", "s", "#FFFFFF", (Section("graph", (0, 70), (group,)),))
    cut = [each.shapes() for each in _split_bands(drawing, [0, 100, 134, 137])]
    assert [len(shapes) for shapes in cut] == [0, 0, 1, 0]


@pytest.mark.parametrize("kind", range(5))
def test_files_are_joined_whatever_their_first_row_refers_to(kind: int) -> None:
    draw = Random(kind)
    pictures = [[bytes(draw.choices(range(256), k=12)) for _ in range(2)] for _ in range(3)]
    file = _stack_pngs([packed(rows, kind) for rows in pictures], 3, 6)
    assert decode(file) == (3, 6, [row for rows in pictures for row in rows])


def packed(rows: list[bytes], kind: int) -> bytes:
    """A PNG with one filter for all rows."""
    raw, above = b"", bytes(12)
    for row in rows:
        left, corner = bytes(4) + row[:-4], bytes(4) + above[:-4]
        known = [
            bytes(12), left, above, bytes((a + b) // 2 for a, b in zip(left, above, strict=True)),
            bytes(paeth(*each) for each in zip(left, above, corner, strict=True)),
        ][kind]  # fmt: skip
        raw += bytes([kind]) + bytes((a - b) & 255 for a, b in zip(row, known, strict=True))
        above = row
    header = struct.pack(">IIBBBBB", 3, len(rows), 8, 6, 0, 0, 0)
    body = zlib.compress(raw)
    return (
        PNG_SIGNATURE
        + _png_chunk(b"IHDR", header)
        + _png_chunk(b"IDAT", body[:5])
        + _png_chunk(b"IDAT", body[5:])
        + _png_chunk(b"IEND", b"")
    )


def paeth(left: int, above: int, corner: int) -> int:
    """The neighbour nearest to left + above - corner."""
    guess = left + above - corner
    return min((left, above, corner), key=lambda near: abs(guess - near))
