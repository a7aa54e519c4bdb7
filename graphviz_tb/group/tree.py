"""The hierarchy while it is being built: parents by id, in no special order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
