"""Hierarchy under construction: parents by id, unordered."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class HierarchyTree:
    """Columns by id: `kind`, `parent` (-1 for the root and for functions), `node` (-1 for groups), `name`, and `key`,
    the order among siblings."""

    kind: NDArray[np.uint8]
    parent: NDArray[np.int64]
    node: NDArray[np.int64]
    name: NDArray[np.object_]
    key: NDArray[np.int64]
