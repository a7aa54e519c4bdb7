"""A skeleton taken apart, so that something can be inserted or left out without moving the rest."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from operator import itemgetter

from graphviz_tb.arrange.large import TooManyBends
from graphviz_tb.arrange.layered.reroute import Rerouter
from graphviz_tb.arrange.layered.state import RankState
from graphviz_tb.arrange.part import Row
from graphviz_tb.limits import MAX_DRAFT_WORK, MAX_LEVEL_ITEMS, Meter
from graphviz_tb.model.skeleton import PortSlot, Skeleton, Wire

LineKey = tuple[int, int]  # metaedge, bridge (one of them -1)
RankPosition = tuple[int, int]  # part, rank


class SkeletonDraft:
    """Parts, wires and ports that change in place. Items keep their numbers; new ones get the next free number."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.children = skeleton.children
        self.parts: list[list[Row]] = [[list(row) for row in part] for part in skeleton.parts]
        self.shelves = [list(shelf) for shelf in skeleton.shelves]
        self.main = skeleton.main
        self.ports = {self.children + i: slot for i, slot in enumerate(skeleton.ports)}
        self.wires = {(wire.edge, wire.bridge): list(wire.chain) for wire in skeleton.wires}
        self.turned = {(wire.edge, wire.bridge) for wire in skeleton.wires if wire.turned}
        self.next = self.first = skeleton.first_waypoint + len(skeleton.waypoint)
        self.work = Meter(MAX_DRAFT_WORK)
        self._found: dict[int, RankPosition] | None = None  # by item its part and rank; None: outdated

    def item_positions(self) -> dict[int, RankPosition]:
        """Return the part and rank of each item. Raises TooManyBends if they were computed too often."""
        if self._found is None:
            self._found = {
                item: (p, r) for p, part in enumerate(self.parts) for r, row in enumerate(part) for item in row
            }
            if not self.work.take(len(self._found)):
                raise TooManyBends
        return self._found

    def forget_positions(self) -> None:
        """Mark the positions as outdated: ranks or parts were renumbered."""
        self._found = None

    def insert_item(self, item: int, where: RankPosition, place: int) -> None:
        """Insert an item into a row; everything else stays on its rank."""
        part, rank = where
        self.parts[part][rank].insert(place, item)
        if self._found is not None:
            self._found[item] = where

    def horizontal_share(self, item: int) -> Fraction:
        """Return how far to the right an item is in its row, from 0 to 2."""
        part, rank = self.item_positions()[item]
        row = self.parts[part][rank]
        return Fraction(2 * row.index(item) + 1, len(row))

    def new_item(self) -> int:
        """Return the number of a new item. Raises TooManyBends after `MAX_LEVEL_ITEMS` of them."""
        if self.next >= self.first + MAX_LEVEL_ITEMS:
            raise TooManyBends
        self.next += 1
        return self.next - 1

    def drop_lines(self, gone: Callable[[LineKey], bool], removed: set[int]) -> None:
        """Drop wires and children, and the waypoints and ports that no wire uses then."""
        self.wires = {key: chain for key, chain in self.wires.items() if not gone(key)}
        used = {item for chain in self.wires.values() for item in chain}
        self.ports = {item: slot for item, slot in self.ports.items() if item in used}

        def stays(item: int) -> bool:
            return item in used if item >= self.children else item not in removed

        parts = [[[item for item in row if stays(item)] for row in part] for part in self.parts]
        self.parts = [[row for row in part if row] for part in parts]
        self.forget_positions()

    def merge_parts(self) -> None:
        """Merge all parts into one, keeping every "left of" and "above" of the shelves."""
        stacked: list[Row] = []
        for shelf in self.shelves:
            # Parts of a shelf next to each other, rank by rank from the top; the next shelf below.
            for r in range(max((len(self.parts[part]) for part in shelf), default=0)):
                rows = [self.parts[part][r] for part in shelf if r < len(self.parts[part])]
                stacked.append([item for row in rows for item in row])
        own = self.parts[self.main] if self.main >= 0 else []
        # The rank of the first ports stays first, that of the last ports last.
        start = 1 if own and own[0][0] in self.ports else 0
        if self.main >= 0:
            end = len(own) - (1 if own and own[-1][0] in self.ports and len(own) > start else 0)
            own[end:end] = [[] for _ in range(len(stacked) - (end - start))]
            self.fill_chains(own)
            self.shelves = []
        else:
            own, self.shelves = [[] for _ in stacked], [[0]]
        for r, row in enumerate(stacked):
            own[start + r] += row
        self.parts = [own]
        self.main = min(self.main, 0)
        self.forget_positions()

    def add_port(self, slot: PortSlot) -> int:
        """Add a port at the right end of its side."""
        if self.main < 0:
            self.merge_parts()
            self.main, self.shelves = 0, []
        rows = self.parts[self.main]
        side = 0 if slot.first else -1
        if not rows or rows[side][0] not in self.ports or self.ports[rows[side][0]].first is not slot.first:
            rows.insert(0 if slot.first else len(rows), [])
        item = self.new_item()
        rows[side].append(item)
        self.ports[item] = slot
        self.forget_positions()
        return item

    def fill_chains(self, rows: list[Row]) -> None:
        """Give the lines to the last ports waypoints on the ranks inserted before these."""
        rank = {item: r for r, row in enumerate(rows) for item in row}
        for key, chain in self.wires.items():
            upwards, added = key in self.turned, 0
            count = len(chain)
            # A copy: the chain grows in the loop.
            for place, (upper, lower) in enumerate(pairwise(chain[::-1] if upwards else chain[:])):
                for r in range(rank.get(upper, 0) + 1, rank.get(lower, 0)):
                    self.add_waypoint(key, count - 1 - place if upwards else place + 1 + added, rows[r])
                    added += 1

    def add_waypoint(self, key: LineKey, place: int, row: Row) -> None:
        """Add a waypoint to a wire, at a place in its chain, at the right end of a rank."""
        item = self.new_item()
        self.wires[key].insert(place, item)
        row.append(item)

    def insert_rank(self, part: int, rank: int) -> None:
        """Insert a rank before `rank`; every line that passes gets a waypoint there."""
        rows = self.parts[part]
        upper, lower = (
            places_in_row(rows[rank - 1] if rank else []),
            places_in_row(rows[rank] if rank < len(rows) else []),
        )
        crossing: list[tuple[int, int, int, LineKey]] = []
        for key, chain in self.wires.items():
            upwards = key in self.turned  # chains of turned wires run upwards
            for place, (above, below) in enumerate(pairwise(chain[::-1] if upwards else chain)):
                if above in upper:
                    at = len(chain) - 1 - place if upwards else place + 1
                    crossing.append((upper[above], lower[below], at, key))
        self.work.take(len(self._found or ()))
        rows.insert(rank, [])
        for _, _, place, key in sorted(crossing, key=itemgetter(0, 1)):
            self.add_waypoint(key, place, rows[rank])
        self.forget_positions()

    def reroute_wires(self, keys: list[LineKey]) -> None:
        """Give the waypoints of the named wires their best paths; everything else stays."""
        place = self.item_positions()
        for p, part in enumerate(self.parts):
            inside = [key for key in keys if len(self.wires[key]) > 2 and place[self.wires[key][0]][0] == p]
            if not inside:
                continue
            names = [item for row in part for item in row]
            local = {item: i for i, item in enumerate(names)}
            chains = [
                [local[item] for item in (chain[::-1] if key in self.turned else chain)]
                for key, chain in self.wires.items()
                if place[chain[0]][0] == p
            ]
            state = RankState(len(names), [[local[item] for item in row] for row in part], chains)
            paths = [sorted((local[i] for i in self.wires[key][1:-1]), key=state.rank.__getitem__) for key in inside]
            Rerouter(state, paths).reroute_changed()
            self.parts[p] = [[names[i] for i in row] for row in state.ranks]

    def to_skeleton(self, order: list[LineKey]) -> Skeleton:
        """Return the skeleton with ports and waypoints renumbered, and wires in the given order."""
        slots = sorted(self.ports, key=lambda item: not self.ports[item].first)  # first side before last; stable
        name = {item: item for item in range(self.children)}
        name.update({item: self.children + i for i, item in enumerate(slots)})
        waypoint: list[int] = []
        base = self.children + len(slots)
        for number, key in enumerate(order):
            for item in self.wires[key]:
                if item not in name:
                    name[item] = base + len(waypoint)
                    waypoint.append(number)
        wires = tuple(Wire(*key, tuple(name[i] for i in self.wires[key]), key in self.turned) for key in order)
        kept = [p for p, part in enumerate(self.parts) if any(part)]
        number_of = {p: i for i, p in enumerate(kept)}
        shelves = [tuple(number_of[p] for p in shelf if p in number_of) for shelf in self.shelves]
        parts = tuple(tuple(tuple(name[i] for i in row) for row in self.parts[p] if row) for p in kept)
        ports: tuple[PortSlot, ...] = tuple(self.ports[item] for item in slots)
        shown = tuple(shelf for shelf in shelves if shelf)
        return Skeleton(self.children, ports, wires, tuple(waypoint), parts, shown, number_of.get(self.main, -1))


def places_in_row(row: Row) -> dict[int, int]:
    """Return the place of each item of a row."""
    return {item: place for place, item in enumerate(row)}
