"""Points of a log for a page or a server: images, sounds, texts, curves and tensors in JSON, histograms in columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.series import histogram_percentiles, rebin_all
from graphviz_tb.events.plugins import curve_threshold_count
from graphviz_tb.logs.log import Log
from graphviz_tb.model.columns import distinct_values, prefix_sums
from graphviz_tb.model.formatting import json_integer, replace_non_finite
from graphviz_tb.model.logs import BlobPoints, CurvePoints, FileRange, HistogramPoints, Series, TensorPoints
from graphviz_tb.page.blocks import NamedColumns

# Formats that a browser may show; any other is offered as a download.
MEDIA_MAGIC: tuple[tuple[str, bytes], ...] = (
    ("image/png", rb"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", rb"\xff\xd8\xff"),
    ("image/gif", rb"GIF8[79]a"),
    ("image/bmp", rb"BM.{12}[\x0c-\x7c]\x00\x00\x00"),
    ("image/webp", rb"RIFF....WEBP"),
    ("audio/wav", rb"RIFF....WAVE"),
    ("audio/mpeg", rb"ID3|\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff]"),
    ("audio/ogg", rb"OggS"),
    ("audio/flac", rb"fLaC"),
)
UNKNOWN_MEDIA_TYPE = "application/octet-stream"
MAX_JPEG_HEAD_BYTES = 1 << 20  # start of a JPEG in which its size is searched
MEDIA_HEAD_BYTES = 4096  # bytes that contain the format and the size of an image
JPEG_BARE_MARKERS = {0x01, *range(0xD0, 0xDA)}  # of JPEG: no length follows
JPEG_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # of JPEG: they contain the size


def media_type(head: bytes) -> str:
    """Return the media type of a blob.

    >>> media_type(b"GIF89a..."), media_type(b"<svg xmlns=")
    ('image/gif', 'application/octet-stream')
    """
    return next((kind for kind, magic in MEDIA_MAGIC if re.match(magic, head, re.DOTALL)), UNKNOWN_MEDIA_TYPE)


def _image_size(head: bytes) -> tuple[int, int]:
    """Return width and height in pixels of the image that begins with `head`; (0, 0) if unknown.

    >>> _image_size(b"GIF89a" + bytes([2, 0, 1, 0]))
    (2, 1)
    """
    kind = media_type(head)
    # At the bytes that each format reserves for width and height.
    if kind == "image/png":
        return _read_integer(head, 16, 4, "big"), _read_integer(head, 20, 4, "big")
    if kind == "image/gif":
        return _read_integer(head, 6, 2), _read_integer(head, 8, 2)
    if kind == "image/bmp":
        size_bytes = 2 if _read_integer(head, 14, 4) == 12 else 4  # bytes of a size; OS/2 wrote two
        width, height = _read_integer(head, 18, size_bytes), _read_integer(head, 18 + size_bytes, size_bytes)
        return width, min(height, (1 << 32) - height) if size_bytes == 4 else height  # negative: from the top
    return _webp_size(head) if kind == "image/webp" else _jpeg_size(head) if kind == "image/jpeg" else (0, 0)


def _webp_size(head: bytes) -> tuple[int, int]:
    """Return the size of a WebP, which has three forms."""
    form = head[12:16]
    if form == b"VP8X":
        return _read_integer(head, 24, 3) + 1, _read_integer(head, 27, 3) + 1
    if form == b"VP8L":
        bits = _read_integer(head, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return (_read_integer(head, 26, 2) & 0x3FFF, _read_integer(head, 28, 2) & 0x3FFF) if form == b"VP8 " else (0, 0)


def _jpeg_size(head: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker in JPEG_FRAMES:
            return _read_integer(head, at + 7, 2, "big"), _read_integer(head, at + 5, 2, "big")
        at += (
            1
            if marker == 0xFF
            else 2
            if marker in JPEG_BARE_MARKERS
            else 2 + max(2, _read_integer(head, at + 2, 2, "big"))
        )
    return 0, 0


def _read_integer(data: bytes, at: int, size: int, order: str = "little") -> int:
    """Read an unsigned integer of `size` bytes; 0 past the end."""
    part = data[at : at + size]
    return int.from_bytes(part, "big" if order == "big" else "little") if len(part) == size else 0


DEFAULT_HISTOGRAM_STEPS = 51  # histograms of a series, as TensorBoard shows them
MAX_SAMPLES = 200  # of one point
MAX_TEXT_BYTES = 1_000_000  # bytes of the cells of one point
MAX_TENSOR_VALUES = 1_000  # of a tensor


def _step_range(series: Series) -> dict[str, Any]:
    steps = series.step[series.point_order()]
    if not len(steps):
        return {"first": None, "last": None, "n": 0}
    return {"first": json_integer(int(steps[0])), "last": json_integer(int(steps[-1])), "n": len(steps)}


def _spread_evenly(count: int, most: int) -> list[int]:
    """Return at most `most` of the numbers below `count`, evenly spaced, with the first and the last.

    >>> _spread_evenly(5, 10), _spread_evenly(100, 3)
    ([0, 1, 2, 3, 4], [0, 50, 99])
    """
    if count <= most:
        return list(range(count))
    places: list[int] = distinct_values(np.rint(np.linspace(0, count - 1, most)).astype(int)).tolist()
    return places


def histogram_columns(key: int, series: Series, data: HistogramPoints, views: Iterable[str], most: int) -> NamedColumns:
    """Return histograms of at most `most` steps: as logged ("buckets"), on common bins ("ridges"), as percentiles
    ("bands").

    The names of the columns begin with `key`.
    """
    order = series.point_order()
    points = order[_spread_evenly(len(order), most)]
    ranges = [slice(int(data.start[point]), int(data.start[point + 1])) for point in points]
    pairs = [(np.stack([data.left[part], data.right[part]], axis=1), data.count[part]) for part in ranges]
    columns: list[tuple[str, NDArray[Any]]] = [("step", series.step[points]), ("wall", series.wall[points])]
    for view in views:
        if view == "ridges":
            borders, counts = rebin_all(pairs)
            columns += [("borders", borders), ("count", counts.reshape(-1))]
        elif view == "bands":
            columns += [("bands", np.array([histogram_percentiles(*pair) for pair in pairs]).reshape(-1))]
        else:
            sizes = [part.stop - part.start for part in ranges]
            columns += [("start", prefix_sums(np.array(sizes)))]
            bucket_columns = {"left": data.left, "right": data.right, "count": data.count}
            for name, column in bucket_columns.items():
                columns.append((name, np.concatenate([np.zeros(0), *(column[part] for part in ranges)])))
    return [(f"{key}.{name}", column) for name, column in columns]


def shown_samples(series: Series, point: int) -> list[FileRange]:
    """Return the images or sounds of a point that are shown; [] for other kinds."""
    if not isinstance(series.data, BlobPoints) or series.kind == "text":
        return []
    return series.data.sample_ranges(point)[:MAX_SAMPLES]


def _sample_entry(
    log: Log, series: Series, data: BlobPoints, point: int, place: FileRange, number: int
) -> dict[str, Any]:
    """Describe one image or sound. The size of an image is read from its bytes if possible: a log may be wrong."""
    head = log.read(series.run, place._replace(length=min(place.length, MEDIA_HEAD_BYTES)))
    entry = {"blob": number, "type": media_type(head), "bytes": place.length}
    if series.kind != "image":
        return {**entry, "rate": float(data.rate[point]), "frames": int(data.frames[point])}
    logged_size = int(data.width[point]), int(data.height[point])
    if entry["type"] == UNKNOWN_MEDIA_TYPE:
        size = logged_size
    elif entry["type"] == "image/jpeg" and not all(_image_size(head)):  # profiles and thumbnails come before the size
        size = _image_size(log.read(series.run, place._replace(length=min(place.length, MAX_JPEG_HEAD_BYTES))))
        size = size if all(size) else logged_size  # the height may come after the picture
    else:
        size = _image_size(head)
    return {**entry, "width": size[0], "height": size[1]}


def _text_point(log: Log, series: Series, data: BlobPoints, point: int, most: int = MAX_TEXT_BYTES) -> dict[str, Any]:
    """Return the cells of one point of a text as logged: Markdown that the viewer renders."""
    places, room = data.sample_ranges(point), most
    kept: list[FileRange] = []
    for place in places:
        if room <= 0:
            break
        kept.append(place._replace(length=min(place.length, room)))
        room -= place.length
    cells = [log.read(series.run, place).decode("utf-8", "replace") for place in kept]
    shape = list(data.shapes[data.shape[point]])
    return {**_point_step(series, point), "shape": shape, "cells": cells, "cut": room < 0 or len(kept) < len(places)}


def _curve_point(series: Series, data: CurvePoints, point: int) -> dict[str, Any]:
    """Return the precision-recall curve of one step, as TensorBoard does: up to the last threshold that finds anything.

    Thresholds divide 0 to 1 evenly. The metadata states their number, which may differ from the number of values in raw
    curves.
    """
    first, stop = int(data.start[point]), int(data.start[point + 1])
    declared = curve_threshold_count(series.about.content) or stop - first
    with np.errstate(invalid="ignore"):  # counts that are not finite
        positives = data.true_positives[first:stop].astype(np.int64) + data.false_positives[first:stop].astype(np.int64)
    shown_count = int(np.flatnonzero(positives)[-1]) + 1 if np.any(positives) else 1
    shown = slice(first, min(stop, first + shown_count))
    values = {
        "precision": data.precision,
        "recall": data.recall,
        "tp": data.true_positives,
        "fp": data.false_positives,
        "tn": data.true_negatives,
        "fn": data.false_negatives,
    }
    count = min(declared, shown.stop - shown.start)
    thresholds = np.linspace(0, 1, declared)[:count].tolist()
    columns = {
        name: [replace_non_finite(float(number)) for number in column[shown].tolist()]
        for name, column in values.items()
    }
    return {**_point_step(series, point), "thresholds": thresholds, **columns}


def _tensor_point(log: Log, series: Series, data: TensorPoints, point: int) -> dict[str, Any]:
    """Return the first values of a tensor at one step."""
    form = data.forms[data.form[point]]
    values = log.tensor(series, point).reshape(-1)
    elements = [_json_tensor_value(value) for value in values[:MAX_TENSOR_VALUES].tolist()]
    more = {"dtype": form.dtype, "shape": list(form.shape), "values": elements, "cut": len(values) > MAX_TENSOR_VALUES}
    return {**_point_step(series, point), **more}


def _point_step(series: Series, point: int) -> dict[str, Any]:
    return {"step": json_integer(int(series.step[point])), "steps": _step_range(series)}


def _json_tensor_value(value: Any) -> Any:
    """Return a value of a tensor as a JSON value.

    >>> _json_tensor_value(1.5), _json_tensor_value(b"a"), _json_tensor_value(1j), _json_tensor_value(True)
    (1.5, 'a', '1j', True)
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, complex):
        return str(value)
    if isinstance(value, float):
        return replace_non_finite(value)
    return value if isinstance(value, bool) else json_integer(value)


def describe_point(
    log: Log, series: Series, point: int, blob_id: Callable[[FileRange], int], most: int = MAX_TEXT_BYTES
) -> Any:
    """Return one point of a series of curves, tensors, texts, images or sounds."""
    data = series.data
    if isinstance(data, CurvePoints):
        return _curve_point(series, data, point)
    if isinstance(data, TensorPoints):
        return _tensor_point(log, series, data, point)
    assert isinstance(data, BlobPoints)
    if series.kind == "text":
        return _text_point(log, series, data, point, most)
    shown = shown_samples(series, point)
    samples = [_sample_entry(log, series, data, point, place, blob_id(place)) for place in shown]
    return {**_point_step(series, point), "samples": samples, "left": len(data.sample_ranges(point)) - len(shown)}
