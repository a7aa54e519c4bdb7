"""Cut the ranks of a level so that its columns fill a sheet best.

`wrap` uses nominal sizes; this module uses the sizes of a first picture.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import accumulate, pairwise

from graphviz_tb.arrange.column_inputs import InputTrees
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.skeleton import Skeleton

MAX_JOINT_LINES = 3  # more lines from column to column are hard to follow
MAX_JOINT_RAILS = 1  # two thin lines beside them would meet other boxes
GUTTER_PX = 40  # between two columns, in addition to lines
MAX_CLOSED_BOX_PX = 60  # a box that is longer along the flow is open
TURN_PX, LINE_STEP_PX = 26, 12  # for a line to turn below a column and above the next; between two lines


@dataclass(frozen=True, slots=True)
class RankExtent:
    """A rank in pixels: its length along the flow, the gap to the next, and its extent across (`low` to `high`)."""

    length: int
    gap: int
    low: int
    high: int


def longest_part(skeleton: Skeleton) -> int:
    """Return the part of a level that may be broken into columns; -1 if there is none."""
    if skeleton.plain or not skeleton.parts or skeleton.falling:
        return -1
    return max(range(len(skeleton.parts)), key=lambda part: (len(skeleton.parts[part]), -part))


def column_joints(skeleton: Skeleton, part: int, stacks: Container[int] = (), thin: Container[int] = ()) -> list[int]:
    """Return the ranks of a part before which it may be cut.

    At most one `thin` line (a rail) may pass there, and besides only one line, or few lines that all lead to the same
    one of `stacks`. Lines that share waypoints count once.
    """
    rows = skeleton.parts[part]
    rank = {item: r for r, row in enumerate(rows) for item in row}
    passing: list[set[tuple[int, int]]] = [set() for _ in rows]
    rails: list[set[tuple[int, int]]] = [set() for _ in rows]
    targets_below: list[set[int]] = [set() for _ in rows]
    from_above = [0 for _ in rows]  # by rank of a stack, the lines from boxes that are placed right above it
    chains = [wire.chain[::-1] if wire.turned else wire.chain for wire in skeleton.wires]
    trees = InputTrees(chains)
    for number, chain in enumerate(chains):
        if chain[0] not in rank:
            continue
        lines = rails if number in thin else passing
        for step, r in enumerate(range(rank[chain[0]] + 1, rank[chain[-1]] + 1)):
            # Two lines share a link only between waypoints.
            shared = 0 < step < len(chain) - 2
            lines[r].add((chain[step], chain[step + 1]) if shared else (-1 - len(lines[r]), r))
            if lines is passing:
                targets_below[r].update(chain[-1:] if chain[-1] < skeleton.children else ())
        if chain[-1] in stacks and 2 * trees.depth(number) <= rank[chain[-1]]:
            from_above[rank[chain[-1]]] += 1
    # Do not cut where the main path enters the level: it would lead around a column of boxes that only join it.
    main = {skeleton.wires[wire].chain[0]: chains[wire] for wire in skeleton.main_path}
    entering = [chain for start, chain in main.items() if start >= skeleton.children and start in rank]
    main_ranks = {r for chain in entering for r in range(rank[chain[0]] + 2, rank[chain[-1]] + 1)}
    # Ports are on the frame and stay with the rank that they feed.
    ports = [skeleton.children <= row[0] < skeleton.first_waypoint for row in rows]
    joints = []
    for r in range(1, len(rows)):
        leads_to_stack = (
            0 < len(passing[r]) - from_above[r] <= MAX_JOINT_LINES
            and len(targets_below[r]) == 1
            and all(item in stacks for item in targets_below[r])
            and r not in main_ranks
        )
        near_port = ports[r] or (r == 1 and ports[0])
        if (len(passing[r]) == 1 or leads_to_stack) and len(rails[r]) <= MAX_JOINT_RAILS and not near_port:
            joints.append(r)
    return joints


def cut_into_columns(ranks: Sequence[RankExtent], allowed: Sequence[int], columns: int) -> tuple[int, ...]:
    """Return the ranks at which columns begin, such that at most `columns` are as short as possible.

    >>> cut_into_columns([RankExtent(30, 10, 0, 80)] * 6, [1, 2, 3, 4, 5], 2)
    (3,)
    """
    ends = [*accumulate(rank.length + rank.gap for rank in ranks)]
    starts = [0, *ends[:-1]]
    low, high = max(rank.length for rank in ranks), ends[-1]
    best: tuple[int, ...] = ()
    while low <= high:
        most = (low + high) // 2
        breaks = _fill_columns(ranks, starts, allowed, most)
        if breaks is not None and len(breaks) < columns:
            best, high = breaks, most - 1
        else:
            low = most + 1
    return best


def _fill_columns(
    ranks: Sequence[RankExtent], starts: Sequence[int], allowed: Sequence[int], most: int
) -> tuple[int, ...] | None:
    """Return the ranks at which columns of at most `most` px begin, each as full as possible; None if that fails."""
    cuts: list[int] = []
    first = 0
    candidates = [*allowed, len(ranks)]
    previous = -1
    for end in candidates:
        if starts[end - 1] + ranks[end - 1].length - starts[first] > most:
            if previous < 0:
                return None
            cuts.append(previous)
            first = previous
            if starts[end - 1] + ranks[end - 1].length - starts[first] > most:
                return None
        previous = end
    return tuple(cuts)


def has_lone_column(ranks: Sequence[RankExtent], cuts: Sequence[int]) -> bool:
    """Return whether a column looks like a leftover: a single rank of closed boxes, or shorter than a quarter of the
    longest column.

    >>> ranks = [RankExtent(30, 10, 0, 80)] * 9
    >>> has_lone_column(ranks, (1,)), has_lone_column(ranks, (2,)), has_lone_column(ranks[:3], (1,))
    (True, False, True)
    """
    columns = [ranks[first:last] for first, last in pairwise([0, *cuts, len(ranks)])]
    longest = max(_column_length(column) for column in columns)
    return any(
        sum(rank.length > 0 for rank in column) == 1
        and (_column_length(column) <= MAX_CLOSED_BOX_PX or 4 * _column_length(column) < longest)
        for column in columns
    )


def _column_length(column: Sequence[RankExtent]) -> int:
    return sum(rank.length + rank.gap for rank in column) - column[-1].gap


def extent_in_columns(ranks: Sequence[RankExtent], cuts: Sequence[int]) -> tuple[int, int]:
    """Return the extent of a part, cut into columns, across and along the flow.

    >>> extent_in_columns([RankExtent(30, 10, 0, 80)] * 6, (3,))
    (200, 148)
    """
    across = along = 0
    turn = TURN_PX + LINE_STEP_PX
    for number, (first, last) in enumerate(pairwise([0, *cuts, len(ranks)])):
        column = ranks[first:last]
        along = max(along, _column_length(column) + (turn if number else 0) + (turn if number < len(cuts) else 0))
        across += max(rank.high for rank in column) - min(rank.low for rank in column)
        across += GUTTER_PX if number else 0
    return across, along
