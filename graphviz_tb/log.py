"""What a user holds of a log: `open_log`, and the `Log` that it gives."""

from __future__ import annotations

import os
from typing import get_args

from graphviz_tb.errors import UnknownChoice, UnknownNode
from graphviz_tb.model.logged import Changes, Kind, Logged, Restarts, Run, Series
from graphviz_tb.read.logged import LogReader


def open_log(path: str | os.PathLike[str], restarts: Restarts = "last", *, checksum: bool = False) -> Log:
    """Read all that was logged below a folder, or in one event file.

    `restarts`: "last" marks the points that a later life of a run wrote again, "keep" marks none; all points are kept
    in both. `checksum` checks the payload of every record, which takes longer than to read it.

    Raises ReadError where `path` cannot be read or holds no event file, RequestError for another word.
    """
    if restarts not in get_args(Restarts):
        raise UnknownChoice.among("restarts", restarts, get_args(Restarts))
    return Log(LogReader(path, restarts, checksum=checksum))


class Log:
    """The runs of a log directory. What was read stays as it is until `refresh` is called."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._take(reader.read())

    def _take(self, logged: Logged) -> None:
        self._logged = logged
        self._runs = {run.name: run for run in logged.runs}
        self._series = {(series.run, series.tag): series for series in logged.series}

    @property
    def logged(self) -> Logged:
        """All of it, as one frozen value."""
        return self._logged

    @property
    def runs(self) -> list[str]:
        """The names of the runs, in the order of their names."""
        return list(self._runs)

    def run(self, name: str) -> Run:
        """What there is to say of one run. Raises UnknownNode for a name that no run has."""
        if name not in self._runs:
            raise UnknownNode.among(name, self._runs, "run")
        return self._runs[name]

    def tags(self, kind: Kind | None = None) -> list[str]:
        """The tags that any run has, of one kind or of all, in the order of their names."""
        if kind is not None and kind not in get_args(Kind):
            raise UnknownChoice.among("kind", kind, get_args(Kind))
        return sorted({each.tag for each in self._logged.series if kind in (None, each.kind)})

    def series(self, run: str, tag: str) -> Series:
        """The points of a tag in a run. Raises UnknownNode for a run or a tag that is not there."""
        self.run(run)
        if (run, tag) not in self._series:
            raise UnknownNode.among(tag, [other for name, other in self._series if name == run], "tag")
        return self._series[run, tag]

    def refresh(self) -> Changes:
        """Read what was written since: only new bytes are read; a file that was replaced is read from its start."""
        logged, changes = self._reader.refresh()
        self._take(logged)
        return changes
