"""Loops of control flow v1, as written by TensorFlow 1 and as freezing lowers a `While`: one box each.

Each value that a loop carries is a separate cycle, Enter → Merge → Switch → body → NextIteration → Merge, and leaves by
an Exit; only the condition (LoopCond → Switch) joins the cycles. Extra edges between the loop's inputs and exits make
it a single cycle. Loops are found by op types and edges, not by names, so graphs without names have loops too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from graphviz_tb.graphs.traversal import strong_components, weak_components
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
    """Return, for each loop, the inputs of its loop variables, and its exits."""
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
    """Return the number of the loop of each box, -1 for none."""
    more: dict[int, list[int]] = defaultdict(list)
    for source, target in pairs:
        more[source].append(target)
    component = strong_components([[*users, *more.get(box, ())] for box, users in enumerate(after)])
    loops = {component[box] for box, op in enumerate(ops) if op in FRAME_EXIT_OPS and box in more}
    return [number if number in loops else -1 for number in component]


def _loop_invariant_edges(
    ops: Sequence[str], before: Sequence[Iterable[int]], ring: Sequence[int]
) -> list[tuple[int, int]]:
    """Return an edge from each loop to each of its loop-invariant inputs."""
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
