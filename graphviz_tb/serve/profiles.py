"""The profiles of a source: all traced steps, and the loaded profiles of recent ones."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphviz_tb.caches import BoundedCache
from graphviz_tb.errors import ReadError
from graphviz_tb.events.graphs import find_programs
from graphviz_tb.formats.contents import RUN_GRAPH_TAG
from graphviz_tb.formats.profiler_traces import find_trace_files
from graphviz_tb.model.profile import Profile
from graphviz_tb.model.sources import SourceEntry
from graphviz_tb.serve.answers import RefusedRequest
from graphviz_tb.serve.jobs import Job, NotLoaded
from graphviz_tb.serve.work import load_profile
from graphviz_tb.sources.walk import FolderListing, list_files_below

GraphFileStamps = dict[str, tuple[tuple[str, int, int], ...]]  # by run: name, time and size of each such file

PROFILE_WAIT_SECONDS = 15.0  # seconds that a request waits for a trace to be read
SLICE_BYTES = 60  # approximate bytes of a slice in columns
PROFILE_TEXT_BYTES = 120  # approximate bytes of a name or of half a table row


@dataclass(slots=True)
class ListedProfile:
    """One traced step of the source; `graph` is the graph it is joined with, None if the source has none."""

    id: str
    entry: SourceEntry
    graph: SourceEntry | None
    version: int = 0  # grows whenever the trace or graph is replaced


class ServedProfiles:
    """All traced steps of one source by id; ids stay valid while the server runs."""

    def __init__(self, source: str, room: int) -> None:
        self.source = source
        self.listed: dict[str, ListedProfile] = {}
        self._next = 0
        self._kept: BoundedCache[Profile] = BoundedCache(room, _profile_bytes)
        self._made: dict[tuple[str, int], asyncio.Task[Profile]] = {}

    def update_entries(self, entries: Iterable[SourceEntry]) -> bool:
        """Update the traced steps to the entries of the source; return whether any changed."""
        main_entries = [entry for entry in entries if not entry.variant]
        known = {(profile.entry.run, profile.entry.tag): profile for profile in self.listed.values()}
        is_changed = False
        for entry in main_entries:
            if not entry.profile or entry.tag == RUN_GRAPH_TAG:  # such an entry only marks a run with profiles
                continue
            graph = _graph_of_trace(main_entries, entry)
            profile = known.pop((entry.run, entry.tag), None)
            if profile is None:
                profile = ListedProfile(str(self._next), entry, graph)
                self.listed[profile.id] = profile
                self._next += 1
                is_changed = True
            elif (profile.entry, profile.graph) != (entry, graph):
                profile.entry, profile.graph, profile.version = entry, graph, profile.version + 1
                is_changed = True
        for profile in known.values():
            del self.listed[profile.id]
            is_changed = True
        return is_changed

    def get(self, number: str) -> ListedProfile:
        """Return a traced step by its id. Raises `RefusedRequest`."""
        found = self.listed.get(number)
        if found is None:
            raise RefusedRequest(404, f"no profile {number[:40]!r}", "/api/profile lists them")
        return found

    async def load_listed(self, one: ListedProfile) -> Profile:
        """Return the profile of a traced step, loaded in a worker process unless cached. Raises `RefusedRequest` if it
        cannot
        be read."""
        found = self._kept.get(one.id, one.version)
        if found is not None:
            return found
        key = one.id, one.version
        if key not in self._made:
            self._made[key] = asyncio.create_task(self.run_profile_job(one))
            self._made[key].add_done_callback(lambda _: self._made.pop(key))
        try:
            # shielded: the first request may be cancelled
            made = await asyncio.wait_for(asyncio.shield(self._made[key]), PROFILE_WAIT_SECONDS)
        except NotLoaded as error:
            raise RefusedRequest(404, error.error, error.hint) from None
        except TimeoutError:
            raise RefusedRequest(409, "this trace is still being read", "ask again in a moment") from None
        return self._kept.store(one.id, one.version, made)

    async def run_profile_job(self, one: ListedProfile) -> Profile:
        made: Profile = await Job(load_profile, self.source, one.entry, one.graph).result(lambda *event: None)
        return made

    def close(self) -> None:
        """Stop all loading."""
        for task in self._made.values():
            task.cancel()


def _graph_of_trace(entries: Iterable[SourceEntry], traced: SourceEntry) -> SourceEntry | None:
    """Return the graph of a traced step: preferably of its run, of ops rather than layers, and the largest."""
    graphs = [entry for entry in entries if entry.kind != "profile"]
    return max(
        graphs,
        key=lambda entry: (entry.run == traced.run, entry.kind == "op", entry.nodes or 0),
        default=None,
    )


def _profile_bytes(profile: Profile) -> int:
    texts = len(profile.timeline.names) + 2 * len(profile.timeline.nodes)
    rows = len(profile.ops) + len(profile.types) + len(profile.groups)
    return SLICE_BYTES * len(profile.timeline) + PROFILE_TEXT_BYTES * (texts + 2 * rows)


def graph_file_stamps(source: Path) -> GraphFileStamps:
    """Return the traces and exported programs below a log directory, which no event file announces."""
    stamps: GraphFileStamps = {}
    with suppress(OSError, ReadError):
        below = list_files_below(source) if source.is_dir() else FolderListing(())
        for run, path in [*((run, path) for run, _, path in find_trace_files(below)), *find_programs(below)]:
            status = path.stat()
            stamps[run] = (*stamps.get(run, ()), (str(path), status.st_mtime_ns, status.st_size))
    return stamps


def profile_entry(one: ListedProfile, graphs: dict[Any, str]) -> dict[str, Any]:
    """Return the viewer's entry of a traced step; `graphs` are ids by entry."""
    entry = one.entry
    return {"id": one.id, "run": entry.run, "tag": entry.tag, "step": entry.step,
            "graph": graphs.get(one.graph), "version": one.version}  # fmt: skip
