"""Assign nodes to ranks with small total edge length, and split long edges into one waypoint for each rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from graphviz_tb.arrange.component import Component, Ranks
from graphviz_tb.graphs.traversal import topological_order
from graphviz_tb.model.frozen import dataclass

TIGHTENING_PASSES = 8  # a ninth pass rarely moves a node


def rank_nodes(part: Component) -> list[int]:
    """Return the rank of each node of a part without cycles.

    Every edge runs at least one rank down, and ports are alone on the outer ranks. Start with all nodes as early as
    possible, then with all as late as possible, move each to the side where edges get shorter, and return the better
    result.

    >>> rank_nodes(Component(4, ((0, 1), (1, 2), (3, 2))))
    [0, 1, 2, 1]
    """
    graph = Ranking(part)
    # The longest path decides how many ranks there are; tightening moves nodes within them.
    early = graph.earliest_ranks()
    graph.bottom = max((early[node] for node in graph.free), default=graph.base - 1)
    tried = [graph.tighten_fully(early), graph.tighten_fully(graph.latest_ranks())]
    best = min(tried, key=graph.total_length)
    for node in part.last:
        best[node] = graph.bottom + 1
    return best


@dataclass(slots=True)
class Ranking:
    """A part with the neighbours above and below each node. The `free` nodes, all but ports, have ranks `base` …
    `bottom`; `pulls` has the `_net_pull` of each node."""

    part: Component
    above: list[list[int]] = field(init=False)
    below: list[list[int]] = field(init=False)
    topological: list[int] = field(init=False)
    free: list[int] = field(init=False)
    pulls: list[int] = field(init=False)
    base: int = field(init=False)
    bottom: int = 0

    def __post_init__(self) -> None:
        part = self.part
        self.above, self.below = [[] for _ in range(part.count)], [[] for _ in range(part.count)]
        for source, target in part.edges:
            self.below[source].append(target)
            self.above[target].append(source)
        self.topological = topological_order(self.below)
        self.free = [node for node in self.topological if node not in part.first and node not in part.last]
        self.base = 1 if part.first else 0
        before = _holds_back(self.topological, self.above, self.below, part.first)
        after = _holds_back(self.topological[::-1], self.below, self.above, part.last)
        self.pulls = [_net_pull(self.above[node], self.below[node], before, after) for node in range(part.count)]

    def earliest_ranks(self) -> list[int]:
        """Return the first possible rank of each node."""
        ranks = [0] * self.part.count
        for node in self.free:
            ranks[node] = max([ranks[other] + 1 for other in self.above[node]], default=self.base)
            ranks[node] = max(ranks[node], self.base)
        return ranks

    def latest_ranks(self) -> list[int]:
        """Return the last possible rank of each node."""
        ranks = [0] * self.part.count
        last = self.part.last
        for node in reversed(self.free):
            ranks[node] = min(
                [ranks[other] - 1 for other in self.below[node] if other not in last], default=self.bottom
            )
        return ranks

    def tighten_fully(self, ranks: list[int]) -> list[int]:
        """Move each node as far as possible in the direction of its pull, repeatedly; return the ranks."""
        for _ in range(TIGHTENING_PASSES):
            if not self.tighten_once(ranks):
                break
        return ranks

    def tighten_once(self, ranks: list[int]) -> bool:
        """Move each node once; return whether any moved."""
        moved = False
        last, pulls = self.part.last, self.pulls
        # Visit nodes from the bottom up, then from the top down, so that dependent nodes follow in the same pass.
        for node in [*reversed(self.free), *self.free]:
            if not pulls[node]:
                continue
            if pulls[node] > 0:
                best = min([ranks[other] - 1 for other in self.below[node] if other not in last], default=self.bottom)
            else:
                best = max([ranks[other] + 1 for other in self.above[node]], default=self.base)
                best = max(best, self.base)
            if best != ranks[node]:
                ranks[node] = best
                moved = True
        return moved

    def total_length(self, ranks: list[int]) -> int:
        """Return the total length of all edges except those to the last ports."""
        last = self.part.last
        return sum([ranks[target] - ranks[source] for source, target in self.part.edges if target not in last])


def _holds_back(
    topological: list[int], behind: list[list[int]], ahead: list[list[int]], fixed: frozenset[int]
) -> list[int]:
    """Return for each node 0 if it can follow its only node ahead together with all nodes behind it, otherwise 1.

    A move of the node ahead makes the edge between the two longer in the second case.

    >>> _holds_back([0, 1, 2], [[], [0], [1]], [[1], [2], []], frozenset())
    [0, 0, 1]
    """
    stays = [1] * len(behind)
    for node in topological:
        if len(ahead[node]) == 1 and node not in fixed:
            stays[node] = int(any(stays[other] for other in behind[node]))
    return stays


def _net_pull(above: list[int], below: list[int], before: list[int], after: list[int]) -> int:
    """Return a positive number if moving a node down, with the nodes above that follow, shortens edges in total, a
    negative number if moving it up does."""
    # Moving down shortens every edge below and lengthens edges above whose start stays; moving up is the mirror case.
    down = len(below) - sum([before[other] for other in above])
    up = len(above) - sum([after[other] for other in below])
    return down if up <= 0 else -up if down <= 0 else len(below) - len(above)


# Split long edges into chains of waypoints, one for each rank.


def split_long_edges(part: Component, ranks: Sequence[int]) -> Ranks:
    """Split edges so that each link of a chain joins adjacent ranks, and remove empty ranks.

    Requires `ranks[source] < ranks[target]` for every edge.

    >>> split_long_edges(Component(3, ((0, 1), (1, 2), (0, 2))), [0, 1, 2])
    Ranks(ranks=[[0], [1, 3], [2]], chains=[[0, 1], [1, 2], [0, 3, 2]], notices=())
    """
    dense = {rank: place for place, rank in enumerate(sorted(set(ranks)))}
    ranks = [dense[rank] for rank in ranks]
    rows: list[list[int]] = [[] for _ in dense]
    for node in range(part.count):
        rows[ranks[node]].append(node)
    chains = []
    next_waypoint = part.count
    for source, target in part.edges:
        low, high = ranks[source], ranks[target]
        count = high - low - 1
        chains.append([source, *range(next_waypoint, next_waypoint + count), target])
        for rank in range(low + 1, high):
            rows[rank].append(next_waypoint)
            next_waypoint += 1
    return Ranks(rows, chains)
