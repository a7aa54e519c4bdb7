"""Lines cross only where the order asks for it, and no two lie on each other."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.arrange.level import arrange
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.place.attachment import downward_chains
from graphviz_tb.place.coordinates import place_level
from tests.arrange.levels import levels
from tests.effort import examples


@examples(100)
@given(levels(), st.data())
def test_lines_cross_only_where_the_order_says(level: Metagraph, data: st.DataObject) -> None:
    skeleton = arrange(level)
    drawn = set(level.core_children())
    sizes = [
        (data.draw(st.integers(10, 300)), data.draw(st.integers(10, 200))) if child in drawn else (0, 0)
        for child in range(len(level.children))
    ]
    found = place_level(skeleton, sizes)
    for one, two in combinations(range(len(skeleton.wires)), 2):
        if not meet(skeleton, one, two):
            assert not crossed(found.routes[one], found.routes[two])


@examples(100)
@given(levels(), st.data())
def test_every_stretch_is_along_an_axis_and_lies_on_no_other_line(level: Metagraph, data: st.DataObject) -> None:
    skeleton = arrange(level)
    drawn = set(level.core_children())
    sizes = [
        (data.draw(st.integers(40, 300)), 24) if child in drawn else (0, 0) for child in range(len(level.children))
    ]
    found = place_level(skeleton, sizes)
    assert all(one[0] == two[0] or one[1] == two[1] for route in found.routes for one, two in pairwise(route))
    chains = downward_chains(skeleton)
    for one, two in combinations(range(len(skeleton.wires)), 2):
        if not set(chains[one]) & set(chains[two]):
            assert not any(
                lie_on_each_other(a, b) for a in pairwise(found.routes[one]) for b in pairwise(found.routes[two])
            )


def lie_on_each_other(one: tuple[Point, Point], two: tuple[Point, Point]) -> bool:
    """Whether two stretches along one axis have more than a point in common."""
    for axis in (0, 1):
        if len({point[axis] for point in (*one, *two)}) == 1:
            (a, b), (c, d) = (sorted(point[1 - axis] for point in stretch) for stretch in (one, two))
            return max(a, c) < min(b, d)
    return False


def meet(skeleton: Skeleton, one: int, two: int) -> bool:
    """Whether two lines have an item in common, or change sides from one rank to another."""
    place = {
        item: (p, r, at)
        for p, part in enumerate(skeleton.parts)
        for r, row in enumerate(part)
        for at, item in enumerate(row)
    }
    chains = downward_chains(skeleton)
    if set(chains[one]) & set(chains[two]):
        return True
    here, there = ({place[item][:2]: place[item][2] for item in chains[wire]} for wire in (one, two))
    return len({here[rank] < there[rank] for rank in here.keys() & there.keys()}) > 1


def crossed(one: tuple[Point, ...], two: tuple[Point, ...]) -> bool:
    """Whether two polylines properly cross."""

    def side(a: Point, b: Point, c: Point) -> int:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    return any(
        side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
        for a, b in pairwise(one)
        for c, d in pairwise(two)
    )
