"""What there is: runs, kinds, graphs; tags with their series."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb import __version__
from graphviz_tb.serve.answers import kept_json
from graphviz_tb.serve.asked import known, session_of


async def state(request: Request) -> Response:
    """All runs, how many series of each kind there are, and the graphs."""
    known(request, ())
    what, make = session_of(request).state()
    return await kept_json(request, lambda: {"version": __version__, **make()}, what)


async def tags(request: Request) -> Response:
    """All tags, of one kind or of all, with the series of each run."""
    kind = known(request, ("kind",)).get("kind")
    what, make = session_of(request).tags(kind)
    return await kept_json(request, make, what)


ROUTES = [Route("/api/state", state), Route("/api/tags", tags)]
