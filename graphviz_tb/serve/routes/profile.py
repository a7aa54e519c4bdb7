"""Profiles: the traced steps, their tables, and the slices of their timelines."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.page.profile import profile_table, slice_columns
from graphviz_tb.serve.answers import COLUMNS_MEDIA_TYPE, RefusedRequest, cached_bytes_response, cached_json_response
from graphviz_tb.serve.parameters import checked_query, query_integer, query_number, served_source
from graphviz_tb.serve.profiles import ListedProfile, profile_entry

DEFAULT_SLICES_PX, MAX_SLICES_PX = 1_000, 20_000
MAX_TRACE_NS = float(2**62)  # nanoseconds: no trace is so long
MAX_SEARCH_LETTERS = 1_000  # letters


def _requested_profile(request: Request) -> ListedProfile:
    """Return the traced step of an address. Raises `RefusedRequest`."""
    return served_source(request).profiles.get(request.path_params["id"])


async def profile_list(request: Request) -> Response:
    """List every traced step, with its run and the graph it is joined with."""
    checked_query(request, ())
    session = served_source(request)
    listed = list(session.profiles.listed.values())
    graphs: dict[Any, str] = {one.entry: one.id for one in session.graphs.listed.values() if one.pair is None}
    entries = [profile_entry(one, graphs) for one in listed]

    def make() -> dict[str, Any]:
        return {"profiles": entries}

    return await cached_json_response(request, make, f"profiles {session.start} {entries}")


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

    def make() -> bytes:
        return slice_columns(profile.timeline, int(first), int(last), pixels, match, node)

    asked = f"{session.start} {one.id} {one.version} {int(first)} {int(last)} {pixels} {match!r} {node!r}"
    return await cached_bytes_response(request, make, COLUMNS_MEDIA_TYPE, f"slices {asked}")


PROFILE_ROUTES = [
    Route("/api/profile", profile_list, methods=["GET"]),
    Route("/api/profile/{id}/table", profile_tables, methods=["GET"]),
    Route("/api/profile/{id}/slices", profile_slices, methods=["GET"]),
]
