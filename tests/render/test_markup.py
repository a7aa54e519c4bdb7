"""What SVG text may hold: spaces that stay, signs that end nothing."""

from __future__ import annotations

from xml.etree import ElementTree

from graphviz_tb.render.svg import _escape_attribute, _escape_line, _short_number, _title_element, escape_text
from tests.each import each

TURNING = 0x61C, *range(0x200C, 0x2010), *range(0x2028, 0x2030), 0x2066, 0x2069
HOSTILE = "".join(map(chr, (*range(0x20), *range(0x7E, 0xA1), *TURNING, 0xFFFE, 0xFFFF)))
BAD = "\N{REPLACEMENT CHARACTER}"


@each(
    ("text", "kept"),
    [(" a", "_a"), ("a ", "a_"), ("a  b", "a__b"), ("a b", "a b"), (" ", "_"), ("", ""), ("a b ", "a_b_")],
)
def test_spaces_that_xml_would_swallow_stay(text: str, kept: str) -> None:
    assert _escape_line(text) == kept.replace("_", "\N{NO-BREAK SPACE}")


@each("text", ["plain", "<&>\"'", "a\tb\nc\rd", "\ud800 \ufffe", "한국 é", *HOSTILE])
def test_every_text_comes_back_from_an_element_and_from_an_attribute(text: str) -> None:
    root = ElementTree.fromstring(f'<a b="{_escape_attribute(text)}">{escape_text(text)}</a>')
    safe = "".join(BAD if unsafe(char) else char for char in text)
    assert root.get("b") == safe
    assert root.text == (safe.replace("\r", "\n") or None)  # a line end is one sign in XML
    assert _title_element(text) == f"<title>{escape_text(text)}</title>"


def unsafe(char: str) -> bool:
    """What no XML holds, and what turns text round."""
    code = ord(char)
    control = code < 0x20 and char not in "\t\n\r"
    turning = code in (0x61C, 0x200E, 0x200F, 0x2066, 0x2069) or 0x202A <= code <= 0x202E
    return control or turning or 0x7F <= code <= 0x9F or code in (0xD800, 0xFFFE, 0xFFFF)


def test_numbers_are_short() -> None:
    assert [_short_number(number) for number in (7, 7.0, 7.04, 7.06, -0.04, -0.06, 100.0, 0.0)] == [
        *("7", "7", "7", "7.1", "0", "-0.1", "100", "0"),
    ]
