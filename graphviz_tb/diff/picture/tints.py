"""What became of the lines and stubs of a picture, from what became of the edges that each of them stands for."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.scene import Route, Scene, Stub
from graphviz_tb.model.view import View
from graphviz_tb.place.labels import Line, account

CAME, GONE, KEPT = 1, 2, 0
EVERY = slice(None)
Key = tuple[str, int, bool]  # address of the open group, row of the child, whether the line comes in


class Tints:
    """Finds the flat edges behind each line and each stub. `states` says what became of each edge."""

    def __init__(self, hierarchy: Hierarchy, view: View, states: np.ndarray) -> None:
        self.hierarchy = hierarchy
        self.states = states
        self.changed = np.flatnonzero(states)
        self.lines: dict[Key, list[tuple[int, str, Line]]] = defaultdict(list)
        todo = [view]
        while todo:
            one = todo.pop()
            self._file(one)
            todo += one.opened.values()

    def _file(self, view: View) -> None:
        """Every line of one open group, by the child that it touches: the row beyond, its account, itself."""
        level, names = view.metagraph, [face.full for face in view.faces]
        for edge in level.edges:
            source, target = level.children[edge.source], level.children[edge.target]
            told = account(edge, names[edge.source], names[edge.target])
            self.lines[view.address, source, False].append((target, told, edge))
            self.lines[view.address, target, True].append((source, told, edge))
        for bridge in level.bridges:
            ends = (names[bridge.child], view.names.get(bridge.other, "…"))
            told = account(bridge, *(ends[::-1] if bridge.inbound else ends))
            self.lines[view.address, level.children[bridge.child], bridge.inbound].append((bridge.other, told, bridge))

    def route(self, scene: Scene, one: Route) -> set[int]:
        """What became of the edges that a line stands for."""
        inbound = one.source < 0
        box = scene.boxes[one.target if inbound else one.source]
        around = scene.boxes[box.parent].address if box.parent >= 0 else ""
        beyond = scene.boxes[one.target].row if not inbound and one.target >= 0 else None
        found = [
            line
            for other, told, line in self.lines[around, box.row, inbound]
            if told == one.title and beyond in (None, other)
        ]
        return self._states(found)

    def stub(self, scene: Scene, one: Stub) -> set[int]:
        """What became of the edges that a stub stands for."""
        box = scene.boxes[one.box]
        around = scene.boxes[box.parent].address if box.parent >= 0 else ""
        inbound = one.side == "in"
        if one.kind == "shortcut":
            return self._states([line for row, _, line in self.lines[around, box.row, inbound] if row == one.other])
        ends = (one.other, box.row) if inbound else (box.row, one.other)
        return self._between(*ends) if (self._between(*ends, self.changed) - {KEPT}) else {KEPT}

    def _states(self, lines: list[Line]) -> set[int]:
        return {
            state for line in lines if line.edges is not None for state in np.unique(self.states[line.edges]).tolist()
        }

    def _between(self, source: int, target: int, among: np.ndarray | slice = EVERY) -> set[int]:
        """What became of the edges from one row to another."""
        graph = self.hierarchy.graph
        found = self._below(source, graph.source[among]) & self._below(target, graph.target[among])
        return set(np.unique(self.states[among][found]).tolist())

    def _below(self, row: int, nodes: np.ndarray) -> np.ndarray:
        """Which of `nodes` lie at or below a row."""
        rows = self.hierarchy.row_of_node[nodes]
        found: np.ndarray = (rows >= row) & (rows < self.hierarchy.end[row])
        return found
