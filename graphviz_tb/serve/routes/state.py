"""Overviews: runs, kinds and graphs; tags with their series; trials; custom chart layouts; events."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from graphviz_tb import __version__
from graphviz_tb.page.custom import custom_told
from graphviz_tb.page.hparams import trials_table
from graphviz_tb.read.logged.layouts import custom_charts
from graphviz_tb.serve.answers import kept_json
from graphviz_tb.serve.asked import known, session_of


async def state(request: Request) -> Response:
    """Return all runs, the number of series of each kind, and the graphs."""
    known(request, ())
    what, make = session_of(request).state()
    return await kept_json(request, lambda: {"version": __version__, **make()}, what)


async def tags(request: Request) -> Response:
    """Return all tags, of one kind or of all, with the series of each run."""
    kind = known(request, ("kind",)).get("kind")
    what, make = session_of(request).tags(kind)
    return await kept_json(request, make, what)


async def hparams(request: Request) -> Response:
    """Return a column for each hyperparameter and metric, a row for each session."""
    known(request, ())
    session = session_of(request)
    logged = session.logged

    def make() -> dict[str, Any]:
        table = trials_table(logged)
        return {**table, "rows": [{**row, "run": session.run_id(row["run"])} for row in table["rows"]]}

    return await kept_json(request, make, f"hparams {session.generation}")


async def custom(request: Request) -> Response:
    """Return the categories of the layouts of all runs, and their charts."""
    known(request, ())
    session = session_of(request)
    logged = session.logged

    def make() -> dict[str, Any]:
        return custom_told(custom_charts(logged, session.read))

    return await kept_json(request, make, f"custom {session.generation}")


async def events(request: Request) -> Response:
    """Stream server-sent events, from the generation that the page knows."""
    query = known(request, ("since",))
    last = request.headers.get("last-event-id", query.get("since"))
    stream = session_of(request).events.stream(last)
    return StreamingResponse(stream, headers={"x-accel-buffering": "no"}, media_type="text/event-stream")


STATE_ROUTES = [
    Route("/api/state", state),
    Route("/api/tags", tags),
    Route("/api/hparams", hparams, methods=["GET"]),
    Route("/api/custom", custom, methods=["GET"]),
    Route("/api/events", events, methods=["GET"]),
]
