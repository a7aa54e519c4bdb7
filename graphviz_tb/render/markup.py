"""Small pieces of SVG text: escaped strings, short numbers."""

from __future__ import annotations

import re
from html import escape

from graphviz_tb.model.measure import DANGEROUS_CHARACTERS

# Characters that XML 1.0 forbids, and those that would reverse text in a tooltip.
UNSAFE_CHARACTERS = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{DANGEROUS_CHARACTERS}]")
SPECIAL_CHARACTERS = re.compile(UNSAFE_CHARACTERS.pattern[:-1] + "&<>\"'\t\n\r]")  # these and those that need an escape
NO_BREAK = "\N{NO-BREAK SPACE}"


def escape_text(text: str) -> str:
    """Return `text` as XML character data.

    >>> escape_text("<script>&\\x00")
    '&lt;script&gt;&amp;�'
    """
    # Nearly all texts are plain and cost one search only.
    if not SPECIAL_CHARACTERS.search(text):
        return text
    return escape(UNSAFE_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", text), quote=False)


def escape_attribute(text: str) -> str:
    """Return `text` as the value of an attribute, with line ends kept.

    >>> escape_attribute('a"b\\nc')
    'a&quot;b&#10;c'
    """
    if not SPECIAL_CHARACTERS.search(text):
        return text
    safe = escape(UNSAFE_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", text), quote=True)
    return safe.replace("\t", "&#9;").replace("\n", "&#10;").replace("\r", "&#13;")


def escape_line(text: str) -> str:
    """Return `text` as the content of a text element, with no-break spaces where XML would drop spaces.

    >>> escape_line(" a  b") == "\\xa0a\\xa0\\xa0b"
    True
    """
    if text[:1] == " " or text[-1:] == " " or "  " in text:
        text = text.replace(" ", NO_BREAK)
    return escape_text(text)


def short_number(number: float) -> str:
    """Return a number with at most one decimal.

    >>> short_number(3), short_number(3.0), short_number(2.25), short_number(-0.04)
    ('3', '3', '2.2', '0')
    """
    if isinstance(number, int):
        return str(number)
    short = f"{number:.1f}"
    if short[-1] == "0":  # "3.0" is "3", and "-0.0" is "0"
        return short[:-2] if short != "-0.0" else "0"
    return short


def title_element(text: str) -> str:
    """Return a `<title>` element, or nothing for an empty text."""
    return f"<title>{escape_text(text)}</title>" if text else ""
