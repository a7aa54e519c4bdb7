"""Everything that the event files of a source hold, as columns.

walk      the folders, each once; a run is a folder with event files
tail      each file in blocks of whole records, from where reading stopped
alike     decode events of equal structure together
single    decode the remaining events one by one
kinds     the kind of a value, and its columns
restarts  points that a later restart of the run supersedes
series    the columns of each tag
room      which columns stay in memory
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from graphviz_tb.errors import NoGraph, ReadError, UnknownFormat
from graphviz_tb.model.logged import LogChanges, LogContents, RestartMode, Run, Series
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import absolute_sources
from graphviz_tb.read.logdir import is_event_file, no_events_error, unreadable_event_files
from graphviz_tb.read.logged.room import ColumnMemory
from graphviz_tb.read.logged.run import NumberedTag, RunReader
from graphviz_tb.read.opened import existing_path
from graphviz_tb.read.walk import list_files_below

__all__ = ["LogReader"]

RunReading = tuple[Run, dict[NumberedTag, Series]]


class LogReader:
    """Reads a log directory or an event file, incrementally.

    `room` limits the bytes of all columns, approximately: above it the least recently used ones are dropped, and read
    again on demand. Raises ReadError if the log cannot be read or has no event file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        restarts: RestartMode = "last",
        *,
        checksum: bool = False,
        room: int | None = None,
    ) -> None:
        self.given = existing_path(path)
        self.path: Path = absolute_sources(self.given)  # independent of the current folder
        self.restarts, self.checksum = restarts, checksum
        self.room = ColumnMemory(room)
        self._runs: dict[str, RunReader] = {}
        self._known: set[Path] = set()
        self._logged = LogContents((), ())
        self.refresh()

    def read(self) -> LogContents:
        """Return everything as of the last reading."""
        return self._logged

    def refresh(self) -> tuple[LogContents, LogChanges]:
        """Read new data. Returns everything, and the changes."""
        found, notices = self._list_event_files()
        before = {name: (reader.run, reader.series) for name, reader in self._runs.items()}
        generation = self._logged.generation + 1
        again, dropped = set(), False
        for name, paths in found.items():
            if self._read_run(name, paths, generation):
                again.add(name)
            if self._runs[name].changed:
                self.room.set_run_bytes(name, self._runs[name].memory_bytes)
                dropped |= self.room.drop_oldest(self._runs)
        gone = before.keys() - found.keys()
        for name in gone:
            del self._runs[name]
        self.room.forget_runs(gone)
        dropped |= self.room.drop_oldest(self._runs)
        changes = self._changes_since(before, again, generation)
        if changes or not self._logged.generation:
            self._logged = self._collect_logged(notices, generation)
        elif dropped:
            self._logged = self._collect_logged(notices, self._logged.generation)
        return self._logged, changes

    def read_again(self, series: Sequence[Series]) -> LogContents:
        """Return everything, after reading the dropped columns of these series again.

        Raises ReadError if a file is gone, replaced or truncated.
        """
        self.room.touch_series(series)
        spared = {(each.run, each.tag) for each in series}
        for name in dict.fromkeys(run for run, _ in spared):
            reader = self._runs.get(name)
            known = {} if reader is None else reader.series
            keys = {key for key, each in known.items() if each.dropped is not None and (name, each.tag) in spared}
            if reader is not None and keys:
                reader.read_again(keys)
                self.room.set_run_bytes(name, reader.memory_bytes)
        self.room.drop_oldest(self._runs, spared)
        self._logged = self._collect_logged(self._logged.notices, self._logged.generation)
        return self._logged

    def _collect_logged(self, notices: tuple[Notice, ...], generation: int) -> LogContents:
        runs = tuple(reader.run for reader in self._runs.values())
        series = tuple(chain.from_iterable(reader.sorted for reader in self._runs.values()))
        return LogContents(runs, series, notices, generation)

    def path_of(self, file: str) -> Path:
        """Return the path of a run's file."""
        return self._top_folder / file

    @property
    def _top_folder(self) -> Path:
        return self.path if self.path.is_dir() else self.path.parent

    def _list_event_files(self) -> tuple[dict[str, list[Path]], tuple[Notice, ...]]:
        """Return the event files of each run, sorted. A file that was read before counts whatever it starts with
        now."""
        if not self.path.exists():
            raise ReadError(f"no file or folder '{self.given}'", hint="what was there is gone")
        if not self.path.is_dir():
            if not is_event_file(self.path) and self.path not in self._known:
                raise UnknownFormat(f"{self.given} is no event file", hint="give a log directory, or an event file")
            self._known.add(self.path)
            return {".": [self.path]}, ()
        below = list_files_below(self.path)
        runs: dict[str, list[Path]] = {}
        for run, path in below.files:
            if path in self._known or is_event_file(path):
                runs.setdefault(run, []).append(path)
        self._known = set(chain.from_iterable(runs.values()))
        notices = (*below.notices, *unreadable_event_files(below))
        if not runs and not self._logged.generation:
            raise (
                no_events_error(self.given)
                if not notices
                else NoGraph(f"no event file in '{self.given}': {notices[0].message}")
            )
        return runs, notices

    def _read_run(self, name: str, paths: list[Path], generation: int) -> bool:
        """Read the new data of one run; return whether any of it was read from the start."""
        reader = self._runs.get(name)
        again = reader is not None and not reader.continues_with(paths)
        if reader is None or again:
            reader = self._runs[name] = RunReader(name, self._top_folder, self.restarts, self.checksum)
        return reader.refresh(paths, generation) or again

    def _changes_since(self, before: dict[str, RunReading], again: set[str], generation: int) -> LogChanges:
        """Return the changes since `before`. In runs in `again`, no series continues."""
        points: dict[tuple[str, str], int] = {}
        afresh: list[tuple[str, str]] = []
        graphs, notices = [], []
        for name, reader in self._runs.items():
            run, series = before.get(name, (Run(name, ()), {}))
            if reader.run.graphs > run.graphs:
                graphs.append(name)
            notices += [each for each in reader.run.notices if each not in run.notices]
            for key in reader.changed:
                old, new = series.get(key), reader.series.get(key)
                if name in again and old is not None:
                    afresh.append((name, old.tag))
                elif new is not None:
                    points[name, new.tag] = len(new) - (0 if old is None else len(old))
        runs = tuple(name for name in self._runs if name not in before)
        gone = tuple(sorted(before.keys() - self._runs.keys()))
        return LogChanges(generation, runs, gone, tuple(graphs), points, tuple(afresh), tuple(notices))
