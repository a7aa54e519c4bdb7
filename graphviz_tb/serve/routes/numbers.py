"""Histograms of a series, its steps, and single points: images, sounds, texts, curves, tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.model.logged import Histograms, Series
from graphviz_tb.page.columns import packed
from graphviz_tb.page.points import USUAL_STEPS, histogram_columns, point_of, samples_of
from graphviz_tb.serve.answers import COLUMNS, Refused, bytes_answer, json_answer
from graphviz_tb.serve.asked import is_number, known, numbers, point_at, session_of, word
from graphviz_tb.serve.asked import whole as whole_number
from graphviz_tb.serve.session import ServedSource
from graphviz_tb.serve.threads import in_thread

MOST_STEPS = 10_000


def series_of(request: Request) -> Series:
    """Return the series of an address. Raises `Refused`."""
    number = request.path_params["id"]
    if not is_number(number):
        raise Refused(404, f"no series {number[:40]!r}", "/api/tags lists them")
    return session_of(request).series(int(number))


def refused(series: Series, what: str) -> Refused:
    """Return the error for a series of the wrong kind."""
    return Refused(400, f"'{series.tag}' is of kind {series.kind}", f"this address gives {what}")


async def histograms(request: Request) -> Response:
    """Return histograms of some steps: as logged, on common bins, or as nine percentiles."""
    query, series = known(request, ("steps", "view")), series_of(request)
    view = word(query, "view", ("ridges", "bands", "buckets"))
    most = whole_number(query, "steps", USUAL_STEPS, 1, MOST_STEPS)
    if series.kind != "histogram":
        raise refused(series, "histograms")
    number, session = int(request.path_params["id"]), session_of(request)
    tag = f"{session.start} {series.run} {series.tag} {series.generation} {view} {most}"
    return await bytes_answer(request, lambda: histogram_answer(session, number, series, view, most), COLUMNS, tag)


def histogram_answer(session: ServedSource, number: int, series: Series, view: str, most: int) -> bytes:
    """Return the columns of the answer."""
    [whole] = session.with_columns([series])
    blocks = histogram_columns(number, whole, whole.data, (view,), most) if isinstance(whole.data, Histograms) else []
    return packed(blocks[0][1].size if blocks else 0, blocks)


async def steps(request: Request) -> Response:
    """Return the steps and times of some series, in drawing order."""
    known(request, ())
    session = session_of(request)
    found = {number: session.series(number) for number in numbers(request.path_params["ids"])}
    tag = f"{session.start} {[(number, one.generation, len(one)) for number, one in found.items()]}"
    return await bytes_answer(request, lambda: step_columns(session, found), COLUMNS, tag)


def step_columns(session: ServedSource, found: Mapping[int, Series]) -> bytes:
    """Return the columns of the answer."""
    blocks: list[tuple[str, NDArray[Any]]] = []
    for number, one in zip(found, session.with_columns([*found.values()]), strict=True):
        order = one.in_order()
        blocks += [(f"{number}.step", one.step[order]), (f"{number}.wall", one.wall[order])]
    return packed(len(found), blocks)


def point_route(path: str, what: str, *kinds: str) -> Route:
    """Return a route for one point of series of these kinds."""

    async def answer(request: Request) -> Response:
        query, series = known(request, ("at",)), series_of(request)
        if series.kind not in kinds:
            raise refused(series, what)
        session = session_of(request)
        log = session.log
        if log is None:
            raise Refused(404, "the log is gone")
        [series] = await in_thread(session.with_columns, [series])
        point = point_at(series, query)
        # Ids are given here: the thread only reads.
        ids = {place: session.blob_id(series.run, place) for place in samples_of(series, point)}
        return json_answer(request, await in_thread(point_of, log, series, point, ids.__getitem__), same=True)

    return Route(path, answer, methods=["GET"])


POINT_ROUTES = [
    Route("/api/histograms/{id}", histograms, methods=["GET"]),
    Route("/api/steps/{ids}", steps, methods=["GET"]),
    point_route("/api/media/{id}", "images and sounds", "image", "audio"),
    point_route("/api/text/{id}", "texts", "text"),
    point_route("/api/pr/{id}", "precision-recall curves", "pr_curve"),
    point_route("/api/tensors/{id}", "tensors", "tensor"),
]
