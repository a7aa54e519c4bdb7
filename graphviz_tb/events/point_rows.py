"""Points of many series as columns, and the columns of each kind of value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.events.batch_decode import WAV_HEADER_BYTES, Numbering, ValueGroup, lines_as_numbers
from graphviz_tb.events.structure import ValueForm
from graphviz_tb.graphs.tensors import decode_elements
from graphviz_tb.limits import MAX_FILLED_NUMBERS
from graphviz_tb.model.columns import Ints, Longs, places_of_runs, prefix_sums, run_bounds
from graphviz_tb.model.logs import Doubles, SeriesKind, TensorForm
from graphviz_tb.model.tensors import DTYPE_TABLE, dtype_name

# Points of many series as columns: in decoding order, then sorted by series.

RowColumn = NDArray[Any]


@dataclass(frozen=True, slots=True)
class PointRows:
    """Points: number of the tag, file offset of the record (`place`), step, wall time.

    `fixed` columns have one value per point; `ragged` ones have `size[i]` consecutive values for point i.
    """

    tag: Ints
    place: Longs
    step: Longs
    wall: Doubles
    fixed: dict[str, RowColumn] = field(default_factory=dict)
    ragged: dict[str, RowColumn] = field(default_factory=dict)
    size: Longs = field(default_factory=lambda: np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.tag)

    def take_points(self, points: Longs) -> PointRows:
        """Return some points, in this order."""
        made = replace(
            self,
            tag=self.tag[points],
            place=self.place[points],
            step=self.step[points],
            wall=self.wall[points],
            fixed={name: column[points] for name, column in self.fixed.items()},
        )
        if not self.ragged:
            return made
        size = self.size[points]
        values = places_of_runs(prefix_sums(self.size)[:-1][points], size)
        return replace(made, size=size, ragged={name: column[values] for name, column in self.ragged.items()})

    def slice_points(self, part: slice, inner: slice) -> PointRows:
        """Return a slice of points, with `inner` as the slice of ragged values, without a copy."""
        return PointRows(
            self.tag[part],
            self.place[part],
            self.step[part],
            self.wall[part],
            {name: column[part] for name, column in self.fixed.items()},
            {name: column[inner] for name, column in self.ragged.items()},
            self.size[part],
        )

    def memory_bytes(self) -> int:
        columns: list[RowColumn] = [self.tag, self.place, self.step, self.wall, self.size]
        return sum(column.nbytes for column in (*columns, *self.fixed.values(), *self.ragged.values()))

    def sort_by_tag(self) -> PointRows:
        """Return the points sorted by tag, within a tag in the order of the file."""
        order = np.lexsort((self.place, self.tag))
        return self if np.all(order[1:] > order[:-1]) else self.take_points(order)


def concatenate_rows(parts: Sequence[PointRows]) -> PointRows:
    """Concatenate rows that have the same columns."""
    if len(parts) == 1:
        return parts[0]

    def join(columns: list[RowColumn]) -> RowColumn:
        return np.concatenate(columns)

    first = parts[0]
    return PointRows(
        join([part.tag for part in parts]),
        join([part.place for part in parts]),
        join([part.step for part in parts]),
        join([part.wall for part in parts]),
        {name: join([part.fixed[name] for part in parts]) for name in first.fixed},
        {name: join([part.ragged[name] for part in parts]) for name in first.ragged},
        join([part.size for part in parts]),
    )


class SortedRows:
    """Rows sorted by tag, with the bounds of each tag."""

    def __init__(self, rows: PointRows) -> None:
        self.rows = rows.sort_by_tag()
        starts = run_bounds(self.rows.tag)
        tags = self.rows.tag[starts[:-1]].tolist()
        parts = map(slice, starts[:-1].tolist(), starts[1:].tolist())
        inner: Iterable[slice] = repeat(slice(0, 0))
        if self.rows.ragged:
            ends = prefix_sums(self.rows.size)[starts].tolist()
            inner = map(slice, ends[:-1], ends[1:])
        self._bounds = dict(zip(tags, zip(parts, inner, strict=False), strict=True))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def tags(self) -> list[int]:
        """Tags with points, by number."""
        return list(self._bounds)

    def rows_of_tag(self, tag: int) -> PointRows | None:
        bounds = self._bounds.get(tag)
        return None if bounds is None else self.rows.slice_points(*bounds)


class GrowingRows:
    """Rows of a growing file. New rows are merged with parts of similar size, so that there are few parts.

    `steps` and `walls` are minimum and maximum; `count` includes the points of `dropped` tags.
    """

    def __init__(self) -> None:
        self.parts: list[SortedRows] = []
        self.dropped: set[int] = set()
        self.steps, self.walls = (2**63 - 1, -(2**63)), (np.inf, -np.inf)
        self.count = 0

    def add_rows(self, rows: PointRows) -> None:
        """Add rows that were read next."""
        self.count += len(rows)
        self.steps = min(self.steps[0], int(np.min(rows.step))), max(self.steps[1], int(np.max(rows.step)))
        self.walls = (
            float(np.fmin.reduce(rows.wall, initial=self.walls[0])),
            float(np.fmax.reduce(rows.wall, initial=self.walls[1])),
        )
        self._merge_part(rows)

    def _merge_part(self, rows: PointRows) -> None:
        parts = self.parts
        while parts and len(parts[-1]) <= 2 * len(rows):
            rows = concatenate_rows([parts.pop().rows, rows])
        parts.append(SortedRows(rows))

    @property
    def tags(self) -> set[int]:
        """Tags with points, loaded or dropped."""
        return self.dropped.union(*(part.tags for part in self.parts))

    def drop_tags(self, tags: set[int]) -> None:
        """Drop the points of some tags, but remember that these exist."""
        listed, kept = np.array(sorted(tags), np.int64), []
        for part in self.parts:
            found = tags.intersection(part.tags)
            self.dropped |= found
            if not found:
                kept.append(part)
            elif len(found) < len(part.tags):
                kept.append(SortedRows(part.rows.take_points(np.flatnonzero(~np.isin(part.rows.tag, listed)))))
        self.parts = kept

    def restore_rows(self, rows: PointRows) -> None:
        """Add the points of dropped tags, read again."""
        self.dropped.difference_update(rows.tag.tolist())
        self._merge_part(rows)

    def rows_of_tag(self, tag: int) -> list[PointRows]:
        """Return the points of one tag, in the order of the file."""
        return [rows for part in self.parts if (rows := part.rows_of_tag(tag)) is not None]


# The kind of a value, by its form, and the columns of each kind.

GRAPH_PLUGINS = {
    "graphs",
    "graph_keras_model",
    "graph_run_metadata",
    "graph_run_metadata_graph",
    "graph_tagged_run_metadata",
}
HISTOGRAM_STATISTICS = ("minimum", "maximum", "number", "sum", "sum_squares")
CURVE_COLUMNS = ("true_positives", "false_positives", "true_negatives", "false_negatives", "precision", "recall")


class PointTables:
    """Shapes and forms of all points of a run, numbered."""

    def __init__(self) -> None:
        self.shapes: Numbering[tuple[int, ...]] = Numbering()
        self.forms: Numbering[TensorForm] = Numbering()


class KindRule(NamedTuple):
    """A kind, a test for its forms, and a function that makes its columns."""

    kind: SeriesKind
    fits: Callable[[ValueForm], bool]
    rows: Callable[[ValueGroup, PointTables], PointRows]


def decode_rows(group: ValueGroup, tables: PointTables) -> tuple[SeriesKind, PointRows] | None:
    """Return the kind and columns of values whose plugin is known; None if there is nothing to show."""
    for rule in KIND_RULES:
        if rule.fits(group.form):
            return rule.kind, rule.rows(group, tables)
    return None


def kind_of_form(form: ValueForm) -> SeriesKind | None:
    return next((rule.kind for rule in KIND_RULES if rule.fits(form)), None)


def _rows_without_columns(group: ValueGroup, tables: PointTables) -> PointRows:
    return PointRows(group.tag, group.place, group.step, group.wall)


def _rows_with_columns(
    group: ValueGroup,
    fixed: dict[str, RowColumn],
    ragged: dict[str, RowColumn] | None = None,
    size: Longs | None = None,
) -> PointRows:
    return PointRows(
        group.tag,
        group.place,
        group.step,
        group.wall,
        fixed,
        ragged or {},
        np.zeros(0, np.int64) if size is None else size,
    )


# Numbers.


def _is_numeric_form(form: ValueForm) -> bool:
    held = form.field in ("content", "float_val", "double_val") and form.dtype in DTYPE_TABLE
    return held and DTYPE_TABLE[form.dtype].form not in ("", "<c8", "<c16")


def _decode_numbers(group: ValueGroup) -> NDArray[Any]:
    """Return the numbers of each value as a line, in the tensor's dtype. The last number fills up the claimed size."""
    form = group.form
    if form.field == "simple_value":
        return lines_as_numbers(group.numbers["value"], "<f4")
    dtype = {"float_val": "<f4", "double_val": "<f8"}.get(form.field, DTYPE_TABLE[form.dtype].form)
    lines = next(iter(group.numbers.values()), np.zeros((len(group), 0), np.uint8))
    width = np.dtype(dtype).itemsize
    numbers = lines_as_numbers(lines[:, : lines.shape[1] // width * width], dtype)
    if form.field == "content":
        numbers = decode_elements(numbers, form.dtype)
    claimed = min(prod(form.shape), max(numbers.shape[1], MAX_FILLED_NUMBERS))
    if numbers.shape[1] < claimed:
        last = numbers[:, -1:] if numbers.shape[1] else np.zeros((len(numbers), 1), numbers.dtype)
        numbers = np.concatenate([numbers, np.broadcast_to(last, (len(numbers), claimed - numbers.shape[1]))], axis=1)
    return numbers[:, :claimed]


def _is_scalar_form(form: ValueForm) -> bool:
    if form.field == "simple_value":
        return True
    return form.plugin == "scalars" and _is_numeric_form(form) and set(form.shape) <= {1}


def _scalar_rows(group: ValueGroup, tables: PointTables) -> PointRows:
    column = _decode_numbers(group)[:, 0]
    exact = np.float32 if column.dtype in (np.float32, np.float16) else np.float64
    return _rows_with_columns(group, {"value": column.astype(exact)})


# Histograms.


def _is_histogram_form(form: ValueForm) -> bool:
    return form.field == "histo" or (form.plugin == "histograms" and _is_matrix_form(form, 1, 3))


def _is_matrix_form(form: ValueForm, axis: int, size: int) -> bool:
    """Return whether values are matrices of numbers with so many columns (axis 1) or rows."""
    return (
        _is_numeric_form(form)
        and len(form.shape) == 2
        and form.shape[axis] == size
        and 0 <= prod(form.shape) < 2**31
        and min(form.shape) >= 0
    )


def _histogram_rows(group: ValueGroup, tables: PointTables) -> PointRows:
    if group.form.field == "histo":
        return _histogram_proto_rows(group)
    triples = _decode_numbers(group).astype(np.float64)
    buckets = triples.shape[1] // 3
    triples = triples[:, : buckets * 3].reshape(len(group), buckets, 3)
    parts = {name: triples[:, :, column].ravel() for column, name in enumerate(("left", "right", "count"))}
    unsaid = np.full(len(group), np.nan)
    return _rows_with_columns(
        group, dict.fromkeys(HISTOGRAM_STATISTICS, unsaid), parts, np.full(len(group), buckets, np.int64)
    )


def _histogram_proto_rows(group: ValueGroup) -> PointRows:
    """Convert HistogramProto to TensorBoard's buckets (`data_compat`).

    The proto has limits up to the largest double and empty buckets at both ends. The result reaches from the first to
    the last non-empty bucket, between minimum and maximum.
    """
    parts = {name: lines_as_numbers(lines, "<f8") for name, lines in group.numbers.items()}
    if "stats" in parts:  # all five in one line
        parts |= {name: parts["stats"][:, index : index + 1] for index, name in enumerate(HISTOGRAM_STATISTICS)}
    empty = np.zeros((len(group), 0))
    limits, counts = parts.get("limits", empty), parts.get("counts", empty)
    buckets = min(limits.shape[1], counts.shape[1])
    limits, counts = limits[:, :buckets], counts[:, :buckets]
    fixed: dict[str, RowColumn] = {
        name: parts[name][:, 0] if name in parts else np.zeros(len(group)) for name in HISTOGRAM_STATISTICS
    }
    filled = counts > 0
    column = np.arange(buckets)
    first = np.where(filled.any(axis=1), filled.argmax(axis=1), buckets) if buckets else np.zeros(len(group), np.int64)
    last = np.where(filled.any(axis=1), buckets - 1 - filled[:, ::-1].argmax(axis=1), -1) if buckets else first - 1
    kept = (column >= first[:, None]) & (column <= last[:, None])
    left = np.concatenate([limits[:, :1], limits[:, :-1]], axis=1)
    left = np.where(column == first[:, None], fixed["minimum"][:, None], left)
    right = np.where(column == last[:, None], fixed["maximum"][:, None], limits)
    ragged = {"left": left[kept], "right": right[kept], "count": counts[kept]}
    return _rows_with_columns(group, fixed, ragged, kept.sum(axis=1))


# Bytes on disk.


def _blob_rows(
    group: ValueGroup,
    tables: PointTables,
    at: Longs,
    length: Longs,
    shape: tuple[int, ...],
    rate: RowColumn,
    frames: RowColumn,
) -> PointRows:
    count, samples = at.shape
    fixed: dict[str, RowColumn] = {
        "shape": np.full(count, tables.shapes.number_of(shape), np.int32),
        "width": np.full(count, group.form.width, np.int32),
        "height": np.full(count, group.form.height, np.int32),
        "rate": rate,
        "frames": frames,
    }
    ragged = {"offset": at.ravel(), "length": length.ravel()}
    return _rows_with_columns(group, fixed, ragged, np.full(count, samples, np.int64))


def _is_image_form(form: ValueForm) -> bool:
    return form.field == "image" or (form.plugin == "images" and form.field == "strings" and len(form.shape) == 1)


def _image_rows(group: ValueGroup, tables: PointTables) -> PointRows:
    # Without metadata, the two sizes are still among the strings.
    skip = 2 if group.form.field == "strings" and not group.form.sized else 0
    at, length = group.at[:, skip:], group.length[:, skip:]
    none = np.zeros(len(group))
    return _blob_rows(group, tables, at, length, (at.shape[1],), none, none.astype(np.int64))


def _is_audio_form(form: ValueForm) -> bool:
    return form.field == "audio" or (form.plugin == "audio" and form.field == "strings" and 0 < len(form.shape) <= 2)


def _audio_rows(group: ValueGroup, tables: PointTables) -> PointRows:
    """Return the rows of sounds; labels next to them are left out."""
    stride = max(1, prod(group.form.shape[1:])) if group.form.field == "strings" else 1
    at, length = group.at[:, ::stride], group.length[:, ::stride]
    rate, frames = np.full(len(group), group.form.rate), np.full(len(group), group.form.frames, np.int64)
    if group.heads is not None:
        rate, frames = _parse_wav_headers(group.heads)
    return _blob_rows(group, tables, at, length, (at.shape[1],), rate, frames)


def _parse_wav_headers(heads: NDArray[np.uint8]) -> tuple[NDArray[np.float64], Longs]:
    """Return sample rate and number of frames from WAV headers; 0 for unusual headers."""
    count, width = heads.shape
    if width < WAV_HEADER_BYTES:
        return np.zeros(count), np.zeros(count, np.int64)

    def is_at(position: int, word: bytes) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = np.all(heads[:, position : position + len(word)] == list(word), axis=1)
        return found

    usual = is_at(0, b"RIFF") & is_at(8, b"WAVEfmt ") & is_at(36, b"data")
    rate = np.where(usual, lines_as_numbers(heads[:, 24:28], "<u4")[:, 0], 0).astype(np.float64)
    size = lines_as_numbers(heads[:, 40:44], "<u4")[:, 0].astype(np.int64)
    frame = np.maximum(lines_as_numbers(heads[:, 32:34], "<u2")[:, 0].astype(np.int64), 1)
    return rate, np.where(usual, size // frame, 0)


def _strings_of_plugins(*plugins: str) -> Callable[[ValueForm], bool]:
    return lambda form: form.field == "strings" and form.plugin in plugins


def _text_rows(group: ValueGroup, tables: PointTables) -> PointRows:
    none = np.zeros(len(group))
    return _blob_rows(group, tables, group.at, group.length, group.form.shape, none, none.astype(np.int64))


# Curves and other tensors.


def _curve_rows(group: ValueGroup, tables: PointTables) -> PointRows:
    with np.errstate(over="ignore", invalid="ignore"):  # damaged: rates of a different dtype
        rates = _decode_numbers(group).astype(np.float32)
    thresholds = rates.shape[1] // 6
    rates = rates[:, : thresholds * 6].reshape(len(group), 6, thresholds)
    parts = {name: rates[:, row].ravel() for row, name in enumerate(CURVE_COLUMNS)}
    return _rows_with_columns(group, {}, parts, np.full(len(group), thresholds, np.int64))


def _tensor_rows(group: ValueGroup, tables: PointTables) -> PointRows:
    form = TensorForm(dtype_name(group.form.dtype) or "unknown", group.form.shape)
    fixed: dict[str, RowColumn] = {
        "event": group.event,
        "value": group.index,
        "form": np.full(len(group), tables.forms.number_of(form), np.int32),
    }
    return _rows_with_columns(group, fixed)


def _is_tensor_form(form: ValueForm) -> bool:
    return form.field in ("content", "float_val", "double_val", "strings")


# The first matching rule applies.
KIND_RULES: tuple[KindRule, ...] = (
    KindRule("scalar", _is_scalar_form, _scalar_rows),
    KindRule("histogram", _is_histogram_form, _histogram_rows),
    KindRule("image", _is_image_form, _image_rows),
    KindRule("audio", _is_audio_form, _audio_rows),
    KindRule("text", _strings_of_plugins("text"), _text_rows),
    KindRule("hparams", lambda form: form.plugin == "hparams", _rows_without_columns),
    KindRule("layout", _strings_of_plugins("custom_scalars"), _text_rows),
    KindRule("graph", _strings_of_plugins(*GRAPH_PLUGINS), _text_rows),
    KindRule("pr_curve", lambda form: form.plugin == "pr_curves" and _is_matrix_form(form, 0, 6), _curve_rows),
    KindRule("mesh", lambda form: form.plugin == "mesh" and _is_tensor_form(form), _tensor_rows),
    KindRule("tensor", _is_tensor_form, _tensor_rows),
)
