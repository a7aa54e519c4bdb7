"""Parameters of requests: ids, numbers and points, each checked."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from starlette.requests import Request

from graphviz_tb.model.logged import Series
from graphviz_tb.serve.answers import Refused
from graphviz_tb.serve.session import ServedSource

MOST_SERIES = 200  # in one request
DIGITS = 9  # of an id: longer ones are never given
FAR = 1e300


def known(request: Request, names: Iterable[str]) -> dict[str, str]:
    """Return the query, which may contain only these names, each once. Raises `Refused`."""
    pairs = request.query_params.multi_items()
    legal = {*names, "token"}
    for name, _ in pairs:
        if name not in legal:
            others = ", ".join(sorted(legal - {"token"}))
            hint = f"there are {others}" if others else "this address takes none"
            raise Refused(400, f"no parameter {name[:40]!r}", hint)
    if len({name for name, _ in pairs}) < len(pairs):
        raise Refused(400, "a parameter is given twice")
    return dict(pairs)


def session_of(request: Request) -> ServedSource:
    """Return the session of the server."""
    found: ServedSource = request.app.state.session
    return found


def numbers(text: str, what: str = "series") -> list[int]:
    """Parse ids separated by commas. Raises `Refused`.

    >>> numbers("3,1")
    [3, 1]
    """
    words = text.split(",")
    if len(words) > MOST_SERIES:
        raise Refused(400, f"{len(words)} {what} in one request; it takes {MOST_SERIES}")
    if not all(is_number(word) for word in words):
        raise Refused(400, f"{what} are whole numbers with commas between them")
    return [int(word) for word in words]


def is_number(word: str) -> bool:
    """Return whether a word is an id."""
    return word.isascii() and word.isdigit() and len(word) <= DIGITS


def decimal(query: dict[str, str], name: str, usual: float | None, least: float, most: float) -> float | None:
    """Return a number of the query from `least` to `most`. Raises `Refused`."""
    if name not in query:
        return usual
    try:
        value = float(query[name])
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise Refused(400, f"{name} is no number from {least:g} to {most:g}")
    return value


def whole(query: dict[str, str], name: str, usual: int, least: int, most: int) -> int:
    """Return a whole number of the query from `least` to `most`. Raises `Refused`."""
    value = decimal(query, name, usual, least, most)
    if value is None or value != int(value):
        raise Refused(400, f"{name} is no whole number from {least} to {most}")
    return int(value)


def word(query: dict[str, str], name: str, legal: tuple[str, ...]) -> str:
    """Return a word of the query, by default the first of the legal ones. Raises `Refused`."""
    value = query.get(name, legal[0])
    if value not in legal:
        raise Refused(400, f"{name} is one of {', '.join(legal)}")
    return value


def point_at(series: Series, query: dict[str, str]) -> int:
    """Return the last point at or before the step `at` of a query, by default the last of all.

    Raises `Refused` if there is none.
    """
    points = series.in_order()
    step = decimal(query, "at", FAR, -FAR, FAR) or 0.0
    before = int(np.searchsorted(series.step[points], step, "right"))
    if not len(points):
        raise Refused(404, "this series has no points")
    if not before:
        raise Refused(404, "this series begins later", f"its first step is {series.step[points[0]]}")
    return int(points[before - 1])
