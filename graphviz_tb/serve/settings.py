"""Settings of a server."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from secrets import token_urlsafe

from graphviz_tb.model.facts import SavedView
from graphviz_tb.model.logs import RestartMode
from graphviz_tb.options import Options

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
TOKEN_BYTES = 32  # bytes
DEFAULT_MEMORY_BYTES = 2_000_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Settings:
    """One server. `source` is a log directory or any source of `render`, `host` the address to bind, `port` the first
    port that is tried (0: any), `prefix` the start of all paths ("" or "/a/b"), `poll` the seconds between two polls of
    the file system, `memory` the bytes that series and graphs may use, `token` the token that a visitor needs ("":
    none), `view` and `options` the settings for reading and for the first picture, `facts` a file of facts, its column
    for the colours (None: the first), and whether it sets the colours."""

    source: str
    host: str = "127.0.0.1"
    port: int = 6006
    allowed_hosts: tuple[str, ...] = ()
    allowed_frames: tuple[str, ...] = ()
    prefix: str = ""
    title: str | None = None
    restarts: RestartMode = "last"
    poll: float = 1.0
    memory: int = DEFAULT_MEMORY_BYTES
    checksum: bool = False
    token: str = ""
    view: SavedView | None = None
    options: Options | None = None
    facts: tuple[str, str | None, bool] | None = None

    @property
    def is_local(self) -> bool:
        """Return whether only this machine can reach the server."""
        return self.host in LOOPBACK_HOSTS


def new_token() -> str:
    return token_urlsafe(TOKEN_BYTES)


def has_display() -> bool:
    """Return whether this machine has a screen for a browser; without a screen the user is probably at another
    machine."""
    if sys.platform in ("darwin", "win32"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
