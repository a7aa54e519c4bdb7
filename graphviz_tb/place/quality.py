"""Measure how well a scene is drawn, in four numbers, which `--timing` prints."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise

from graphviz_tb.graphs.drawing_math import straighten_polyline
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.scene import Point, Route, Scene
from graphviz_tb.place.labels import Segment, cells_of_run


@dataclass(frozen=True, slots=True)
class SceneQuality:
    """Counts of `crossings` and `bends` of lines, and of the `steps` of all main paths, of which so many are
    `straight`; `width` and `height` in pixels."""

    crossings: int
    bends: int
    straight: int
    steps: int
    width: int
    height: int


def measure_quality(scene: Scene) -> SceneQuality:
    """Measure a scene.

    >>> from graphviz_tb.model.scene import Route
    >>> cross = (Route(((0, 0), (9, 9)), "data", 0, 1, 10), Route(((9, 0), (0, 9)), "data", 2, 3, 10, main=True))
    >>> measure_quality(Scene(9, 9, "BT", (), cross, (), (), ()))
    SceneQuality(crossings=1, bends=0, straight=0, steps=1, width=9, height=9)
    """
    main = [route for route in scene.routes if route.main]
    across = 0 if scene.direction in ("BT", "TB") else 1
    return SceneQuality(
        _count_line_crossings(scene.routes),
        sum(_count_bends(route.points) for route in scene.routes),
        sum(len({point[across] for point in route.points}) == 1 for route in main),
        len(main),
        scene.width,
        scene.height,
    )


def _count_bends(points: tuple[Point, ...]) -> int:
    """Count the corners of a polyline; points on a straight run do not count."""
    return max(0, len(straighten_polyline(points)) - 2)


def _count_line_crossings(routes: tuple[Route, ...]) -> int:
    """Count the pairs of lines that cross; stretches are compared if they touch the same cell of the plane."""
    filed: dict[tuple[int, int], list[tuple[int, Segment]]] = defaultdict(list)
    for number, route in enumerate(routes):
        for run in pairwise(route.points):
            for cell in cells_of_run(run):
                filed[cell].append((number, run))
    crossed: set[tuple[int, int]] = set()
    for inside in filed.values():
        for (first, run), (second, other) in combinations(inside, 2):
            if first != second and (first, second) not in crossed and _runs_cross(run, other):
                crossed.add((first, second))
    return len(crossed)


def _runs_cross(first: Segment, second: Segment) -> bool:
    """Return whether two stretches cross in a point inside both."""
    (a, b), (c, d) = first, second
    return _side_of_line(a, b, c) * _side_of_line(a, b, d) < 0 and _side_of_line(c, d, a) * _side_of_line(c, d, b) < 0


def _side_of_line(a: Point, b: Point, c: Point) -> int:
    """Return the side of the line from a to b on which c is: the sign of twice the triangle's area."""
    turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    return (turn > 0) - (turn < 0)
