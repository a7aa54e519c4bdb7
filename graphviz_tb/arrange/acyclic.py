"""Choose the edges to turn so that a level has no cycle.

Reference edges are turned before control edges, and these before data edges; within one kind the lighter ones; among
equals those that run against file order (the end of a loop leads back to its beginning), the later first. Edges enter
one by one, those to keep first, into a topological order that is kept up to date (Pearce & Kelly 2006, "A dynamic
topological sort algorithm for directed acyclic graphs"); an edge that would close a cycle is turned.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.graphs.traversal import strong_components
from graphviz_tb.limits import MAX_ORDER_STEPS, Meter

Arc = tuple[int, int, int, int]  # source, target, tier, weight


def arcs_to_turn(count: int, arcs: Sequence[Arc]) -> set[int]:
    """Return the indices of the arcs to turn: with them reversed there is no cycle.

    No arc may run from a node to itself.

    >>> arcs_to_turn(3, [(0, 1, 0, 1), (1, 2, 0, 1), (2, 0, 2, 9)]), arcs_to_turn(2, [(1, 0, 0, 1), (0, 1, 0, 1)])
    ({2}, {0})
    """
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target, _, _ in arcs:
        after[source].append(target)
    component = strong_components(after)
    # No other arc is on a cycle.
    inner = [i for i, (source, target, _, _) in enumerate(arcs) if component[source] == component[target]]
    if not inner:
        return set()
    nodes = sorted({end for source, target, _, _ in map(arcs.__getitem__, inner) for end in (source, target)})
    local = {node: place for place, node in enumerate(nodes)}
    order = TopologicalOrder(len(nodes))
    turned = set()
    for i in sorted(inner, key=lambda i: (arcs[i][2], -arcs[i][3], arcs[i][0] > arcs[i][1], i)):
        source, target = local[arcs[i][0]], local[arcs[i][1]]
        if not order.add_edge(source, target):
            order.add_edge(target, source)  # closes no cycle: a path leads from target to source
            turned.add(i)
    return turned


class TopologicalOrder:
    """A topological order that grows edge by edge.

    >>> order = TopologicalOrder(2)
    >>> order.add_edge(1, 0), order.add_edge(0, 1)
    (True, False)
    """

    def __init__(self, count: int) -> None:
        self.place = list(range(count))
        self.after: list[list[int]] = [[] for _ in range(count)]
        self.before: list[list[int]] = [[] for _ in range(count)]
        self.work = Meter(MAX_ORDER_STEPS)

    def add_edge(self, source: int, target: int) -> bool:
        """Add an edge unless it closes a cycle. Once the work budget is spent, refuse every edge against the order."""
        # Only nodes between the two places can be out of order; the rest of the graph is not visited.
        low, high = self.place[target], self.place[source]
        if low < high:
            if self.work.spent:
                return False
            ahead = self.reachable_between(self.after, target, low, high)
            if source in ahead:
                return False
            behind = self.reachable_between(self.before, source, low, high)
            # Ancestors of the source, then descendants of the target, in the places they had.
            moved = sorted(behind, key=self.place.__getitem__) + sorted(ahead, key=self.place.__getitem__)
            for node, place in zip(moved, sorted(self.place[node] for node in moved), strict=True):
                self.place[node] = place
        self.after[source].append(target)
        self.before[target].append(source)
        return True

    def reachable_between(self, links: list[list[int]], start: int, low: int, high: int) -> set[int]:
        """Return the nodes reached from `start` whose place is between `low` and `high`."""
        seen, todo = {start}, [start]
        while todo:
            near = links[todo.pop()]
            self.work.take(len(near))
            for node in near:
                if node not in seen and low <= self.place[node] <= high:
                    seen.add(node)
                    todo.append(node)
        return seen
