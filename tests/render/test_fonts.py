"""Names in any script: drawn where a font has the letters, and told truly where none has."""

from __future__ import annotations

import importlib.util
import io
import re
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from fontTools.cffLib import CFFFontSet
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.ttLib import TTCollection, TTFont
from pdf_reader import characters, document

import graphviz_tb
from graphviz_tb.errors import RequestError
from graphviz_tb.options import PictureOptions
from graphviz_tb.render import fonts
from graphviz_tb.render.pdf import pdf_bytes
from tests.each import each
from tests.effort import part

EMOJI = "\U0001f000"  # a tile, the first of the blocks of pictures
KOREAN = 'node{name:"합성곱" op:"X"} node{name:"b" op:"X"}'.encode()


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No font but Arimo."""
    monkeypatch.setattr(fonts, "_cjk_font_files", list)


@pytest.fixture
def east_asian(require: Callable[..., None]) -> None:
    require("noto-cjk-sans-otc")


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(("format", "then"), [("png", "empty boxes"), ("pdf", "the PDF shows empty boxes")])
def test_what_no_font_has_is_told_with_what_helps(format: str, then: str) -> None:
    (told,) = graphviz_tb.load(KOREAN).picture().shortfalls(format)
    assert "Korean letters in the text '합성곱'" in told.message
    assert then in told.message
    assert "pip install noto-cjk-sans-otc" in told.message
    assert "--font-file" in told.message
    assert not graphviz_tb.load(KOREAN).picture().shortfalls("svg")


def test_the_extra_is_not_offered_for_what_it_lacks() -> None:
    (told,) = graphviz_tb.load('node{name:"طبقة" op:"X"}'.encode()).picture().shortfalls("pdf")
    assert "Arabic letters" in told.message
    assert "cjk" not in told.message


@pytest.mark.usefixtures("bare")
def test_each_script_is_told_with_what_helps_it() -> None:
    graph = 'node{name:"합성곱" op:"X"} node{name:"طبقة" op:"X"} node{name:"ชั้น" op:"X"}'.encode()
    (told,) = graphviz_tb.load(graph).picture().shortfalls("pdf")
    assert "the Korean, Arabic and Thai letters in 3 texts" in told.message
    assert "(pip install noto-cjk-sans-otc for Korean; --font-file FILE for Arabic and Thai)" in told.message


def test_only_scripts_that_are_lacking_are_told(require: Callable[..., None]) -> None:
    require("noto-cjk-sans-otc")
    mixed = 'node{name:"합성곱_重み_ع" op:"X"}'.encode()
    for format in ("png", "pdf"):
        (told,) = graphviz_tb.load(mixed).picture().shortfalls(format)
        assert "no font for the Arabic letters in" in told.message


@pytest.mark.usefixtures("bare")
def test_several_scripts_are_named_once() -> None:
    names = ["합성곱", "출력", "重み", "あ"]
    graph = "".join(f'node{{name:"{name}" op:"X"}}' for name in names).encode()
    (told,) = graphviz_tb.load(graph).picture().shortfalls("png")
    assert "the Korean, Chinese and Japanese letters in 4 texts, such as '합성곱'" in told.message


@pytest.mark.usefixtures("east_asian")
def test_the_extra_is_found_without_being_named() -> None:
    picture = graphviz_tb.load(KOREAN).picture()
    assert not picture.shortfalls("png")
    assert not picture.shortfalls("pdf")


@pytest.mark.slow
@pytest.mark.usefixtures("east_asian")
def test_a_pdf_holds_the_outlines_of_the_letters_used_and_no_others() -> None:
    data = graphviz_tb.load(KOREAN).picture().render("pdf")
    assert data == graphviz_tb.load(KOREAN).picture().render("pdf")
    found = re.search(rb"/Subtype/CIDFontType0C>>\nstream\n(.*?)\nendstream", data, re.DOTALL)
    assert found
    assert len(data) < 400_000
    font = CFFFontSet()
    font.decompile(io.BytesIO(zlib.decompress(found[1])), None)
    outlines = font[0].CharStrings
    drawn = [name for name in outlines.keys() if len(outlines[name].bytecode or b"") > 2]  # noqa: SIM118
    assert len(drawn) in (3, 4)  # the letters of the name, and the box for what is absent


@pytest.mark.usefixtures("east_asian")
def test_a_png_is_not_drawn_with_faces_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}

    def rasterise(**choices: object) -> bytes:
        asked.update(choices)
        return b""

    monkeypatch.setattr("resvg_py.svg_to_bytes", rasterise)
    graphviz_tb.load(KOREAN).picture().render("png")
    assert asked["skip_system_fonts"] is True
    assert any("NotoSansCJK" in str(path) for path in asked["font_files"])  # type: ignore[attr-defined]


def test_the_module_of_the_extra_is_what_it_is_called() -> None:
    assert bool(fonts._cjk_font_files()) == (importlib.util.find_spec("noto_cjk_sans_otc") is not None)


@each(
    ("letter", "name"),
    [
        *(
            ("한", "Korean"),
            ("層", "Chinese"),
            ("あ", "Japanese"),
            ("カ", "Japanese"),
            ("م", "Arabic"),
            ("ש", "Hebrew"),
        ),
        *(("ह", "Devanagari"), ("ไ", "Thai"), ("ლ", "Georgian"), ("Ա", "Armenian"), ("ক", "Bengali"), ("த", "Tamil")),
        *(("ሀ", "Ethiopic"), (EMOJI, "emoji"), ("\U0001f3fb", "other"), ("⚙", "other"), ("\ue000", "other")),
    ],
)
def test_scripts_are_called_as_they_are_spoken_of(letter: str, name: str) -> None:
    assert fonts._script_of(letter) == name


@pytest.mark.usefixtures("bare")
def test_letters_that_arimo_has_are_of_no_foreign_script() -> None:
    graph = 'node{name:"a합b" op:"X"} node{name:"plain" op:"X"}'
    (told,) = graphviz_tb.load(graph.encode()).picture().shortfalls("pdf")
    assert "the Korean letters in the text 'a합b'" in told.message


@pytest.mark.usefixtures("bare")
def test_letters_of_a_file_of_ones_own_are_not_missed(face: Path) -> None:
    picture = graphviz_tb.load(KOREAN).picture(font_files=(str(face),))
    assert not picture.shortfalls("pdf")
    (told,) = graphviz_tb.load('node{name:"합력" op:"X"}'.encode()).picture(font_files=(str(face),)).shortfalls("pdf")
    assert "'합력'" in told.message


@pytest.mark.usefixtures("bare")
def test_outlines_of_postscript_are_embedded_as_such(face: Path) -> None:
    drawing = graphviz_tb.load('node{name:"합층" op:"X"}'.encode()).picture().drawing
    parts, _, _ = document(pdf_bytes(drawing, PictureOptions(font_files=(str(face),))))
    (own,) = [part for part in parts.values() if "/Subtype/CIDFontType0/" in part.words]
    outlines = parts[parts[own.reference("FontDescriptor")].reference("FontFile3")]
    assert "/Subtype/CIDFontType0C" in outlines.words
    font = CFFFontSet()
    font.decompile(io.BytesIO(outlines.stream), None)
    outline = [font[0].CharStrings[name].bytecode or b"" for name in font[0].charset]
    assert [len(each) > 2 for each in outline] == [True, True, False, False, True]  # no letter, and the two
    (unicode_map,) = [part.stream.decode() for part in parts.values() if b"<d569>" in part.stream]
    assert characters(unicode_map) == {"0001": "합", "0004": "층"}


@pytest.fixture(scope="module")
def face(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A font with PostScript outlines: squares for four letters."""
    letters = {ord(letter): f"g{number}" for number, letter in enumerate("합성곱층", 1)}
    names = [".notdef", *letters.values()]
    pens = {name: T2CharStringPen(600, None) for name in names}
    for pen in pens.values():
        for step, place in (("moveTo", (0, 0)), ("lineTo", (500, 0)), ("lineTo", (500, 700))):
            getattr(pen, step)(place)
        pen.closePath()
    builder = FontBuilder(1000, isTTF=False)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap(letters)
    builder.setupCFF("Squares", {}, {name: pen.getCharString() for name, pen in pens.items()}, {})
    builder.setupHorizontalMetrics(dict.fromkeys(names, (600, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupOS2()
    builder.setupPost()
    path = tmp_path_factory.mktemp("fonts") / "squares.otf"
    builder.save(path)
    return path


def test_of_a_collection_the_first_face_is_taken(face: Path, tmp_path: Path) -> None:
    collection = TTCollection()
    collection.fonts = [TTFont(face), TTFont(fonts.font_files((), graphviz_tb.load(KOREAN).picture().drawing)[0])]
    path = tmp_path / "both.ttc"
    collection.save(path)
    found = fonts.read_typeface(str(path))
    assert (found.units_per_em, found.is_postscript, sorted(found.glyphs)) == (1000, True, sorted(map(ord, "합성곱층")))
    assert CFFFontSet().decompile(io.BytesIO(found.subset_font([1])), None) is None


def as_woff(face: Path) -> bytes:
    """The same font, its tables compressed."""
    font, file = TTFont(face), io.BytesIO()
    font.flavor = "woff"
    font.save(file)
    return file.getvalue()


def without_size(face: Path) -> bytes:
    """The same font, its letters of no size."""
    font, file = TTFont(face), io.BytesIO()
    font["head"].unitsPerEm = 0
    font.save(file)
    return file.getvalue()


@pytest.mark.parametrize("made", [Path.read_bytes, as_woff])
def test_a_font_that_is_damaged_anywhere_is_drawn_with_or_refused(
    made: Callable[[Path], bytes], face: Path, tmp_path: Path
) -> None:
    data, path = made(face), tmp_path / "damaged.otf"
    told = []
    drawing = graphviz_tb.load(KOREAN).picture().drawing
    for at in part(range(0, len(data), 7), 27):
        path.write_bytes(data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :])
        try:
            pdf_bytes(drawing, PictureOptions(font_files=(str(path),)))
        except RequestError as error:
            told.append(error.message)
    assert told
    assert all(repr(str(path)) in message for message in told)


@pytest.mark.parametrize("made", [without_size, lambda face: b"wOF2" + face.read_bytes()[4:]])
def test_fonts_that_nothing_can_be_drawn_with(made: Callable[[Path], bytes], face: Path, tmp_path: Path) -> None:
    path = tmp_path / "odd.otf"
    path.write_bytes(made(face))
    with pytest.raises(RequestError, match="not a font"):
        graphviz_tb.load(KOREAN).render("pdf", font_files=str(path))


@pytest.mark.slow
def test_what_a_library_finds_odd_in_a_font_is_not_printed(tmp_path: Path) -> None:
    import fontpkg_arimo

    data = bytearray(next(Path(fontpkg_arimo.ROOT).glob("files/*.ttf")).read_bytes())
    reader = TTFont(io.BytesIO(bytes(data))).reader
    assert reader is not None
    created = reader.tables["head"].offset + 20
    data[created : created + 8] = bytes(8)  # made in 1904
    (tmp_path / "odd.ttf").write_bytes(data)
    (tmp_path / "graph.pbtxt").write_bytes(KOREAN)
    command = ["render", "graph.pbtxt", "-o", "graph.pdf", "--font-file", "odd.ttf"]
    # In a process of its own: here pytest takes what is logged.
    done = subprocess.run(
        [sys.executable, "-m", "graphviz_tb", *command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "timestamp" not in done.stderr
    assert (tmp_path / "graph.pdf").exists()
