"""Stubs: what is drawn beside a child instead of an edge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from graphviz_tb.expand.calls import constants_inside
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import FUNCTION, Hierarchy
from graphviz_tb.model.metagraph import Annotation, Bridge, Mask, Metaedge, Side, StubKind
from graphviz_tb.model.paths import Path

SIGNS: dict[Mark, StubKind] = {Mark.CONSTANT: "constant", Mark.SUMMARY: "summary", Mark.WEIGHT: "weight"}
ORDER: dict[StubKind, int] = {"weight": 0, "constant": 1, "summary": 2, "shortcut": 3}  # beside an op, from the top


class MarkFiles:
    """Marks by the row of the op they are drawn beside."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        beside = hierarchy.graph.beside
        rows = hierarchy.row_of_node[beside.host]
        self.order: Longs = np.argsort(rows, kind="stable")
        self.start = np.cumsum(np.bincount(rows + 1, minlength=len(hierarchy) + 1))
        self.hosting = frozenset(rows.tolist())
        self.hierarchy = hierarchy

    def hosts(self, rows: Sequence[int]) -> list[int]:
        """The places of those of `rows` that marks are drawn beside."""
        return [at for at, row in enumerate(rows) if row in self.hosting]

    def beside(self, row: int) -> list[tuple[int, Side, StubKind, int]]:
        """`(row of the mark, side, kind, edges)` for each mark beside the op at `row`, weights first."""
        a, b = self.start[row], self.start[row + 1]
        graph, entries = self.hierarchy.graph, []
        for position in self.order[a:b].tolist():
            mark = int(graph.beside.mark[position])
            kind = SIGNS[Mark(graph.mark[mark])]
            side: Side = "in" if graph.beside.inward[position] else "out"
            entries.append((int(self.hierarchy.row_of_node[mark]), side, kind, int(graph.beside.edges[position])))
        return sorted(entries, key=lambda entry: ORDER[entry[2]])


def handed_constants(
    hierarchy: Hierarchy, path: Path, rows: Sequence[int]
) -> list[tuple[int, tuple[int, Side, StubKind, int]]]:
    """Constants that a call is given: when it is open they are drawn beside its arguments, as beside it when closed."""
    call = path[-2] if len(path) > 1 and hierarchy.kind[path[-1]] == FUNCTION else path[-1]
    if call not in hierarchy.calls:
        return []
    constants: list[tuple[int, tuple[int, Side, StubKind, int]]] = []
    for mark, inner in constants_inside(hierarchy, call):
        child = next((child for child, row in enumerate(rows) if row <= inner < hierarchy.end[row]), None)
        if child is not None:
            constants.append((child, (mark, "in", SIGNS[Mark(hierarchy.mark[mark])], 1)))
    return constants


def list_annotations(
    marks: Iterable[tuple[int, tuple[int, Side, StubKind, int]]],
    edges: Sequence[Metaedge],
    mask: Mask,
    bridges: Sequence[Bridge],
    rows: Sequence[int],
) -> tuple[Annotation, ...]:
    """Every stub of a level, once for each (child, side, other): marks, then cut metaedges, then bridges."""
    annotations: dict[tuple[int, Side, int], Annotation] = {}

    def push(child: int, side: Side, other: int, kind: StubKind, count: int, control: bool) -> None:
        old = annotations.get((child, side, other))
        if old is None:
            annotations[child, side, other] = Annotation(child, side, other, kind, count, control)
        else:
            annotations[child, side, other] = Annotation(
                child, side, other, old.kind, old.edges + count, old.control and control
            )

    for child, (row, side, kind, count) in marks:
        push(child, side, row, kind, count, False)
    for index in sorted(mask.stubbed):
        edge = edges[index]
        count, control = edge.tensors + edge.control, not edge.tensors
        push(edge.source, "out", rows[edge.target], "shortcut", count, control)
        push(edge.target, "in", rows[edge.source], "shortcut", count, control)
    away = mask.extracted
    for bridge in bridges:
        if not bridge.drawable or bridge.child in away:
            count = bridge.tensors + bridge.control
            push(bridge.child, "in" if bridge.inbound else "out", bridge.other, "shortcut", count, not bridge.tensors)
    return tuple(annotations.values())
