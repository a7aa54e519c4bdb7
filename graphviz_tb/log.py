"""Public interface of logs: `open_log` and `Log`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, get_args

from numpy.typing import NDArray

from graphviz_tb.errors import RequestError, UnknownChoice, UnknownNode
from graphviz_tb.model.logged import Blobs, Kind, LogChanges, Logged, Place, Restarts, Run, Series, TensorPoints
from graphviz_tb.model.units import counted
from graphviz_tb.read.inputs import local
from graphviz_tb.read.logged import LogReader
from graphviz_tb.read.logged.places import bytes_at, tensor_in
from graphviz_tb.read.logged.structure import text


def open_log(path: str | os.PathLike[str], restarts: Restarts = "last", *, checksum: bool = False) -> Log:
    """Read everything logged below a folder, or in one event file.

    `restarts`: "last" marks points that a later restart of the run wrote again, "keep" marks none; all points are kept
    either way. `checksum` verifies every record, which takes longer than reading.

    Raises ReadError if `path` cannot be read or holds no event file, UnknownChoice for any other `restarts`.
    """
    if restarts not in get_args(Restarts):
        raise UnknownChoice.among("restarts", restarts, get_args(Restarts))
    return Log(LogReader(local(path), restarts, checksum=checksum))


class Log:
    """The runs of a log directory, as of the last `refresh`."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._take(reader.read())

    def ask(self, series: Sequence[Series]) -> None:
        """Mark series as recently used; with limited memory these are dropped last."""
        self._reader.room.ask(series)

    def read_again(self, series: Sequence[Series]) -> list[Series]:
        """Return these series with their columns, which may have been dropped to save memory.

        Raises ReadError if a file is gone, replaced or truncated, UnknownNode if a series is gone.
        """
        self._take(self._reader.read_again(series))
        return [self.series(each.run, each.tag) for each in series]

    def _take(self, logged: Logged) -> None:
        self._logged = logged
        self._runs = {run.name: run for run in logged.runs}
        self._series = {(series.run, series.tag): series for series in logged.series}

    def __repr__(self) -> str:
        runs, tags = len(self._runs), len(self.tags())
        return f"<Log {self.name!r}: {counted(runs, 'run')}, {counted(tags, 'tag')}>"

    @property
    def name(self) -> str:
        """The name of the folder or file."""
        return self._reader.path.resolve().name or str(self._reader.path)

    @property
    def logged(self) -> Logged:
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

    def tags(self, kind: Kind | None = None) -> list[str]:
        """Return the tags of all runs, of one kind or of all, sorted."""
        if kind is not None and kind not in get_args(Kind):
            raise UnknownChoice.among("kind", kind, get_args(Kind))
        return sorted({each.tag for each in self._logged.series if kind in (None, each.kind)})

    def series(self, run: str, tag: str) -> Series:
        """Return the points of a tag in a run. Raises UnknownNode for an unknown run or tag."""
        self.run(run)
        if (run, tag) not in self._series:
            raise UnknownNode.among(tag, [other for name, other in self._series if name == run], "tag")
        return self._series[run, tag]

    def places(self, series: Series, point: int) -> list[Place]:
        """Return where the samples of a point are in their file: images, sounds or cells of text. Empty for numeric
        kinds.

        Raises RequestError for a point that does not exist.
        """
        self._check(series, point)
        return series.data.places(point) if isinstance(series.data, Blobs) else []

    def read(self, run: str, place: Place) -> bytes:
        """Return the bytes at a place of a run. Raises ReadError if its file is gone or was truncated."""
        return bytes_at(self._reader.path_of(self.run(run).files[place.file]), place)

    def texts(self, series: Series, point: int) -> list[str]:
        """Return the cells of a text, row by row. Invalid UTF-8 shows as U+FFFD."""
        return [text(self.read(series.run, place)) for place in self.places(series, point)]

    def tensor(self, series: Series, point: int) -> NDArray[Any]:
        """Return a tensor's values. Raises ReadError if it is damaged or claims far more than it holds."""
        self._check(series, point)
        if not isinstance(series.data, TensorPoints):
            raise RequestError(f"'{series.tag}' holds no tensors but is of the kind {series.kind}")
        place = series.data.place(point)
        return tensor_in(self.read(series.run, place), int(series.data.value[point]))

    def _check(self, series: Series, point: int) -> None:
        if not 0 <= point < len(series):
            raise RequestError(f"'{series.tag}' has {len(series):,} points; there is none of number {point}")

    def refresh(self) -> LogChanges:
        """Read new bytes only; a file that was replaced is read from its start."""
        logged, changes = self._reader.refresh()
        self._take(logged)
        return changes
