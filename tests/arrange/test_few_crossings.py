"""How many lines cross: a ceiling on a set of levels, counted pair by pair. It may be lowered, never raised."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random

from graphviz_tb.arrange import ArrangeOptions, arrange
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.skeleton import Skeleton
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
