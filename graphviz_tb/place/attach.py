"""Where lines touch the boxes of one level."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.model.level import LevelGaps
from graphviz_tb.model.skeleton import Skeleton

CORNER_MARGIN = 8  # px from a corner to the nearest line, if there is room
MIN_LINES_TO_JOIN = 4  # so many lines of one kind to a box off the main path join
MIN_LINE_DISTANCE = 8  # px between two lines at a side, so that the main path may take its middle


def downward_chains(skeleton: Skeleton) -> list[tuple[int, ...]]:
    """Return the chain of each wire from its upper end to its lower end."""
    return [wire.chain[::-1] if wire.turned else wire.chain for wire in skeleton.wires]


def attach_lines(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    sizes: Sequence[tuple[int, int]],
    gaps: LevelGaps,
    buses: Sequence[int] = (),
) -> list[tuple[int, int]]:
    """Return for each wire how far from the left edge of its upper and its lower item it touches.

    `chains` run downward. At each side of a box lines leave in the order of the items they lead to, so that none cross
    needlessly; lines to a shared waypoint leave at one place; the main path has the middle; lines that arrive on one
    side of it with equal `buses` (by wire; -1: never) join under one arrow.
    """
    place = {item: number for part in skeleton.parts for row in part for number, item in enumerate(row)}
    main = set(skeleton.spine)
    sides: dict[tuple[int, int], dict[tuple[int, int], list[int]]] = {}
    for wire, chain in enumerate(chains):
        for end, item, other in ((0, chain[0], chain[1]), (1, chain[-1], chain[-2])):
            if item < skeleton.children:
                # Lines to one waypoint leave as one; each line straight to a box or a port leaves alone.
                trunk = -1 if other >= skeleton.first_waypoint else wire
                sides.setdefault((item, end), {}).setdefault((place[other], trunk), []).append(wire)
    offsets = [[0, 0] for _ in chains]
    for (item, end), wires in sides.items():
        keys = sorted(wires)
        middle = next((number for number, key in enumerate(keys) if main.intersection(wires[key])), -1)
        # Only lines that arrive from above join.
        kinds = [buses[wires[key][0]] if buses and end else -1 for key in keys]
        slots = shared_slots(kinds, middle)
        middle = slots[middle] if middle >= 0 else -1
        places = side_places(sizes[item][0], slots[-1] + 1, gaps.spread, middle)
        for key, slot in zip(keys, slots, strict=True):
            for wire in wires[key]:
                offsets[wire][end] = places[slot]
    return [(upper, lower) for upper, lower in offsets]


def shared_slots(kinds: Sequence[int], middle: int) -> list[int]:
    """Return the slot of each line at one side of a box, from left to right.

    Neighbours of one kind share a slot on either side of the main path (at `middle`), or if there are many.

    >>> shared_slots([0, 0, 0, 0], 2), shared_slots([0, 0, 1], -1), shared_slots([0, 0, 0, 0, 1, -1, -1], -1)
    ([0, 0, 1, 2], [0, 1, 2], [0, 0, 0, 0, 1, 2, 3])
    """
    join = middle >= 0 or len(kinds) >= MIN_LINES_TO_JOIN
    slots: list[int] = []
    for number, kind in enumerate(kinds):
        same = join and number and kind >= 0 and kind == kinds[number - 1] and middle != number and middle != number - 1
        slots.append(slots[-1] + (0 if same else 1) if number else 0)
    return slots


def side_places(width: int, count: int, step: int, middle: int = -1) -> list[int]:
    """Return `count` places around the middle of a side, `step` apart, closer on a short side.

    `middle` is the one on the exact middle (-1: none); if that leaves too little room, spread all evenly.

    >>> side_places(80, 3, 12)
    [28, 40, 52]
    >>> side_places(32, 3, 12)
    [8, 16, 24]
    >>> side_places(80, 3, 12, 0), side_places(80, 4, 12, 1)
    ([40, 52, 64], [28, 40, 52, 64])
    """
    most = max(middle, count - 1 - middle)
    if middle >= 0 and most * MIN_LINE_DISTANCE <= width // 2 - CORNER_MARGIN:
        step = min(step, (width // 2 - CORNER_MARGIN) // most) if most else 0
        return [width // 2 + (place - middle) * step for place in range(count)]
    if count > 1:
        room = max(width - 2 * CORNER_MARGIN, width // 2, 0)  # a short side gives up its margins
        step = min(step, room // (count - 1))
    start = width // 2 - (count - 1) * step // 2
    return [start + place * step for place in range(count)]
