"""Topological orders and longest paths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphviz_tb.model.graph import Graph


def topological_order(after: Sequence[Sequence[int]]) -> list[int]:
    """Return the nodes in topological order (Kahn 1962), wave by wave, without nodes on or behind cycles.

    `after[v]` are the successors of v.

    >>> topological_order([[2], [2], []]), topological_order([[1], [0], []])
    ([0, 1, 2], [2])
    """
    return kahn_order(after, ())


def topological_order_with_cycles(after: Sequence[Sequence[int]]) -> list[int]:
    """Return all nodes in topological order; where only cycles are left, take the first remaining node.

    >>> topological_order_with_cycles([[1], [0], [], [1]])
    [2, 3, 0, 1]
    """
    return kahn_order(after, range(len(after)))


def kahn_order(after: Sequence[Sequence[int]], otherwise: Iterable[int]) -> list[int]:
    """Return nodes without open predecessors and those they free; then release each of `otherwise` in turn, and
    continue."""
    missing = [0] * len(after)
    for targets in after:
        for target in targets:
            missing[target] += 1
    order = [node for node, count in enumerate(missing) if not count]
    position = 0
    # None: first without forcing any. Then release each node that still waits.
    for node in (None, *otherwise):
        if node is not None and missing[node]:
            missing[node] = 0
            order.append(node)
        while position < len(order):
            for target in after[order[position]]:
                if missing[target]:
                    missing[target] -= 1
                    if not missing[target]:
                        order.append(target)
            position += 1
    return order


def longest_path_lengths(after: Sequence[Sequence[int]], order: Iterable[int]) -> list[int]:
    """Return the longest path length to each node, over edges that lead forward in `order`; 0 for nodes not in it.

    >>> longest_path_lengths([[1, 2], [2], []], [0, 1, 2]), longest_path_lengths([[1], [0]], [0, 1])
    ([0, 1, 2], [0, 1])
    """
    depth = [0] * len(after)
    done = [False] * len(after)
    for node in order:
        done[node] = True
        beyond = depth[node] + 1
        for target in after[node]:
            # A finished target closes a cycle: skip the back edge.
            if depth[target] < beyond and not done[target]:
                depth[target] = beyond
    return depth


def node_depths(graph: Graph) -> list[int]:
    """Return the longest path length to each node of a graph, cycles cut at one edge."""
    after: list[list[int]] = [[] for _ in range(len(graph))]
    for source, target in zip(graph.source.tolist(), graph.target.tolist(), strict=True):
        after[source].append(target)
    return longest_path_lengths(after, topological_order_with_cycles(after))
