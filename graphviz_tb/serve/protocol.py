"""HTTP of uvicorn with limits on slow request heads, silent connections and their number."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

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
