"""The hierarchy while it is being built: parents by id, in no special order, and the numbering in preorder."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from graphviz_tb.model.columns import Bytes, Ints, Longs, freeze, ints, runs
from graphviz_tb.model.hierarchy import Kind


@dataclass(slots=True, eq=False)
class Tree:
    """Growing columns: `kind`, `parent` (-1 for the root and for functions), `node`, `name`, `key` (order among
    siblings)."""

    kind: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    node: list[int] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    key: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.kind)

    def add(self, kind: Kind, parent: int, name: str, node: int = -1, key: int | None = None) -> int:
        """Append one row and give back its id; siblings keep the order in which they came unless `key` says else."""
        self.kind.append(kind)
        self.parent.append(parent)
        self.node.append(node)
        self.name.append(name)
        self.key.append(len(self.key) if key is None else key)
        return len(self.kind) - 1


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

    >>> tree = Tree()
    >>> _ = tree.add(Kind.SCOPE, -1, ""), tree.add(Kind.OP, 0, "b")
    >>> _ = tree.add(Kind.SCOPE, 0, "a", key=0), tree.add(Kind.OP, 2, "a/x")
    >>> numbered = number(tree)
    >>> [tree.name[id] for id in numbered.order], numbered.end.tolist()
    (['', 'a', 'a/x', 'b'], [4, 3, 3, 4])
    """
    parent = np.array(tree.parent, np.int64)
    order = np.lexsort((np.array(tree.key, np.int64), parent))
    levels, depth = levels_of(parent, order)
    size = np.ones(len(parent), np.int64)
    for level in reversed(levels[1:]):
        np.add.at(size, parent[level], size[level])
    row = place_rows(parent, order, size, levels)
    back = np.empty(len(parent), np.int64)
    back[row] = np.arange(len(parent))
    parent_row = np.where(parent[back] < 0, -1, row[parent[back]])
    kind = freeze(np.array(tree.kind, np.uint8)[back])
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
