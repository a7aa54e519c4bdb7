"""Whole long edges move at once, each to its best way through the ranks.

A thread is a maximal path of items with at most one line above and one below: the waypoints of a long edge, and plain
chains of nodes. With everything else held, the way of a thread with the fewest crossings is a shortest path over the
slots of its ranks, found by dynamic programming; exchanging neighbours rank by rank never finds it, for between the first
and the last rank of the move crossings grow before they shrink.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.arrange.layered.state import State

Table = NDArray[np.int64]
SCALE = 1 << 16  # crossings count before any number of moves


def threads(above: list[list[int]], below: list[list[int]]) -> list[list[int]]:
    """All threads, the short ones first.

    >>> threads([[], [0], [1], [0, 2]], [[1, 3], [2], [3], []])
    [[1, 2]]
    """
    thin = [len(up) < 2 and len(down) < 2 for up, down in zip(above, below, strict=True)]
    found = []
    for item, up in enumerate(above):
        if thin[item] and not (up and thin[up[0]]) and (up or below[item]):
            path = [item]
            while below[path[-1]] and thin[below[path[-1]][0]]:
                path.append(below[path[-1]][0])
            found.append(path)
    found.sort(key=len)
    return found


class Weaver:
    """Tables of crossings for the gaps between ranks, made when asked for, dropped when an order changes."""

    def __init__(self, state: State, paths: list[list[int]]) -> None:
        self.state = state
        self.paths = paths
        self.place = np.array(state.place, np.int64)
        self.table: list[Table | None] = [None] * len(state.ranks)
        self.cross: list[Table | None] = [None] * len(state.ranks)
        self.count = np.arange(max(map(len, state.ranks)) + 1)
        self.clock = 1
        self.changed = [1] * len(state.ranks)  # when the order on one side of this gap last changed
        self.woven = [0] * len(paths)  # when this thread was last moved
        self.links: list[tuple[Table, Table]] = []
        for row in state.ranks[:-1]:
            upper = [item for item in row for _ in state.below[item]]
            lower = [other for item in row for other in state.below[item]]
            self.links.append((np.array(upper, np.int64), np.array(lower, np.int64)))

    def pass_over(self) -> bool:
        """Move each thread round which something has changed; whether any moved."""
        moved = False
        for number, path in enumerate(self.paths):
            top = self.state.rank[path[0]]
            if max(self.changed[max(top - 1, 0) : top + len(path)]) > self.woven[number]:
                moved = self.weave(path) or moved
                self.woven[number] = self.clock
        return moved

    def prefix(self, gap: int) -> Table:
        """How many lines start left of slot i and end left of slot j, for all i and j."""
        table = self.table[gap]
        if table is None:
            ranks = self.state.ranks
            high, wide = len(ranks[gap]) + 1, len(ranks[gap + 1]) + 1
            upper, lower = self.links[gap]
            spots = (self.place[upper] + 1) * wide + self.place[lower] + 1
            table = np.bincount(spots, minlength=high * wide).reshape(high, wide)
            table.cumsum(0, out=table)
            table.cumsum(1, out=table)
            self.table[gap] = table
        return table

    def crossed(self, gap: int) -> Table:
        """For all i and j, how many lines a line from slot i to slot j crosses, times `SCALE`."""
        found = self.cross[gap]
        if found is None:
            table = self.prefix(gap)
            found = table * -2
            found += table[:, -1:]
            found += table[-1]
            found *= SCALE
            self.cross[gap] = found
        return found

    def weave(self, path: list[int]) -> bool:
        """Move one thread to its best way; whether it moved. Among equal ways the one that moves the fewest items."""
        state = self.state
        place, top = state.place, state.rank[path[0]]
        held = [place[item] for item in path]
        cost = self.start(path, top)
        back = []
        here = held[0]
        for at in range(1, len(path)):
            there = held[at]
            total = self.crossed(top + at - 1) + cost[:, None]
            total[: here + 1, there + 1 :] -= SCALE
            total[here + 1 :, : there + 1] -= SCALE
            total[here] -= 1
            best = total.argmin(0)
            back.append(best)
            cost = total[best, self.count[: len(best)]]
            here = there
        cost = self.end(path, top, cost)
        cost[here] -= 1
        return self.move(path, top, held, back, int(cost.argmin()))

    def start(self, path: list[int], top: int) -> Table:
        """For each slot of the first item the crossings of the line above it."""
        above = self.state.above[path[0]]
        if not above:
            return np.zeros(len(self.state.ranks[top]) + 1, np.int64)
        table, at = self.prefix(top - 1), self.state.place[above[0]]
        cost: Table = table[-1] - table[at] - table[at + 1] + table[at, -1]
        return cost * SCALE

    def end(self, path: list[int], top: int, cost: Table) -> Table:
        """Add, for each slot of the last item, the crossings of the line below it."""
        below = self.state.below[path[-1]]
        if not below:
            return cost
        table, at = self.prefix(top + len(path) - 1), self.state.place[below[0]]
        more = table[:, -1] - table[:, at + 1] - table[:, at] + table[-1, at]
        return cost + more * SCALE

    def move(self, path: list[int], top: int, held: list[int], back: list[Table], slot: int) -> bool:
        """Follow the way back from the slot of the last item."""
        moved = False
        for at in range(len(path) - 1, -1, -1):
            if slot < held[at] or slot > held[at] + 1:
                self.shift(top + at, held[at], slot)
                moved = True
            if at:
                slot = int(back[at - 1][slot])
        return moved

    def shift(self, rank: int, old: int, slot: int) -> None:
        """Move one item within its rank."""
        row, place = self.state.ranks[rank], self.state.place
        item = row.pop(old)
        row.insert(slot - (slot > old), item)
        low, high = min(old, slot), max(old + 1, slot)
        for at in range(low, high):
            place[row[at]] = at
        self.place[row[low:high]] = range(low, high)
        self.clock += 1
        for gap in (rank - 1, rank) if rank else (rank,):
            self.table[gap] = self.cross[gap] = None
            self.changed[gap] = self.clock
