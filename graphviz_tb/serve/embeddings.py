"""The embeddings of a served source: their ids, and the layouts computed for them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from graphviz_tb.errors import TbGraphError
from graphviz_tb.logs.embeddings import Projector
from graphviz_tb.logs.log import Log
from graphviz_tb.model.logs import Embedding, Projection
from graphviz_tb.page.embeddings import embedding_entry, notice_values
from graphviz_tb.project import (
    METHOD_NAMES,
    PROJECTION_METHODS,
    layout_points,
    missing_library,
    projection_of_positions,
)
from graphviz_tb.serve.answers import RefusedRequest
from graphviz_tb.serve.jobs import Job, NotLoaded, run_in_thread
from graphviz_tb.serve.work import lay_out_points

RELIST_SECONDS = 5.0  # least seconds between two listings of the files
EMBEDDING_RELIST_RATIO = 20  # least pause between two listings, as a multiple of the time that one takes
MAX_KEPT_LAYOUTS = 6  # layouts


@dataclass(frozen=True, slots=True)
class LayoutRequest:
    """A requested layout: embedding, method, number of axes; `near` is its perplexity or number of neighbours (None:
    the default)."""

    number: int
    method: str
    axes: int
    near: int | None


class LayoutWork:
    """One layout under way, or its result."""

    def __init__(self) -> None:
        self.done, self.total = 0, 0
        self.made: Projection | None = None
        self.error: tuple[str, str] | None = None
        self.stamp: tuple[int, ...] = ()
        self.job: Job | None = None
        self.task: asyncio.Task[None] | None = None
        self.cancelled = False

    @property
    def is_running(self) -> bool:
        """Return whether it is still being computed."""
        return self.made is None and self.error is None and not self.cancelled

    def cancel(self) -> None:
        """Stop the work in any state."""
        self.cancelled = self.is_running
        if self.job is not None and self.cancelled:
            self.job.stop()


class ServedEmbeddings:
    """The embeddings of a source. Used in the event loop of the server only, except for `projector`."""

    def __init__(self, source: Path) -> None:
        self.projector = Projector(source)
        self.listed: dict[int, Embedding] = {}
        self._ids: dict[tuple[str, str], int] = {}
        self._works: OrderedDict[LayoutRequest, LayoutWork] = OrderedDict()
        self._listed_at, self._took = -1e9, 0.0
        self.read_once = False

    async def refresh(self, log: Log | None, changed: bool) -> bool:
        """List the embeddings again unless that was done a moment ago; return whether the list changed."""
        self.projector.log = log
        wait = EMBEDDING_RELIST_RATIO * self._took
        if self.read_once and not changed:
            wait = max(RELIST_SECONDS, wait)
        if self.read_once and monotonic() - self._listed_at < wait:
            return False
        begun, before = monotonic(), self.listed
        try:
            found = (await run_in_thread(self.projector.refresh)).found
        except TbGraphError:  # the source is missing, or is not a folder
            found = ()
        self._listed_at, self._took = monotonic(), monotonic() - begun
        self.listed = {self._ids.setdefault(embedding.key, len(self._ids)): embedding for embedding in found}
        self.read_once = True
        return self.listed != before

    def get(self, number: int) -> Embedding:
        """Return an embedding by its id. Raises `RefusedRequest`."""
        if number not in self.listed:
            raise RefusedRequest(404, f"no embedding {number}", "/api/projector lists them")
        return self.listed[number]

    def variable_names(self) -> dict[int, str]:
        """Return the variable name of each embedding, by which it is joined with nodes."""
        return {number: embedding.variable_name for number, embedding in self.listed.items()}

    def embeddings_overview(self, run_id: Callable[[str], int | None]) -> dict[str, Any]:
        """Return the list of embeddings, and the available methods."""
        methods = [
            {"name": name, "title": METHOD_NAMES[name], "missing": missing_library(name)} for name in PROJECTION_METHODS
        ]
        return {
            "tensors": [embedding_entry(one, number, run_id(one.run)) for number, one in self.listed.items()],
            "methods": methods,
            "notices": notice_values(self.projector.embeddings.notices),
        }

    async def start_layout(self, asked: LayoutRequest) -> LayoutWork:
        """Start the layout of an embedding unless it is there already. Raises `RefusedRequest` while a different one is
        under way."""
        embedding = self.get(asked.number)
        stamp = await run_in_thread(self.projector.embedding_stamp, embedding)
        work = self._works.get(asked)
        if work is not None and work.stamp == stamp and (work.is_running or work.made is not None):
            return work
        if any(other.is_running for other in self._works.values()):
            raise RefusedRequest(429, "another layout is being worked out", "cancel it, or wait for it")
        work = self._works[asked] = LayoutWork()
        work.stamp = stamp
        while len(self._works) > MAX_KEPT_LAYOUTS:
            self._works.popitem(last=False)
        work.task = asyncio.create_task(self.run_layout(asked, embedding, work))
        return work

    async def run_layout(self, asked: LayoutRequest, embedding: Embedding, work: LayoutWork) -> None:
        method, axes, neighbours = asked.method, asked.axes, asked.near
        try:
            values = await run_in_thread(self.projector.values, embedding)
            rows = await run_in_thread(layout_points, values, method)
            if work.cancelled:
                return
            work.job = await run_in_thread(Job, lay_out_points, values[rows], method, axes, neighbours)

            def report(stage: str, done: int, total: int | None) -> None:
                work.done, work.total = done, total or 0

            positions = await work.job.result(report)
            if not work.cancelled:
                work.made = projection_of_positions(len(values), rows, method, axes, neighbours, positions)
        except NotLoaded as error:
            work.error = error.error, error.hint
        except TbGraphError as error:
            work.error = error.message, error.hint or ""

    def finished_layout(self, asked: LayoutRequest) -> LayoutWork:
        """Return a requested layout. Raises `RefusedRequest` if it was not requested, is not finished, or failed."""
        work = self._works.get(asked)
        if work is None or work.cancelled:
            raise RefusedRequest(
                409, "this layout was not asked for", "POST .../layout begins it", more={"state": "none"}
            )
        if work.error is not None:
            raise RefusedRequest(409, *work.error, more={"state": "failed"})
        if work.made is None:
            more = {"state": "working", "done": work.done, "total": work.total}
            raise RefusedRequest(409, "this layout is not done yet", "ask again", more=more)
        return work

    def cancel(self, number: int) -> None:
        """Stop the layouts of an embedding that are under way."""
        for asked, work in self._works.items():
            if asked.number == number:
                work.cancel()

    def close(self) -> None:
        """Stop all layouts."""
        for work in self._works.values():
            work.cancel()
