"""Profiles: the traced steps, their tables, and the slices of their timelines."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb.page.profile import profile_table, slices_columns
from graphviz_tb.serve.answers import COLUMNS, Refused, bytes_answer, kept_json
from graphviz_tb.serve.asked import decimal, known, session_of, whole
from graphviz_tb.serve.profiles import ListedProfile, profile_entry

USUAL_PIXELS, MOST_PIXELS = 1_000, 20_000
FAR = float(2**62)  # nanoseconds: no trace is so long
LONGEST_SEARCH = 1_000  # letters


def one_of(request: Request) -> ListedProfile:
    """Return the traced step of an address. Raises `Refused`."""
    return session_of(request).profiles.get(request.path_params["id"])


async def profiles(request: Request) -> Response:
    """List every traced step, with its run and the graph it is joined with."""
    known(request, ())
    session = session_of(request)
    listed = list(session.profiles.listed.values())
    graphs: dict[Any, str] = {one.entry: one.id for one in session.graphs.listed.values() if one.pair is None}
    entries = [profile_entry(one, graphs) for one in listed]

    def make() -> dict[str, Any]:
        return {"profiles": entries}

    return await kept_json(request, make, f"profiles {session.start} {entries}")


async def table(request: Request) -> Response:
    """Return everything in a traced step except its slices: shares, tables, lanes, memory."""
    known(request, ())
    one, session = one_of(request), session_of(request)
    profile = await session.profiles.profile(one)
    return await kept_json(request, lambda: profile_table(profile), f"profile {session.start} {one.id} {one.version}")


async def slices(request: Request) -> Response:
    """Return the slices in view, thinned to pixels; a search or a node marks some."""
    query = known(request, ("from", "to", "px", "match", "node"))
    one, session = one_of(request), session_of(request)
    profile = await session.profiles.profile(one)
    first = decimal(query, "from", 0.0, -FAR, FAR) or 0.0
    last = decimal(query, "to", float(max(1, profile.timeline.end)), -FAR, FAR) or 0.0
    pixels = whole(query, "px", USUAL_PIXELS, 1, MOST_PIXELS)
    match, node = query.get("match", ""), query.get("node")
    if last <= first:
        raise Refused(400, "`to` is not after `from`", "both are nanoseconds since the step began")
    if len(match) > LONGEST_SEARCH:
        raise Refused(400, f"a search of more than {LONGEST_SEARCH:,} letters")

    def make() -> bytes:
        return slices_columns(profile.timeline, int(first), int(last), pixels, match, node)

    asked = f"{session.start} {one.id} {one.version} {int(first)} {int(last)} {pixels} {match!r} {node!r}"
    return await bytes_answer(request, make, COLUMNS, f"slices {asked}")


PROFILE_ROUTES = [
    Route("/api/profile", profiles, methods=["GET"]),
    Route("/api/profile/{id}/table", table, methods=["GET"]),
    Route("/api/profile/{id}/slices", slices, methods=["GET"]),
]
