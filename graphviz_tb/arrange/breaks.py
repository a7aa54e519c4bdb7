"""Break a long chain into columns, as a newspaper breaks lines: at joints that few lines pass.

Nominal sizes decide, as for all order, so that opening a box moves nothing to another column.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from operator import itemgetter

from graphviz_tb.arrange.part import Ranks
from graphviz_tb.arrange.shelves import PART_GAP, RANK_HEIGHT, WAYPOINT_WIDTH
from graphviz_tb.model.skeleton import Skeleton

Passing = tuple[int, int]  # boxes, lines
TALL_RANKS = 16  # ranks that a screen of 1000 px shows at full size: so many are easier to read in one piece
MAX_ASPECT = 2  # height by width of a part, at most
COLUMN_GUTTER = 72  # nominal px between two columns, where the lines to the next one run
MAX_JOINT_LINES = 3  # lines between columns that the eye can follow; no break where more pass
JOINT_REACH = 3  # search a joint within 1/REACH of a column around the even division


def column_breaks(pieces: Sequence[tuple[Ranks, Sequence[int]]]) -> list[tuple[int, ...]]:
    """Return by piece of a level the ranks at which a new column begins; none if one column has a good shape.

    Pieces have the nominal widths of their nodes; other items are waypoints.

    >>> chain = Ranks([[item] for item in range(20)], [[item, item + 1] for item in range(19)])
    >>> column_breaks([(chain, [88] * 20)])
    [(6, 13)]
    """
    sizes = [(occupied_rank_count(layers, widths), nominal_breadth(layers, widths)) for layers, widths in pieces]
    # Pieces at least half as high as this one are drawn next to it and widen the whole: `room` sums their widths.
    tall = sorted((ranks, wide + PART_GAP) for ranks, wide in sizes if ranks > TALL_RANKS)
    room = [0, *accumulate(wide for _, wide in tall)]
    broken = []
    for (layers, _), (ranks, wide) in zip(pieces, sizes, strict=True):
        beside = room[-1] - room[bisect_left(tall, -(-ranks // 2), key=itemgetter(0))] - wide - PART_GAP
        broken.append(piece_breaks(layers, wide, beside) if ranks > TALL_RANKS else ())
    return broken


def occupied_rank_count(layers: Ranks, widths: Sequence[int]) -> int:
    """Count the ranks of a piece that take room; ranks of ports do not."""
    count = len(widths)
    return sum(any(item < count and widths[item] for item in row) for row in layers.ranks)


def nominal_breadth(layers: Ranks, widths: Sequence[int]) -> int:
    """Return the nominal width of a piece."""
    count = len(widths)
    return max(
        (sum(widths[item] if item < count else WAYPOINT_WIDTH for item in row) for row in layers.ranks), default=0
    )


def piece_breaks(layers: Ranks, wide: int, beside: int) -> tuple[int, ...]:
    """Return the breaks of one piece, `wide` px wide and next to others of `beside` px; () if there is no joint."""
    ranks = len(layers.ranks)
    # Compare height and width in one column, then in more columns, with all divisions multiplied out.
    if RANK_HEIGHT * ranks <= MAX_ASPECT * (wide + beside):
        return ()
    columns = 2
    while columns * (columns * (wide + COLUMN_GUTTER) + beside) * MAX_ASPECT < RANK_HEIGHT * ranks:
        columns += 1
    passing = lines_between_ranks(layers)
    starts = [
        best_joint(passing, ranks * number // columns, ranks // (JOINT_REACH * columns)) for number in range(1, columns)
    ]
    return tuple(starts) if all(passing[rank][1] <= MAX_JOINT_LINES for rank in starts) else ()


def best_joint(passing: Sequence[Passing], wanted: int, reach: int) -> int:
    """Return the rank near `wanted` that the least boxes and lines pass; among equals the nearest, then the first.

    `wanted` and `reach` are a column's length and a third of it, so that no column is short.
    """
    near = range(wanted - reach, wanted + reach + 1)
    return min(near, key=lambda rank: (passing[rank], abs(rank - wanted), rank))


def lines_between_ranks(layers: Ranks) -> list[Passing]:
    """Return by r the lines that pass from rank r - 1 to rank r: the smaller number of boxes at one end, and of
    lines."""
    rank = {item: r for r, row in enumerate(layers.ranks) for item in row}
    spans = [(rank[chain[0]] + 1, rank[chain[-1]] + 1) for chain in layers.chains]
    changes = [0] * (len(layers.ranks) + 1)
    for start, stop in spans:
        changes[start] += 1
        changes[stop] -= 1
    lines = list(accumulate(changes[:-1]))
    # Count boxes only where a break is possible: a set for each rank of a dense level would be quadratic.
    few = [r for r, count in enumerate(lines) if count <= MAX_JOINT_LINES]
    boxes: dict[int, tuple[set[int], set[int]]] = {r: (set(), set()) for r in few}
    for chain, (start, stop) in zip(layers.chains, spans, strict=True):
        for r in few[bisect_left(few, start) : bisect_left(few, stop)]:
            boxes[r][0].add(chain[0])
            boxes[r][1].add(chain[-1])
    return [(min(map(len, boxes[r])) if r in boxes else count, count) for r, count in enumerate(lines)]


def carry_breaks(old: Skeleton, new: Skeleton) -> tuple[tuple[int, ...], ...]:
    """Carry the breaks of `old` over to `new`, which has mostly the same ranks and items in the same order.

    A break stays if everything before it is still above everything after it.
    """
    if not any(old.breaks):
        return ()
    was = {item: (p, r) for p, part in enumerate(old.parts) for r, row in enumerate(part) for item in row}
    return tuple(carry_part_breaks(part, old, was) for part in new.parts)


def carry_part_breaks(part: Sequence[Sequence[int]], old: Skeleton, was: dict[int, tuple[int, int]]) -> tuple[int, ...]:
    """Return the breaks of `old` in one part of `new`; `was` is the old part and rank of each item."""
    ranks = [[was[item] for item in row if item < old.children and item in was] for row in part]
    whole = {p for row in ranks for p, _ in row}  # a part made of several keeps no break
    if len(whole) != 1:
        return ()
    [came_from] = whole
    starts = []
    for break_ in old.breaks[came_from]:
        before = max((r for r, row in enumerate(ranks) if any(rank < break_ for _, rank in row)), default=-1)
        after = min((r for r, row in enumerate(ranks) if any(rank >= break_ for _, rank in row)), default=-1)
        if 0 <= before < after:
            starts.append(after)
    return tuple(starts)
