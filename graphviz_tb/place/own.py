"""The part of a line before it runs along others to the same box: its label is there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import gcd

from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton

Track = tuple[int, int, int]  # a directed straight line: its smallest step (dx, dy), and dx * y - dy * x


def unshared_parts(
    skeleton: Skeleton, routes: Mapping[int, Sequence[Point]], wanted: Iterable[int]
) -> dict[int, Sequence[Point]]:
    """Return each of the lines `wanted` from its source up to where it runs along another of its bus."""
    own: dict[int, Sequence[Point]] = {wire: routes[wire] for wire in wanted}
    if not own:
        return own
    for wires in lines_sharing_waypoints(skeleton, routes):
        shared = shared_stretches([routes[wire] for wire in wires])
        for wire in wires:
            if wire in own:
                own[wire] = up_to_shared(routes[wire], shared)
    return own


def lines_sharing_waypoints(skeleton: Skeleton, routes: Mapping[int, Sequence[Point]]) -> list[list[int]]:
    """Return the lines to each box that share waypoints with others."""
    users: dict[tuple[int, int], list[int]] = {}
    for wire in routes:
        chain = skeleton.wires[wire].chain
        for item in chain[1:-1]:
            users.setdefault((item, chain[-1]), []).append(wire)
    sharing: dict[int, set[int]] = {}
    for (_, box), wires in users.items():
        if len(wires) > 1:
            sharing.setdefault(box, set()).update(wires)
    return [sorted(wires) for wires in sharing.values()]


def shared_stretches(lines: Sequence[Sequence[Point]]) -> dict[Track, list[int]]:
    """Return where two or more lines run in one direction on one track: begin, end, begin, end, …

    >>> shared_stretches([[(0, 0), (0, 60)], [(9, 20), (0, 30), (0, 90)]])[0, 1, 0]
    [30, 60]
    """
    changes: dict[Track, list[tuple[int, int]]] = {}
    for points in lines:
        for start, stop in pairwise(points):
            if start != stop:
                track = run_track(start, stop)
                changes.setdefault(track, []).extend(
                    [(distance_along(track, start), 1), (distance_along(track, stop), -1)]
                )
    ending: dict[Track, list[int]] = {}
    for track, ends in changes.items():
        running = 0
        # Along the track, ends before beginnings at one place: lines that only meet there share nothing.
        for end, change in sorted(ends):
            running += change
            if running == (2 if change > 0 else 1):
                ending.setdefault(track, []).append(end)
    return ending


def up_to_shared(points: Sequence[Point], shared: Mapping[Track, Sequence[int]]) -> Sequence[Point]:
    """Return a line up to the first stretch that it shares; all of it if it shares its start.

    >>> up_to_shared([(0, 0), (0, 60), (9, 80)], {(0, 1, 0): [30, 60]})
    [(0, 0), (0, 30)]
    """
    kept = [points[0]]
    for start, stop in pairwise(points):
        if start != stop:
            track = run_track(start, stop)
            bounds, here = shared.get(track, ()), distance_along(track, start)
            following = bisect_right(bounds, here)  # odd: `here` is within a shared stretch
            begins = (
                here if following % 2 else bounds[following] if following < len(bounds) else distance_along(track, stop)
            )
            if begins < distance_along(track, stop):
                dx, dy, _ = track
                steps = (begins - here) // (dx * dx + dy * dy)
                met = (start[0] + steps * dx, start[1] + steps * dy)
                return points if met == points[0] else [*kept, met] if met != start else kept
        kept.append(stop)
    return kept


def run_track(start: Point, stop: Point) -> Track:
    """Return the track of a run of nonzero length."""
    dx, dy = stop[0] - start[0], stop[1] - start[1]
    common = gcd(dx, dy)
    dx, dy = dx // common, dy // common
    return dx, dy, dx * start[1] - dy * start[0]


def distance_along(track: Track, point: Point) -> int:
    """Return how far along a track a point is."""
    return track[0] * point[0] + track[1] * point[1]
