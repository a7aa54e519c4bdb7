"""The contents of all event files of a source, as columns.

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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

import numpy as np

from graphviz_tb.errors import NoGraph, ReadError, UnknownFormat
from graphviz_tb.events.event_file import EventFile, RunTags
from graphviz_tb.events.graphs import is_event_file, no_events_error, unreadable_event_files
from graphviz_tb.events.point_rows import PointRows
from graphviz_tb.events.series import (
    STEPLESS_KINDS,
    FileLife,
    ProgramStart,
    SupersededPoints,
    SupersedingRestart,
    make_series,
    mark_superseded,
    series_rows_in_file,
    summarize_restarts,
    without_columns,
)
from graphviz_tb.events.structure import decode_log_text
from graphviz_tb.model.logs import LogChanges, LogContents, RestartMode, Run, RunTag, Series, SeriesKind
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import absolute_sources
from graphviz_tb.progress import advance
from graphviz_tb.sources.streams import existing_path
from graphviz_tb.sources.walk import list_files_below

# One run: its event files, and the series in them.

NumberedTag = tuple[int, SeriesKind]  # number of a tag, and a kind


@dataclass(frozen=True, slots=True)
class SeriesState:
    """A series before it is named, with what is needed to update it.

    `first` is (file, offset) of its first point, `last_file` the last file with points of it, `restarts` those that
    superseded any, `size` the bytes of its rows. `copied`: its columns are a copy, concatenated from several rows.
    """

    series: Series
    first: tuple[int, int]
    last_file: int
    restarts: tuple[SupersedingRestart, ...]
    size: int
    copied: bool

    @property
    def droppable_bytes(self) -> int:
        """Bytes of memory that dropping its columns frees."""
        return 0 if self.series.dropped is not None else 2 * self.size if self.copied else self.size


class RunReader:
    """Reads the files of one run, incrementally. `generation` counts the readings that changed it."""

    def __init__(self, name: str, top: Path, restarts: RestartMode, checksum: bool) -> None:
        self.name, self.top, self.restarts, self.checksum = name, top, restarts, checksum
        self.names = RunTags()
        self.files: list[EventFile] = []
        self.states: dict[NumberedTag, SeriesState] = {}  # of each series, by its tag and kind
        self.run = Run(name, ())
        self._marks: list[ProgramStart] = []  # of the whole run, in the order of writing
        self.series: dict[NumberedTag, Series] = {}
        self.sorted: tuple[Series, ...] = ()  # by tag
        self.changed: set[NumberedTag] = set()  # in the last reading

    def continues_with(self, paths: Sequence[Path]) -> bool:
        """Return whether the files read before come first in `paths`."""
        return [file.path for file in self.files] == list(paths)[: len(self.files)]

    def refresh(self, paths: Sequence[Path], generation: int) -> bool:
        """Read the new data of all files; return whether any file was read from its start again."""
        for path in paths[len(self.files) :]:
            shown = os.path.relpath(path, self.top).replace(os.sep, "/")
            self.files.append(EventFile(path, len(self.files), self.names, self.checksum, shown))
        changed: set[NumberedTag] = set()
        any_reset, appended, starts, before = False, True, len(self._marks), self._files_state()
        for file in self.files:
            first_wall = file.wall_range[0]
            with suppress(OSError):  # deleted since it was listed: the next reading notices
                keys, is_reset = file.refresh()
                changed |= keys
                any_reset |= is_reset
                appended &= not keys or (file is self.files[-1] and file.wall_range[0] == first_wall)
        self._marks = [ProgramStart(file.number, place, step) for file in self.files for place, step in file.starts]
        if len(self._marks) != starts:  # a new start may supersede points of every series
            changed |= {key for key in self.states if key[1] not in STEPLESS_KINDS}
            appended = False
        self._update_series(changed, appended and not any_reset, generation)
        if changed or before != self._files_state():
            self._name_series()
            self.run = self._summarize_run()
        self.changed = changed
        return any_reset

    def drop_columns(self, keys: set[NumberedTag]) -> None:
        """Drop the columns of some series, but keep their summary."""
        for file in self.files:
            file.drop_points(keys)
        for key, state in list(self.states.items()):
            if key in keys:
                self.states[key] = replace(state, series=without_columns(state.series))
            elif state.series.dropped is None:  # its columns may be a view of dropped ones
                self._make_series(key, state.series.generation)
        self._name_series()

    def read_again(self, keys: set[NumberedTag]) -> None:
        """Read dropped columns again. Raises ReadError if a file is gone, replaced or truncated."""
        try:
            for file in self.files:
                file.read_again(keys)
        except OSError as error:
            raise ReadError(f"run '{self.name}' cannot be read again: {error.strerror}") from None
        for key in keys:
            self._make_series(key, self.states[key].series.generation)
        self._name_series()

    @property
    def memory_bytes(self) -> int:
        copies = sum(state.size for state in self.states.values() if state.copied and state.series.dropped is None)
        return copies + sum(file.memory_bytes() for file in self.files)

    def _update_series(self, changed: set[NumberedTag], appended: bool, generation: int) -> None:
        """Update the changed series. `appended`: points were added to the end of the last file only."""
        dropped = {key for key in changed & self.states.keys() if self.states[key].series.dropped is not None}
        grown = {key for key in dropped if appended and self.states[key].last_file == len(self.files) - 1}
        if dropped - grown:  # restarts may now supersede other points, which can be decided only with all points
            with suppress(ReadError):  # deleted since it was listed
                self.read_again(dropped - grown)
        for key in sorted(changed - grown):
            self._make_series(key, generation)
        for key in grown:
            former = self.states[key]
            self._make_series(key, generation)
            extent, added_extent = former.series.dropped, self.states[key].series.extent()
            if extent is not None and added_extent is not None:
                series = replace(
                    without_columns(former.series), dropped=extent.extended_by(added_extent), generation=generation
                )
                self.states[key] = replace(former, series=series)
        if grown:
            self.files[-1].drop_points(grown)

    def _name_series(self) -> None:
        self.series = dict(self._uniquely_named())
        self.sorted = tuple(sorted(self.series.values(), key=lambda series: series.tag))

    def _files_state(self) -> tuple[object, ...]:
        return len(self.files), [
            (file.graphs, len(file.damage), file.tail.torn, file.tail.damage) for file in self.files
        ]

    def _make_series(self, key: NumberedTag, generation: int) -> None:
        tag, kind = key
        parts = [(file, rows) for file in self.files if (rows := self._rows_in_file(file, tag, kind))]
        if not parts:
            self.states.pop(key, None)
            return
        files = [(file.number, series_rows_in_file(rows)) for file, rows in parts]
        found = self._mark_superseded(kind, files)
        name = decode_log_text(self.names.tags.things[tag])
        about = self.names.abouts.get(key)
        series = make_series(self.name, name, kind, about, files, found.points, self.names.tables, generation)
        first, size = (files[0][0], int(files[0][1].place[0])), sum(rows.memory_bytes() for _, rows in files)
        copied = sum(len(rows) for _, rows in parts) > 1
        self.states[key] = SeriesState(series, first, files[-1][0], found.restarts, size, copied)

    def _mark_superseded(self, kind: SeriesKind, files: Sequence[tuple[int, PointRows]]) -> SupersededPoints:
        """Mark the points of a series that a restart wrote again."""
        if kind in STEPLESS_KINDS or self.restarts == "keep" or (len(files) < 2 and not self._marks):
            return SupersededPoints(np.zeros(sum(len(rows) for _, rows in files), np.bool_), ())
        walls = [self.files[number].wall_range for number, _ in files]
        lives = [
            FileLife(number, rows.step, rows.place, *wall) for (number, rows), wall in zip(files, walls, strict=True)
        ]
        return mark_superseded(lives, self._marks)

    def _rows_in_file(self, file: EventFile, tag: int, kind: SeriesKind) -> list[PointRows]:
        return [rows for (each, _), growing in file.kinds.items() if each == kind for rows in growing.rows_of_tag(tag)]

    def _uniquely_named(self) -> Iterator[tuple[NumberedTag, Series]]:
        """Yield series with unique names: of two kinds with one tag, the second gets its kind appended."""
        taken = {self.states[key].series.logged_as for key in self.states}
        first: dict[str, NumberedTag] = {}
        for key in sorted(self.states, key=lambda key: (self.states[key].first, key)):
            series = self.states[key].series
            if first.setdefault(series.logged_as, key) is not key:
                name = f"{series.logged_as} ({key[1]})"
                while name in taken:
                    name = f"{name} ({key[1]})"
                taken.add(name)
                series = replace(series, tag=name)
            yield key, series

    def _summarize_run(self) -> Run:
        rows = [growing for file in self.files for growing in file.kinds.values()]
        restarts = [restart for state in self.states.values() for restart in state.restarts]
        return Run(
            name=self.name,
            files=tuple(file.shown for file in self.files),
            points=sum(growing.count for growing in rows),
            superseded=sum(restart.points for restart in restarts),
            graphs=sum(file.graphs for file in self.files),
            first_step=min((growing.steps[0] for growing in rows), default=None),
            last_step=max((growing.steps[1] for growing in rows), default=None),
            first_wall=min((growing.walls[0] for growing in rows), default=None),
            last_wall=max((growing.walls[1] for growing in rows), default=None),
            restarts=summarize_restarts(restarts, [file.wall_range[0] for file in self.files]),
            notices=tuple(self._all_notices()),
        )

    def _all_notices(self) -> Iterator[Notice]:
        for file in self.files:
            yield from file.notices()


# Keep the most recently used series in memory, and drop the rest.

FILL_AFTER_DROPPING = 0.9  # fill level after dropping, so that not every new point drops a series


class ColumnMemory:
    """A limit on the bytes of all columns (None: no limit), and when each series was last used."""

    def __init__(self, size: int | None) -> None:
        self.size = size
        self.taken = 0
        self._each: dict[str, int] = {}  # bytes per run
        self._asked: dict[RunTag, int] = {}
        self._clock = count(1)

    def touch_series(self, series: Iterable[Series]) -> None:
        """Mark series as used now."""
        now = next(self._clock)
        for each in series:
            self._asked[each.run, each.tag] = now

    def set_run_bytes(self, run: str, size: int) -> None:
        """Record the bytes of a run's columns."""
        self.taken += size - self._each.get(run, 0)
        self._each[run] = size

    def forget_runs(self, runs: Collection[str]) -> None:
        for run in runs:
            self.taken -= self._each.pop(run, 0)
        if runs:
            self._asked = {key: asked for key, asked in self._asked.items() if key[0] not in runs}

    def drop_oldest(self, runs: Mapping[str, RunReader], spared: Collection[RunTag] = ()) -> bool:
        """Drop the least recently used columns if memory is over the limit; return whether any were."""
        if self.size is None or self.taken <= self.size:
            return False
        left = self.taken - int(FILL_AFTER_DROPPING * self.size)
        chosen: dict[str, set[NumberedTag]] = {}
        for run, key in self._series_by_age(runs, spared):
            if left <= 0:
                break
            chosen.setdefault(run, set()).add(key)
            left -= runs[run].states[key].droppable_bytes
        for run, keys in chosen.items():
            runs[run].drop_columns(keys)
            self.set_run_bytes(run, runs[run].memory_bytes)
        return bool(chosen)

    def _series_by_age(
        self, runs: Mapping[str, RunReader], spared: Collection[RunTag]
    ) -> list[tuple[str, NumberedTag]]:
        """Return the series that have columns, least recently used first."""
        ages = [
            (self._asked.get((name, series.tag), 0), name, key)
            for name, reader in runs.items()
            for key, series in reader.series.items()
            if series.dropped is None and (name, series.tag) not in spared
        ]
        return [(name, key) for _, name, key in sorted(ages)]


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

    def contents(self) -> LogContents:
        """Return everything that was read so far."""
        return self._logged

    def refresh(self) -> tuple[LogContents, LogChanges]:
        """Read new data. Returns everything, and the changes."""
        found, notices = self._list_event_files()
        before = {name: (reader.run, reader.series) for name, reader in self._runs.items()}
        generation = self._logged.generation + 1
        again, dropped = set(), False
        for number, (name, paths) in enumerate(found.items()):
            advance("read runs", number, len(found))
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
        spared = {(one.run, one.tag) for one in series}
        for name in dict.fromkeys(run for run, _ in spared):
            reader = self._runs.get(name)
            known = {} if reader is None else reader.series
            keys = {key for key, one in known.items() if one.dropped is not None and (name, one.tag) in spared}
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
                raise UnknownFormat(f"{self.given} is not an event file", hint="give a log directory, or an event file")
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
        new_counts: dict[tuple[str, str], int] = {}
        restarted: list[tuple[str, str]] = []
        graphs, notices = [], []
        for name, reader in self._runs.items():
            run, series = before.get(name, (Run(name, ()), {}))
            if reader.run.graphs > run.graphs:
                graphs.append(name)
            notices += [notice for notice in reader.run.notices if notice not in run.notices]
            for key in reader.changed:
                old, new = series.get(key), reader.series.get(key)
                if name in again and old is not None:
                    restarted.append((name, old.tag))
                elif new is not None:
                    new_counts[name, new.tag] = len(new) - (0 if old is None else len(old))
        runs = tuple(name for name in self._runs if name not in before)
        gone = tuple(sorted(before.keys() - self._runs.keys()))
        return LogChanges(generation, runs, gone, tuple(graphs), new_counts, tuple(restarted), tuple(notices))
