"""What of a line is its own: up to where it runs along others of its bus, found in n log n steps."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, pairwise, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton, Wire
from graphviz_tb.place.labels import _shared_stretches, _up_to_shared, unshared_parts
from tests.conftest import cpu_seconds

step = st.tuples(st.integers(-1, 1), st.integers(-1, 1), st.integers(1, 4)).filter(lambda one: one[:2] != (0, 0))
line = st.lists(step, min_size=1, max_size=6)


def corners(steps: list[tuple[int, int, int]]) -> list[Point]:
    """The line that begins at the origin and takes so many steps each way."""
    ends = accumulate(steps, lambda at, one: (at[0] + one[0] * one[2], at[1] + one[1] * one[2]), initial=(0, 0))
    return list(ends)


def pieces(points: list[Point]) -> list[tuple[Point, Point]]:
    """A line cut into single steps: lines that run together have one in common."""
    cut = [points[0]]
    for (ax, ay), (bx, by) in pairwise(points):
        steps = max(abs(bx - ax), abs(by - ay))
        cut += [(ax + (bx - ax) * k // steps, ay + (by - ay) * k // steps) for k in range(1, steps + 1)]
    return list(pairwise(cut))


@given(line, line, st.tuples(st.integers(-3, 3), st.integers(-3, 3)))
def test_it_ends_where_another_begins_to_run_along(
    one: list[tuple[int, int, int]], other: list[tuple[int, int, int]], off: Point
) -> None:
    mine, theirs = corners(one), [(x + off[0], y + off[1]) for x, y in corners(other)]
    kept = pieces(list(_up_to_shared(mine, _shared_stretches([mine, theirs]))))
    counts = Counter([*pieces(mine), *pieces(theirs)])
    alone = list(takewhile(lambda piece: counts[piece] == 1, pieces(mine)))
    back = mine[0] == alone[-1][1] if alone else True  # it meets where it began: then there is no other way to say it
    assert kept == (pieces(mine) if back else alone)


def bus(lines: int) -> tuple[Skeleton, dict[int, list[Point]]]:
    """Lines from boxes side by side, each by waypoints of its own to one that all share, on to one box."""
    box, joint = 2 * lines, 2 * lines + 1
    wires = tuple(Wire(at, -1, (at, lines + at, joint, box)) for at in range(lines))
    skeleton = Skeleton(box + 1, (), wires, (), (((),),), ((0,),), 0)
    return skeleton, {at: [(at, 0), (at, 50), (lines, 90), (lines, 200)] for at in range(lines)}


def test_each_line_of_a_bus_is_its_own_down_to_the_joint() -> None:
    skeleton, routes = bus(5)
    assert unshared_parts(skeleton, routes, [1, 3]) == {1: [(1, 0), (1, 50), (5, 90)], 3: [(3, 0), (3, 50), (5, 90)]}


def test_lines_to_other_boxes_and_lines_alone_are_whole() -> None:
    wires = (Wire(0, -1, (0, 9, 1)), Wire(1, -1, (0, 9, 2)), Wire(2, -1, (0, 8, 3)))
    routes = {wire: [(0, 0), (0, 50), (wire, 90)] for wire in range(3)}
    assert unshared_parts(Skeleton(4, (), wires, (), (((),),), ((0,),), 0), routes, routes) == routes


@pytest.mark.slow
def test_a_bus_of_many_lines_costs_little_more_a_line() -> None:
    def seconds(lines: int) -> float:
        skeleton, routes = bus(lines)
        return cpu_seconds(lambda: unshared_parts(skeleton, routes, routes))

    assert seconds(4000) < 40 * seconds(500)
