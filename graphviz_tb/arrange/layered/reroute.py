"""Move whole edge paths to the position with the fewest crossings.

An edge path is a maximal path of items with at most one line above and one below: the waypoints of a long edge, or a
chain of nodes. With everything else fixed, its best position is a shortest path over the slots of its ranks (the
places between, before and after the items), found by dynamic programming. Swapping neighbours rank by rank would not
find it, because crossings increase on the way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.limits import MAX_SEARCHED_RANK_ITEMS

# The state of an ordering: the ranks, the place of each item, and its links.


class RankState:
    """Ranks that change in place.

    `place` is the index of each item in its rank, `above` and `below` its links. `fixed_ranks` keep their order.
    """

    def __init__(
        self, count: int, ranks: list[list[int]], chains: Iterable[Sequence[int]], fixed_ranks: Collection[int] = ()
    ) -> None:
        self.fixed_ranks = fixed_ranks
        self.above: list[list[int]] = [[] for _ in range(count)]
        self.below: list[list[int]] = [[] for _ in range(count)]
        for chain in chains:
            last = chain[0]
            for item in chain[1:]:
                self.below[last].append(item)
                self.above[item].append(last)
                last = item
        self.rank = [0] * count
        for r, row in enumerate(ranks):
            for item in row:
                self.rank[item] = r
        self.place = [0] * count
        self.set_order(ranks)

    def set_order(self, ranks: list[list[int]]) -> None:
        self.ranks = [row[:] for row in ranks]
        for row in self.ranks:
            for number, item in enumerate(row):
                self.place[item] = number

    def copy_ranks(self) -> list[list[int]]:
        return [row[:] for row in self.ranks]


WeightTable = NDArray[np.int64]
ItemStep = tuple[int, int]  # an item and one below it
Span = tuple[int, int]  # slots start … stop-1
UNKNOWN_CROSSINGS = 1 << 60  # costs more than all crossings
WINDOW_RADIUS = 32  # slots that are searched on each side of an item, in a wide rank
CROSSING_COST = 1 << 16  # one crossing costs more than any number of moves
SLOT_SIDES = np.arange(2 * MAX_SEARCHED_RANK_ITEMS + 3) > MAX_SEARCHED_RANK_ITEMS + 1
# The cost that a path's own line adds to the slots around it.
OWN_LINE_COST = (SLOT_SIDES[:, None] ^ SLOT_SIDES) * CROSSING_COST
OWN_LINE_COST[MAX_SEARCHED_RANK_ITEMS + 1] += 1  # prefer to stay


def edge_paths(above: list[list[int]], below: list[list[int]]) -> list[list[int]]:
    """Return all edge paths, the shortest first.

    >>> edge_paths([[], [0], [1], [0, 2]], [[1, 3], [2], [3], []])
    [[1, 2]]
    """
    thin = [len(up) < 2 and len(down) < 2 for up, down in zip(above, below, strict=True)]
    paths = []
    for item, up in enumerate(above):
        if thin[item] and not (up and thin[up[0]]) and (up or below[item]):
            path = [item]
            while below[path[-1]] and thin[below[path[-1]][0]]:
                path.append(below[path[-1]][0])
            paths.append(path)
    paths.sort(key=len)
    return paths


class Rerouter:
    """Reroutes edge paths with tables of crossings for the gaps between ranks, built on demand and updated when items
    move."""

    def __init__(
        self, state: RankState, paths: list[list[int]], lane: Collection[ItemStep] = (), heavy: int = 1
    ) -> None:
        """Crossing a link of the `lane` costs as much as crossing `heavy` other lines; no path may contain such a
        link."""
        self.state = state
        self.paths = paths
        self.lane, self.heavy = lane, heavy
        self.place = np.array(state.place, np.int64)
        self.ends: list[tuple[WeightTable, WeightTable] | None] = [None] * len(state.ranks)  # of the links, by gap
        # By gap, whether all slots of both ranks are searched, so that one table serves all paths.
        self.narrow = [max(len(upper), len(lower)) <= MAX_SEARCHED_RANK_ITEMS for upper, lower in pairwise(state.ranks)]
        self.table: list[WeightTable | None] = [None] * len(state.ranks)
        self.free: list[bool | None] = [None] * len(state.ranks)  # by gap, whether no lines cross
        # A path is tried again only if an item around it has moved since; `clock` counts the moves.
        self.clock = 1
        self.changed = [1] * len(state.ranks)  # when the order on one side of a gap last changed
        self.tried_at = [0] * len(paths)  # when each path was last tried

    def reroute_changed(self) -> bool:
        """Reroute each edge path around which an item moved; return whether any path moved."""
        moved = False
        for number, path in enumerate(self.paths):
            top = self.state.rank[path[0]]
            if max(self.changed[max(top - 1, 0) : top + len(path)]) > self.tried_at[number]:
                crossed = self.path_crossing_cost(path, top)
                if crossed:
                    moved = self.reroute_path(path, crossed - len(path)) or moved
                self.tried_at[number] = self.clock
        return moved

    def path_crossing_cost(self, path: list[int], top: int) -> int:
        """Return how many lines an edge path crosses, times `CROSSING_COST`.

        `UNKNOWN_CROSSINGS` if that is expensive to compute.
        """
        place = self.state.place
        above, below = self.state.above[path[0]], self.state.below[path[-1]]
        places = [place[item] for item in (*above, *path, *below)]
        total, first, last = 0, top - len(above), top + len(path) - 1
        for gap, (start, end) in enumerate(pairwise(places), first):
            table = self.table[gap]
            if table is None:
                if not self.narrow[gap]:
                    return UNKNOWN_CROSSINGS
                if self.is_clear(gap):
                    continue
                table = self.gap_table(gap)
            total += table.item(start, end)
            # Lines at the same box do not cross.
            if gap < top:
                total += _own_line_correction(table, start, end)
            elif gap == last:
                total += _own_line_correction(table.T, end, start)
        return total

    def is_clear(self, gap: int) -> bool:
        """Return whether no two lines cross between two ranks."""
        known = self.free[gap]
        if known is None:
            self.free[gap] = known = self.compute_clear(gap)
        return known

    def compute_clear(self, gap: int) -> bool:
        place, below = self.state.place, self.state.below
        last = -1
        for item in self.state.ranks[gap]:
            ends = [place[other] for other in below[item]]
            if ends:
                if min(ends) < last:
                    return False
                last = max(ends)
        return True

    def link_ends(self, gap: int) -> tuple[WeightTable, WeightTable]:
        """Return the places of the upper and lower ends of the links in a gap, repeated for links of the lane."""
        ends = self.ends[gap]
        if ends is None:
            links = [(item, other) for item in self.state.ranks[gap] for other in self.state.below[item]]
            links += [link for link in links if link in self.lane] * (self.heavy - 1)
            upper, lower = [item for item, _ in links], [item for _, item in links]
            ends = self.ends[gap] = np.array(upper, np.int64), np.array(lower, np.int64)
        return self.place[ends[0]], self.place[ends[1]]

    def gap_table(self, gap: int) -> WeightTable:
        """Return the cached `crossing_table` of all slots of a narrow gap, which `_shift_table` updates."""
        table = self.table[gap]
        if table is None:
            ranks = self.state.ranks
            table = self.table[gap] = self.count_table(gap, (0, len(ranks[gap]) + 1), (0, len(ranks[gap + 1]) + 1))
        return table

    def crossing_table(self, gap: int, upper: Span, lower: Span) -> WeightTable:
        """Return, at [i, j], how many lines a line from slot i to slot j of two windows crosses, times
        `CROSSING_COST`."""
        return self.gap_table(gap) if self.narrow[gap] else self.count_table(gap, upper, lower)

    def count_table(self, gap: int, upper: Span, lower: Span) -> WeightTable:
        high, width = upper[1] - upper[0], lower[1] - lower[0]
        starts, ends = self.link_ends(gap)
        rows = np.minimum(np.maximum(starts + (1 - upper[0]), 0), high)
        columns = np.minimum(np.maximum(ends + (1 - lower[0]), 0), width)
        table = np.bincount(rows * (width + 1) + columns, minlength=(high + 1) * (width + 1))
        table = table.reshape(high + 1, width + 1)
        # Sum up to table[i, j], the lines that start left of slot i and end left of slot j; the last row and column
        # count all lines.
        table.cumsum(0, out=table)
        table.cumsum(1, out=table)
        # table[i, -1] - table[i, j] lines start left and end right, table[-1, j] - table[i, j] the other way round.
        crossed: WeightTable = table[:-1, :-1] * -2
        crossed += table[:-1, -1:]
        crossed += table[-1, :-1]
        crossed *= CROSSING_COST
        return crossed

    def reroute_path(self, path: list[int], stay: int) -> bool:
        """Move one path to its best position, if that costs less than `stay`; return whether it moved.

        Of equal positions, choose the one that moves the fewest items.
        """
        state = self.state
        place, top = state.place, state.rank[path[0]]
        places = [place[item] for item in path]
        spans = [self.slot_window(top + number, here) for number, here in enumerate(places)]
        cost = self.start_costs(path, top, spans[0])
        totals = []
        here = places[0] - spans[0][0]
        for number in range(1, len(path)):
            there = places[number] - spans[number][0]
            table = self.table[top + number - 1]
            if table is None:
                table = self.crossing_table(top + number - 1, spans[number - 1], spans[number])
            total = table + cost[:, None]
            row, column = MAX_SEARCHED_RANK_ITEMS + 1 - here, MAX_SEARCHED_RANK_ITEMS + 1 - there
            # The tables count the path's own line, so subtract it where it would cross the new path.
            total -= OWN_LINE_COST[row : row + total.shape[0], column : column + total.shape[1]]
            cost = np.minimum.reduce(total, 0)
            totals.append(total)
            here = there
        cost = cost + self.end_costs(path, top, spans[-1])
        cost[here] -= 1  # prefer to stay
        slot = int(np.argmin(cost))
        return int(cost[slot]) < stay and self.apply_best_path(path, top, spans, totals, slot)

    def slot_window(self, rank: int, place: int) -> Span:
        """Return the slots to which an item may move: all, or in a wide rank the near ones."""
        count = len(self.state.ranks[rank])
        return (
            (0, count + 1)
            if count <= MAX_SEARCHED_RANK_ITEMS
            else (max(0, place - WINDOW_RADIUS), min(count, place + WINDOW_RADIUS) + 1)
        )

    def start_costs(self, path: list[int], top: int, span: Span) -> WeightTable:
        """Return the cost of the line above the first item for each of its slots."""
        above = self.state.above[path[0]]
        if not above:
            return np.zeros(span[1] - span[0], np.int64)
        slot = self.state.place[above[0]]
        if self.narrow[top - 1]:
            return _box_fan_crossings(self.gap_table(top - 1), slot)
        upper, lower = self.link_ends(top - 1)
        return self.fan_crossings(upper, lower, slot, span)

    def end_costs(self, path: list[int], top: int, span: Span) -> WeightTable:
        """Return the cost of the line below the last item for each of its slots."""
        below = self.state.below[path[-1]]
        if not below:
            return np.zeros(span[1] - span[0], np.int64)
        gap, slot = top + len(path) - 1, self.state.place[below[0]]
        if self.narrow[gap]:
            return _box_fan_crossings(self.gap_table(gap).T, slot)
        upper, lower = self.link_ends(gap)
        return self.fan_crossings(lower, upper, slot, span)

    def fan_crossings(self, fixed_ends: WeightTable, free_ends: WeightTable, place: int, span: Span) -> WeightTable:
        """Return how many lines a line from `place` to each slot of a window crosses, times `CROSSING_COST`.

        `fixed_ends` are the ends of the lines on the side of `place`, `free_ends` those on the side of the slots.
        """
        width = span[1] - span[0]
        cells = np.minimum(np.maximum(free_ends + (1 - span[0]), 0), width)
        # A line is crossed if it starts left of `place` and ends right of the slot, or the other way round.
        left = np.bincount(cells[fixed_ends < place], minlength=width + 1)
        right = np.bincount(cells[fixed_ends > place], minlength=width + 1)
        passed = (right - left).cumsum()
        crossed: WeightTable = (passed[:width] + left.sum()) * CROSSING_COST
        return crossed

    def apply_best_path(
        self, path: list[int], top: int, spans: list[Span], totals: list[WeightTable], slot: int
    ) -> bool:
        """Trace the best path back from the slot of the last item; return whether any item moves."""
        moved = False
        for number in range(len(path) - 1, -1, -1):
            here, goal = self.state.place[path[number]], slot + spans[number][0]
            if goal < here or goal > here + 1:
                self.shift_item(top + number, here, goal)
                moved = True
            if number:
                slot = int(np.argmin(totals[number - 1][:, slot]))
        return moved

    def shift_item(self, rank: int, old: int, slot: int) -> None:
        row, place = self.state.ranks[rank], self.state.place
        item = row.pop(old)
        new = slot - (slot > old)
        row.insert(new, item)
        low, high = min(old, slot), max(old + 1, slot)
        for position in range(low, high):
            place[row[position]] = self.place[row[position]] = position
        self.clock += 1
        for gap in (rank - 1, rank) if rank else (rank,):
            table = self.table[gap]
            if table is not None:
                _shift_table(table if gap == rank else table.T, old, new)
            self.free[gap] = None
            self.changed[gap] = self.clock


def _box_fan_crossings(table: WeightTable, slot: int) -> WeightTable:
    """Return for each slot across a gap the crossings of a line from the item right of `slot`, without the other lines
    of that item.

    This is the mean of the table to the left and to the right of the item, minus half of the item's lines.
    """
    before, after = table[slot], table[slot + 1]
    crossed: WeightTable = before + after
    crossed -= after.item(0) - before.item(0)
    crossed >>= 1
    return crossed


def _own_line_correction(table: WeightTable, slot: int, other: int) -> int:
    """Return `_box_fan_crossings` at one slot across a gap, minus the table's value for a line from `slot`."""
    own: int = table.item(slot + 1, other) - table.item(slot, other) - table.item(slot + 1, 0) + table.item(slot, 0)
    return own // 2


def _shift_table(table: WeightTable, old: int, new: int) -> None:
    """Update a table after the item between two of its rows moved."""
    own = table[old + 1] - table[old]  # contribution of the item's lines
    if old < new:
        table[old + 1 : new + 1] = table[old + 2 : new + 2] - own
    else:
        table[new + 1 : old + 1] = table[new:old] + own
