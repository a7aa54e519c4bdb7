"""How often a stack repeats what it holds, through the ranges that a tall one is cut into."""

from __future__ import annotations

from graphviz_tb.model.hierarchy import FOLD, SEGMENT, SERIES, Hierarchy


def repetitions(hierarchy: Hierarchy, row: int) -> int:
    """The repetitions of a series; of a fold, what it holds."""
    count = 0
    todo = [row]
    while todo:
        held = hierarchy.children(todo.pop()).tolist()
        ranges = [child for child in held if hierarchy.kind[child] == FOLD and hierarchy.how[child] == SEGMENT]
        cut = len(ranges) == len(held) and hierarchy.kind[row] == SERIES
        todo += ranges if cut else []
        count += 0 if cut else len(held)
    return count
