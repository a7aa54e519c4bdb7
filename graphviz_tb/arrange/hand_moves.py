"""Move nodes between the main and the auxiliary area by hand, and keep the order of all other items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from operator import itemgetter

from graphviz_tb.arrange.component import Row
from graphviz_tb.arrange.layered.reroute import RankState, Rerouter
from graphviz_tb.arrange.lines import (
    ArrangeLine,
    Turned,
    drawn_bridges,
    drawn_edges,
    level_lines,
    port_side,
)
from graphviz_tb.arrange.plain_rows import TooManyBends
from graphviz_tb.graphs.main_path import main_paths
from graphviz_tb.limits import MAX_DRAFT_WORK, MAX_LEVEL_ITEMS, MAX_PORTS_PER_SIDE, Meter
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.skeleton import PortSlot, Skeleton, Wire

# A skeleton that can be changed: items are inserted and removed without moving others.

LineKey = tuple[int, int]  # metaedge, bridge (one of them -1)
RankPosition = tuple[int, int]  # part, rank


class SkeletonDraft:
    """Parts, wires and ports that change in place. Items keep their numbers; new items have the next free numbers."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.children = skeleton.children
        self.parts: list[list[Row]] = [[list(row) for row in part] for part in skeleton.parts]
        self.shelves = [list(shelf) for shelf in skeleton.shelves]
        self.port_part = skeleton.port_part
        self.ports = {self.children + i: slot for i, slot in enumerate(skeleton.ports)}
        self.wires = {(wire.edge, wire.bridge): list(wire.chain) for wire in skeleton.wires}
        self.turned = {(wire.edge, wire.bridge) for wire in skeleton.wires if wire.turned}
        self.next_item = self.first_item = skeleton.first_waypoint + len(skeleton.waypoint)
        self.work = Meter(MAX_DRAFT_WORK)
        self._found: dict[int, RankPosition] | None = None  # part and rank by item; None if outdated

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
        """Mark the positions as outdated, because ranks or parts were renumbered."""
        self._found = None

    def insert_item(self, item: int, where: RankPosition, place: int) -> None:
        """Insert an item into a row at `place`."""
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
        if self.next_item >= self.first_item + MAX_LEVEL_ITEMS:
            raise TooManyBends
        self.next_item += 1
        return self.next_item - 1

    def drop_lines(self, gone: Callable[[LineKey], bool], removed: set[int]) -> None:
        """Drop wires and children, and the waypoints and ports that no wire uses any more."""
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
            # Parts of a shelf are next to each other, rank by rank from the top; the next shelf is below.
            for r in range(max((len(self.parts[part]) for part in shelf), default=0)):
                rows = [self.parts[part][r] for part in shelf if r < len(self.parts[part])]
                stacked.append([item for row in rows for item in row])
        merged = self.parts[self.port_part] if self.port_part >= 0 else []
        # The first ports stay on the first rank, the last ports on the last.
        first_rank = 1 if merged and merged[0][0] in self.ports else 0
        if self.port_part >= 0:
            end = len(merged) - (1 if merged and merged[-1][0] in self.ports and len(merged) > first_rank else 0)
            merged[end:end] = [[] for _ in range(len(stacked) - (end - first_rank))]
            self.fill_chains(merged)
            self.shelves = []
        else:
            merged, self.shelves = [[] for _ in stacked], [[0]]
        for r, row in enumerate(stacked):
            merged[first_rank + r] += row
        self.parts = [merged]
        self.port_part = min(self.port_part, 0)
        self.forget_positions()

    def add_port(self, slot: PortSlot) -> int:
        """Add a port at the right end of its side."""
        if self.port_part < 0:
            self.merge_parts()
            self.port_part, self.shelves = 0, []
        rows = self.parts[self.port_part]
        side = 0 if slot.first else -1
        if not rows or rows[side][0] not in self.ports or self.ports[rows[side][0]].first is not slot.first:
            rows.insert(0 if slot.first else len(rows), [])
        item = self.new_item()
        rows[side].append(item)
        self.ports[item] = slot
        self.forget_positions()
        return item

    def fill_chains(self, rows: list[Row]) -> None:
        """Add waypoints to the lines to the last ports, on the ranks inserted before these ports."""
        rank = {item: r for r, row in enumerate(rows) for item in row}
        for key, chain in self.wires.items():
            upwards, added = key in self.turned, 0
            count = len(chain)
            # Iterate over a copy, because the chain grows in the loop.
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
        """Insert a rank before `rank`, with a waypoint for every line that passes."""
        rows = self.parts[part]
        upper, lower = (
            _places_in_row(rows[rank - 1] if rank else []),
            _places_in_row(rows[rank] if rank < len(rows) else []),
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
        """Move the waypoints of these wires to their best paths."""
        place = self.item_positions()
        for p, part in enumerate(self.parts):
            inside = [key for key in keys if len(self.wires[key]) > 2 and place[self.wires[key][0]][0] == p]
            if not inside:
                continue
            items = [item for row in part for item in row]
            local = {item: i for i, item in enumerate(items)}
            chains = [
                [local[item] for item in (chain[::-1] if key in self.turned else chain)]
                for key, chain in self.wires.items()
                if place[chain[0]][0] == p
            ]
            state = RankState(len(items), [[local[item] for item in row] for row in part], chains)
            paths = [sorted((local[i] for i in self.wires[key][1:-1]), key=state.rank.__getitem__) for key in inside]
            Rerouter(state, paths).reroute_changed()
            self.parts[p] = [[items[i] for i in row] for row in state.ranks]

    def to_skeleton(self, order: list[LineKey]) -> Skeleton:
        """Return the skeleton with ports and waypoints renumbered, and wires in this order."""
        slots = sorted(self.ports, key=lambda item: not self.ports[item].first)  # first side before last
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
        return Skeleton(self.children, ports, wires, tuple(waypoint), parts, shown, number_of.get(self.port_part, -1))


def _places_in_row(row: Row) -> dict[int, int]:
    return {item: place for place, item in enumerate(row)}


# Bring a draft in line with a mask.


def follow_mask(metagraph: Metagraph, skeleton: Skeleton, turned: Turned) -> Skeleton:
    """Return the skeleton of `metagraph.automatic` brought in line with `metagraph.mask`.

    The result has a wire for every line that `metagraph.mask` leaves; for any two items of `skeleton`, "left of" and
    "above" do not change.
    """
    mask = metagraph.mask
    draft = SkeletonDraft(skeleton)
    edges, bridges = drawn_edges(metagraph, mask), drawn_bridges(metagraph, mask)
    order: list[LineKey] = [*((edge, -1) for edge in edges), *((-1, bridge) for bridge in bridges)]
    wanted = set(order)
    draft.drop_lines(lambda key: key not in wanted, set(mask.extracted_children))
    positions = draft.item_positions()
    added = [child for child in metagraph.core_children() if child not in positions]
    _add_missing_ports(draft, metagraph, [index for index in bridges if (-1, index) not in draft.wires], turned)
    new_lines = level_lines(metagraph, edges, bridges, _draft_port_items(draft), turned)
    new_lines = [line for line in new_lines if (line.edge, line.bridge) not in draft.wires]
    lines_by_end: dict[int, list[ArrangeLine]] = {}
    for line in new_lines:
        for end in dict.fromkeys((line.source, line.target)):
            lines_by_end.setdefault(end, []).append(line)
    # Insert children one by one, because a new child may be linked to one just inserted.
    for child in added:
        _insert_child(draft, child, lines_by_end.get(child, []))
    for line in new_lines:
        if (line.edge, line.bridge) not in draft.wires:
            _insert_line(draft, line)
    draft.reroute_wires([(line.edge, line.bridge) for line in new_lines])
    moved = draft.to_skeleton(order)
    thick = [line.thick for line in level_lines(metagraph, edges, bridges, _draft_port_items(draft), turned)]
    return replace(moved, main_path=main_paths(moved, thick))


def _add_missing_ports(draft: SkeletonDraft, metagraph: Metagraph, bridges: list[int], turned: Turned) -> None:
    """Add a port for each new neighbour; beyond `MAX_PORTS_PER_SIDE` it shares the last port of its side."""
    for index in bridges:
        first, other = port_side(metagraph.bridges[index], turned)
        side = {item: slot for item, slot in draft.ports.items() if slot.first is first}
        if any(other in slot.others for slot in side.values()):
            continue
        shared = [item for item, slot in side.items() if len(slot.others) > 1]
        if shared:
            draft.ports[shared[0]] = PortSlot(first, (*draft.ports[shared[0]].others, other))
        elif len(side) <= MAX_PORTS_PER_SIDE:
            draft.add_port(PortSlot(first, (other,)))
        else:
            last = max(side)
            draft.ports[last] = PortSlot(first, (*side[last].others, other))


def _draft_port_items(draft: SkeletonDraft) -> dict[tuple[bool, tuple[int, bool]], int]:
    return {(slot.first, other): item for item, slot in draft.ports.items() for other in slot.others}


def _insert_child(draft: SkeletonDraft, child: int, lines: list[ArrangeLine]) -> None:
    """Insert a child, and those of its lines (`own`) whose other end is present."""
    place = draft.item_positions()
    before = [line.source for line in lines if line.target == child and line.source in place]
    after = [line.target for line in lines if line.source == child and line.target in place]
    parts = {place[item][0] for item in (*before, *after)}
    if not parts:
        draft.parts.append([[child]])
        draft.shelves.append([len(draft.parts) - 1])
        place[child] = len(draft.parts) - 1, 0
        return
    if len(parts) > 1:
        draft.merge_parts()
        place = draft.item_positions()
    part = place[(before + after)[0]][0]
    rows = draft.parts[part]
    near = sorted(draft.horizontal_share(item) for item in (*before, *after))
    rank = _rank_for_child(draft, part, [place[item][1] for item in before], [place[item][1] for item in after])
    draft.insert_item(child, (part, rank), int(near[len(near) // 2] * len(rows[rank]) / 2))  # at its neighbours' median
    place = draft.item_positions()
    for line in lines:
        if line.source in place and line.target in place:
            _insert_line(draft, line)


def _rank_for_child(draft: SkeletonDraft, part: int, before: list[int], after: list[int]) -> int:
    """Return the rank for a new child: below its predecessors, or above its successors if it has none; insert a rank if
    necessary."""
    rows = draft.parts[part]
    low = 1 if rows[0][0] in draft.ports and draft.ports[rows[0][0]].first else 0
    high = len(rows) - (1 if rows[-1][0] in draft.ports and not draft.ports[rows[-1][0]].first else 0)
    # A predecessor on the rank of the last ports does not count, because its line is turned.
    bound = [r for r in before if r < high]
    rank = max(bound) + 1 if bound else min((r for r in after if r >= low), default=low) - 1
    if rank < low or rank >= high or rank in after:
        rank = min(max(rank, low), high)
        draft.insert_rank(part, rank)
    return rank


def _insert_line(draft: SkeletonDraft, line: ArrangeLine) -> None:
    """Insert a line with waypoints between the places of its ends."""
    key = (line.edge, line.bridge)
    place = draft.item_positions()
    if place[line.source][0] != place[line.target][0]:
        draft.merge_parts()
        place = draft.item_positions()
    part, start_rank = place[line.source]
    end_rank = place[line.target][1]
    # A line needs two ranks, so move its target to a new rank, which keeps all "left of" and "above".
    if start_rank == end_rank:
        _lower_child(draft, line.target)
        end_rank = start_rank + 1
    rows = draft.parts[part]
    # Waypoints are on the straight line between the ends, at shares of the ranks' lengths.
    step = 1 if end_rank > start_rank else -1
    start, end = draft.horizontal_share(line.source), draft.horizontal_share(line.target)
    chain = [line.source]
    for r in range(start_rank + step, end_rank, step):
        share = start + (end - start) * (r - start_rank) / (end_rank - start_rank)
        item = draft.new_item()
        draft.insert_item(item, (part, r), int(share * len(rows[r]) / 2))
        chain.append(item)
    draft.wires[key] = [*chain, line.target]
    if step < 0:
        draft.turned.add(key)


def _lower_child(draft: SkeletonDraft, child: int) -> None:
    """Move a child one rank down onto a new rank, and add a waypoint to its lines from above."""
    part, rank = draft.item_positions()[child]
    place = draft.parts[part][rank].index(child)
    draft.insert_rank(part, rank + 1)
    row, new_row = draft.parts[part][rank], draft.parts[part][rank + 1]
    freed = []
    for chain in draft.wires.values():
        if child not in (chain[0], chain[-1]):
            continue
        neighbour = 1 if chain[0] == child else len(chain) - 2
        if chain[neighbour] in new_row:
            freed.append(chain.pop(neighbour))
        else:
            item = draft.new_item()
            row.insert(place, item)
            chain.insert(chain.index(child) + (1 if neighbour == 1 and chain[0] == child else 0), item)
    row.remove(child)
    new_row.insert(min((new_row.index(item) for item in freed), default=len(new_row)), child)
    draft.parts[part][rank + 1] = [item for item in new_row if item not in freed]
    draft.forget_positions()
