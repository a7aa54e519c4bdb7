"""Histograms of a series, its steps, and single points: images, sounds, texts, curves, tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.model.logged import HistogramPoints, Series
from graphviz_tb.page.columns import pack_columns
from graphviz_tb.page.points import DEFAULT_HISTOGRAM_STEPS, describe_point, histogram_columns, shown_samples
from graphviz_tb.serve.answers import COLUMNS_MEDIA_TYPE, RefusedRequest, cached_bytes_response, json_response
from graphviz_tb.serve.asked import checked_query, is_id, parse_ids, point_at_step, query_word, served_source
from graphviz_tb.serve.asked import query_integer as whole_number
from graphviz_tb.serve.session import ServedSource
from graphviz_tb.serve.threads import run_in_thread

MAX_HISTOGRAM_STEPS = 10_000


def series_of_request(request: Request) -> Series:
    """Return the series of an address. Raises `RefusedRequest`."""
    number = request.path_params["id"]
    if not is_id(number):
        raise RefusedRequest(404, f"no series {number[:40]!r}", "/api/tags lists them")
    return served_source(request).series_of_id(int(number))


def wrong_kind(series: Series, what: str) -> RefusedRequest:
    """Return the error for a series of the wrong kind."""
    return RefusedRequest(400, f"'{series.tag}' is of kind {series.kind}", f"this address gives {what}")


async def series_histograms(request: Request) -> Response:
    """Return histograms of some steps: as logged, on common bins, or as nine percentiles."""
    query, series = checked_query(request, ("steps", "view")), series_of_request(request)
    view = query_word(query, "view", ("ridges", "bands", "buckets"))
    most = whole_number(query, "steps", DEFAULT_HISTOGRAM_STEPS, 1, MAX_HISTOGRAM_STEPS)
    if series.kind != "histogram":
        raise wrong_kind(series, "histograms")
    number, session = int(request.path_params["id"]), served_source(request)
    tag = f"{session.start} {series.run} {series.tag} {series.generation} {view} {most}"
    return await cached_bytes_response(
        request, lambda: histogram_answer_columns(session, number, series, view, most), COLUMNS_MEDIA_TYPE, tag
    )


def histogram_answer_columns(session: ServedSource, number: int, series: Series, view: str, most: int) -> bytes:
    """Return the columns of the answer."""
    [whole] = session.with_columns([series])
    blocks = (
        histogram_columns(number, whole, whole.data, (view,), most) if isinstance(whole.data, HistogramPoints) else []
    )
    return pack_columns(blocks[0][1].size if blocks else 0, blocks)


async def series_steps(request: Request) -> Response:
    """Return the steps and times of some series, in drawing order."""
    checked_query(request, ())
    session = served_source(request)
    found = {number: session.series_of_id(number) for number in parse_ids(request.path_params["ids"])}
    tag = f"{session.start} {[(number, one.generation, len(one)) for number, one in found.items()]}"
    return await cached_bytes_response(request, lambda: step_columns(session, found), COLUMNS_MEDIA_TYPE, tag)


def step_columns(session: ServedSource, found: Mapping[int, Series]) -> bytes:
    """Return the columns of the answer."""
    blocks: list[tuple[str, NDArray[Any]]] = []
    for number, one in zip(found, session.with_columns([*found.values()]), strict=True):
        order = one.point_order()
        blocks += [(f"{number}.step", one.step[order]), (f"{number}.wall", one.wall[order])]
    return pack_columns(len(found), blocks)


def point_route(path: str, what: str, *kinds: str) -> Route:
    """Return a route for one point of series of these kinds."""

    async def answer(request: Request) -> Response:
        query, series = checked_query(request, ("at",)), series_of_request(request)
        if series.kind not in kinds:
            raise wrong_kind(series, what)
        session = served_source(request)
        log = session.log
        if log is None:
            raise RefusedRequest(404, "the log is gone")
        [series] = await run_in_thread(session.with_columns, [series])
        point = point_at_step(series, query)
        # Ids are given here: the thread only reads.
        ids = {place: session.blob_id(series.run, place) for place in shown_samples(series, point)}
        return json_response(
            request, await run_in_thread(describe_point, log, series, point, ids.__getitem__), same=True
        )

    return Route(path, answer, methods=["GET"])


POINT_ROUTES = [
    Route("/api/histograms/{id}", series_histograms, methods=["GET"]),
    Route("/api/steps/{ids}", series_steps, methods=["GET"]),
    point_route("/api/media/{id}", "images and sounds", "image", "audio"),
    point_route("/api/text/{id}", "texts", "text"),
    point_route("/api/pr/{id}", "precision-recall curves", "pr_curve"),
    point_route("/api/tensors/{id}", "tensors", "tensor"),
]
