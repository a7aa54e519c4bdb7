"""Routes of scalars: columns thinned to the pixels of a chart, and all points as CSV or JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from graphviz_tb.chart.series import POINTS_PER_COLUMN, decimate_series, smooth_series
from graphviz_tb.logs.scalars_export import scalars_as_csv, scalars_as_json
from graphviz_tb.model.columns import distinct_values
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.logs import Series
from graphviz_tb.page.blocks import pack_columns
from graphviz_tb.serve.answers import COLUMNS_MEDIA_TYPE, RefusedRequest, cached_bytes_response
from graphviz_tb.serve.jobs import run_in_thread
from graphviz_tb.serve.parameters import (
    MAX_AXIS_VALUE,
    checked_query,
    parse_ids,
    query_integer,
    query_number,
    query_word,
    served_source,
)
from graphviz_tb.serve.session import DrawnColumns, ServedSource

# Scalars as columns, smoothed and then thinned to the pixels of a chart.

MAX_CHART_PX = 16_384  # pixels
SCALAR_PARAMETERS = ("from", "to", "axis", "px", "smooth", "restarts")


@dataclass(frozen=True, slots=True)
class ChartView:
    """The view of a chart: its horizontal `axis`, the part from `start` to `end` (None: all), its width in pixels, the
    weight of smoothing, and whether superseded points are sent too."""

    axis: str
    start: float | None
    end: float | None
    pixels: int
    smooth: float
    superseded: bool


async def scalar_points(request: Request) -> Response:
    """Return the points of some scalars for a chart of a given width."""
    query, session = checked_query(request, SCALAR_PARAMETERS), served_source(request)
    ids = parse_ids(request.path_params["ids"])
    found = {number: _scalar_series(session, number) for number in ids}
    view = _chart_view(query)
    generations = [(number, series.generation, len(series)) for number, series in found.items()]
    tag = f"{session.start} {generations} {view}"
    return await cached_bytes_response(request, lambda: _scalar_columns(found, view, session), COLUMNS_MEDIA_TYPE, tag)


def _scalar_series(session: ServedSource, number: int) -> Series:
    """Return a series of numbers. Raises `RefusedRequest`."""
    found = session.series_of_id(number)
    if found.kind != "scalar":
        raise RefusedRequest(400, f"series {number} is of kind {found.kind}", "this address gives scalars")
    return found


def _chart_view(query: dict[str, str]) -> ChartView:
    """Return the view of a query. Raises `RefusedRequest`."""
    start, end = (query_number(query, name, None, -MAX_AXIS_VALUE, MAX_AXIS_VALUE) for name in ("from", "to"))
    if start is not None and end is not None and start > end:
        raise RefusedRequest(400, "from is greater than to")
    return ChartView(
        query_word(query, "axis", ("step", "wall", "relative")),
        start,
        end,
        query_integer(query, "px", 800, 1, MAX_CHART_PX),
        query_number(query, "smooth", 0.0, 0.0, 1.0) or 0.0,
        query_word(query, "restarts", ("last", "all")) == "all",
    )


def _scalar_columns(found: dict[int, Series], view: ChartView, session: ServedSource) -> bytes:
    blocks: list[tuple[str, NDArray[Any]]] = []
    sent: dict[str, Any] = {}
    kept = {number: session.drawn_columns.get(*_drawn_key(number, one, view)) for number, one in found.items()}
    missing = [number for number, drawn in kept.items() if drawn is None]
    found |= zip(missing, session.with_columns([found[number] for number in missing]), strict=True)
    for number, series in found.items():
        drawn = kept[number] or session.drawn_columns.store(
            *_drawn_key(number, series, view), _drawn_points(number, series, view, session)
        )
        sent[str(number)] = {"generation": series.generation, "points": len(series), "sent": len(drawn[0][1])}
        blocks += drawn
    return pack_columns(sum(entry["sent"] for entry in sent.values()), blocks, {"series": sent})


def _drawn_key(number: int, one: Series, view: ChartView) -> tuple[tuple[int, ChartView], tuple[int, int]]:
    """Return the cache key of drawn columns, and the state of the series that they depend on."""
    # A series sent as a whole is independent of the width of the chart.
    pixels = view.pixels if len(one) > POINTS_PER_COLUMN * view.pixels else MAX_CHART_PX
    return (number, replace(view, pixels=pixels)), (one.generation, len(one))


def _drawn_points(number: int, series: Series, view: ChartView, session: ServedSource) -> DrawnColumns:
    """Return the points to send, in drawing order, and their smoothed values.

    One point on either side of the view is included, so that the line continues to the border.
    """
    points = series.point_order(view.superseded)
    values = series.value[points].astype(np.float64)
    smooth = _smoothed_values(number, series, view, points, session) if view.smooth else None
    x = _axis_values(series, points, view.axis)
    order = np.argsort(x, kind="stable") if view.axis != "step" else np.arange(len(x))
    points, values, x = points[order], values[order], x[order]
    smooth = None if smooth is None else smooth[order]
    low = 0 if view.start is None else max(0, int(np.searchsorted(x, view.start, "left")) - 1)
    high = len(x) if view.end is None else min(len(x), int(np.searchsorted(x, view.end, "right")) + 1)
    drawn = decimate_series(x[low:high], values[low:high], view.pixels)
    if smooth is not None:
        drawn = distinct_values(np.concatenate((drawn, decimate_series(x[low:high], smooth[low:high], view.pixels))))
    points = points[low:high][drawn]
    columns: list[tuple[str, NDArray[Any]]] = [
        ("step", series.step[points]),
        ("wall", series.wall[points]),
        ("value", series.value[points]),
    ]
    if view.superseded:
        columns.append(("superseded", series.superseded[points]))
    if smooth is not None:
        columns.append(("smoothed", smooth[low:high][drawn]))
    return tuple((f"{number}.{name}", column) for name, column in columns)


def _smoothed_values(
    number: int, one: Series, view: ChartView, points: NDArray[np.int64], session: ServedSource
) -> NDArray[np.float64]:
    """Smooth the values of a series; superseded values stay unchanged and do not count.

    Those of a long series are cached, since each step of a zoom shows a different part.
    """
    key, stamp = (number, view.smooth, view.superseded), (one.generation, len(one))
    known = session.drawn_columns.get(key, stamp)
    if known is not None:
        return known[0][1]
    made, stale = one.value[points].astype(np.float64), one.superseded[points]
    made[~stale] = smooth_series(made[~stale], view.smooth)
    if len(one) > POINTS_PER_COLUMN * view.pixels:
        session.drawn_columns.store(key, stamp, (("smoothed", made),))
    return made


def _axis_values(one: Series, points: NDArray[np.int64], axis: str) -> NDArray[np.float64]:
    """Return the positions of points on an axis: steps, wall times, or seconds since the first point."""
    if axis == "step":
        return one.step[points].astype(np.float64)
    wall = one.wall[points]
    if axis == "wall" or not len(wall):
        return wall
    made: NDArray[np.float64] = wall - np.min(one.wall[np.isfinite(one.wall)], initial=np.inf)
    return made


SCALAR_ROUTES = [Route("/api/series/{ids}", scalar_points)]


# All points of scalars as CSV or JSON, streamed.

EXPORTED_POINTS_AT_ONCE = 2_000_000  # points of a run read again together
EXPORT_MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


async def export_scalars(request: Request) -> Response:
    """Stream every point of every scalar, or of those of some runs and tags."""
    query, session = checked_query(request, ("format", "kind", "runs", "tags")), served_source(request)
    form = query_word(query, "format", ("csv", "json"))
    query_word(query, "kind", ("scalar",))
    chosen = _requested_scalars(session, query)
    whole = _series_with_columns(session, chosen)
    parts = scalars_as_csv(whole) if form == "csv" else scalars_as_json(whole)
    name = {"content-disposition": f'attachment; filename="scalars.{form}"'}
    return StreamingResponse(_encode_in_threads(parts), headers=name, media_type=EXPORT_MEDIA_TYPES[form])


def _requested_scalars(session: ServedSource, query: dict[str, str]) -> list[Series]:
    wanted = {name: set(parse_ids(query[name], name)) for name in ("runs", "tags") if query.get(name)}
    found = [
        series
        for series in session.logged.series
        if series.kind == "scalar"
        and session.run_id(series.run) in wanted.get("runs", {session.run_id(series.run)})
        and session.tag_id(series) in wanted.get("tags", {session.tag_id(series)})
    ]
    return sorted(found, key=lambda series: (series.run, series.tag))


def _series_with_columns(session: ServedSource, chosen: list[Series]) -> Iterator[Series]:
    """Yield the series with their columns, several of a run at once, so that its files are not read again for each
    tag."""
    for _, of_run in groupby(chosen, key=lambda series: series.run):
        waiting: list[Series] = []
        points = 0
        for series in of_run:
            if waiting and points + len(series) > EXPORTED_POINTS_AT_ONCE:
                yield from session.with_columns(waiting)
                waiting, points = [], 0
            waiting.append(series)
            points += len(series)
        yield from session.with_columns(waiting)


async def _encode_in_threads(parts: Iterator[str]) -> AsyncIterator[bytes]:
    """Yield the parts as bytes, made in threads so that other requests are served meanwhile."""
    while (part := await run_in_thread(next, parts, None)) is not None:
        yield part.encode("utf-8", "replace")  # a name may contain lone surrogates


EXPORT_ROUTES = [Route("/api/export", export_scalars, methods=["GET"])]
