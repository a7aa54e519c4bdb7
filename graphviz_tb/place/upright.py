"""Straighten lines that are nearly straight, because a line may end anywhere on a side of a closed box.

The order of the lines at each side stays as it is, and so does the place of the main path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from graphviz_tb.model.skeleton import LevelGaps, Skeleton, capped_wires
from graphviz_tb.place.columns import UNBOUNDED_X, RankNeighbours
from graphviz_tb.place.lanes import column_heads

CORNER_MARGIN = 8  # px from a line to the corner of a box
MAX_JOG_MOVE = 14  # px; a jog up to this length looks like a mistake
MIN_LINE_GAP = 8  # px between two lines at a side

WireTouch = tuple[int, int]  # where a wire touches its upper and its lower item, from the left edge of the item


def straighten_ends(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    ends: Sequence[WireTouch],
    lefts: Sequence[int],
    sides: Sequence[tuple[int, int]],
    gaps: LevelGaps,
    entries: Mapping[int, int],
) -> list[WireTouch]:
    """Return the places where wires touch their items, moved so that more wires are straight.

    `sides` are, by child, the ends of the side of its box, from the edge of its slot. Lines at a side of length 0 stay,
    and so do the ends in `entries`.
    """
    main = set(skeleton.main_path)
    touch = [[upper, lower] for upper, lower in ends]
    # The wires by item and side (0: lines leave below it, 1: lines come from above), then by place.
    groups: dict[tuple[int, int], dict[int, list[int]]] = {}
    capped = capped_wires(skeleton)
    for wire, chain in enumerate(chains):
        for end, item in ((1, chain[-1]), (0, chain[0])) if wire not in capped else ((0, chain[0]),):
            if item < skeleton.children and sides[item][0] < sides[item][1] and 2 * wire + end not in entries:
                groups.setdefault((item, end), {}).setdefault(ends[wire][end], []).append(wire)
    for (item, end), wires_by_place in groups.items():
        places = sorted(wires_by_place)
        wishes = [
            _wanted_x(_leading_wire(wires_by_place[place], main), end, chains, touch, lefts) - lefts[item]
            for place in places
        ]
        is_main = [bool(main.intersection(wires_by_place[place])) for place in places]
        settled = _move_to_wishes(places, wishes, is_main, sides[item], gaps)
        for place, x in zip(places, settled, strict=True):
            for wire in wires_by_place[place]:
                touch[wire][end] = x
    return [(upper, lower) for upper, lower in touch]


def reach_tracks(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    ends: Sequence[WireTouch],
    lefts: Sequence[int],
    widths: Sequence[int],
    steps: Sequence[Sequence[Sequence[int]]],
    entries: Mapping[int, int],
) -> list[WireTouch]:
    """Return the places where wires touch their items. The ends in `entries` (-1 left, 1 right) stay on their track if
    it is farther out and there is room beside the box.

    `steps` are, by part and rank, the least distances of neighbours.
    """
    touch = [*ends]
    heads = column_heads(skeleton)
    room = RankNeighbours(len(lefts))
    for part, part_steps in zip(skeleton.parts if entries else (), steps, strict=False):
        room.add_part(part, part_steps)
    for number, side in entries.items():
        wire, end = number // 2, number % 2
        chain = chains[wire]
        box, other = (chain[-1], chain[-2]) if end else (chain[0], chain[1])
        if box in heads:
            continue
        track = lefts[other] + (ends[wire][1 - end] if len(chain) == 2 else 0)
        if side > 0:
            beyond = room.right[box]
            most = lefts[beyond] - room.after[box] + widths[box] if beyond >= 0 else UNBOUNDED_X
            reached = lefts[box] + ends[wire][end] < track <= most
        else:
            beyond = room.left[box]
            least = lefts[beyond] + room.before[box] if beyond >= 0 else -UNBOUNDED_X
            reached = least <= track < lefts[box] + ends[wire][end]
        if reached:
            touch[wire] = (touch[wire][0], track - lefts[box]) if end else (track - lefts[box], touch[wire][1])
    return touch


def _leading_wire(wires: Sequence[int], main: Set[int]) -> int:
    """Return the wire that decides about the place of all wires that touch a box together."""
    return next((wire for wire in wires if wire in main), wires[0])


def _wanted_x(
    wire: int,
    end: int,
    chains: Sequence[tuple[int, ...]],
    touch: Sequence[Sequence[int]],
    lefts: Sequence[int],
) -> int:
    """Return the x of a wire at the rank next to the box that it touches."""
    chain = chains[wire]
    other = chain[-2] if end else chain[1]
    return lefts[other] + (touch[wire][1 - end] if len(chain) == 2 else 0)


def _move_to_wishes(
    places: Sequence[int], wishes: Sequence[int], is_main_line: Sequence[bool], side: tuple[int, int], gaps: LevelGaps
) -> list[int]:
    """Return the places of lines at a side, each as near to its wish as there is room.

    >>> _move_to_wishes([30, 40, 50], [10, 41, 90], [False, True, False], (0, 80), LevelGaps())
    [10, 41, 50]
    """
    x = [*places]
    middle = next((number for number, is_main in enumerate(is_main_line) if is_main), len(x) // 2)
    # Move the outermost lines first, to make room for the next.
    for number in (*range(middle), *range(len(x) - 1, middle, -1), middle if middle < len(x) else 0):
        low = x[number - 1] + MIN_LINE_GAP if number else min(x[0], side[0] + CORNER_MARGIN)
        high = x[number + 1] - MIN_LINE_GAP if number < len(x) - 1 else max(x[-1], side[1] - CORNER_MARGIN)
        near = abs(wishes[number] - x[number]) <= MAX_JOG_MOVE
        if low <= wishes[number] <= high and (near or not is_main_line[number]):
            x[number] = wishes[number]
    return x


def straighten_passing_lines(
    skeleton: Skeleton,
    chains: Sequence[tuple[int, ...]],
    ends: Sequence[WireTouch],
    lefts: list[int],
    steps: Sequence[Sequence[Sequence[int]]],
) -> None:
    """Move lines that pass ranks a little if that makes them straight up to their source or target.

    `steps` are, by part and rank, the least distances of neighbours.
    """
    room = RankNeighbours(len(lefts))
    for part, part_steps in zip(skeleton.parts, steps, strict=True):
        room.add_part(part, part_steps)
    users = [0] * len(lefts)
    for chain in chains:
        for item in chain[1:-1]:
            users[item] += 1
    for wire, chain in enumerate(chains):
        first = 1
        while first < len(chain) - 1:
            last = first
            while last < len(chain) - 2 and lefts[chain[last + 1]] == lefts[chain[first]]:
                last += 1
            if all(users[item] == 1 for item in chain[first : last + 1]):
                here = lefts[chain[first]]
                before = lefts[chain[first - 1]] + (ends[wire][0] if first == 1 else 0)
                after = lefts[chain[last + 1]] + (ends[wire][1] if last == len(chain) - 2 else 0)
                low = max(
                    lefts[room.left[item]] + room.before[item] if room.left[item] >= 0 else -UNBOUNDED_X
                    for item in chain[first : last + 1]
                )
                high = min(
                    lefts[room.right[item]] - room.after[item] if room.right[item] >= 0 else UNBOUNDED_X
                    for item in chain[first : last + 1]
                )
                goal = here
                for wish in (before, after):
                    if goal == here and wish != here and abs(wish - here) < MAX_JOG_MOVE and low <= wish <= high:
                        goal = wish
                # Do not move a line if that only moves the jog to its other end.
                if here not in (before, after) or before == after:
                    for item in chain[first : last + 1]:
                        lefts[item] = goal
            first = last + 1
