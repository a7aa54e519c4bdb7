"""Follow the files: by file system events, and by polling where there are none (NFS, FUSE, shares)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import watchfiles

from graphviz_tb.serve.session import ServedSource

# milliseconds: changes within the first are one event; the second is the interval of checks
CHANGE_DEBOUNCE_MS, CHANGE_CHECK_MS = 200, 50
MAX_POLL_SECONDS = 30.0  # longest pause in seconds while nothing changes
READ_PAUSE_SECONDS = 0.3  # seconds between two readings: about three events a second at most


@asynccontextmanager
async def watch_source(session: ServedSource) -> AsyncIterator[None]:
    """Read the source, and keep reading as it grows, while the block runs."""
    changed, stop = asyncio.Event(), asyncio.Event()
    tasks = [
        asyncio.create_task(read_repeatedly(session, changed)),
        asyncio.create_task(listen_for_changes(session, changed, stop)),
    ]
    try:
        yield
    finally:
        stop.set()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=0.5)


async def listen_for_changes(session: ServedSource, changed: asyncio.Event, stop: asyncio.Event) -> None:
    """Set `changed` whenever the file system reports a change below the source."""
    # If it cannot (too many folders, a deleted folder), polling must do.
    with suppress(OSError, RuntimeError):
        watched = watchfiles.awatch(
            session.source,
            watch_filter=None,
            debounce=CHANGE_DEBOUNCE_MS,
            step=CHANGE_CHECK_MS,
            stop_event=stop,
            ignore_permission_denied=True,
        )
        async for _ in watched:
            changed.set()


async def read_repeatedly(session: ServedSource, changed: asyncio.Event) -> None:
    """Read now, after each change, and from time to time: the pause doubles while nothing is found."""
    wait = session.settings.poll
    while True:
        found = await session.refresh()
        wait = session.settings.poll if found else min(MAX_POLL_SECONDS, 2 * wait)
        with suppress(TimeoutError):
            await asyncio.wait_for(changed.wait(), wait)
            wait = session.settings.poll
        changed.clear()
        await asyncio.sleep(READ_PAUSE_SECONDS)
