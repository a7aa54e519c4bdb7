"""Concatenate the rows of a run's files to the columns of a series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from graphviz_tb.model.columns import Bools, Ints, freeze_array
from graphviz_tb.model.logged import (
    BlobPoints,
    CurvePoints,
    HistogramPoints,
    Series,
    SeriesData,
    SeriesKind,
    TagMetadata,
    TensorPoints,
)
from graphviz_tb.read.logged.kinds import CURVE_COLUMNS, HISTOGRAM_STATISTICS, PointTables
from graphviz_tb.read.logged.rows import PointRows, RowColumn, concatenate_rows
from graphviz_tb.read.records import RECORD_HEADER_BYTES

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
    wide = with_common_width(parts)
    return concatenate_rows(wide) if wide is parts else concatenate_rows(wide).sort_by_tag()


def with_common_width(parts: Sequence[PointRows]) -> Sequence[PointRows]:
    """Convert numbers to float64 if the parts have different widths."""
    if len(parts) < 2:
        return parts
    dtypes = {part.fixed["value"].dtype for part in parts if "value" in part.fixed}
    if len(dtypes) < 2:
        return parts
    return [replace(part, fixed={"value": part.fixed["value"].astype(np.float64)}) for part in parts]


def without_columns(series: Series) -> Series:
    """Return the series without its columns."""
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
    rows = concatenate_rows(with_common_width([rows for _, rows in files]))
    data: SeriesData | None = None
    if kind in DATA_MAKERS:
        file = np.repeat(np.array([number for number, _ in files], np.int32), [len(each) for _, each in files])
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


def ragged_starts(rows: PointRows) -> RowColumn:
    """Return where the ragged values of each point begin, and the end."""
    return freeze_array(np.concatenate(([0], np.cumsum(rows.size))).astype(np.int64))


def histogram_data(rows: PointRows, file: Ints, tables: PointTables) -> SeriesData:
    parts = {name: freeze_array(rows.ragged[name]) for name in ("left", "right", "count")}
    return HistogramPoints(
        ragged_starts(rows), **parts, **{name: freeze_array(rows.fixed[name]) for name in HISTOGRAM_STATISTICS}
    )


def blob_data(rows: PointRows, file: Ints, tables: PointTables) -> SeriesData:
    fixed = {name: freeze_array(rows.fixed[name]) for name in ("shape", "width", "height", "rate", "frames")}
    places = {name: freeze_array(rows.ragged[name]) for name in ("offset", "length")}
    return BlobPoints(
        ragged_starts(rows),
        file=freeze_array(np.repeat(file, rows.size)),
        shapes=tables.shapes.things,
        **places,
        **fixed,
    )


def tensor_data(rows: PointRows, file: Ints, tables: PointTables) -> SeriesData:
    fixed = {name: freeze_array(rows.fixed[name]) for name in ("value", "form")}
    length = freeze_array(rows.fixed["event"])
    return TensorPoints(
        freeze_array(file), freeze_array(rows.place + RECORD_HEADER_BYTES), length, forms=tables.forms.things, **fixed
    )


def curve_data(rows: PointRows, file: Ints, tables: PointTables) -> SeriesData:
    return CurvePoints(ragged_starts(rows), **{name: freeze_array(rows.ragged[name]) for name in CURVE_COLUMNS})


DATA_MAKERS: dict[SeriesKind, MakeData] = {
    "histogram": histogram_data,
    "image": blob_data,
    "audio": blob_data,
    "text": blob_data,
    "layout": blob_data,
    "graph": blob_data,
    "tensor": tensor_data,
    "mesh": tensor_data,
    "pr_curve": curve_data,
}
