"""Numbers as text for readers, and values as JSON."""

from __future__ import annotations

from math import isfinite, isnan
from typing import Any

# Numbers for readers: three digits and a fitting unit.

# Powers of 1024, with the short names that TensorBoard uses.
BYTE_UNITS = (("B", 1), ("KB", 1024), ("MB", 1024**2), ("GB", 1024**3), ("TB", 1024**4), ("PB", 1024**5))
MICROSECOND_UNITS = (
    ("µs", 1),
    ("ms", 1000),
    ("s", 1_000_000),
    ("min", 60_000_000),
    ("hr", 3_600_000_000),
    ("days", 86_400_000_000),
)


# Powers of 1000, with the prefixes of SI.
COUNT_UNITS = (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12), ("P", 10**15), ("E", 10**18))

MAX_DIVIDED = 1e308  # a larger integer does not fit into a float


def format_count(count: float) -> str:
    """Format a number of things.

    >>> format_count(999), format_count(25_636_712), format_count(0)
    ('999', '25.6 M', '0')
    """
    return _format_scaled(count, COUNT_UNITS).strip()


def format_bytes(count: float) -> str:
    """Format a number of bytes.

    >>> format_bytes(1023), format_bytes(10**12), format_bytes(157 * 1024)
    ('1020 B', '931 GB', '157 KB')
    """
    return _format_scaled(count, BYTE_UNITS)


def format_micros(micros: float) -> str:
    """Format a time in microseconds.

    >>> format_micros(61_000_000), format_micros(3200), format_micros(12)
    ('1.02 min', '3.2 ms', '12 µs')
    """
    return _format_scaled(micros, MICROSECOND_UNITS)


def _format_scaled(value: float, units: tuple[tuple[str, int], ...]) -> str:
    """Format three significant digits and the largest unit that fits.

    >>> _format_scaled(10**500, BYTE_UNITS)
    'over 1e308 B'
    """
    if abs(value) > MAX_DIVIDED:
        return f"over 1e308 {units[0][0]}"
    unit, factor = next((pair for pair in reversed(units) if abs(value) >= pair[1]), units[0])
    return f"{_format_significant(value / factor)} {unit}"


def _format_significant(value: float) -> str:
    """Format three significant digits without trailing zeros, never with an exponent.

    >>> _format_significant(1023.4), _format_significant(0.04567), _format_significant(2.0), _format_significant(0)
    ('1020', '0.0457', '2', '0')
    """
    if not value:
        return "0"
    rounded = float(f"{value:.3g}")  # "1.02e+03" for 1023: written without the exponent below
    return f"{rounded:.12f}".rstrip("0").rstrip(".")


def format_number(value: float, digits: int = 4) -> str:
    """Format a number in few letters.

    >>> [format_number(value) for value in (0.0, 0.25, 1234.5678, 1e6, 2.5e-7, float("nan"), float("-inf"))]
    ['0', '0.25', '1235', '1M', '2.5e-7', 'NaN', '−∞']
    """
    if not isfinite(value):
        return "NaN" if value != value else ("∞" if value > 0 else "−∞")
    size = abs(value)
    if 1e4 <= size < 1e12:
        power, letter = next((p, letter) for p, letter in ((9, "G"), (6, "M"), (3, "k")) if size >= 10.0**p)
        text = f"{value / 10.0**power:.{digits}g}"
        return f"{text}{letter}" if "e" not in text else text
    text = f"{value:.{digits}g}"
    if "e" in text:
        mantissa, _, power_text = text.partition("e")
        return f"{mantissa}e{int(power_text)}"
    return text


def plural_noun(count: int, noun: str, nouns: str = "") -> str:
    """Return the noun in the form that fits a count.

    >>> plural_noun(1, "op"), plural_noun(2, "op"), plural_noun(0, "entry", "entries")
    ('op', 'ops', 'entries')
    """
    return noun if count == 1 else nouns or f"{noun}s"


def format_counted_noun(count: int, noun: str, nouns: str = "") -> str:
    """Format a count with its noun (pictures use thin spaces between thousands, see `words/line_labels.py`).

    >>> format_counted_noun(1, "op"), format_counted_noun(2300, "entry", "entries")
    ('1 op', '2,300 entries')
    """
    return f"{count:,} {plural_noun(count, noun, nouns)}"


# JSON output: numbers that JSON lacks, and the version of each kind of document.

DOCUMENT_VERSIONS = {
    "tbgraph": 1, "tbgraph-check": 1, "tbgraph-diff": 2, "tbgraph-embeddings": 1, "tbgraph-find": 1, "tbgraph-info": 1,
    "tbgraph-joins": 1, "tbgraph-profile": 1, "tbgraph-review": 1, "tbgraph-tree": 1,
}  # fmt: skip
MAX_SAFE_INTEGER = 2**53  # integers up to here are exact as a double


def document_header(document: str) -> dict[str, Any]:
    """Return the first keys of a JSON document: its format and the version of its schema (docs/json.md).

    >>> document_header("tbgraph-tree")
    {'format': 'tbgraph-tree', 'version': 1}
    """
    return {"format": document, "version": DOCUMENT_VERSIONS[document]}


def replace_non_finite(value: Any) -> Any:
    """Return a plain value with text in place of numbers that JSON lacks: "NaN", "Infinity", "-Infinity".

    >>> replace_non_finite({"max_value": float("inf"), "of": [1.5, float("nan")]})
    {'max_value': 'Infinity', 'of': [1.5, 'NaN']}
    """
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: replace_non_finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [replace_non_finite(item) for item in value]
    return value


def json_integer(number: int | None) -> int | str | None:
    """Return an integer for JSON: as text if a double cannot hold it.

    >>> json_integer(7), json_integer(2**60)
    (7, '1152921504606846976')
    """
    return number if number is None or -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER else str(number)


def printable(words: str) -> str:
    """Escape unprintable characters, so that a name cannot end its line or control the terminal.

    >>> printable("a\\nb\\x1b[31m")
    'a\\\\nb\\\\x1b[31m'
    """
    if words.isprintable():
        return words
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in words)
