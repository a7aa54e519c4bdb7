"""Components of directed graphs."""

from __future__ import annotations

from collections.abc import Sequence


def strong_components(after: Sequence[Sequence[int]]) -> list[int]:
    """The number of each node's strongly connected component (Tarjan 1972, without recursion).

    >>> strong_components([[1], [0, 2], []])
    [1, 1, 0]
    """
    index: dict[int, int] = {}  # the nodes met so far, in turn
    low: dict[int, int] = {}
    component = [-1] * len(after)
    stack: list[int] = []
    components = 0
    for root in range(len(after)):
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        # The path of the depth-first walk, with what is left to visit from each node.
        work = [(root, iter(after[root]))]
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(after[other])))
                    break
                if component[other] < 0:  # still on the stack
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    around = work[-1][0]
                    low[around] = min(low[around], low[node])
                if low[node] == index[node]:  # nothing on the stack before it is reached: a component is complete
                    while component[node] < 0:
                        component[stack.pop()] = components
                    components += 1
    return component
