"""Split long edges into chains of waypoints, one for each rank."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.arrange.part import Component, Ranks


def split_long_edges(part: Component, ranks: Sequence[int]) -> Ranks:
    """Give every edge one item for each rank it passes.

    Requires `ranks[source] < ranks[target]` for every edge. No rank is empty then, and each link of a chain joins
    neighbouring ranks.

    >>> split_long_edges(Component(3, ((0, 1), (1, 2), (0, 2))), [0, 1, 2])
    Ranks(ranks=[[0], [1, 3], [2]], chains=[[0, 1], [1, 2], [0, 3, 2]], notices=())
    """
    dense = {rank: place for place, rank in enumerate(sorted(set(ranks)))}  # engines may leave ranks empty
    ranks = [dense[rank] for rank in ranks]
    rows: list[list[int]] = [[] for _ in dense]
    for node in range(part.count):
        rows[ranks[node]].append(node)
    chains = []
    fresh = part.count
    for source, target in part.edges:
        low, high = ranks[source], ranks[target]
        count = high - low - 1
        chains.append([source, *range(fresh, fresh + count), target])
        for rank in range(low + 1, high):
            rows[rank].append(fresh)
            fresh += 1
    return Ranks(rows, chains)
