"""Small pieces of SVG text: escaped strings, short numbers."""

from __future__ import annotations

import re
from html import escape

from graphviz_tb.model.measure import NEVER_SHOWN

# Characters that XML 1.0 forbids, and those that would reverse text in a tooltip.
UNSAFE = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{NEVER_SHOWN}]")
SPECIAL = re.compile(UNSAFE.pattern[:-1] + "&<>\"'\t\n\r]")  # these and those that need an escape
NO_BREAK = "\N{NO-BREAK SPACE}"


def words(text: str) -> str:
    """Return `text` as XML character data.

    >>> words('<script>&\\x00')
    '&lt;script&gt;&amp;�'
    """
    # Nearly all texts are plain and cost one search only.
    if not SPECIAL.search(text):
        return text
    return escape(UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text), quote=False)


def value(text: str) -> str:
    """Return `text` as the value of an attribute, with line ends kept.

    >>> value('a"b\\nc')
    'a&quot;b&#10;c'
    """
    if not SPECIAL.search(text):
        return text
    safe = escape(UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text), quote=True)
    return safe.replace("\t", "&#9;").replace("\n", "&#10;").replace("\r", "&#13;")


def line(text: str) -> str:
    """Return `text` as the content of a text element, with no-break spaces where XML would drop spaces.

    >>> line(' a  b') == '\\xa0a\\xa0\\xa0b'
    True
    """
    if text[:1] == " " or text[-1:] == " " or "  " in text:
        text = text.replace(" ", NO_BREAK)
    return words(text)


def num(number: float) -> str:
    """Return a number with at most one decimal.

    >>> num(3), num(3.0), num(2.25), num(-0.04)
    ('3', '3', '2.2', '0')
    """
    if isinstance(number, int):
        return str(number)
    short = f"{number:.1f}"
    if short[-1] == "0":  # "3.0" is "3", and "-0.0" is "0"
        return short[:-2] if short != "-0.0" else "0"
    return short


def tooltip(text: str) -> str:
    """Return a `<title>` element, or nothing for an empty text."""
    return f"<title>{words(text)}</title>" if text else ""
