"""What a server was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from secrets import token_urlsafe

from graphviz_tb.model.logged import Restarts
from graphviz_tb.model.saved_view import SavedView

LOOPBACK = ("localhost", "127.0.0.1", "::1")
TOKEN = 32  # bytes
MEMORY = 2_000_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Settings:
    """One server. `source` is a log directory or any file that `render` takes, `host` the address to bind, `port`
    the first port that is tried (0: any), `prefix` what all addresses begin with ("" or "/a/b"), `poll` the seconds
    between two looks at the file system, `memory` the bytes that series and graphs may take, `token` what a visitor
    must show ("": nothing), `view` what the pages of graphs show at first."""

    source: str
    host: str = "127.0.0.1"
    port: int = 6006
    allowed_hosts: tuple[str, ...] = ()
    allowed_frames: tuple[str, ...] = ()
    prefix: str = ""
    title: str | None = None
    restarts: Restarts = "last"
    poll: float = 1.0
    memory: int = MEMORY
    checksum: bool = False
    token: str = ""
    view: SavedView | None = None

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in LOOPBACK


def new_token() -> str:
    """A token that nobody guesses."""
    return token_urlsafe(TOKEN)
