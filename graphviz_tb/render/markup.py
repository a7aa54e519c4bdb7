"""Small pieces of SVG text: escaped strings, short numbers, elements."""

from __future__ import annotations

import re
from html import escape

# What XML 1.0 cannot hold at all, and what would turn text round in a tooltip.
UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
NO_BREAK = "\N{NO-BREAK SPACE}"


def words(text: str) -> str:
    """`text` as XML character data.

    >>> words('<script>&\\x00')
    '&lt;script&gt;&amp;�'
    """
    return escape(UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text), quote=False)


def value(text: str) -> str:
    """`text` as the value of an attribute, line ends kept.

    >>> value('a"b\\nc')
    'a&quot;b&#10;c'
    """
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
    short = f"{number:.1f}"
    if short.endswith(".0"):
        short = short[:-2]
    return "0" if short == "-0" else short


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """One element. `_` in a keyword becomes `-`; attributes that are None are left out; values must be safe
    or numbers.

    >>> element("rect", x=1, y=2.5, stroke_width=1, fill=None)
    '<rect x="1" y="2.5" stroke-width="1"/>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{num(value) if isinstance(value, (int, float)) else value}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def tooltip(text: str) -> str:
    """A `<title>` element, or nothing for an empty text."""
    return f"<title>{words(text)}</title>" if text else ""
