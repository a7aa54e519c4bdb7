"""What there is: runs, kinds, graphs; tags with their series."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graphviz_tb import __version__
from graphviz_tb.chart.order import groups
from graphviz_tb.model.logged import Series
from graphviz_tb.serve.answers import json_answer
from graphviz_tb.serve.asked import known, session_of
from graphviz_tb.serve.session import ServedSource, finite, whole


async def state(request: Request) -> Response:
    """All runs, how many series of each kind there are, and the graphs."""
    known(request, ())
    return json_answer(request, {"version": __version__, **session_of(request).state()}, same=True)


async def tags(request: Request) -> Response:
    """All tags, of one kind or of all, with the series of each run."""
    kind = known(request, ("kind",)).get("kind")
    session = session_of(request)
    return json_answer(request, {"generation": session.generation, "tags": told(session, kind)}, same=True)


def told(session: ServedSource, kind: str | None) -> list[dict[str, Any]]:
    """Tags in the order of their groups, each once for each kind that it has."""
    found: dict[tuple[str, str], list[Series]] = {}
    for series in session.all_series(kind):
        found.setdefault((series.tag, series.kind), []).append(series)
    order = {tag: (place, group) for place, (group, tag) in enumerate(grouped({tag for tag, _ in found}))}
    in_order = sorted(found, key=lambda key: (order[key[0]][0], key[1]))
    return [entry(session, found[key], order[key[0]][1]) for key in in_order]


def grouped(tags: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Each tag with its group, in order."""
    return ((group, tag) for group, inner in groups(tags) for tag in inner)


def entry(session: ServedSource, each: list[Series], group: str) -> dict[str, Any]:
    """One tag."""
    first = each[0]
    return {
        "id": session.tag_id(first),
        "name": first.tag,
        "group": group,
        "kind": first.kind,
        "plugin": first.about.plugin,
        "title": first.about.display_name,
        "about": first.about.description,
        "runs": [[session.run_id(one.run), session.series_id(one), *extent(one)] for one in each],
    }


def extent(series: Series) -> list[Any]:
    """How many points a series has, their least and greatest step and time, and how many are not finite."""
    if not len(series):
        return [0, None, None, None, None, 0]
    steps, walls = series.step, series.wall
    odd = int(np.count_nonzero(~np.isfinite(series.value)))
    ends = [whole(int(steps.min())), whole(int(steps.max())), finite(float(walls.min())), finite(float(walls.max()))]
    return [len(series), *ends, odd]


ROUTES = [Route("/api/state", state), Route("/api/tags", tags)]
