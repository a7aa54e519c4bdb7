"""The ASGI app: routes, request guard, error responses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from graphviz_tb.errors import TbGraphError
from graphviz_tb.serve.answers import RefusedRequest, refusal_response
from graphviz_tb.serve.guard import App, RequestGuard
from graphviz_tb.serve.live import watch_source
from graphviz_tb.serve.routes.export import EXPORT_ROUTES
from graphviz_tb.serve.routes.graphs import GRAPH_ROUTES
from graphviz_tb.serve.routes.media import MEDIA_ROUTES
from graphviz_tb.serve.routes.numbers import POINT_ROUTES
from graphviz_tb.serve.routes.profile import PROFILE_ROUTES
from graphviz_tb.serve.routes.projector import PROJECTOR_ROUTES
from graphviz_tb.serve.routes.series import SCALAR_ROUTES
from graphviz_tb.serve.routes.state import STATE_ROUTES
from graphviz_tb.serve.routes.viewer import VIEWER_ROUTES
from graphviz_tb.serve.session import ServedSource
from graphviz_tb.serve.settings import Settings

ALL_ROUTES = [
    *VIEWER_ROUTES,
    *STATE_ROUTES,
    *SCALAR_ROUTES,
    *POINT_ROUTES,
    *MEDIA_ROUTES,
    *PROJECTOR_ROUTES,
    *PROFILE_ROUTES,
    *EXPORT_ROUTES,
    *GRAPH_ROUTES,
]


def application(settings: Settings, session: ServedSource | None = None) -> App:
    """Return the app of one source; it starts reading when it is started."""
    session = session or ServedSource(settings)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with watch_source(session):
            yield
        session.close()

    async def home(request: Request) -> Response:
        return RedirectResponse(f"{settings.prefix}/")

    prefixed = (
        [Route(settings.prefix, home), Mount(settings.prefix, routes=ALL_ROUTES)] if settings.prefix else ALL_ROUTES
    )
    app = Starlette(routes=prefixed, lifespan=lifespan, exception_handlers=EXCEPTION_HANDLERS)
    app.state.session = session
    return RequestGuard(app, settings)


async def error_response(request: Request, error: Exception) -> Response:
    """Return the response to an exception."""
    if isinstance(error, RefusedRequest):
        return refusal_response(error)
    if isinstance(error, TbGraphError):
        return refusal_response(RefusedRequest(404, error.message, error.hint or ""))
    if isinstance(error, HTTPException):
        words = {404: "there is nothing at this address", 405: "this address is not asked so"}
        return refusal_response(
            RefusedRequest(error.status_code, words.get(error.status_code, error.detail), headers=error.headers)
        )
    return refusal_response(RefusedRequest(500, f"unexpected {type(error).__name__}", "a fault of tbgraph"))


EXCEPTION_HANDLERS: Mapping[Any, Callable[[Request, Exception], Awaitable[Response]]] = dict.fromkeys(
    (RefusedRequest, TbGraphError, HTTPException, Exception), error_response
)
