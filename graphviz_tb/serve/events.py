"""Server-sent events to every open page, in order; a page that was disconnected catches up."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Any

from graphviz_tb.page.columns import dumped
from graphviz_tb.serve.answers import Refused

MOST_STREAMS = 32
REMEMBERED = 1000  # events: a page that missed more asks for everything again
ALIVE = 15.0  # seconds between two comments that keep a silent connection open
RETRY = 1000  # milliseconds after which a browser connects again
LOUD = {"progress"}  # progress events, which are not kept

SentEvent = tuple[int, str, bytes]  # its number, its name, its data


class Events:
    """All events of a server. `generation` is START-NUMBER: a page with a different start begins again."""

    def __init__(self, start: str) -> None:
        self._start, self._number = start, 0
        self._past: deque[SentEvent] = deque(maxlen=REMEMBERED)
        self._queues: set[asyncio.Queue[SentEvent | None]] = set()

    @property
    def generation(self) -> str:
        """Return the generation of all answers now."""
        return f"{self._start}-{self._number}"

    def next_generation(self) -> None:
        """Note a change: answers may differ from now on."""
        self._number += 1

    def say(self, name: str, value: Mapping[str, Any]) -> None:
        """Send an event to every page."""
        event = self._number, name, dumped({"generation": self.generation, **value})
        if name not in LOUD:
            self._past.append(event)
        for queue in self._queues:
            if queue.qsize() < REMEMBERED:
                queue.put_nowait(event)

    def stream(self, last: str | None) -> AsyncIterator[bytes]:
        """Return the events since the generation `last`, and all that follow. Raises `Refused` if too many pages
        listen."""
        if len(self._queues) >= MOST_STREAMS:
            raise Refused(429, f"{MOST_STREAMS} pages listen already", "close some of them", {"retry-after": "10"})
        queue: asyncio.Queue[SentEvent | None] = asyncio.Queue()
        self._queues.add(queue)
        return self._told(queue, self._missed(last))

    def close(self) -> None:
        """End every stream."""
        for queue in self._queues:
            queue.put_nowait(None)

    def _missed(self, last: str | None) -> list[SentEvent]:
        """Return the events since the generation `last`, after a `hello` with the current one."""
        start, _, number = (last or "").partition("-")
        hello = self._number, "hello", dumped({"generation": self.generation})
        whole = len(self._past) < REMEMBERED or (number.isdigit() and int(number) >= self._past[0][0])
        if start != self._start or not number.isdigit() or not whole:
            return [hello]
        return [hello, *(event for event in self._past if event[0] > int(number))]

    async def _told(self, queue: asyncio.Queue[SentEvent | None], missed: list[SentEvent]) -> AsyncIterator[bytes]:
        try:
            yield b"retry: %d\n\n" % RETRY
            for event in missed:
                yield self._written(event)
            while True:
                try:
                    event_or_end = await asyncio.wait_for(queue.get(), ALIVE)
                except TimeoutError:
                    yield b": alive\n\n"
                    continue
                if event_or_end is None:
                    return
                yield self._written(event_or_end)
        finally:
            self._queues.discard(queue)

    def _written(self, event: SentEvent) -> bytes:
        number, name, data = event
        return b"id: %s-%d\nevent: %s\ndata: %s\n\n" % (self._start.encode(), number, name.encode(), data)
