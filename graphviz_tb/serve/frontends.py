"""Where a notebook is looked at, and how a browser there reaches a server that runs next to its kernel.

local      the browser is on this machine: `http://localhost:PORT/`
proxied    a path of the notebook's own server leads here: JupyterHub, Binder, jupyter-server-proxy, `TBGRAPH_PROXY_URL`
colab      the notebook asks its own machine for an address: `google.colab.kernel.proxyPort`
unreached  another machine, and no proxy that is known: a static page
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from typing import Literal

PROXY_URLS = ("TBGRAPH_PROXY_URL", "TENSORBOARD_PROXY_URL")  # a path or an address with %PORT%
HUB_PREFIXES = ("JUPYTERHUB_SERVICE_PREFIX", "NB_PREFIX", "JUPYTER_BASE_URL")  # where the notebook's server begins
REMOTE_EDITORS = ("CODESPACES", "REMOTE_CONTAINERS", "GITPOD_WORKSPACE_ID", "VSCODE_AGENT_FOLDER")
LOCAL_FRAMES = ("'self'", "http://localhost:*", "http://127.0.0.1:*", "vscode-webview:")
COLAB_FRAMES = ("https://*.googleusercontent.com", "https://colab.research.google.com", "https://*.colab.dev")


@dataclass(frozen=True, slots=True)
class NotebookFrontend:
    """A notebook's way to a server: its kind, the pages that may show it, and words of the server's command line.

    `address` is what the frame shows in place of the server's own address; `port` is chosen before where a proxy has it
    in its path (0: any).
    """

    kind: Literal["local", "proxied", "colab", "unreached"]
    frames: tuple[str, ...] = LOCAL_FRAMES
    words: tuple[str, ...] = ()
    address: str = ""
    port: int = 0


def notebook_frontend(environment: Mapping[str, str] = os.environ) -> NotebookFrontend:
    """Return how the notebook of this kernel reaches a server on this machine."""
    if "google.colab" in sys.modules:
        return NotebookFrontend("colab", COLAB_FRAMES, ("--allow-host", "*"))
    proxy = next((environment[name] for name in PROXY_URLS if environment.get(name)), None)
    if proxy is not None:
        return _proxied_by(proxy)
    hub = next((environment[name] for name in HUB_PREFIXES if environment.get(name)), None)
    if hub is not None and _has_server_proxy():
        # "absolute": the proxy hands on the whole path, so that the page knows where it begins.
        return _proxied_by(f"{hub.rstrip('/')}/proxy/absolute/%PORT%/", keeps_path=True)
    remote = any(environment.get(name) for name in REMOTE_EDITORS)
    over_ssh = "SSH_CONNECTION" in environment and "VSCODE_PID" not in environment
    return NotebookFrontend("unreached") if hub is not None or remote or over_ssh else NotebookFrontend("local")


def _proxied_by(address: str, keeps_path: bool = False) -> NotebookFrontend:
    """Return the front end behind a proxy at `address`, in which %PORT% becomes that of the server.

    >>> made = _proxied_by("/user/me/proxy/%PORT%/")
    >>> made.kind, made.address == f"/user/me/proxy/{made.port}/", made.words
    ('proxied', True, ('--allow-host', '*'))
    """
    port = _free_port()
    address = address.replace("%PORT%", str(port)).rstrip("/") + "/"
    prefix = ("--path-prefix", address.rstrip("/")) if keeps_path else ()
    return NotebookFrontend("proxied", LOCAL_FRAMES, ("--allow-host", "*", *prefix), address, port)


def _has_server_proxy() -> bool:
    """Return whether jupyter-server-proxy is installed, which makes a path of the notebook's server lead here."""
    return find_spec("jupyter_server_proxy") is not None


def _free_port() -> int:
    """Return a port of this machine that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def colab_frame(port: int, height: int) -> str:
    """Return markup that asks Colab for the address of a port and shows it in a frame."""
    return (
        f'<div id="tbgraph-{port}"></div><script>(async () => {{'
        f'const url = await google.colab.kernel.proxyPort({port}, {{"cache": true}});'
        'const frame = document.createElement("iframe");'
        f'frame.src = url; frame.width = "100%"; frame.height = "{height}"; frame.frameBorder = 0;'
        f'document.getElementById("tbgraph-{port}").append(frame);}})();</script>'
    )


def plain_frame(address: str, height: int) -> str:
    """Return markup of a frame, and a link for a browser that does not show it."""
    shown = escape(address)
    return (
        f'<iframe src="{shown}" width="100%" height="{height}" style="border:0"></iframe>'
        f'<div style="font-size:smaller"><a href="{shown}" target="_blank" rel="noopener">{shown}</a></div>'
    )
