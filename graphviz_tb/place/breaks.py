"""Place a long part in columns next to each other, and the lines that lead from one column to the next.

With the flow running down, a line leaves a column at its foot, runs up next to it, and enters the next at its head. The
rightmost line turns first, and so on outwards: this adds no crossing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from graphviz_tb.model.scene import Point
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.place.funnel import Band

COLUMN_LINE_STEP = 12  # px between neighbouring lines of a gap between columns; lines are up to 6 px thick
COLUMN_LINE_MARGIN = 20  # px from a column to the nearest line
COLUMN_TURN = 26  # px for a turn below a column, and for one above with its arrow head

ColumnJoint = tuple[int, int]  # wire, and the step of its chain that leads to the next column


def column_joints(skeleton: Skeleton, chains: Sequence[Sequence[int]]) -> list[list[list[ColumnJoint]]]:
    """Return by part and break the lines that lead from one column to the next."""
    passing: list[list[list[ColumnJoint]]] = [[[] for _ in broken] for broken in skeleton.breaks]
    if not passing:
        return []
    place = {item: (p, r) for p, part in enumerate(skeleton.parts) for r, row in enumerate(part) for item in row}
    for wire, chain in enumerate(chains):
        part, rank = place[chain[0]]
        for number, break_ in enumerate(skeleton.breaks[part]):
            if rank < break_ < rank + len(chain):  # one item for each rank: the chain is on both sides of the break
                passing[part][number].append((wire, break_ - rank - 1))
    return passing


def place_columns(
    skeleton: Skeleton,
    layers: Sequence[Sequence[Band]],
    lefts: list[int],
    widths: Sequence[int],
    between: Sequence[Sequence[Sequence[ColumnJoint]]],
) -> list[int]:
    """Move the columns of each broken part to their places; return the height of every part.

    The first column begins at the left, each other one next to the previous one, with room next to and above it for the
    lines that lead there.
    """
    for p, passing in enumerate(between):
        ends = [0, *skeleton.breaks[p], len(skeleton.parts[p])]
        left = head = 0
        for number, (first, last) in enumerate(pairwise(ends)):
            rows = skeleton.parts[p][first:last]
            low = min(lefts[row[0]] for row in rows)
            high = max(lefts[row[-1]] + widths[row[-1]] for row in rows)
            top = layers[p][first].top
            for row in rows:
                for item in row:
                    lefts[item] += left - low
            for r in range(first, last):
                layers[p][r].move_down(head - top)
            if number < len(passing):
                lines = len(passing[number])
                left += high - low + 2 * COLUMN_LINE_MARGIN + (lines - 1) * COLUMN_LINE_STEP
                head = COLUMN_TURN + lines * COLUMN_LINE_STEP  # room for the turns above the next column
    return [part_height(bands, p, skeleton, between) for p, bands in enumerate(layers)]


def part_height(
    bands: Sequence[Band], part: int, skeleton: Skeleton, between: Sequence[Sequence[Sequence[ColumnJoint]]]
) -> int:
    """Return the height of a part in pixels, with the lines that turn below its columns."""
    tall = bands[-1].bottom if bands else 0
    if between:
        for number, break_ in enumerate(skeleton.breaks[part]):
            tall = max(tall, bands[break_ - 1].bottom + COLUMN_TURN + len(between[part][number]) * COLUMN_LINE_STEP)
    return tall


def column_detours(
    skeleton: Skeleton,
    chains: Sequence[Sequence[int]],
    ends: Sequence[Point],
    layers: Sequence[Sequence[Band]],
    lefts: Sequence[int],
    widths: Sequence[int],
    between: Sequence[Sequence[Sequence[ColumnJoint]]],
) -> dict[ColumnJoint, tuple[Point, ...]]:
    """Return the four bends of each line from column to column."""
    around: dict[ColumnJoint, tuple[Point, ...]] = {}
    for p, passing in enumerate(between):
        starts = [0, *skeleton.breaks[p]]
        for number, lines in enumerate(passing):
            break_ = skeleton.breaks[p][number]
            rows = skeleton.parts[p][starts[number] : break_]
            right = max(lefts[row[-1]] + widths[row[-1]] for row in rows)
            # column │        ┌── head ──┐
            #        │        │          ▼ next column
            #        └─ foot ─┘
            #        x      lane       goal
            leave = [(joint_x(joint, 0, chains, ends, lefts), joint) for joint in lines]
            leave.sort()
            # From the right: the first turns nearest to the foot and to the column.
            for turn, (x, joint) in enumerate(leave[::-1]):
                foot = layers[p][break_ - 1].bottom + COLUMN_TURN + turn * COLUMN_LINE_STEP
                head = layers[p][break_].top - COLUMN_TURN - (len(lines) - 1 - turn) * COLUMN_LINE_STEP
                lane, goal = (
                    right + COLUMN_LINE_MARGIN + turn * COLUMN_LINE_STEP,
                    joint_x(joint, 1, chains, ends, lefts),
                )
                around[joint] = (x, foot), (lane, foot), (lane, head), (goal, head)
    return around


def joint_x(
    joint: ColumnJoint, end: int, chains: Sequence[Sequence[int]], ends: Sequence[Point], lefts: Sequence[int]
) -> int:
    """Return the x at which a line leaves a column (`end` 0), or enters the next (1)."""
    wire, step = joint
    chain = chains[wire]
    item = chain[step + end]
    if not step and not end:
        return lefts[item] + ends[wire][0]
    if step == len(chain) - 2 and end:
        return lefts[item] + ends[wire][1]
    return lefts[item]
