"""Histograms, precision-recall curves and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.chart.histograms import percentiles, ridges
from graphviz_tb.model.logged import Curves, Histograms, Series, TensorPoints
from graphviz_tb.page.columns import packed
from graphviz_tb.page.logged import finite, whole
from graphviz_tb.serve.answers import COLUMNS, Refused, bytes_answer, json_answer
from graphviz_tb.serve.asked import is_number, known, session_of, word
from graphviz_tb.serve.asked import whole as whole_number
from graphviz_tb.serve.points import point_at, spread, steps_of
from graphviz_tb.serve.threads import in_thread

USUAL_STEPS, MOST_STEPS = 51, 10_000
MOST_VALUES = 1_000  # of a tensor


def series_of(request: Request) -> Series:
    """The series that an address means. Raises `Refused`."""
    number = request.path_params["id"]
    if not is_number(number):
        raise Refused(404, f"no series {number[:40]!r}", "/api/tags lists them")
    return session_of(request).series(int(number))


def refused(series: Series, what: str) -> Refused:
    """A series is of another kind."""
    return Refused(400, f"'{series.tag}' is of kind {series.kind}", f"this address gives {what}")


async def histograms(request: Request) -> Response:
    """Histograms of some steps: as logged, on common bins, or as nine percentiles."""
    query, series = known(request, ("steps", "view")), series_of(request)
    view = word(query, "view", ("ridges", "bands", "buckets"))
    most = whole_number(query, "steps", USUAL_STEPS, 1, MOST_STEPS)
    if not isinstance(series.data, Histograms):
        raise refused(series, "histograms")
    data, tag = series.data, f"{session_of(request).start} {series.run} {series.tag} {series.generation} {view} {most}"
    number = request.path_params["id"]
    return await bytes_answer(request, lambda: histogram_columns(number, series, data, view, most), COLUMNS, tag)


def histogram_columns(number: str, series: Series, data: Histograms, view: str, most: int) -> bytes:
    """The answer."""
    order = series.in_order()
    points = order[spread(len(order), most)]
    each = [slice(int(data.start[point]), int(data.start[point + 1])) for point in points]
    blocks = [(f"{number}.step", series.step[points]), (f"{number}.wall", series.wall[points])]
    pairs = [(np.stack([data.left[part], data.right[part]], axis=1), data.count[part]) for part in each]
    more: list[tuple[str, NDArray[Any]]]
    if view == "ridges":
        borders, counts = ridges(pairs)
        more = [("borders", borders), ("count", counts.reshape(-1))]
    elif view == "bands":
        more = [("bands", np.array([percentiles(*pair) for pair in pairs]).reshape(-1))]
    else:
        sizes = [part.stop - part.start for part in each]
        columns = {"left": data.left, "right": data.right, "count": data.count}
        more = [("start", np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))]
        more += [
            (name, np.concatenate([np.zeros(0), *(column[part] for part in each)])) for name, column in columns.items()
        ]
    return packed(len(points), [*blocks, *((f"{number}.{name}", column) for name, column in more)])


async def curves(request: Request) -> Response:
    """The precision-recall curve of one step."""
    query, series = known(request, ("at",)), series_of(request)
    if not isinstance(series.data, Curves):
        raise refused(series, "precision-recall curves")
    data, point = series.data, point_at(series, query)
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
    thresholds = [index / max(1, count - 1) for index in range(count)]
    step = whole(int(series.step[point]))
    return json_answer(request, {"step": step, "steps": steps_of(series), "thresholds": thresholds, **told}, same=True)


async def tensors(request: Request) -> Response:
    """The first values of a tensor at one step."""
    query, series = known(request, ("at",)), series_of(request)
    if not isinstance(series.data, TensorPoints):
        raise refused(series, "tensors")
    point, log = point_at(series, query), session_of(request).log
    if log is None:
        raise Refused(404, "the log is gone")
    form = series.data.forms[series.data.form[point]]
    values = (await in_thread(log.tensor, series, point)).reshape(-1)
    told = {
        "step": whole(int(series.step[point])),
        "steps": steps_of(series),
        "dtype": form.dtype,
        "shape": list(form.shape),
        "values": [told_value(each) for each in values[:MOST_VALUES].tolist()],
        "cut": len(values) > MOST_VALUES,
    }
    return json_answer(request, told, same=True)


def told_value(value: Any) -> Any:
    """A value of a tensor as JSON holds it.

    >>> told_value(1.5), told_value(b"a"), told_value(1j), told_value(True)
    (1.5, 'a', '1j', True)
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, complex):
        return str(value)
    return finite(value) if isinstance(value, float) else value if isinstance(value, bool) else whole(value)


ROUTES = [
    Route("/api/histograms/{id}", histograms, methods=["GET"]),
    Route("/api/pr/{id}", curves, methods=["GET"]),
    Route("/api/tensors/{id}", tensors, methods=["GET"]),
]
