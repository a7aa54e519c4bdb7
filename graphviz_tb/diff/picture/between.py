"""The edges of the file between two rows."""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Ints
from graphviz_tb.model.hierarchy import Hierarchy


class EdgesBetween:
    """The edges of the file from one row to another, or to a row inside it."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        graph = hierarchy.graph
        self.end = hierarchy.end
        self.ends = hierarchy.row_of_node[graph.source], hierarchy.row_of_node[graph.target]
        # The descendants of a row are a run of rows: its edges are a run where edges are sorted by the row at that end.
        self.order = [np.argsort(rows, kind="stable") for rows in self.ends]
        self.sorted = [rows[order] for rows, order in zip(self.ends, self.order, strict=True)]

    def __call__(self, source: int, target: int) -> Ints:
        """The ids of these edges, in any order."""
        runs = [
            order[slice(*np.searchsorted(rows, (row, self.end[row])))]
            for order, rows, row in zip(self.order, self.sorted, (source, target), strict=True)
        ]
        # The fewer edges of the two, and of them those with the other end there.
        side = int(len(runs[0]) > len(runs[1]))
        row = source if side else target
        others = self.ends[1 - side][runs[side]]
        edges: Ints = runs[side][(others >= row) & (others < self.end[row])]
        return edges
