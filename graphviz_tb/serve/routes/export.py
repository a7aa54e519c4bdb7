"""All points of scalars as CSV or JSON, streamed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from graphviz_tb.export import scalars_as_csv, scalars_as_json
from graphviz_tb.model.logged import Series
from graphviz_tb.serve.asked import checked_query, parse_ids, query_word, served_source
from graphviz_tb.serve.session import ServedSource
from graphviz_tb.serve.threads import run_in_thread

EXPORTED_POINTS_AT_ONCE = 2_000_000  # points of a run read again together
EXPORT_MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


async def export_scalars(request: Request) -> Response:
    """Stream every point of every scalar, or of those of some runs and tags."""
    query, session = checked_query(request, ("format", "kind", "runs", "tags")), served_source(request)
    form = query_word(query, "format", ("csv", "json"))
    query_word(query, "kind", ("scalar",))
    chosen = requested_scalars(session, query)
    whole = series_with_columns(session, chosen)
    parts = scalars_as_csv(whole) if form == "csv" else scalars_as_json(whole)
    name = {"content-disposition": f'attachment; filename="scalars.{form}"'}
    return StreamingResponse(encode_in_threads(parts), headers=name, media_type=EXPORT_MEDIA_TYPES[form])


def requested_scalars(session: ServedSource, query: dict[str, str]) -> list[Series]:
    """Return the scalars of a query, by run and tag."""
    wanted = {name: set(parse_ids(query[name], name)) for name in ("runs", "tags") if query.get(name)}
    found = [
        series
        for series in session.all_series("scalar")
        if session.run_id(series.run) in wanted.get("runs", {session.run_id(series.run)})
        and session.tag_id(series) in wanted.get("tags", {session.tag_id(series)})
    ]
    return sorted(found, key=lambda series: (series.run, series.tag))


def series_with_columns(session: ServedSource, chosen: list[Series]) -> Iterator[Series]:
    """Yield the series with their columns, several of a run at once: its files are not read again for each tag."""
    for _, of_run in groupby(chosen, key=lambda series: series.run):
        waiting: list[Series] = []
        points = 0
        for series in of_run:
            if waiting and points + len(series) > EXPORTED_POINTS_AT_ONCE:
                yield from session.with_columns(waiting)
                waiting, points = [], 0
            waiting.append(series)
            points += len(series)
        yield from session.with_columns(waiting)


async def encode_in_threads(parts: Iterator[str]) -> AsyncIterator[bytes]:
    """Yield the parts as bytes, made in threads so that other requests are served meanwhile."""
    while (part := await run_in_thread(next, parts, None)) is not None:
        yield part.encode("utf-8", "replace")  # a name may contain lone surrogates


EXPORT_ROUTES = [Route("/api/export", export_scalars, methods=["GET"])]
