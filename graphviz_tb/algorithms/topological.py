"""The order of a graph along its edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphviz_tb.model.graph import Graph


def topological(after: Sequence[Sequence[int]]) -> list[int]:
    """The nodes in an order in which each comes before those that it leads to (Kahn 1962), wave by wave; without those
    on cycles or behind them. `after[v]` are the nodes that node v leads to.

    >>> topological([[2], [2], []]), topological([[1], [0], []])
    ([0, 1, 2], [2])
    """
    return kahn(after, ())


def topological_cut(after: Sequence[Sequence[int]]) -> list[int]:
    """Return all nodes in the order of `topological`; where only cycles and nodes behind them are left, take the first
    node.

    >>> topological_cut([[1], [0], [], [1]])
    [2, 3, 0, 1]
    """
    return kahn(after, range(len(after)))


def kahn(after: Sequence[Sequence[int]], otherwise: Iterable[int]) -> list[int]:
    """The nodes that nothing leads to and all that come free behind them; then one of `otherwise` is set free, and so
    on."""
    missing = [0] * len(after)
    for targets in after:
        for target in targets:
            missing[target] += 1
    order = [node for node, count in enumerate(missing) if not count]
    position = 0
    # None: what comes free without force. Then each node that still waits is set free, in its turn.
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


def longest_paths(after: Sequence[Sequence[int]], order: Iterable[int]) -> list[int]:
    """The length of the longest path to each node, over the edges that lead on in `order`; 0 for nodes not in it.

    >>> longest_paths([[1, 2], [2], []], [0, 1, 2]), longest_paths([[1], [0]], [0, 1])
    ([0, 1, 2], [0, 1])
    """
    depth = [0] * len(after)
    done = [False] * len(after)
    for node in order:
        done[node] = True
        beyond = depth[node] + 1
        for target in after[node]:
            # A target that is done closes a cycle: the edge leads back in `order`.
            if depth[target] < beyond and not done[target]:
                depth[target] = beyond
    return depth


def depths(graph: Graph) -> list[int]:
    """The length of the longest path to each node of a graph; of a cycle one edge leads back."""
    after: list[list[int]] = [[] for _ in range(len(graph))]
    for source, target in zip(graph.source.tolist(), graph.target.tolist(), strict=True):
        after[source].append(target)
    return longest_paths(after, topological_cut(after))
