"""Routes of the viewer itself and of overviews: runs, kinds, graphs, tags, trials, custom charts, events."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from graphviz_tb import __version__
from graphviz_tb.events.plugins import read_custom_charts
from graphviz_tb.page.log import custom_charts_values, trials_table
from graphviz_tb.render.html import SERVER_ENTRY, joined_script, served_page, style_sheet
from graphviz_tb.serve.answers import RefusedRequest, cached_json_response
from graphviz_tb.serve.parameters import checked_query, served_source

# The viewer: the page without data, its script and its style, addressed by content.

CACHE_FOREVER = "public, max-age=31536000, immutable"
VIEWER_MEDIA_TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}


@cache
def _viewer_files() -> dict[str, bytes]:
    """Return the files of the viewer by name; a name changes with the content."""
    made = {"js": joined_script(SERVER_ENTRY).encode(), "css": style_sheet(logs=True).encode()}
    return {f"viewer.{sha256(data).hexdigest()[:16]}.{kind}": data for kind, data in made.items()}


async def viewer_page(request: Request) -> Response:
    code, look = _viewer_files()
    page = served_page(served_source(request).title, f"static/{code}", f"static/{look}")
    return Response(page, 200, {"cache-control": "no-cache"}, "text/html; charset=utf-8")


async def viewer_file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _viewer_files():
        raise RefusedRequest(404, "no such file", "open the page itself")
    return Response(
        _viewer_files()[name], 200, {"cache-control": CACHE_FOREVER}, VIEWER_MEDIA_TYPES[name.rpartition(".")[2]]
    )


async def no_icon(request: Request) -> Response:
    """Return an empty answer, since browsers always request an icon."""
    return Response(status_code=204)


VIEWER_ROUTES = [
    Route("/", viewer_page, methods=["GET"]),
    Route("/static/{name}", viewer_file, methods=["GET"]),
    Route("/favicon.ico", no_icon, methods=["GET"]),
]


# Overviews: runs, kinds and graphs; tags with their series; trials; custom chart layouts; events.


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
    return await cached_json_response(
        request,
        lambda: custom_charts_values(read_custom_charts(logged, session.read)),
        f"custom {session.generation}",
    )


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
