"""Concatenate the rows of a run's files to the columns of a series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from graphviz_tb.model.columns import Bools, Ints, freeze
from graphviz_tb.model.logged import About, Blobs, Curves, Histograms, Kind, Series, SeriesData, TensorPoints
from graphviz_tb.read.logged.kinds import CURVES, HISTOGRAM, Tables
from graphviz_tb.read.logged.rows import Column, Rows, concatenated
from graphviz_tb.read.records import HEADER

NO_VALUES = freeze(np.zeros(0, np.float32))
NO_STEPS, NO_WALLS = freeze(np.zeros(0, np.int64)), freeze(np.zeros(0, np.float64))
NOTHING_SUPERSEDED = freeze(np.zeros(0, np.bool_))
# Values of version 1 have no metadata: the plugin that TensorBoard assigns them to.
ABOUTS: dict[Kind, About] = {
    "scalar": About("scalars"),
    "histogram": About("histograms"),
    "image": About("images"),
    "audio": About("audio"),
}
NOTHING = About()


def in_file(parts: Sequence[Rows]) -> Rows:
    """Return the points of a series in one file, in the order of the file."""
    wide = widened(parts)
    return concatenated(wide) if wide is parts else concatenated(wide).by_tag()


def widened(parts: Sequence[Rows]) -> Sequence[Rows]:
    """Convert numbers to float64 if the parts have different widths."""
    if len(parts) < 2:
        return parts
    dtypes = {part.fixed["value"].dtype for part in parts if "value" in part.fixed}
    if len(dtypes) < 2:
        return parts
    return [replace(part, fixed={"value": part.fixed["value"].astype(np.float64)}) for part in parts]


def outlined(series: Series) -> Series:
    """Return the series without its columns."""
    return replace(
        series,
        step=NO_STEPS,
        wall=NO_WALLS,
        superseded=NOTHING_SUPERSEDED,
        value=NO_VALUES,
        data=None,
        dropped=series.extent(),
    )


def series_of(
    run: str,
    tag: str,
    kind: Kind,
    about: About | None,
    files: Sequence[tuple[int, Rows]],
    superseded: Bools,
    tables: Tables,
    generation: int,
) -> Series:
    """Make a series from the points of each file, given with the file's number. Its columns are read-only."""
    rows = concatenated(widened([rows for _, rows in files]))
    data: SeriesData | None = None
    if kind in _DATA:
        file = np.repeat(np.array([number for number, _ in files], np.int32), [len(each) for _, each in files])
        data = _DATA[kind](rows, file, tables)
    value = rows.fixed["value"] if kind == "scalar" else NO_VALUES
    return Series(
        run=run,
        tag=tag,
        kind=kind,
        about=about or ABOUTS.get(kind, NOTHING),
        step=freeze(rows.step),
        wall=freeze(rows.wall),
        superseded=freeze(superseded),
        value=freeze(value),
        data=data,
        logged_as=tag,
        generation=generation,
    )


_Make = Callable[[Rows, Ints, Tables], SeriesData]


def _start(rows: Rows) -> Column:
    """Return where the ragged values of each point begin, and the end."""
    return freeze(np.concatenate(([0], np.cumsum(rows.size))).astype(np.int64))


def _histograms(rows: Rows, file: Ints, tables: Tables) -> SeriesData:
    parts = {name: freeze(rows.ragged[name]) for name in ("left", "right", "count")}
    return Histograms(_start(rows), **parts, **{name: freeze(rows.fixed[name]) for name in HISTOGRAM})


def _blobs(rows: Rows, file: Ints, tables: Tables) -> SeriesData:
    fixed = {name: freeze(rows.fixed[name]) for name in ("shape", "width", "height", "rate", "frames")}
    places = {name: freeze(rows.ragged[name]) for name in ("offset", "length")}
    return Blobs(_start(rows), file=freeze(np.repeat(file, rows.size)), shapes=tables.shapes.all, **places, **fixed)


def _tensors(rows: Rows, file: Ints, tables: Tables) -> SeriesData:
    fixed = {name: freeze(rows.fixed[name]) for name in ("value", "form")}
    length = freeze(rows.fixed["event"])
    return TensorPoints(freeze(file), freeze(rows.place + HEADER), length, forms=tables.forms.all, **fixed)


def _curves(rows: Rows, file: Ints, tables: Tables) -> SeriesData:
    return Curves(_start(rows), **{name: freeze(rows.ragged[name]) for name in CURVES})


_DATA: dict[Kind, _Make] = {
    "histogram": _histograms,
    "image": _blobs,
    "audio": _blobs,
    "text": _blobs,
    "layout": _blobs,
    "graph": _blobs,
    "tensor": _tensors,
    "mesh": _tensors,
    "pr_curve": _curves,
}
