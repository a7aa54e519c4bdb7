"""Loops of control flow v1, as written by TensorFlow 1 and as freezing lowers a `While`: one box each.

Each value that a loop carries is a separate cycle, Enter → Merge → Switch → body → NextIteration → Merge, and leaves by
an Exit; only the condition (LoopCond → Switch) joins the cycles. Extra edges between the loop's inputs and exits make
it a single cycle. Loops are found by op types and edges, not by names, so graphs without names have loops too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from graphviz_tb.fold.flow.box import FlowBox, walk_boxes, walk_groups
from graphviz_tb.graphs.traversal import strong_components, topological_order, weak_components
from graphviz_tb.limits import MAX_COUNTED_MODULES
from graphviz_tb.model.columns import sorted_value_range
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy
from graphviz_tb.ops.roles import (
    CONSTANT_OPS,
    FRAME_CONDITION_OPS,
    FRAME_ENTER_OPS,
    FRAME_EXIT_OPS,
    FRAME_MERGE_OPS,
    FRAME_SWITCH_OPS,
)

FRAME_SKELETON_OPS = FRAME_MERGE_OPS | FRAME_SWITCH_OPS | FRAME_ENTER_OPS | FRAME_EXIT_OPS | FRAME_CONDITION_OPS


def loop_closing_edges(
    ops: Sequence[str], before: Sequence[Iterable[int]], after: Sequence[Sequence[int]]
) -> list[tuple[int, int]]:
    """Return edges that make each loop of a level one cycle: from its exits to one input, from that to the rest.

    `ops` are the op types of the boxes, "" for groups. A level that is a loop and nothing around it gets none.
    """
    if not any(op in FRAME_ENTER_OPS for op in ops):
        return []
    pairs = []
    for carried, leaving in _loop_inputs_and_exits(ops, before, after):
        # Exits ─▶ first input ─▶ other inputs: everything between inputs and exits is now on one cycle.
        pairs += [(carried[0], enter) for enter in carried[1:]] + [(exit, carried[0]) for exit in leaving]
    if not pairs:
        return []
    ring = _loop_number_by_box(ops, after, pairs)
    pairs += _loop_invariant_edges(ops, before, ring)
    ring = _loop_number_by_box(ops, after, pairs)
    return (
        pairs
        if any(_touches_loop(box, ring, before, after) and op not in CONSTANT_OPS for box, op in enumerate(ops))
        else []
    )


def _touches_loop(
    box: int, ring: Sequence[int], before: Sequence[Iterable[int]], after: Sequence[Sequence[int]]
) -> bool:
    """Return whether a box outside all loops feeds or uses one."""
    return ring[box] < 0 and any(ring[other] >= 0 for other in (*before[box], *after[box]))


def _loop_inputs_and_exits(
    ops: Sequence[str], before: Sequence[Iterable[int]], after: Sequence[Sequence[int]]
) -> list[tuple[list[int], list[int]]]:
    """Return, for each loop, the inputs that it carries from turn to turn, and its exits."""
    # Not into an Enter or out of an Exit: there, consecutive and nested loops are joined.
    wires = [
        (source, target)
        for target, op in enumerate(ops)
        for source in (before[target] if op in FRAME_SKELETON_OPS else ())
        if ops[source] in FRAME_SKELETON_OPS and op not in FRAME_ENTER_OPS and ops[source] not in FRAME_EXIT_OPS
    ]
    loops = []
    for members in weak_components(len(ops), wires):
        carried = [
            box
            for box in members
            if ops[box] in FRAME_ENTER_OPS and any(ops[user] in FRAME_MERGE_OPS for user in after[box])
        ]
        leaving = [box for box in members if ops[box] in FRAME_EXIT_OPS]
        if carried and leaving:
            loops.append((carried, leaving))
    return loops


def _loop_number_by_box(
    ops: Sequence[str], after: Sequence[Sequence[int]], pairs: Iterable[tuple[int, int]]
) -> list[int]:
    """Return for each box the number of the loop's cycle that it is on, -1 for none."""
    more: dict[int, list[int]] = defaultdict(list)
    for source, target in pairs:
        more[source].append(target)
    component = strong_components([[*users, *more.get(box, ())] for box, users in enumerate(after)])
    loops = {component[box] for box, op in enumerate(ops) if op in FRAME_EXIT_OPS and box in more}
    return [number if number in loops else -1 for number in component]


def _loop_invariant_edges(
    ops: Sequence[str], before: Sequence[Iterable[int]], ring: Sequence[int]
) -> list[tuple[int, int]]:
    """Return for each input that a loop only reads, constant over its turns, an edge to it from the loop."""
    pairs = []
    first: dict[int, int] = {}
    for box, number in enumerate(ring):
        first.setdefault(number, box)
    seen = {box for box, number in enumerate(ring) if number >= 0}
    # Backwards from the cycles to the first Enter: ops before it are outside the loop.
    todo = [(source, ring[box]) for box in sorted(seen) if ops[box] not in FRAME_ENTER_OPS for source in before[box]]
    while todo:
        box, number = todo.pop()
        if box in seen:
            continue
        seen.add(box)
        if ops[box] in FRAME_ENTER_OPS:
            pairs.append((first[number], box))
        else:
            todo += [(source, number) for source in before[box]]
    return pairs


# Names for cycles among PyTorch modules that are no loops: a module that is called again is one scope.


def name_reused_modules(boxes: Iterable[FlowBox], hierarchy: Hierarchy) -> None:
    """Name cycles among modules after the module that is called most often, with the number of calls, in place."""
    loops = [box for box in walk_groups(list(boxes)) if box.how == GroupOrigin.LOOP]
    for box in loops if loops and hierarchy.graph.is_pytorch else ():
        rows = {row.row: row.name for row in walk_boxes(box.members) if row.row >= 0}
        times, row = _most_entered_row(hierarchy, list(rows))
        if times > 1:
            box.name = f"{rows[row]} used {times} times"


def _most_entered_row(hierarchy: Hierarchy, rows: Sequence[int]) -> tuple[int, int]:
    """Return how often a path of the flow enters one of some rows at most, and the row; (0, -1) if the flow has a
    cycle."""
    place = {
        int(node): row
        for row in rows
        for node in hierarchy.node[row : int(hierarchy.end[row])].tolist()
        if node >= 0  # groups have none
    }
    number = {node: index for index, node in enumerate(place)}
    inputs = [
        [number[source] for source in _node_sources(hierarchy, node) if source in number and source != node]
        for node in place
    ]
    after: list[list[int]] = [[] for _ in place]
    for user, sources in enumerate(inputs):
        for source in sources:
            after[source].append(user)
    order = topological_order(after)
    if len(order) < len(after):
        return 0, -1
    around = list(place.values())
    return max(
        ((_max_entries(row, order, inputs, around), row) for row in rows[:MAX_COUNTED_MODULES]),
        key=lambda pair: pair[0],
    )


def _node_sources(hierarchy: Hierarchy, node: int) -> list[int]:
    """Return the nodes whose outputs a node takes."""
    graph = hierarchy.graph
    sources: list[int] = graph.source[slice(*sorted_value_range(graph.target, node, node + 1))].tolist()
    return sources


def _max_entries(row: int, order: Sequence[int], inputs: Sequence[Sequence[int]], around: Sequence[int]) -> int:
    """Return how often a path enters a row at most.

    `order` is along the flow; node v takes from `inputs[v]` and is in the row `around[v]`.

    >>> _max_entries(7, [0, 1, 2], [[], [0], [1]], [7, 8, 7])  # 7 ─▶ 8 ─▶ 7
    2
    """
    entered = [0] * len(around)
    for node in order:
        inside = around[node] == row
        entered[node] = max(
            (entered[source] + (inside and around[source] != row) for source in inputs[node]), default=int(inside)
        )
    return max(entered, default=0)
