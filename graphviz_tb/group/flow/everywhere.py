"""Boxes of a level that are used all over it, and boxes that collect from all over it: no stretch of it holds them.

A *broadcast* needs little itself, a *memory* is the result of a part of the level that nothing else comes from.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from graphviz_tb.group.flow.dag import Dag
from graphviz_tb.limits import INPUTS_SEARCHED

BROADCAST = 4  # readers, at as many depths, of a value that is used all over the level
GIVEN = 3  # of an input of the level: what is read as often was given for all of it
BROADCAST_FROM = 12  # smaller levels have none
BROADCAST_NEEDS = 8  # boxes that such a value may need, itself included: results of longer computations are none
LOOKED_AT, FARTHEST = 64, 32  # users of such a value, and boxes on the way from one: a projection has a dozen
LAYERS = 0.25  # of a level: as many boxes that read one value are its layers, or the steps of an unrolled cell
COLLECTOR = 8  # inputs from as many depths, of what collects from all over the level


def read_everywhere(dag: Dag, depth: list[int], place: list[int]) -> list[int]:
    """Boxes used at many depths all over the level: masks, shapes, ids, what an encoder gives."""
    if len(dag) < BROADCAST_FROM:
        return []
    return [
        box
        for box, users in enumerate(dag.after)
        if len(users) >= readers(dag, box) and all_over(dag, place, users) and meets_often(dag, depth, box)
    ]


def readers(dag: Dag, box: int) -> int:
    """How many readers, at as many depths, make a value one that is used all over the level."""
    return BROADCAST if dag.before[box] else GIVEN


def all_over(dag: Dag, place: list[int], users: list[int]) -> bool:
    """Whether boxes lie far apart, or are much of the level themselves: its layers."""
    return spread(place, users) >= len(dag) / 3 or len(users) >= LAYERS * len(dag)


def meets_often(dag: Dag, depth: list[int], box: int) -> bool:
    """Whether what is worked out from a box alone meets other flow at several depths: all branches of one region
    meet at its end."""
    users = dag.after[box]
    meetings: set[int] = set()
    for user in users[:: max(1, len(users) // LOOKED_AT)]:  # a sample of those of a value with thousands of readers
        meetings.add(meeting(dag, depth, box, user))
        if len(meetings) >= readers(dag, box):
            return True
    return False


def meeting(dag: Dag, depth: list[int], box: int, user: int) -> int:
    """The depth where the way of a box through one of its users meets what else there is."""
    # `alone` is worked out from `box` only; least depth first, so that all inputs of a box are decided before it.
    alone, todo = {box}, [(depth[user], user)]
    deep = depth[user]
    while todo and len(alone) <= FARTHEST:
        deep, current = heapq.heappop(todo)
        if current in alone:
            continue
        if not alone.issuperset(dag.before[current]):  # something else comes in here
            break
        alone.add(current)
        for other in dag.after[current]:
            heapq.heappush(todo, (depth[other], other))
    return deep


def broadcasts(dag: Dag, wide: list[int]) -> set[int]:
    """Those of the boxes used all over the level that need little themselves: masks, shapes, ids."""
    return needing_few(dag, wide, BROADCAST_NEEDS)


def memories(dag: Dag, wide: list[int], early: set[int], side: list[bool]) -> set[int]:
    """Those of the boxes used all over the level that a part of it gives from which nothing else comes; several may
    come from one part, as the sines and cosines of positions do."""
    # Counted once: in a dense level many such boxes have many sources in common.
    users = [len(users) - sum([side[user] for user in users]) for users in dag.after] if wide else []
    most = INPUTS_SEARCHED // max(1, len(wide))
    memory = {box for box in wide if given_alone(dag, [box], early, users, most)}
    rest = [box for box in wide if box not in memory]
    return memory.union(rest) if given_alone(dag, rest, early, users, INPUTS_SEARCHED) else memory


def given_alone(dag: Dag, boxes: list[int], early: set[int], users: list[int], most: int) -> bool:
    """Whether all that `boxes` need, but for `early`, is needed by nothing else that the deepest end needs: by how many
    boxes each box is needed for that is `users`. Not where more than `most` inputs had to be looked at."""
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
                left[source] = users[source]  # those not accounted for; at 0 `boxes` alone need it
            left[source] -= 1
            if not left[source]:
                todo.append(source)
    return not any(left.values())


def find_collectors(dag: Dag, depth: list[int]) -> set[int]:
    """Boxes with inputs from many depths: gradients, summaries."""
    return {
        box
        for box, sources in enumerate(dag.before)
        if len(sources) >= COLLECTOR and len({depth[source] for source in sources}) >= COLLECTOR
    }


def spread(place: list[int], boxes: list[int]) -> int:
    """How far apart boxes lie."""
    places = [place[box] for box in boxes]
    return max(places) - min(places)


def ancestors(dag: Dag, boxes: Iterable[int]) -> set[int]:
    """Boxes and all they need."""
    needed = set(boxes)
    todo = list(needed)
    while todo:
        for source in dag.before[todo.pop()]:
            if source not in needed:
                needed.add(source)
                todo.append(source)
    return needed


def needing_few(dag: Dag, boxes: Iterable[int], most: int) -> set[int]:
    """Those of `boxes` that need no more than `most`, themselves included."""
    few: set[int] = set()
    many: set[int] = set()
    for box in boxes:
        (many if needs_more(dag, box, most, many) else few).add(box)
    return few


def needs_more(dag: Dag, box: int, most: int, many: set[int]) -> bool:
    """Whether a box needs more than `most`, itself included; all of `many` do, and so does what needs one of them."""
    needed, todo = {box}, [box]
    while todo:
        sources = dag.before[todo.pop()][: most + 1]  # each is there once
        if not many.isdisjoint(sources):
            return True
        new = [source for source in sources if source not in needed]
        needed.update(new)
        if len(needed) > most:
            return True
        todo += new
    return False
