"""Open groups that close a cycle which the level itself does not have.

Groups are convex in the flow by construction. Storage edges are not flow, but they are drawn, so all data edges are
checked once more, for all groups of a level together:

b ─▶ d by flow, d ─▶ c by storage: the group [b c] and d are on a cycle, though the rows b, c and d are not

Training groups open nothing: they move aside with stubs for their edges (see `expand`) if they are on a cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from graphviz_tb.algorithms.components import strong_components
from graphviz_tb.group.flow.box import FlowBox
from graphviz_tb.group.flow.columns import ChildEdges
from graphviz_tb.group.flow.dag import find_cycles
from graphviz_tb.group.owners import lowest_common_owners
from graphviz_tb.model.columns import distinct_values, int32_column
from graphviz_tb.model.hierarchy import GroupOrigin

MAX_OPENING_ROUNDS = 50  # each opens at least one group; after these, all are opened


def open_cyclic_groups(boxes: list[FlowBox], count: int, place: dict[int, int], edges: ChildEdges) -> list[FlowBox]:
    """Open the groups of a level that are on a cycle not made by edges of children alone.

    Before: any grouping of the `count` children; `place` is the position of a row, `edges` all data edges. After: the
    boxes of each group can be drawn along the data edges, apart from real cycles.
    """

    @cache  # only needed if the folded level has a cycle
    def real_cycles() -> list[int]:
        return real_cycle_by_child(count, edges)

    for _ in range(MAX_OPENING_ROUNDS):
        # Opening one group may close or break cycles elsewhere: repeat until none is left.
        lying = cyclic_groups(boxes, count, place, edges, real_cycles)
        if not lying:
            return boxes
        boxes = replace_by_members(boxes, lying)
    return [box for top in boxes for box in rows_inside(top)]


def real_cycle_by_child(count: int, edges: ChildEdges) -> list[int]:
    """Return for each child the number of the cycle it is on, -1 for none."""
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in zip(edges.source.tolist(), edges.target.tolist(), strict=True):
        after[source].append(target)
    component = strong_components(after)
    size = np.bincount(component, minlength=1)
    return [number if size[number] > 1 else -1 for number in component]


def cyclic_groups(
    boxes: list[FlowBox], count: int, place: dict[int, int], edges: ChildEdges, real_cycles: Callable[[], list[int]]
) -> set[int]:
    """Return the `id` of each group on a cycle that only grouping makes."""
    # Numbers: children 0 … count-1, groups from count on, the level itself last.
    listed, parent, depth = number_groups(boxes, count, place)
    _, start, stop = lowest_common_owners(
        int32_column(parent), int32_column(depth), edges.source.astype(np.int32), edges.target.astype(np.int32)
    )
    # Lifted to siblings; edges among rows alone need no check.
    beside_groups = np.zeros(len(parent), bool)
    beside_groups[parent[count:-1]] = True
    kept = beside_groups[int32_column(parent)[start]]
    after: list[list[int]] = [[] for _ in parent]
    # These move aside in `expand`.
    quiet = {count + member for member, box in enumerate(listed) if box.how == GroupOrigin.TRAINING}
    # Pairs as numbers: a million tuples would take hundreds of megabytes.
    for pair in distinct_values(start[kept].astype(np.int64) << 32 | stop[kept].astype(np.int64)).tolist():
        source, target = pair >> 32, pair & 0xFFFFFFFF
        if source not in quiet and target not in quiet:
            after[source].append(target)
    lying: set[int] = set()
    for ring in find_cycles(after):
        groups = [listed[member - count] for member in ring if member >= count]
        # A cycle that contains a real one is not made by the groups.
        if groups and not spans_real_cycle(ring, listed, count, place, real_cycles()):
            lying.update(id(box) for box in groups if box.how != GroupOrigin.LOOP)
    return lying


def number_groups(
    boxes: list[FlowBox], count: int, place: dict[int, int]
) -> tuple[list[FlowBox], list[int], list[int]]:
    """Return all groups of a level, and parent and depth of children and groups; the level itself comes last."""
    listed: list[FlowBox] = []
    parent, depth = [0] * count, [1] * count
    todo = [(boxes, -1, 1)]
    while todo:
        held, above, deep = todo.pop()
        for box in held:
            if box.row >= 0:
                parent[place[box.row]], depth[place[box.row]] = above, deep
            else:
                todo.append((box.members, count + len(listed), deep + 1))
                parent.append(above)
                depth.append(deep)
                listed.append(box)
            if box.feeders:
                todo.append((box.feeders, above, deep))
    root = len(parent)
    return listed, [root if above < 0 else above for above in parent] + [-1], [*depth, 0]


def spans_real_cycle(
    ring: list[int], listed: list[FlowBox], count: int, place: dict[int, int], real: Sequence[int]
) -> bool:
    """Return whether a real cycle has members in two boxes of this one."""
    seen: dict[int, int] = {}
    for member in ring:
        rows = [member] if member < count else [place[box.row] for box in rows_inside(listed[member - count])]
        for row in rows:
            if real[row] >= 0 and seen.setdefault(real[row], member) != member:
                return True
    return False


def rows_inside(top: FlowBox) -> list[FlowBox]:
    """Return all rows inside, feeders as separate rows."""
    rows: list[FlowBox] = []
    todo = [top]
    while todo:
        box = todo.pop()
        todo += [*box.members, *box.feeders]
        if box.row >= 0:
            rows.append(box)
    return rows


def replace_by_members(boxes: Sequence[FlowBox], lying: set[int]) -> list[FlowBox]:
    """Replace some groups by their members."""
    kept: list[FlowBox] = []
    for box in boxes:
        if id(box) in lying:
            kept += [*box.feeders, *replace_by_members(box.members, lying)]
        else:
            box.members = replace_by_members(box.members, lying)
            kept.append(box)
    return kept
