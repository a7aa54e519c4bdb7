"""The states of the lines and stubs of a picture, from the states of the edges that each of them represents."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from graphviz_tb.model.columns import Ints
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.scene import LineIdentity, Route, Scene, Stub
from graphviz_tb.model.view import View

CAME, GONE, KEPT = 1, 2, 0


class FlatEdgeIndex:
    """Finds the flat edges behind each line and each stub. `states` says what became of each edge."""

    def __init__(self, hierarchy: Hierarchy, view: View, states: np.ndarray) -> None:
        self.states = states
        self.hierarchy = hierarchy
        self.levels: dict[RowPath, Metagraph] = {}
        # Levels by their paths, through all open groups: what an identity is an index of.
        todo = [view]
        while todo:
            level = todo.pop()
            self.levels[level.path] = level.metagraph
            todo += level.opened.values()

    @cached_property
    def between(self) -> EdgesBetween:
        """The edges from one row to another, looked for only where something is drawn beside a box."""
        return EdgesBetween(self.hierarchy)

    def route(self, scene: Scene, route: Route) -> set[int]:
        """Return the states of the edges that a line represents."""
        return self._states(route.identity)

    def stub(self, scene: Scene, stub: Stub) -> set[int]:
        """Return the states of the edges that a stub represents."""
        row, inbound = scene.boxes[stub.box].row, stub.side == "in"
        states: set[int] = set()
        for identity in stub.identities:
            if identity.kind == "annotation":
                other = self.levels[identity.path].annotations[identity.index].other
                states |= self._mark(*((other, row) if inbound else (row, other)))
            else:
                states |= self._states(identity)
        return states

    def _mark(self, source: int, target: int) -> set[int]:
        """Return the states of the edges of a constant or summary."""
        return set(np.unique(self.states[self.between(source, target)]).tolist()) or {KEPT}

    def _states(self, identity: LineIdentity) -> set[int]:
        """Return the states of the edges of a metaedge or bridge."""
        edges = self._edges(identity)
        return set() if edges is None else set(np.unique(self.states[edges]).tolist())

    def _edges(self, identity: LineIdentity) -> Ints | None:
        level = self.levels[identity.path]
        if identity.kind == "bridge":
            return level.bridges[identity.index].flat_edges
        return level.edges[identity.index].flat_edges if identity.kind == "edge" else None


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
