"""Traversal of graphs: topological orders, longest paths, reachability, connected components."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Container,
    Iterable,
    MutableMapping,
    Sequence,
)
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from graphviz_tb.model.columns import Bools, Ints, group_by_key
from graphviz_tb.model.graph import Graph

if TYPE_CHECKING:
    from _typeshed import SupportsItemAccess

AnyNode = TypeVar("AnyNode")


def topological_order(after: Sequence[Sequence[int]]) -> list[int]:
    """Return the nodes in topological order (Kahn 1962), wave by wave, without nodes on or behind cycles.

    `after[v]` are the successors of v.

    >>> topological_order([[2], [2], []]), topological_order([[1], [0], []])
    ([0, 1, 2], [2])
    """
    return _kahn_order(after, ())


def topological_order_with_cycles(after: Sequence[Sequence[int]]) -> list[int]:
    """Return all nodes in topological order; if only cycles are left, the first remaining node comes next.

    >>> topological_order_with_cycles([[1], [0], [], [1]])
    [2, 3, 0, 1]
    """
    return _kahn_order(after, range(len(after)))


def _kahn_order(after: Sequence[Sequence[int]], otherwise: Iterable[int]) -> list[int]:
    """Return nodes in topological order; if none is ready, continue with the next waiting node of `otherwise`."""
    missing = [0] * len(after)
    for targets in after:
        for target in targets:
            missing[target] += 1
    order = [node for node, count in enumerate(missing) if not count]
    position = 0
    # None: at first no node is released.
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


# Reachability along edges.
#
# `reachable_mask` works on numpy columns: a few sweeps over all edges at once for wide graphs, sequential sweeps for
# chains whose edges are in node order, and a worklist for the rest.

MAX_WIDE_STEPS = 20  # steps over all edges; more take longer than sorting edges by source
MIN_WIDE_STEPS = 3  # steps before a graph counts as a chain
EDGES_PER_REACHED_NODE = 24  # with more per reached node, sequential sweeps are faster
MAX_SWEEPS = 3  # sequential sweeps; more would find little


def reachable_from(
    start: Iterable[AnyNode], after: Callable[[AnyNode], Iterable[AnyNode] | None], known: Container[AnyNode] = ()
) -> set[AnyNode]:
    """Return all nodes reachable from `start`, itself included; `after(v)` are the successors of v.

    Nodes in `known` are not visited.

    >>> sorted(reachable_from([1], {1: [2], 2: [3], 4: [1]}.get))
    [1, 2, 3]
    >>> sorted(reachable_from([4], {1: [2], 2: [3], 4: [1]}.get, {1, 2, 3}))
    [4]
    """
    unvisited = list(dict.fromkeys(start))
    seen = set(unvisited)
    while unvisited:
        for other in after(unvisited.pop()) or ():
            if other not in seen and other not in known:
                seen.add(other)
                unvisited.append(other)
    return seen


def needed_only_by(
    users: Iterable[AnyNode],
    before: Callable[[AnyNode], Iterable[AnyNode] | None],
    left: SupportsItemAccess[AnyNode, int],
) -> list[AnyNode]:
    """Return the nodes that only `users` depend on, directly or through such nodes, each after one of its users.

    `left[v]` is the number of edges from v, and is changed; `before(v)` are the sources of the edges to v, without
    users.

    >>> needed_only_by([3], {3: [1, 2], 1: [0]}.get, [1, 1, 2, 0])  # 2 has a further user
    [1, 0]
    """
    unvisited, needed = list(users), []
    while unvisited:
        for source in before(unvisited.pop()) or ():
            left[source] -= 1
            if not left[source]:
                needed.append(source)
                unvisited.append(source)
    return needed


def reachable_mask(start: Bools, source: Ints, target: Ints) -> Bools:
    """Return which nodes are reachable from `start`, itself included."""
    seen = start.copy()
    if not start.any():
        return seen
    # Most graphs are wide: all edges at once, a few times, dropping those whose target is reached.
    sweeps = 0
    for step in range(MAX_WIDE_STEPS):
        open_edges = ~seen[target]
        source, target = source[open_edges], target[open_edges]
        fresh = target[seen[source]]
        if not len(fresh):
            return seen
        seen[fresh] = True
        # Few new nodes for so many edges: a chain.
        if step > MIN_WIDE_STEPS and sweeps < MAX_SWEEPS and len(fresh) * EDGES_PER_REACHED_NODE < len(source):
            seen, sweeps = _sweep_edges(seen, source, target), sweeps + 1
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


def _sweep_edges(seen: Bools, source: Ints, target: Ints) -> Bools:
    """Follow each edge once, in node order or in reverse, whichever fits more edges."""
    ascending = 2 * np.count_nonzero(source < target) >= len(source)
    if not ascending:
        source, target = source[::-1], target[::-1]
    reached = bytearray(seen)
    for before, after in zip(source.tolist(), target.tolist(), strict=True):
        if reached[before]:
            reached[after] = True
    return np.frombuffer(reached, bool)


# Strongly connected components, and union-find for weakly connected ones.


def strong_components(after: Sequence[Sequence[int]]) -> list[int]:
    """Return the number of each node's strongly connected component (Tarjan 1972, without recursion).

    >>> strong_components([[1], [0, 2], []])
    [1, 1, 0]
    """
    index = [0] * len(after)  # order of discovery, from 1 on
    low = [0] * len(after)
    component = [-1] * len(after)
    stack: list[int] = []
    clock = components = 0
    for first in range(len(after)):
        if index[first]:
            continue
        clock += 1
        index[first] = low[first] = clock
        stack.append(first)
        # The path of the depth-first walk, with what is left to visit from each node.
        work = [(first, iter(after[first]))]
        while work:
            node, rest = work[-1]
            for other in rest:
                if not index[other]:
                    clock += 1
                    index[other] = low[other] = clock
                    stack.append(other)
                    work.append((other, iter(after[other])))
                    break
                if component[other] < 0 and index[other] < low[node]:  # still on the stack
                    low[node] = index[other]
            else:
                work.pop()
                if work:
                    around = work[-1][0]
                    low[around] = min(low[around], low[node])
                if low[node] == index[node]:  # it reaches nothing before it on the stack: a component is complete
                    while component[node] < 0:
                        component[stack.pop()] = components
                    components += 1
    return component


def union_root(head: list[int] | MutableMapping[int, int], node: int) -> int:
    """Return the representative of a node's set (Tarjan 1975, path halving). Initially `head[node] == node`."""
    while head[node] != node:
        head[node] = node = head[head[node]]
    return node


def unite_sets(head: list[int] | MutableMapping[int, int], first: int, second: int) -> None:
    """Join the sets of two nodes; the least node represents the union, whatever the order of joins."""
    first, second = union_root(head, first), union_root(head, second)
    if first < second:
        head[second] = first
    else:
        head[first] = second


def weak_components(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the weakly connected components; components and members in the order of the nodes.

    >>> weak_components(5, [(3, 1), (0, 4)])
    [[0, 4], [1, 3], [2]]
    """
    head = list(range(count))
    for first, second in pairs:
        # `unite_sets` inlined: a level may have half a million pairs.
        while head[first] != first:
            head[first] = first = head[head[first]]
        while head[second] != second:
            head[second] = second = head[head[second]]
        if first < second:
            head[second] = first
        else:
            head[first] = second
    members: dict[int, list[int]] = {}
    for node in range(count):
        members.setdefault(union_root(head, node), []).append(node)
    return list(members.values())
