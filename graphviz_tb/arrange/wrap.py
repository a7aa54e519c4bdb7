"""Wrap too wide ranks into several, one under the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from graphviz_tb.arrange.part import Ranks, Row
from graphviz_tb.arrange.shelves import MAX_LEVEL_WIDTH, RANK_HEIGHT, WAYPOINT_WIDTH
from graphviz_tb.limits import MAX_WRAPPED_BENDS, MAX_WRAPPED_PLACES
from graphviz_tb.model.notice import Notice

WRAP_WIDTHS = (MAX_LEVEL_WIDTH, 2400, 1600)  # use the first that makes the part at most three times as wide as high


def wrap_ranks(layers: Ranks, count: int, widths: Sequence[int]) -> Ranks:
    """Distribute the nodes of each over-wide rank, in turn, over as many ranks as it needs.

    `widths` are nominal, by node; items from `count` on are waypoints. The order from left to right does not change.
    Lines of nodes on other rows of a rank pass between its nodes; those that share an end share waypoints.

    >>> wide = Ranks([[0], [1, 2, 3]], [[0, 1], [0, 2], [0, 3]])
    >>> wrap_ranks(wide, 4, [0, 800, 800, 800]).ranks
    [[0], [1, 4, 3], [2]]
    """
    depth: list[int] = []
    for limit in WRAP_WIDTHS:
        depth = [rows_needed(row, count, widths, limit) for row in layers.ranks]
        if limit <= 3 * RANK_HEIGHT * sum(depth):
            break
    if max(depth, default=1) < 2:
        return layers
    rows = reduce_rows(depth, passed_places(layers, depth), MAX_WRAPPED_PLACES)
    wrapped = WrappedRanks(layers, count, rows)
    if wrapped.added > MAX_WRAPPED_BENDS:
        rows = reduce_rows(rows, wrapped.added, MAX_WRAPPED_BENDS)
        wrapped = WrappedRanks(layers, count, rows)
    return Ranks(
        wrapped.ranks, wrapped.chains, layers.notices if rows == depth else (*layers.notices, wrap_limit_notice(layers))
    )


def reduce_rows(depth: list[int], deepest: int, most: int) -> list[int]:
    """Reduce the rows of each rank in proportion if `deepest` exceeds `most`."""
    return depth if deepest <= most else [1 + (rows - 1) * most // deepest for rows in depth]


def wrap_limit_notice(layers: Ranks) -> Notice:
    """Return the notice for a piece that is drawn in fewer rows than it needs."""
    text = f"a level of {sum(map(len, layers.ranks)):,} boxes and bends is drawn in plain rows"
    return Notice("large-level", text, strict=False)


def passed_places(layers: Ranks, depth: list[int]) -> int:
    """Return how many places on added rows the lines may pass in total."""
    rank = {item: r for r, row in enumerate(layers.ranks) for item in row}
    added = [rows - 1 for rows in depth]
    through = list(accumulate(added))  # rows added up to each rank, with its own
    return sum(through[rank[chain[-1]]] - through[rank[chain[0]]] + added[rank[chain[0]]] for chain in layers.chains)


def rows_needed(row: Row, count: int, widths: Sequence[int], limit: int) -> int:
    """Return how many rows a rank needs to be at most `limit` wide."""
    boxes = [widths[item] for item in row if item < count]
    lines = (len(row) - len(boxes)) * WAYPOINT_WIDTH
    # Lines pass through all rows and take up to half of each.
    return max(1, min(len(boxes), -(-sum(boxes) // max(limit - lines, limit // 2))))


class WrappedRanks:
    """Ranks distributed over rows, and the chains with the waypoints this adds."""

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
        """Distribute one rank over `rows` rows."""
        if rows == 1:
            self.ranks.append(row)
            return
        # Deal boxes like cards: neighbours stay near each other, one row lower.
        turn = 0
        self.tail: dict[int, int] = {}  # the lowest item so far of each chain that leaves this rank
        level: dict[int, int] = {}
        for item in row:
            if item < self.count:
                level[item] = turn % rows
                turn += 1
        for now in range(rows):
            self.ranks.append(self.build_row(row, level, now))

    def build_row(self, row: Row, level: dict[int, int], now: int) -> Row:
        """Return one of the rows: its nodes, and waypoints for everything that passes it."""
        fresh: Row = []
        last: tuple[bool, int] | None = None  # the end that the waypoint just set belongs to
        for item in row:
            goal = level.get(item, -1)
            if max(goal, 0) == now:
                last = None
                fresh.append(item)
                continue
            # Lines into a box pass the rows above it, lines out of it the rows below; a waypoint is on the first row.
            inward = goal > now
            for number in (self.into if inward else self.out).get(item, ()):
                chain = self.chains[number]
                end = (inward, chain[0] if inward else chain[-1])
                if end != last or goal < 0:
                    fresh.append(self.next)
                    self.next += 1
                    last = end if goal >= 0 else None
                before = chain.index(item) if inward else chain.index(self.tail.get(number, item)) + 1
                chain.insert(before, fresh[-1])
                if not inward:
                    self.tail[number] = fresh[-1]
        return fresh
