"""How often a stack repeats what it holds, through the ranges that a tall one is cut into."""

from __future__ import annotations

from graphviz_tb.model.hierarchy import FOLD, SEGMENT, SERIES, Hierarchy


def repetitions(hierarchy: Hierarchy, row: int) -> int:
    """The repetitions of a series; of a fold, what it holds."""
    if hierarchy.kind[row] != SERIES:
        return len(hierarchy.children(row))
    count = 0
    todo = [row]
    while todo:
        held = hierarchy.children(todo.pop())
        ranges = (hierarchy.kind[held] == FOLD) & (hierarchy.how[held] == SEGMENT)
        if ranges.all():
            todo += held.tolist()
        else:
            count += len(held)
    return count
