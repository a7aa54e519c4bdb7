"""Move the inputs of the first box of a column into that column, and outputs to the end of their column, so that few
lines cross the gutter.

Two boxes feed `decoder`, where a column begins. `encoder` stays; `targets`, a short tree that feeds no other box, moves
to new first ranks of the column of `decoder`:

    encoder ──┐   ┌▶ decoder              encoder ──┐   ┌▶ decoder
    ids       │   │                       ids       │   │     ▲
    targets ──┴───┘                                 └───┘  targets

A port of the last side to which only lines from columns before a break lead is on a new last rank of these columns. A
line to the next column passes the boxes of its column on the side of the gutter, so that it does not run around them:

    ╭─────────╮                           ┌─────┐
    │ ┌─────┐ │  ┌─▶ decoder              │ enc │ ┌─▶ decoder
    │ │ enc │ │  │                not     └──▲──┘ │
    │ └──▲──┘ ╰──╯            (left)         │    │
   mask  │                               mask┼────╯
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from graphviz_tb.model.skeleton import Skeleton

MAX_COMPARED_LINES = 120  # the lines of larger levels are not compared pair by pair
MAX_MOVED_RANKS = 4  # such as an input, its embedding and sums; longer chains are a column

ItemChain = tuple[int, ...]


def move_ends_to_columns(skeleton: Skeleton) -> Skeleton:
    """Return a skeleton in columns with the inputs of the first box of each column in that column, and the outputs of a
    column at its end.

    Ports that feed only such inputs are on the first rank of the column. All other items keep their places.
    """
    for part, breaks in enumerate(skeleton.breaks):
        for number in range(len(breaks)):
            skeleton = _ColumnInputs(skeleton, part, number).with_outputs_before()
        # Start with the last break, because it shifts no earlier break, and its ports are the rightmost.
        for number in range(len(breaks) - 1, -1, -1):
            skeleton = _ColumnInputs(skeleton, part, number).moved_skeleton()
        for number in range(len(breaks)):
            skeleton = _ColumnInputs(skeleton, part, number).with_lines_beside_gutter()
    return skeleton


class InputTrees:
    """Finds the trees of boxes that lead to a line of a level and to nothing else."""

    def __init__(self, chains: Sequence[ItemChain]) -> None:
        self.chains = chains  # from upper to lower ends
        self.into: dict[int, list[int]] = {}  # wires by the item they enter
        self.uses: dict[int, int] = {}  # wires that leave an item
        for wire, chain in enumerate(chains):
            self.into.setdefault(chain[-1], []).append(wire)
            self.uses[chain[0]] = self.uses.get(chain[0], 0) + 1

    def depth(self, wire: int) -> int:
        """Return the number of ranks of the tree of boxes that leads to a wire; 2³⁰ if another wire leaves one of these
        boxes, or if there are more than `MAX_MOVED_RANKS`."""
        tier, depth = [self.chains[wire][0]], 0
        while tier:
            depth += 1
            if depth > MAX_MOVED_RANKS or any(self.uses[item] > 1 for item in tier):
                return 1 << 30
            tier = [self.chains[other][0] for item in tier for other in self.into.get(item, ())]
        return depth


class _ColumnInputs:
    """The lines from the columns before a break to the box at it."""

    def __init__(self, skeleton: Skeleton, part: int, number: int) -> None:
        self.skeleton, self.part, self.number = skeleton, part, number
        self.start = skeleton.breaks[part][number]
        self.rows = skeleton.parts[part]
        self.chains = [wire.chain[::-1] if wire.turned else wire.chain for wire in skeleton.wires]
        self.rank = {item: r for r, row in enumerate(self.rows) for item in row}
        self.place = {item: at for row in self.rows for at, item in enumerate(row)}
        self.trees = InputTrees(self.chains)
        self.next = skeleton.first_waypoint + len(skeleton.waypoint)

    def crossing_wires(self) -> list[int]:
        """Return the lines from columns before the break to columns after it."""
        return [
            wire
            for wire, chain in enumerate(self.chains)
            if chain[0] in self.rank and self.rank[chain[0]] < self.start <= self.rank[chain[-1]]
        ]

    def steps_before(self, wire: int) -> int:
        """Return the number of items of a line before the break."""
        return self.start - self.rank[self.chains[wire][0]]

    def with_lines_beside_gutter(self) -> Skeleton:
        """Return the skeleton with lines to the next column that pass left of boxes moved to their right, unless more
        lines cross then."""
        skeleton, crossing = self.skeleton, self.crossing_wires()
        shared = Counter(item for chain in self.chains for item in chain)
        rows = [*self.rows]
        for wire in crossing if len(self.chains) <= MAX_COMPARED_LINES else ():
            before = {*self.chains[wire][1 : self.steps_before(wire)]}
            after = {*self.chains[wire][self.steps_before(wire) : -1]}
            at_gutter = all(rows[self.rank[item]][-1] == item for item in before)
            if at_gutter or any(shared[item] > 1 for item in before | after):
                continue
            others = {item for other in crossing if other != wire for item in self.chains[other][1:-1]} - before - after
            moved = [_with_item_right(row, before, after, others) for row in rows]
            if _count_inversions(moved, self.chains) <= _count_inversions(rows, self.chains):
                rows = moved
        parts = [*skeleton.parts]
        parts[self.part] = tuple(rows)
        return replace(skeleton, parts=tuple(parts))

    def with_outputs_before(self) -> Skeleton:
        """Return the skeleton with the ports on the last side to which only columns before the break lead moved to the
        end of these columns; unchanged if another port is to the left of one of them."""
        crossing, last = self.crossing_wires(), self.rows[-1]
        if last[0] < self.skeleton.children or last[0] >= self.skeleton.first_waypoint:
            return self.skeleton
        moved = set(last).intersection(self.chains[wire][-1] for wire in crossing)
        moved -= {port for port in moved if len(set(self.trees.into[port]) & {*crossing}) < len(self.trees.into[port])}
        if not moved or len(moved) == len(last) or not moved.issuperset(last[: len(moved)]):
            return self.skeleton
        chains = [*self.chains]
        leaving = [wire for wire in crossing if chains[wire][-1] in moved]
        for wire in leaving:
            chains[wire] = (*chains[wire][: self.steps_before(wire)], chains[wire][-1])
        kept = [wire for wire in crossing if wire not in leaving]
        trunks = self.lengthened_chains(chains, sorted(kept, key=self.place_before), 1)
        used = {item for chain in chains for item in chain} | set(range(self.skeleton.first_waypoint))
        rows = [tuple(item for item in row if item in used and item not in moved) for row in self.rows]
        new_row = (*last[: len(moved)], *(trunk[0] for trunk in trunks))
        return self.renumbered_skeleton([*rows[: self.start], new_row, *rows[self.start :]], chains, 1, self.number)

    def place_before(self, wire: int) -> int:
        """Return the place of a line on the last rank before the break."""
        return self.place[self.chains[wire][self.steps_before(wire) - 1]]

    def lengthened_chains(self, chains: list[ItemChain], kept: Sequence[int], count: int) -> list[ItemChain]:
        """Insert `count` new waypoints at the break into the chains of the `kept` lines; return the inserted runs, once
        for lines that share them."""
        trunks: dict[tuple[int, int], ItemChain] = {}
        for wire in kept:
            steps = self.steps_before(wire)
            last = chains[wire][steps - 1]
            key = (last, -1) if last >= self.skeleton.first_waypoint else (last, wire)
            if key not in trunks:
                trunks[key] = tuple(range(self.next, self.next + count))
                self.next += count
            chains[wire] = (*chains[wire][:steps], *trunks[key], *chains[wire][steps:])
        return [*trunks.values()]

    def renumbered_skeleton(
        self, rows: Sequence[tuple[int, ...]], chains: Sequence[ItemChain], count: int, first: int
    ) -> Skeleton:
        """Return the skeleton with other ranks and chains, and its breaks from number `first` on `count` ranks
        later."""
        parts, breaks = [*self.skeleton.parts], [*self.skeleton.breaks]
        parts[self.part] = tuple(rows)
        breaks[self.part] = tuple(r + count * (at >= first) for at, r in enumerate(breaks[self.part]))
        return _number_waypoints(replace(self.skeleton, parts=tuple(parts), breaks=tuple(breaks)), chains)

    def moved_skeleton(self) -> Skeleton:
        """Return the skeleton with the inputs moved; unchanged if there are none."""
        crossing = self.crossing_wires()
        users = {self.chains[wire][-1] for wire in crossing if self.chains[wire][-1] < self.skeleton.children}
        if len(users) != 1 or self.rank[max(users)] != self.start:
            return self.skeleton
        # Compare from the end, so that lines of a bus have the order in which they join it.
        crossing.sort(key=lambda wire: [self.place[item] for item in self.chains[wire][-2::-1]])
        before = self.start - ([0, *self.skeleton.breaks[self.part]][self.number])
        depths = {wire: self.trees.depth(wire) for wire in crossing}
        moved = [wire for wire in crossing if self.chains[wire][-1] in users and 2 * depths[wire] <= before]
        if not moved or len(moved) == len(crossing):
            return self.skeleton
        count = max(depths[wire] for wire in moved)
        kept = [wire for wire in crossing if wire not in moved]
        return self.rebuilt_skeleton(kept, *self.moved_rows(moved, count), count)

    def moved_rows(self, moved: Sequence[int], count: int) -> tuple[list[list[int]], dict[int, ItemChain]]:
        """Return the moved items of each new rank, and the new chains of their lines.

        A port is on the first of these ranks, all other items as near to their users as possible.
        """
        rows: list[list[int]] = []
        chains: dict[int, ItemChain] = {}
        tier: list[tuple[int, ItemChain]] = [(wire, (self.chains[wire][-1],)) for wire in moved]
        for ranks_left in range(count, 0, -1):
            rows.append([])
            tier, previous = [], tier
            for wire, chain in previous:
                source = self.chains[wire][0]
                if ranks_left > 1 and source >= self.skeleton.children:
                    tier.append((wire, (self.next, *chain)))
                    rows[-1].append(self.next)
                    self.next += 1
                    continue
                rows[-1].append(source)
                chains[wire] = (source, *chain)
                feeding = sorted(self.trees.into.get(source, ()), key=lambda other: self.place[self.chains[other][-2]])
                tier += [(other, (source,)) for other in feeding]
        return rows[::-1], chains

    def rebuilt_skeleton(
        self, kept: Sequence[int], rows: list[list[int]], moved: dict[int, ItemChain], count: int
    ) -> Skeleton:
        """Return the skeleton with `rows` inserted at the break, with waypoints for the `kept` lines on their left;
        unchanged if ports would change their order."""
        skeleton, start = self.skeleton, self.start
        chains = [moved.get(wire, chain) for wire, chain in enumerate(self.chains)]
        trunks = self.lengthened_chains(chains, kept, count)
        unused = {item for wire in moved for item in self.chains[wire]}
        unused -= {item for wire, chain in enumerate(chains) if wire not in moved for item in chain}
        above = [tuple(item for item in row if item not in unused) for row in self.rows[:start]]
        new_rows = [(*(trunk[r] for trunk in trunks), *rows[r]) for r in range(count)]
        ports = [item for item in self.rows[0] if skeleton.children <= item < skeleton.first_waypoint]
        shifted = [item for item in new_rows[0] if skeleton.children <= item < skeleton.first_waypoint]
        if not all(above) or (shifted and ports[-len(shifted) :] != shifted):
            return skeleton
        return self.renumbered_skeleton([*above, *new_rows, *self.rows[start:]], chains, count, self.number + 1)


def _with_item_right(row: ItemChain, ending: set[int], entering: set[int], passed: set[int]) -> ItemChain:
    """Return a rank with its item in `ending` at the right end, and its item in `entering` right of those in `passed`.

    >>> _with_item_right((7, 1, 2), {7}, set(), set()), _with_item_right((7, 8, 1), set(), {7}, {8})
    ((1, 2, 7), (8, 7, 1))
    """
    last = [item for item in row if item in ending]
    rest = [item for item in row if item not in ending]
    moved = [item for item in rest if item in entering]
    others = [item for item in rest if item not in entering]
    at = max([place + 1 for place, item in enumerate(others) if item in passed], default=0)
    if moved and at > rest.index(moved[0]):
        rest = [*others[:at], *moved, *others[at:]]
    return (*rest, *last)


def _count_inversions(rows: Sequence[ItemChain], chains: Sequence[ItemChain]) -> int:
    """Count the crossings of lines between the ranks of a part."""
    place = {item: (r, at) for r, row in enumerate(rows) for at, item in enumerate(row)}
    hops: list[set[tuple[int, int]]] = [set() for _ in rows]
    for chain in chains:
        for upper, lower in pairwise(chain) if chain[0] in place else ():
            hops[place[upper][0]].add((place[upper][1], place[lower][1]))
    return sum(one[0] < two[0] and one[1] > two[1] for gap in hops for one in gap for two in gap)


def _number_waypoints(skeleton: Skeleton, chains: Sequence[ItemChain]) -> Skeleton:
    """Return a skeleton with these chains, which run downward, and its waypoints numbered in their order."""
    first = skeleton.first_waypoint
    waypoint: list[int] = []
    name: dict[int, int] = {}
    for number, chain in enumerate(chains):
        for item in chain:
            if item >= first and item not in name:
                name[item] = first + len(waypoint)
                waypoint.append(number)
    wires = []
    for wire, chain in zip(skeleton.wires, chains, strict=True):
        named = tuple(name.get(item, item) for item in chain)
        wires.append(replace(wire, chain=named[::-1] if wire.turned else named))
    parts = tuple(tuple(tuple(name.get(item, item) for item in row) for row in part) for part in skeleton.parts)
    return replace(skeleton, wires=tuple(wires), waypoint=tuple(waypoint), parts=parts)
