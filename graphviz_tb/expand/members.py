"""Open the members of stacks that show one member alone.

Such a member has the lines of the whole stack: every line that enters or leaves any member does so at the shown member,
at the child that corresponds (`alike`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from operator import itemgetter

import numpy as np

from graphviz_tb.expand import Expander
from graphviz_tb.expand.alike import Alike
from graphviz_tb.expand.bridges import Crossings, EdgeFiles, Handed, find_bridges, in_a_row, join, nothing, sorted_once
from graphviz_tb.expand.drawable import decide_drawable
from graphviz_tb.expand.filed import MemberLines
from graphviz_tb.model.columns import Bools, Ints, distinct, ints
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import FUNCTION, SERIES
from graphviz_tb.model.metagraph import Bridge, Metagraph
from graphviz_tb.model.paths import Path
from graphviz_tb.model.stacks import boxes_of, is_stack, stack_of, usual_member
from graphviz_tb.options import ExpandOptions

Crossing = tuple[int, int, int, bool, int]  # one row of `Crossings`
CrossingEnds = tuple[int, bool, int]  # the row outside, whether inbound, and the row inside
ByEnds = dict[CrossingEnds, Crossing]
# The row inside, the row outside, whether inbound, (members that have it, all members).
FewLine = tuple[int, int, bool, tuple[int, int]]
MemberShares = dict[CrossingEnds, tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class StackLines:
    """The crossings of a stack.

    `across` are all of them, each at its `owner`, a member. `usual` are they mapped onto the usual `member`. `loose`
    touch members of another structure. `place` is the position of each member. `few` gives, for lines of only some
    members, (members that have it, all members), without the inputs and outputs of a chain of members.
    """

    across: Crossings
    owner: Ints
    usual: list[Crossing]
    loose: list[Crossing]
    few: MemberShares
    member: int
    place: dict[int, int]


class MemberExpander(Expander):
    """Opens groups of a hierarchy in which each open stack shows one member.

    `plain` opens everything outside of stacks. Lines into or out of any member of a stack end at the corresponding
    child of the shown member; lines between neighbouring members are left out.
    """

    def __init__(self, plain: Expander) -> None:
        super().__init__(plain.hierarchy, plain.facts, plain.options, plain.hidden)
        self.plain = plain
        self.alike = Alike(plain.hierarchy)
        self._lines: dict[Path, StackLines] = {}
        self._shown: dict[Path, Handed] = {}
        self._few: dict[tuple[Path, Path], list[FewLine]] = {}
        self._member_lines: dict[int, MemberLines] = {}  # by outermost stack
        self._ways: dict[tuple[Path, bool], list[int]] = {}  # cache of `_chained`

    @cached_property
    def inside(self) -> Bools:
        """Mark the rows inside a stack."""
        hierarchy = self.hierarchy
        change = np.zeros(len(hierarchy) + 1, np.int64)
        for row in np.flatnonzero(hierarchy.kind == SERIES).tolist():
            if is_stack(hierarchy, row):
                change[row + 1] += 1
                change[hierarchy.end[row]] -= 1
        within: Bools = np.cumsum(change[:-1]) > 0
        return within

    def metagraph(self, path: Path) -> Metagraph:
        """Return the metagraph of the group at `path`."""
        return super().metagraph(path) if self.inside[list(path)].any() else self.plain.metagraph(path)

    def known(self, path: Path) -> Metagraph | None:
        """Return the metagraph of a group that was opened before."""
        return super().known(path) if self.inside[list(path)].any() else self.plain.known(path)

    def expect_all(self) -> None:
        """Bundle the lines of all groups in one pass, except those that leave members."""
        self.plain.expect_all()
        self._filed = self.plain._filed
        if self._filed is not None and self.inside.any():
            self._files.expect_all()

    def with_options(self, options: ExpandOptions) -> MemberExpander:
        """Return an expander of the same hierarchy with other options."""
        return MemberExpander(self.plain.with_options(options))

    def box_of(self, path: Path) -> Path:
        """Return the group whose box shows the content of a group: itself; for a member its stack, or the outermost
        group that holds nothing else."""
        stack = stack_of(self.hierarchy, path)
        return path if stack is None else boxes_of(self.hierarchy, stack)[-1]

    def _open(self, path: Path) -> Metagraph:
        return super()._open(path) if self.inside[list(path)].any() else self.plain.metagraph(path)

    def _bridges(self, path: Path, rows: list[int], away: frozenset[int]) -> list[Bridge]:
        stacks = self.stacks(path)
        if self._filed is not None and len(path) == 1 and path[0] not in self.hierarchy.calls:
            bridges = self._filed_in(stacks[0][0][0]).bridges(path[0])
        else:
            across = self._across(path)
            if path[-1] in self.hierarchy.calls:
                across = self._files.entered(across, path[-1]).edges
            bridges = find_bridges(self.hierarchy, self.facts, across, rows, self._files.known)
        bridges = self._shared_by(path, rows, bridges, stacks)
        return decide_drawable(self, path, bridges, away, self.options)

    def _filed_in(self, stack: int) -> MemberLines:
        """Return the bridges of all groups in the members of an outermost stack, found in one pass."""
        if stack not in self._member_lines:
            hierarchy, files = self.hierarchy, self._files
            series = stack + np.flatnonzero(hierarchy.kind[stack : hierarchy.end[stack]] == SERIES)
            members = [hierarchy.children(row).tolist() for row in series.tolist() if is_stack(hierarchy, row)]
            shown = [(member, self.shown_as((member,))) for listed in members for member in listed]
            self._member_lines[stack] = MemberLines(hierarchy, self.facts, stack, files.borders, shown, files.known)
        return self._member_lines[stack]

    def _shared_by(
        self, path: Path, rows: list[int], bridges: list[Bridge], stacks: list[tuple[Path, Path]]
    ) -> list[Bridge]:
        """Return the bridges with the share of members that have them, if only some do."""
        few: MemberShares = {}
        for stack, member in stacks:
            if (stack, member) not in self._few:
                self._few[stack, member] = self._few_of(stack, member)
            shares = self._few[stack, member]
            first = bisect_right(shares, path[-1], key=itemgetter(0))
            stop = bisect_left(shares, int(self.hierarchy.end[path[-1]]), key=itemgetter(0))
            for found, other, inbound, share in shares[first:stop]:
                few[other, inbound, rows[bisect_right(rows, found) - 1]] = share
        return [
            bridge.of_members(few[key])
            if (key := (bridge.other, bridge.inbound, rows[bridge.child])) in few
            else bridge
            for bridge in bridges
        ]

    def _few_of(self, stack: Path, member: Path) -> list[FewLine]:
        """Return the lines that only some members of a stack have, mapped to one member, sorted by row."""
        lines = self._lines[stack]
        found: list[FewLine] = []
        for (other, inbound, inner), share in lines.few.items():
            row = self.alike.row(lines.member, member[-1], inner)
            if row is not None:
                found.append((row, other, inbound, share))
        return sorted(found, key=itemgetter(0))

    @cached_property
    def _files(self) -> EdgeFiles:
        return EdgeFiles(self.hierarchy)

    def _across(self, path: Path) -> Crossings:
        """Return the crossings of a group in file order."""
        files = self._files
        files.around(path[:-1])  # forgets calls if there are many
        for length in range(1, len(path)):  # the calls around it, from the outermost on
            if path[:length] not in files.calls:
                files.calls[path[:length]] = self._in_body(path[:length])
        return self._in_body(path)

    def shown_as(self, member: Path) -> Crossings:
        """Return the crossings of a member of a stack that shows it alone."""
        self._across(member)
        return self._shown[member].edges

    def _in_body(self, path: Path) -> Crossings:
        """Return the crossings of a group of a body; those of the calls around it are known."""
        stacks = self.stacks(path)
        for depth, (stack, member) in enumerate(stacks):
            if member not in self._shown:
                around = stacks[depth - 1][1] if depth else None
                self._shown[member] = sorted_once(self._as_member(stack, member, around))
        return self._confined(path, stacks[-1][1] if stacks else None)

    def stacks(self, path: Path) -> list[tuple[Path, Path]]:
        """Return the stacks around a path in its body, outermost first, each with the member that holds the path."""
        hierarchy, found, row = self.hierarchy, [], path[-1]
        while (parent := int(hierarchy.parent[row])) >= 0:
            if is_stack(hierarchy, parent):
                found.append(((*path[:-1], parent), (*path[:-1], row)))
            row = parent
        return found[::-1]

    def _confined(self, path: Path, member: Path | None) -> Crossings:
        """Return the crossings of a group in the shown `member` (None: it is in no stack)."""
        own = self._whole(path)
        if member is None:
            return own
        hierarchy = self.hierarchy
        here = self._shown[member].below(path[-1], int(hierarchy.end[path[-1]]))
        if path == member:
            return here
        top, foot = member[-1], int(hierarchy.end[member[-1]])
        # Lines inside the member first: all members have them in one order.
        return in_a_row(own.pick((own.other >= top) & (own.other < foot)), here)

    def _whole(self, path: Path) -> Crossings:
        """Return the crossings of a group in the file."""
        row, files = path[-1], self._files
        across = nothing() if self.hierarchy.kind[row] == FUNCTION else files.own(row)
        if len(path) > 1 and len(files.calls[path[:-1]].edge):
            passed = files.handed(path[:-1]).below(row, int(self.hierarchy.end[row]))
            across = join(across, passed) if len(passed.edge) else across
        return across

    def _as_member(self, stack: Path, member: Path, around: Path | None) -> Crossings:
        """Return the crossings of a stack as one of its members has them; `around` is the member that shows the
        stack."""
        if stack not in self._lines:
            self._lines[stack] = self._lines_of(stack, around)
        lines, row = self._lines[stack], member[-1]
        held: ByEnds = {}
        for crossing in each_crossing(lines.across.pick(lines.owner == row)):
            held.setdefault(ends_of_crossing(crossing), crossing)
        for edge, inner, other, inbound, slot in lines.usual:
            found = self.alike.row(lines.member, row, inner)
            if found is not None:
                held.setdefault((other, inbound, found), (edge, found, other, inbound, slot))
        seen = {(other, inbound) for other, inbound, _ in held}
        loose = [one for one in lines.loose if (one[2], one[3]) not in seen]
        for edge, _, other, inbound, slot in loose:
            if (stack, inbound) not in self._ways:
                self._ways[stack, inbound] = self._chained(stack, lines.member, inbound)
            for inner in self._ways[stack, inbound]:
                found = self.alike.row(lines.member, row, inner)
                if found is not None:
                    held.setdefault((other, inbound, found), (edge, found, other, inbound, slot))
        between = self._far(stack, row, lines.place)
        if around is None:
            return crossing_columns(sorted([*held.values(), *between]))
        top, foot = around[-1], int(self.hierarchy.end[around[-1]])  # as in `_confined`
        return crossing_columns(sorted([*held.values(), *between], key=lambda line: (not top <= line[2] < foot, line)))

    def _lines_of(self, stack: Path, around: Path | None) -> StackLines:
        """Return the crossings of a stack by member, and mapped onto the usual one."""
        across, usual = self._confined(stack, around), usual_member(self.hierarchy, stack[-1])
        members = self.hierarchy.children(stack[-1])
        owner = members[np.searchsorted(members, across.inner, side="right") - 1] if len(members) else members
        # The usual member first: of lines that merge, its own decides what they carry.
        order = np.lexsort((owner, owner != usual))
        across, owner = across.pick(order), owner[order]
        inner = self._rows_in(usual, across.inner, owner)
        loose = list(each_crossing(across.pick(inner < 0)))
        lines = replace(across, inner=inner).pick(inner >= 0)
        # Bits: 32-62 the row outside, 1-31 the row inside, 0 whether inbound.
        ends = lines.other.astype(np.int64) << 32 | lines.inner.astype(np.int64) << 1 | lines.inbound
        _, first, same_as = np.unique(ends, return_index=True, return_inverse=True)
        having = distinct(same_as * len(self.hierarchy) + owner[inner >= 0]) // len(self.hierarchy)
        shown = np.argsort(first)
        held = list(each_crossing(lines.pick(first[shown])))
        counts = np.bincount(having, minlength=len(first))[shown].tolist()
        few = {
            ends_of_crossing(line): (count, len(members))
            for line, count in zip(held, counts, strict=True)
            if count < len(members)
        }
        in_a_row = {inbound: self._chained(stack, usual, inbound) for inbound in {key[1] for key in few}}
        few = {key: share for key, share in few.items() if key[2] not in in_a_row[key[1]]}
        return StackLines(across, owner, held, loose, few, usual, {row: at for at, row in enumerate(members.tolist())})

    def _rows_in(self, group: int, rows: Ints, owner: Ints) -> Ints:
        """Return the rows in a group that correspond to `rows` of other groups, their owners; -1 for none.

        The rows of one owner are adjacent.
        """
        found = rows - owner + group
        cuts = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(owner)]
        for first, stop in pairwise(cuts if len(owner) else ()):
            if not self.alike.copies(one := int(owner[first]), group):
                some, same_as = np.unique(rows[first:stop], return_inverse=True)
                alike = [self.alike.row(one, group, row) for row in some.tolist()]
                found[first:stop] = np.array([-1 if row is None else row for row in alike])[same_as]
        return ints(found)

    def _chained(self, stack: Path, usual: int, inbound: bool) -> list[int]:
        """Return the rows of the usual member of a stack where its neighbour feeds it, or where it feeds the
        neighbour."""
        hierarchy = self.hierarchy
        for member in [usual, *hierarchy.children(stack[-1]).tolist()]:
            if hierarchy.template[member] != hierarchy.template[usual]:
                continue
            own = self._between(stack, member)
            data = ~hierarchy.graph.control[own.edge] & (own.inbound == inbound)
            found = [self.alike.row(member, usual, row) for row in dict.fromkeys(own.inner[data].tolist())]
            if rows := [row for row in found if row is not None]:
                return rows
        return []

    def _between(self, stack: Path, member: int) -> Crossings:
        """Return the edges from one member of a stack to others."""
        own = self._whole((*stack[:-1], member))
        return own.pick((own.other > stack[-1]) & (own.other < self.hierarchy.end[stack[-1]]))

    def _far(self, stack: Path, member: int, place: dict[int, int]) -> list[Crossing]:
        """Return the edges from one member to others that are not its neighbours in the row."""
        here = place[member]
        return [one for one in each_crossing(self._between(stack, member)) if abs(place.get(one[2], here) - here) > 1]


def ends_of_crossing(crossing: Crossing) -> tuple[int, bool, int]:
    """Return the row outside of a crossing, whether it enters, and the row inside."""
    return crossing[2], crossing[3], crossing[1]


def each_crossing(across: Crossings) -> Iterable[Crossing]:
    """Iterate over crossings as rows."""
    listed = (across.edge, across.inner, across.other, across.inbound, across.slot)
    return zip(*(column.tolist() for column in listed), strict=True)


def crossing_columns(rows: list[Crossing]) -> Crossings:
    """Return rows of crossings as columns."""
    if not rows:
        return nothing()
    edge, inner, other, inbound, slot = zip(*rows, strict=True)
    edges, inside, outside, slots = (np.array(column, np.int32) for column in (edge, inner, other, slot))
    return Crossings(edges, inside, outside, np.array(inbound, bool), slots)
