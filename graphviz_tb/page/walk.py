"""Walk through every group that a reader may open, from the outside in, with its drawing order."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import replace

from graphviz_tb.arrange.cache import rename_ports
from graphviz_tb.arrange.level import PortConstraints, child_port_constraints
from graphviz_tb.expand import Expander
from graphviz_tb.expand.copies import MemberCopies, MemberCopy
from graphviz_tb.expand.members import MemberExpander
from graphviz_tb.limits import MAX_FUNCTION_NESTING, MAX_GROUPS_INSIDE_CALLS
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import RowPath, child_path, sole_scope, sole_stack
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.page.levels import LevelStore, page_level_key

# Stack members whose levels a page does not write.
#
# A copy has the level of the usual member with other row numbers; only copies with differently worded boxes are
# written.

WalkedLevel = tuple[Metagraph, Skeleton]
WalkedLevels = dict[RowPath, WalkedLevel]


class CopiedLevels:
    """Stack members left out by a walk through the levels of a page, by member, in walk order."""

    def __init__(self, levels: Expander) -> None:
        self.hierarchy = levels.hierarchy
        self.copies: dict[int, MemberCopy] = {}
        self._find = MemberCopies(levels) if isinstance(levels, MemberExpander) else None
        self._unlike: dict[int, frozenset[int]] = {}

    def copied_members(self, path: RowPath, first: Container[RowPath] = ()) -> Collection[int]:
        """Return the stack members to leave out: all copies except those open in the `first` picture."""
        if self._find is None or len(path) > 1:
            return ()
        copies = {copy.member: copy for copy in self._find.copies_in_stack(path[0]) if (copy.member,) not in first}
        self.copies.update(copies)
        return copies

    def enclosing_copy(self, path: RowPath) -> MemberCopy | None:
        """Return the copy that is or contains a group; None if its own level is written."""
        row = path[0] if len(path) == 1 and self.copies else 0
        while row > 0 and row not in self.copies:
            row = int(self.hierarchy.parent[row])
        return self.copies.get(row)

    def written_row(self, row: int) -> int:
        """Return the row whose level is written for this row; the row itself outside copies."""
        while (copy := self.enclosing_copy((row,))) is not None:
            row += copy.usual - copy.member
        return row

    def differently_worded_rows(self, copy: MemberCopy, store: LevelStore) -> frozenset[int]:
        """Return the rows of the usual member whose boxes have other words than in the copy."""
        if copy.member not in self._unlike:
            away = copy.member - copy.usual
            rows = range(copy.usual + 1, int(self.hierarchy.end[copy.usual]))
            boxes = [row for row in rows if not self.hierarchy.mark[row]]
            self._unlike[copy.member] = frozenset(row for row in boxes if not store.are_worded_alike(row, row + away))
        return self._unlike[copy.member]

    def copies_with_levels(self, levels: WalkedLevels) -> list[int]:
        """Return the copies whose usual member contains one of some levels."""
        rows = sorted(path[0] for path in levels if len(path) == 1)
        ends = self.hierarchy.end
        spans = ((member, copy.usual, int(ends[copy.usual])) for member, copy in self.copies.items())
        return [member for member, first, stop in spans if bisect_left(rows, first) < bisect_left(rows, stop)]

    def copied_groups(self, member: int) -> Iterator[RowPath]:
        """Yield the groups in the usual member of a copy."""
        usual = self.copies[member].usual
        return ((row,) for row in range(usual, int(self.hierarchy.end[usual])) if self.hierarchy.can_open(row))

    def row_renumbering(self, copy: MemberCopy) -> Callable[[int], int]:
        """Return a function from the rows of the usual member to those of a copy."""
        away, first, stop = copy.member - copy.usual, copy.usual, int(self.hierarchy.end[copy.usual])
        return lambda row: row + away if first <= row < stop else copy.marks.get(row, row)

    def copy_numbers(self) -> Iterator[int]:
        """Yield for each copy the member, the usual member, the number of its marks, and for each mark the pair (usual
        row, own row)."""
        for copy in self.copies.values():
            yield from (copy.member, copy.usual, len(copy.marks))
            for pair in copy.marks.items():
                yield from pair


def add_differing_copies(
    store: LevelStore, copied: CopiedLevels, members: Iterable[int], levels: WalkedLevels, end: str
) -> None:
    """Add the levels of copies that have boxes with other words. `levels` were added before, with keys that end in
    `end`."""
    for member in members:
        unlike = copied.differently_worded_rows(copied.copies[member], store)
        for path in copied.copied_groups(member) if unlike else ():
            if store.is_page_full:
                return
            level = find_walked_level(copied, levels, path)
            if level is not None and not unlike.isdisjoint(level[0].children):
                metagraph, skeleton = renumber_level(level, copied.row_renumbering(copied.copies[member]))
                own = (metagraph.row,)
                store.add_level(page_level_key(own) + end, own, metagraph, skeleton)


def find_walked_level(copied: CopiedLevels, levels: WalkedLevels, path: RowPath) -> WalkedLevel | None:
    """Return the level of a group, made from that of the usual member for a copy; None if it is not in `levels`."""
    if path in levels or (copy := copied.enclosing_copy(path)) is None:
        return levels.get(path)
    level = find_walked_level(copied, levels, (path[0] - copy.member + copy.usual,))
    return renumber_level(level, copied.row_renumbering(copy)) if level is not None else None


def renumber_level(level: WalkedLevel, name: Callable[[int], int]) -> WalkedLevel:
    """Return a level and its drawing order with other row numbers."""
    metagraph, skeleton = level
    surplus = metagraph.surplus
    named = replace(
        metagraph,
        row=name(metagraph.row),
        children=tuple(map(name, metagraph.children)),
        functions=tuple(map(name, metagraph.functions)),
        bridges=tuple([line.with_neighbour_row(name(line.other)) for line in metagraph.bridges]),
        annotations=tuple([line.with_represented_row(name(line.other)) for line in metagraph.annotations]),
        surplus=None if surplus is None else replace(surplus, member=name(surplus.member)),
    )
    return named, rename_ports(skeleton, name)


ArrangeLevel = Callable[[Metagraph, PortConstraints], Skeleton]
AsideLevel = tuple[RowPath, Metagraph, PortConstraints]  # a level that has an auxiliary area


def walk_levels(
    levels: Expander,
    arrange: ArrangeLevel,
    copied: CopiedLevels,
    first: Container[RowPath] = (),
) -> Iterator[tuple[RowPath, Metagraph, Skeleton, PortConstraints]]:
    """Yield the `first` groups and the groups around them, then the rest breadth first, so that a page that is full
    leaves out the deepest groups.

    Every group outside calls is yielded, except copies; inside calls at most `MAX_GROUPS_INSIDE_CALLS` groups, with
    recursive functions `MAX_FUNCTION_NESTING` times.
    """
    hierarchy, none = levels.hierarchy, PortConstraints()
    stacks: dict[RowPath, PortConstraints] = {}  # port constraints of groups drawn as stacks
    joined: dict[RowPath, PortConstraints] = {}  # port constraints of scopes inside the frame of their parent
    first_queue: deque[tuple[RowPath, PortConstraints]] = deque([((0,), none)])
    queue: deque[tuple[RowPath, PortConstraints]] = deque()
    for row in hierarchy.function_rows:
        (first_queue if (row,) in first else queue).append(((row,), none))
    count_inside_calls = 0
    while first_queue or queue:
        path, outside = (first_queue or queue).popleft()  # the first picture comes first
        level = levels.metagraph(path)
        skeleton = arrange(level, outside)
        yield path, level, skeleton, outside
        if sole_stack(hierarchy, path[-1]) >= 0:
            stacks[path] = outside
        inner = (*path[:-1], sole_scope(hierarchy, path[-1]))
        if inner[-1] >= 0:
            joined[inner] = outside
        own_children = set(level.own_children())
        opening = {at for at, row in enumerate(level.children) if row in own_children and hierarchy.can_open(row)}
        child_ports = child_port_constraints(level, skeleton, opening) if opening else {}
        copies = copied.copied_members(path, first)
        for position in sorted(opening):
            child = child_path(hierarchy, path, level.children[position])
            if _is_nested_too_often(child) or child[-1] in copies:
                continue
            count_inside_calls += len(child) > 1
            if len(child) == 1 or count_inside_calls <= MAX_GROUPS_INSIDE_CALLS:
                # The shown member is drawn in the place of its stack.
                box = levels.box_path(child)
                ports = joined.pop(child, child_ports.get(position, none)) if box == child else stacks[box]
                (first_queue if child in first else queue).append((child, ports))


def levels_without_aside(
    levels: Expander, away: Sequence[AsideLevel], arrange: ArrangeLevel
) -> Iterator[tuple[RowPath, Metagraph, Skeleton]]:
    """Yield the levels with an auxiliary area again with everything in the main graph, for readers who move nodes
    back."""
    hierarchy = levels.hierarchy
    rows = {level.children[place]: None for _, level, _ in away for place in sorted(level.mask.extracted_children)}
    names = tuple(dict.fromkeys(hierarchy.name[row] for row in rows))
    whole = levels.with_options(replace(levels.options, main=names))
    for path, _, outside in away:
        level = whole.metagraph(path)
        yield path, level, arrange(level, outside)


def has_auxiliary_area(level: Metagraph, skeleton: Skeleton) -> bool:
    """Return whether to write a level a second time with everything in the main graph: it has an auxiliary area and few
    lines."""
    return bool(level.mask.extracted_children) and not skeleton.plain


def _is_nested_too_often(path: RowPath) -> bool:
    """Return whether a function is inside itself too often.

    >>> _is_nested_too_often((1, 9, 9)), _is_nested_too_often((1, 9, 9, 9, 9))
    (False, True)
    """
    return path.count(path[-1]) > MAX_FUNCTION_NESTING
