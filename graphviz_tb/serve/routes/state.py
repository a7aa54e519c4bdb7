"""Overviews: runs, kinds and graphs; tags with their series; trials; custom chart layouts; events."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from graphviz_tb import __version__
from graphviz_tb.page.custom import custom_charts_values
from graphviz_tb.page.hparams import trials_table
from graphviz_tb.read.logged.layouts import read_custom_charts
from graphviz_tb.serve.answers import cached_json_response
from graphviz_tb.serve.asked import checked_query, served_source


async def server_state(request: Request) -> Response:
    """Return all runs, the number of series of each kind, and the graphs."""
    checked_query(request, ())
    what, make = served_source(request).state_answer()
    return await cached_json_response(request, lambda: {"version": __version__, **make()}, what)


async def tag_list(request: Request) -> Response:
    """Return all tags, of one kind or of all, with the series of each run."""
    kind = checked_query(request, ("kind",)).get("kind")
    what, make = served_source(request).tags_answer(kind)
    return await cached_json_response(request, make, what)


async def hparams_table(request: Request) -> Response:
    """Return a column for each hyperparameter and metric, a row for each session."""
    checked_query(request, ())
    session = served_source(request)
    logged = session.logged

    def make() -> dict[str, Any]:
        table = trials_table(logged)
        return {**table, "rows": [{**row, "run": session.run_id(row["run"])} for row in table["rows"]]}

    return await cached_json_response(request, make, f"hparams {session.generation}")


async def custom_layouts(request: Request) -> Response:
    """Return the categories of the layouts of all runs, and their charts."""
    checked_query(request, ())
    session = served_source(request)
    logged = session.logged

    def make() -> dict[str, Any]:
        return custom_charts_values(read_custom_charts(logged, session.read))

    return await cached_json_response(request, make, f"custom {session.generation}")


async def event_stream(request: Request) -> Response:
    """Stream server-sent events, from the generation that the page knows."""
    query = checked_query(request, ("since",))
    last = request.headers.get("last-event-id", query.get("since"))
    stream = served_source(request).events.stream(last)
    return StreamingResponse(stream, headers={"x-accel-buffering": "no"}, media_type="text/event-stream")


STATE_ROUTES = [
    Route("/api/state", server_state),
    Route("/api/tags", tag_list),
    Route("/api/hparams", hparams_table, methods=["GET"]),
    Route("/api/custom", custom_layouts, methods=["GET"]),
    Route("/api/events", event_stream, methods=["GET"]),
]
