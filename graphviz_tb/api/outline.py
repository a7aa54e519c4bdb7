"""The architecture of a model as an outline: the groups that its first picture opens, each in the order of its flow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphviz_tb.api.summary import ambiguous_stack_labels
from graphviz_tb.graphs.level_flow import children_in_ranks, unconnected_children
from graphviz_tb.graphs.rows import loop_functions, quiet_rows
from graphviz_tb.model.hierarchy import SERIES_ROW, Hierarchy
from graphviz_tb.model.paths import (
    RowPath,
    child_path,
    joined_frames,
    path_address,
    repetition_count,
    scopes_of_frame,
)
from graphviz_tb.open.first_picture import GRAPH_ROOT, first_open_groups
from graphviz_tb.words.view import NodeLabels

if TYPE_CHECKING:
    from graphviz_tb.api.base_model import BaseModel


@dataclass(frozen=True, slots=True)
class OutlineBox:
    """One box of the outline: label, address, number of ops inside, number of members if it is a stack."""

    label: str
    address: str
    ops: int
    times: int = 1


@dataclass(frozen=True, slots=True)
class OutlineGroup:
    """One open group: `label` and `address` ("" for the whole model), depth, and parts.

    `ranks` follow the flow: a box has an earlier rank than the boxes it feeds. `loose` boxes have no data edges to
    boxes of a rank. `beside` are boxes outside the model: gradients, updates, bookkeeping, the auxiliary area.
    """

    label: str
    address: str
    depth: int
    ranks: tuple[tuple[OutlineBox, ...], ...]
    beside: tuple[OutlineBox, ...]
    loose: tuple[OutlineBox, ...] = ()


def outline_model(model: BaseModel) -> tuple[OutlineGroup, ...]:
    """Return the groups that a first picture opens if there is room, outer ones first, in the order of the flow."""
    opened = dict.fromkeys(first_open_groups(model.hierarchy, model.metagraph))
    outline = _Outline(model, opened)
    groups: list[OutlineGroup] = []
    waiting: list[tuple[RowPath, int]] = [(GRAPH_ROOT, 0)]
    while waiting:
        box, depth = waiting.pop()
        group, below = outline.open_group(box, depth)
        groups.append(group)
        # A stack, last in first out: push in reverse, so that the first group of the flow and its content come next.
        waiting += [(child, depth + 1) for child in reversed(below) if child in opened]
    return tuple(groups)


class _Outline:
    """The labels of boxes and the content of groups, for one set of open groups."""

    def __init__(self, model: BaseModel, opened: Iterable[RowPath]) -> None:
        self.model = model
        self.hierarchy = hierarchy = model.hierarchy
        self.joined = joined_frames(hierarchy, opened)
        self.quiet = quiet_rows(hierarchy)
        self.labels = NodeLabels(hierarchy, lambda path: None)
        self.stack_labels = ambiguous_stack_labels(hierarchy, inside=False)  # a nested group may have the same label
        self.loop_bodies = {loop["body"] for loop in loop_functions(hierarchy)}

    def open_group(self, box: RowPath, depth: int) -> tuple[OutlineGroup, list[RowPath]]:
        """Return an open group, and the paths of its children in the order of the flow."""
        hierarchy = self.hierarchy
        path = self.joined.get(box, box)  # scopes that contain only one another share a line
        # Children are given by position; `mask.extracted_children` are the ones in the auxiliary area.
        level = self.model.metagraph(path)
        extracted = {level.children[position] for position in level.mask.extracted_children}
        ranks, unconnected = children_in_ranks(hierarchy, path), unconnected_children(hierarchy, path)
        if not ranks:  # unconnected boxes, side by side, are the flow
            ranks, unconnected = [unconnected], []
        rows = [row for rank in (*ranks, unconnected) for row in rank]
        shown = {row for row in rows if not self.quiet[row] and row not in extracted}
        if path[-1] in self.loop_bodies:
            shown -= _loop_carried_rows(hierarchy, shown)
        in_flow = [self._boxes(path, (row for row in rank if row in shown)) for rank in ranks]
        group = OutlineGroup(
            "" if box == GRAPH_ROOT else self._label(box),
            path_address(hierarchy, box),
            depth,
            tuple(rank for rank in in_flow if rank),
            self._boxes(path, (row for row in rows if row not in shown)),
            self._boxes(path, (row for row in unconnected if row in shown)),
        )
        return group, [child_path(hierarchy, path, row) for row in rows]

    def _boxes(self, path: RowPath, rows: Iterable[int]) -> tuple[OutlineBox, ...]:
        return tuple(self._box(child_path(self.hierarchy, path, row)) for row in rows)

    def _box(self, path: RowPath) -> OutlineBox:
        hierarchy, row = self.hierarchy, path[-1]
        times = repetition_count(hierarchy, row) if hierarchy.kind[row] == SERIES_ROW else 1
        return OutlineBox(self._label(path), path_address(hierarchy, path), hierarchy.op_count(row), times)

    def _label(self, path: RowPath) -> str:
        scopes = scopes_of_frame(self.hierarchy, path, self.joined.get(path, path))
        return "/".join(map(self._segment, scopes))

    def _segment(self, path: RowPath) -> str:
        own = self.stack_labels.get(path[-1]) or self.labels.short_label(path)
        return own or path_address(self.hierarchy, path)


def _loop_carried_rows(hierarchy: Hierarchy, shown: set[int]) -> set[int]:
    """Return the rows of a loop's body that only carry a value between iterations; empty if the body has no groups."""
    if not any(hierarchy.can_open(row) for row in shown):
        return set()
    carried = {node for function in hierarchy.graph.functions for node in function.args}
    return {row for row in shown if hierarchy.node[row] in carried}
