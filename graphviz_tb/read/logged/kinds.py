"""The kind of a value, by its form, and the columns of each kind."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.algorithms.constants import values
from graphviz_tb.limits import FILLED_NUMBERS
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.dtypes import DTYPES, dtype_name
from graphviz_tb.model.logged import Kind, TensorForm
from graphviz_tb.read.logged.block import NumberOf
from graphviz_tb.read.logged.group import WAV_HEAD, ValueGroup, numbers_of
from graphviz_tb.read.logged.rows import Column, Rows
from graphviz_tb.read.logged.structure import ValueForm

GRAPHS = {"graphs", "graph_keras_model", "graph_run_metadata", "graph_run_metadata_graph", "graph_tagged_run_metadata"}
HISTOGRAM = ("minimum", "maximum", "number", "sum", "sum_squares")
CURVES = ("true_positives", "false_positives", "true_negatives", "false_negatives", "precision", "recall")


class Tables:
    """Shapes and forms of all points of a run, numbered."""

    def __init__(self) -> None:
        self.shapes: NumberOf[tuple[int, ...]] = NumberOf()
        self.forms: NumberOf[TensorForm] = NumberOf()


class KindRule(NamedTuple):
    """A kind, a test for its forms, and a function that makes its columns."""

    kind: Kind
    fits: Callable[[ValueForm], bool]
    rows: Callable[[ValueGroup, Tables], Rows]


def decoded(group: ValueGroup, tables: Tables) -> tuple[Kind, Rows] | None:
    """Return the kind and columns of values whose plugin is known; None if there is nothing to show."""
    for rule in KINDS:
        if rule.fits(group.form):
            return rule.kind, rule.rows(group, tables)
    return None


def kind_of(form: ValueForm) -> Kind | None:
    """Return the kind of a value, or None."""
    return next((rule.kind for rule in KINDS if rule.fits(form)), None)


def _plain(group: ValueGroup, tables: Tables) -> Rows:
    return Rows(group.tag, group.place, group.step, group.wall)


def _with(
    group: ValueGroup, fixed: dict[str, Column], ragged: dict[str, Column] | None = None, size: Longs | None = None
) -> Rows:
    return Rows(
        group.tag,
        group.place,
        group.step,
        group.wall,
        fixed,
        ragged or {},
        np.zeros(0, np.int64) if size is None else size,
    )


# Numbers


def _is_numeric(form: ValueForm) -> bool:
    held = form.field in ("content", "float_val", "double_val") and form.dtype in DTYPES
    return held and DTYPES[form.dtype].form not in ("", "<c8", "<c16")


def numbers(group: ValueGroup) -> NDArray[Any]:
    """Return the numbers of each value as a line, in the tensor's dtype. The last one fills up the claimed size."""
    form = group.form
    if form.field == "simple_value":
        return numbers_of(group.numbers["value"], "<f4")
    dtype = {"float_val": "<f4", "double_val": "<f8"}.get(form.field, DTYPES[form.dtype].form)
    lines = next(iter(group.numbers.values()), np.zeros((len(group), 0), np.uint8))
    width = np.dtype(dtype).itemsize
    made = numbers_of(lines[:, : lines.shape[1] // width * width], dtype)
    if form.field == "content":
        made = values(made, form.dtype)
    claimed = min(prod(form.shape), max(made.shape[1], FILLED_NUMBERS))
    if made.shape[1] < claimed:
        last = made[:, -1:] if made.shape[1] else np.zeros((len(made), 1), made.dtype)
        made = np.concatenate([made, np.broadcast_to(last, (len(made), claimed - made.shape[1]))], axis=1)
    return made[:, :claimed]


def _is_scalar(form: ValueForm) -> bool:
    if form.field == "simple_value":
        return True
    return form.plugin == "scalars" and _is_numeric(form) and set(form.shape) <= {1}


def _scalars(group: ValueGroup, tables: Tables) -> Rows:
    column = numbers(group)[:, 0]
    exact = np.float32 if column.dtype in (np.float32, np.float16) else np.float64
    return _with(group, {"value": column.astype(exact)})


# Histograms


def _is_histogram(form: ValueForm) -> bool:
    if form.field == "histo":
        return True
    shape = form.shape
    return form.plugin == "histograms" and _is_numeric(form) and len(shape) == 2 and shape[1] == 3 and _held(form)


def _held(form: ValueForm) -> bool:
    """Return whether a tensor's claimed size is plausible."""
    return 0 <= prod(form.shape) < 2**31 and min(form.shape, default=0) >= 0


def _histograms(group: ValueGroup, tables: Tables) -> Rows:
    if group.form.field == "histo":
        return _old_histograms(group)
    triples = numbers(group).astype(np.float64)
    buckets = triples.shape[1] // 3
    triples = triples[:, : buckets * 3].reshape(len(group), buckets, 3)
    parts = {name: triples[:, :, column].ravel() for column, name in enumerate(("left", "right", "count"))}
    unsaid = np.full(len(group), np.nan)
    return _with(group, dict.fromkeys(HISTOGRAM, unsaid), parts, np.full(len(group), buckets, np.int64))


def _old_histograms(group: ValueGroup) -> Rows:
    """Convert HistogramProto to TensorBoard's buckets (`data_compat`).

    The proto has limits up to the largest double and empty buckets at both ends. The result reaches from the first to
    the last non-empty bucket, between minimum and maximum.
    """
    parts = {name: numbers_of(lines, "<f8") for name, lines in group.numbers.items()}
    if "stats" in parts:  # all five in one line
        parts |= {name: parts["stats"][:, index : index + 1] for index, name in enumerate(HISTOGRAM)}
    none = np.zeros((len(group), 0))
    limits, counts = parts.get("limits", none), parts.get("counts", none)
    buckets = min(limits.shape[1], counts.shape[1])
    limits, counts = limits[:, :buckets], counts[:, :buckets]
    fixed: dict[str, Column] = {
        name: parts[name][:, 0] if name in parts else np.zeros(len(group)) for name in HISTOGRAM
    }
    held = counts > 0
    column = np.arange(buckets)
    first = np.where(held.any(axis=1), held.argmax(axis=1), buckets) if buckets else np.zeros(len(group), np.int64)
    last = np.where(held.any(axis=1), buckets - 1 - held[:, ::-1].argmax(axis=1), -1) if buckets else first - 1
    kept = (column >= first[:, None]) & (column <= last[:, None])
    left = np.concatenate([limits[:, :1], limits[:, :-1]], axis=1)
    left = np.where(column == first[:, None], fixed["minimum"][:, None], left)
    right = np.where(column == last[:, None], fixed["maximum"][:, None], limits)
    ragged = {"left": left[kept], "right": right[kept], "count": counts[kept]}
    return _with(group, fixed, ragged, kept.sum(axis=1))


# Bytes on disk


def _blobs(
    group: ValueGroup, tables: Tables, at: Longs, length: Longs, shape: tuple[int, ...], rate: Column, frames: Column
) -> Rows:
    count, samples = at.shape
    fixed: dict[str, Column] = {
        "shape": np.full(count, tables.shapes.number(shape), np.int32),
        "width": np.full(count, group.form.width, np.int32),
        "height": np.full(count, group.form.height, np.int32),
        "rate": rate,
        "frames": frames,
    }
    ragged = {"offset": at.ravel(), "length": length.ravel()}
    return _with(group, fixed, ragged, np.full(count, samples, np.int64))


def _is_image(form: ValueForm) -> bool:
    return form.field == "image" or (form.plugin == "images" and form.field == "strings" and len(form.shape) == 1)


def _images(group: ValueGroup, tables: Tables) -> Rows:
    # Without metadata, the two sizes are still among the strings.
    skip = 2 if group.form.field == "strings" and not group.form.sized else 0
    at, length = group.at[:, skip:], group.length[:, skip:]
    none = np.zeros(len(group))
    return _blobs(group, tables, at, length, (at.shape[1],), none, none.astype(np.int64))


def _is_audio(form: ValueForm) -> bool:
    return form.field == "audio" or (form.plugin == "audio" and form.field == "strings" and 0 < len(form.shape) <= 2)


def _audio(group: ValueGroup, tables: Tables) -> Rows:
    """Return the rows of sounds; labels next to them are left out."""
    stride = max(1, prod(group.form.shape[1:])) if group.form.field == "strings" else 1
    at, length = group.at[:, ::stride], group.length[:, ::stride]
    rate, frames = np.full(len(group), group.form.rate), np.full(len(group), group.form.frames, np.int64)
    if group.heads is not None:
        rate, frames = _wav(group.heads)
    return _blobs(group, tables, at, length, (at.shape[1],), rate, frames)


def _wav(heads: NDArray[np.uint8]) -> tuple[NDArray[np.float64], Longs]:
    """Return sample rate and number of frames from WAV headers; 0 for unusual headers."""
    count, width = heads.shape
    if width < WAV_HEAD:
        return np.zeros(count), np.zeros(count, np.int64)

    def is_at(position: int, word: bytes) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = np.all(heads[:, position : position + len(word)] == list(word), axis=1)
        return found

    usual = is_at(0, b"RIFF") & is_at(8, b"WAVEfmt ") & is_at(36, b"data")
    rate = np.where(usual, numbers_of(heads[:, 24:28], "<u4")[:, 0], 0).astype(np.float64)
    size = numbers_of(heads[:, 40:44], "<u4")[:, 0].astype(np.int64)
    frame = np.maximum(numbers_of(heads[:, 32:34], "<u2")[:, 0].astype(np.int64), 1)
    return rate, np.where(usual, size // frame, 0)


def _strings_of(*plugins: str) -> Callable[[ValueForm], bool]:
    return lambda form: form.field == "strings" and form.plugin in plugins


def _texts(group: ValueGroup, tables: Tables) -> Rows:
    none = np.zeros(len(group))
    return _blobs(group, tables, group.at, group.length, group.form.shape, none, none.astype(np.int64))


# Tensors


def _is_curve(form: ValueForm) -> bool:
    shape = form.shape
    return form.plugin == "pr_curves" and _is_numeric(form) and len(shape) == 2 and shape[0] == 6 and _held(form)


def _curves(group: ValueGroup, tables: Tables) -> Rows:
    with np.errstate(over="ignore", invalid="ignore"):  # damaged: rates of a different dtype
        rates = numbers(group).astype(np.float32)
    thresholds = rates.shape[1] // 6
    rates = rates[:, : thresholds * 6].reshape(len(group), 6, thresholds)
    parts = {name: rates[:, row].ravel() for row, name in enumerate(CURVES)}
    return _with(group, {}, parts, np.full(len(group), thresholds, np.int64))


def _tensors(group: ValueGroup, tables: Tables) -> Rows:
    form = TensorForm(dtype_name(group.form.dtype) or "unknown", group.form.shape)
    fixed: dict[str, Column] = {
        "event": group.event,
        "value": group.index,
        "form": np.full(len(group), tables.forms.number(form), np.int32),
    }
    return _with(group, fixed)


def _is_tensor(form: ValueForm) -> bool:
    return form.field in ("content", "float_val", "double_val", "strings")


# The first matching rule applies.
KINDS: tuple[KindRule, ...] = (
    KindRule("scalar", _is_scalar, _scalars),
    KindRule("histogram", _is_histogram, _histograms),
    KindRule("image", _is_image, _images),
    KindRule("audio", _is_audio, _audio),
    KindRule("text", _strings_of("text"), _texts),
    KindRule("hparams", lambda form: form.plugin == "hparams", _plain),
    KindRule("layout", _strings_of("custom_scalars"), _texts),
    KindRule("graph", _strings_of(*GRAPHS), _texts),
    KindRule("pr_curve", _is_curve, _curves),
    KindRule("mesh", lambda form: form.plugin == "mesh" and _is_tensor(form), _tensors),
    KindRule("tensor", _is_tensor, _tensors),
)
