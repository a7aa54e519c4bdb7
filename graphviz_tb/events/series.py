"""The columns of a series: the rows of a run's files one after the other, superseded points marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from graphviz_tb.events.point_rows import (
    CURVE_COLUMNS,
    HISTOGRAM_STATISTICS,
    PointRows,
    PointTables,
    RowColumn,
    concatenate_rows,
)
from graphviz_tb.formats.records import RECORD_HEADER_BYTES
from graphviz_tb.model.columns import Bools, Ints, Longs, freeze_array, prefix_sums
from graphviz_tb.model.logs import (
    BlobPoints,
    CurvePoints,
    HistogramPoints,
    Restart,
    Series,
    SeriesData,
    SeriesKind,
    TagMetadata,
    TensorPoints,
)

# Mark points that a later restart of the run supersedes. No point is deleted.
#
# A run that crashed and continued from a checkpoint writes some steps again, into a new file. TensorFlow 1 marks this
# with a SessionLog; otherwise two files whose times do not overlap show it. Files with overlapping times are two
# writers of one run.

# Kinds written once per run, or again at every restart: their steps mean nothing.
STEPLESS_KINDS: frozenset[SeriesKind] = frozenset(("hparams", "graph", "layout", "text"))


@dataclass(frozen=True, slots=True)
class FileLife:
    """The points of one series in one file, in the order of writing, and the time range of the whole file."""

    file: int
    step: Longs
    place: Longs
    first_wall: float
    last_wall: float


@dataclass(frozen=True, slots=True)
class ProgramStart:
    """A SessionLog record: a program started at `step`."""

    file: int
    place: int
    step: int


class SupersedingRestart(NamedTuple):
    """A restart in a file at a step, marked by a SessionLog if `logged`, and the number of points it superseded."""

    file: int
    step: int
    logged: bool
    points: int = 0


@dataclass(frozen=True, slots=True)
class SupersededPoints:
    """A mark per point of a series, and the restarts that superseded any."""

    points: Bools
    restarts: tuple[SupersedingRestart, ...]


def mark_superseded(lives: list[FileLife], starts: list[ProgramStart]) -> SupersededPoints:
    """Mark superseded points of a series.

    `lives` are in the order of the files, `starts` are the SessionLogs of the run in the order of writing.
    """
    marks = [np.zeros(len(life.step), np.bool_) for life in lives]
    counts: dict[SupersedingRestart, int] = {}
    for start in starts:
        for life, mark in zip(lives, marks, strict=True):
            before = life.file < start.file or (life.place < start.place if life.file == start.file else False)
            restart = SupersedingRestart(start.file, start.step, logged=True)
            _mark_points(mark, before & (life.step >= start.step), restart, counts)
    for life, mark, later in zip(lives, marks, _find_later_lives(lives), strict=True):
        if later is not None:
            restart = SupersedingRestart(lives[later].file, int(lives[later].step[0]), logged=False)
            _mark_points(mark, life.step >= restart.step, restart, counts)
    return SupersededPoints(
        np.concatenate(marks), tuple(restart._replace(points=points) for restart, points in counts.items())
    )


def _mark_points(mark: Bools, which: Bools, restart: SupersedingRestart, counts: dict[SupersedingRestart, int]) -> None:
    new = int(np.count_nonzero(which & ~mark))
    if new:
        counts[restart] = counts.get(restart, 0) + new
        mark |= which


def _find_later_lives(lives: list[FileLife]) -> list[int | None]:
    """Return, for each life, the number of the later life with the lowest first step that starts after it ended."""
    found: list[int | None] = [None] * len(lives)
    if len(lives) < 2:
        return found
    first_step = np.array([life.step[0] for life in lives])
    first_wall = np.array([life.first_wall for life in lives])
    for number, life in enumerate(lives[:-1]):
        later = np.flatnonzero(first_wall[number + 1 :] >= life.last_wall) + number + 1
        if len(later):
            found[number] = int(later[np.argmin(first_step[later])])
    return found


def summarize_restarts(found: list[SupersedingRestart], walls: list[float]) -> tuple[Restart, ...]:
    """Return the restarts of a run, over all its series: one per file, or one per SessionLog.

    `walls` are the first times of the files.
    """
    # File, and the step if a SessionLog names it ─▶ the lowest step, and the number of points.
    sums: dict[tuple[int, int | None], tuple[int, int]] = {}
    for file, step, logged, points in found:
        key = file, step if logged else None
        least, total = sums.get(key, (step, 0))
        sums[key] = min(least, step), total + points
    return tuple(
        Restart(step, file, walls[file], count, logged_step is not None)
        for (file, logged_step), (step, count) in sorted(sums.items(), key=lambda item: (item[0][0], item[1][0]))
    )


# Concatenate the rows of a run's files to the columns of a series.

EMPTY_VALUES = freeze_array(np.zeros(0, np.float32))
EMPTY_STEPS, EMPTY_WALLS = freeze_array(np.zeros(0, np.int64)), freeze_array(np.zeros(0, np.float64))
EMPTY_SUPERSEDED = freeze_array(np.zeros(0, np.bool_))
# Values of version 1 have no metadata: the plugin that TensorBoard assigns them to.
DEFAULT_ABOUTS: dict[SeriesKind, TagMetadata] = {
    "scalar": TagMetadata("scalars"),
    "histogram": TagMetadata("histograms"),
    "image": TagMetadata("images"),
    "audio": TagMetadata("audio"),
}
EMPTY_ABOUT = TagMetadata()


def series_rows_in_file(parts: Sequence[PointRows]) -> PointRows:
    """Return the points of a series in one file, in the order of the file."""
    wide = _with_common_width(parts)
    return concatenate_rows(wide) if wide is parts else concatenate_rows(wide).sort_by_tag()


def _with_common_width(parts: Sequence[PointRows]) -> Sequence[PointRows]:
    """Convert numbers to float64 if the parts have different widths."""
    if len(parts) < 2:
        return parts
    dtypes = {part.fixed["value"].dtype for part in parts if "value" in part.fixed}
    if len(dtypes) < 2:
        return parts
    return [replace(part, fixed={"value": part.fixed["value"].astype(np.float64)}) for part in parts]


def without_columns(series: Series) -> Series:
    return replace(
        series,
        step=EMPTY_STEPS,
        wall=EMPTY_WALLS,
        superseded=EMPTY_SUPERSEDED,
        value=EMPTY_VALUES,
        data=None,
        dropped=series.extent(),
    )


def make_series(
    run: str,
    tag: str,
    kind: SeriesKind,
    about: TagMetadata | None,
    files: Sequence[tuple[int, PointRows]],
    superseded: Bools,
    tables: PointTables,
    generation: int,
) -> Series:
    """Make a series from the points of each file, given with the file's number. Its columns are read-only."""
    rows = concatenate_rows(_with_common_width([rows for _, rows in files]))
    data: SeriesData | None = None
    if kind in DATA_MAKERS:
        file = np.repeat(np.array([number for number, _ in files], np.int32), [len(part) for _, part in files])
        data = DATA_MAKERS[kind](rows, file, tables)
    value = rows.fixed["value"] if kind == "scalar" else EMPTY_VALUES
    return Series(
        run=run,
        tag=tag,
        kind=kind,
        about=about or DEFAULT_ABOUTS.get(kind, EMPTY_ABOUT),
        step=freeze_array(rows.step),
        wall=freeze_array(rows.wall),
        superseded=freeze_array(superseded),
        value=freeze_array(value),
        data=data,
        logged_as=tag,
        generation=generation,
    )


MakeData = Callable[[PointRows, Ints, PointTables], SeriesData]


def _ragged_starts(rows: PointRows) -> RowColumn:
    """Return where the ragged values of each point begin, and the end."""
    return freeze_array(prefix_sums(rows.size))


def _histogram_data(rows: PointRows, file: Ints, tables: PointTables) -> SeriesData:
    parts = {name: freeze_array(rows.ragged[name]) for name in ("left", "right", "count")}
    return HistogramPoints(
        _ragged_starts(rows), **parts, **{name: freeze_array(rows.fixed[name]) for name in HISTOGRAM_STATISTICS}
    )


def _blob_data(rows: PointRows, file: Ints, tables: PointTables) -> SeriesData:
    fixed = {name: freeze_array(rows.fixed[name]) for name in ("shape", "width", "height", "rate", "frames")}
    places = {name: freeze_array(rows.ragged[name]) for name in ("offset", "length")}
    return BlobPoints(
        _ragged_starts(rows),
        file=freeze_array(np.repeat(file, rows.size)),
        shapes=tables.shapes.things,
        **places,
        **fixed,
    )


def _tensor_data(rows: PointRows, file: Ints, tables: PointTables) -> SeriesData:
    fixed = {name: freeze_array(rows.fixed[name]) for name in ("value", "form")}
    length = freeze_array(rows.fixed["event"])
    return TensorPoints(
        freeze_array(file), freeze_array(rows.place + RECORD_HEADER_BYTES), length, forms=tables.forms.things, **fixed
    )


def _curve_data(rows: PointRows, file: Ints, tables: PointTables) -> SeriesData:
    return CurvePoints(_ragged_starts(rows), **{name: freeze_array(rows.ragged[name]) for name in CURVE_COLUMNS})


DATA_MAKERS: dict[SeriesKind, MakeData] = {
    "histogram": _histogram_data,
    "image": _blob_data,
    "audio": _blob_data,
    "text": _blob_data,
    "layout": _blob_data,
    "graph": _blob_data,
    "tensor": _tensor_data,
    "mesh": _tensor_data,
    "pr_curve": _curve_data,
}
