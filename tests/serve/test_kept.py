"""Answers that many pages ask are made once, and no more of them is kept than there is room for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb.caches import BoundedCache
from graphviz_tb.serve.answers import AnswerCache
from tests.serve.test_answers import ids_of
from tests.serve.writing import Writer


def test_the_least_recently_asked_goes_first() -> None:
    kept: BoundedCache[bytes] = BoundedCache(10, len)
    for name in "ab":
        kept.store(name, 1, bytes(5))
    assert kept.get("a", 1) == bytes(5)
    kept.store("c", 1, bytes(4))
    assert tuple(kept.get(name, 1) for name in "abc") == (bytes(5), None, bytes(4))
    kept.store("d", 1, bytes(11))  # larger than all room
    assert (kept.get("d", 1), kept.taken) == (None, 9)


def test_what_is_outdated_is_forgotten() -> None:
    kept: BoundedCache[bytes] = BoundedCache(10, len)
    kept.store("a", 1, bytes(5))
    assert kept.get("a", 2) is None
    kept.store("a", 2, bytes(6))
    assert (kept.get("a", 1), kept.get("a", 2), kept.taken) == (None, bytes(6), 6)


def test_what_several_ask_at_once_is_made_once() -> None:
    made = []

    def make() -> bytes:
        made.append(1)
        return b"x"

    async def ask() -> list[bytes]:
        kept = AnswerCache(10)
        first = asyncio.create_task(kept.cached_body("asked", "tag", make))
        others = [kept.cached_body("asked", "tag", make) for _ in range(5)]
        await asyncio.sleep(0)
        first.cancel()  # who asked first goes away
        return await asyncio.gather(*others)

    assert asyncio.run(ask()) == [b"x"] * 5
    assert len(made) == 1


def test_a_fault_is_told_to_all_and_not_kept() -> None:
    async def ask() -> bytes:
        kept = AnswerCache(10)
        with pytest.raises(ZeroDivisionError):
            await kept.cached_body("asked", "tag", lambda: bytes([1 // 0]))
        return await kept.cached_body("asked", "tag", lambda: b"y")

    assert asyncio.run(ask()) == b"y"


def test_a_large_answer_comes_whole(client: Callable[..., Any], tmp_path: Path) -> None:
    """Sent in pieces; asked again it is the same, and after a new point another."""
    writer = Writer(tmp_path / "run")
    for step in range(10):
        writer.scalars(step, **{f"t{tag:03}": float(step) for tag in range(200)})
    asked = client(tmp_path)
    numbers = ",".join(str(ids_of(asked, f"t{tag:03}")["run"]) for tag in range(200))
    first, again = (asked.get(f"/api/series/{numbers}?px=100") for _ in range(2))
    assert first.content == again.content
    assert int(first.headers["content-length"]) == len(first.content)


def test_what_there_is_no_room_for_is_read_again(client: Callable[..., Any], tmp_path: Path) -> None:
    """A server with hardly any memory answers what one with plenty does, and holds next to nothing."""
    for run in range(4):
        writer = Writer(tmp_path / f"run{run}")
        for step in range(300):
            writer.scalars(step, **{f"tag{tag}": float(step * tag + run) for tag in range(4)})
    little, plenty = client(tmp_path, memory=40_000), client(tmp_path)
    sources = {one: one._app._app.state.session for one in (little, plenty)}
    wholly = [sum(series.step.nbytes for series in source.logged.series) for source in sources.values()]
    assert wholly[1] == 4 * 4 * 300 * 8
    assert wholly[0] <= sources[little].room
    assert little.get("/api/state").json()["dropped"] > 8
    assert little.get("/api/tags").json()["tags"] == plenty.get("/api/tags").json()["tags"]
    for path in (*(f"/api/series/{number}?smooth=0.5" for number in range(16)), "/api/steps/3,12", "/api/export"):
        assert little.get(path).content == plenty.get(path).content
        held = sum(series.step.nbytes for series in sources[little].logged.series)
        assert path == "/api/export" or held <= sources[little].room
