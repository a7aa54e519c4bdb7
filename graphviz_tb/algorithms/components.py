"""Strongly connected components, and union-find for weakly connected ones."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence


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
