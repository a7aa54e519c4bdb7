"""Preorder numbering of a tree: parents before children, the descendants of a row are the rows up to its end."""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Ints, Longs, freeze_array, int32_column, run_bounds
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


def number_tree(parent: Longs, key: Longs) -> Preorder:
    """Number the tree given the `parent` of each id (-1 for roots); siblings are sorted by `key`. Does not recurse.

    >>> names = ["", "b", "a", "a/x"]
    >>> numbered = number_tree(np.array([-1, 0, 0, 2]), np.array([0, 2, 1, 3]))
    >>> [names[id] for id in numbered.order], numbered.end.tolist(), numbered.depth.tolist()
    (['', 'a', 'a/x', 'b'], [4, 3, 3, 4], [0, 1, 2, 1])
    """
    levels = tree_levels(parent, key)
    # By id; the last entry is the virtual parent of all roots.
    size, row = np.ones(len(parent) + 1, np.int64), np.full(len(parent) + 1, -1)
    # From the deepest level up, so that subtree sizes are complete before they are added to their parents.
    for level in reversed(levels):
        size[level.parents] += np.add.reduceat(size[level.ids], level.start)
    order, above, end, depth = (np.empty(len(parent), np.int32) for _ in range(4))
    for deep, level in enumerate(levels):
        # Its parent's row, plus one, plus the sizes of the siblings before it.
        sizes, fan = size[level.ids], level.fan
        before = np.cumsum(sizes) - sizes
        rows = before + np.repeat(row[level.parents] + 1 - before[level.start], fan)
        row[level.ids], order[rows] = rows, level.ids
        above[rows], end[rows], depth[rows] = np.repeat(row[level.parents], fan), rows + sizes, deep
    return Preorder(
        freeze_array(order), int32_column(row[:-1]), freeze_array(above), freeze_array(end), freeze_array(depth)
    )


@dataclass(frozen=True, slots=True, eq=False)
class TreeLevel:
    """The `ids` of one depth, siblings adjacent: `fan` children of each of `parents`, from `start` on."""

    ids: Longs
    parents: Longs
    fan: Longs
    start: Longs


def tree_levels(parent: Longs, key: Longs) -> list[TreeLevel]:
    """Return the levels of a tree from the roots down, siblings sorted by key. One step per depth, no recursion."""
    order = np.lexsort((key, parent))
    cuts = run_bounds(parent[order])
    heads = parent[order[cuts[:-1]]]
    # By parent: where its children begin in `order`, and their number; the last entry is parent -1, of the roots.
    first, count = np.zeros((2, len(parent) + 1), np.int64)
    first[heads], count[heads] = cuts[:-1], np.diff(cuts)
    levels: list[TreeLevel] = []
    parents = np.full(1, -1)
    while len(parents := parents[count[parents] > 0]):
        fan = count[parents]
        start = np.cumsum(fan) - fan
        ids = order[np.arange(fan.sum()) + np.repeat(first[parents] - start, fan)]
        levels.append(TreeLevel(ids, parents, fan, start))
        parents = ids
    return levels
