"""Levels with ungrouped series: the members are on the level itself, as `--ungroup` draws them.

All series of a level are ungrouped together. A nested level is stored again only if its neighbours change. Levels
around it may be ungrouped as well: a level with series has a rank, the number of such levels around it (no rank if they
are too many), and its content is stored for each set of ranks, written as bits (2: only rank 1). Functions of the
library have separate ranks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.arrange.level import PortConstraints, child_port_constraints
from graphviz_tb.expand import Expander
from graphviz_tb.expand.drawn_bridges import runs_backwards
from graphviz_tb.expand.members import MemberExpander
from graphviz_tb.fold import make_regrouping
from graphviz_tb.limits import (
    LARGE_PAGE_ROWS,
    MAX_UNGROUPED_GROUPS,
    MAX_UNGROUPED_LETTERS,
    MAX_UNGROUPED_LEVELS,
    MAX_UNGROUPED_LEVELS_OF_LARGE,
    MAX_UNGROUPED_MEMBERS,
)
from graphviz_tb.model.columns import Ints, prefix_sums
from graphviz_tb.model.hierarchy import SERIES_ROW, Hierarchy
from graphviz_tb.model.metagraph import Metagraph, MetagraphLine
from graphviz_tb.model.paths import RowPath, child_path, is_stack, parent_path, stack_around
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.page.levels import LevelStore, page_level_key
from graphviz_tb.page.walk import (
    ArrangeLevel,
    AsideLevel,
    CopiedLevels,
    WalkedLevels,
    add_differing_copies,
    find_walked_level,
    has_auxiliary_area,
    levels_without_aside,
    renumber_level,
)

if TYPE_CHECKING:
    from graphviz_tb.api.base_model import BaseModel

ArrangedLevel = tuple[Metagraph, Skeleton, PortConstraints]
ChildLine = tuple[int, bool, bool, tuple[int, int], bytes]
Neighbours = dict[int, set[tuple[int, ...]]]


def add_ungrouped_levels(
    model: BaseModel,
    store: LevelStore,
    usual: WalkedLevels,
    copied: CopiedLevels,
    arrange: ArrangeLevel,
    one_member: bool = False,
) -> dict[int, int]:
    """Add all levels that differ when series are ungrouped; return the rank of each level with such series, by row.

    The key of such a level is `PATH~RANKS`, with `+` after it if everything is in the main graph. `one_member`: stacks
    show one member.
    """
    base = model.hierarchy
    outer_series = _outermost_series(base)
    # only saves time, since folding again takes seconds
    if all(len(base.children(row)) > MAX_UNGROUPED_MEMBERS for row in outer_series):
        return {}
    if sum(map(len, base.name)) > MAX_UNGROUPED_LETTERS:
        return {}
    grouping = make_regrouping(base, model.options.group)
    series = _ungroupable_series(base, outer_series, grouping.series_names())
    rank = _ungrouping_ranks(base, series)
    masks = _rank_masks(base, rank)
    seen: dict[RowPath, Neighbours] = {}
    walks: list[UngroupedWalk] = []
    # A level of rank r can be ungrouped together with any set of the levels around it.
    for mask in sorted({masks[row] & ~below for row in rank for below in range(1 << rank[row])}):
        highest_rank = mask.bit_length() - 1
        ungrouped = [row for row in rank if mask >> rank[row] & 1]
        hierarchy = grouping.without_series([base.name[member] for row in ungrouped for member in series[row]])
        # A separate hierarchy for each set: without the series, rows have other numbers.
        page_rows = _rows_of_same_nodes(hierarchy, base)
        starts = [row for row in ungrouped if rank[row] == highest_rank]
        walk = UngroupedWalk(
            model, hierarchy, page_rows, arrange, usual, copied, seen, one_member, f"~{mask}", tuple(walks)
        )
        walk.add_levels(store, starts)
        walks.append(walk)
        if store.is_page_full:
            break
    return rank


def _outermost_series(hierarchy: Hierarchy) -> list[int]:
    rows = np.flatnonzero(hierarchy.kind == SERIES_ROW)
    rows = rows[hierarchy.parent[rows] >= 0]
    single: list[int] = rows[hierarchy.kind[hierarchy.parent[rows]] != SERIES_ROW].tolist()
    return single


def _ungroupable_series(hierarchy: Hierarchy, series: list[int], names: Collection[str]) -> dict[int, list[int]]:
    """Return the series to ungroup by level: those in `names`, if all series of the level together have few members,
    and stacks few groups.

    The members of an ungrouped stack have separate lines, so all their contents are written again.
    """
    by_level: dict[int, list[int]] = {}
    for row in series:
        if hierarchy.name[row] in names:
            by_level.setdefault(int(hierarchy.parent[row]), []).append(row)
    found: dict[int, list[int]] = {}
    groups_before, total_groups = prefix_sums(hierarchy.node < 0), 0
    for level, rows in sorted(by_level.items()):
        stacks = [row for row in rows if is_stack(hierarchy, row)]
        stack_groups = sum(int(groups_before[hierarchy.end[row]] - groups_before[row]) for row in stacks)
        if (
            sum(len(hierarchy.children(row)) for row in rows) <= MAX_UNGROUPED_MEMBERS
            and total_groups + stack_groups <= MAX_UNGROUPED_GROUPS
        ):
            found[level], total_groups = rows, total_groups + stack_groups
    return found


def _ungrouping_ranks(hierarchy: Hierarchy, levels: Mapping[int, object]) -> dict[int, int]:
    """Return how many of some levels are around each of them; levels nested too deeply are left out.

    Ranks of the main graph start at 0, those of functions at `MAX_UNGROUPED_LEVELS`.
    """
    most = MAX_UNGROUPED_LEVELS_OF_LARGE if len(hierarchy) > LARGE_PAGE_ROWS else MAX_UNGROUPED_LEVELS
    functions = min(hierarchy.function_rows, default=len(hierarchy))
    rank_of: dict[int, int] = {}
    for row in sorted(levels):
        around = sum(ancestor in rank_of for ancestor in hierarchy.ancestors(row))
        if around < (most if row < functions else MAX_UNGROUPED_LEVELS_OF_LARGE):
            rank_of[row] = around if row < functions else MAX_UNGROUPED_LEVELS + around
    return rank_of


def _rank_masks(hierarchy: Hierarchy, rank: Mapping[int, int]) -> dict[int, int]:
    """Return the ranks of each level and of the levels around it, as bits."""
    return {
        row: sum(1 << rank[member] for member in (*hierarchy.ancestors(row), row) if member in rank) for row in rank
    }


def _rows_of_same_nodes(hierarchy: Hierarchy, other: Hierarchy) -> Ints:
    ops = hierarchy.node >= 0
    partner = np.full(len(hierarchy), -1, np.int32)
    partner[ops] = other.row_of_node[hierarchy.node[ops]]
    known = {key: row for row, key in _group_identities(other)}
    for row, key in _group_identities(hierarchy):
        partner[row] = known.get(key, -1)
    return partner


def _group_identities(hierarchy: Hierarchy) -> list[tuple[int, tuple[int, int, str]]]:
    """Return each row that is a group, with its identity: its function, its kind, its name.

    The root has a separate kind (-1): a scope may have no name either.
    """
    rows = np.flatnonzero(hierarchy.node < 0)
    # Names are unique within the main graph (0) and within each function (1, 2, …).
    body = np.searchsorted(np.sort(np.array(hierarchy.function_rows, np.int64)), rows, side="right").tolist()
    kind = np.where(rows > 0, hierarchy.kind[rows].astype(np.int64), -1).tolist()
    return [(row, (home, what, hierarchy.name[row])) for row, home, what in zip(rows.tolist(), body, kind, strict=True)]


@dataclass(slots=True)
class UngroupedWalk:
    """A walk from the outside in through a hierarchy with some series ungrouped.

    `to` maps its rows to page rows. `usual` are the levels of the page as usually grouped, `copied` those that the page
    leaves out: they are left out here too while they are still copies. `mark` is in the keys of the levels. Results of
    `earlier` walks, with other series ungrouped, are reused for groups in equal places.
    """

    model: BaseModel
    hierarchy: Hierarchy
    to: Ints
    arrange: ArrangeLevel
    usual: WalkedLevels
    copied: CopiedLevels
    seen_usually: dict[RowPath, Neighbours]
    one_member: bool
    mark: str
    earlier: tuple[UngroupedWalk, ...] = ()
    expander: Expander = field(init=False)
    copies: CopiedLevels = field(init=False)
    rows: list[int] = field(init=False)
    back: dict[int, int] = field(init=False)
    known: dict[RowPath, ArrangedLevel] = field(default_factory=dict)
    ports: dict[RowPath, dict[int, PortConstraints]] = field(default_factory=dict)
    seen: dict[RowPath, Neighbours] = field(default_factory=dict)
    # In page rows: the levels added, the groups visited on each of them, and the groups around these.
    levels: WalkedLevels = field(default_factory=dict)
    inside: dict[RowPath, list[RowPath]] = field(default_factory=dict)
    around: dict[RowPath, RowPath] = field(default_factory=dict)
    lines: dict[RowPath, dict[int, list[ChildLine]]] = field(default_factory=dict)
    still: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plain = Expander(self.hierarchy, self.model.facts, self.model.options.expand)
        self.expander = MemberExpander(plain) if self.one_member else plain
        self.copies = CopiedLevels(self.expander)
        self.rows = self.to.tolist()
        self.back = {row: place for place, row in enumerate(self.rows) if row >= 0}

    def add_levels(self, store: LevelStore, starts: list[int]) -> None:
        """Add the levels from some page rows inwards, as far as they differ from the usual ones."""
        queue: deque[tuple[RowPath, UngroupedWalk | None]] = deque(((self.back[row],), None) for row in starts)
        aside_levels: list[AsideLevel] = []
        without_aside: WalkedLevels = {}
        while queue and not store.is_page_full:
            path, walk = queue.popleft()  # an earlier walk in which this group is in an equal place, or None
            inner_paths: list[tuple[RowPath, UngroupedWalk | None]]
            page_path = self.to_page_path(path)
            if (copy := self.copied.enclosing_copy(page_path)) is not None and self.is_still_copy(copy.member):
                continue
            if walk is not None and page_path in walk.levels and not has_auxiliary_area(*walk.levels[page_path]):
                self.levels[page_path] = walk.levels[page_path]
                store.repeat_level(page_level_key(page_path), walk.mark, self.mark)
                inner_paths = [(child, walk) for child in walk.inside[page_path]]
            else:
                if (arranged := self.arranged_level(store, path)) is None:
                    break
                level, skeleton, outside = arranged
                # Equal to the usual level: its contents cannot differ either.
                if not self.add_if_different(store, path, level, skeleton, self.mark, self.levels):
                    continue
                if has_auxiliary_area(level, skeleton):
                    aside_levels.append((path, level, outside))
                inner_paths = [*self.groups_to_visit(store, path, level)]
            self.inside[page_path] = [child for child, _ in inner_paths]
            self.around.update((child, page_path) for child in self.inside[page_path])
            queue += [(self.from_page_path(child), walk) for child, walk in inner_paths]
        copies_with_levels = self.copied.copies_with_levels(self.levels)
        copies = [member for member in copies_with_levels if self.is_still_copy(member)]
        add_differing_copies(store, self.copied, copies, self.levels, self.mark)
        self.add_former_copies(store, [member for member in copies_with_levels if member not in copies])
        for path, level, skeleton in levels_without_aside(self.expander, aside_levels, self.arrange):
            self.add_if_different(store, path, level, skeleton, f"{self.mark}+", without_aside)
        add_differing_copies(store, self.copied, copies, without_aside, f"{self.mark}+")

    def groups_to_visit(
        self, store: LevelStore, path: RowPath, level: Metagraph
    ) -> Iterator[tuple[RowPath, UngroupedWalk | None]]:
        """Yield the groups of a level, as page paths, whose contents may differ from the page; each with an earlier
        walk that found equal contents, or None."""
        for row in level.own_children():
            child = child_path(self.hierarchy, path, row)
            if (
                self.hierarchy.can_open(row)
                and self.is_in_page(store, child)
                and self.has_other_neighbours(path, child)
            ):
                yield self.to_page_path(child), self.reusable_walk(path, child)

    def reusable_walk(self, path: RowPath, child: RowPath) -> UngroupedWalk | None:
        """Return an earlier walk in which a child of a level has the same place, and so the same contents."""
        if self.expander.box_path(child) != child:
            return None
        there, around = self.to_page_path(child), self.to_page_path(path)
        walks = [
            each
            for each in self.earlier
            if each.around.get(there) == around and each.from_page_path(around) in each.known
        ]
        return next((walk for walk in walks if walk.has_in_same_place(around, there, self)), None)

    def has_in_same_place(self, around: RowPath, there: RowPath, other: UngroupedWalk) -> bool:
        """Return whether a child of a level, as page paths, is in the same place in another walk."""
        walks = (self, other)
        places = [walk.placement(walk.from_page_path(around), walk.from_page_path(there)) for walk in walks]
        return all(one == same for one, same in zip(*places, strict=True))

    def placement(self, path: RowPath, child: RowPath) -> Iterator[object]:
        """Yield what a child's contents depend on: its lines with their edges, their order, the stacks around it; in
        page rows."""
        if path not in self.lines:
            self.lines[path] = _lines_by_child(self.known[path][0], self.rows)
        yield (lines := self.lines[path].get(child[-1], []))
        outside, options = self.port_constraints(child), self.expander.options
        yield [(self.rows[row], inbound) for row, inbound in outside.order]
        yield {(self.rows[row], inbound) for row, inbound in outside.turned}
        yield [self.to_page_path(step) for pair in self.expander.stacks_around(child) for step in pair]
        yield [runs_backwards(self.expander, child, self.back[row], inbound, options) for row, inbound, *_ in lines]

    def add_if_different(
        self, store: LevelStore, path: RowPath, level: Metagraph, skeleton: Skeleton, mark: str, levels: WalkedLevels
    ) -> bool:
        """Add one level, also to `levels`; return whether it differs from the usual one."""
        there = self.to_page_path(path)
        key = page_level_key(there)
        named = renumber_level((level, skeleton), self.rows.__getitem__)
        usual = find_walked_level(self.copied, self.usual, there) if key not in store.index else None
        if usual is not None and store.are_encoded_alike(there, named, usual):
            return False
        if not store.add_level(f"{key}{mark}", there, *named, unlike=key):
            return False
        levels[there] = named
        return True

    def to_page_path(self, path: RowPath) -> RowPath:
        return tuple(self.rows[row] for row in path)

    def from_page_path(self, there: RowPath) -> RowPath:
        """Return a page path in the rows of this hierarchy."""
        return tuple(self.back[row] for row in there)

    def is_in_page(self, store: LevelStore, path: RowPath) -> bool:
        there = self.to_page_path(path)
        return page_level_key(there if len(there) > 1 else (self.copied.written_row(there[0]),)) in store.index

    def is_still_copy(self, member: int) -> bool:
        """Return whether a copy that the page leaves out is still a copy here."""
        if member not in self.still:
            row = self.back.get(member, 0)
            self.copies.copied_members((int(self.hierarchy.parent[row]),) if row else ())
            found = self.copies.copies.get(row)
            self.still[member] = found is not None and found.usual == self.back.get(self.copied.copies[member].usual)
        return self.still[member]

    def add_former_copies(self, store: LevelStore, members: list[int]) -> None:
        """Add the usual levels of members that are no longer copies, if their model has changed."""
        for member in members:
            copy = self.copied.copies[member]
            for path in self.copied.copied_groups(member):
                own = (path[0] - copy.usual + member,)
                if (
                    find_walked_level(self.copied, self.levels, path) is None
                    or f"{page_level_key(own)}{self.mark}" in store.index
                ):
                    continue
                usual = find_walked_level(self.copied, self.usual, own)
                if usual is not None:
                    store.add_level(f"{page_level_key(own)}{self.mark}", own, *usual)

    def has_other_neighbours(self, path: RowPath, child: RowPath) -> bool:
        """Return whether a child has other neighbours than in the page; its contents can differ only then."""
        base = self.model.hierarchy
        page_path = self.to_page_path(child)
        outer_path = parent_path(base, page_path)
        # The shown member of a stack has the lines of all members.
        if self.expander.box_path(child) != child or (self.one_member and stack_around(base, page_path) is not None):
            return True
        if outer_path is None:
            return True
        if outer_path not in self.seen_usually:
            usual = find_walked_level(self.copied, self.usual, outer_path)
            if usual is None:
                return True
            self.seen_usually[outer_path] = _neighbours_by_child(*usual, _group_ports(base, *usual), int)
        if path not in self.seen:
            level, skeleton, _ = self.known[path]
            self.seen[path] = _neighbours_by_child(level, skeleton, self.ports[path], self.rows.__getitem__)
        return self.seen[path].get(page_path[-1]) != self.seen_usually[outer_path].get(page_path[-1])

    def arranged_level(self, store: LevelStore, path: RowPath) -> ArrangedLevel | None:
        """Return a level with its drawing order, after arranging all levels around it; None if the page is full."""
        chain = [path]
        # From the inside out, without recursion.
        while chain[-1] not in self.known and (outer := parent_path(self.hierarchy, chain[-1])) is not None:
            chain.append(outer)
        for outer_path in reversed(chain):
            if store.is_page_full:
                return None
            if outer_path not in self.known:
                level, outside = self.expander.metagraph(outer_path), self.port_constraints(outer_path)
                self.known[outer_path] = level, (skeleton := self.arrange(level, outside)), outside
                self.ports[outer_path] = _group_ports(self.hierarchy, level, skeleton)
                store.count_items(level)
        return self.known[path]

    def port_constraints(self, path: RowPath) -> PortConstraints:
        """Return the order and direction of a level's bridges in the level around it."""
        box = self.expander.box_path(path)
        parent = parent_path(self.hierarchy, box)
        if parent is None:
            return PortConstraints()
        return self.ports[parent].get(box[-1], PortConstraints())


def _group_ports(hierarchy: Hierarchy, level: Metagraph, skeleton: Skeleton) -> dict[int, PortConstraints]:
    groups = {position for position, row in enumerate(level.children) if hierarchy.can_open(row)}
    found = child_port_constraints(level, skeleton, groups) if groups else {}
    return {level.children[position]: ports for position, ports in found.items()}


def _lines_by_child(level: Metagraph, rows: Sequence[int]) -> dict[int, list[ChildLine]]:
    """Return the lines of each child of a level: the page row at the other end, whether it is inbound, whether it is
    drawn inside, its members, and the edges of the file behind it."""
    drawn, children = set(level.core_edges()), level.children
    found: dict[int, list[ChildLine]] = {}
    for index, edge in enumerate(level.edges):
        source, target = children[edge.source], children[edge.target]
        line = index in drawn, (0, 0), _edge_bytes(edge)
        found.setdefault(source, []).append((rows[target], False, *line))
        found.setdefault(target, []).append((rows[source], True, *line))
    for bridge in level.bridges:
        line = bridge.drawable, bridge.members, _edge_bytes(bridge)
        found.setdefault(children[bridge.child], []).append((rows[bridge.other], bridge.inbound, *line))
    return found


def _edge_bytes(line: MetagraphLine) -> bytes:
    """Return the edges of the file behind a line, as bytes."""
    return b"" if line.flat_edges is None else line.flat_edges.tobytes()


def _neighbours_by_child(
    level: Metagraph, skeleton: Skeleton, ports: Mapping[int, PortConstraints], row_of: Callable[[int], int]
) -> Neighbours:
    """Return by child everything that its picture shows of its neighbours, to compare it with another level.

    A line is (row at the other end, is inbound, tensors, is control, is drawn, is turned, members of a bridge), a port
    (row at the other end, is inbound, place from left to right). Rows are those that `row_of` returns.
    """
    drawn, turned = set(level.core_edges()), {(wire.edge, wire.bridge) for wire in skeleton.wires if wire.turned}
    by_child: Neighbours = {}
    rows = [int(row_of(row)) for row in level.children]
    for index, edge in enumerate(level.edges):
        line = edge.tensors, edge.control, index in drawn, (index, -1) in turned
        by_child.setdefault(rows[edge.source], set()).add((rows[edge.target], False, *line))
        by_child.setdefault(rows[edge.target], set()).add((rows[edge.source], True, *line))
    for index, bridge in enumerate(level.bridges):
        line = bridge.tensors, bridge.control, bridge.drawable, (-1, index) in turned
        outer = int(row_of(bridge.other))
        by_child.setdefault(rows[bridge.child], set()).add((outer, bridge.inbound, *line, *bridge.members))
    for row, outside in ports.items():
        places = [(int(row_of(other)), inbound, place) for place, (other, inbound) in enumerate(outside.order)]
        by_child.setdefault(int(row_of(row)), set()).update(places)
    return by_child
