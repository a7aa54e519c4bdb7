"""Points of a log for a page or a server: images, sounds, texts, curves and tensors in JSON, histograms in columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.chart.histograms import percentiles, ridges
from graphviz_tb.log import Log
from graphviz_tb.model.json_values import finite, whole
from graphviz_tb.model.logged import Blobs, Curves, Histograms, Place, Series, TensorPoints
from graphviz_tb.page.blobs import HEAD, UNKNOWN, kind_of, size_of
from graphviz_tb.page.columns import Blocks

USUAL_STEPS = 51  # histograms of a series, as TensorBoard shows them
MOST_SAMPLES = 200  # of one point
LONGEST_TEXT = 1_000_000  # bytes of the cells of one point
MOST_VALUES = 1_000  # of a tensor


def steps_of(series: Series) -> dict[str, Any]:
    """Return the first and the last step of a series, and how many there are."""
    steps = series.step[series.in_order()]
    if not len(steps):
        return {"first": None, "last": None, "n": 0}
    return {"first": whole(int(steps[0])), "last": whole(int(steps[-1])), "n": len(steps)}


def spread(count: int, most: int) -> list[int]:
    """Return at most `most` of the numbers below `count`, evenly spaced, with the first and the last.

    >>> spread(5, 10), spread(100, 3)
    ([0, 1, 2, 3, 4], [0, 50, 99])
    """
    if count <= most:
        return list(range(count))
    places: list[int] = np.unique(np.rint(np.linspace(0, count - 1, most)).astype(int)).tolist()
    return places


def histogram_columns(key: int, series: Series, data: Histograms, views: Iterable[str], most: int) -> Blocks:
    """Return histograms of at most `most` steps: as logged ("buckets"), on common bins ("ridges"), as percentiles
    ("bands").

    The names of the columns begin with `key`.
    """
    order = series.in_order()
    points = order[spread(len(order), most)]
    each = [slice(int(data.start[point]), int(data.start[point + 1])) for point in points]
    pairs = [(np.stack([data.left[part], data.right[part]], axis=1), data.count[part]) for part in each]
    made: list[tuple[str, NDArray[Any]]] = [("step", series.step[points]), ("wall", series.wall[points])]
    for view in views:
        if view == "ridges":
            borders, counts = ridges(pairs)
            made += [("borders", borders), ("count", counts.reshape(-1))]
        elif view == "bands":
            made += [("bands", np.array([percentiles(*pair) for pair in pairs]).reshape(-1))]
        else:
            sizes = [part.stop - part.start for part in each]
            made += [("start", np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))]
            columns = {"left": data.left, "right": data.right, "count": data.count}
            for name, column in columns.items():
                made.append((name, np.concatenate([np.zeros(0), *(column[part] for part in each)])))
    return [(f"{key}.{name}", column) for name, column in made]


def media_point(log: Log, series: Series, data: Blobs, point: int, blob_id: Callable[[Place], int]) -> dict[str, Any]:
    """Return the images or sounds of one point, each with the id of its bytes."""
    shown = samples_of(series, point)
    samples = [sample(log, series, data, point, place, blob_id(place)) for place in shown]
    return {**step_of(series, point), "samples": samples, "left": len(data.places(point)) - len(shown)}


def samples_of(series: Series, point: int) -> list[Place]:
    """Return the images or sounds of a point that are shown; [] for other kinds."""
    if not isinstance(series.data, Blobs) or series.kind == "text":
        return []
    return series.data.places(point)[:MOST_SAMPLES]


def sample(log: Log, series: Series, data: Blobs, point: int, place: Place, number: int) -> dict[str, Any]:
    """Describe one image or sound. The size of an image is read from its bytes if possible: a log may be wrong."""
    head = log.read(series.run, place._replace(length=min(place.length, HEAD)))
    told = {"blob": number, "type": kind_of(head), "bytes": place.length}
    if series.kind != "image":
        return {**told, "rate": float(data.rate[point]), "frames": int(data.frames[point])}
    logged = int(data.width[point]), int(data.height[point])
    width, height = logged if told["type"] == UNKNOWN else size_of(head)
    return {**told, "width": width, "height": height}


def text_point(log: Log, series: Series, data: Blobs, point: int, most: int = LONGEST_TEXT) -> dict[str, Any]:
    """Return the cells of one point of a text as logged: Markdown that the viewer renders."""
    places, room = data.places(point), most
    kept: list[Place] = []
    for place in places:
        if room <= 0:
            break
        kept.append(place._replace(length=min(place.length, room)))
        room -= place.length
    cells = [log.read(series.run, each).decode("utf-8", "replace") for each in kept]
    shape = list(data.shapes[data.shape[point]])
    return {**step_of(series, point), "shape": shape, "cells": cells, "cut": room < 0 or len(kept) < len(places)}


def curve_point(series: Series, data: Curves, point: int) -> dict[str, Any]:
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
    told = {name: [finite(float(each)) for each in column[part].tolist()] for name, column in names.items()}
    return {**step_of(series, point), "thresholds": [index / max(1, count - 1) for index in range(count)], **told}


def tensor_point(log: Log, series: Series, data: TensorPoints, point: int) -> dict[str, Any]:
    """Return the first values of a tensor at one step."""
    form = data.forms[data.form[point]]
    values = log.tensor(series, point).reshape(-1)
    told = [value_word(each) for each in values[:MOST_VALUES].tolist()]
    more = {"dtype": form.dtype, "shape": list(form.shape), "values": told, "cut": len(values) > MOST_VALUES}
    return {**step_of(series, point), **more}


def step_of(series: Series, point: int) -> dict[str, Any]:
    """Return the step of a point, and the steps of its series."""
    return {"step": whole(int(series.step[point])), "steps": steps_of(series)}


def value_word(value: Any) -> Any:
    """Return a value of a tensor as JSON can hold it.

    >>> value_word(1.5), value_word(b"a"), value_word(1j), value_word(True)
    (1.5, 'a', '1j', True)
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, complex):
        return str(value)
    return finite(value) if isinstance(value, float) else value if isinstance(value, bool) else whole(value)


def point_of(log: Log, series: Series, point: int, blob_id: Callable[[Place], int], most: int = LONGEST_TEXT) -> Any:
    """Return one point of a series of curves, tensors, texts, images or sounds."""
    data = series.data
    if isinstance(data, Curves):
        return curve_point(series, data, point)
    if isinstance(data, TensorPoints):
        return tensor_point(log, series, data, point)
    assert isinstance(data, Blobs)
    if series.kind == "text":
        return text_point(log, series, data, point, most)
    return media_point(log, series, data, point, blob_id)
