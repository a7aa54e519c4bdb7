"""Lines through a funnel: the shortest way, and no crossing that the order does not ask for."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import dist

from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.arrange.level import arrange
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.place.attachment import downward_chains
from graphviz_tb.place.coordinates import place_level
from graphviz_tb.place.routes import Portal, _funnel_bends
from tests.arrange.levels import levels
from tests.effort import examples

windows = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)), min_size=1, max_size=5)


@examples(200)
@given(st.integers(0, 40), windows, st.integers(0, 40))
def test_the_way_is_the_shortest(start: int, middle: list[tuple[int, int]], end: int) -> None:
    inner = [(10 * at, low, low + wide) for at, (low, wide) in enumerate(middle, 1)]
    bends = _funnel_bends([(0, start, start), *inner, (10 * len(inner) + 10, end, end)])
    assert sum(dist(a, b) for a, b in pairwise(bends)) <= brute(start, inner, end) + 1e-9
    for y, low, high in inner:
        (one, top), (two, bottom) = next(pair for pair in pairwise(bends) if pair[0][1] <= y <= pair[1][1])
        assert low * (bottom - top) <= one * (bottom - top) + (two - one) * (y - top) <= high * (bottom - top)


def brute(start: int, inner: list[Portal], end: int) -> float:
    """The shortest way over all whole numbers in the windows."""
    best = {start: 0.0}
    for _, low, high in [*inner, (0, end, end)]:
        best = {x: min(cost + dist((x, 10), (old, 0)) for old, cost in best.items()) for x in range(low, high + 1)}
    return best[end]


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
