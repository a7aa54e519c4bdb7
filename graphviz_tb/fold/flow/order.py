"""One order of a level along its flow, and the number of edges that cross each place of it.

The order is a depth-first post-order from the deepest output: for each box first its inputs, the deepest of them first.
So branches are contiguous, small inputs come just before their use, and equal blocks have equal order. The *cut* at a
place counts the boxes up to it that are used after it; where the cut is 1, the level is narrow:

a   b   c   d   e        edges a─▶b, b─▶c, b─▶d, c─▶d, d─▶e
  1   1   2   1          cuts: one box in use after a, b and d, two after c
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from operator import itemgetter

from graphviz_tb.caches import Lazy
from graphviz_tb.fold.flow.box import Dag, SymbolTable, has_single_entry
from graphviz_tb.graphs.traversal import longest_path_lengths, reachable_from, topological_order, weak_components
from graphviz_tb.limits import MAX_SEARCHED_INPUTS
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.ops.roles import INPUT_OPS

# Broadcasts and memories: values that are used all over a level, and so belong to no stretch of it.
#
# mask ──┬───────┬───────┐          a broadcast needs only a few boxes itself: masks, shapes, ids
#        ▼       ▼       ▼
#      layer ─▶ layer ─▶ layer
#        ▲       ▲       ▲
# encoder┴───────┴───────┘          a memory is the only result of a part of the level: the output of an encoder
#
# Both are read at many depths, and the paths from these readers meet other flow at different depths; otherwise the
# readers are branches of one region. A *collector* is the opposite: its inputs come from many depths (gradients,
# summaries).

MIN_BROADCAST_READERS = 4  # readers, at as many depths
MIN_MEMORY_READERS = 3  # of a memory or an input of the level
MIN_BROADCAST_LEVEL = 12  # rows; smaller levels have no broadcasts
MAX_BROADCAST_NEEDS = 8  # boxes that a broadcast may need, itself included
MAX_GIVEN_VALUES = 8  # boxes before the first input that depend on no input; more are part of the network
# users of a value that are examined, and boxes on the path from one (a projection has a dozen)
MAX_SAMPLED_USERS, MAX_MEETING_STEPS = 64, 32
MIN_SPAN_PART = 8  # the readers of a value span at least this fraction of the level (1/8)
MIN_BLOCKS = 3  # blocks that each compute a value for themselves
MIN_COLLECTOR_DEPTHS = 8  # inputs of a collector, from as many depths


def _find_global_values(dag: Dag, depth: list[int], place: list[int]) -> list[int]:
    """Return boxes used at many depths all over the level: masks, shapes, ids, the result of an encoder."""
    # A group counts as its ops: a recurrent cell is not small.
    if len(dag) < MIN_BROADCAST_LEVEL and sum(box.ops if box.row < 0 else 1 for box in dag.boxes) < MIN_BROADCAST_LEVEL:
        return []
    spread = [
        box
        for box, users in enumerate(dag.after)
        if len(users) >= MIN_MEMORY_READERS and place_span(place, users) >= len(dag) / MIN_SPAN_PART
    ]
    own = _values_of_blocks(dag, place, spread)
    spread = [box for box in spread if box not in own]
    small = boxes_needing_few(dag, spread, MAX_BROADCAST_NEEDS)
    return [box for box in spread if _meets_at_many_depths(dag, depth, box, small)]


def _values_of_blocks(dag: Dag, place: list[int], boxes: list[int]) -> set[int]:
    """Return `boxes`, and equal ones, that are read in disjoint stretches: each block computes its value.

    The scales and shifts of a diffusion transformer are such values (Peebles & Xie 2023).
    """
    alike: dict[tuple[int, int], list[tuple[int, int, int]]] = {
        (dag.boxes[box].symbol, len(dag.after[box])): [] for box in boxes
    }
    for box, users in enumerate(dag.after) if alike else ():
        if users and (spans := alike.get((dag.boxes[box].symbol, len(users)))) is not None:
            places = [place[user] for user in users]
            spans.append((min(places), max(places), box))
    found: set[int] = set()
    for spans in alike.values():
        if len(spans) >= MIN_BLOCKS and all(one[1] < two[0] for one, two in pairwise(sorted(spans))):
            found.update(box for _, _, box in spans)
    return found


def _meets_at_many_depths(dag: Dag, depth: list[int], box: int, small: Collection[int]) -> bool:
    """Return whether the paths from a box meet other flow at several depths; branches of a region meet at its end."""
    users = dag.after[box]
    meetings: set[int] = set()
    for user in users[:: max(1, len(users) // MAX_SAMPLED_USERS)]:  # a sample, for values with thousands of readers
        meetings.add(_meeting_depth(dag, depth, box, user, small))
        if len(meetings) >= MIN_MEMORY_READERS:
            return True
    return False


def _meeting_depth(dag: Dag, depth: list[int], box: int, user: int, small: Collection[int] = ()) -> int:
    """Return the depth at which the path from a box through one of its users meets other flow.

    `small` values are not other flow: each layer adds a position bias to a mask.
    """
    # Boxes computed from `box` alone. Least depth first: all inputs of a box are decided before it.
    alone, todo = {box}, [(depth[user], user)]
    deep = depth[user]
    while todo and len(alone) <= MAX_MEETING_STEPS:
        deep, current = heapq.heappop(todo)
        if current in alone:
            continue
        if any(source not in alone and source not in small for source in dag.before[current]):
            break
        alone.add(current)
        for later in dag.after[current]:
            heapq.heappush(todo, (depth[later], later))
    return deep


def _select_broadcasts(dag: Dag, wide: list[int]) -> set[int]:
    """Return the boxes of `wide` that depend on few boxes: masks, shapes, ids."""
    often = (box for box in wide if not dag.before[box] or len(dag.after[box]) >= MIN_BROADCAST_READERS)
    return boxes_needing_few(dag, often, MAX_BROADCAST_NEEDS)


def _select_memories(dag: Dag, wide: list[int], early: set[int], side: list[bool]) -> set[int]:
    """Return the boxes of `wide` that are the only results of a part of the level.

    One part may have several results: the sines and cosines of positions.
    """
    # Once for all boxes: in a dense level they share many sources.
    users = [len(users) - sum([side[user] for user in users]) for users in dag.after] if wide else []
    most = MAX_SEARCHED_INPUTS // max(1, len(wide))
    memory = {box for box in wide if _is_self_contained(dag, [box], early, users, most)}
    rest = [box for box in wide if box not in memory]
    return memory.union(rest) if _is_self_contained(dag, rest, early, users, MAX_SEARCHED_INPUTS) else memory


def _is_self_contained(dag: Dag, boxes: list[int], early: set[int], users: list[int], most: int) -> bool:
    """Return whether the ancestors of `boxes`, except `early`, feed only `boxes`, each other and side outputs.

    `users` counts the users of each box that are not side outputs. False if more than `most` inputs would be visited.
    """
    fed_boxes = set(boxes)
    remaining_users: dict[int, int] = {}
    todo = list(boxes)
    while todo:
        sources = dag.before[todo.pop()]
        most -= len(sources)
        if most < 0:
            return False
        for source in sources:
            if source in fed_boxes or source in early:
                continue
            if source not in remaining_users:
                remaining_users[source] = users[source]  # users not accounted for; at 0 only `boxes` need it
            remaining_users[source] -= 1
            if not remaining_users[source]:
                todo.append(source)
    return not any(remaining_users.values())


def _find_collectors(dag: Dag, depth: list[int]) -> set[int]:
    """Return boxes with inputs from many depths: gradients, summaries."""
    return {
        box
        for box, sources in enumerate(dag.before)
        if len(sources) >= MIN_COLLECTOR_DEPTHS and len({depth[source] for source in sources}) >= MIN_COLLECTOR_DEPTHS
    }


def place_span(place: list[int], boxes: list[int]) -> int:
    """Return the distance along the line between the first and the last of some boxes."""
    places = [place[box] for box in boxes]
    return max(places) - min(places)


def with_ancestors(dag: Dag, boxes: Iterable[int]) -> set[int]:
    """Return boxes and their ancestors."""
    return reachable_from(boxes, dag.before.__getitem__)


def boxes_needing_few(dag: Dag, boxes: Iterable[int], most: int) -> set[int]:
    """Return the `boxes` with at most `most` ancestors, themselves included."""
    few: set[int] = set()
    many: set[int] = set()
    for box in boxes:
        (many if _needs_more_than(dag, box, most, many) else few).add(box)
    return few


def _needs_more_than(dag: Dag, box: int, most: int, many: set[int]) -> bool:
    """Return whether a box has more than `most` ancestors, itself included; all of `many` have."""
    needed, todo = {box}, [box]
    while todo:
        sources = dag.before[todo.pop()][: most + 1]  # each occurs once
        if not many.isdisjoint(sources):
            return True
        new = [source for source in sources if source not in needed]
        needed.update(new)
        if len(needed) > most:
            return True
        todo += new
    return False


MIN_EQUAL_PATHS = 3  # paths of equal length that meet in one box: parallel inputs, not a stem
MIN_PART_SHARE = 0.1  # of the level depends on a source that begins a separate part


@dataclass(frozen=True, slots=True, eq=False)
class FlowOrder:
    """Order of a level along its flow.

    line, place   boxes along the flow, and the place of each
    cut()[t]      number of boxes up to place t that are used after it
    broadcast     boxes used all over the level: they come first and count in no cut
    memory        results of a separate part used all over the rest (an encoder's): they count in no cut
    side          which boxes the deepest output does not depend on
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
    line, place, side = _order_by_demand(dag, depth, ())
    wide = _find_global_values(dag, depth, place)
    broadcast = _select_broadcasts(dag, wide)
    if broadcast:
        # The path of a condition for all blocks may be longer than that of the input of the first block.
        line, place, side = _order_by_demand(dag, box_depths(dag, broadcast), broadcast)
    early = with_ancestors(dag, broadcast)
    memory = _select_memories(dag, [box for box in wide if box not in broadcast], early, side)
    if memory:
        # The depth of a decoder counts from its first box, not through the encoder.
        line, place, side = _order_by_demand(dag, box_depths(dag, broadcast | memory), broadcast, memory)
    cut = Lazy(lambda: count_crossing_lines(dag, depth, line, place, broadcast, memory))
    return FlowOrder(line, place, cut, frozenset(broadcast), frozenset(memory), side, depth)


def box_depths(dag: Dag, skip: Collection[int] = ()) -> list[int]:
    """Return the longest path from a source to each box; outputs of boxes in `skip` do not count."""
    return longest_path_lengths(dag.after, (box for box in topological_order(dag.after) if box not in skip))


def _order_by_demand(
    dag: Dag, depth: list[int], first: Iterable[int], then: Iterable[int] = ()
) -> tuple[list[int], list[int], list[bool]]:
    """Return the order, the place of each box, and which boxes are side outputs.

    The ancestors of `first` come first, then those of `then`, then those of the deepest output. Side outputs come right
    after the last box that they need, but never among the first.
    """
    sums = _find_skip_sums(dag, depth)
    for skipping in (True, False) if sums else (False,):
        before = (
            [dag.before[box] if box not in sums else [sums[box]] for box in range(len(dag))] if skipping else dag.before
        )
        line, side = _demand_order(dag, replace(dag, before=before), depth, first, then)
        place = inverse_places(line, len(dag))
        if all(place[source] < place[box] for box in sums for source in dag.before[box]):
            break
    return line, place, side


def _find_skip_sums(dag: Dag, depth: list[int]) -> dict[int, int]:
    """Return boxes with inputs from many depths that nobody else uses (sums of skips), each with its deepest input.

    The other inputs belong to the blocks that they come from.
    """
    sums: dict[int, int] = {}
    for box, sources in enumerate(dag.before):
        if len(sources) < MIN_COLLECTOR_DEPTHS or len({depth[source] for source in sources}) < MIN_COLLECTOR_DEPTHS:
            continue
        if all(len(dag.after[source]) == 1 and dag.before[source] for source in sources):
            sums[box] = max(sources, key=lambda source: (depth[source], -source))
    return sums


def _demand_order(
    dag: Dag, main: Dag, depth: list[int], first: Iterable[int], then: Iterable[int]
) -> tuple[list[int], list[bool]]:
    """Return the order, and which boxes are side outputs; in `main`, sums of skips have only their deepest input."""
    seen = [False] * len(dag)
    line: list[int] = []
    _append_by_demand(main, depth, sorted(first, key=lambda box: (depth[box], box)), seen, line)
    head = len(line)
    _append_by_demand(main, depth, sorted(then, key=lambda box: (depth[box], box)), seen, line)
    sinks = [box for box, users in enumerate(dag.after) if not users]
    if sinks:
        _append_by_demand(main, depth, [max(sinks, key=lambda box: (depth[box], -box))], seen, line)
    side = [not reached for reached in seen]
    if len(line) < len(dag):  # only saves time
        line = _insert_side_outputs(dag, depth, seen, line, head)
    return line, side


def _append_by_demand(dag: Dag, depth: list[int], roots: Iterable[int], seen: list[bool], line: list[int]) -> None:
    """Append `roots` and their ancestors to the line, depth first, in post-order."""
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


def _insert_side_outputs(dag: Dag, depth: list[int], seen: list[bool], line: list[int], head: int) -> list[int]:
    """Insert boxes off the main path after the last box that they need, whole components together."""
    rest = [box for box in range(len(dag)) if not seen[box]]
    index, place = inverse_places(rest, len(dag)), inverse_places(line, len(dag))
    pairs = ((index[source], index[box]) for box in rest for source in dag.before[box] if index[source] >= 0)
    found: list[tuple[list[int], list[int]]] = []
    for component in weak_components(len(rest), pairs):
        boxes = [rest[number] for number in component]
        ends = [box for box in boxes if all(index[user] < 0 for user in dag.after[box])]
        in_order: list[int] = []
        _append_by_demand(dag, depth, sorted(ends, key=depth.__getitem__), seen, in_order)
        needed = [place[source] for box in boxes for source in dag.before[box] if place[source] >= 0]
        found.append((sorted(needed, reverse=True), in_order))
    slots: dict[int, list[int]] = {}
    # Several after one box are ordered by their other inputs.
    for needed, in_order in sorted(found, key=itemgetter(0)):
        slots.setdefault(max(needed[0], head - 1) if needed else len(line) - 1, []).extend(in_order)
    order = slots.get(-1, [])
    for spot, box in enumerate(line):
        order.append(box)
        order.extend(slots.get(spot, ()))
    return order


def inverse_places(boxes: Sequence[int], count: int) -> list[int]:
    """Return the position of each of `count` boxes in a list, -1 if it is missing.

    >>> inverse_places([2, 0], 4)
    [1, -1, 0, -1]
    """
    places = [-1] * count
    for place, box in enumerate(boxes):
        places[box] = place
    return places


def ignore_far_lines(dag: Dag, order: FlowOrder, far: int) -> FlowOrder:
    """Return the order with cuts that ignore edges over `far` places or more: features from a backbone to a head."""
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
    narrow: the first of several towers is not a stem.
    """
    count = len(dag)
    collectors = _find_collectors(dag, depth)
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
    change[_start_of_last_part(dag, line, broadcast)] -= 1
    return list(accumulate(change[:count]))


def _start_of_last_part(dag: Dag, line: list[int], broadcast: Collection[int]) -> int:
    """Return where the last independent part begins: of several large ones, or of equal paths that meet first.

    If there is only one part, where it begins. Values that depend on no input (the scales of a norm) do not count.
    """
    # `begin`: the place of the earliest beginning above a box, -1 if none; `size`, by that place: how many boxes depend
    # on it.
    start_above = [-1] * len(line)  # by box
    size = [0] * len(line)
    starts: list[int] = []
    inputs = _program_inputs(dag)
    join = 0
    for position, box in enumerate(line):
        sources = dag.before[box]
        if broadcast:
            sources = [source for source in sources if source not in broadcast]
        begins = [start_above[source] for source in sources if start_above[source] >= 0]
        if not sources and (dag.before[box] or box in inputs or not inputs):
            begins = [position]
        if not begins:
            continue
        first = min(begins)
        if not join:
            if first == position:
                starts.append(position)
            elif max(begins) > first:
                join = position
        start_above[box] = first
        size[first] += 1
    min_size = max(4, MIN_PART_SHARE * len(line))
    large = [position for position, box_count in enumerate(size) if box_count >= min_size]
    equal = (
        join > len(starts) >= MIN_EQUAL_PATHS and len({stop - start for start, stop in pairwise([*starts, join])}) == 1
    )
    first = starts[0] if starts and starts[0] <= MAX_GIVEN_VALUES else 0
    return max(large[-1] if len(large) > 1 else first, starts[-1] if equal else 0)


def _program_inputs(dag: Dag) -> set[int]:
    """Return the inputs of a whole level: input ops, and scopes without sources."""
    if dag.outside is not None:
        return set()
    return {
        box for box, given in enumerate(dag.boxes) if not dag.before[box] and (not given.op or given.op in INPUT_OPS)
    }


# Tokens: a number for each box with the distances to its inputs, so that equal runs are equal structures.
#
# a ─▶ b ─▶ b ─▶ b        tokens: (a), (b, 1), (b, 1), (b, 1): three equal boxes, each fed from right before it

MAX_TOKEN_DISTANCE = 64  # longer distances are all equal
BROADCAST_TOKEN, DISTANT_TOKEN, OUTSIDE_TOKEN = -1, -2, -3  # instead of a distance


def box_tokens(dag: Dag, order: FlowOrder, symbols: SymbolTable, far: int = MAX_TOKEN_DISTANCE) -> list[int]:
    """Return one number for each box, along the order.

    A token combines the symbol and the sorted distances to the inputs. Side outputs in between do not count, so that
    they change nothing for the next block. A single source outside counts as right before the first box; of several
    only their number counts.
    """
    single = dag.outside is not None and has_single_entry(dag.outside)
    steps = _main_path_steps(order)
    numbers = []
    for position, box in enumerate(order.line):
        inputs = [_source_distance(order, steps, box, source, far) for source in dag.before[box]]
        if dag.outside is not None:
            entry = (position + 1 if position + 1 < far else DISTANT_TOKEN) if single else OUTSIDE_TOKEN
            inputs += [entry] * len(dag.outside[box])
        elif position == 0 and not inputs and (dag.boxes[box].ops > 1 or dag.boxes[box].scope):
            inputs = [1]  # from outside the level; equal boxes later are fed from right before them
        numbers.append(symbols.symbol_of("token", dag.boxes[box].symbol, order.side[box], *sorted(inputs)))
    return numbers


def _main_path_steps(order: FlowOrder) -> list[int]:
    """Return for each box the number of boxes before it that are not side outputs."""
    steps, count = [0] * len(order.line), 0
    for box in order.line:
        steps[box] = count
        count += not order.side[box]
    return steps


def _source_distance(order: FlowOrder, steps: list[int], box: int, source: int, far: int) -> int:
    """Return the distance to a source: along the main path in its steps, for side outputs in places of the line."""
    if source in order.broadcast or source in order.memory:
        return BROADCAST_TOKEN
    # Side outputs are not steps of the main path, so between two of them count places.
    places = order.place if order.side[box] else steps
    back = places[box] - places[source]
    return back if back < far else DISTANT_TOKEN
