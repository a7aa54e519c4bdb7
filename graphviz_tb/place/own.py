"""The part of a line that is its own: up to where it joins others on the way to one box. Its label is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton


def own_parts(skeleton: Skeleton, routes: Mapping[int, Sequence[Point]]) -> dict[int, Sequence[Point]]:
    """Each line from its source up to where it meets one with which it shares waypoints."""
    users: dict[int, list[int]] = {}
    for wire in routes:
        for item in skeleton.wires[wire].chain[1:-1]:
            users.setdefault(item, []).append(wire)
    found: dict[int, Sequence[Point]] = dict(routes)
    shared: dict[int, set[int]] = {}
    for wires in users.values():
        if len(wires) > 1:
            for wire in wires:
                shared.setdefault(wire, set()).update(wires)
    for wire, others in shared.items():
        if skeleton.wires[wire].chain[-1] == skeleton.wires[min(others - {wire})].chain[-1]:
            found[wire] = until(routes[wire], [routes[other] for other in sorted(others) if other != wire])
    return found


def until(points: Sequence[Point], others: Sequence[Sequence[Point]]) -> Sequence[Point]:
    """A line up to the first place that one of the others bends at or passes, beyond its start.

    >>> until([(0, 0), (0, 60), (9, 80)], [[(20, 0), (20, 10), (0, 30), (0, 60), (9, 80)]])
    [(0, 0), (0, 30)]
    """
    corners = [point for other in others for point in other[1:]]
    runs = [run for other in others for run in pairwise(other)]
    kept = [points[0]]
    for start, stop in pairwise(points):
        met = [point for point in corners if point != start and on(point, start, stop)]
        if any(on(stop, *run) for run in runs):
            met.append(stop)
        if met:
            return [*kept, min(met, key=lambda point: abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]))]
        kept.append(stop)
    return kept


def on(point: Point, start: Point, stop: Point) -> bool:
    """Whether a point lies on a run."""
    (x, y), (ax, ay), (bx, by) = point, start, stop
    inside = min(ax, bx) <= x <= max(ax, bx) and min(ay, by) <= y <= max(ay, by)
    return inside and (bx - ax) * (y - ay) == (x - ax) * (by - ay)
