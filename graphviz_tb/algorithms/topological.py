"""The order of a graph without circles."""

from __future__ import annotations

from collections.abc import Sequence


def topological(after: Sequence[Sequence[int]]) -> list[int]:
    """The nodes in an order in which each comes before those that it leads to (Kahn 1962), wave by wave; without those
    on circles or behind them. `after[v]` are the nodes that node v leads to.

    >>> topological([[2], [2], []]), topological([[1], [0], []])
    ([0, 1, 2], [2])
    """
    missing = [0] * len(after)
    for targets in after:
        for target in targets:
            missing[target] += 1
    ready = [node for node, count in enumerate(missing) if not count]
    for node in ready:
        for target in after[node]:
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    return ready
