"""What edges lead to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping


def reached(start: Iterable[int], after: Mapping[int, Collection[int]]) -> set[int]:
    """All that edges lead to, `start` too; `after[v]` are the nodes that node v leads to.

    >>> sorted(reached([1], {1: [2], 2: [3], 4: [1]}))
    [1, 2, 3]
    """
    seen = set(start)
    todo = sorted(seen)
    while todo:
        for other in after.get(todo.pop(), ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen
