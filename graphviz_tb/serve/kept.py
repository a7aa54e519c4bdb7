"""Answers that were made before, so that what many pages ask is made once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable

from graphviz_tb.model.later import KeptValues
from graphviz_tb.serve.threads import in_thread


class KeptAnswers:
    """Bodies of answers by what was asked. What several pages ask at once is made once. Used in the loop alone."""

    def __init__(self, room: int) -> None:
        self._bodies: KeptValues[bytes] = KeptValues(room, len)
        self._made: dict[Hashable, asyncio.Future[bytes]] = {}

    async def body(self, asked: Hashable, tag: str, make: Callable[[], bytes]) -> bytes:
        """The body of what is asked that an entity tag means, made in a thread where it is not kept."""
        body = self._bodies.get(asked, tag)
        if body is not None:
            return body
        key = asked, tag
        if key not in self._made:
            self._made[key] = asyncio.ensure_future(in_thread(make))
            self._made[key].add_done_callback(lambda _: self._made.pop(key))
        # Who asked first may go away: the others still wait for it.
        return self._bodies.put(asked, tag, await asyncio.shield(self._made[key]))
