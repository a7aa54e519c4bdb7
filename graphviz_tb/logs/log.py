"""Public interface of logs: `open_log` and `Log`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, get_args

from numpy.typing import NDArray

from graphviz_tb.errors import HelpfulAttributes, RequestError, UnknownChoice, UnknownNode, check_choice
from graphviz_tb.events.event_file import read_place, tensor_of_event
from graphviz_tb.events.log_reader import LogReader
from graphviz_tb.events.structure import decode_log_text
from graphviz_tb.model.formatting import format_counted_noun
from graphviz_tb.model.logs import (
    BlobPoints,
    FileRange,
    LogChanges,
    LogContents,
    RestartMode,
    Run,
    Series,
    SeriesKind,
    TensorPoints,
)
from graphviz_tb.sources.streams import localize_source


def open_log(path: str | os.PathLike[str], restarts: RestartMode = "last", *, checksum: bool = False) -> Log:
    """Read everything logged below a folder, or in one event file.

    `restarts`: "last" marks points that a later restart of the run wrote again, "keep" marks none; all points are kept
    either way. `checksum` verifies every record, which takes longer than reading.

    Raises ReadError if `path` cannot be read or holds no event file, UnknownChoice for any other `restarts`.
    """
    check_choice("restarts", restarts, get_args(RestartMode))
    return Log(LogReader(localize_source(path), restarts, checksum=checksum))


class Log(HelpfulAttributes):
    """The runs of a log directory, as of the last `refresh`."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._set_logged(reader.contents())

    def mark_used(self, series: Sequence[Series]) -> None:
        """Mark series as recently used; with limited memory these are dropped last."""
        self._reader.room.touch_series(series)

    def read_again(self, series: Sequence[Series]) -> list[Series]:
        """Return these series with their columns, which may have been dropped to save memory.

        Raises ReadError if a file is gone, replaced or truncated, UnknownNode if a series is gone.
        """
        self._set_logged(self._reader.read_again(series))
        return [self.series(each.run, each.tag) for each in series]

    def _set_logged(self, logged: LogContents) -> None:
        self._logged = logged
        self._runs = {run.name: run for run in logged.runs}
        self._series = {(series.run, series.tag): series for series in logged.series}

    def __repr__(self) -> str:
        runs, tags = len(self._runs), len(self.tags())
        return f"<Log {self.name!r}: {format_counted_noun(runs, 'run')}, {format_counted_noun(tags, 'tag')}>"

    @property
    def name(self) -> str:
        """The name of the folder or file."""
        return self._reader.path.resolve().name or str(self._reader.path)

    @property
    def logged(self) -> LogContents:
        """Everything, as one frozen value."""
        return self._logged

    @property
    def runs(self) -> list[str]:
        """Names of the runs, sorted."""
        return list(self._runs)

    def run(self, name: str) -> Run:
        """Return the facts of one run. Raises UnknownNode for an unknown run."""
        if name not in self._runs:
            raise UnknownNode.among(name, self._runs, "run")
        return self._runs[name]

    def tags(self, kind: SeriesKind | str | None = None) -> list[str]:
        """Return the tags of all runs, of one kind (`scalar` or `scalars`) or of all, sorted."""
        kinds = get_args(SeriesKind)
        if kind is not None and kind not in kinds:
            singular = kind.removesuffix("s")
            if singular not in kinds:
                raise UnknownChoice.among("kind", kind, kinds)
            kind = singular
        return sorted({series.tag for series in self._logged.series if kind in (None, series.kind)})

    def series(self, run: str, tag: str) -> Series:
        """Return the points of a tag in a run. Raises UnknownNode for an unknown run or tag."""
        self.run(run)
        if (run, tag) not in self._series:
            raise UnknownNode.among(tag, [other for name, other in self._series if name == run], "tag")
        return self._series[run, tag]

    def places(self, series: Series, point: int) -> list[FileRange]:
        """Return where the samples of a point are in their file: images, sounds or cells of text. Empty for numeric
        kinds.

        Raises RequestError for a point that does not exist.
        """
        self._check_point(series, point)
        return series.data.sample_ranges(point) if isinstance(series.data, BlobPoints) else []

    def read(self, run: str, place: FileRange) -> bytes:
        """Return the bytes at a place of a run. Raises ReadError if its file is gone or was truncated."""
        return read_place(self._reader.path_of(self.run(run).files[place.file]), place)

    def texts(self, series: Series, point: int) -> list[str]:
        """Return the cells of a text, row by row. Invalid UTF-8 shows as U+FFFD."""
        return [decode_log_text(self.read(series.run, place)) for place in self.places(series, point)]

    def tensor(self, series: Series, point: int) -> NDArray[Any]:
        """Return a tensor's values. Raises ReadError if it is damaged or claims far more values than it contains."""
        self._check_point(series, point)
        if not isinstance(series.data, TensorPoints):
            raise RequestError(f"'{series.tag}' holds no tensors but is of the kind {series.kind}")
        place = series.data.event_range(point)
        return tensor_of_event(self.read(series.run, place), int(series.data.value[point]))

    def _check_point(self, series: Series, point: int) -> None:
        if not 0 <= point < len(series):
            raise RequestError(f"'{series.tag}' has {len(series):,} points; there is none of number {point}")

    def refresh(self) -> LogChanges:
        """Read new bytes only; a file that was replaced is read from its start."""
        logged, changes = self._reader.refresh()
        self._set_logged(logged)
        return changes
