"""Embeddings: the list, projected points, their metadata, and the neighbours of a point."""

from __future__ import annotations

from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.errors import RequestError
from graphviz_tb.limits import NEIGHBOURS
from graphviz_tb.model.embeddings import DistanceMetric, Embedding
from graphviz_tb.page.projector import image_kind, metadata_told, projection_columns
from graphviz_tb.project import METHODS, nearest, pca
from graphviz_tb.serve.answers import COLUMNS, Refused, bytes_answer, json_answer, kept_json
from graphviz_tb.serve.asked import is_number, known, session_of, whole, word
from graphviz_tb.serve.embeddings import AskedLayout, ServedEmbeddings
from graphviz_tb.serve.routes.media import SANDBOX
from graphviz_tb.serve.threads import in_thread

USUAL_NEIGHBOURS = 10
LARGEST_NEAR = 500  # perplexity, or neighbours of UMAP
METRICS: tuple[DistanceMetric, ...] = get_args(DistanceMetric)


def one_of(request: Request) -> tuple[ServedEmbeddings, int, Embedding]:
    """Return the embedding of an address. Raises Refused."""
    number, embeddings = request.path_params["id"], session_of(request).embeddings
    if not is_number(number):
        raise Refused(404, f"no embedding {number[:40]!r}", "/api/projector lists them")
    return embeddings, int(number), embeddings.get(int(number))


async def stamped(request: Request, embeddings: ServedEmbeddings, one: Embedding) -> str:
    """Return everything that an answer about an embedding depends on."""
    return f"{session_of(request).start} {one} {await in_thread(embeddings.projector.stamp, one)}"


async def projector(request: Request) -> Response:
    """Return all embeddings, and the methods to lay them out."""
    known(request, ())
    session = session_of(request)
    return json_answer(request, session.embeddings.told(session.run_id_or_none), same=True)


async def points(request: Request) -> Response:
    """Return the points on principal components, or as laid out by t-SNE or UMAP."""
    known(request, ("method", "axes", "near"))
    embeddings, number, one = one_of(request)
    of, asked = await stamped(request, embeddings, one), asked_layout(request, number)
    reader = embeddings.projector
    if asked.method == "pca":

        def make() -> bytes:
            return projection_columns(pca(reader.values(one)), reader.notices(one))

        return await bytes_answer(request, make, COLUMNS, f"{of} pca")
    made = embeddings.layout(asked).made
    assert made is not None
    return await bytes_answer(request, lambda: projection_columns(made, reader.notices(one)), COLUMNS, f"{of} {asked}")


def asked_layout(request: Request, number: int) -> AskedLayout:
    """Return the layout of a query. Raises Refused."""
    query = known(request, ("method", "axes", "near"))
    near = whole(query, "near", 0, 2, LARGEST_NEAR) if "near" in query else None
    return AskedLayout(number, word(query, "method", METHODS), whole(query, "axes", 3, 2, 3), near)


async def layout(request: Request) -> Response:
    """Start a layout."""
    embeddings, number, _ = one_of(request)
    asked = asked_layout(request, number)
    if asked.method == "pca":
        raise Refused(400, "principal components are there at once", "ask for the points")
    await embeddings.start(asked)
    return json_answer(request, {"state": "working"}, status=202)


async def cancel(request: Request) -> Response:
    """Stop the layouts of an embedding that are under way."""
    known(request, ())
    embeddings, number, _ = one_of(request)
    embeddings.cancel(number)
    return json_answer(request, {"state": "none"}, status=202)


async def metadata(request: Request) -> Response:
    """Return the columns of the metadata of the points."""
    known(request, ())
    embeddings, _, one = one_of(request)
    tag = await stamped(request, embeddings, one)
    return await kept_json(request, lambda: metadata_told(*embeddings.projector.columns(one)), f"{tag} metadata")


async def neighbours(request: Request) -> Response:
    """Return the nearest points of one point, and their distances."""
    query = known(request, ("row", "k", "metric"))
    embeddings, _, one = one_of(request)
    row = whole(query, "row", 0, 0, max(0, one.points - 1))
    count = whole(query, "k", USUAL_NEIGHBOURS, 1, int(NEIGHBOURS))
    metric: Any = word(query, "metric", METRICS)

    def make() -> dict[str, Any]:
        rows, far = nearest(embeddings.projector.values(one), row, count, metric)
        return {"row": row, "metric": metric, "rows": rows.tolist(), "distances": far.tolist()}

    try:
        return json_answer(request, await in_thread(make), same=True)
    except RequestError as error:
        raise Refused(400, error.message, error.hint or "") from None


async def sprite(request: Request) -> Response:
    """Return the image with a small picture of each point; refuse a file that is not an image by its first bytes."""
    known(request, ())
    embeddings, _, one = one_of(request)
    tag = await stamped(request, embeddings, one)
    data = await in_thread(embeddings.projector.sprite, one)
    kind = image_kind(data)
    if not kind:
        raise Refused(404, f"the sprite of '{one.name[:80]}' is no image that a browser shows", "write a PNG")
    answer = await bytes_answer(request, lambda: data, kind, f"{tag} sprite")
    answer.headers["content-security-policy"] = SANDBOX
    return answer


PROJECTOR_ROUTES = [
    Route("/api/projector", projector, methods=["GET"]),
    Route("/api/projector/{id}/points", points, methods=["GET"]),
    Route("/api/projector/{id}/metadata", metadata, methods=["GET"]),
    Route("/api/projector/{id}/neighbours", neighbours, methods=["GET"]),
    Route("/api/projector/{id}/sprite", sprite, methods=["GET"]),
    Route("/api/projector/{id}/layout", layout, methods=["POST"]),
    Route("/api/projector/{id}/cancel", cancel, methods=["POST"]),
]
