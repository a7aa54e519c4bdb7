"""Improve the shape of a level: join parallel lines, wrap wide ranks, break long chains into columns."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import itemgetter

from graphviz_tb.arrange.component import MAX_LEVEL_WIDTH, PART_GAP, RANK_HEIGHT, WAYPOINT_WIDTH, Ranks, Row
from graphviz_tb.limits import MAX_WRAPPED_BENDS, MAX_WRAPPED_PLACES
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.skeleton import Skeleton

# Join long parallel lines to one box into a bus.

NO_BUS = -1


def join_buses(layers: Ranks, count: int, kinds: Sequence[int]) -> Ranks:
    """Merge adjacent waypoints of lines of one kind to one box, from the box upwards as long as they are adjacent.

    Items from `count` on are waypoints; `kinds` is, by line, the kind of bus it may join, or `NO_BUS`. The order from
    left to right does not change.

    >>> layers = Ranks([[0, 1], [3, 4], [5, 6], [2]], [[0, 3, 5, 2], [1, 4, 6, 2]])
    >>> join_buses(layers, 3, [0, 0]).ranks
    [[0, 1], [3], [5], [2]]
    """
    users = Counter(item for chain in layers.chains for item in chain[1:-1])
    line_of = {item: line for line, chain in enumerate(layers.chains) for item in chain[1:-1] if users[item] == 1}
    after = {upper: lower for chain in layers.chains for upper, lower in pairwise(chain)}
    merged: dict[int, int] = {}
    ranks = []
    # A bus grows upwards from its box, because the next item is known by its merged name.
    for row in reversed(layers.ranks):
        new_row: list[int] = []
        previous: tuple[int, int, int] | None = None  # of the item before: item below, box, kind
        for item in row:
            line = line_of.get(item, -1) if item >= count else -1
            bus = None
            if line >= 0 and kinds[line] != NO_BUS:
                bus = merged.get(after[item], after[item]), layers.chains[line][-1], kinds[line]
            if bus is not None and bus == previous:
                merged[item] = new_row[-1]
            else:
                new_row.append(item)
            previous = bus
        ranks.append(new_row)
    chains = [[merged.get(item, item) for item in chain] for chain in layers.chains]
    return Ranks(ranks[::-1], chains, layers.notices)


# Wrap a rank that is too wide into several rows.

WRAP_WIDTHS = (2400, 1600)  # px; use the first at which the part is at most three times as wide as high


def wrap_ranks(layers: Ranks, count: int, widths: Sequence[int], most: int = MAX_LEVEL_WIDTH) -> Ranks:
    """Distribute the nodes of each rank wider than `most` over as many rows as it needs, one node to each row in turn.

    `widths` are nominal, by node; items from `count` on are waypoints. The order from left to right does not change.
    Lines of nodes on other rows pass between the nodes of a row; lines that share an end share waypoints.

    >>> wide = Ranks([[0], [1, 2, 3]], [[0, 1], [0, 2], [0, 3]])
    >>> wrap_ranks(wide, 4, [0, 800, 800, 800]).ranks
    [[0], [1, 4, 3], [2]]
    """
    row_counts: list[int] = []
    for limit in (most, *(width for width in WRAP_WIDTHS if width < most)):
        row_counts = [_rows_needed(row, count, widths, limit) for row in layers.ranks]
        if limit <= 3 * RANK_HEIGHT * sum(row_counts):
            break
    if max(row_counts, default=1) < 2:
        return layers
    reduced = _reduce_rows(row_counts, _passed_places(layers, row_counts), MAX_WRAPPED_PLACES)
    wrapped = WrappedRanks(layers, count, reduced)
    if wrapped.added > MAX_WRAPPED_BENDS:
        reduced = _reduce_rows(reduced, wrapped.added, MAX_WRAPPED_BENDS)
        wrapped = WrappedRanks(layers, count, reduced)
    return Ranks(
        wrapped.ranks,
        wrapped.chains,
        layers.notices if reduced == row_counts else (*layers.notices, _wrap_limit_notice(layers)),
    )


def _reduce_rows(depth: list[int], deepest: int, most: int) -> list[int]:
    """Reduce the rows of each rank in proportion if `deepest`, a count for all rows, exceeds `most`."""
    return depth if deepest <= most else [1 + (rows - 1) * most // deepest for rows in depth]


def _wrap_limit_notice(layers: Ranks) -> Notice:
    text = f"a level of {sum(map(len, layers.ranks)):,} boxes and bends is drawn in plain rows"
    return Notice("large-level", text, strict=False)


def _passed_places(layers: Ranks, depth: list[int]) -> int:
    """Return how many places on added rows the lines may pass in total."""
    rank = {item: r for r, row in enumerate(layers.ranks) for item in row}
    added = [rows - 1 for rows in depth]
    through = list(accumulate(added))  # rows added up to and including each rank
    return sum(through[rank[chain[-1]]] - through[rank[chain[0]]] + added[rank[chain[0]]] for chain in layers.chains)


def _rows_needed(row: Row, count: int, widths: Sequence[int], limit: int) -> int:
    """Return how many rows a rank needs to be at most `limit` wide."""
    boxes = [widths[item] for item in row if item < count]
    lines = (len(row) - len(boxes)) * WAYPOINT_WIDTH
    # Lines pass through all rows and may take half of each.
    return max(1, min(len(boxes), -(-sum(boxes) // max(limit - lines, limit // 2))))


class WrappedRanks:
    """Ranks distributed over rows, the chains with the new waypoints, and their number (`added`)."""

    def __init__(self, layers: Ranks, count: int, depth: Sequence[int]) -> None:
        self.count = count
        self.next = first = max((item for row in layers.ranks for item in row), default=-1) + 1
        self.ranks: list[Row] = []
        self.chains = [list(chain) for chain in layers.chains]
        self.into: dict[int, list[int]] = {}  # chains by item they enter
        self.out: dict[int, list[int]] = {}
        for number, chain in enumerate(layers.chains):
            for index, item in enumerate(chain):
                if index:
                    self.into.setdefault(item, []).append(number)
                if index < len(chain) - 1:
                    self.out.setdefault(item, []).append(number)
        for row, rows in zip(layers.ranks, depth, strict=True):
            self.add_rank(row, rows)
        self.added = self.next - first

    def add_rank(self, row: Row, rows: int) -> None:
        if rows == 1:
            self.ranks.append(row)
            return
        # Deal nodes to rows like cards, so that neighbours stay near each other.
        self.tail: dict[int, int] = {}  # the lowest item so far of each chain that leaves this rank
        nodes = [item for item in row if item < self.count]
        row_of = {item: number % rows for number, item in enumerate(nodes)}
        for current in range(rows):
            self.ranks.append(self.build_row(row, row_of, current))

    def build_row(self, row: Row, row_of: dict[int, int], current: int) -> Row:
        """Return one of the rows of a rank: its nodes, and waypoints for all lines that pass it."""
        new_row: Row = []
        last: tuple[bool, int] | None = None  # direction and far end of the line for which a waypoint was just added
        for item in row:
            target_row = row_of.get(item, -1)
            if max(target_row, 0) == current:
                last = None
                new_row.append(item)
                continue
            # Lines into a node pass the rows above it, lines out of it the rows below; old waypoints are on row 0.
            inward = target_row > current
            for number in (self.into if inward else self.out).get(item, ()):
                chain = self.chains[number]
                end = (inward, chain[0] if inward else chain[-1])
                if end != last or target_row < 0:
                    new_row.append(self.next)
                    self.next += 1
                    last = end if target_row >= 0 else None
                before = chain.index(item) if inward else chain.index(self.tail.get(number, item)) + 1
                chain.insert(before, new_row[-1])
                if not inward:
                    self.tail[number] = new_row[-1]
        return new_row


# Break a long chain into columns at joints, ranks that few lines pass.
#
# Sizes are nominal, so that opening a box moves no other box to another column.

Passing = tuple[int, int]  # boxes, lines
TALL_RANKS = 16  # up to so many ranks, which fit a screen of 1000 px, are easier to read in one column
MAX_ASPECT = 2  # of height to width of a piece
COLUMN_GUTTER = 72  # nominal px between two columns, for the lines to the next column
MAX_JOINT_LINES = 3  # more lines between columns are hard to follow
JOINT_REACH = 3  # search a joint within a third of a column around the even division


def column_breaks(pieces: Sequence[tuple[Ranks, Sequence[int]]]) -> list[tuple[int, ...]]:
    """Return for each piece of a level the ranks at which a new column begins; () if one column has a good shape.

    Each piece has its ranks and the nominal widths of its nodes.

    >>> chain = Ranks([[item] for item in range(20)], [[item, item + 1] for item in range(19)])
    >>> column_breaks([(chain, [88] * 20)])
    [(6, 13)]
    """
    sizes = [(_occupied_rank_count(layers, widths), _nominal_breadth(layers, widths)) for layers, widths in pieces]
    # A piece at least half as high as another one is drawn next to it, so its width counts; `sums` adds up the widths.
    tall = sorted((ranks, wide + PART_GAP) for ranks, wide in sizes if ranks > TALL_RANKS)
    sums = [0, *accumulate(wide for _, wide in tall)]
    breaks = []
    for (layers, _), (ranks, wide) in zip(pieces, sizes, strict=True):
        beside = sums[-1] - sums[bisect_left(tall, -(-ranks // 2), key=itemgetter(0))] - wide - PART_GAP
        breaks.append(_piece_breaks(layers, wide, beside) if ranks > TALL_RANKS else ())
    return breaks


def _occupied_rank_count(layers: Ranks, widths: Sequence[int]) -> int:
    """Count the ranks of a piece that are not empty; ports are on the frame."""
    count = len(widths)
    return sum(any(item < count and widths[item] for item in row) for row in layers.ranks)


def _nominal_breadth(layers: Ranks, widths: Sequence[int]) -> int:
    count = len(widths)
    return max(
        (sum(widths[item] if item < count else WAYPOINT_WIDTH for item in row) for row in layers.ranks), default=0
    )


def _piece_breaks(layers: Ranks, wide: int, beside: int) -> tuple[int, ...]:
    """Return the breaks of a piece of `wide` px next to pieces of `beside` px in total; () if there is no joint."""
    ranks = len(layers.ranks)
    # Compare height and width in one column, then in more columns, without divisions.
    if RANK_HEIGHT * ranks <= MAX_ASPECT * (wide + beside):
        return ()
    columns = 2
    while columns * (columns * (wide + COLUMN_GUTTER) + beside) * MAX_ASPECT < RANK_HEIGHT * ranks:
        columns += 1
    passing = _lines_between_ranks(layers)
    starts = [
        _best_joint(passing, ranks * number // columns, ranks // (JOINT_REACH * columns))
        for number in range(1, columns)
    ]
    return tuple(starts) if all(passing[rank][1] <= MAX_JOINT_LINES for rank in starts) else ()


def _best_joint(passing: Sequence[Passing], wanted: int, reach: int) -> int:
    """Return the rank at most `reach` from `wanted` that the fewest boxes and lines pass; of equals the nearest, then
    the first."""
    near = range(wanted - reach, wanted + reach + 1)
    return min(near, key=lambda rank: (passing[rank], abs(rank - wanted), rank))


def _lines_between_ranks(layers: Ranks) -> list[Passing]:
    """Return for each rank r the lines that pass from rank r - 1 to r: the number of boxes at their sources or targets,
    whichever are fewer, and the number of lines."""
    rank = {item: r for r, row in enumerate(layers.ranks) for item in row}
    spans = [(rank[chain[0]] + 1, rank[chain[-1]] + 1) for chain in layers.chains]
    changes = [0] * (len(layers.ranks) + 1)
    for start, stop in spans:
        changes[start] += 1
        changes[stop] -= 1
    lines = list(accumulate(changes[:-1]))
    # Count boxes only where a break is possible, because a set for each rank of a dense level would be quadratic.
    joints = [r for r, count in enumerate(lines) if count <= MAX_JOINT_LINES]
    boxes: dict[int, tuple[set[int], set[int]]] = {r: (set(), set()) for r in joints}
    for chain, (start, stop) in zip(layers.chains, spans, strict=True):
        for r in joints[bisect_left(joints, start) : bisect_left(joints, stop)]:
            boxes[r][0].add(chain[0])
            boxes[r][1].add(chain[-1])
    return [(min(map(len, boxes[r])) if r in boxes else count, count) for r, count in enumerate(lines)]


def carry_breaks(old: Skeleton, new: Skeleton) -> tuple[tuple[int, ...], ...]:
    """Return the breaks of `old` for `new`, which has mostly the same ranks and items in the same order.

    A break stays if all items before it are still above all items after it, and its column is not empty.
    """
    if not any(old.breaks):
        return ()
    was = {item: (p, r) for p, part in enumerate(old.parts) for r, row in enumerate(part) for item in row}
    return tuple(_carry_part_breaks(part, old, was) for part in new.parts)


def _carry_part_breaks(
    part: Sequence[Sequence[int]], old: Skeleton, old_places: dict[int, tuple[int, int]]
) -> tuple[int, ...]:
    """Return the breaks of `old` in one part of `new`; `was` is the old part and rank of each item."""
    ranks = [[old_places[item] for item in row if item < old.children and item in old_places] for row in part]
    old_parts = {p for row in ranks for p, _ in row}
    if len(old_parts) != 1:  # a part merged of several keeps no break
        return ()
    [old_part] = old_parts
    starts: list[int] = []
    for break_ in old.breaks[old_part]:
        before = max((r for r, row in enumerate(ranks) if any(rank < break_ for _, rank in row)), default=-1)
        after = min((r for r, row in enumerate(ranks) if any(rank >= break_ for _, rank in row)), default=-1)
        if (starts[-1] if starts else 0) <= before < after:
            starts.append(after)
    return tuple(starts)
