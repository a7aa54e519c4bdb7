"""Broadcasts and memories: values that are used all over a level, so that they belong to no stretch of it.

mask ──┬───────┬───────┐          a broadcast needs only a few boxes itself: masks, shapes, ids
       ▼       ▼       ▼
     layer ─▶ layer ─▶ layer
       ▲       ▲       ▲
encoder┴───────┴───────┘          a memory is the only result of a part of the level: what an encoder gives

Both are read at many depths whose paths do not meet at once; otherwise the readers would be branches of one region. A
*collector* is the opposite: it takes inputs from many depths, as gradients and summaries do.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from graphviz_tb.group.flow.dag import Dag
from graphviz_tb.limits import MAX_SEARCHED_INPUTS

MIN_BROADCAST_READERS = 4  # readers, at as many depths
MIN_INPUT_READERS = 3  # the same for an input of the level
MIN_BROADCAST_LEVEL = 12  # boxes; smaller levels have none
MAX_BROADCAST_NEEDS = 8  # boxes that a broadcast may need, itself included
# users of a value, and boxes on the path from one: a projection has a dozen
MAX_SAMPLED_USERS, MAX_MEETING_STEPS = 64, 32
MIN_READER_SHARE = 0.25  # of a level: so many readers are its layers, or the steps of an unrolled cell
MIN_COLLECTOR_DEPTHS = 8  # inputs of a collector, from as many depths


def find_global_values(dag: Dag, depth: list[int], place: list[int]) -> list[int]:
    """Return boxes used at many depths all over the level: masks, shapes, ids, the result of an encoder."""
    if len(dag) < MIN_BROADCAST_LEVEL:
        return []
    return [
        box
        for box, users in enumerate(dag.after)
        if len(users) >= min_global_readers(dag, box)
        and is_spread_out(dag, place, users)
        and meets_at_many_depths(dag, depth, box)
    ]


def min_global_readers(dag: Dag, box: int) -> int:
    """Return the number of readers, at as many depths, that a value used all over the level has at least."""
    return MIN_BROADCAST_READERS if dag.before[box] else MIN_INPUT_READERS


def is_spread_out(dag: Dag, place: list[int], users: list[int]) -> bool:
    """Return whether boxes are far apart, or a large share of the level: its layers."""
    return place_span(place, users) >= len(dag) / 3 or len(users) >= MIN_READER_SHARE * len(dag)


def meets_at_many_depths(dag: Dag, depth: list[int], box: int) -> bool:
    """Return whether what is computed from a box alone meets other flow at several depths.

    Branches of one region, in contrast, all meet at its end.
    """
    users = dag.after[box]
    meetings: set[int] = set()
    for user in users[:: max(1, len(users) // MAX_SAMPLED_USERS)]:  # a sample, for values with thousands of readers
        meetings.add(meeting_depth(dag, depth, box, user))
        if len(meetings) >= min_global_readers(dag, box):
            return True
    return False


def meeting_depth(dag: Dag, depth: list[int], box: int, user: int) -> int:
    """Return the depth where the path of a box through one of its users meets other flow."""
    # `alone` is computed from `box` only; least depth first, so that a box is decided after all of its inputs.
    alone, todo = {box}, [(depth[user], user)]
    deep = depth[user]
    while todo and len(alone) <= MAX_MEETING_STEPS:
        deep, current = heapq.heappop(todo)
        if current in alone:
            continue
        if not alone.issuperset(dag.before[current]):  # other flow comes in here
            break
        alone.add(current)
        for other in dag.after[current]:
            heapq.heappush(todo, (depth[other], other))
    return deep


def select_broadcasts(dag: Dag, wide: list[int]) -> set[int]:
    """Return those of the boxes used all over the level that need few boxes themselves: masks, shapes, ids."""
    return boxes_needing_few(dag, wide, MAX_BROADCAST_NEEDS)


def select_memories(dag: Dag, wide: list[int], early: set[int], side: list[bool]) -> set[int]:
    """Return those of the boxes used all over the level that are the only results of a part of it.

    Several may come from one part, as the sines and cosines of positions do.
    """
    # Once for all boxes: in a dense level they share many sources.
    users = [len(users) - sum([side[user] for user in users]) for users in dag.after] if wide else []
    most = MAX_SEARCHED_INPUTS // max(1, len(wide))
    memory = {box for box in wide if is_self_contained(dag, [box], early, users, most)}
    rest = [box for box in wide if box not in memory]
    return memory.union(rest) if is_self_contained(dag, rest, early, users, MAX_SEARCHED_INPUTS) else memory


def is_self_contained(dag: Dag, boxes: list[int], early: set[int], users: list[int], most: int) -> bool:
    """Return whether all that `boxes` need, except `early`, feeds nothing else that the deepest end needs.

    `users` counts the users of each box that are not side outputs. False if more than `most` inputs would be visited.
    """
    given = set(boxes)
    left: dict[int, int] = {}
    todo = list(boxes)
    while todo:
        sources = dag.before[todo.pop()]
        most -= len(sources)
        if most < 0:
            return False
        for source in sources:
            if source in given or source in early:
                continue
            if source not in left:
                left[source] = users[source]  # users not accounted for; at 0 only `boxes` need it
            left[source] -= 1
            if not left[source]:
                todo.append(source)
    return not any(left.values())


def find_collectors(dag: Dag, depth: list[int]) -> set[int]:
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
    """Return boxes and all they need."""
    needed = set(boxes)
    todo = list(needed)
    while todo:
        for source in dag.before[todo.pop()]:
            if source not in needed:
                needed.add(source)
                todo.append(source)
    return needed


def boxes_needing_few(dag: Dag, boxes: Iterable[int], most: int) -> set[int]:
    """Return those of `boxes` that need at most `most` boxes, themselves included."""
    few: set[int] = set()
    many: set[int] = set()
    for box in boxes:
        (many if needs_more_than(dag, box, most, many) else few).add(box)
    return few


def needs_more_than(dag: Dag, box: int, most: int, many: set[int]) -> bool:
    """Return whether a box needs more than `most` boxes, itself included. All of `many` do, so whatever needs one does
    too."""
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
