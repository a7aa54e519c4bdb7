"""How many lines cross: a ceiling on a set of levels, counted pair by pair. It may be lowered, never raised."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random

import pytest

from graphviz_tb import load
from graphviz_tb.arrange.layered.order import _affordable_paths
from graphviz_tb.arrange.layered.reroute import RankState
from graphviz_tb.arrange.level import ArrangeOptions, arrange
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.place.quality import measure_quality
from graphviz_tb.proto import GraphDef
from tests.arrange.levels import level, places

LEVELS, BOXES, LINES = 24, 16, 26
CEILING = 66  # of all levels together


def random_level(seed: int) -> Metagraph:
    """Lines between boxes of a row that are not far apart, as in networks with skips."""
    draw = Random(seed)
    pairs = set[tuple[int, int]]()
    while len(pairs) < LINES:
        source = draw.randrange(BOXES - 1)
        pairs.add((source, min(BOXES - 1, source + draw.choice((1, 1, 2, 3, 5)))))
    return level(BOXES, *sorted(pairs))


def crossings(skeleton: Skeleton) -> int:
    """Pairs of pieces of lines between the same two ranks that cross."""
    place = places(skeleton)
    gaps: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for wire in skeleton.wires:
        for one, two in pairwise(wire.chain):
            (part, first, left), (_, second, right) = place[one], place[two]
            ends = (left, right) if first < second else (right, left)
            gaps.setdefault((part, min(first, second)), set()).add(ends)
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for ends in gaps.values() for a, b in combinations(sorted(ends), 2))


def test_no_more_lines_cross_than_when_this_was_written() -> None:
    found = [crossings(arrange(random_level(seed), ArrangeOptions())) for seed in range(LEVELS)]
    assert sum(found) <= CEILING, found


def test_a_quick_order_has_more_of_them_but_fewer_than_none_at_all() -> None:
    def found(quick: bool) -> int:
        return sum(crossings(arrange(random_level(seed), ArrangeOptions(quick=quick))) for seed in range(LEVELS))

    assert found(False) < found(True) < 4 * CEILING


def test_what_several_orders_have_in_common_is_rerouted_once_more() -> None:
    # two branches, six sources and one sink: no line need cross, and four do in the combined order as it is
    pairs = ["bf", "df", "dh", "eh", "ai", "ci", "ej", "ek", "el", "fl", "lm", "gm", "ln", "an", "np", "oq", "jq"]
    nodes = [
        {"name": name, "op": f"Op{name}", "input": [a for a, b in pairs if b == name]} for name in "abcdefghijklmnopq"
    ]
    scene = load(GraphDef(node=nodes), folds=False).picture().scene
    assert measure_quality(scene).crossings == 0


@pytest.mark.slow
def test_the_wider_the_ranks_the_fewer_paths_are_rerouted() -> None:
    def looked_at(width: int) -> int:
        chains = [[slot, width + slot, 2 * width + slot] for slot in range(width)]
        state = RankState(3 * width, [list(range(rank * width, (rank + 1) * width)) for rank in range(3)], chains)
        return width * len(_affordable_paths(state, [[width + slot] for slot in range(width)]))

    assert looked_at(80) == 80 * 80
    assert looked_at(40_000) < 1.2 * looked_at(20_000)  # each path looks at all lines of its ranks
