"""JSON output: numbers that JSON lacks, and the version of each kind of document."""

from __future__ import annotations

from math import isfinite, isnan
from typing import Any

DOCUMENT_VERSIONS = {
    "tbgraph": 1, "tbgraph-check": 1, "tbgraph-diff": 1, "tbgraph-embeddings": 1, "tbgraph-find": 1, "tbgraph-info": 1,
    "tbgraph-joins": 1, "tbgraph-profile": 1, "tbgraph-tree": 1,
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
        return {key: replace_non_finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [replace_non_finite(each) for each in value]
    return value


def json_integer(number: int | None) -> int | str | None:
    """Return an integer for JSON: as text if a double cannot hold it.

    >>> json_integer(7), json_integer(2**60)
    (7, '1152921504606846976')
    """
    return number if number is None or -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER else str(number)
