"""Graphs: loading state, heads, blocks, single groups."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.chart.measures import MEASURES
from graphviz_tb.errors import MissingFacts, RequestError
from graphviz_tb.page.columns import packed
from graphviz_tb.page.joined import clouds_joined, joins_told
from graphviz_tb.render.html import document
from graphviz_tb.search import has_regex, parse
from graphviz_tb.serve.answers import COLUMNS, Refused, bytes_answer, etag, json_answer, unchanged
from graphviz_tb.serve.asked import FAR, decimal, is_number, known, session_of, whole, word
from graphviz_tb.serve.graph_rows import GraphRows, level_numbers
from graphviz_tb.serve.graphs import Graphs, ListedGraph
from graphviz_tb.serve.loading import BlockOfFile, ServedPage
from graphviz_tb.serve.logged import AskedColours, answer
from graphviz_tb.serve.session import ServedSource
from graphviz_tb.serve.threads import in_thread
from graphviz_tb.training import Training

BINARY, PAGE = "application/octet-stream", "text/html; charset=utf-8"
USUAL_HITS, MOST_HITS, MOST_HOPS = 200, 10_000, 9_999


def asked(request: Request) -> tuple[Graphs, ListedGraph]:
    """Return the graph of an address. Raises `Refused`."""
    graphs = session_of(request).graphs
    return graphs, graphs.get(request.path_params["id"])


def page_of(request: Request) -> ServedPage:
    """Return the page of a graph. Raises `Refused` if it is not ready."""
    graphs, one = asked(request)
    return graphs.page(one)


async def graph(request: Request) -> Response:
    """Return the head of a graph, and the list of its blocks."""
    known(request, ())
    page = page_of(request)
    blocks = [[block.name, block.kind, block.digest, len(block.data)] for block in page.blocks.values()]
    return json_answer(request, {"head": page.head, "blocks": blocks}, same=True)


async def block(request: Request) -> Response:
    """Return one block as compressed: always gzip, for the page itself decompresses it."""
    known(request, ("digest",))
    found = page_of(request).blocks.get(request.path_params["name"])
    if found is None:
        raise Refused(404, "no such block", "the head of the graph lists them")
    headers = {"cache-control": "no-cache", "etag": etag(found.digest)}
    if unchanged(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(found.data, 200, headers, BINARY)


async def saved(request: Request) -> Response:
    """Return the page of a graph as a file that needs no server; the client writes the view into its head."""
    known(request, ())
    page = page_of(request)
    blocks = [BlockOfFile(one) for one in page.blocks.values()]
    data = await in_thread(document, {**page.head, "view": ""}, blocks, str(page.head.get("title") or "graph"))
    return Response(data, 200, {"cache-control": "no-store", "content-disposition": "attachment"}, PAGE)


async def one_group(request: Request) -> Response:
    """Return the columns of one group: the numbers that `viewer/reader.js` reads."""
    known(request, ())
    page, row = page_of(request), request.path_params["row"]
    numbers = level_numbers(page, row)
    if numbers is None:
        raise Refused(404, f"nothing in group {row[:40]!r} is here", "the block 'levels' lists groups")
    digests = "".join(each.digest for each in page.blocks.values())
    return await bytes_answer(
        request, lambda: packed(len(numbers), [("numbers", numbers)]), COLUMNS, f"{digests} {row}"
    )


async def rows_of(request: Request) -> GraphRows:
    """Return the rows of a graph. Raises `Refused` if it is not ready."""
    graphs, one = asked(request)
    return await in_thread(graphs.rows, one, graphs.page(one))


def row_of(rows: GraphRows, text: str) -> int:
    """Parse a row number. Raises `Refused`."""
    if not is_number(text) or int(text) >= len(rows):
        raise Refused(404, f"no row {text[:40]!r}", f"there are rows 0 to {len(rows) - 1}")
    return int(text)


async def find(request: Request) -> Response:
    """Return the rows of the whole graph that match a text."""
    query = known(request, ("text", "limit"))
    text, most = query.get("text", ""), whole(query, "limit", USUAL_HITS, 1, MOST_HITS)
    try:
        wanted = parse(text)
    except RequestError as error:
        raise Refused(400, str(error), error.hint or "such as text=op:Conv2D relu") from error
    if has_regex(wanted):
        raise Refused(400, "regular expressions are not looked for here", "the page does; here op:Conv* has stars")
    rows = await rows_of(request)
    try:
        found = await in_thread(rows.find, wanted)
    except MissingFacts as error:
        raise Refused(400, str(error), error.hint or "") from error
    hits = [rows.told(row) for row in found[:most]]
    return json_answer(request, {"count": len(found), "hits": hits}, same=True)


async def trace(request: Request) -> Response:
    """Return the rows that lead to a row, or that it leads to."""
    query = known(request, ("row", "way", "hops"))
    way, hops = word(query, "way", ("in", "out")), query.get("hops", "1")
    steps = None if hops == "all" else whole(query, "hops", 1, 1, MOST_HOPS)
    rows = await rows_of(request)
    row = row_of(rows, query.get("row", ""))
    found = await in_thread(rows.trace, row, way, steps)
    return json_answer(request, {"row": row, "way": way, "hops": steps or "all", "rows": found}, same=True)


async def card(request: Request) -> Response:
    """Return the card of one row."""
    known(request, ())
    rows = await rows_of(request)
    row = row_of(rows, request.path_params["row"])
    return json_answer(request, await in_thread(rows.card, row), same=True)


async def joins(request: Request) -> Response:
    """Return the joins of the tags of the log, and of its embeddings, with a graph."""
    known(request, ())
    graphs, one = asked(request)
    session, found = session_of(request), await graphs.joins(one)
    clouds = clouds_joined(session.embeddings.variables(), found)
    return json_answer(request, {**joins_told(session.tag_names(), found), "clouds": clouds}, same=True)


async def logged(request: Request) -> Response:
    """Return a graph in the colours of the logged values of a step."""
    query, session = known(request, ("pattern", "measure", "run", "at", "against")), session_of(request)
    graphs, one = asked(request)
    at = decimal(query, "at", None, -FAR, FAR)
    wanted = AskedColours(
        query.get("pattern") or None,
        word(query, "measure", ("", *MEASURES)) or None,
        run_of(session, query, "run"),
        run_of(session, query, "against"),
    )
    joins, rows = await graphs.joins(one), await rows_of(request)
    of = session.generation, one.id, one.version
    training = Training(rows, session.logged, joins, session.with_columns)

    def make() -> bytes:
        shown = graphs.colours.shown(training, of, wanted, one.entry.run)
        return answer(rows, shown, None if at is None else int(at))

    try:
        return await bytes_answer(request, make, COLUMNS, f"{of} {wanted} {at}")
    except RequestError as error:
        raise Refused(404 if isinstance(error, MissingFacts) else 400, error.message, error.hint or "") from None


def run_of(session: ServedSource, query: dict[str, str], name: str) -> str | None:
    """Return the name of the run whose id is in a parameter. Raises `Refused`."""
    if not query.get(name):
        return None
    number = whole(query, name, 0, 0, 10**9)
    found = next((run.name for run in session.logged.runs if session.run_id(run.name) == number), None)
    if found is None:
        raise Refused(404, f"no run {number}", "/api/state lists them")
    return found


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


GRAPH_ROUTES = [
    Route("/api/graphs/{id}", graph, methods=["GET"]),
    Route("/api/graphs/{id}/blocks/{name:path}", block, methods=["GET"]),
    Route("/api/graphs/{id}/page", saved, methods=["GET"]),
    Route("/api/graphs/{id}/groups/{row}", one_group, methods=["GET"]),
    Route("/api/graphs/{id}/find", find, methods=["GET"]),
    Route("/api/graphs/{id}/trace", trace, methods=["GET"]),
    Route("/api/graphs/{id}/card/{row}", card, methods=["GET"]),
    Route("/api/graphs/{id}/joins", joins, methods=["GET"]),
    Route("/api/graphs/{id}/logged", logged, methods=["GET"]),
    Route("/api/load/{id}", load, methods=["POST"]),
    Route("/api/cancel/{id}", cancel, methods=["POST"]),
]
