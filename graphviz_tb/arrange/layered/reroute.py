"""Whole long edges move at once, each to its best way through the ranks.

An edge path is a maximal path of items with at most one line above and one below: the waypoints of a long edge, and
plain chains of nodes. With everything else held, the way of an edge path with the fewest crossings is a shortest path
over the slots of its ranks, found by dynamic programming; exchanging neighbours rank by rank never finds it, for
between the first and the last rank of the move crossings grow before they shrink.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.arrange.layered.state import RankState
from graphviz_tb.limits import RANK_SEARCHED

WeightTable = NDArray[np.int64]
ItemStep = tuple[int, int]  # an item and one below it
Span = tuple[int, int]  # slots from … up to, but without …
NEAR = 32  # else: how far from its place
SCALE = 1 << 16  # crossings count before any number of moves
_slots = np.arange(2 * RANK_SEARCHED + 3) > RANK_SEARCHED + 1
OWN = (_slots[:, None] ^ _slots) * SCALE  # what a path's own line adds to the slots round it, itself in the middle
OWN[RANK_SEARCHED + 1] += 1  # it rather stays


def edge_paths(above: list[list[int]], below: list[list[int]]) -> list[list[int]]:
    """All edge paths, the short ones first.

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


def column(links: list[ItemStep], end: int) -> WeightTable:
    """The upper (0) or lower (1) ends of links."""
    return np.array([link[end] for link in links], np.int64)


class Rerouter:
    """Tables of crossings for the gaps between ranks, made when asked for, dropped when an order changes."""

    def __init__(
        self, state: RankState, paths: list[list[int]], lane: Collection[ItemStep] = (), heavy: int = 1
    ) -> None:
        """`lane` are links that count `heavy` times when they are crossed; no path may hold one."""
        self.state = state
        self.paths = paths
        self.lane, self.heavy = lane, heavy
        self.place = np.array(state.place, np.int64)
        self.table: list[WeightTable | None] = [None] * len(state.ranks)
        self.cross: list[WeightTable | None] = [None] * len(state.ranks)
        self.free: list[bool | None] = [None] * len(state.ranks)  # whether no lines cross there
        self.count = np.arange(max(map(len, state.ranks)) + 1)
        # A path is tried again when something around it has changed: that only saves time.
        self.clock = 1  # only saves time
        self.changed = [1] * len(state.ranks)  # when the order on one side of a gap last changed; only saves time
        self.moved_at = [0] * len(paths)  # when an edge path was last moved; only saves time
        self.ends: list[tuple[WeightTable, WeightTable] | None] = [None] * len(state.ranks)

    def pass_over(self) -> bool:
        """Move each edge path round which something has changed; whether any moved."""
        moved = False
        for number, path in enumerate(self.paths):
            top = self.state.rank[path[0]]
            if max(self.changed[max(top - 1, 0) : top + len(path)]) > self.moved_at[number]:
                if self.crosses(path, top):
                    moved = self.reroute(path) or moved
                self.moved_at[number] = self.clock
        return moved

    def crosses(self, path: list[int], top: int) -> bool:
        """Whether an edge path crosses any line, as far as that is cheap to tell."""
        state = self.state
        chain = [*state.above[path[0]], *path, *state.below[path[-1]]]
        gap = state.rank[chain[0]]
        for upper, lower in pairwise(chain):
            if not self.clear(gap):
                if not self.narrow(gap):
                    return True
                table, start, end = self.prefix(gap), state.place[upper], state.place[lower]
                # Lines that start left and end right of this one, or start right and end left.
                if table[start, -1] - table[start, end + 1] or table[-1, end] - table[start + 1, end]:
                    return True
            gap += 1
        return False

    def clear(self, gap: int) -> bool:
        """Whether no two lines cross between two ranks."""
        known = self.free[gap]
        if known is None:
            self.free[gap] = known = self.parallel(gap)
        return known

    def parallel(self, gap: int) -> bool:
        """Compute `clear` for a gap whose result is not cached."""
        place, below = self.state.place, self.state.below
        last = -1
        for item in self.state.ranks[gap]:
            ends = [place[other] for other in below[item]]
            if ends:
                if min(ends) < last:
                    return False
                last = max(ends)
        return True

    def narrow(self, gap: int) -> bool:
        """Whether an edge path may go anywhere in the ranks on both sides, so that one table serves all."""
        ranks = self.state.ranks
        return len(ranks[gap]) <= RANK_SEARCHED and len(ranks[gap + 1]) <= RANK_SEARCHED

    def links(self, gap: int) -> tuple[WeightTable, WeightTable]:
        """The upper and the lower ends of the links in a gap, in any order; few gaps of a small level need them."""
        ends = self.ends[gap]
        if ends is None:
            links = [(item, other) for item in self.state.ranks[gap] for other in self.state.below[item]]
            links += [link for link in links if link in self.lane] * (self.heavy - 1)
            ends = self.ends[gap] = column(links, 0), column(links, 1)
        return ends

    def count_left(self, gap: int, upper: Span, lower: Span) -> WeightTable:
        """How many lines start left of slot i and end left of slot j; the last row and column count all."""
        high, width = upper[1] - upper[0], lower[1] - lower[0]
        starts, ends = self.links(gap)
        rows = np.minimum(np.maximum(self.place[starts] + (1 - upper[0]), 0), high)
        columns = np.minimum(np.maximum(self.place[ends] + (1 - lower[0]), 0), width)
        cells = rows * (width + 1) + columns
        table = np.bincount(cells, minlength=(high + 1) * (width + 1)).reshape(high + 1, width + 1)
        table.cumsum(0, out=table)
        table.cumsum(1, out=table)
        return table

    def prefix(self, gap: int) -> WeightTable:
        """Return `count_left` for all slots of a narrow gap, kept until an order changes."""
        table = self.table[gap]
        if table is None:
            ranks = self.state.ranks
            high, wide = len(ranks[gap]) + 1, len(ranks[gap + 1]) + 1
            upper, lower = self.links(gap)
            cells = (self.place[upper] + 1) * wide + self.place[lower] + 1
            table = np.bincount(cells, minlength=high * wide).reshape(high, wide)
            table.cumsum(0, out=table)
            table.cumsum(1, out=table)
            self.table[gap] = table
        return table

    def block(self, gap: int, upper: Span, lower: Span) -> WeightTable:
        """For slots i and j of two windows, how many lines a line from i to j crosses, times `SCALE`."""
        narrow = self.narrow(gap)
        crossed = self.cross[gap] if narrow else None
        if crossed is None:
            if narrow:
                table = self.prefix(gap)
                # t[i, -1] - t[i, j] start left and end right, t[-1, j] - t[i, j] start right and end left.
                crossed = table * -2
                crossed += table[:, -1:]
                crossed += table[-1]
            else:
                table = self.count_left(gap, upper, lower)
                crossed = table[:-1, :-1] * -2
                crossed += table[:-1, -1:]
                crossed += table[-1, :-1]
            crossed *= SCALE
            if narrow:
                self.cross[gap] = crossed
        return crossed

    def reroute(self, path: list[int]) -> bool:
        """Move one path to its best way; whether it moved. Among equal ways the one that moves the fewest items."""
        state = self.state
        place, top = state.place, state.rank[path[0]]
        held = [place[item] for item in path]
        spans = [self.window(top + number, here) for number, here in enumerate(held)]
        cost = self.start(path, top, spans[0])
        back = []
        here = held[0] - spans[0][0]
        for number in range(1, len(path)):
            there = held[number] - spans[number][0]
            total = self.block(top + number - 1, spans[number - 1], spans[number]) + cost[:, None]
            row, column = RANK_SEARCHED + 1 - here, RANK_SEARCHED + 1 - there
            # The path's own line is in the tables: where it would cross its new way, it is taken off again.
            total -= OWN[row : row + total.shape[0], column : column + total.shape[1]]
            best = total.argmin(0)
            back.append(best)
            cost = total[best, self.count[: len(best)]]
            here = there
        cost = self.end(path, top, spans[-1], cost)
        cost[here] -= 1  # rather where it is
        return self.move(path, top, spans, back, int(np.argmin(cost)))

    def window(self, rank: int, place: int) -> Span:
        """The slots that an item may go to: all, or those near by where the rank is wide."""
        count = len(self.state.ranks[rank])
        return (0, count + 1) if count <= RANK_SEARCHED else (max(0, place - NEAR), min(count, place + NEAR) + 1)

    def start(self, path: list[int], top: int, span: Span) -> WeightTable:
        """For each slot of the first item the crossings of the line above it."""
        above = self.state.above[path[0]]
        if not above:
            return np.zeros(span[1] - span[0], np.int64)
        if self.narrow(top - 1):
            table, slot = self.prefix(top - 1), self.state.place[above[0]]
            cost: WeightTable = table[-1] - table[slot] - table[slot + 1] + table[slot, -1]
            return cost * SCALE
        upper, lower = self.links(top - 1)
        return self.ray(self.place[upper], self.place[lower], self.state.place[above[0]], span)

    def end(self, path: list[int], top: int, span: Span, cost: WeightTable) -> WeightTable:
        """Add, for each slot of the last item, the crossings of the line below it."""
        below = self.state.below[path[-1]]
        if not below:
            return cost
        gap = top + len(path) - 1
        if self.narrow(gap):
            table, slot = self.prefix(gap), self.state.place[below[0]]
            more: WeightTable = table[:, -1] - table[:, slot + 1] - table[:, slot] + table[-1, slot]
            return cost + more * SCALE
        upper, lower = self.links(gap)
        return cost + self.ray(self.place[lower], self.place[upper], self.state.place[below[0]], span)

    def ray(self, held: WeightTable, free: WeightTable, place: int, span: Span) -> WeightTable:
        """How many lines, `held` to `free`, a line from `place` to each slot crosses, times `SCALE`."""
        width = span[1] - span[0]
        cells = np.minimum(np.maximum(free + (1 - span[0]), 0), width)
        # Lines from the left of `place` are crossed if they end right of the slot, those from the right if left of it.
        left = np.bincount(cells[held < place], minlength=width + 1)
        right = np.bincount(cells[held > place], minlength=width + 1)
        passed = (right - left).cumsum()
        crossed: WeightTable = (passed[:width] + left.sum()) * SCALE
        return crossed

    def move(self, path: list[int], top: int, spans: list[Span], back: list[WeightTable], slot: int) -> bool:
        """Follow the way back from the slot of the last item."""
        moved = False
        for number in range(len(path) - 1, -1, -1):
            held, goal = self.state.place[path[number]], slot + spans[number][0]
            if goal < held or goal > held + 1:
                self.shift(top + number, held, goal)
                moved = True
            if number:
                slot = int(back[number - 1][slot])
        return moved

    def shift(self, rank: int, old: int, slot: int) -> None:
        """Move one item within its rank."""
        row, place = self.state.ranks[rank], self.state.place
        item = row.pop(old)
        row.insert(slot - (slot > old), item)
        low, high = min(old, slot), max(old + 1, slot)  # only saves time: the others keep their places
        for position in range(low, high):
            place[row[position]] = position
        self.place[row[low:high]] = range(low, high)
        self.clock += 1
        for gap in (rank - 1, rank) if rank else (rank,):
            self.table[gap] = self.cross[gap] = self.free[gap] = None
            self.changed[gap] = self.clock
