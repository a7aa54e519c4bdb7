"""Points of a log for a page or a server: images, sounds, texts, curves and tensors in JSON, histograms in columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.histograms import histogram_percentiles, rebin_all
from graphviz_tb.log import Log
from graphviz_tb.model.json_values import json_integer, replace_non_finite
from graphviz_tb.model.logged import BlobPoints, CurvePoints, FileRange, HistogramPoints, Series, TensorPoints
from graphviz_tb.page.blobs import MEDIA_HEAD_BYTES, UNKNOWN_MEDIA_TYPE, image_size, media_type
from graphviz_tb.page.columns import NamedColumns

DEFAULT_HISTOGRAM_STEPS = 51  # histograms of a series, as TensorBoard shows them
MAX_SAMPLES = 200  # of one point
MAX_TEXT_BYTES = 1_000_000  # bytes of the cells of one point
MAX_TENSOR_VALUES = 1_000  # of a tensor


def step_range(series: Series) -> dict[str, Any]:
    """Return the first and the last step of a series, and how many there are."""
    steps = series.step[series.point_order()]
    if not len(steps):
        return {"first": None, "last": None, "n": 0}
    return {"first": json_integer(int(steps[0])), "last": json_integer(int(steps[-1])), "n": len(steps)}


def spread_evenly(count: int, most: int) -> list[int]:
    """Return at most `most` of the numbers below `count`, evenly spaced, with the first and the last.

    >>> spread_evenly(5, 10), spread_evenly(100, 3)
    ([0, 1, 2, 3, 4], [0, 50, 99])
    """
    if count <= most:
        return list(range(count))
    places: list[int] = np.unique(np.rint(np.linspace(0, count - 1, most)).astype(int)).tolist()
    return places


def histogram_columns(key: int, series: Series, data: HistogramPoints, views: Iterable[str], most: int) -> NamedColumns:
    """Return histograms of at most `most` steps: as logged ("buckets"), on common bins ("ridges"), as percentiles
    ("bands").

    The names of the columns begin with `key`.
    """
    order = series.point_order()
    points = order[spread_evenly(len(order), most)]
    each = [slice(int(data.start[point]), int(data.start[point + 1])) for point in points]
    pairs = [(np.stack([data.left[part], data.right[part]], axis=1), data.count[part]) for part in each]
    made: list[tuple[str, NDArray[Any]]] = [("step", series.step[points]), ("wall", series.wall[points])]
    for view in views:
        if view == "ridges":
            borders, counts = rebin_all(pairs)
            made += [("borders", borders), ("count", counts.reshape(-1))]
        elif view == "bands":
            made += [("bands", np.array([histogram_percentiles(*pair) for pair in pairs]).reshape(-1))]
        else:
            sizes = [part.stop - part.start for part in each]
            made += [("start", np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))]
            columns = {"left": data.left, "right": data.right, "count": data.count}
            for name, column in columns.items():
                made.append((name, np.concatenate([np.zeros(0), *(column[part] for part in each)])))
    return [(f"{key}.{name}", column) for name, column in made]


def media_point(
    log: Log, series: Series, data: BlobPoints, point: int, blob_id: Callable[[FileRange], int]
) -> dict[str, Any]:
    """Return the images or sounds of one point, each with the id of its bytes."""
    shown = shown_samples(series, point)
    samples = [sample_entry(log, series, data, point, place, blob_id(place)) for place in shown]
    return {**point_step(series, point), "samples": samples, "left": len(data.sample_ranges(point)) - len(shown)}


def shown_samples(series: Series, point: int) -> list[FileRange]:
    """Return the images or sounds of a point that are shown; [] for other kinds."""
    if not isinstance(series.data, BlobPoints) or series.kind == "text":
        return []
    return series.data.sample_ranges(point)[:MAX_SAMPLES]


def sample_entry(
    log: Log, series: Series, data: BlobPoints, point: int, place: FileRange, number: int
) -> dict[str, Any]:
    """Describe one image or sound. The size of an image is read from its bytes if possible: a log may be wrong."""
    head = log.read(series.run, place._replace(length=min(place.length, MEDIA_HEAD_BYTES)))
    told = {"blob": number, "type": media_type(head), "bytes": place.length}
    if series.kind != "image":
        return {**told, "rate": float(data.rate[point]), "frames": int(data.frames[point])}
    logged = int(data.width[point]), int(data.height[point])
    width, height = logged if told["type"] == UNKNOWN_MEDIA_TYPE else image_size(head)
    return {**told, "width": width, "height": height}


def text_point(log: Log, series: Series, data: BlobPoints, point: int, most: int = MAX_TEXT_BYTES) -> dict[str, Any]:
    """Return the cells of one point of a text as logged: Markdown that the viewer renders."""
    places, room = data.sample_ranges(point), most
    kept: list[FileRange] = []
    for place in places:
        if room <= 0:
            break
        kept.append(place._replace(length=min(place.length, room)))
        room -= place.length
    cells = [log.read(series.run, each).decode("utf-8", "replace") for each in kept]
    shape = list(data.shapes[data.shape[point]])
    return {**point_step(series, point), "shape": shape, "cells": cells, "cut": room < 0 or len(kept) < len(places)}


def curve_point(series: Series, data: CurvePoints, point: int) -> dict[str, Any]:
    """Return the precision-recall curve of one step."""
    part = slice(int(data.start[point]), int(data.start[point + 1]))
    names = {
        "precision": data.precision,
        "recall": data.recall,
        "tp": data.true_positives,
        "fp": data.false_positives,
        "tn": data.true_negatives,
        "fn": data.false_negatives,
    }
    count = part.stop - part.start
    told = {name: [replace_non_finite(float(each)) for each in column[part].tolist()] for name, column in names.items()}
    return {**point_step(series, point), "thresholds": [index / max(1, count - 1) for index in range(count)], **told}


def tensor_point(log: Log, series: Series, data: TensorPoints, point: int) -> dict[str, Any]:
    """Return the first values of a tensor at one step."""
    form = data.forms[data.form[point]]
    values = log.tensor(series, point).reshape(-1)
    told = [json_tensor_value(each) for each in values[:MAX_TENSOR_VALUES].tolist()]
    more = {"dtype": form.dtype, "shape": list(form.shape), "values": told, "cut": len(values) > MAX_TENSOR_VALUES}
    return {**point_step(series, point), **more}


def point_step(series: Series, point: int) -> dict[str, Any]:
    """Return the step of a point, and the steps of its series."""
    return {"step": json_integer(int(series.step[point])), "steps": step_range(series)}


def json_tensor_value(value: Any) -> Any:
    """Return a value of a tensor as JSON can hold it.

    >>> json_tensor_value(1.5), json_tensor_value(b"a"), json_tensor_value(1j), json_tensor_value(True)
    (1.5, 'a', '1j', True)
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, complex):
        return str(value)
    return (
        replace_non_finite(value)
        if isinstance(value, float)
        else value
        if isinstance(value, bool)
        else json_integer(value)
    )


def describe_point(
    log: Log, series: Series, point: int, blob_id: Callable[[FileRange], int], most: int = MAX_TEXT_BYTES
) -> Any:
    """Return one point of a series of curves, tensors, texts, images or sounds."""
    data = series.data
    if isinstance(data, CurvePoints):
        return curve_point(series, data, point)
    if isinstance(data, TensorPoints):
        return tensor_point(log, series, data, point)
    assert isinstance(data, BlobPoints)
    if series.kind == "text":
        return text_point(log, series, data, point, most)
    return media_point(log, series, data, point, blob_id)
