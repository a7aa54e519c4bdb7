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
    """Values of `room` bytes together, one for each key; those that were asked for least recently go first.

    A `stamp` is all that a value depends on that changes with time: a value of another stamp is outdated.
    """

    def __init__(self, room: int, size: Callable[[Value], int]) -> None:
        self.room, self.taken = room, 0
        self._size = size
        self._values: OrderedDict[Hashable, tuple[Hashable, Value]] = OrderedDict()
        self._lock = Lock()  # threads make values

    def get(self, key: Hashable, stamp: Hashable) -> Value | None:
        """The value that was kept."""
        with self._lock:
            kept = self._values.get(key)
            if kept is None or kept[0] != stamp:
                return None
            self._values.move_to_end(key)
            return kept[1]

    def put(self, key: Hashable, stamp: Hashable, value: Value) -> Value:
        """Keep a value, as far as there is room."""
        with self._lock:
            if key in self._values:
                self.taken -= self._size(self._values.pop(key)[1])
            if self._size(value) <= self.room:
                self._values[key] = stamp, value
                self.taken += self._size(value)
            while self.taken > self.room:
                self.taken -= self._size(self._values.popitem(last=False)[1][1])
        return value


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
