"""`%tbgraph LOGDIR` in a notebook: start a server and show it in a frame of the cell."""

from __future__ import annotations

import shlex
import subprocess
import sys
from atexit import register
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from graphviz_tb.errors import RequestError, ToolFailed

FRAME_HEIGHT_PX = 800  # pixels
# Origins that may show the page in a frame: a notebook on this machine at any port, or in an editor.
FRAME_ORIGINS = ("http://localhost:*", "http://127.0.0.1:*", "vscode-webview:")
RUNNING_SERVERS: dict[tuple[str, ...], subprocess.Popen[str]] = {}  # by the words of the line
SERVER_ADDRESSES: dict[tuple[str, ...], str] = {}


@dataclass(frozen=True, slots=True)
class ServedFrame:
    """A page of a server in a notebook cell."""

    address: str
    height: int = FRAME_HEIGHT_PX

    def _repr_html_(self) -> str:
        return f'<iframe src="{escape(self.address)}" width="100%" height="{self.height}" style="border:0"></iframe>'


def _show_server(line: str) -> ServedFrame:
    """Serve the source of a line, as `tbgraph serve` does, and show it; equal lines share one server.

    Raises `RequestError` if the line has no path, `ToolFailed` if the server does not start.
    """
    words = tuple(shlex.split(line))
    if not words:
        raise RequestError("%tbgraph needs a log directory", hint="%tbgraph ./logs")
    running = RUNNING_SERVERS.get(words)
    if running is None or running.poll() is not None:
        running = RUNNING_SERVERS[words] = _start_server(words)
        SERVER_ADDRESSES[words] = _read_server_address(running)
    return ServedFrame(SERVER_ADDRESSES[words])


def _start_server(words: tuple[str, ...]) -> subprocess.Popen[str]:
    """Start a server in a child process, which ends with this one."""
    frames = [word for origin in FRAME_ORIGINS for word in ("--allow-frame", origin)]
    command = [sys.executable, "-m", "graphviz_tb", "serve", *words, *frames, "-q"]
    made = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL
    )
    register(made.terminate)
    return made


def _read_server_address(running: subprocess.Popen[str]) -> str:
    """Return the address that a server prints first. Raises `ToolFailed` with its output otherwise."""
    assert running.stdout is not None
    address = running.stdout.readline().strip()
    if address.startswith("http://"):
        return address
    _, told = running.communicate()
    raise ToolFailed(f"the server did not start: {told.strip().removeprefix('error: ')}")


def register_magic(shell: Any) -> None:
    """Register `%tbgraph` in IPython."""
    magic: Callable[[str], ServedFrame] = _show_server
    shell.register_magic_function(magic, "line", "tbgraph")
