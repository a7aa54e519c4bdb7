"""Embeddings: the list, projected points, their metadata, and the neighbours of a point."""

from __future__ import annotations

from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.errors import RequestError
from graphviz_tb.limits import MAX_NEIGHBOURS
from graphviz_tb.model.logs import DistanceMetric, Embedding
from graphviz_tb.page.embeddings import metadata_values, projection_columns, shown_image_type
from graphviz_tb.project import PROJECTION_METHODS, nearest_points, project_by_pca
from graphviz_tb.serve.answers import (
    COLUMNS_MEDIA_TYPE,
    RefusedRequest,
    cached_bytes_response,
    cached_json_response,
    json_response,
)
from graphviz_tb.serve.embeddings import LayoutRequest, ServedEmbeddings
from graphviz_tb.serve.jobs import run_in_thread
from graphviz_tb.serve.parameters import checked_query, is_id, query_integer, query_word, served_source
from graphviz_tb.serve.routes.points import SANDBOX_POLICY

DEFAULT_NEIGHBOURS = 10
MAX_NEAR = 500  # perplexity, or neighbours of UMAP
NEIGHBOUR_METRICS: tuple[DistanceMetric, ...] = get_args(DistanceMetric)


def _requested_embedding(request: Request) -> tuple[ServedEmbeddings, int, Embedding]:
    """Return the embedding of an address. Raises `RefusedRequest`."""
    number, embeddings = request.path_params["id"], served_source(request).embeddings
    if not is_id(number):
        raise RefusedRequest(404, f"no embedding {number[:40]!r}", "/api/projector lists them")
    return embeddings, int(number), embeddings.get(int(number))


async def embedding_version(request: Request, embeddings: ServedEmbeddings, one: Embedding) -> str:
    """Return everything that an answer about an embedding depends on."""
    return f"{served_source(request).start} {one} {await run_in_thread(embeddings.projector.embedding_stamp, one)}"


async def embedding_list(request: Request) -> Response:
    """Return all embeddings, and the methods to lay them out."""
    checked_query(request, ())
    session = served_source(request)
    return json_response(request, session.embeddings.embeddings_overview(session.run_id_or_none), same=True)


async def projected_points(request: Request) -> Response:
    """Return the points on principal components, or as laid out by t-SNE or UMAP."""
    checked_query(request, ("method", "axes", "near"))
    embeddings, number, one = _requested_embedding(request)
    of, asked = await embedding_version(request, embeddings, one), _requested_layout(request, number)
    reader = embeddings.projector
    made = None if asked.method == "pca" else embeddings.finished_layout(asked).made
    return await cached_bytes_response(
        request,
        lambda: projection_columns(project_by_pca(reader.values(one)) if made is None else made, reader.notices(one)),
        COLUMNS_MEDIA_TYPE,
        f"{of} {'pca' if made is None else asked}",
    )


def _requested_layout(request: Request, number: int) -> LayoutRequest:
    """Return the layout of a query. Raises `RefusedRequest`."""
    query = checked_query(request, ("method", "axes", "near"))
    near = query_integer(query, "near", 0, 2, MAX_NEAR) if "near" in query else None
    return LayoutRequest(
        number, query_word(query, "method", PROJECTION_METHODS), query_integer(query, "axes", 3, 2, 3), near
    )


async def begin_layout(request: Request) -> Response:
    embeddings, number, _ = _requested_embedding(request)
    asked = _requested_layout(request, number)
    if asked.method == "pca":
        raise RefusedRequest(400, "principal components are there at once", "ask for the points")
    await embeddings.start_layout(asked)
    return json_response(request, {"state": "working"}, status=202)


async def cancel_layouts(request: Request) -> Response:
    """Stop the layouts of an embedding that are under way."""
    checked_query(request, ())
    embeddings, number, _ = _requested_embedding(request)
    embeddings.cancel(number)
    return json_response(request, {"state": "none"}, status=202)


async def embedding_metadata(request: Request) -> Response:
    """Return the columns of the metadata of the points."""
    checked_query(request, ())
    embeddings, _, one = _requested_embedding(request)
    tag = await embedding_version(request, embeddings, one)
    return await cached_json_response(
        request, lambda: metadata_values(*embeddings.projector.columns(one)), f"{tag} metadata"
    )


async def neighbours_of_point(request: Request) -> Response:
    """Return the nearest points of one point, and their distances."""
    query = checked_query(request, ("row", "k", "metric"))
    embeddings, _, one = _requested_embedding(request)
    row = query_integer(query, "row", 0, 0, max(0, one.points - 1))
    count = query_integer(query, "k", DEFAULT_NEIGHBOURS, 1, int(MAX_NEIGHBOURS))
    metric: Any = query_word(query, "metric", NEIGHBOUR_METRICS)

    def make() -> dict[str, Any]:
        rows, far = nearest_points(embeddings.projector.values(one), row, count, metric)
        return {"row": row, "metric": metric, "rows": rows.tolist(), "distances": far.tolist()}

    try:
        return json_response(request, await run_in_thread(make), same=True)
    except RequestError as error:
        raise RefusedRequest(400, error.message, error.hint or "") from None


async def embedding_sprite(request: Request) -> Response:
    """Return the image with a small picture of each point; refuse a file that is not an image by its first bytes."""
    checked_query(request, ())
    embeddings, _, one = _requested_embedding(request)
    tag = await embedding_version(request, embeddings, one)
    data = await run_in_thread(embeddings.projector.sprite, one)
    kind = shown_image_type(data)
    if not kind:
        raise RefusedRequest(
            404, f"the sprite of '{one.name[:80]}' is not an image that a browser can show", "write a PNG"
        )
    answer = await cached_bytes_response(request, lambda: data, kind, f"{tag} sprite")
    answer.headers["content-security-policy"] = SANDBOX_POLICY
    return answer


PROJECTOR_ROUTES = [
    Route("/api/projector", embedding_list, methods=["GET"]),
    Route("/api/projector/{id}/points", projected_points, methods=["GET"]),
    Route("/api/projector/{id}/metadata", embedding_metadata, methods=["GET"]),
    Route("/api/projector/{id}/neighbours", neighbours_of_point, methods=["GET"]),
    Route("/api/projector/{id}/sprite", embedding_sprite, methods=["GET"]),
    Route("/api/projector/{id}/layout", begin_layout, methods=["POST"]),
    Route("/api/projector/{id}/cancel", cancel_layouts, methods=["POST"]),
]
