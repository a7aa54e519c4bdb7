"""Run slow work in daemon threads: Control-C waits for none of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any, TypeVar

ThreadResult = TypeVar("ThreadResult")


async def run_in_thread(function: Callable[..., ThreadResult], *arguments: Any) -> ThreadResult:
    """Call a function in a separate thread and wait for it."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[ThreadResult] = loop.create_future()

    def settle(made: Any, error: BaseException | None) -> None:
        if result.done():  # the caller was cancelled
            return
        if error is None:
            result.set_result(made)
        else:
            result.set_exception(error)

    def work() -> None:
        try:
            made, failed = function(*arguments), None
        except BaseException as error:
            made, failed = None, error
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(settle, made, failed)

    Thread(target=work, daemon=True).start()
    return await result
