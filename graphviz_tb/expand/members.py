"""Open the members of stacks that show one member alone.

The shown member has the lines of the whole stack: a line that enters or leaves any member is drawn at the corresponding
row (`RowCorrespondence`) of the shown one. Lines between neighbouring members are left out.

    file       a ─▶ block0 ─▶ block1 ─▶ block2 ─▶ b        mask ─▶ block0, block1, block2
    drawn      a ─▶ block (×3) ─▶ b                        mask ─▶ block
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from graphviz_tb.expand import Expander
from graphviz_tb.expand.bridges import (
    Crossings,
    EdgeIndex,
    SortedCrossings,
    concatenate_crossings,
    find_bridges,
    no_crossings,
    sort_crossings,
)
from graphviz_tb.expand.bundling import build_metaedges, bundle_level, find_metaedges
from graphviz_tb.expand.correspondence import RowCorrespondence
from graphviz_tb.expand.drawn_bridges import decide_drawable
from graphviz_tb.expand.surplus import StackSurplus, find_surplus
from graphviz_tb.graphs.rows import rows_within
from graphviz_tb.model.columns import Bools, Ints, distinct_values, int32_column, positions_of_rows
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import SERIES_ROW
from graphviz_tb.model.metagraph import Bridge, Metaedge, Metagraph, Surplus
from graphviz_tb.model.paths import (
    RowPath,
    content_rows,
    is_stack,
    stack_around,
    stack_boxes,
    usual_member,
    without_digits,
)
from graphviz_tb.options import ExpandOptions

CrossingEnds = tuple[int, bool, int]  # the row outside, whether inbound, and the row inside
# The row inside, the row outside, whether inbound, (members that have the line, all members).
PartialLine = tuple[int, int, bool, tuple[int, int]]
MemberShares = dict[CrossingEnds, tuple[int, int]]


class Crossing(NamedTuple):
    """One row of `Crossings`."""

    edge: int
    inner: int
    other: int
    inbound: bool
    slot: int

    @property
    def ends(self) -> CrossingEnds:
        return self.other, self.inbound, self.inner


@dataclass(frozen=True, slots=True, eq=False)
class StackLines:
    """The crossings of a stack.

    - `across`: all crossings; `owner`: the member that each touches.
    - `member`: the usual member; `usual`: the crossings mapped onto it.
    - `loose`: crossings of members of another structure, at rows that correspond to none of the usual member.
    - `few`: by line of only some members, (members that have it, all members); inputs and outputs of a chain of members
      are not among them.
    - `place`: the position of each member.
    """

    across: Crossings
    owner: Ints
    usual: list[Crossing]
    loose: list[Crossing]
    few: MemberShares
    member: int
    place: dict[int, int]


class MemberExpander(Expander):
    """Opens groups of a hierarchy in which each open stack shows one member; `plain` opens groups outside of stacks."""

    def __init__(self, plain: Expander) -> None:
        super().__init__(plain.hierarchy, plain.facts, plain.options, plain.hidden)
        self.plain = plain
        self.alike = RowCorrespondence(plain.hierarchy)
        self._lines: dict[RowPath, StackLines] = {}
        self._shown: dict[RowPath, SortedCrossings] = {}
        self._few: dict[tuple[RowPath, RowPath], list[PartialLine]] = {}
        self._usual_ends: dict[tuple[RowPath, bool], list[int]] = {}  # cache of `_chain_ends`
        self._surplus: dict[int, StackSurplus | None] = {}  # by stack

    @cached_property
    def rows_in_stacks(self) -> Bools:
        hierarchy = self.hierarchy
        series = np.flatnonzero(hierarchy.kind == SERIES_ROW).tolist()
        return rows_within(hierarchy, [row for row in series if is_stack(hierarchy, row)], inner=True)

    def metagraph(self, path: RowPath) -> Metagraph:
        return super().metagraph(path) if any(map(self.rows_in_stacks.item, path)) else self.plain.metagraph(path)

    def cached_metagraph(self, path: RowPath) -> Metagraph | None:
        """Return the metagraph of a group that was opened before."""
        return (
            super().cached_metagraph(path)
            if any(map(self.rows_in_stacks.item, path))
            else self.plain.cached_metagraph(path)
        )

    def with_options(self, options: ExpandOptions) -> MemberExpander:
        """Return an expander of the same hierarchy with other options."""
        return MemberExpander(self.plain.with_options(options))

    def box_path(self, path: RowPath) -> RowPath:
        """Return the group whose box shows the content of a group: itself, or for a member its stack, or the outermost
        group that contains only that stack."""
        stack = stack_around(self.hierarchy, path)
        return path if stack is None else stack_boxes(self.hierarchy, stack)[-1]

    def _open(self, path: RowPath) -> Metagraph:
        return super()._open(path) if any(map(self.rows_in_stacks.item, path)) else self.plain.metagraph(path)

    def surplus_of_stack(self, stack: int) -> StackSurplus | None:
        """Return the surplus of one member of a stack; None if the stack has hidden rows."""
        if stack not in self._surplus:
            hidden = self.hidden is not None and self.hidden[stack : self.hierarchy.end[stack]].any()
            drawn = not hidden and not self.options.tensorboard
            self._surplus[stack] = find_surplus(self.hierarchy, self.facts, stack) if drawn else None
        return self._surplus[stack]

    def all_surplus(self) -> dict[int, Surplus]:
        """Return the surplus of each stack that has one."""
        hierarchy = self.hierarchy
        rows = np.flatnonzero(hierarchy.kind == SERIES_ROW).tolist()
        found = {row: self.surplus_of_stack(row) for row in rows if is_stack(hierarchy, row)}
        return {row: surplus.box for row, surplus in found.items() if surplus is not None}

    def surplus_in(self, path: RowPath) -> Surplus | None:
        """Return the surplus of a stack if the group is one of its members of the usual structure."""
        found = self._surplus_at(path[-1])
        return None if found is None else found.box

    def _surplus_at(self, row: int) -> StackSurplus | None:
        hierarchy, stack = self.hierarchy, int(self.hierarchy.parent[row])
        if stack < 0 or not is_stack(hierarchy, stack) or (found := self.surplus_of_stack(stack)) is None:
            return None
        return found if hierarchy.template[row] == hierarchy.template[found.usual] else None

    def _level_lines(self, path: RowPath) -> tuple[list[int], list[Metaedge], list[tuple[int, int]]]:
        if (surplus := self._surplus_at(path[-1])) is None:
            return super()._level_lines(path)
        rows = sorted([*content_rows(self.hierarchy, path), surplus.box.member])
        edges, loops = find_metaedges(self.hierarchy, self.facts, path, rows)
        across = self._group_crossings(path)
        across = across.pick(surplus.joins_box(across))
        inner, box = positions_of_rows(rows, across.inner), rows.index(surplus.box.member)
        ends = np.where(across.inbound, box, inner), np.where(across.inbound, inner, box)
        bundles, columns = bundle_level(self.hierarchy.graph, self.facts, across.edge, ends, self._edge_index.known)
        more, _ = build_metaedges(bundles, columns, 0, len(columns[0]))
        return rows, [*edges, *more], loops

    def _level_bridges(self, path: RowPath, rows: list[int], away: frozenset[int]) -> list[Bridge]:
        across, surplus = self._group_crossings(path), self._surplus_at(path[-1])
        if surplus is not None:
            across = across.pick(~surplus.joins_box(across))
        elif path[-1] in self.hierarchy.calls:
            across = self._edge_index.function_crossings(across, path[-1]).edges
        bridges = find_bridges(self.hierarchy, self.facts, across, rows, self._edge_index.known)
        bridges = self._with_member_shares(path, rows, bridges, self.stacks_around(path))
        return decide_drawable(self, path, rows, bridges, away, self.options)

    def _with_member_shares(
        self, path: RowPath, rows: list[int], bridges: list[Bridge], stacks: list[tuple[RowPath, RowPath]]
    ) -> list[Bridge]:
        """Add to bridges that only some members have the share of these members."""
        few: MemberShares = {}
        for stack, member in stacks:
            if (stack, member) not in self._few:
                self._few[stack, member] = self._partial_lines(stack, member)
            shares = self._few[stack, member]
            first = bisect_right(shares, path[-1], key=itemgetter(0))
            stop = bisect_left(shares, int(self.hierarchy.end[path[-1]]), key=itemgetter(0))
            for found, other, inbound, share in shares[first:stop]:
                few[other, inbound, rows[bisect_right(rows, found) - 1]] = share
        return [
            bridge.with_member_share(few[key])
            if (key := (bridge.other, bridge.inbound, rows[bridge.child])) in few
            else bridge
            for bridge in bridges
        ]

    def _partial_lines(self, stack: RowPath, member: RowPath) -> list[PartialLine]:
        """Return the lines that only some members of a stack have, mapped to one member, sorted by row."""
        lines = self._lines[stack]
        found: list[PartialLine] = []
        for (other, inbound, inner), share in lines.few.items():
            row = self.alike.corresponding_row(lines.member, member[-1], inner)
            if row is not None:
                found.append((row, other, inbound, share))
        return sorted(found, key=itemgetter(0))

    @cached_property
    def _edge_index(self) -> EdgeIndex:
        return EdgeIndex(self.hierarchy)

    def _group_crossings(self, path: RowPath) -> Crossings:
        files = self._edge_index
        files.count_known_calls(path[:-1])  # forgets calls if there are many
        for length in range(1, len(path)):  # the calls around it, from the outermost on
            if path[:length] not in files.calls:
                files.calls[path[:length]] = self._crossings_in_body(path[:length])
        return self._crossings_in_body(path)

    def member_crossings(self, member: RowPath) -> Crossings:
        """Return the crossings of a member that its stack shows alone."""
        self._group_crossings(member)
        return self._shown[member].edges

    def _crossings_in_body(self, path: RowPath) -> Crossings:
        """Return the crossings of a group. The crossings of the calls around it must be cached."""
        stacks = self.stacks_around(path)
        for depth, (stack, member) in enumerate(stacks):
            if member not in self._shown:
                around = stacks[depth - 1][1] if depth else None
                self._shown[member] = sort_crossings(self._stack_crossings_at(stack, member, around))
        return self._crossings_in_member(path, stacks[-1][1] if stacks else None)

    def stacks_around(self, path: RowPath) -> list[tuple[RowPath, RowPath]]:
        """Return the stacks around a path in its body, outermost first, each with the member that contains the path."""
        hierarchy, found, row = self.hierarchy, [], path[-1]
        while (parent := int(hierarchy.parent[row])) >= 0:
            if is_stack(hierarchy, parent):
                found.append(((*path[:-1], parent), (*path[:-1], row)))
            row = parent
        return found[::-1]

    def _crossings_in_member(self, path: RowPath, member: RowPath | None) -> Crossings:
        """Return the crossings of a group in the shown `member`; `member` is None outside of stacks."""
        own = self._edge_index.crossings_at(path)
        if member is None:
            return own
        hierarchy = self.hierarchy
        here = self._shown[member].touching_rows(path[-1], int(hierarchy.end[path[-1]]))
        if path == member:
            if (surplus := self.surplus_in(path)) is None:
                return here
            box = self._shown[member].touching_rows(surplus.member, surplus.member + 1)
            return concatenate_crossings(here, box)
        top, foot = member[-1], int(hierarchy.end[member[-1]])
        # Lines inside the member come first, because their order is the same in all members.
        return concatenate_crossings(own.pick((own.other >= top) & (own.other < foot)), here)

    def _stack_crossings_at(self, stack: RowPath, member: RowPath, around: RowPath | None) -> Crossings:
        """Return the crossings of a stack at the rows of one of its members.

        `around` is the shown member of the next stack outside, if there is one. First come the lines of the member
        itself, then those of the usual member at corresponding rows; lines at other rows end where the member is joined
        to its neighbours.
        """
        if stack not in self._lines:
            self._lines[stack] = self._map_stack_lines(stack, around)
        lines, row, surplus = self._lines[stack], member[-1], self._surplus_at(member[-1])
        own = _iterate_crossings(lines.across.pick(lines.owner == row))
        placed, unplaced = list[Crossing](), list(lines.loose)
        for line in lines.usual:
            found = self._row_in_member(lines.member, row, line.inner, surplus)
            if found is None:
                unplaced.append(line)
            else:
                placed.append(Crossing(line.edge, found, *line[2:]))
        shown = self._first_with_ends([*own, *placed])
        joints = list(_iterate_crossings(self._edges_to_members(stack, row)))
        shown = self._first_with_ends([*shown, *self._lines_at_joints(stack, row, unplaced, shown, joints)])
        # Edges between a member and others that are not its neighbours in the stack are drawn, too.
        here = lines.place[row]
        shown += [line for line in joints if abs(lines.place.get(line.other, here) - here) > 1]
        # Lines inside the member around come first, as in `_crossings_in_member`.
        inside = range(around[-1], int(self.hierarchy.end[around[-1]])) if around else ()
        shown.sort(key=lambda line: (line.other not in inside, line))
        shown = self._with_own_tensors(shown, joints)
        return _crossings_from_rows(shown if surplus is None else self._with_surplus(surplus, row, shown))

    def _first_with_ends(self, lines: Iterable[Crossing]) -> list[Crossing]:
        """Return the first of the lines between the same rows; control edges are lines of their own."""
        first: dict[tuple[CrossingEnds, bool], Crossing] = {}
        for line in lines:
            first.setdefault((line.ends, self.hierarchy.graph.control.item(line.edge)), line)
        return list(first.values())

    def _lines_at_joints(
        self,
        stack: RowPath,
        member: int,
        lines: Sequence[Crossing],
        shown: Sequence[Crossing],
        joints: Sequence[Crossing],
    ) -> list[Crossing]:
        """Return lines that correspond to no row of a member, moved to where `joints` join it to other members.

        Left out are lines to a row outside to which a `shown` line leads already, by data or by an edge of the same
        kind.
        """
        control = self.hierarchy.graph.control
        joined = {(line.other, line.inbound, control.item(line.edge)) for line in shown}
        unjoined = [
            line for line in lines if joined.isdisjoint([(*line[2:4], False), (*line[2:4], control.item(line.edge))])
        ]
        if not unjoined:
            return []
        slots = {(line.inner, line.inbound): line.slot for line in joints}
        return [
            Crossing(line.edge, row, line.other, line.inbound, slots.get((row, line.inbound), line.slot))
            for line, rows in zip(unjoined, self._ends_of_lines(stack, member, unjoined, joints), strict=True)
            for row in rows
        ]

    def _row_in_member(self, usual: int, member: int, row: int, surplus: StackSurplus | None) -> int | None:
        """Return the row of a member that corresponds to a row of the usual member. The box of a drawn surplus
        corresponds to itself."""
        if surplus is not None and row == surplus.box.member:
            return row
        return self.alike.corresponding_row(usual, member, row)

    def _with_surplus(self, surplus: StackSurplus, member: int, lines: list[Crossing]) -> list[Crossing]:
        """Add the lines of the box of a surplus to those of a member, and drop the inputs that its results replace."""
        box = surplus.box.member
        rows = [self.alike.corresponding_row(surplus.usual, member, row) for _, row, _, _ in surplus.lines]
        more = [
            Crossing(edge, row, box, inbound, slot)
            for (edge, _, inbound, slot), row in zip(surplus.lines, rows, strict=True)
            if row is not None
        ]
        fed = {(line.inner, line.slot) for line in more if line.inbound}
        return [line for line in lines if not (line.inbound and (line.inner, line.slot) in fed)] + more

    def _with_own_tensors(self, lines: Sequence[Crossing], joints: Sequence[Crossing]) -> list[Crossing]:
        """Return the lines of a stack, but with the edges that join the shown member to its neighbours (`joints`) where
        there are any: the tensors between the first stages differ in size from those between the last."""
        own: dict[tuple[int, bool, int, bool], int] = {}
        control = self.hierarchy.graph.control
        for edge, inner, _, inbound, slot in joints:
            own.setdefault((inner, inbound, slot, control.item(edge)), edge)
        return [
            Crossing(own.get((inner, inbound, slot, control.item(edge)), edge), inner, other, inbound, slot)
            for edge, inner, other, inbound, slot in lines
        ]

    def _map_stack_lines(self, stack: RowPath, around: RowPath | None) -> StackLines:
        """Return the crossings of a stack, and the same mapped onto its usual member."""
        across, usual = self._crossings_in_member(stack, around), usual_member(self.hierarchy, stack[-1])
        members = self.hierarchy.children(stack[-1])
        owner = members[np.searchsorted(members, across.inner, side="right") - 1] if len(members) else members
        # The usual member first: of lines that merge, the first decides about the tensors.
        order = np.lexsort((owner, owner != usual))
        across, owner = across.pick(order), owner[order]
        inner = self._corresponding_rows(usual, across.inner, owner)
        surplus = self.surplus_of_stack(stack[-1])
        if surplus is not None and (its := owner == surplus.box.member).any():
            inner = inner.copy()
            inner[its] = surplus.rows_of(self.hierarchy.node[across.inner[its]].tolist(), across.other[its].tolist())
        loose = list(_iterate_crossings(across.pick(inner < 0)))
        lines = replace(across, inner=inner).pick(inner >= 0)
        # Bits: 32-62 the row outside, 1-31 the row inside, 0 whether inbound.
        ends = lines.other.astype(np.int64) << 32 | lines.inner.astype(np.int64) << 1 | lines.inbound
        line_of = np.unique(ends, return_inverse=True)[1]
        line_of_member = distinct_values(line_of * len(self.hierarchy) + owner[inner >= 0]) // len(self.hierarchy)
        # Keep the first data edge and the first control edge of each line: they decide how it is drawn.
        kinds = line_of * 2 + self.hierarchy.graph.control[lines.edge]
        first_edges = np.sort(np.unique(kinds, return_index=True)[1])
        mapped = list(_iterate_crossings(lines.pick(first_edges)))
        counts = np.bincount(line_of_member)[line_of[first_edges]].tolist()
        shares = {
            line.ends: (count, len(members))
            for line, count in zip(mapped, counts, strict=True)
            if count < len(members) and (surplus is None or line.inner != surplus.box.member)
        }
        chain_ends = {inbound: self._chain_ends(stack, usual, inbound) for inbound in {key[1] for key in shares}}
        shares = {ends: share for ends, share in shares.items() if ends[2] not in chain_ends[ends[1]]}
        place = {row: at for at, row in enumerate(members.tolist())}
        return StackLines(across, owner, mapped, loose, shares, usual, place)

    def _corresponding_rows(self, group: int, rows: Ints, owner: Ints) -> Ints:
        """Return the rows in a group that correspond to `rows` in other groups (`owner`); -1 if no row does.

        The rows of one owner are adjacent.
        """
        found = rows - owner + group
        cuts = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(owner)]
        for first, stop in pairwise(cuts if len(owner) else ()):
            if not self.alike.are_copies(one := int(owner[first]), group):
                distinct, index = np.unique(rows[first:stop], return_inverse=True)
                matches = [self.alike.corresponding_row(one, group, row) for row in distinct.tolist()]
                found[first:stop] = np.array([-1 if row is None else row for row in matches])[index]
        return int32_column(found)

    def _ends_of_lines(
        self, stack: RowPath, member: int, lines: Sequence[Crossing], joints: Sequence[Crossing]
    ) -> list[list[int]]:
        """Return for each line of a member of another structure the rows of `member` where it is drawn.

        Candidates are the rows where neighbours are joined to `member` (`_row_ends`). Take the rows of a tensor of
        which one has the name, apart from digits, of the line's row in its own member; otherwise the rows that no line
        took by name, or all.
        """
        graph, names = self.hierarchy.graph, self.hierarchy.name
        ends = {inbound: self._row_ends(stack, member, inbound) for inbound in {line.inbound for line in lines}}
        shared = {
            (line.inbound, line.inner): (int(graph.source[line.edge]), int(graph.key[line.edge])) for line in joints
        }
        tensor = {(inbound, row): shared.get((inbound, row)) for inbound, rows in ends.items() for row in rows}
        found: dict[tuple[int, bool], set[tuple[int, int] | None]] = {}  # by the row outside and inbound
        for line in lines:
            name, rows = _name_without_counters(names[line.inner]), ends[line.inbound]
            same = {tensor[line.inbound, row] for row in rows if _name_without_counters(names[row]) == name}
            found.setdefault((line.other, line.inbound), set()).update(same)
        taken_outputs = {(inbound, output) for (_, inbound), outputs in found.items() for output in outputs}
        chosen = {}
        for (other, inbound), tensors in found.items():
            rows = [row for row in ends[inbound] if tensor[inbound, row] in tensors]
            free = [row for row in ends[inbound] if (inbound, tensor[inbound, row]) not in taken_outputs]
            chosen[other, inbound] = rows or free or ends[inbound]
        return [chosen[line.other, line.inbound] for line in lines]

    def _row_ends(self, stack: RowPath, member: int, inbound: bool) -> list[int]:
        """Return the rows of a member that a neighbour feeds (`inbound`), or that feed a neighbour; lines of members of
        another structure are drawn there."""
        usual = self._lines[stack].member
        rows = (self.alike.corresponding_row(usual, member, row) for row in self._chain_ends(stack, usual, inbound))
        # If no row corresponds, the member has another structure: use its own edges.
        return [row for row in rows if row is not None] or self._rows_joined_to_members(stack, member, inbound)

    def _rows_joined_to_members(self, stack: RowPath, member: int, inbound: bool) -> list[int]:
        """Return the rows of a member that data of other members enters (`inbound`), or that feed other members."""
        own = self._edges_to_members(stack, member)
        data = ~self.hierarchy.graph.control[own.edge] & (own.inbound == inbound)
        return list(dict.fromkeys(own.inner[data].tolist()))

    def _chain_ends(self, stack: RowPath, usual: int, inbound: bool) -> list[int]:
        if (stack, inbound) not in self._usual_ends:
            self._usual_ends[stack, inbound] = self._find_chain_ends(stack, usual, inbound)
        return self._usual_ends[stack, inbound]

    def _find_chain_ends(self, stack: RowPath, usual: int, inbound: bool) -> list[int]:
        """Return the rows of the usual member that a neighbour feeds (`inbound`), or that feed a neighbour.

        If it has no such neighbour, the rows of another member decide.
        """
        hierarchy = self.hierarchy
        for member in [usual, *hierarchy.children(stack[-1]).tolist()]:
            if hierarchy.template[member] != hierarchy.template[usual]:
                continue
            joined = self._rows_joined_to_members(stack, member, inbound)
            found = [self.alike.corresponding_row(member, usual, row) for row in joined]
            if rows := [row for row in found if row is not None]:
                return rows
        return []

    def _edges_to_members(self, stack: RowPath, member: int) -> Crossings:
        own = self._edge_index.crossings_at((*stack[:-1], member))
        return own.pick((own.other > stack[-1]) & (own.other < self.hierarchy.end[stack[-1]]))


def _name_without_counters(name: str) -> str:
    """Return a name without the digits that number layers and repeated ops.

    >>> _name_without_counters("layer_0/norm/add_1"), _name_without_counters("layer_1/norm_2/add")
    ('layer/norm/add', 'layer/norm/add')
    """
    return "/".join(part.rstrip("_") for part in without_digits(name).split("/"))


def _iterate_crossings(across: Crossings) -> Iterable[Crossing]:
    listed = (across.edge, across.inner, across.other, across.inbound, across.slot)
    return map(Crossing._make, zip(*(column.tolist() for column in listed), strict=True))


def _crossings_from_rows(rows: list[Crossing]) -> Crossings:
    if not rows:
        return no_crossings()
    edge, inner, other, inbound, slot = zip(*rows, strict=True)
    edges, inside, outside, slots = (np.array(column, np.int32) for column in (edge, inner, other, slot))
    return Crossings(edges, inside, outside, np.array(inbound, bool), slots)
