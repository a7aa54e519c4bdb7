"""One run: its event files, and the series in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from graphviz_tb.errors import ReadError
from graphviz_tb.model.logged import RestartMode, Run, Series, SeriesKind
from graphviz_tb.model.notice import Notice
from graphviz_tb.read.logged.event_file import EventFile, RunTags
from graphviz_tb.read.logged.restarts import (
    STEPLESS_KINDS,
    FileLife,
    ProgramStart,
    SupersededPoints,
    mark_superseded,
    summarize_restarts,
)
from graphviz_tb.read.logged.rows import PointRows
from graphviz_tb.read.logged.series import make_series, series_rows_in_file, without_columns
from graphviz_tb.read.logged.structure import decode_log_text

NumberedTag = tuple[int, SeriesKind]  # number of a tag, and a kind


@dataclass(frozen=True, slots=True)
class SeriesState:
    """A series before it is named, with what is needed to update it.

    `first` is (file, offset) of its first point, `last_file` the last file with points of it, `by` the restarts that
    superseded any, `size` the bytes of its rows. `copied`: its columns are a copy, concatenated from several rows.
    """

    series: Series
    first: tuple[int, int]
    last_file: int
    by: tuple[tuple[int, int, int, bool], ...]
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
        self.held: dict[NumberedTag, SeriesState] = {}
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
        again, appended, starts, before = False, True, len(self._marks), self._files_state()
        for file in self.files:
            begin = file.wall_range[0]
            with suppress(OSError):  # deleted since it was listed: the next reading notices
                keys, read_again = file.refresh()
                changed |= keys
                again |= read_again
                appended &= not keys or (file is self.files[-1] and file.wall_range[0] == begin)
        self._marks = self._program_starts()
        if len(self._marks) != starts:
            changed |= {key for key in self.held if key[1] not in STEPLESS_KINDS}
            appended = False
        self._update_series(changed, appended and not again, generation)
        if changed or before != self._files_state():
            self._name_series()
            self.run = self._summarize_run()
        self.changed = changed
        return again

    def drop_columns(self, keys: set[NumberedTag]) -> None:
        """Drop the columns of some series, but keep their summary."""
        for file in self.files:
            file.drop_points(keys)
        for key, held in list(self.held.items()):
            if key in keys:
                self.held[key] = replace(held, series=without_columns(held.series))
            elif held.series.dropped is None:  # its columns may be a view of dropped ones
                self._make_series(key, held.series.generation)
        self._name_series()

    def read_again(self, keys: set[NumberedTag]) -> None:
        """Read dropped columns again. Raises ReadError if a file is gone, replaced or truncated."""
        try:
            for file in self.files:
                file.read_again(keys)
        except OSError as error:
            raise ReadError(f"run '{self.name}' cannot be read again: {error.strerror}") from None
        for key in keys:
            self._make_series(key, self.held[key].series.generation)
        self._name_series()

    @property
    def memory_bytes(self) -> int:
        """Memory of all columns, in bytes."""
        copies = sum(held.size for held in self.held.values() if held.copied and held.series.dropped is None)
        return copies + sum(file.memory_bytes() for file in self.files)

    def _update_series(self, changed: set[NumberedTag], appended: bool, generation: int) -> None:
        """Update the changed series. `appended`: points were added to the end of the last file only."""
        dropped = {key for key in changed & self.held.keys() if self.held[key].series.dropped is not None}
        grown = {key for key in dropped if appended and self.held[key].last_file == len(self.files) - 1}
        if dropped - grown:  # restarts may now supersede different points, which only all points show
            with suppress(ReadError):  # deleted since it was listed
                self.read_again(dropped - grown)
        for key in sorted(changed - grown):
            self._make_series(key, generation)
        for key in grown:
            before = self.held[key]
            self._make_series(key, generation)
            known, later = before.series.dropped, self.held[key].series.extent()
            if known is not None and later is not None:
                series = replace(
                    without_columns(before.series), dropped=known.extended_by(later), generation=generation
                )
                self.held[key] = replace(before, series=series)
        if grown:
            self.files[-1].drop_points(grown)

    def _name_series(self) -> None:
        self.series = dict(self._uniquely_named())
        self.sorted = tuple(sorted(self.series.values(), key=lambda each: each.tag))

    def _files_state(self) -> tuple[object, ...]:
        return len(self.files), [
            (file.graphs, len(file.damage), file.tail.torn, file.tail.damage) for file in self.files
        ]

    def _program_starts(self) -> list[ProgramStart]:
        return [ProgramStart(file.number, place, step) for file in self.files for place, step in file.starts]

    def _make_series(self, key: NumberedTag, generation: int) -> None:
        """Make a series from the rows of all files."""
        tag, kind = key
        parts = [(file, rows) for file in self.files if (rows := self._rows_in_file(file, tag, kind))]
        if not parts:
            self.held.pop(key, None)
            return
        files = [(file.number, series_rows_in_file(rows)) for file, rows in parts]
        found = self._mark_superseded(kind, files)
        name = decode_log_text(self.names.tags.things[tag])
        about = self.names.abouts.get(key)
        series = make_series(self.name, name, kind, about, files, found.points, self.names.tables, generation)
        first, size = (files[0][0], int(files[0][1].place[0])), sum(rows.memory_bytes() for _, rows in files)
        copied = sum(len(rows) for _, rows in parts) > 1
        self.held[key] = SeriesState(series, first, files[-1][0], found.by, size, copied)

    def _mark_superseded(self, kind: SeriesKind, files: Sequence[tuple[int, PointRows]]) -> SupersededPoints:
        """Mark the points of a series that a restart wrote again."""
        if kind in STEPLESS_KINDS or self.restarts == "keep" or (len(files) < 2 and len(self._marks) < 2):
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
        taken = {self.held[key].series.logged_as for key in self.held}
        first: dict[str, NumberedTag] = {}
        for key in sorted(self.held, key=lambda key: (self.held[key].first, key)):
            series = self.held[key].series
            if first.setdefault(series.logged_as, key) is not key:
                name = f"{series.logged_as} ({key[1]})"
                while name in taken:
                    name = f"{name} ({key[1]})"
                taken.add(name)
                series = replace(series, tag=name)
            yield key, series

    def _summarize_run(self) -> Run:
        """Return the facts of the whole run."""
        held = [growing for file in self.files for growing in file.kinds.values()]
        by = [each for one in self.held.values() for each in one.by]
        return Run(
            name=self.name,
            files=tuple(file.shown for file in self.files),
            points=sum(each.count for each in held),
            superseded=sum(count for _, _, count, _ in by),
            graphs=sum(file.graphs for file in self.files),
            first_step=min((each.steps[0] for each in held), default=None),
            last_step=max((each.steps[1] for each in held), default=None),
            first_wall=min((each.walls[0] for each in held), default=None),
            last_wall=max((each.walls[1] for each in held), default=None),
            restarts=summarize_restarts(by, [file.wall_range[0] for file in self.files]),
            notices=tuple(self._all_notices()),
        )

    def _all_notices(self) -> Iterator[Notice]:
        for file in self.files:
            yield from file.notices()
