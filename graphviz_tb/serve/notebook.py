"""`tbgraph.serve(LOGDIR)` and `%tbgraph LOGDIR`: a server next to the kernel, shown in a frame of the cell.

If no server can run or be reached, the cell shows a static page and the reason.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from atexit import register
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from graphviz_tb.errors import RequestError, ToolFailed
from graphviz_tb.extras import how_to_install

FRAME_HEIGHT_PX = 800  # pixels
STATIC_PAGE_MB = 5.0
RUNNING_SERVERS: dict[tuple[str, ...], subprocess.Popen[str]] = {}  # by the words of the line
SERVER_ADDRESSES: dict[tuple[str, ...], str] = {}
FRONTENDS: dict[tuple[str, ...], NotebookFrontend] = {}
SERVER_SWITCHES = ("--bind-all", "--browser", "--checksum", "--no-token", "--no-view", "-q", "--quiet")
NEEDED = ("starlette", "uvicorn", "watchfiles")


@dataclass(frozen=True, slots=True)
class ServedFrame:
    """The page of a server in a cell, or its address where no HTML is shown. `stop()` ends the server."""

    address: str
    height: int = FRAME_HEIGHT_PX
    frontend: NotebookFrontend = field(default_factory=lambda: NotebookFrontend("local"), repr=False)
    words: tuple[str, ...] = field(default=(), repr=False)

    def stop(self) -> None:
        """End the server; its page stays in the cell until the notebook is loaded again."""
        running = RUNNING_SERVERS.pop(self.words, None)
        if running is not None:
            running.terminate()
            running.communicate()

    def wait(self) -> None:
        """Wait until the server ends, in a script."""
        running = RUNNING_SERVERS.get(self.words)
        if running is not None:
            running.wait()

    def _repr_html_(self) -> str:
        if self.frontend.kind == "colab":
            return _colab_frame(urlsplit(self.address).port or 0, self.height)
        return _plain_frame(self.frontend.address or self.address, self.height)


@dataclass(frozen=True, slots=True)
class StaticFrame:
    """A static page in place of a server, with the reason."""

    page: bytes = field(repr=False)
    sentence: str
    height: int = FRAME_HEIGHT_PX

    def _repr_html_(self) -> str:
        from graphviz_tb.api.rendered import NotebookFrame

        return f"<p>{escape(self.sentence)}</p>{NotebookFrame(self.page, self.height)._repr_html_()}"


def _show_server(line: str) -> ServedFrame | StaticFrame:
    """Start the server of a line, as `tbgraph serve` does, and show it; equal lines share a server.

    Raises `RequestError` if the line has no path, `ToolFailed` if the server does not start.
    """
    words, height = _without_height(shlex.split(line))
    if not words:
        raise RequestError("%tbgraph needs a log directory", hint="%tbgraph --logdir ./logs")
    return _serve_words(words, height)


def _serve_words(words: tuple[str, ...], height: int = FRAME_HEIGHT_PX) -> ServedFrame | StaticFrame:
    """Return the frame of the server with the words of a command line, which is started unless it runs."""
    running = RUNNING_SERVERS.get(words)
    if running is not None and running.poll() is None:
        return ServedFrame(SERVER_ADDRESSES[words], height, FRONTENDS[words], words)
    frontend = _notebook_frontend()
    why = _reason_for_static_page(frontend)
    if why:
        return _static_frame(words, why, height)
    running = _start_server(words, frontend)
    address = _read_server_address(running)
    RUNNING_SERVERS[words], SERVER_ADDRESSES[words], FRONTENDS[words] = running, address, frontend
    return ServedFrame(address, height, frontend, words)


def _reason_for_static_page(frontend: NotebookFrontend) -> str:
    """Return the reason why no server is shown; "" if a server is shown."""
    if any(find_spec(name) is None for name in NEEDED):
        return f"A static page; to follow a log while it is written: {how_to_install('serve')}, and restart the kernel."
    if frontend.kind == "unreached":
        return (
            "A static page: this kernel runs on a different machine, and no proxy leads to it. jupyter-server-proxy is "
            "one; TBGRAPH_PROXY_URL=/path/%PORT%/ names yours."
        )
    return ""


def _static_frame(words: tuple[str, ...], why: str, height: int) -> StaticFrame:
    """Return a static page of the source that a command line serves."""
    from graphviz_tb.api.choices import with_choices
    from graphviz_tb.api.pipeline import load
    from graphviz_tb.options import Options
    from graphviz_tb.page.log import page_of_source

    source, notes = _path_in(words), [why]

    def draw(options: Options, said: str) -> bytes:
        notes.append(f"{said[:1].upper()}{said[1:]}{'.' if said else ''}")
        return load(source, options).render("html")

    page = page_of_source(source, with_choices(Options(), {"page_max": STATIC_PAGE_MB}), draw)
    return StaticFrame(page, " ".join(filter(None, notes)), height)


def _path_in(words: tuple[str, ...]) -> str:
    """Return the path that a command line of the server names. Raises `RequestError` where there is none.

    >>> _path_in(("--port", "0", "--logdir=logs")), _path_in(("logs",)), _path_in(("--logdir", "a b"))
    ('logs', 'logs', 'a b')
    """
    found, rest = "", iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name.lstrip("-") in ("logdir", "log") and name.startswith("-"):
            found = value if equals else next(rest, "")
        elif not word.startswith("-"):
            found = word
        elif not equals and name.replace("_", "-") not in SERVER_SWITCHES:
            next(rest, None)  # the value of an option
    if not found:
        raise RequestError("%tbgraph needs a log directory", hint="%tbgraph --logdir ./logs")
    return found


def _without_height(words: list[str]) -> tuple[tuple[str, ...], int]:
    """Return the words without `--height N`, and that height.

    >>> _without_height(["logs", "--height", "500"]), _without_height(["--height=500", "logs"])
    ((('logs',), 500), (('logs',), 500))
    """
    kept, height, rest = [], FRAME_HEIGHT_PX, iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name != "--height":
            kept.append(word)
            continue
        value = value if equals else next(rest, "")
        if not value.isdecimal() or not 1 <= int(value) <= 100_000:
            raise RequestError(
                f"--height {value[:20]!r} is not a number of pixels", hint="%tbgraph ./logs --height 600"
            )
        height = int(value)
    return tuple(kept), height


def _start_server(words: tuple[str, ...], frontend: NotebookFrontend | None = None) -> subprocess.Popen[str]:
    """Start a server in a separate process, which ends with this one."""
    frontend = frontend or NotebookFrontend("local")
    frames = [word for origin in frontend.frames for word in ("--allow-frame", origin)]
    port = ["--port", str(frontend.port)] if frontend.port else []
    command = [sys.executable, "-m", "graphviz_tb", "serve", *words, *frames, *frontend.words, *port, "-q"]
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
    _, message = running.communicate()
    raise ToolFailed(f"the server did not start: {message.strip().removeprefix('error: ')}")


def serve_source(source: Any, height: int, options: dict[str, Any]) -> ServedFrame | StaticFrame:
    """Serve a path with options of `tbgraph serve` by their Python names (`port=0`, `path_prefix="/x"`)."""
    return _serve_words(
        (str(Path(source)) if "://" not in str(source) else str(source), *_option_words(options)), height
    )


def _option_words(options: dict[str, Any]) -> list[str]:
    """Return options as words of a command line.

    >>> _option_words({"port": 0, "bind_all": True, "title": None, "allow_host": ["a", "b"]})
    ['--port', '0', '--bind-all', '--allow-host', 'a', '--allow-host', 'b']
    """
    words: list[str] = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        for each in value if isinstance(value, list | tuple) else [value]:
            if each is not None and each is not False:
                words += [option] if each is True else [option, str(each)]
    return words


def load_ipython_extension(shell: Any) -> None:
    """Make `%tbgraph` known to IPython."""
    magic: Callable[[str], ServedFrame | StaticFrame] = _show_server
    shell.register_magic_function(magic, "line", "tbgraph")


# Where the browser of a notebook runs, and how it reaches a server next to the kernel.
#
# local      the browser is on this machine: `http://localhost:PORT/`
# proxied    a path of the notebook's own server leads here: JupyterHub, Binder, jupyter-server-proxy,
#            `TBGRAPH_PROXY_URL`
# colab      the notebook asks its own machine for an address: `google.colab.kernel.proxyPort`
# unreached  another machine, and no proxy that is known: a static page

PROXY_URLS = ("TBGRAPH_PROXY_URL", "TENSORBOARD_PROXY_URL")  # a path or an address with %PORT%
# Variables with the path prefix of the notebook's server.
HUB_PREFIXES = ("JUPYTERHUB_SERVICE_PREFIX", "NB_PREFIX", "JUPYTER_BASE_URL")
REMOTE_EDITORS = ("CODESPACES", "REMOTE_CONTAINERS", "GITPOD_WORKSPACE_ID", "VSCODE_AGENT_FOLDER")
LOCAL_FRAMES = ("'self'", "http://localhost:*", "http://127.0.0.1:*", "vscode-webview:")
COLAB_FRAMES = ("https://*.googleusercontent.com", "https://colab.research.google.com", "https://*.colab.dev")


@dataclass(frozen=True, slots=True)
class NotebookFrontend:
    """The connection of a notebook to a server: its kind, the pages that may show the server, and words for its command
    line.

    `address` is the address of the frame, if not that of the server; `port` is fixed if a proxy has it in its path (0:
    any).
    """

    kind: Literal["local", "proxied", "colab", "unreached"]
    frames: tuple[str, ...] = LOCAL_FRAMES
    words: tuple[str, ...] = ()
    address: str = ""
    port: int = 0


def _notebook_frontend(environment: Mapping[str, str] = os.environ) -> NotebookFrontend:
    """Return the connection of this kernel's notebook to a server on this machine."""
    if "google.colab" in sys.modules:
        return NotebookFrontend("colab", COLAB_FRAMES, ("--allow-host", "*"))
    proxy = next((environment[name] for name in PROXY_URLS if environment.get(name)), None)
    if proxy is not None:
        return _proxied_by(proxy)
    hub = next((environment[name] for name in HUB_PREFIXES if environment.get(name)), None)
    if hub is not None and _has_server_proxy():
        # "absolute": the proxy passes the whole path on, so that the page knows its prefix.
        return _proxied_by(f"{hub.rstrip('/')}/proxy/absolute/%PORT%/", keeps_path=True)
    remote = any(environment.get(name) for name in REMOTE_EDITORS)
    over_ssh = "SSH_CONNECTION" in environment and "VSCODE_PID" not in environment
    return NotebookFrontend("unreached") if hub is not None or remote or over_ssh else NotebookFrontend("local")


def _proxied_by(address: str, keeps_path: bool = False) -> NotebookFrontend:
    """Return the front end behind a proxy at `address`, in which %PORT% is replaced by the port of the server.

    >>> made = _proxied_by("/user/me/proxy/%PORT%/")
    >>> made.kind, made.address == f"/user/me/proxy/{made.port}/", made.words
    ('proxied', True, ('--allow-host', '*'))
    """
    port = _free_port()
    address = address.replace("%PORT%", str(port)).rstrip("/") + "/"
    prefix = ("--path-prefix", address.rstrip("/")) if keeps_path else ()
    return NotebookFrontend("proxied", LOCAL_FRAMES, ("--allow-host", "*", *prefix), address, port)


def _has_server_proxy() -> bool:
    """Return whether jupyter-server-proxy is installed, which forwards a path of the notebook's server to this
    machine."""
    return find_spec("jupyter_server_proxy") is not None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _colab_frame(port: int, height: int) -> str:
    """Return markup that asks Colab for the address of a port and shows it in a frame."""
    return (
        f'<div id="tbgraph-{port}"></div><script>(async () => {{'
        f'const url = await google.colab.kernel.proxyPort({port}, {{"cache": true}});'
        'const frame = document.createElement("iframe");'
        f'frame.src = url; frame.width = "100%"; frame.height = "{height}"; frame.frameBorder = 0;'
        f'document.getElementById("tbgraph-{port}").append(frame);}})();</script>'
    )


def _plain_frame(address: str, height: int) -> str:
    """Return markup of a frame, and a link for a browser that does not show it."""
    shown = escape(address)
    return (
        f'<iframe src="{shown}" width="100%" height="{height}" style="border:0"></iframe>'
        f'<div style="font-size:smaller"><a href="{shown}" target="_blank" rel="noopener">{shown}</a></div>'
    )
