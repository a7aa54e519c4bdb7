"""Reachability along edges.

`reachable_mask` works on numpy columns: a few sweeps over all edges at once for wide graphs, sequential sweeps for
chains whose edges are in node order, and a worklist for the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping

import numpy as np

from graphviz_tb.model.columns import Bools, Ints, group_by_key

MAX_WIDE_STEPS = 20  # whole-edge steps; as many take as long as sorting edges by source
MIN_WIDE_STEPS = 3  # before a graph is taken for a chain
EDGES_PER_REACHED_NODE = 24  # with more per reached node, sequential sweeps are faster
MAX_SWEEPS = 3  # sequential sweeps; more would find little


def reachable_from(
    start: Iterable[int], after: Mapping[int, Collection[int]], known: Container[int] = frozenset()
) -> set[int]:
    """Return all nodes reachable from `start`, itself included; `after[v]` are the successors of v.

    Nodes in `known` are not visited.

    >>> sorted(reachable_from([1], {1: [2], 2: [3], 4: [1]}))
    [1, 2, 3]
    >>> sorted(reachable_from([4], {1: [2], 2: [3], 4: [1]}, {1, 2, 3}))
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


def reachable_mask(start: Bools, source: Ints, target: Ints) -> Bools:
    """Return which nodes are reachable from `start`, itself included."""
    seen = start.copy()
    if not start.any():
        return seen
    # Most graphs are wide: all edges at once, a few times, dropping those whose target is reached.
    sweeps = 0
    for step in range(MAX_WIDE_STEPS):
        left = ~seen[target]
        source, target = source[left], target[left]
        fresh = target[seen[source]]
        if not len(fresh):
            return seen
        seen[fresh] = True
        # Few new nodes for so many edges: a chain.
        if step > MIN_WIDE_STEPS and sweeps < MAX_SWEEPS and len(fresh) * EDGES_PER_REACHED_NODE < len(source):
            seen, sweeps = sweep_edges(seen, source, target), sweeps + 1
    # Then node by node: a chain has as many steps as nodes. The targets of node v are targets[first[v]:first[v + 1]].
    order, begin = group_by_key(source, len(start))
    first, targets, reached = begin.tolist(), target[order].tolist(), seen.tolist()
    todo = np.flatnonzero(seen).tolist()
    while todo:
        node = todo.pop()
        for other in targets[first[node] : first[node + 1]]:
            if not reached[other]:
                reached[other] = True
                todo.append(other)
    return np.array(reached, bool)


def sweep_edges(seen: Bools, source: Ints, target: Ints) -> Bools:
    """Follow each edge once, in node order or its reverse, whichever fits more edges: complete if the file is sorted
    so."""
    ascending = 2 * np.count_nonzero(source < target) >= len(source)
    if not ascending:
        source, target = source[::-1], target[::-1]
    reached = bytearray(seen)
    for before, after in zip(source.tolist(), target.tolist(), strict=True):
        if reached[before]:
            reached[after] = True
    return np.frombuffer(reached, bool)
