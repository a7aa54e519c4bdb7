"""The state of a server: the log as last read, the graphs, and their ids in addresses; and changes of its files.

Ids are assigned in the order in which things appear, and stay valid while the server runs. Names of the log are only in
bodies, never in an address.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from threading import Lock
from time import monotonic
from typing import Any

import watchfiles
from numpy.typing import NDArray

from graphviz_tb.caches import BoundedCache
from graphviz_tb.errors import TbGraphError
from graphviz_tb.events.log_reader import LogReader
from graphviz_tb.logs.log import Log
from graphviz_tb.model.logs import FileRange, LogChanges, LogContents, Run, RunTag, Series
from graphviz_tb.page.blocks import strict_json
from graphviz_tb.page.log import log_state, name_of_source, notice_entry, series_extent, tag_entries
from graphviz_tb.serve.answers import AnswerCache, RefusedRequest
from graphviz_tb.serve.embeddings import ServedEmbeddings
from graphviz_tb.serve.graphs import ServedGraphs
from graphviz_tb.serve.jobs import run_in_thread
from graphviz_tb.serve.profiles import GraphFileStamps, ServedProfiles, graph_file_stamps
from graphviz_tb.serve.settings import Settings
from graphviz_tb.sources.remote import mirror_at

GRAPH_RELIST_RATIO = 2.0  # least pause between two listings of the graphs, as a multiple of the time that one takes
GONE_RUN_SECONDS = 10.0  # seconds for which a run is shown after its files are deleted
GRAPH_MEMORY_DIVISOR = 4  # a quarter of the memory is for graphs
ANSWER_MEMORY_DIVISOR = 16  # a sixteenth for cached answers, and a sixteenth for drawn columns of series
MAX_ANSWER_CACHE_BYTES = 16_000_000  # most bytes of either cache

MAX_BLOB_IDS = 200_000  # ids of images and sounds that are valid at once

DrawnColumns = tuple[tuple[str, NDArray[Any]], ...]  # the drawn points of a series: columns by name


def _drawn_bytes(drawn: DrawnColumns) -> int:
    return sum(column.nbytes for _, column in drawn)


class ServedSource:
    """One source and its state. Everything except `read` and `with_columns` is called in the event loop of the
    server."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.source = Path(settings.source)
        self.mirror = mirror_at(settings.source)  # if the source is a copy of a remote one
        self.title = settings.title if settings.title is not None else name_of_source(self.source)
        self.start = token_hex(4)  # different for each start, since ids of an earlier server are not valid here
        self.events = ServerEvents(self.start)
        graph_memory = settings.memory // GRAPH_MEMORY_DIVISOR
        self.graphs = ServedGraphs(settings.source, graph_memory, self.events.send_event, settings, self.joined_names)
        answer_memory = min(MAX_ANSWER_CACHE_BYTES, settings.memory // ANSWER_MEMORY_DIVISOR)
        self.answer_cache = AnswerCache(answer_memory)
        self.drawn_columns: BoundedCache[DrawnColumns] = BoundedCache(answer_memory, _drawn_bytes)
        self.room = settings.memory - graph_memory - 2 * answer_memory  # for series, in bytes
        self._extents: dict[RunTag, tuple[tuple[int, int], list[Any]]] = {}
        self.logged = LogContents((), ())
        self.fault: tuple[str, str] | None = None  # why the log cannot be read, and a hint
        self.read_once = False
        self.log: Log | None = None  # None until there is a log
        self.embeddings = ServedEmbeddings(self.source)
        self.profiles = ServedProfiles(settings.source, graph_memory)
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None  # of the server, when it runs
        self._stamp: tuple[int, int] | None = None
        self._graph_files: GraphFileStamps = {}
        self._runs: dict[str, int] = {}
        self._series: dict[RunTag, int] = {}
        self._tags: dict[RunTag, int] = {}  # by name and kind: the kind of a tag may differ between runs
        self._by_id: dict[int, Series] = {}
        self._blobs: dict[int, tuple[str, FileRange]] = {}
        self._blob_ids: dict[tuple[str, FileRange], int] = {}
        self._next_blob = 0
        self._dropped = 0  # series without columns
        self._gone: dict[str, tuple[float, Run]] = {}  # time of deletion, and the last state
        self._listed_at = self._listing_took = 0.0
        self._graphs_wanted = True
        self._graphs_changed: set[str] = set()  # runs
        self._all_changed = False
        self._listing: asyncio.Task[None] | None = None
        self.graphs_listed = False

    @property
    def generation(self) -> str:
        """Return the generation, which changes with every change of any answer."""
        return self.events.generation

    @property
    def is_lost(self) -> bool:
        """Return whether the log was there and can no longer be read."""
        return self.log is not None and self.fault is not None

    # reading

    async def refresh(self) -> bool:
        """Read the new data since the last time and announce it; return whether there was any."""
        self._loop = asyncio.get_running_loop()
        before, fault, changes = self.logged, self.fault, LogChanges()
        try:
            changes = await run_in_thread(self.read_log)
            self.fault = None
        except TbGraphError as error:
            self.fault = (error.message, error.hint or "")
        if self.fault != fault:
            self.events.next_generation()
            self.events.send_event(
                "notice", {"code": "unread", "text": self.fault[0] if self.fault else "", "count": 1}
            )
        self.read_once = True
        self.assign_ids()
        if self.forget_gone_runs() or changes:
            self.announce_changes(changes, before)
        if await self.embeddings.refresh(self.log, bool(changes)):
            self.events.next_generation()
            self.events.send_event("run", {"runs": []})
        grown_series = (self._by_id[self._series[key]] for key in changes.points if key in self._series)
        self._graphs_changed.update(changes.graphs, (series.run for series in grown_series if series.kind == "graph"))
        self._graphs_wanted |= bool(self._graphs_changed) or bool(changes.gone) or self.is_graph_file_replaced()
        before_files, self._graph_files = self._graph_files, await run_in_thread(graph_file_stamps, self.source)
        self._graphs_wanted |= self._graph_files != before_files
        if self._listing is None or self._listing.done():
            self._listing = asyncio.create_task(self.list_graphs_again())
        return bool(changes)

    def read_log(self) -> LogChanges:
        with self._lock:  # the reader is stateful, and requests may read dropped columns meanwhile
            if self.mirror is not None:
                self.mirror.refresh()
            if self.log is not None:
                return self.log.refresh()
            settings = self.settings
            self.log = Log(
                LogReader(self.source, settings.restarts, checksum=settings.checksum, room=max(1, self.room))
            )
            runs, points = self.log.logged.runs, {(one.run, one.tag): len(one) for one in self.log.logged.series}
            graphs = tuple(self.runs_with_graphs(self.log.logged))
            return LogChanges(1, tuple(run.name for run in runs), graphs=graphs, points=points)

    def runs_with_graphs(self, logged: LogContents) -> set[str]:
        """Return the runs with a graph of their own or one logged as a summary (Keras layers, traced functions)."""
        own = {run.name for run in logged.runs if run.graphs}
        return own | {series.run for series in logged.series if series.kind == "graph"}

    def is_graph_file_replaced(self) -> bool:
        """Return whether the source is the file of a graph and was replaced since the last call."""
        stamp = None
        with suppress(OSError):
            if self.log is None and self.source.is_file():
                status = self.source.stat()
                stamp = status.st_mtime_ns, status.st_size
        replaced, self._stamp = self._stamp is not None and stamp != self._stamp, stamp
        self._all_changed |= replaced
        return replaced

    async def list_graphs_again(self) -> None:
        """List the graphs again if they may have changed, with pauses so that a large log is not read all the time."""
        if not self._graphs_wanted:
            return
        await asyncio.sleep(max(0.0, self._listed_at + GRAPH_RELIST_RATIO * self._listing_took - monotonic()))
        changed, begun = None if self._all_changed else {*self._graphs_changed}, monotonic()
        self._graphs_wanted = self._all_changed = False
        self._graphs_changed.clear()
        # Do not read runs without a graph again.
        runs = None if self.log is None else self.runs_with_graphs(self.logged) | self._graph_files.keys()
        is_changed = await self.graphs.refresh(changed, runs)
        is_changed |= self.profiles.update_entries(self.graphs.entries)
        self._listed_at, self._listing_took = monotonic(), monotonic() - begun
        is_first, self.graphs_listed = not self.graphs_listed, True
        if is_changed or is_first:
            self.events.next_generation()
            self.events.send_event("graph", {"graphs": [graph.graph_entry() for graph in self.graphs.listed.values()]})

    def assign_ids(self) -> None:
        if self.log is None or self.log.logged is self.logged:
            return
        self.logged = self.log.logged
        self._dropped = sum(series.dropped is not None for series in self.logged.series)
        for run in self.logged.runs:
            self._runs.setdefault(run.name, len(self._runs))
            self._gone.pop(run.name, None)
        for series in self.logged.series:
            self._tags.setdefault((series.tag, series.kind), len(self._tags))
            self._by_id[self._series.setdefault((series.run, series.tag), len(self._series))] = series

    def announce_changes(self, changes: LogChanges, before: LogContents) -> None:
        self.events.next_generation()
        for run in before.runs:
            if run.name in changes.gone:
                self._gone[run.name] = monotonic(), run
        if changes.runs:
            self.events.send_event("run", {"runs": [self._runs[name] for name in changes.runs]})
        if changes.points or changes.again:
            again = [self._series[key] for key in changes.again if key in self._series]
            ids = [self._series[key] for key in (*changes.points, *changes.again) if key in self._series]
            counts = {number: len(self._by_id[number]) for number in ids if number in self._by_id}
            self.events.send_event("points", {"series": counts, "again": again})
        if changes.gone:
            self.events.send_event("gone", {"runs": [self._runs[name] for name in changes.gone if name in self._runs]})
        for notice in changes.notices:
            self.events.send_event("notice", notice_entry(notice))

    def forget_gone_runs(self) -> bool:
        """Forget runs whose files have been missing for a while."""
        late = [name for name, (since, _) in self._gone.items() if monotonic() - since > GONE_RUN_SECONDS]
        for name in late:
            del self._gone[name]
        if late:
            self._by_id = {number: series for number, series in self._by_id.items() if series.run not in late}
            self._extents = {key: known for key, known in self._extents.items() if key[0] not in late}
        return bool(late)

    # contents

    def numbered_runs(self, logged: LogContents, gone: Mapping[str, tuple[float, Run]]) -> Iterator[tuple[int, Run]]:
        """Yield every run with its id; runs whose files are missing stay for a while."""
        for run in logged.runs:
            yield self._runs[run.name], run
        for _, run in gone.values():
            yield self._runs[run.name], replace(run, state="gone")

    def run_id(self, name: str) -> int:
        return self._runs[name]

    def run_id_or_none(self, name: str) -> int | None:
        """Return the id of a run; None for a folder that is not a run."""
        return self._runs.get(name)

    def tag_id(self, series: Series) -> int:
        """Return the id of the tag of a series, shared by all series of its name and kind."""
        return self._tags[series.tag, series.kind]

    def tag_names(self) -> dict[int, str]:
        """Return the name of each tag that can be joined with nodes, by id."""
        return {number: tag for (tag, kind), number in self._tags.items() if kind != "graph"}

    def joined_names(self) -> dict[str, None]:
        """Return the names that can be joined with nodes: tags, and variables of embeddings."""
        return dict.fromkeys((*self.tag_names().values(), *self.embeddings.variable_names().values()))

    def series_of_id(self, number: int) -> Series:
        """Return a series by its id, without its columns if they were dropped. Raises `RefusedRequest`."""
        found = self._by_id.get(number)
        if found is None:
            raise RefusedRequest(404, f"no series {number}", "/api/tags lists them")
        return found

    def with_columns(self, series: Sequence[Series]) -> list[Series]:
        """Return series with their columns, reading dropped ones again. Called in a thread.

        Raises `ReadError` if a file is missing or was replaced.
        """
        if self.log is None:
            return list(series)
        self.log.mark_used(series)
        if all(one_series.dropped is None for one_series in series):
            return list(series)
        with self._lock:
            found = self.log.read_again(series)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.assign_ids)  # forget the columns dropped to make room for these
        return found

    def read(self, run: str, place: FileRange) -> bytes:
        """Read the bytes of a place of a run from its file. Raises `ReadError` if it is missing or was truncated."""
        if self.log is None:
            raise RefusedRequest(404, "the log is gone")
        return self.log.read(run, place)

    def blob_id(self, run: str, place: FileRange) -> int:
        """Return the id of bytes on disk; the oldest ids are forgotten when there are too many."""
        number = self._blob_ids.setdefault((run, place), self._next_blob)
        if number == self._next_blob:
            self._blobs[number] = run, place
            self._next_blob += 1
            if len(self._blobs) > MAX_BLOB_IDS:
                del self._blob_ids[self._blobs.pop(next(iter(self._blobs)))]
        return number

    def place_of_blob(self, number: int) -> tuple[str, FileRange] | None:
        """Return the run and the place of an id."""
        return self._blobs.get(number)

    def state_answer(self) -> tuple[str, Callable[[], dict[str, Any]]]:
        """Return the first answer to the viewer: a tag of everything that it depends on, and a function for any thread
        that makes it."""
        listed = [listed_graph for listed_graph in self.graphs.listed.values() if listed_graph.pair is None]
        common = {
            "title": self.title,
            "generation": self.generation,
            "ready": self.read_once and self.embeddings.read_once and self.graphs_listed,
            "dropped": self._dropped,
            "graphs": [listed_graph.graph_entry() for listed_graph in listed],
            "notices": [*self.fault_notices(), *map(notice_entry, self.logged.notices)],
        }
        logged, gone, embedding_count = self.logged, dict(self._gone), len(self.embeddings.listed)
        profile_count, is_lost = len(self.profiles.listed), self.is_lost

        def make() -> dict[str, Any]:
            graphs: dict[str | None, list[str]] = {}
            for listed_graph in listed:
                graphs.setdefault(listed_graph.entry.run, []).append(listed_graph.id)
            state = log_state(self.numbered_runs(logged, gone), logged.series)
            for entry in state["runs"]:
                entry["graphs"] = graphs.get(entry["name"], [])
                entry["state"] = "gone" if is_lost else entry["state"]
            state["kinds"].update({"projector": embedding_count} if embedding_count else {})
            state["kinds"].update({"profile": profile_count} if profile_count else {})
            return {**state, **common}

        return f"state {embedding_count} {profile_count} {common}", make

    def tags_answer(self, kind: str | None) -> tuple[str, Callable[[], dict[str, Any]]]:
        """Return the answer with all tags, of one kind or of all, and the series of each run: a tag of everything that
        it depends on, and a function that makes it."""
        generation, logged = self.generation, self.logged

        def make() -> dict[str, Any]:
            every = (series for series in logged.series if kind in (None, series.kind))
            tags = tag_entries(
                every,
                lambda series: self._tags[series.tag, series.kind],
                self._runs.__getitem__,
                lambda series: self._series[series.run, series.tag],
                self.known_extent,
            )
            return {"generation": generation, "tags": tags}

        return f"tags {generation} {kind}", make

    def known_extent(self, series: Series) -> list[Any]:
        """Return the extent of a series, counted once."""
        found = self._extents.get((series.run, series.tag))
        now = series.generation, len(series)
        if found is None or found[0] != now:
            found = self._extents[series.run, series.tag] = now, series_extent(series)
        return found[1]

    def fault_notices(self) -> Iterator[Mapping[str, Any]]:
        if self.fault is not None and (self.is_lost or not (self.graphs.listed or self.embeddings.listed)):
            yield {"code": "unread", "text": self.fault[0], "count": 1}
        if self.graphs.error is not None and not self.logged.series:
            yield {"code": "no-graph", "text": self.graphs.error.error, "count": 1}

    def close(self) -> None:
        """Stop all activity."""
        self.events.close()
        self.graphs.close()
        self.embeddings.close()
        self.profiles.close()
        if self._listing is not None:
            self._listing.cancel()


# Follow the files: by file system events, and by polling where there are none (NFS, FUSE, shares).

# Changes within this time are one event; interval of checks.
CHANGE_DEBOUNCE_MS, CHANGE_CHECK_MS = 200, 50
MAX_POLL_SECONDS = 30.0  # longest pause in seconds while nothing changes
READ_PAUSE_SECONDS = 0.3  # seconds between two readings: about three events a second at most


@asynccontextmanager
async def watch_source(session: ServedSource) -> AsyncIterator[None]:
    """Read the source, and keep reading as it grows, while the block runs."""
    changed, stop = asyncio.Event(), asyncio.Event()
    tasks = [
        asyncio.create_task(_read_repeatedly(session, changed)),
        asyncio.create_task(_listen_for_changes(session, changed, stop)),
    ]
    try:
        yield
    finally:
        stop.set()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=0.5)


async def _listen_for_changes(session: ServedSource, changed: asyncio.Event, stop: asyncio.Event) -> None:
    """Set `changed` whenever the file system reports a change below the source."""
    # On failure (too many folders, a deleted folder), polling must suffice.
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


async def _read_repeatedly(session: ServedSource, changed: asyncio.Event) -> None:
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


# Server-sent events to every open page, in order; a page that was disconnected catches up.

MAX_STREAMS = 32
MAX_PAST_EVENTS = 1000  # a page that missed more events requests everything again
KEEP_ALIVE_SECONDS = 15.0  # seconds between two comments that keep a silent connection open
RETRY_MS = 1000  # milliseconds after which a browser connects again
TRANSIENT_EVENTS = {"progress"}  # events that are not kept for reconnecting pages

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
