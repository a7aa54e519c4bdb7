"""Servers for the tests: in this process, and as a program of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.serve.serving import Client, Program, settled
from tests.serve.writing import Writer, chain

ROOT = Path(__file__).parents[2]
PARTS = ("starlette", "uvicorn", "watchfiles")


@pytest.fixture(autouse=True)
def installed(require: Callable[..., None]) -> None:
    """Skip, loudly, where the server is not installed."""
    require(*PARTS)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two runs, the first of which has a graph: a ─▶ b ─▶ c."""
    train, test = Writer(tmp_path / "logs" / "train"), Writer(tmp_path / "logs" / "test")
    train.graph(chain("m/a", "m/b", "c"))
    for step in range(10):
        train.scalars(step, loss=1 / (step + 1), acc=step / 10)
        test.scalars(step, loss=2 / (step + 1))
    return tmp_path / "logs"


@pytest.fixture
def client() -> Iterator[Callable[..., Client]]:
    """`client(folder, **settings)`: a client of a server in this process that has read its source."""
    from graphviz_tb.serve.server import application
    from graphviz_tb.serve.settings import Settings

    with ExitStack() as stack:
        made_before: dict[Any, Client] = {}

        def make(folder: Path, **choices: Any) -> Client:
            settings = Settings(str(folder), **choices)
            if settings in made_before:
                return made_before[settings]
            made = stack.enter_context(Client(application(settings), settings.prefix))
            if not settings.token:
                settled(lambda: made.get("/api/state").json())
            made_before[settings] = made
            return made

        yield make


@pytest.fixture
def program() -> Iterator[Callable[..., Program]]:
    """`program("logs", "--port", "0")`: `tbgraph serve` as a program of its own, ended after the test."""
    with ExitStack() as stack:
        yield cache(lambda *words: stack.enter_context(running(*words)))


@contextmanager
def running(*words: str) -> Iterator[Program]:
    """A server that listens."""
    command = [sys.executable, "-m", "graphviz_tb", "serve", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        first = process.stdout.readline().strip()
        assert first.startswith("http://"), first + process.stderr.read()
        yield Program(process, first)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            begun = time.monotonic()
            while process.poll() is None and time.monotonic() - begun < 5:
                time.sleep(0.02)
            if process.poll() is None:
                process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
