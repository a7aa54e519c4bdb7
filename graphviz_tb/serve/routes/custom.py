"""Charts that a training laid out itself."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.page.custom import custom_told
from graphviz_tb.read.logged.layouts import custom_charts
from graphviz_tb.serve.answers import kept_json
from graphviz_tb.serve.asked import known, session_of


async def custom(request: Request) -> Response:
    """The categories of the layouts of all runs, and their charts."""
    known(request, ())
    session = session_of(request)
    logged = session.logged

    def make() -> dict[str, Any]:
        return custom_told(custom_charts(logged, session.read))

    return await kept_json(request, make, f"custom {session.generation}")


ROUTES = [Route("/api/custom", custom, methods=["GET"])]
