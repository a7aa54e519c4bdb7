"""The hierarchy while it is being built: parents by id, in no special order, and the numbering in preorder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Bytes, Ints, Longs, freeze, ints, runs


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Columns by id: `kind`, `parent` (-1 for the root and for functions), `node` (-1 for groups), `name`, and `key`,
    the order among siblings."""

    kind: NDArray[np.uint8]
    parent: NDArray[np.int64]
    node: NDArray[np.int64]
    name: NDArray[np.object_]
    key: NDArray[np.int64]


def make_tree(
    kind: Sequence[int], parent: Sequence[int], node: Sequence[int], name: Sequence[str], key: Sequence[int]
) -> Tree:
    """A tree from plain columns."""
    names = np.empty(len(name), object)
    names[:] = name
    whole = (np.array(column, np.int64) for column in (parent, node, key))
    parents, nodes, keys = whole
    return Tree(np.array(kind, np.uint8), parents, nodes, names, keys)


@dataclass(frozen=True, slots=True, eq=False)
class Numbered:
    """A tree in preorder: `order[row]` is the id, `row_of[id]` the row; `parent`, `end`, `depth`, `kind` by row."""

    order: Ints
    row_of: Ints
    parent: Ints
    end: Ints
    depth: Ints
    kind: Bytes


def number(tree: Tree) -> Numbered:
    """Number the tree in preorder, siblings by key.

    Before: ids in any order. After: parents before children, descendants of a row are the rows up to its end.

    >>> tree = make_tree([0, 1, 0, 1], [-1, 0, 0, 2], [-1, 0, -1, 1], ["", "b", "a", "a/x"], [0, 2, 1, 3])
    >>> numbered = number(tree)
    >>> tree.name[numbered.order].tolist(), numbered.end.tolist()
    (['', 'a', 'a/x', 'b'], [4, 3, 3, 4])
    """
    parent = tree.parent
    order = np.lexsort((tree.key, parent))
    levels, depth = levels_of(parent, order)
    size = np.ones(len(parent), np.int64)
    for level in reversed(levels[1:]):
        np.add.at(size, parent[level], size[level])
    row = place_rows(parent, order, size, levels)
    back = np.empty(len(parent), np.int64)
    back[row] = np.arange(len(parent))
    parent_row = np.where(parent[back] < 0, -1, row[parent[back]])
    kind = freeze(tree.kind[back])
    return Numbered(
        ints(back), ints(row), ints(parent_row), ints(np.arange(len(parent)) + size[back]), ints(depth[back]), kind
    )


def levels_of(parent: Longs, order: Longs) -> tuple[list[Longs], Longs]:
    """The ids of each depth, from the roots down, and each id's depth. One step a depth, nothing recurses."""
    cuts = runs(parent[order])
    heads = parent[order][cuts[:-1]]
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
        offset = np.arange(total) - np.repeat(np.cumsum(fan) - fan, fan)
        level = order[np.repeat(first[level], fan) + offset]
        depth[level] = len(levels)
        levels.append(level)


def place_rows(parent: Longs, order: Longs, size: Longs, levels: list[Longs]) -> Longs:
    """The row of each id: its parent's row, plus one, plus the sizes of the siblings before it."""
    before = np.cumsum(size[order]) - size[order]
    cuts = runs(parent[order])
    offset = np.empty(len(parent), np.int64)
    offset[order] = before - np.repeat(before[cuts[:-1]], np.diff(cuts))
    row = offset.copy()
    for level in levels[1:]:
        row[level] = row[parent[level]] + 1 + offset[level]
    return row
