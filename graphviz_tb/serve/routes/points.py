"""Routes of points: histograms, images, sounds, texts, curves, tensors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.model.logs import HistogramPoints, Series
from graphviz_tb.page.blocks import pack_columns
from graphviz_tb.page.points import (
    DEFAULT_HISTOGRAM_STEPS,
    MEDIA_HEAD_BYTES,
    UNKNOWN_MEDIA_TYPE,
    describe_point,
    histogram_columns,
    media_type,
    shown_samples,
)
from graphviz_tb.serve.answers import (
    COLUMNS_MEDIA_TYPE,
    RefusedRequest,
    cached_bytes_response,
    entity_tag,
    is_not_modified,
    json_response,
)
from graphviz_tb.serve.jobs import run_in_thread
from graphviz_tb.serve.parameters import checked_query, is_id, parse_ids, point_at_step, query_word, served_source
from graphviz_tb.serve.parameters import query_integer as whole_number
from graphviz_tb.serve.session import ServedSource

# Bytes of images and sounds, which stay on disk until requested.

MAX_BLOB_BYTES = 1 << 28  # bytes of a blob in one response
SANDBOX_POLICY = "default-src 'none'; sandbox"
RANGE_HEADER = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


async def blob_bytes(request: Request) -> Response:
    """Return the bytes of an image or a sound, or a range of them."""
    checked_query(request, ())
    number, source = request.path_params["id"], served_source(request)
    found = source.place_of_blob(int(number)) if is_id(number) else None
    if found is None:
        raise RefusedRequest(404, "no such blob", "/api/media gives their ids")
    run, place = found
    headers = {"accept-ranges": "bytes", "cache-control": "no-cache", "content-security-policy": SANDBOX_POLICY}
    headers["etag"] = entity_tag(f"{source.start} {number}")
    if is_not_modified(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    first, last = _requested_range(request.headers.get("range"), place.length)
    is_partial = last + 1 - first < place.length
    if is_partial:
        headers["content-range"] = f"bytes {first}-{last}/{place.length}"
    requested = place._replace(offset=place.offset + first, length=last + 1 - first)
    head = place._replace(length=min(place.length, MEDIA_HEAD_BYTES))
    kind = media_type(await run_in_thread(source.read, run, head))
    if kind == UNKNOWN_MEDIA_TYPE:
        headers["content-disposition"] = "attachment"
    return Response(await run_in_thread(source.read, run, requested), 206 if is_partial else 200, headers, kind)


def _requested_range(text: str | None, size: int) -> tuple[int, int]:
    """Return the first and the last byte of a range; the whole blob without exactly one range.

    >>> _requested_range("bytes=2-", 10), _requested_range("bytes=-3", 10), _requested_range(None, 10)
    ((2, 9), (7, 9), (0, 9))
    """
    found = RANGE_HEADER.fullmatch(text or "")
    first, last = 0, size - 1
    if found and (found[1] or found[2]):
        first = int(found[1]) if found[1] else max(0, size - int(found[2]))
        last = min(last, int(found[2])) if found[1] and found[2] else last
        if first > last:
            raise RefusedRequest(416, f"there are {size:,} bytes", headers={"content-range": f"bytes */{size}"})
    return first, min(last, first + MAX_BLOB_BYTES - 1)


MEDIA_ROUTES = [Route("/api/blob/{id}", blob_bytes, methods=["GET"])]


# Histograms of a series, its steps, and single points: images, sounds, texts, curves, tensors.

MAX_HISTOGRAM_STEPS = 10_000


def _series_of_request(request: Request) -> Series:
    """Return the series of an address. Raises `RefusedRequest`."""
    number = request.path_params["id"]
    if not is_id(number):
        raise RefusedRequest(404, f"no series {number[:40]!r}", "/api/tags lists them")
    return served_source(request).series_of_id(int(number))


def _wrong_kind(series: Series, what: str) -> RefusedRequest:
    return RefusedRequest(400, f"'{series.tag}' is of kind {series.kind}", f"this address gives {what}")


async def series_histograms(request: Request) -> Response:
    """Return histograms of some steps: as logged, on common bins, or as nine percentiles."""
    query, series = checked_query(request, ("steps", "view")), _series_of_request(request)
    view = query_word(query, "view", ("ridges", "bands", "buckets"))
    most = whole_number(query, "steps", DEFAULT_HISTOGRAM_STEPS, 1, MAX_HISTOGRAM_STEPS)
    if series.kind != "histogram":
        raise _wrong_kind(series, "histograms")
    number, session = int(request.path_params["id"]), served_source(request)
    tag = f"{session.start} {series.run} {series.tag} {series.generation} {view} {most}"
    return await cached_bytes_response(
        request, lambda: _histogram_answer_columns(session, number, series, view, most), COLUMNS_MEDIA_TYPE, tag
    )


def _histogram_answer_columns(session: ServedSource, number: int, series: Series, view: str, most: int) -> bytes:
    [whole] = session.with_columns([series])
    blocks = (
        histogram_columns(number, whole, whole.data, (view,), most) if isinstance(whole.data, HistogramPoints) else []
    )
    count = len(whole.point_order())
    return pack_columns(blocks[0][1].size if blocks else 0, blocks, {"series": {str(number): {"points": count}}})


async def series_steps(request: Request) -> Response:
    """Return the steps and times of some series, in drawing order."""
    checked_query(request, ())
    session = served_source(request)
    found = {number: session.series_of_id(number) for number in parse_ids(request.path_params["ids"])}
    tag = f"{session.start} {[(number, series.generation, len(series)) for number, series in found.items()]}"
    return await cached_bytes_response(request, lambda: _step_columns(session, found), COLUMNS_MEDIA_TYPE, tag)


def _step_columns(session: ServedSource, found: Mapping[int, Series]) -> bytes:
    blocks: list[tuple[str, NDArray[Any]]] = []
    for number, series in zip(found, session.with_columns([*found.values()]), strict=True):
        order = series.point_order()
        blocks += [(f"{number}.step", series.step[order]), (f"{number}.wall", series.wall[order])]
    return pack_columns(len(found), blocks)


def _point_route(path: str, what: str, *kinds: str) -> Route:
    """Return a route for one point of series of these kinds."""

    async def answer(request: Request) -> Response:
        query, series = checked_query(request, ("at",)), _series_of_request(request)
        if series.kind not in kinds:
            raise _wrong_kind(series, what)
        session = served_source(request)
        log = session.log
        if log is None:
            raise RefusedRequest(404, "the log is gone")
        [series] = await run_in_thread(session.with_columns, [series])
        point = point_at_step(series, query)
        # Assign ids here, in the event loop: the thread only reads.
        ids = {place: session.blob_id(series.run, place) for place in shown_samples(series, point)}
        return json_response(
            request, await run_in_thread(describe_point, log, series, point, ids.__getitem__), same=True
        )

    return Route(path, answer, methods=["GET"])


POINT_ROUTES = [
    Route("/api/histograms/{id}", series_histograms, methods=["GET"]),
    Route("/api/steps/{ids}", series_steps, methods=["GET"]),
    _point_route("/api/media/{id}", "images and sounds", "image", "audio"),
    _point_route("/api/text/{id}", "texts", "text"),
    _point_route("/api/pr/{id}", "precision-recall curves", "pr_curve"),
    _point_route("/api/tensors/{id}", "tensors", "tensor"),
]
