"""All points of scalars, none left out: CSV or JSON, streamed."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from graphviz_tb.model.logged import Series
from graphviz_tb.serve.asked import known, numbers, session_of, word
from graphviz_tb.serve.session import ServedSource

HEADER = ("run", "tag", "step", "wall_time", "value", "superseded")
AT_ONCE = 5_000  # points between two looks at what else is to do
KINDS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
NAMES = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


async def export(request: Request) -> Response:
    """Every point of every scalar, or of those of some runs and tags."""
    query, session = known(request, ("format", "kind", "runs", "tags")), session_of(request)
    form = word(query, "format", ("csv", "json"))
    word(query, "kind", ("scalar",))
    chosen = in_order(session, query)
    parts = as_csv(chosen) if form == "csv" else as_json(chosen)
    name = {"content-disposition": f'attachment; filename="scalars.{form}"'}
    return StreamingResponse(unhurried(parts), headers=name, media_type=KINDS[form])


def in_order(session: ServedSource, query: dict[str, str]) -> list[Series]:
    """The scalars that a query asks for, by run and tag."""
    wanted = {name: set(numbers(query[name], name)) for name in ("runs", "tags") if query.get(name)}
    found = [
        series
        for series in session.all_series("scalar")
        if session.run_id(series.run) in wanted.get("runs", {session.run_id(series.run)})
        and session.tag_id(series) in wanted.get("tags", {session.tag_id(series)})
    ]
    return sorted(found, key=lambda series: (series.run, series.tag))


async def unhurried(parts: Iterator[str]) -> AsyncIterator[bytes]:
    """Parts as bytes; between them others have their turn."""
    for part in parts:
        yield part.encode("utf-8", "replace")  # a name may have what is no letter
        await asyncio.sleep(0)


def as_csv(chosen: list[Series]) -> Iterator[str]:
    """RFC 4180: a header, a line a point."""
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\r\n")
    write.writerow(HEADER)
    for series in chosen:
        for start in range(0, len(series), AT_ONCE):
            for row in zip(*columns(series, start), strict=True):
                write.writerow((series.run, series.tag, *row))
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def columns(series: Series, start: int) -> list[list[Any]]:
    """Some points: steps, times, values, whether they are superseded."""
    part = slice(start, start + AT_ONCE)
    walls, values = (list(map(written, column[part].tolist())) for column in (series.wall, series.value))
    return [series.step[part].tolist(), walls, values, series.superseded[part].astype(np.int64).tolist()]


def written(number: float) -> str:
    """A number as it is exact.

    >>> written(0.1), written(float("-inf"))
    ('0.1', '-Infinity')
    """
    text = repr(float(number))
    return NAMES.get(text, text)


def as_json(chosen: list[Series]) -> Iterator[str]:
    """The document, a series at a time."""
    yield '{"format":"tbgraph-scalars","version":1,"series":['
    for number, series in enumerate(chosen):
        names = f'{"," * (number > 0)}{{"run":{json.dumps(series.run)},"tag":{json.dumps(series.tag)}'
        held = {
            "step": series.step.tolist(),
            "wall_time": [as_value(each) for each in series.wall.tolist()],
            "value": [as_value(each) for each in series.value.tolist()],
            "superseded": series.superseded.astype(np.int64).tolist(),
        }
        yield "".join([names, *(f',"{name}":{json.dumps(column)}' for name, column in held.items()), "}"])
    yield "]}"


def as_value(number: float) -> float | str:
    """A number as JSON holds it."""
    return number if number - number == 0 else written(number)


ROUTES = [Route("/api/export", export, methods=["GET"])]
