"""All points of scalars, none left out: CSV or JSON, streamed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from graphviz_tb.export import as_csv, as_json
from graphviz_tb.model.logged import Series
from graphviz_tb.serve.asked import known, numbers, session_of, word
from graphviz_tb.serve.session import ServedSource

KINDS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


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
        yield part.encode("utf-8", "replace")  # a name may contain lone surrogates
        await asyncio.sleep(0)


ROUTES = [Route("/api/export", export, methods=["GET"])]
