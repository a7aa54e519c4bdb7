"""Slow work outside of the event loop: daemon threads, and processes that load graphs."""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import sys
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

from graphviz_tb.errors import TbGraphError
from graphviz_tb.model.joins import TagJoin

# Run slow work in daemon threads, for which Control-C does not wait.

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


# Load a graph in a separate process: the server answers meanwhile, reports progress, and can stop it.
#
# A hostile file can only harm that process.

PROGRESS_SECONDS = 0.1  # seconds between two progress messages
TERMINATION_SECONDS = 1.0  # seconds to wait for a terminated process
ReportStage = Callable[[str, int, int | None], None]  # stage, bytes read so far, total bytes if known


@dataclass(frozen=True, slots=True)
class CompressedBlock:
    """A block of a page as sent, compressed with gzip."""

    name: str
    kind: str
    digest: str
    data: bytes = field(repr=False)

    @property
    def base64_text(self) -> str:
        """The block as text for a page in one file."""
        return b64encode(self.data).decode("ascii")


@dataclass(frozen=True, slots=True)
class ServedPage:
    """The page of one graph: the head, and blocks by name; and the joins of the tags logged when it was made."""

    head: Mapping[str, Any]
    blocks: Mapping[str, CompressedBlock]
    joins: tuple[TagJoin, ...] = ()

    def __len__(self) -> int:
        return sum(len(block.data) for block in self.blocks.values())


class NotLoaded(Exception):
    """A graph could not be loaded: the reason, and a hint."""

    def __init__(self, error: str, hint: str = "") -> None:
        super().__init__(error)
        self.error, self.hint = error, hint


class Job:
    """Work in a separate process: `function(report_stage, *arguments)` runs there."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        context = _worker_context()
        self._here, there = context.Pipe(duplex=False)
        self._process = context.Process(target=_run_job, args=(there, function, *arguments), daemon=True)
        self._process.start()
        there.close()

    async def result(self, report_stage: ReportStage) -> Any:
        """Wait for the result of the function; `report_stage` receives its progress. Raises `NotLoaded`."""
        try:
            while True:
                kind, value = await run_in_thread(self.next_message)
                if kind == "done":
                    return value
                if kind == "failed":
                    raise NotLoaded(*value)
                report_stage(*value)
        finally:
            self.stop()

    def next_message(self) -> tuple[str, Any]:
        """Return the next message of the process, or a failure if it has died."""
        try:
            found: tuple[str, Any] = self._here.recv()
            return found
        except (EOFError, OSError):
            self._process.join(TERMINATION_SECONDS)
            code = self._process.exitcode
            ended = f"signal {-code}" if code is not None and code < 0 else f"code {code}"
            return "failed", (f"the process that read it ended with {ended}", "it may need more memory than there is")

    def stop(self) -> None:
        """Terminate the process."""
        with suppress(ValueError):  # closed already
            self._process.terminate()


def _worker_context() -> Any:
    """Return the context that starts processes: forked from a server with preloaded modules where possible."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["graphviz_tb.page.build", "graphviz_tb.serve.work"])
    return context


def _run_job(connection: Connection, function: Callable[..., Any], *arguments: Any) -> None:
    """Run the work in the process and send its messages through the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Control-C is for the server, which ends this process
    sys.stdout = sys.stderr = None
    last = 0.0

    def report_stage(stage: str, done: int = 0, total: int | None = None) -> None:
        nonlocal last
        if not done or monotonic() - last > PROGRESS_SECONDS:
            last = monotonic()
            connection.send(("stage", (stage, done, total)))

    with suppress(BrokenPipeError):  # the server has ended
        try:
            connection.send(("done", function(report_stage, *arguments)))
        except TbGraphError as error:
            connection.send(("failed", (error.message, error.hint or "")))
        except MemoryError:
            connection.send(("failed", ("out of memory", "")))
        except BrokenPipeError:
            raise
        except Exception as error:
            connection.send(("failed", (f"unexpected {type(error).__name__}: {error}", "a fault of tbgraph")))
