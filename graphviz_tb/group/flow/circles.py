"""Break cycles in the flow of a level: a single busy box that closes them moves aside, other cycles become one box.

A hub, such as a shared state or a saver, has far more neighbours than the rest of its cycle. Without it the rest is
mostly acyclic and can be folded along its flow.
"""

from __future__ import annotations

from collections.abc import Callable

from graphviz_tb.group.flow.box import FlowBox, SymbolTable, make_group
from graphviz_tb.group.flow.dag import find_cycles
from graphviz_tb.group.flow.sorting import FlowSorting
from graphviz_tb.model.hierarchy import GroupOrigin

MIN_HUB_RATIO = 3  # neighbours of a hub, to the median of its cycle
MAX_HUB_ROUNDS = 12  # a level that needs more keeps its cycles


def break_flow_cycles(level: FlowSorting, asked: Callable[[int], bool]) -> None:
    """Move hubs of cycles aside, and requested series on cycles (`asked`); record the remaining cycles."""
    looping = {box for pair in level.back for box in pair}
    for _ in range(MAX_HUB_ROUNDS):
        level.rings = remaining_cycles(level)
        hubs = {box for ring in level.rings for box in ring if asked(box)}
        # A control flow v1 loop becomes one box, whatever hubs it has.
        plain = [ring for ring in level.rings if looping.isdisjoint(ring)]
        hubs |= {hub for ring in plain if (hub := find_hub(ring, level)) is not None}
        if not hubs:
            return
        level.away |= hubs
        level.busy |= {box for box in hubs if level.boxes[box].scope}
    level.rings = remaining_cycles(level)


def remaining_cycles(level: FlowSorting) -> list[list[int]]:
    """Return the cycles of the remaining boxes; variables close none."""
    away, variable = level.away, level.variable
    if not away and not any(variable) and not level.back:
        return find_cycles(level.after)
    after = [[] if box in away or variable[box] else level.flow_users(box) for box in range(len(level.boxes))]
    for source, target in level.back:
        after[source] = [*after[source], target]
    return find_cycles(after)


def find_hub(ring: list[int], level: FlowSorting) -> int | None:
    """Return the box of a cycle with far more neighbours than the rest; None if there is none."""
    degree = {box: len(level.before[box]) + len(level.after[box]) for box in ring}
    busiest = max(ring, key=lambda box: (degree[box], -box))  # the first on a tie
    median = sorted(degree.values())[len(ring) // 2]
    return busiest if degree[busiest] > MIN_HUB_RATIO * median else None


def make_loop_box(boxes: list[FlowBox], symbols: SymbolTable) -> FlowBox:
    """Fold a cycle to one box."""
    return make_group(GroupOrigin.LOOP, boxes, symbols.symbol_of("loop", *sorted(box.symbol for box in boxes)), "loop")
