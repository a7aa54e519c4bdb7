"""The architecture of a model as an outline: the groups that its first picture opens, each in the order of its flow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphviz_tb.api.summary import ambiguous_stack_labels
from graphviz_tb.graphs.level_flow import children_in_ranks, unconnected_children
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
from graphviz_tb.open.repeats import loop_functions, quiet_rows
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
    """One open group: `label` and `path_address` ("" for the whole model), depth, and parts.

    `ranks` follow the flow: a box has an earlier rank than the boxes it feeds. `loose` boxes have no data edges to
    these. `beside` are boxes outside the model: gradients, updates, bookkeeping, the auxiliary area.
    """

    label: str
    address: str
    depth: int
    ranks: tuple[tuple[OutlineBox, ...], ...]
    beside: tuple[OutlineBox, ...]
    loose: tuple[OutlineBox, ...] = ()


def outline_model(model: BaseModel) -> tuple[OutlineGroup, ...]:
    """Return the groups that a first picture opens if there is room, outer ones first, in the order of the flow."""
    hierarchy = model.hierarchy
    opened = dict.fromkeys(first_open_groups(hierarchy, model.metagraph))
    joined = joined_frames(hierarchy, opened)
    quiet = quiet_rows(hierarchy)
    node_labels = NodeLabels(hierarchy, lambda path: None)
    mistaken_for = ambiguous_stack_labels(hierarchy, inside=False)  # labels of nested groups cannot be confused
    bodies = {loop["body"] for loop in loop_functions(hierarchy)}

    def box_label(path: RowPath) -> str:
        return "/".join(map(segment, scopes_of_frame(hierarchy, path, joined.get(path, path))))

    def segment(path: RowPath) -> str:
        return mistaken_for.get(path[-1]) or node_labels.short_label(path) or path_address(hierarchy, path)

    def part(path: RowPath) -> OutlineBox:
        # The last row of a path is the box itself.
        row = path[-1]
        times = repetition_count(hierarchy, row) if hierarchy.kind[row] == SERIES_ROW else 1
        return OutlineBox(box_label(path), path_address(hierarchy, path), hierarchy.op_count(row), times)

    lines: list[OutlineGroup] = []
    waiting: list[tuple[RowPath, int]] = [(GRAPH_ROOT, 0)]
    while waiting:
        box, depth = waiting.pop()
        path = joined.get(box, box)  # one line for scopes that contain nothing but one another
        # Children are given by position; `mask.extracted` are the ones in the auxiliary area.
        away = {model.metagraph(path).children[position] for position in model.metagraph(path).mask.extracted_children}
        ranks, apart = children_in_ranks(hierarchy, path), unconnected_children(hierarchy, path)
        if not ranks:  # boxes side by side: there is no flow to be next to
            ranks, apart = [apart], []
        inside = [row for rank in (*ranks, apart) for row in rank]
        shown = {row for row in inside if not quiet[row] and row not in away}
        if path[-1] in bodies:
            shown -= _loop_carried_rows(hierarchy, shown)

        def parts(rows: Iterable[int], path: RowPath = path) -> tuple[OutlineBox, ...]:
            return tuple(part(child_path(hierarchy, path, row)) for row in rows)

        in_flow = [parts(row for row in rank if row in shown) for rank in ranks]
        lines.append(
            OutlineGroup(
                "" if box == GRAPH_ROOT else box_label(box),
                path_address(hierarchy, box),
                depth,
                tuple(rank for rank in in_flow if rank),
                parts(row for row in inside if row not in shown),
                parts(row for row in apart if row in shown),
            )
        )
        # A stack, last in first out: push in reverse, so that the first group of the flow and its content come next.
        below = [child_path(hierarchy, path, row) for row in inside]
        waiting += [(child, depth + 1) for child in reversed(below) if child in opened]
    return tuple(lines)


def _loop_carried_rows(hierarchy: Hierarchy, shown: set[int]) -> set[int]:
    """Return the rows of a loop's body that only carry a value between iterations; empty if the body has no groups."""
    if not any(hierarchy.can_open(row) for row in shown):
        return set()
    carried = {node for function in hierarchy.graph.functions for node in function.args}
    return {row for row in shown if hierarchy.node[row] in carried}
