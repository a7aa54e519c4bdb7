"""The state of an ordering: the ranks, the place of each item, and its links."""

from __future__ import annotations

from collections.abc import Collection, Iterable


class RankState:
    """Ranks that change in place. `place[item]` is its index in its rank; `above`, `below` are its links; the ranks
    `held` keep their order."""

    def __init__(
        self, count: int, ranks: list[list[int]], chains: Iterable[list[int]], held: Collection[int] = ()
    ) -> None:
        self.held = held
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
        """Set the order of all ranks."""
        self.ranks = [row[:] for row in ranks]
        for row in self.ranks:
            for number, item in enumerate(row):
                self.place[item] = number

    def copy_ranks(self) -> list[list[int]]:
        """Return a copy of the current ranks."""
        return [row[:] for row in self.ranks]
