"""Parameters of requests: ids, numbers and points, each checked."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from starlette.requests import Request

from graphviz_tb.model.logs import Series
from graphviz_tb.serve.answers import RefusedRequest
from graphviz_tb.serve.session import ServedSource

MAX_SERIES_REQUESTED = 200  # in one request
MAX_ID_DIGITS = 9  # of an id: longer ids are never assigned
MAX_AXIS_VALUE = 1e300


def checked_query(request: Request, names: Iterable[str]) -> dict[str, str]:
    """Return the query, which may contain only these names, each once. Raises `RefusedRequest`."""
    pairs = request.query_params.multi_items()
    legal = {*names, "token"}
    for name, _ in pairs:
        if name not in legal:
            others = ", ".join(sorted(legal - {"token"}))
            hint = f"there are {others}" if others else "this address takes none"
            raise RefusedRequest(400, f"no parameter {name[:40]!r}", hint)
    if len({name for name, _ in pairs}) < len(pairs):
        raise RefusedRequest(400, "a parameter is given twice")
    return dict(pairs)


def served_source(request: Request) -> ServedSource:
    """Return the session of the server."""
    found: ServedSource = request.app.state.session
    return found


def parse_ids(text: str, what: str = "series") -> list[int]:
    """Parse ids separated by commas. Raises `RefusedRequest`.

    >>> parse_ids("3,1")
    [3, 1]
    """
    words = text.split(",")
    if len(words) > MAX_SERIES_REQUESTED:
        raise RefusedRequest(400, f"{len(words)} {what} in one request; it takes {MAX_SERIES_REQUESTED}")
    if not all(is_id(word) for word in words):
        raise RefusedRequest(400, f"{what} are whole numbers with commas between them")
    return [int(word) for word in words]


def is_id(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= MAX_ID_DIGITS


def query_number(query: dict[str, str], name: str, usual: float | None, least: float, most: float) -> float | None:
    """Return a number of the query from `least` to `most`. Raises `RefusedRequest`."""
    if name not in query:
        return usual
    try:
        value = float(query[name])
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise RefusedRequest(400, f"{name} is not a number from {least:g} to {most:g}")
    return value


def query_integer(query: dict[str, str], name: str, usual: int, least: int, most: int) -> int:
    """Return a whole number of the query from `least` to `most`. Raises `RefusedRequest`."""
    value = query_number(query, name, usual, least, most)
    if value is None or value != int(value):
        raise RefusedRequest(400, f"{name} is not a whole number from {least} to {most}")
    return int(value)


def query_word(query: dict[str, str], name: str, legal: tuple[str, ...]) -> str:
    """Return a word of the query, by default the first of the legal ones. Raises `RefusedRequest`."""
    value = query.get(name, legal[0])
    if value not in legal:
        raise RefusedRequest(400, f"{name} is one of {', '.join(legal)}")
    return value


def point_at_step(series: Series, query: dict[str, str]) -> int:
    """Return the last point at or before the step `at` of a query, by default the last of all.

    Raises `RefusedRequest` if there is none.
    """
    points = series.point_order()
    step = query_number(query, "at", MAX_AXIS_VALUE, -MAX_AXIS_VALUE, MAX_AXIS_VALUE) or 0.0
    before = int(np.searchsorted(series.step[points], step, "right"))
    if not len(points):
        raise RefusedRequest(404, "this series has no points")
    if not before:
        raise RefusedRequest(404, "this series begins later", f"its first step is {series.step[points[0]]}")
    return int(points[before - 1])
