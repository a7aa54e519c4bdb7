"""Names in any script: drawn where a font has the letters, and told truly where none has."""

from __future__ import annotations

import importlib.util
import io
import re
import zlib
from collections.abc import Callable

import pytest

import graphviz_tb
from graphviz_tb.render import fonts

KOREAN = 'node{name:"합성곱" op:"X"} node{name:"b" op:"X"}'.encode()


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No font but Arimo."""
    monkeypatch.setattr(fonts, "east_asian", list)


@pytest.fixture
def east_asian(require: Callable[..., None]) -> None:
    require("noto-cjk-sans-otc")


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(("format", "then"), [("png", "empty boxes"), ("pdf", "the PDF shows empty boxes")])
def test_what_no_font_has_is_told_with_what_helps(format: str, then: str) -> None:
    (told,) = graphviz_tb.load(KOREAN).picture().shortfalls(format)
    assert "Korean letters in the text '합성곱'" in told.message
    assert then in told.message
    assert "pip install 'graphviz_tb[cjk]'" in told.message
    assert "--font-file" in told.message
    assert not graphviz_tb.load(KOREAN).picture().shortfalls("svg")


def test_the_extra_is_not_offered_for_what_it_lacks() -> None:
    (told,) = graphviz_tb.load('node{name:"طبقة" op:"X"}'.encode()).picture().shortfalls("pdf")
    assert "Arabic letters" in told.message
    assert "cjk" not in told.message


@pytest.mark.usefixtures("bare")
def test_several_scripts_are_named_once() -> None:
    names = ["합성곱", "출력", "重み", "あ"]
    graph = "".join(f'node{{name:"{name}" op:"X"}}' for name in names).encode()
    (told,) = graphviz_tb.load(graph).picture().shortfalls("png")
    assert "the Korean, Chinese, Japanese letters in 4 texts, such as '합성곱'" in told.message


@pytest.mark.usefixtures("east_asian")
def test_the_extra_is_found_without_being_named() -> None:
    picture = graphviz_tb.load(KOREAN).picture()
    assert not picture.shortfalls("png")
    assert not picture.shortfalls("pdf")


@pytest.mark.usefixtures("east_asian")
def test_a_pdf_holds_the_outlines_of_the_letters_used_and_no_others() -> None:
    from fontTools.cffLib import CFFFontSet

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
    assert bool(fonts.east_asian()) == (importlib.util.find_spec("noto_cjk_sans_otc") is not None)
