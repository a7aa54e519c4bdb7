"""Nodes that edges lead to."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping

import numpy as np

from graphviz_tb.model.columns import Bools, Ints, filed

STEPS = 20  # in which all edges are looked at: so many take as long as to file them by their sources
FIRST_STEPS = 3  # of a wide graph that begins with few nodes
MANY_EDGES = 24  # for each node that a step reaches: to follow them one by one takes less than further steps
SWEEPS = 3  # in which all are followed one by one: more would find little


def reached(
    start: Iterable[int], after: Mapping[int, Collection[int]], known: Container[int] = frozenset()
) -> set[int]:
    """All that edges lead to, `start` too; `after[v]` are the nodes that node v leads to. What is `known` is not
    looked at again.

    >>> sorted(reached([1], {1: [2], 2: [3], 4: [1]}))
    [1, 2, 3]
    >>> sorted(reached([4], {1: [2], 2: [3], 4: [1]}, {1, 2, 3}))
    [4]
    """
    seen = set(start)
    todo = sorted(seen)
    while todo:
        for other in after.get(todo.pop(), ()):
            if other not in seen and other not in known:
                seen.add(other)
                todo.append(other)
    return seen


def spread_from(start: Bools, source: Ints, target: Ints) -> Bools:
    """All nodes that edges lead to from `start`, which is taken in."""
    seen = start.copy()
    if not start.any():
        return seen
    # Most graphs are wide: all edges at once, a few times; those that lead to what is reached are done with.
    sweeps = 0
    for step in range(STEPS):
        left = ~seen[target]
        source, target = source[left], target[left]
        fresh = target[seen[source]]
        if not len(fresh):
            return seen
        seen[fresh] = True
        # Few for so many edges: a chain.
        if step > FIRST_STEPS and sweeps < SWEEPS and len(fresh) * MANY_EDGES < len(source):
            seen, sweeps = swept(seen, source, target), sweeps + 1
    # Then node by node: a chain has as many steps as nodes. The targets of node v are targets[first[v]:first[v + 1]].
    order, begin = filed(source, len(start))
    first, targets, reached = begin.tolist(), target[order].tolist(), seen.tolist()
    todo = np.flatnonzero(seen).tolist()
    while todo:
        node = todo.pop()
        for other in targets[first[node] : first[node + 1]]:
            if not reached[other]:
                reached[other] = True
                todo.append(other)
    return np.array(reached, bool)


def swept(seen: Bools, source: Ints, target: Ints) -> Bools:
    """What edges lead to where each is followed once: all of it where they are in the order of the nodes, from the
    first on or from the last, as in most files."""
    ascending = 2 * np.count_nonzero(source < target) >= len(source)
    if not ascending:
        source, target = source[::-1], target[::-1]
    reached = bytearray(seen)
    for before, after in zip(source.tolist(), target.tolist(), strict=True):
        if reached[before]:
            reached[after] = True
    return np.frombuffer(reached, bool)
