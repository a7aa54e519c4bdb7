"""Follow the files: by events of the file system, and by polling where it has none (NFS, FUSE, shares)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import watchfiles

from graphviz_tb.serve.session import ServedSource

TOGETHER, STEP = 200, 50  # milliseconds in which changes are one, and between two looks at whether they are
SLOWEST = 30.0  # seconds between two looks where nothing changes
PAUSE = 0.3  # seconds between two readings: at most some three events a second


@asynccontextmanager
async def watching(session: ServedSource) -> AsyncIterator[None]:
    """Read the source, and go on reading it as it grows, as long as the block runs."""
    changed, stop = asyncio.Event(), asyncio.Event()
    tasks = [asyncio.create_task(read(session, changed)), asyncio.create_task(listen(session, changed, stop))]
    try:
        yield
    finally:
        stop.set()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=0.5)


async def listen(session: ServedSource, changed: asyncio.Event, stop: asyncio.Event) -> None:
    """Set `changed` whenever the file system says that something below the source changed."""
    # Where it cannot say so (too many folders, no such folder any more), looking has to do.
    with suppress(OSError, RuntimeError):
        watched = watchfiles.awatch(
            session.source,
            watch_filter=None,
            debounce=TOGETHER,
            step=STEP,
            stop_event=stop,
            ignore_permission_denied=True,
        )
        async for _ in watched:
            changed.set()


async def read(session: ServedSource, changed: asyncio.Event) -> None:
    """Read at once, when something changed, and now and then: twice as seldom each time nothing was found."""
    wait = session.settings.poll
    while True:
        found = await session.refresh()
        wait = session.settings.poll if found else min(SLOWEST, 2 * wait)
        with suppress(TimeoutError):
            await asyncio.wait_for(changed.wait(), wait)
            wait = session.settings.poll
        changed.clear()
        await asyncio.sleep(PAUSE)
