"""Run the server: the port, the printed address, and the shutdown."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType

import uvicorn

from graphviz_tb.errors import RequestError, ToolFailed
from graphviz_tb.serve.app import application
from graphviz_tb.serve.guard import MAX_TARGET_BYTES
from graphviz_tb.serve.protocol import TimedConnection
from graphviz_tb.serve.session import ServedSource
from graphviz_tb.serve.settings import Settings

MAX_PORTS_TRIED = 100  # ports to try from the requested one on
HEADER_BYTES = 16_000  # bytes of a request's head besides its address
SHUTDOWN_SECONDS = 0.4  # seconds to finish answers at shutdown
IDLE_SECONDS = 30  # seconds that a connection may stay open without a request
PrintLines = Callable[[list[str]], None]


def run_server(settings: Settings, say: PrintLines, opened: Callable[[str], object] | None = None) -> None:
    """Serve until Control-C, which is raised as KeyboardInterrupt.

    `say` prints lines, the address first; `opened` opens the page at an address.
    """
    bound = bind_socket(settings)
    wanted, port = settings.port, bound.getsockname()[1]
    settings = replace(settings, port=port)
    session = ServedSource(settings)
    say(introduction_lines(settings, wanted))
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
        opened(server_address(settings))
    PromptServer(config, session).run([bound])


class PromptServer(uvicorn.Server):
    """A server with a fast shutdown: it closes streams that would stay open for hours, and waits for nothing long."""

    def __init__(self, config: uvicorn.Config, session: ServedSource) -> None:
        super().__init__(config)
        self._session = session

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down on Control-C, or when the terminal closes."""
        super().handle_exit(sig, frame)
        self.config.timeout_graceful_shutdown = SHUTDOWN_SECONDS  # type: ignore[assignment]
        self._session.events.close()


def bind_socket(settings: Settings) -> socket.socket:
    """Return a socket at the requested port, or at the next free one. Raises `RequestError` or `ToolFailed`."""
    ports = range(settings.port, min(65536, settings.port + MAX_PORTS_TRIED)) if settings.port else range(1)
    for port in ports:
        try:
            family, _, _, _, place = socket.getaddrinfo(settings.host, port, type=socket.SOCK_STREAM)[0]
        except (socket.gaierror, UnicodeError):
            hint = "--host takes a name or an address of this machine"
            raise RequestError(f"no host {settings.host!r} on this machine", hint=hint) from None
        bound = socket.socket(family, socket.SOCK_STREAM)
        try:
            if os.name == "posix":  # elsewhere this would take the port of a running program
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(place)
            bound.listen(128)
            return bound
        except OSError as error:
            bound.close()
            if error.errno != errno.EADDRINUSE:
                why = os.strerror(error.errno or 0)
                raise ToolFailed(f"cannot listen at {settings.host} port {port}: {why}") from None
    taken = f"port {ports[0]} of {settings.host} and the {len(ports) - 1} after it are taken"
    raise ToolFailed(taken, hint="give another one with --port, or 0 for any")


def server_address(settings: Settings) -> str:
    """Return the address of the page."""
    here = socket.gethostname()
    host = {"0.0.0.0": here, "::": here, "127.0.0.1": "localhost"}.get(settings.host, settings.host)
    host = f"[{host}]" if ":" in host else host
    token = f"?token={settings.token}" if settings.token else ""
    return f"http://{host}:{settings.port}{settings.prefix}/{token}"


def introduction_lines(settings: Settings, wanted: int) -> list[str]:
    """Return the lines to print at the start: the address, then any difference from the `wanted` port."""
    lines = [server_address(settings)]
    if wanted not in (0, settings.port):
        lines.append(f"port {wanted} is taken: this is the next free one")
    if settings.is_local and not has_display():
        here = socket.gethostname()
        lines.append(f"on your own machine: ssh -L {settings.port}:localhost:{settings.port} {here}")
    return lines


def has_display() -> bool:
    """Return whether this machine has a screen with a browser; if not, the user is most likely at a different one."""
    if sys.platform in ("darwin", "win32"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
