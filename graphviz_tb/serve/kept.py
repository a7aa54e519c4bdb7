"""Answers that were made before, so that what many pages ask is made once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

from graphviz_tb.serve.threads import in_thread

Value = TypeVar("Value")


class KeptValues(Generic[Value]):
    """Values by what they depend on, of `room` bytes together; those that were asked for least recently go first."""

    def __init__(self, room: int, size: Callable[[Value], int]) -> None:
        self.room, self.taken = room, 0
        self._size = size
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()  # threads make values

    def get(self, key: Hashable) -> Value | None:
        """The value that was kept."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: Hashable, value: Value) -> Value:
        """Keep a value, as far as there is room."""
        with self._lock:
            if key not in self._values and self._size(value) <= self.room:
                self._values[key] = value
                self.taken += self._size(value)
            while self.taken > self.room:
                self.taken -= self._size(self._values.popitem(last=False)[1])
        return value


class KeptAnswers:
    """Bodies of answers by their entity tags. What several pages ask at once is made once. Used in the loop alone."""

    def __init__(self, room: int) -> None:
        self._bodies: KeptValues[bytes] = KeptValues(room, len)
        self._made: dict[str, asyncio.Future[bytes]] = {}

    async def body(self, tag: str, make: Callable[[], bytes]) -> bytes:
        """The body that a tag means, made in a thread where it is not kept."""
        body = self._bodies.get(tag)
        if body is not None:
            return body
        if tag not in self._made:
            self._made[tag] = asyncio.ensure_future(in_thread(make))
            self._made[tag].add_done_callback(lambda _: self._made.pop(tag))
        # Who asked first may go away: the others still wait for it.
        return self._bodies.put(tag, await asyncio.shield(self._made[tag]))
