"""Numbering a tree in preorder: parents before children, descendants of a row are the rows up to its end."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Ints, ints


@dataclass(slots=True, eq=False)
class Tree:
    """Growing columns: `parent` (-1 for roots; always an earlier id) and `name`."""

    parent: list[int] = field(default_factory=list)
    name: list[str] = field(default_factory=list)

    def add(self, parent: int, name: str) -> int:
        """Append one row and give back its id."""
        self.parent.append(parent)
        self.name.append(name)
        return len(self.parent) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Numbered:
    """`order[row]` is the id, `row_of[id]` the row; `parent`, `end`, `depth` by row."""

    order: Ints
    row_of: Ints
    parent: Ints
    end: Ints
    depth: Ints


def number(tree: Tree) -> Numbered:
    """Number the tree, siblings in the order in which they came. Nothing recurses.

    >>> tree = Tree()
    >>> _ = tree.add(-1, ""), tree.add(0, "a"), tree.add(0, "b"), tree.add(1, "a/c")
    >>> numbered = number(tree)
    >>> [tree.name[id] for id in numbered.order], numbered.end.tolist(), numbered.depth.tolist()
    (['', 'a', 'a/c', 'b'], [4, 3, 3, 4], [0, 1, 2, 1])
    """
    count = len(tree.parent)
    size, depth = [1] * count, [0] * count
    for id in range(count - 1, -1, -1):
        if tree.parent[id] >= 0:
            size[tree.parent[id]] += size[id]
    row, free, top = [0] * count, [0] * count, 0
    for id, parent in enumerate(tree.parent):
        if parent < 0:
            row[id], top = top, top + size[id]
        else:
            row[id] = free[parent]
            free[parent] += size[id]
            depth[id] = depth[parent] + 1
        free[id] = row[id] + 1
    return _columns(np.array(tree.parent, np.int64), *(np.array(part, np.int64) for part in (row, size, depth)))


def _columns(
    parent: NDArray[np.int64], row: NDArray[np.int64], size: NDArray[np.int64], depth: NDArray[np.int64]
) -> Numbered:
    order = np.empty(len(row), np.int64)
    order[row] = np.arange(len(row))
    around = np.where(parent[order] < 0, -1, row[parent[order]])
    return Numbered(ints(order), ints(row), ints(around), ints(np.arange(len(row)) + size[order]), ints(depth[order]))
