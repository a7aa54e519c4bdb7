"""Small pieces of SVG text: escaped strings, short numbers."""

from __future__ import annotations

import re
from html import escape

from graphviz_tb.model.measure import NEVER_SHOWN

# What XML 1.0 cannot hold at all, and what would turn text round in a tooltip.
UNSAFE = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{NEVER_SHOWN}]")
SPECIAL = re.compile(UNSAFE.pattern[:-1] + "&<>\"'\t\n\r]")  # the same set with what needs an escape
NO_BREAK = "\N{NO-BREAK SPACE}"


def words(text: str) -> str:
    """`text` as XML character data.

    >>> words('<script>&\\x00')
    '&lt;script&gt;&amp;�'
    """
    # Nearly all texts are plain, so one search is all that they cost.
    if not SPECIAL.search(text):
        return text
    return escape(UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text), quote=False)


def value(text: str) -> str:
    """`text` as the value of an attribute, line ends kept.

    >>> value('a"b\\nc')
    'a&quot;b&#10;c'
    """
    if not SPECIAL.search(text):
        return text
    safe = escape(UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text), quote=True)
    return safe.replace("\t", "&#9;").replace("\n", "&#10;").replace("\r", "&#13;")


def line(text: str) -> str:
    """`text` as the content of a text element: spaces that XML would swallow become no-break spaces.

    >>> line(' a  b') == '\\xa0a\\xa0\\xa0b'
    True
    """
    if text[:1] == " " or text[-1:] == " " or "  " in text:
        text = text.replace(" ", NO_BREAK)
    return words(text)


def num(number: float) -> str:
    """A number with at most one decimal.

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
    """A `<title>` element, or nothing for an empty text."""
    return f"<title>{words(text)}</title>" if text else ""
