"""Graphs: how far they are, their heads, their blocks, groups by themselves."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.page.columns import packed
from graphviz_tb.serve.answers import COLUMNS, Refused, bytes_answer, etag, json_answer, unchanged
from graphviz_tb.serve.asked import known, session_of
from graphviz_tb.serve.graphs import Graphs, ListedGraph
from graphviz_tb.serve.loading import ServedPage
from graphviz_tb.serve.pages import group

BINARY = "application/octet-stream"


def asked(request: Request) -> tuple[Graphs, ListedGraph]:
    """The graph that an address means. Raises `Refused`."""
    graphs = session_of(request).graphs
    return graphs, graphs.get(request.path_params["id"])


def page_of(request: Request) -> ServedPage:
    """Its page. Raises `Refused` where it is not there yet."""
    graphs, one = asked(request)
    return graphs.page(one)


async def graph(request: Request) -> Response:
    """The head of a graph, and which blocks there are."""
    known(request, ())
    page = page_of(request)
    blocks = [[block.name, block.kind, block.digest, len(block.data)] for block in page.blocks.values()]
    return json_answer(request, {"head": page.head, "blocks": blocks}, same=True)


async def block(request: Request) -> Response:
    """One block as it is packed: gzip, whatever the browser takes, for it is unpacked by the page."""
    known(request, ("digest",))
    found = page_of(request).blocks.get(request.path_params["name"])
    if found is None:
        raise Refused(404, "no such block", "the head of the graph lists them")
    headers = {"cache-control": "no-cache", "etag": etag(found.digest)}
    if unchanged(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(found.data, 200, headers, BINARY)


async def one_group(request: Request) -> Response:
    """The columns of one group: the numbers that `viewer/reader.js` reads."""
    known(request, ())
    page, row = page_of(request), request.path_params["row"]
    numbers = group(page, row)
    if numbers is None:
        raise Refused(404, f"nothing in group {row[:40]!r} is here", "the block 'levels' lists groups")
    digests = "".join(each.digest for each in page.blocks.values())
    return await bytes_answer(
        request, lambda: packed(len(numbers), [("numbers", numbers)]), COLUMNS, f"{digests} {row}"
    )


async def load(request: Request) -> Response:
    """Load a graph, unless it is loaded already."""
    graphs, one = asked(request)
    graphs.start(one)
    return json_answer(request, one.told(), status=202)


async def cancel(request: Request) -> Response:
    """Stop loading a graph."""
    graphs, one = asked(request)
    graphs.cancel(one)
    return json_answer(request, one.told(), status=202)


ROUTES = [
    Route("/api/graphs/{id}", graph, methods=["GET"]),
    Route("/api/graphs/{id}/blocks/{name:path}", block, methods=["GET"]),
    Route("/api/graphs/{id}/groups/{row}", one_group, methods=["GET"]),
    Route("/api/load/{id}", load, methods=["POST"]),
    Route("/api/cancel/{id}", cancel, methods=["POST"]),
]
