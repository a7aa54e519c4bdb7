"""Numbering a tree in preorder: parents before children, descendants of a row are the rows up to its end."""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Ints, Longs, ints, runs
from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Preorder:
    """A tree in preorder: `order[row]` is the id, `row_of[id]` the row; `parent` (-1 for roots), `end`, `depth` by
    row."""

    order: Ints
    row_of: Ints
    parent: Ints
    end: Ints
    depth: Ints


def number(parent: Longs, key: Longs) -> Preorder:
    """Number the tree with the `parent` of each id (-1 for roots), siblings by `key`. Nothing recurses.

    >>> names = ["", "b", "a", "a/x"]
    >>> numbered = number(np.array([-1, 0, 0, 2]), np.array([0, 2, 1, 3]))
    >>> [names[id] for id in numbered.order], numbered.end.tolist(), numbered.depth.tolist()
    (['', 'a', 'a/x', 'b'], [4, 3, 3, 4], [0, 1, 2, 1])
    """
    order = np.lexsort((key, parent))
    levels, depth = levels_of(parent, order)
    size = np.ones(len(parent), np.int64)
    # From the deepest level up: the size of a subtree is complete before it is added to its parent.
    for level in reversed(levels[1:]):
        np.add.at(size, parent[level], size[level])
    row = place_rows(parent, order, size, levels)  # (n,): by id
    back = np.empty(len(parent), np.int64)
    back[row] = np.arange(len(parent))
    parent_row = np.where(parent[back] < 0, -1, row[parent[back]])
    return Preorder(
        ints(back), ints(row), ints(parent_row), ints(np.arange(len(parent)) + size[back]), ints(depth[back])
    )


def levels_of(parent: Longs, order: Longs) -> tuple[list[Longs], Longs]:
    """The ids of each depth, from the roots down, and each id's depth. One step a depth, nothing recurses."""
    cuts = runs(parent[order])
    heads = parent[order][cuts[:-1]]
    # By parent, where its children begin in `order`, and how many; parent -1, of the roots, is the last place.
    first = np.zeros(len(parent) + 1, np.int64)
    count = np.zeros(len(parent) + 1, np.int64)
    first[heads], count[heads] = cuts[:-1], np.diff(cuts)
    depth = np.zeros(len(parent), np.int64)
    level = order[: count[-1]]
    levels = [level]
    while True:
        fan = count[level]
        total = int(fan.sum())
        if not total:
            return levels, depth
        offset = np.arange(total) - np.repeat(np.cumsum(fan) - fan, fan)  # 0, 1, … among the children of each parent
        level = order[np.repeat(first[level], fan) + offset]
        depth[level] = len(levels)
        levels.append(level)


def place_rows(parent: Longs, order: Longs, size: Longs, levels: list[Longs]) -> Longs:
    """The row of each id: its parent's row, plus one, plus the sizes of the siblings before it."""
    # Sizes of all that comes before in `order`; less those before the first sibling, what siblings before it take.
    before = np.cumsum(size[order]) - size[order]
    cuts = runs(parent[order])
    offset = np.empty(len(parent), np.int64)
    offset[order] = before - np.repeat(before[cuts[:-1]], np.diff(cuts))
    row = offset.copy()
    for level in levels[1:]:
        row[level] = row[parent[level]] + 1 + offset[level]
    return row
