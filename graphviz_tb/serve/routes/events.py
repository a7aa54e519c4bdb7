"""What happens, as it happens."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from graphviz_tb.serve.asked import known, session_of


async def events(request: Request) -> Response:
    """Server-sent events, from the generation that the page knows."""
    query = known(request, ("since",))
    last = request.headers.get("last-event-id", query.get("since"))
    stream = session_of(request).events.stream(last)
    return StreamingResponse(stream, headers={"x-accel-buffering": "no"}, media_type="text/event-stream")


ROUTES = [Route("/api/events", events, methods=["GET"])]
