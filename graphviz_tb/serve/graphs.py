"""The graphs of a source: the list, and the pages of recently viewed ones."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from graphviz_tb.model.joins import TagJoin, runs_of_graph
from graphviz_tb.model.sources import SourceEntry
from graphviz_tb.serve.answers import RefusedRequest
from graphviz_tb.serve.graph_rows import GraphRows, LogColouringCache, TagJoins
from graphviz_tb.serve.jobs import Job, NotLoaded, ServedPage
from graphviz_tb.serve.settings import Settings
from graphviz_tb.serve.work import entry_choices, join_tags_with_graph, list_entries, make_diff_page, make_graph_page

MAX_UNPACKED_PAGES = 2  # pages with unpacked rows in memory
MAX_GRAPH_JOBS = 2  # processes that load graphs at once
LoadState = Literal["listed", "reading", "ready", "failed", "cancelled"]
SendEvent = Callable[[str, Mapping[str, Any]], None]  # name and content of an event


@dataclass(slots=True)
class ListedGraph:
    """One graph of the source, or a `pair` to compare, and its loading state."""

    id: str
    entry: SourceEntry
    pair: tuple[SourceEntry, SourceEntry] | None = None
    state: LoadState = "listed"
    stage: str = ""
    done: int = 0
    total: int | None = None
    error: str = ""
    hint: str = ""
    version: int = 0  # grows whenever the graph is replaced
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    def graph_entry(self) -> dict[str, Any]:
        """Return the graph's entry for the viewer, as plain values."""
        entry = self.entry
        return {
            "id": self.id,
            "run": entry.run,
            "tag": entry.tag,
            "tagSet": entry.tag_set,
            "kind": entry.kind,
            "preferred": entry.preferred,
            "nodes": entry.nodes,
            "step": entry.step,
            "version": self.version,
            **self.progress_values(),
        }

    def progress_values(self) -> dict[str, Any]:
        """Return the loading state."""
        return {"state": self.state, "stage": self.stage, "done": self.done, "total": self.total,
                "error": self.error, "hint": self.hint}  # fmt: skip


class ServedGraphs:
    """All graphs of one source by their ids, which stay as long as the server runs; `tags` returns the names that were
    logged so far, `drawing` are the settings for reading and for the first picture."""

    def __init__(
        self,
        source: str,
        memory: int,
        send: SendEvent,
        drawing: Settings,
        tags: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self.source, self._memory, self._send, self._drawing, self._tags = source, memory, send, drawing, tags
        self.listed: dict[str, ListedGraph] = {}
        self.entries: tuple[SourceEntry, ...] = ()  # all entries of the source, traced steps too
        self._next = 0
        self.error: NotLoaded | None = None  # why graphs could not be listed
        self._pages: OrderedDict[str, ServedPage] = OrderedDict()  # the least recently used first
        self._rows: dict[str, GraphRows] = {}
        self._joined: dict[str, TagJoins] = {}
        self.colours = LogColouringCache()
        self._room = asyncio.Semaphore(MAX_GRAPH_JOBS)

    async def refresh(self, changed: Collection[str] | None = (), runs: Collection[str] | None = None) -> bool:
        """List the graphs of all or some `runs` again; return whether the list changed. Graphs of `changed` runs (None:
        all) are loaded again on their next request."""
        try:
            entries: tuple[SourceEntry, ...] = ()
            if runs is None or runs:
                entries = await Job(list_entries, self.source, runs).result(lambda *event: None)
            self.error = None
        except NotLoaded as error:
            entries, self.error = (), error
        self.entries = entries
        entries = tuple(entry for entry in entries if entry.kind != "profile")
        is_changed = False
        listed_by_key = {_entry_key(listed.entry): listed for listed in self.listed.values() if listed.pair is None}
        for entry in entries:
            listed = listed_by_key.get(_entry_key(entry))
            if listed is None:
                self.add_graph(ListedGraph(str(self._next), entry))
                self._next += 1
                is_changed = True
                continue
            before, listed.entry = listed.entry, entry
            if before != entry or changed is None or entry.run in changed:
                listed.version += 1
                self.forget_page(listed)
                is_changed = True
        for key in listed_by_key.keys() - set(map(_entry_key, entries)) if self.error is None else ():
            self.forget_page(self.listed.pop(listed_by_key[key].id))
            is_changed = True
        return is_changed

    def get(self, number: str) -> ListedGraph:
        """Return a graph by its id, or by two ids with a hyphen the diff of two graphs. Raises `RefusedRequest`."""
        if number in self.listed:
            return self.listed[number]
        old, _, new = number.partition("-")
        if old == new or old not in self.listed or new not in self.listed:
            raise RefusedRequest(404, f"no graph {number[:40]!r}", "/api/state lists them")
        pair = self.listed[old].entry, self.listed[new].entry
        return self.add_graph(ListedGraph(number, pair[1], pair))

    def start_loading(self, one: ListedGraph) -> None:
        """Load a graph, unless it is loaded or being loaded."""
        if one.state not in ("ready", "reading"):
            one.state, one.stage, one.done, one.total, one.error, one.hint = "reading", "wait", 0, None, "", ""
            one.task = asyncio.create_task(self.load_page(one))

    def cancel_loading(self, one: ListedGraph) -> None:
        if one.state == "reading" and one.task is not None:
            one.task.cancel()
            self.set_state(one, "cancelled")

    def ready_page(self, one: ListedGraph) -> ServedPage:
        """Return the page of a graph. Raises `RefusedRequest` if it is not ready; loading starts then."""
        found = self._pages.get(one.id)
        if found is not None:
            self._pages.move_to_end(one.id)
            return found
        if one.state == "failed":
            raise RefusedRequest(404, one.error, one.hint)
        if one.state == "cancelled":
            hint = f"POST /api/load/{one.id} loads it"
            raise RefusedRequest(404, "loading this graph was cancelled", hint, more={"cancelled": True})
        self.start_loading(one)
        hint = "ask again when /api/events says that it is ready"
        raise RefusedRequest(409, "this graph is still being read", hint, more=one.progress_values())

    def unpacked_rows(self, one: ListedGraph, page: ServedPage) -> GraphRows:
        """Return the unpacked rows of a page; those of the last few pages are cached."""
        found = self._rows.get(one.id)
        if found is None or found.page is not page:
            found = GraphRows(page)
            if len(self._rows) >= MAX_UNPACKED_PAGES:
                self._rows.clear()
            self._rows[one.id] = found
        return found

    async def joins_with_graph(self, one: ListedGraph) -> Mapping[str, TagJoin]:
        """Return the joins of log tags with a graph, waiting until it is loaded.

        Raises `RefusedRequest` if it cannot be.
        """
        if one.pair is not None:
            raise RefusedRequest(404, "tags belong to no comparison of graphs", "ask for the joins of one graph")
        while one.state in ("listed", "reading"):  # it may be listed again meanwhile
            self.start_loading(one)
            if one.task is not None:
                await asyncio.wait({one.task})  # a cancelled load is not an error of this request
        page = self.ready_page(one)
        found = self._joined.get(one.id)
        if found is None or found.page is not page:
            choices = entry_choices(one.entry)
            found = TagJoins(page, lambda tags: Job(join_tags_with_graph, self._drawing, choices, tags))
            self._joined[one.id] = found
        return await found.joins_of_tags(self._tags())

    def runs_of(self, one: ListedGraph, runs: Iterable[str]) -> list[str]:
        with_graphs = [entry.run for entry in self.entries if entry.kind != "profile"]
        return runs_of_graph(one.entry.run, with_graphs, runs)

    def close(self) -> None:
        """Stop all loading."""
        for listed_graph in self.listed.values():
            if listed_graph.task is not None:
                listed_graph.task.cancel()

    async def load_page(self, one: ListedGraph) -> None:
        def report(stage: str, done: int, total: int | None) -> None:
            one.stage, one.done, one.total = stage, done, total
            self._send("progress", {"graph": one.id, **one.progress_values()})

        async with self._room:
            version = one.version
            try:
                made: ServedPage = await self.page_job(one).result(report)
            except NotLoaded as error:
                one.error, one.hint = error.error, error.hint
                return self.set_state(one, "failed")
        if version == one.version:  # else the graph was replaced meanwhile
            self.keep_page(one, made)
        return None

    def page_job(self, one: ListedGraph) -> Job:
        if one.pair is not None:
            return Job(make_diff_page, self.source, *map(entry_choices, one.pair), self._drawing.view)
        traced = one.entry.profile or any(entry.profile and entry.run == one.entry.run for entry in self.entries)
        steps = {"step": "all"} if traced else {}
        choices = {**entry_choices(one.entry), **steps}
        return Job(make_graph_page, self._drawing, choices, tuple(self._tags()))

    def keep_page(self, one: ListedGraph, made: ServedPage) -> None:
        self._pages[one.id] = made
        while sum(map(len, self._pages.values())) > self._memory and len(self._pages) > 1:
            number, _ = self._pages.popitem(last=False)
            self._joined.pop(number, None)
            if number in self.listed:
                self.listed[number].state = "listed"
        self.set_state(one, "ready")

    def set_state(self, one: ListedGraph, state: LoadState) -> None:
        one.state, one.stage = state, ""
        self._send("progress", {"graph": one.id, **one.progress_values()})

    def forget_page(self, one: ListedGraph) -> None:
        self._pages.pop(one.id, None)
        self._joined.pop(one.id, None)
        if one.task is not None:
            one.task.cancel()
        one.state = "listed"

    def add_graph(self, one: ListedGraph) -> ListedGraph:
        self.listed[one.id] = one
        return one


def _entry_key(entry: SourceEntry) -> tuple[str | None, ...]:
    return entry.kind, entry.run, entry.tag, entry.tag_set
