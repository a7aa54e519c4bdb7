"""Server-sent events to every open page, in order; a page that was disconnected catches up."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Any

from graphviz_tb.page.blocks import strict_json
from graphviz_tb.serve.answers import RefusedRequest

MAX_STREAMS = 32
MAX_PAST_EVENTS = 1000  # events: a page that missed more asks for everything again
KEEP_ALIVE_SECONDS = 15.0  # seconds between two comments that keep a silent connection open
RETRY_MS = 1000  # milliseconds after which a browser connects again
TRANSIENT_EVENTS = {"progress"}  # progress events, which are not kept

SentEvent = tuple[int, str, bytes]  # its number, its name, its data


class ServerEvents:
    """All events of a server. `generation` is START-NUMBER: a page with a different start begins again."""

    def __init__(self, start: str) -> None:
        self._start, self._number = start, 0
        self._past: deque[SentEvent] = deque(maxlen=MAX_PAST_EVENTS)
        self._queues: set[asyncio.Queue[SentEvent | None]] = set()

    @property
    def generation(self) -> str:
        """Return the generation of all answers now."""
        return f"{self._start}-{self._number}"

    def next_generation(self) -> None:
        """Note a change: answers may differ from now on."""
        self._number += 1

    def send_event(self, name: str, value: Mapping[str, Any]) -> None:
        """Send an event to every page."""
        event = self._number, name, strict_json({"generation": self.generation, **value})
        if name not in TRANSIENT_EVENTS:
            self._past.append(event)
        for queue in self._queues:
            if queue.qsize() < MAX_PAST_EVENTS:
                queue.put_nowait(event)

    def stream(self, last: str | None) -> AsyncIterator[bytes]:
        """Return the events since the generation `last`, and all that follow. Raises `RefusedRequest` if too many pages
        listen."""
        if len(self._queues) >= MAX_STREAMS:
            raise RefusedRequest(
                429, f"{MAX_STREAMS} pages listen already", "close some of them", {"retry-after": "10"}
            )
        queue: asyncio.Queue[SentEvent | None] = asyncio.Queue()
        self._queues.add(queue)
        return self.event_chunks(queue, self.missed_events(last))

    def close(self) -> None:
        """End every stream."""
        for queue in self._queues:
            queue.put_nowait(None)

    def missed_events(self, last: str | None) -> list[SentEvent]:
        """Return the events since the generation `last`, after a `hello` with the current one."""
        start, _, number = (last or "").partition("-")
        hello = self._number, "hello", strict_json({"generation": self.generation})
        whole = len(self._past) < MAX_PAST_EVENTS or (number.isdigit() and int(number) >= self._past[0][0])
        if start != self._start or not number.isdigit() or not whole:
            return [hello]
        return [hello, *(event for event in self._past if event[0] > int(number))]

    async def event_chunks(
        self, queue: asyncio.Queue[SentEvent | None], missed: list[SentEvent]
    ) -> AsyncIterator[bytes]:
        try:
            yield b"retry: %d\n\n" % RETRY_MS
            for event in missed:
                yield self.encode_event(event)
            while True:
                try:
                    event_or_end = await asyncio.wait_for(queue.get(), KEEP_ALIVE_SECONDS)
                except TimeoutError:
                    yield b": alive\n\n"
                    continue
                if event_or_end is None:
                    return
                yield self.encode_event(event_or_end)
        finally:
            self._queues.discard(queue)

    def encode_event(self, event: SentEvent) -> bytes:
        number, name, data = event
        return b"id: %s-%d\nevent: %s\ndata: %s\n\n" % (self._start.encode(), number, name.encode(), data)
