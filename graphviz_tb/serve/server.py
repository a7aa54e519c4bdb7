"""Run the server: the port, the printed address, and the shutdown."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphviz_tb.errors import RequestError, TbGraphError, ToolFailed
from graphviz_tb.serve.answers import RefusedRequest, refusal_response
from graphviz_tb.serve.guard import MAX_TARGET_BYTES, App, RequestGuard
from graphviz_tb.serve.routes.graphs import GRAPH_ROUTES, PROFILE_ROUTES
from graphviz_tb.serve.routes.overview import STATE_ROUTES, VIEWER_ROUTES
from graphviz_tb.serve.routes.points import MEDIA_ROUTES, POINT_ROUTES
from graphviz_tb.serve.routes.projector import PROJECTOR_ROUTES
from graphviz_tb.serve.routes.scalars import EXPORT_ROUTES, SCALAR_ROUTES
from graphviz_tb.serve.session import ServedSource, watch_source
from graphviz_tb.serve.settings import Settings, has_display

# HTTP of uvicorn with limits on slow request heads, silent connections and their number.

HEAD_SECONDS = 10.0  # limit for the head of a request from its first byte, or for the first byte of a new connection
MAX_CONNECTIONS = 512


class TimedConnection(H11Protocol):
    """A connection that is closed if the head of its next request takes too long."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of a new connection, or close it if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.close()
            return
        self.start_timer()

    def data_received(self, data: bytes) -> None:
        """Stop the timer once a request is under way."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self.stop_timer()
        elif self._waiting is None:
            self.start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self.stop_timer()
        super().connection_lost(exc)

    def start_timer(self) -> None:
        self._waiting = self.loop.call_later(HEAD_SECONDS, self.close_if_idle)

    def stop_timer(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def close_if_idle(self) -> None:
        self._waiting = None
        cycle: Any = self.cycle
        if (cycle is None or cycle.response_complete) and self.transport is not None:
            self.transport.close()


# The ASGI app: routes, request guard, error responses.

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


async def _error_response(request: Request, error: Exception) -> Response:
    if isinstance(error, RefusedRequest):
        return refusal_response(error)
    if isinstance(error, TbGraphError):
        return refusal_response(RefusedRequest(404, error.message, error.hint or ""))
    if isinstance(error, HTTPException):
        words = {404: "there is nothing at this address", 405: "this address does not take this method"}
        return refusal_response(
            RefusedRequest(error.status_code, words.get(error.status_code, error.detail), headers=error.headers)
        )
    return refusal_response(RefusedRequest(500, f"unexpected {type(error).__name__}", "a fault of tbgraph"))


EXCEPTION_HANDLERS: Mapping[Any, Callable[[Request, Exception], Awaitable[Response]]] = dict.fromkeys(
    (RefusedRequest, TbGraphError, HTTPException, Exception), _error_response
)


MAX_PORTS_TRIED = 100  # ports to try from the requested one on
HEADER_BYTES = 16_000  # bytes of a request's head besides its address
SHUTDOWN_SECONDS = 0.4  # seconds to finish answers at shutdown
IDLE_SECONDS = 30  # seconds that a connection may stay open without a request
PrintLines = Callable[[list[str]], None]


def run_server(settings: Settings, say: PrintLines, opened: Callable[[str], object] | None = None) -> None:
    """Serve until Control-C, which is raised as KeyboardInterrupt.

    `say` prints lines, the address first; `opened` opens the page at an address.
    """
    bound = _bind_socket(settings)
    wanted, port = settings.port, bound.getsockname()[1]
    settings = replace(settings, port=port)
    session = ServedSource(settings)
    say(_introduction_lines(settings, wanted))
    config = uvicorn.Config(
        application(settings, session),
        http=TimedConnection,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=IDLE_SECONDS,
        h11_max_incomplete_event_size=MAX_TARGET_BYTES + HEADER_BYTES,
    )
    if opened is not None:
        opened(_server_address(settings))
    PromptServer(config, session).run([bound])


class PromptServer(uvicorn.Server):
    """A server with a fast shutdown, which closes event streams and waits only briefly for answers."""

    def __init__(self, config: uvicorn.Config, session: ServedSource) -> None:
        super().__init__(config)
        self._session = session

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down on Control-C, or when the terminal closes."""
        super().handle_exit(sig, frame)
        self.config.timeout_graceful_shutdown = SHUTDOWN_SECONDS  # type: ignore[assignment]
        self._session.events.close()


def _bind_socket(settings: Settings) -> socket.socket:
    """Return a socket at the requested port, or at the next free one. Raises `RequestError` or `ToolFailed`."""
    ports = range(settings.port, min(65536, settings.port + MAX_PORTS_TRIED)) if settings.port else range(1)
    for port in ports:
        try:
            family, _, _, _, address = socket.getaddrinfo(settings.host, port, type=socket.SOCK_STREAM)[0]
        except (socket.gaierror, UnicodeError):
            hint = "--host takes a name or an address of this machine"
            raise RequestError(f"no host {settings.host!r} on this machine", hint=hint) from None
        bound = socket.socket(family, socket.SOCK_STREAM)
        try:
            if os.name == "posix":  # on Windows this would share the port of a running program
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen(128)
            return bound
        except OSError as error:
            bound.close()
            if error.errno != errno.EADDRINUSE:
                why = os.strerror(error.errno or 0)
                raise ToolFailed(f"cannot listen at {settings.host} port {port}: {why}") from None
    taken = f"port {ports[0]} of {settings.host} and the {len(ports) - 1} after it are taken"
    raise ToolFailed(taken, hint="give another one with --port, or 0 for any")


def _server_address(settings: Settings) -> str:
    here = socket.gethostname()
    host = {"0.0.0.0": here, "::": here, "127.0.0.1": "localhost"}.get(settings.host, settings.host)
    host = f"[{host}]" if ":" in host else host
    token = f"?token={settings.token}" if settings.token else ""
    return f"http://{host}:{settings.port}{settings.prefix}/{token}"


def _introduction_lines(settings: Settings, wanted: int) -> list[str]:
    """Return the lines to print at the start: the address, then any difference from the `wanted` port."""
    lines = [_server_address(settings)]
    if wanted not in (0, settings.port):
        lines.append(f"port {wanted} is taken: this is the next free one")
    if settings.is_local and not has_display():
        here = socket.gethostname()
        lines.append(f"on your own machine: ssh -L {settings.port}:localhost:{settings.port} {here}")
    return lines
