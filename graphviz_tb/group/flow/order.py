"""One order of a level along its flow, and the number of edges that cross each place of it.

The order is that of demand: from the deepest end backwards, for each box its inputs first, the deepest of them first.
So branches are contiguous, small inputs come just before their use, and equal blocks have equal order. The *cut* at a
place counts the boxes up to it that are used after it; where the cut is 1, the level is narrow:

a   b   c   d   e        edges a─▶b, b─▶c, b─▶d, c─▶d, d─▶e
  1   1   2   1          cuts: one box in use after a, b and d, two after c
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from graphviz_tb.algorithms.components import weak_components
from graphviz_tb.algorithms.topological import longest_path_lengths, topological_order
from graphviz_tb.group.flow.dag import Dag
from graphviz_tb.group.flow.everywhere import (
    MIN_COLLECTOR_DEPTHS,
    find_collectors,
    find_global_values,
    select_broadcasts,
    select_memories,
    with_ancestors,
)
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.later import Lazy

MIN_EQUAL_PATHS = 3  # sources with paths of equal length to one box, of which none is the stem
MIN_PART_SHARE = 0.1  # of the level that depends on a source makes it a separate part


@dataclass(frozen=True, slots=True, eq=False)
class FlowOrder:
    """Order of a level.

    line, place   boxes along the flow, and the place of each
    cut()[t]      number of boxes up to place t that are used after it
    broadcast     boxes used all over the level: they come first and count in no cut
    memory        results of a separate part used all over the rest (an encoder's): they count in no cut
    side          boxes that the deepest end does not need
    depth         longest path from a source to each box
    """

    line: list[int]
    place: list[int]
    cut: Lazy[list[int]]
    broadcast: frozenset[int]
    memory: frozenset[int]
    side: list[bool]
    depth: list[int]


def compute_flow_order(dag: Dag) -> FlowOrder:
    """Compute the order of demand, with cuts."""
    depth = box_depths(dag)
    # Broadcasts are found by places in an order: compute one without them, then one with them.
    line, place, side = order_by_demand(dag, depth, ())
    wide = find_global_values(dag, depth, place)
    broadcast = select_broadcasts(dag, wide)
    if broadcast:
        line, place, side = order_by_demand(dag, depth, broadcast)
    early = with_ancestors(dag, broadcast)
    memory = select_memories(dag, [box for box in wide if box not in broadcast], early, side)
    if memory:
        # Count a decoder's depth from its own beginning, not through the encoder that gives the memory.
        line, place, side = order_by_demand(dag, box_depths(dag, memory), broadcast, memory)
    cut = Lazy(lambda: count_crossing_lines(dag, depth, line, place, broadcast, memory))
    return FlowOrder(line, place, cut, frozenset(broadcast), frozenset(memory), side, depth)


def box_depths(dag: Dag, skip: Collection[int] = ()) -> list[int]:
    """Return the longest path from a source to each box; outputs of boxes in `skip` do not count."""
    return longest_path_lengths(dag.after, (box for box in topological_order(dag.after) if box not in skip))


def order_by_demand(
    dag: Dag, depth: list[int], first: Iterable[int], then: Iterable[int] = ()
) -> tuple[list[int], list[int], list[bool]]:
    """Return the order, the place of each box, and which are on the side.

    First `first` and what they need, then `then` and what these need, then the path to the deepest end; side outputs
    right after the last box they need, but never among the first.
    """
    sums = find_skip_sums(dag, depth)
    for skipping in (True, False) if sums else (False,):
        before = (
            [dag.before[box] if box not in sums else [sums[box]] for box in range(len(dag))] if skipping else dag.before
        )
        line, side = demand_order(dag, replace(dag, before=before), depth, first, then)
        place = inverse_places(line, len(dag))
        if all(place[source] < place[box] for box in sums for source in dag.before[box]):
            break
    return line, place, side


def find_skip_sums(dag: Dag, depth: list[int]) -> dict[int, int]:
    """Return boxes that sum inputs from many depths, with the deepest input of each.

    Each input is a path that leaves a box with further users: it belongs to the block that it leaves.
    """
    sums: dict[int, int] = {}
    for box, sources in enumerate(dag.before):
        if len(sources) < MIN_COLLECTOR_DEPTHS or len({depth[source] for source in sources}) < MIN_COLLECTOR_DEPTHS:
            continue
        if all(len(dag.after[source]) == 1 and dag.before[source] for source in sources):
            sums[box] = max(sources, key=lambda source: (depth[source], -source))
    return sums


def demand_order(
    dag: Dag, main: Dag, depth: list[int], first: Iterable[int], then: Iterable[int]
) -> tuple[list[int], list[bool]]:
    """Return the order, and which boxes are on the side; in `main`, such sums keep only their deepest input."""
    seen = [False] * len(dag)
    line: list[int] = []
    append_by_demand(main, depth, sorted(first, key=lambda box: (depth[box], box)), seen, line)
    head = len(line)
    append_by_demand(main, depth, sorted(then, key=lambda box: (depth[box], box)), seen, line)
    sinks = [box for box, users in enumerate(dag.after) if not users]
    if sinks:
        append_by_demand(main, depth, [max(sinks, key=lambda box: (depth[box], -box))], seen, line)
    side = [not reached for reached in seen]
    if len(line) < len(dag):  # only saves time
        line = insert_side_outputs(dag, depth, seen, line, head)
    return line, side


def append_by_demand(dag: Dag, depth: list[int], roots: Iterable[int], seen: list[bool], line: list[int]) -> None:
    """Append `roots` to the line, each after what it needs (depth first, in post-order)."""
    before, deep = dag.before, depth.__getitem__
    for root in roots:
        if seen[root]:
            continue
        seen[root] = True
        work = [(root, iter(sorted(before[root], key=deep, reverse=True)))]  # the path of the depth-first walk
        while work:
            box, rest = work[-1]
            for source in rest:
                if not seen[source]:
                    seen[source] = True
                    needs = before[source]
                    if len(needs) > 1:  # only saves time: most have a single one
                        needs = sorted(needs, key=deep, reverse=True)
                    work.append((source, iter(needs)))
                    break
            else:
                line.append(box)
                work.pop()


def insert_side_outputs(dag: Dag, depth: list[int], seen: list[bool], line: list[int], head: int) -> list[int]:
    """Insert boxes off the main path after the last box that they need, whole components together."""
    rest = [box for box in range(len(dag)) if not seen[box]]
    index, place = inverse_places(rest, len(dag)), inverse_places(line, len(dag))
    pairs = ((index[source], index[box]) for box in rest for source in dag.before[box] if index[source] >= 0)
    slots: dict[int, list[int]] = {}
    for component in weak_components(len(rest), pairs):
        boxes = [rest[number] for number in component]
        ends = [box for box in boxes if all(index[user] < 0 for user in dag.after[box])]
        in_order: list[int] = []
        append_by_demand(dag, depth, ends, seen, in_order)
        needed = max([place[source] for box in boxes for source in dag.before[box]], default=-1)
        slots.setdefault(max(needed, head - 1) if needed >= 0 else len(line) - 1, []).extend(in_order)
    made = slots.get(-1, [])
    for spot, box in enumerate(line):
        made.append(box)
        made.extend(slots.get(spot, ()))
    return made


def inverse_places(boxes: Sequence[int], count: int) -> list[int]:
    """Return the position in a list of each of `count` boxes; -1 if it is not there.

    >>> inverse_places([2, 0], 4)
    [1, -1, 0, -1]
    """
    places = [-1] * count
    for place, box in enumerate(boxes):
        places[box] = place
    return places


def ignore_far_lines(dag: Dag, order: FlowOrder, far: int) -> FlowOrder:
    """Return the order with cuts that ignore edges over `far` places or more, as features from a backbone to a head."""
    near = Lazy(
        lambda: count_crossing_lines(dag, order.depth, order.line, order.place, order.broadcast, order.memory, far)
    )
    return replace(order, cut=near)


def count_crossing_lines(
    dag: Dag,
    depth: list[int],
    line: list[int],
    place: list[int],
    broadcast: Collection[int],
    memory: Collection[int],
    far: int | None = None,
) -> list[int]:
    """Count the boxes at or before each place that are used after it, within `far` places.

    Broadcasts, memories and edges to collectors do not count. Before the last of several independent parts no place is
    narrow: the first of several towers is no stem.
    """
    count = len(dag)
    collectors = find_collectors(dag, depth)
    change = [0] * (count + 1)
    for box, users in enumerate(dag.after):
        if not users or box in broadcast or box in memory:
            continue
        if collectors:
            users = [user for user in users if user not in collectors]
        if far is not None:
            users = [user for user in users if place[user] - place[box] < far]
        last = max(map(place.__getitem__, users), default=-1)
        if last > place[box]:
            # `box` crosses each place from its own up to the one before its last user.
            change[place[box]] += 1
            change[last] -= 1
    change[0] += 1
    change[start_of_last_part(dag, line, broadcast)] -= 1
    return list(accumulate(change[:count]))


def start_of_last_part(dag: Dag, line: list[int], broadcast: Collection[int]) -> int:
    """Return where the last of several independent parts of some size, or of equal ones that meet first, begins; 0 if
    there is only one."""
    # `begin`: the place of the earliest source above a box; `size`, by that place: how many boxes depend on it.
    begin = [0] * len(line)  # by box
    size = [0] * len(line)
    starts: list[int] = []
    join = 0
    for position, box in enumerate(line):
        sources = dag.before[box]
        if broadcast:
            sources = [source for source in sources if source not in broadcast]
        begins = list(map(begin.__getitem__, sources))
        first = min(begins, default=position)
        if not join:
            if not sources:
                starts.append(position)
            elif max(begins) > first:
                join = position
        begin[box] = first
        size[first] += 1
    least = max(4, MIN_PART_SHARE * len(line))
    large = [position for position, held in enumerate(size) if held >= least]
    equal = (
        join > len(starts) >= MIN_EQUAL_PATHS and len({stop - start for start, stop in pairwise([*starts, join])}) == 1
    )
    return max(large[-1] if len(large) > 1 else 0, starts[-1] if equal else 0)
