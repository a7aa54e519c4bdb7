"""A cache of answers shared by all pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable

from graphviz_tb.model.later import BoundedCache
from graphviz_tb.serve.threads import run_in_thread


class AnswerCache:
    """Bodies of answers by request. Simultaneous equal requests are answered by one computation. Used in the event loop
    only."""

    def __init__(self, room: int) -> None:
        self._bodies: BoundedCache[bytes] = BoundedCache(room, len)
        self._made: dict[Hashable, asyncio.Future[bytes]] = {}

    async def cached_body(self, asked: Hashable, tag: str, make: Callable[[], bytes]) -> bytes:
        """Return the body for a request and entity tag, made in a thread unless cached."""
        body = self._bodies.get(asked, tag)
        if body is not None:
            return body
        key = asked, tag
        if key not in self._made:
            self._made[key] = asyncio.ensure_future(run_in_thread(make))
            self._made[key].add_done_callback(lambda _: self._made.pop(key))
        # The first request may be cancelled while the rest still wait.
        return self._bodies.store(asked, tag, await asyncio.shield(self._made[key]))
