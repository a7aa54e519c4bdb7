"""Everything that event files hold, as columns."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from graphviz_tb.model.logged import About, Changes, Logged, Restarts, Run, Series
from graphviz_tb.proto import Event
from graphviz_tb.read.logdir import is_event_file
from graphviz_tb.read.records import Record, records
from graphviz_tb.read.walk import files_below


class LogReader:
    """Reads a log directory, and goes on reading it: scalars of version 1 only, until the fast reader is there."""

    def __init__(self, path: str | os.PathLike[str], restarts: Restarts = "last", *, checksum: bool = False) -> None:
        self.path, self.restarts, self.checksum = Path(path), restarts, checksum

    def refresh(self) -> tuple[Logged, Changes]:
        """All there is now, and what is new of it."""
        return self.read(), Changes()

    def read(self) -> Logged:
        """All there is now."""
        found: dict[str, list[Path]] = {}
        for run, path in files_below(self.path).files:
            if is_event_file(path):
                found.setdefault(run, []).append(path)
        series = [each for run, paths in found.items() for each in _scalars(run, paths)]
        runs = tuple(Run(name, tuple(map(str, paths))) for name, paths in found.items())
        return Logged(runs, tuple(series), generation=1)


def _scalars(run: str, paths: list[Path]) -> list[Series]:
    points: dict[str, list[tuple[int, float, float]]] = {}
    for path in paths:
        with path.open("rb") as handle:
            for record in records(handle):
                if isinstance(record, Record):
                    event = Event.FromString(record.payload)
                    for each in event.summary.value:
                        if each.WhichOneof("value") == "simple_value":
                            point = event.step, event.wall_time, each.simple_value
                            points.setdefault(each.tag, []).append(point)
    made = []
    for tag, rows in points.items():
        step, wall, value = (np.array(column) for column in zip(*rows, strict=True))
        none = np.zeros(len(rows), np.bool_)
        about = About("scalars")
        made.append(Series(run, tag, "scalar", about, step, wall, none, value.astype(np.float32), logged_as=tag))
    return made
