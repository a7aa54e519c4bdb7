"""The state of a server: the log as it was last read, the graphs, and their ids in addresses.

Ids are given in the order in which things are first seen, and mean the same as long as the server runs. Names of the
log are in bodies only, never in an address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from threading import Lock
from time import monotonic
from typing import Any

from numpy.typing import NDArray

from graphviz_tb.errors import TbGraphError
from graphviz_tb.log import Log
from graphviz_tb.model.later import KeptValues
from graphviz_tb.model.logged import LogChanges, Logged, Place, Run, RunTag, Series
from graphviz_tb.page.logged import extent, log_state, named, notice_entry, tag_entries
from graphviz_tb.read.logged import LogReader
from graphviz_tb.read.remote import mirror_at
from graphviz_tb.serve.answers import Refused
from graphviz_tb.serve.embeddings import ServedEmbeddings
from graphviz_tb.serve.events import Events
from graphviz_tb.serve.graphs import Graphs
from graphviz_tb.serve.kept import KeptAnswers
from graphviz_tb.serve.profiles import ServedProfiles, TraceStamps, trace_stamps
from graphviz_tb.serve.settings import Settings
from graphviz_tb.serve.threads import in_thread

GRAPHS_AGAIN = 2.0  # times as long as it took to list the graphs passes before they are listed anew
GONE_FOR = 10.0  # seconds that a run whose files are gone is still shown
SHARE_OF_GRAPHS = 4  # a quarter of the memory is for graphs
SHARE_OF_ANSWERS = 16  # a sixteenth for answers that were made, another for what is drawn of each series
ROOM_OF_ANSWERS = 16_000_000  # bytes that each of these takes at most

MOST_BLOBS = 200_000  # ids of images and sounds that are known at once

Drawn = tuple[tuple[str, NDArray[Any]], ...]  # what is drawn of a series: columns by name


def bytes_drawn(drawn: Drawn) -> int:
    """The bytes of what is drawn of a series."""
    return sum(column.nbytes for _, column in drawn)


class ServedSource:
    """One source and all that is known of it. Everything but `read` is called in the loop of the server."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.source = Path(settings.source)
        self.mirror = mirror_at(settings.source)  # where the source is a copy of one elsewhere
        self.title = settings.title if settings.title is not None else named(self.source)
        self.start = token_hex(4)  # another one for each start: ids of an earlier server mean nothing here
        self.events = Events(self.start)
        room = settings.memory // SHARE_OF_GRAPHS
        self.graphs = Graphs(
            settings.source,
            room,
            self.events.say,
            settings.view,
            self.joined_names,
        )
        answers = min(ROOM_OF_ANSWERS, settings.memory // SHARE_OF_ANSWERS)
        self.kept = KeptAnswers(answers)
        self.drawn: KeptValues[Drawn] = KeptValues(answers, bytes_drawn)
        self.room = settings.memory - room - 2 * answers  # for series, in bytes
        self._extents: dict[RunTag, tuple[tuple[int, int], list[Any]]] = {}
        self.logged = Logged((), ())
        self.fault: tuple[str, str] | None = None  # why the log cannot be read, and what to do
        self.read_once = False
        self.log: Log | None = None  # until there is a log to be read
        self.embeddings = ServedEmbeddings(self.source)
        self.profiles = ServedProfiles(settings.source, room)
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None  # of the server, when it runs
        self._stamp: tuple[int, int] | None = None
        self._traces: TraceStamps = {}
        self._runs: dict[str, int] = {}
        self._series: dict[RunTag, int] = {}
        self._tags: dict[RunTag, int] = {}  # by name and kind: a tag may be of another kind in another run
        self._by_id: dict[int, Series] = {}
        self._blobs: dict[int, tuple[str, Place]] = {}
        self._blob_ids: dict[tuple[str, Place], int] = {}
        self._next_blob = 0
        self._dropped = 0  # series without columns
        self._gone: dict[str, tuple[float, Run]] = {}  # since when, and what was known
        self._listed_at = self._listing_took = 0.0
        self._graphs_wanted = True
        self._graphs_changed: set[str] = set()  # runs
        self._all_changed = False
        self._listing: asyncio.Task[None] | None = None
        self.graphs_listed = False

    @property
    def generation(self) -> str:
        """Changes whenever anything that is answered may be another."""
        return self.events.generation

    @property
    def lost(self) -> bool:
        """Whether the log was there, and can no longer be read."""
        return self.log is not None and self.fault is not None

    # reading

    async def refresh(self) -> bool:
        """Read what was written since the last time, and say so; whether there was anything."""
        self._loop = asyncio.get_running_loop()
        before, fault, changes = self.logged, self.fault, LogChanges()
        try:
            changes = await in_thread(self._read)
            self.fault = None
        except TbGraphError as error:
            self.fault = (error.message, error.hint or "")
        if self.fault != fault:
            self.events.next_generation()
            self.events.say("notice", {"code": "unread", "text": self.fault[0] if self.fault else "", "count": 1})
        self.read_once = True
        self._number()
        if self._forget_gone() or changes:
            self._say(changes, before)
        if await self.embeddings.refresh(self.log, bool(changes)):
            self.events.next_generation()
            self.events.say("run", {"runs": []})
        grown = (self._by_id[self._series[key]] for key in changes.points if key in self._series)
        self._graphs_changed.update(changes.graphs, (one.run for one in grown if one.kind == "graph"))
        self._graphs_wanted |= bool(self._graphs_changed) or bool(changes.gone) or self._replaced()
        before_traces, self._traces = self._traces, await in_thread(trace_stamps, self.source)
        self._graphs_wanted |= self._traces != before_traces
        if self._listing is None or self._listing.done():
            self._listing = asyncio.create_task(self._list_graphs())
        return bool(changes)

    def _read(self) -> LogChanges:
        with self._lock:  # the reader goes on where it was, and may be asked for what was dropped meanwhile
            if self.mirror is not None:
                self.mirror.refresh()
            if self.log is not None:
                return self.log.refresh()
            settings = self.settings
            self.log = Log(
                LogReader(self.source, settings.restarts, checksum=settings.checksum, room=max(1, self.room))
            )
            runs, points = self.log.logged.runs, {(one.run, one.tag): len(one) for one in self.log.logged.series}
            graphs = tuple(self._with_graphs(self.log.logged))
            return LogChanges(1, tuple(run.name for run in runs), graphs=graphs, points=points)

    def _with_graphs(self, logged: Logged) -> set[str]:
        """The runs that hold a graph: of their own, or logged as a summary (Keras layers, traced functions)."""
        own = {run.name for run in logged.runs if run.graphs}
        return own | {series.run for series in logged.series if series.kind == "graph"}

    def _replaced(self) -> bool:
        """Whether the source is a file of a graph, and another one than when it was looked at last."""
        stamp = None
        with suppress(OSError):
            if self.log is None and self.source.is_file():
                status = self.source.stat()
                stamp = status.st_mtime_ns, status.st_size
        replaced, self._stamp = self._stamp is not None and stamp != self._stamp, stamp
        self._all_changed |= replaced
        return replaced

    async def _list_graphs(self) -> None:
        """List the graphs again where there may be others; seldom enough that a large log is not read all the time."""
        if not self._graphs_wanted:
            return
        await asyncio.sleep(max(0.0, self._listed_at + GRAPHS_AGAIN * self._listing_took - monotonic()))
        changed, begun = None if self._all_changed else {*self._graphs_changed}, monotonic()
        self._graphs_wanted = self._all_changed = False
        self._graphs_changed.clear()
        # A log without a graph is not read once more to find none.
        runs = None if self.log is None else self._with_graphs(self.logged) | self._traces.keys()
        others = await self.graphs.refresh(changed, runs)
        others |= self.profiles.take(self.graphs.entries)
        self._listed_at, self._listing_took = monotonic(), monotonic() - begun
        first, self.graphs_listed = not self.graphs_listed, True
        if others or first:
            self.events.next_generation()
            self.events.say("graph", {"graphs": [one.told() for one in self.graphs.listed.values()]})

    def _number(self) -> None:
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

    def _say(self, changes: LogChanges, before: Logged) -> None:
        self.events.next_generation()
        for run in before.runs:
            if run.name in changes.gone:
                self._gone[run.name] = monotonic(), run
        if changes.runs:
            self.events.say("run", {"runs": [self._runs[name] for name in changes.runs]})
        if changes.points or changes.again:
            again = [self._series[key] for key in changes.again if key in self._series]
            ids = [self._series[key] for key in (*changes.points, *changes.again) if key in self._series]
            counts = {number: len(self._by_id[number]) for number in ids if number in self._by_id}
            self.events.say("points", {"series": counts, "again": again})
        if changes.gone:
            self.events.say("gone", {"runs": [self._runs[name] for name in changes.gone if name in self._runs]})
        for notice in changes.notices:
            self.events.say("notice", {"code": notice.code, "text": notice.message, "count": notice.count})

    def _forget_gone(self) -> bool:
        """Forget runs that have been gone for a while."""
        late = [name for name, (since, _) in self._gone.items() if monotonic() - since > GONE_FOR]
        for name in late:
            del self._gone[name]
        if late:
            self._by_id = {number: series for number, series in self._by_id.items() if series.run not in late}
            self._extents = {key: known for key, known in self._extents.items() if key[0] not in late}
        return bool(late)

    # what is there

    def runs(self, logged: Logged, gone: Mapping[str, tuple[float, Run]]) -> Iterator[tuple[int, Run]]:
        """Every run with its id; those whose files are gone are there for a while."""
        for run in logged.runs:
            yield self._runs[run.name], run
        for _, run in gone.values():
            yield self._runs[run.name], replace(run, state="gone")

    def run_id(self, name: str) -> int:
        """The id of a run."""
        return self._runs[name]

    def run_id_or_none(self, name: str) -> int | None:
        """The id of a run; None where a folder is none."""
        return self._runs.get(name)

    def tag_id(self, series: Series) -> int:
        """The id of the tag of a series, which is that of all series of its name and kind."""
        return self._tags[series.tag, series.kind]

    def tag_names(self) -> dict[int, str]:
        """The name of each tag that may belong to nodes, by its id."""
        return {number: tag for (tag, kind), number in self._tags.items() if kind != "graph"}

    def joined_names(self) -> dict[str, None]:
        """The names that may belong to nodes: of tags, and of the variables that embeddings are of."""
        return dict.fromkeys((*self.tag_names().values(), *self.embeddings.variables().values()))

    def all_series(self, kind: str | None = None) -> list[Series]:
        """Every series, of one kind or of all."""
        return [series for series in self.logged.series if kind in (None, series.kind)]

    def series(self, number: int) -> Series:
        """A series by its id, without its columns where they were dropped. Raises `Refused`."""
        found = self._by_id.get(number)
        if found is None:
            raise Refused(404, f"no series {number}", "/api/tags lists them")
        return found

    def with_columns(self, series: Sequence[Series]) -> list[Series]:
        """Some series with their columns, which are read again where there was no room for them. Called in a thread.

        Raises `ReadError` where a file is gone or was replaced.
        """
        if self.log is None:
            return list(series)
        self.log.ask(series)
        if all(each.dropped is None for each in series):
            return list(series)
        with self._lock:
            found = self.log.read_again(series)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._number)  # what was dropped for these is held no longer
        return found

    def read(self, run: str, place: Place) -> bytes:
        """The bytes of a place of a run, read from its file now. Raises `ReadError` where it is gone or was cut."""
        if self.log is None:
            raise Refused(404, "the log is gone")
        return self.log.read(run, place)

    def blob_id(self, run: str, place: Place) -> int:
        """The id of bytes on disk; those that were given first are forgotten when there are very many."""
        number = self._blob_ids.setdefault((run, place), self._next_blob)
        if number == self._next_blob:
            self._blobs[number] = run, place
            self._next_blob += 1
            if len(self._blobs) > MOST_BLOBS:
                del self._blob_ids[self._blobs.pop(next(iter(self._blobs)))]
        return number

    def blob(self, number: int) -> tuple[str, Place] | None:
        """The run and the place of an id."""
        return self._blobs.get(number)

    def state(self) -> tuple[str, Callable[[], dict[str, Any]]]:
        """What the viewer asks first: all that it depends on, and a function that makes it, in any thread."""
        listed = [one for one in self.graphs.listed.values() if one.pair is None]
        whole = {
            "title": self.title,
            "generation": self.generation,
            "ready": self.read_once and self.embeddings.read_once and self.graphs_listed,
            "dropped": self._dropped,
            "graphs": [one.told() for one in listed],
            "notices": [*self._faults(), *map(notice_entry, self.logged.notices)],
        }
        logged, gone, embeddings = self.logged, dict(self._gone), len(self.embeddings.listed)
        traced, lost = len(self.profiles.listed), self.lost

        def make() -> dict[str, Any]:
            graphs: dict[str | None, list[str]] = {}
            for one in listed:
                graphs.setdefault(one.entry.run, []).append(one.id)
            state = log_state(self.runs(logged, gone), logged.series)
            for entry in state["runs"]:
                entry["graphs"] = graphs.get(entry["name"], [])
                entry["state"] = "gone" if lost else entry["state"]
            state["kinds"].update({"projector": embeddings} if embeddings else {})
            state["kinds"].update({"profile": traced} if traced else {})
            return {**state, **whole}

        return f"state {embeddings} {traced} {whole}", make

    def tags(self, kind: str | None) -> tuple[str, Callable[[], dict[str, Any]]]:
        """All tags, of one kind or of all, with the series of each run: what they depend on, and what makes them."""
        generation, logged = self.generation, self.logged

        def make() -> dict[str, Any]:
            every = (series for series in logged.series if kind in (None, series.kind))
            tags = tag_entries(
                every,
                lambda one: self._tags[one.tag, one.kind],
                self._runs.__getitem__,
                lambda one: self._series[one.run, one.tag],
                self._extent,
            )
            return {"generation": generation, "tags": tags}

        return f"tags {generation} {kind}", make

    def _extent(self, series: Series) -> list[Any]:
        """What is said of the points of a series, counted once."""
        found = self._extents.get((series.run, series.tag))
        now = series.generation, len(series)
        if found is None or found[0] != now:
            found = self._extents[series.run, series.tag] = now, extent(series)
        return found[1]

    def _faults(self) -> Iterator[Mapping[str, Any]]:
        if self.fault is not None and (self.lost or not (self.graphs.listed or self.embeddings.listed)):
            yield {"code": "unread", "text": self.fault[0], "count": 1}
        if self.graphs.error is not None and not self.logged.series:
            yield {"code": "no-graph", "text": self.graphs.error.error, "count": 1}

    def close(self) -> None:
        """End what goes on."""
        self.events.close()
        self.graphs.close()
        self.embeddings.close()
        self.profiles.close()
        if self._listing is not None:
            self._listing.cancel()
