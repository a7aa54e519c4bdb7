"""Stubs: short lines with a name, drawn at a child instead of an edge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from graphviz_tb.expand.calls import constants_into_call
from graphviz_tb.model.columns import Ints, Longs, distinct_values, positions_of_rows
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.model.hierarchy import FUNCTION_ROW, Hierarchy
from graphviz_tb.model.metagraph import IMPLIED_LINE, Annotation, Bridge, DrawingMask, Metaedge, Side, StubKind
from graphviz_tb.model.paths import RowPath
from graphviz_tb.ops.signatures import LAST_SLOT, setting_slots

STUB_KIND_BY_MARK: dict[Mark, StubKind] = {Mark.CONSTANT: "constant", Mark.SUMMARY: "summary", Mark.WEIGHT: "weight"}
# next to an op, from the top
STUB_ORDER: dict[StubKind, int] = {"weight": 0, "constant": 1, "summary": 2, "shortcut": 3}


class ChildMark(NamedTuple):
    """A mark next to a child of a level: position of the child, row of the mark, side, kind, and number of edges."""

    child: int
    row: int
    side: Side
    kind: StubKind
    edges: int


def drawn_mark_pairs(graph: Graph) -> Longs:
    """Return the positions of the marks in `graph.beside` that are drawn: all but constants that are settings of the op
    beside them, such as an axis, because what an op is set to is no data that flows."""
    beside, data = graph.beside, np.flatnonzero(~graph.control)
    edges = data[graph.mark[graph.source[data]] == Mark.CONSTANT]
    target, slot = graph.target[edges], graph.slot[edges]
    is_setting = np.zeros(len(edges), bool)
    counts = np.bincount(graph.target[data], minlength=len(graph))
    for number in distinct_values(graph.op[target]):
        if slots := setting_slots(graph.op_types[number]):
            found = np.flatnonzero(graph.op[target] == number)
            is_last = (slot[found] == counts[target[found]] - 1) & (LAST_SLOT in slots)
            is_setting[found] = np.isin(slot[found], sorted(slots)) | is_last
    keys, uses = np.unique(_pair_keys(graph.source[edges][is_setting], target[is_setting]), return_counts=True)
    wanted = _pair_keys(beside.mark, beside.host)
    place = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
    hidden = (keys[place] == wanted) & (uses[place] == beside.edges) if len(keys) else np.zeros(len(wanted), bool)
    return np.flatnonzero(~hidden)


def _pair_keys(mark: Ints, host: Ints) -> Longs:
    return (host.astype(np.int64) << 32) + mark


class MarksByHost:
    """Marks by the row of the op next to which they are drawn; with `settings` also constants that are settings."""

    def __init__(self, hierarchy: Hierarchy, settings: bool = False) -> None:
        beside = hierarchy.graph.beside
        drawn = np.arange(len(beside.host)) if settings else drawn_mark_pairs(hierarchy.graph)
        rows = hierarchy.row_of_node[beside.host[drawn]]
        self.order: Longs = drawn[np.argsort(rows, kind="stable")]
        # The marks of row r are `order[start[r]:start[r + 1]]`.
        self.start = np.cumsum(np.bincount(rows + 1, minlength=len(hierarchy) + 1))
        self.hosting = frozenset(rows.tolist())
        self.hierarchy = hierarchy

    def marks_of_level(self, rows: Sequence[int]) -> list[ChildMark]:
        """Return the marks of the ops among `rows`, weights first for each op."""
        hosts = [(child, row) for child, row in enumerate(rows) if row in self.hosting]
        return [mark for child, row in hosts for mark in self.marks_of_child(child, row)]

    def marks_of_child(self, child: int, row: int) -> list[ChildMark]:
        """Return the marks of the op at `row`, weights first."""
        start, stop = self.start[row], self.start[row + 1]
        graph, marks = self.hierarchy.graph, []
        for position in self.order[start:stop].tolist():
            mark = int(graph.beside.mark[position])
            kind = STUB_KIND_BY_MARK[Mark(graph.mark[mark])]
            side: Side = "in" if graph.beside.inward[position] else "out"
            edges = int(graph.beside.edges[position])
            marks.append(ChildMark(child, int(self.hierarchy.row_of_node[mark]), side, kind, edges))
        return sorted(marks, key=lambda mark: STUB_ORDER[mark.kind])


def call_constants(hierarchy: Hierarchy, path: RowPath, rows: Sequence[int]) -> list[ChildMark]:
    """Return the constants among the inputs of an open call, drawn next to its arguments."""
    # A call of several functions shows each of them as a child; then `path` ends in one of them.
    is_function = len(path) > 1 and hierarchy.kind[path[-1]] == FUNCTION_ROW
    call = path[-2] if is_function else path[-1]
    if call not in hierarchy.calls:
        return []
    pairs = constants_into_call(hierarchy, call, path[-1] if is_function else None)
    children = positions_of_rows(rows, np.array([inner for _, inner in pairs], np.int64)) if pairs else ()
    # An argument that is itself drawn as a mark (a weight) is in no child.
    return [
        ChildMark(int(child), mark, "in", STUB_KIND_BY_MARK[Mark(hierarchy.mark[mark])], 1)
        for (mark, inner), child in zip(pairs, children, strict=True)
        if rows[child] <= inner < hierarchy.end[rows[child]]
    ]


def list_annotations(
    marks: Iterable[ChildMark],
    edges: Sequence[Metaedge],
    mask: DrawingMask,
    bridges: Sequence[Bridge],
    rows: Sequence[int],
) -> tuple[Annotation, ...]:
    """Return every stub of a level, one for each (child, side, other): marks, then cut metaedges, then bridges."""
    annotations: dict[tuple[int, Side, int], Annotation] = {}

    def push(
        child: int, side: Side, other: int, kind: StubKind, count: int, control: bool, training: bool = False
    ) -> None:
        # As in TensorBoard, one stub represents all edges to a node on one side; the first sets its kind.
        old = annotations.get((child, side, other))
        if old is None:
            annotations[child, side, other] = Annotation(child, side, other, kind, count, control, training)
        else:
            annotations[child, side, other] = Annotation(
                child, side, other, old.kind, old.edges + count, old.control and control, old.training and training
            )

    for mark in marks:
        push(mark.child, mark.side, mark.row, mark.kind, mark.edges, False)
    for index in sorted(mask.stubbed):
        edge = edges[index]
        count, control = edge.tensors + edge.control, not edge.tensors
        implied = edge.training & IMPLIED_LINE > 0
        push(edge.source, "out", rows[edge.target], "shortcut", count, control, implied)
        push(edge.target, "in", rows[edge.source], "shortcut", count, control, implied)
    extracted = mask.extracted_children
    for bridge in bridges:
        if not bridge.drawable or bridge.child in extracted:
            count = bridge.tensors + bridge.control
            side: Side = "in" if bridge.inbound else "out"
            push(bridge.child, side, bridge.other, "shortcut", count, not bridge.tensors, bridge.training)
    return tuple(annotations.values())
