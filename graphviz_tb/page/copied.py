"""Stack members whose levels a page does not write.

A copy has the level of the usual member with other row numbers; only copies with differently worded boxes are written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from dataclasses import replace

from graphviz_tb.arrange.cache import rename_ports
from graphviz_tb.expand import Expander
from graphviz_tb.expand.copies import MemberCopies, MemberCopy
from graphviz_tb.expand.members import MemberExpander
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.page.held import LevelStore, level_key

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

    def differently_worded_rows(self, copy: MemberCopy, held: LevelStore) -> frozenset[int]:
        """Return the rows of the usual member whose boxes have other words than those of the copy."""
        if copy.member not in self._unlike:
            away = copy.member - copy.usual
            rows = range(copy.usual + 1, int(self.hierarchy.end[copy.usual]))
            boxes = [row for row in rows if not self.hierarchy.mark[row]]
            self._unlike[copy.member] = frozenset(row for row in boxes if not held.are_worded_alike(row, row + away))
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
        """Yield for each copy the member, the usual member, the number of its marks, and pairs of rows: usual mark, own
        mark."""
        for copy in self.copies.values():
            yield from (copy.member, copy.usual, len(copy.marks))
            for pair in copy.marks.items():
                yield from pair


def add_differing_copies(
    held: LevelStore, copied: CopiedLevels, members: Iterable[int], levels: WalkedLevels, end: str
) -> None:
    """Add the levels of copies that have boxes with other words. `levels` were added before, with keys that end in
    `end`."""
    for member in members:
        unlike = copied.differently_worded_rows(copied.copies[member], held)
        for path in copied.copied_groups(member) if unlike else ():
            if held.is_page_full:
                return
            level = find_walked_level(copied, levels, path)
            if level is not None and not unlike.isdisjoint(level[0].children):
                metagraph, skeleton = renumber_level(level, copied.row_renumbering(copied.copies[member]))
                own = (metagraph.row,)
                held.add_level(level_key(own) + end, own, metagraph, skeleton)


def find_walked_level(copied: CopiedLevels, levels: WalkedLevels, path: RowPath) -> WalkedLevel | None:
    """Return the level of a group, made from that of the usual member for a copy; None if it is not in `levels`."""
    if path in levels or (copy := copied.enclosing_copy(path)) is None:
        return levels.get(path)
    level = find_walked_level(copied, levels, (path[0] - copy.member + copy.usual,))
    return renumber_level(level, copied.row_renumbering(copy)) if level is not None else None


def renumber_level(level: WalkedLevel, name: Callable[[int], int]) -> WalkedLevel:
    """Return a level and its drawing order with other row numbers."""
    metagraph, skeleton = level
    named = replace(
        metagraph,
        row=name(metagraph.row),
        children=tuple(map(name, metagraph.children)),
        functions=tuple(map(name, metagraph.functions)),
        bridges=tuple([line.with_neighbour_row(name(line.other)) for line in metagraph.bridges]),
        annotations=tuple([line.with_represented_row(name(line.other)) for line in metagraph.annotations]),
    )
    return named, rename_ports(skeleton, name)
