"""Where lines touch the boxes of one level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphviz_tb.model.level import Gaps
from graphviz_tb.model.skeleton import Skeleton

MARGIN = 8  # no line nearer to a corner, where there is room
LEAST = 8  # px between two lines at a side, from which on the main path may claim its middle


def downward(skeleton: Skeleton) -> list[tuple[int, ...]]:
    """The chain of each wire from its upper end to its lower end."""
    return [wire.chain[::-1] if wire.turned else wire.chain for wire in skeleton.wires]


def attach(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    sizes: Sequence[tuple[int, int]],
    gaps: Gaps,
    anchors: Mapping[tuple[int, int], int],
) -> list[tuple[int, int]]:
    """For each wire, how far from the left edge of its upper and its lower item it touches.

    Before: `chains` run downward; `anchors` fixes ends at open children, by (wire, 0 at its source or 1 at its
    target). After: at each side of a box the lines leave in the order of the items they go to, so that no two
    cross needlessly; lines to a shared waypoint leave at one place; the main path has the middle.
    """
    place = {item: at for part in skeleton.parts for row in part for at, item in enumerate(row)}
    main = set(skeleton.spine)
    sides: dict[tuple[int, int], dict[tuple[int, int], list[int]]] = {}
    for wire, chain in enumerate(chains):
        for end, item, other in ((0, chain[0], chain[1]), (1, chain[-1], chain[-2])):
            if item < skeleton.children:
                trunk = -1 if other >= skeleton.first_waypoint else wire
                sides.setdefault((item, end), {}).setdefault((place[other], trunk), []).append(wire)
    offsets = [[0, 0] for _ in chains]
    for (item, end), found in sides.items():
        keys = sorted(found)
        middle = next((at for at, key in enumerate(keys) if main.intersection(found[key])), -1)
        for key, offset in zip(keys, spread(sizes[item][0], len(keys), gaps.spread, middle), strict=True):
            for wire in found[key]:
                offsets[wire][end] = offset
    for (wire, end), offset in anchors.items():
        if wire < len(chains):
            offsets[wire][end ^ skeleton.wires[wire].turned] = offset
    return [(upper, lower) for upper, lower in offsets]


def spread(width: int, count: int, step: int, middle: int = -1) -> list[int]:
    """`count` places round the middle of a side, `step` apart, nearer where the side is short.

    `middle` is the one that has the middle itself (-1: none); where that leaves too little room for the others, they
    stand evenly.

    >>> spread(80, 3, 12)
    [28, 40, 52]
    >>> spread(32, 3, 12)
    [8, 16, 24]
    >>> spread(80, 3, 12, 0), spread(80, 4, 12, 1)
    ([40, 52, 64], [28, 40, 52, 64])
    """
    most = max(middle, count - 1 - middle)
    if middle >= 0 and most * LEAST <= width // 2 - MARGIN:
        step = min(step, (width // 2 - MARGIN) // most) if most else 0
        return [width // 2 + (place - middle) * step for place in range(count)]
    if count > 1:
        room = max(width - 2 * MARGIN, width // 2, 0)
        step = min(step, room // (count - 1))
    start = width // 2 - (count - 1) * step // 2
    return [start + place * step for place in range(count)]
