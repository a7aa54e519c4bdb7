"""Join long parallel lines to one box into a bus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from graphviz_tb.arrange.part import Ranks

NO_BUS = -1


def join_buses(layers: Ranks, count: int, kinds: Sequence[int]) -> Ranks:
    """Merge neighbouring waypoints of lines of one kind that end in one box, from where they meet.

    Items from `count` on are waypoints; `kinds` gives, by line, the bus it may join (`NO_BUS`: none). The order from
    left to right does not change.

    >>> layers = Ranks([[0, 1], [3, 4], [5, 6], [2]], [[0, 3, 5, 2], [1, 4, 6, 2]])
    >>> join_buses(layers, 3, [0, 0]).ranks
    [[0, 1], [3], [5], [2]]
    """
    users = Counter(item for chain in layers.chains for item in chain[1:-1])
    line_of = {item: line for line, chain in enumerate(layers.chains) for item in chain[1:-1] if users[item] == 1}
    after = {upper: lower for chain in layers.chains for upper, lower in pairwise(chain)}
    name: dict[int, int] = {}
    ranks = []
    # From the bottom up: the next item is known by its merged name, so that a bus grows upwards from its box.
    for row in reversed(layers.ranks):
        fresh: list[int] = []
        last: tuple[int, int, int] | None = None  # of the item before: next item, box, kind
        for item in row:
            line = line_of.get(item, -1) if item >= count else -1
            leads = None
            if line >= 0 and kinds[line] != NO_BUS:
                leads = name.get(after[item], after[item]), layers.chains[line][-1], kinds[line]
            if leads is not None and leads == last:
                name[item] = fresh[-1]
            else:
                fresh.append(item)
            last = leads
        ranks.append(fresh)
    chains = [[name.get(item, item) for item in chain] for chain in layers.chains]
    return Ranks(ranks[::-1], chains, layers.notices)
