"""Graphs: loading state, heads, blocks, joins and colours of what is logged; profiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.chart.measures import MEASURES
from graphviz_tb.errors import MissingFacts, RequestError
from graphviz_tb.logs.training import TrainingLog
from graphviz_tb.page.log import embedding_joins, joins_by_tag
from graphviz_tb.page.profile import profile_table, slice_columns
from graphviz_tb.render.html import page_bytes
from graphviz_tb.serve.answers import (
    COLUMNS_MEDIA_TYPE,
    RefusedRequest,
    cached_bytes_response,
    cached_json_response,
    entity_tag,
    is_not_modified,
    json_response,
)
from graphviz_tb.serve.graph_rows import GraphRows, LogColouringRequest, logged_colour_columns
from graphviz_tb.serve.graphs import ListedGraph, ServedGraphs
from graphviz_tb.serve.jobs import ServedPage, run_in_thread
from graphviz_tb.serve.parameters import (
    MAX_AXIS_VALUE,
    checked_query,
    query_integer,
    query_number,
    query_word,
    served_source,
)
from graphviz_tb.serve.profiles import ListedProfile, profile_entry
from graphviz_tb.serve.session import ServedSource

BINARY_MEDIA_TYPE, PAGE_MEDIA_TYPE = "application/octet-stream", "text/html; charset=utf-8"


def _requested_graph(request: Request) -> tuple[ServedGraphs, ListedGraph]:
    """Return the graph of an address. Raises `RefusedRequest`."""
    graphs = served_source(request).graphs
    return graphs, graphs.get(request.path_params["id"])


def _requested_page(request: Request) -> ServedPage:
    """Return the page of a graph. Raises `RefusedRequest` if it is not ready."""
    graphs, one = _requested_graph(request)
    return graphs.ready_page(one)


async def graph_head(request: Request) -> Response:
    """Return the head of a graph, and the list of its blocks."""
    checked_query(request, ())
    page = _requested_page(request)
    blocks = [[block.name, block.kind, block.digest, len(block.data)] for block in page.blocks.values()]
    return json_response(request, {"head": page.head, "blocks": blocks}, same=True)


async def graph_block(request: Request) -> Response:
    """Return one compressed block: always gzip, since the script of the page decompresses it."""
    checked_query(request, ("digest",))
    found = _requested_page(request).blocks.get(request.path_params["name"])
    if found is None:
        raise RefusedRequest(404, "no such block", "the head of the graph lists them")
    headers = {"cache-control": "no-cache", "etag": entity_tag(found.digest)}
    if is_not_modified(request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(found.data, 200, headers, BINARY_MEDIA_TYPE)


async def graph_page_file(request: Request) -> Response:
    """Return the page of a graph as a file that needs no server; the client writes the view into its head."""
    checked_query(request, ())
    page = _requested_page(request)
    head, title = {**page.head, "view": ""}, str(page.head.get("title") or "graph")
    data = await run_in_thread(page_bytes, head, page.blocks.values(), title)
    return Response(data, 200, {"cache-control": "no-store", "content-disposition": "attachment"}, PAGE_MEDIA_TYPE)


async def _requested_rows(request: Request) -> GraphRows:
    """Return the rows of a graph. Raises `RefusedRequest` if it is not ready."""
    graphs, one = _requested_graph(request)
    return await run_in_thread(graphs.unpacked_rows, one, graphs.ready_page(one))


async def graph_joins(request: Request) -> Response:
    """Return the joins of the tags of the log, and of its embeddings, with a graph."""
    checked_query(request, ())
    graphs, one = _requested_graph(request)
    session, found = served_source(request), await graphs.joins_with_graph(one)
    clouds = embedding_joins(session.embeddings.variable_names(), found)
    runs = graphs.runs_of(one, [run.name for run in session.log.logged.runs] if session.log else ())
    return json_response(request, {**joins_by_tag(session.tag_names(), found, runs), "clouds": clouds}, same=True)


async def logged_graph_colours(request: Request) -> Response:
    """Return a graph in the colours of the logged values of a step."""
    query, session = checked_query(request, ("pattern", "measure", "run", "at", "against")), served_source(request)
    graphs, graph = _requested_graph(request)
    at = query_number(query, "at", None, -MAX_AXIS_VALUE, MAX_AXIS_VALUE)
    colouring = LogColouringRequest(
        query.get("pattern") or None,
        query_word(query, "measure", ("", *MEASURES)) or None,
        _parse_run(session, query, "run"),
        _parse_run(session, query, "against"),
    )
    joins, rows = await graphs.joins_with_graph(graph), await _requested_rows(request)
    version_key = session.generation, graph.id, graph.version
    training = TrainingLog(rows, session.logged, joins, session.with_columns)

    def make() -> bytes:
        selection = graphs.colours.measured_colouring(training, version_key, colouring, graph.entry.run)
        return logged_colour_columns(rows, selection, None if at is None else int(at))

    try:
        return await cached_bytes_response(request, make, COLUMNS_MEDIA_TYPE, f"{version_key} {colouring} {at}")
    except RequestError as error:
        raise RefusedRequest(404 if isinstance(error, MissingFacts) else 400, error.message, error.hint or "") from None


def _parse_run(session: ServedSource, query: dict[str, str], name: str) -> str | None:
    """Return the name of the run whose id is in a parameter. Raises `RefusedRequest`."""
    if not query.get(name):
        return None
    number = query_integer(query, name, 0, 0, 10**9)
    found = next((run.name for run in session.logged.runs if session.run_id(run.name) == number), None)
    if found is None:
        raise RefusedRequest(404, f"no run {number}", "/api/state lists them")
    return found


def _loading_route(path: str, change: Callable[[ServedGraphs, ListedGraph], None]) -> Route:
    """Return a route that begins or ends the loading of a graph."""

    async def answer(request: Request) -> Response:
        graphs, one = _requested_graph(request)
        change(graphs, one)
        return json_response(request, one.graph_entry(), status=202)

    return Route(path, answer, methods=["POST"])


GRAPH_ROUTES = [
    Route("/api/graphs/{id}", graph_head, methods=["GET"]),
    Route("/api/graphs/{id}/blocks/{name:path}", graph_block, methods=["GET"]),
    Route("/api/graphs/{id}/page", graph_page_file, methods=["GET"]),
    Route("/api/graphs/{id}/joins", graph_joins, methods=["GET"]),
    Route("/api/graphs/{id}/logged", logged_graph_colours, methods=["GET"]),
    _loading_route("/api/load/{id}", ServedGraphs.start_loading),
    _loading_route("/api/cancel/{id}", ServedGraphs.cancel_loading),
]


# Profiles: the traced steps, their tables, and the slices of their timelines.

DEFAULT_SLICES_PX, MAX_SLICES_PX = 1_000, 20_000
MAX_TRACE_NS = float(2**62)  # longer than any trace
MAX_SEARCH_LETTERS = 1_000  # letters


def _requested_profile(request: Request) -> ListedProfile:
    """Return the traced step of an address. Raises `RefusedRequest`."""
    return served_source(request).profiles.get(request.path_params["id"])


async def profile_list(request: Request) -> Response:
    """List every traced step, with its run and the graph it is joined with."""
    checked_query(request, ())
    session = served_source(request)
    listed = list(session.profiles.listed.values())
    graphs: dict[Any, str] = {graph.entry: graph.id for graph in session.graphs.listed.values() if graph.pair is None}
    entries = [profile_entry(profile, graphs) for profile in listed]
    return await cached_json_response(request, lambda: {"profiles": entries}, f"profiles {session.start} {entries}")


async def profile_tables(request: Request) -> Response:
    """Return everything in a traced step except its slices: shares, tables, lanes, memory."""
    checked_query(request, ())
    one, session = _requested_profile(request), served_source(request)
    profile = await session.profiles.load_listed(one)
    return await cached_json_response(
        request, lambda: profile_table(profile), f"profile {session.start} {one.id} {one.version}"
    )


async def profile_slices(request: Request) -> Response:
    """Return the slices in view, thinned to pixels; a search or a node marks some."""
    query = checked_query(request, ("from", "to", "px", "match", "node"))
    one, session = _requested_profile(request), served_source(request)
    profile = await session.profiles.load_listed(one)
    first = query_number(query, "from", 0.0, -MAX_TRACE_NS, MAX_TRACE_NS) or 0.0
    last = query_number(query, "to", float(max(1, profile.timeline.end_time)), -MAX_TRACE_NS, MAX_TRACE_NS) or 0.0
    pixels = query_integer(query, "px", DEFAULT_SLICES_PX, 1, MAX_SLICES_PX)
    match, node = query.get("match", ""), query.get("node")
    if last <= first:
        raise RefusedRequest(400, "`to` is not after `from`", "both are nanoseconds since the step began")
    if len(match) > MAX_SEARCH_LETTERS:
        raise RefusedRequest(400, f"a search of more than {MAX_SEARCH_LETTERS:,} letters")
    wanted = int(first), int(last), pixels, match, node
    tag = f"slices {session.start} {one.id} {one.version} {wanted}"
    return await cached_bytes_response(
        request, lambda: slice_columns(profile.timeline, *wanted), COLUMNS_MEDIA_TYPE, tag
    )


PROFILE_ROUTES = [
    Route("/api/profile", profile_list, methods=["GET"]),
    Route("/api/profile/{id}/table", profile_tables, methods=["GET"]),
    Route("/api/profile/{id}/slices", profile_slices, methods=["GET"]),
]
