"""Choose the open groups of the merged picture: the way to each change, the most severe first, within a limit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from graphviz_tb.diff.picture.merge import Where
from graphviz_tb.limits import MAX_BOXES_PER_CHANGE, MAX_BOXES_TO_CHANGES, MAX_NESTED_OPEN_GROUPS, MAX_OPENED_CHANGES
from graphviz_tb.model.hierarchy import FUNCTION_ROW, Hierarchy
from graphviz_tb.model.paths import RowPath, child_path, content_rows


def ways(
    hierarchy: Hierarchy,
    signs: Sequence[str],
    shown: Sequence[Sequence[int]],
    most: int = MAX_BOXES_TO_CHANGES,
    closed: Collection[int] = (),
) -> tuple[list[RowPath], int]:
    """Return the groups to open so that the changes are seen, and how many of them have no room.

    Before: `shown` are the rows of each change, those of the most severe first. After: of the first
    `MAX_OPENED_CHANGES` changes one row is seen, however many boxes that takes; others in `most` boxes in all. Groups
    that
    are added, removed or renamed as a whole stay closed, and so do the rows `closed`.
    """
    groups = GroupPaths(hierarchy)
    opened: dict[RowPath, None] = {}
    # By the group around a row and its sign, how many were open when it had no room: until one more is, it has none.
    full: dict[tuple[GroupPath | None, str], int] = {}
    boxes, unseen = groups.boxes(0), {number for number, rows in enumerate(shown) if rows}
    # One row of each change, then what else there is room for.
    firsts = (
        (number, row, MAX_BOXES_PER_CHANGE)
        for number, rows in enumerate(shown[:MAX_OPENED_CHANGES])
        for row in rows[:1]
    )
    others = ((number, row, most) for number, rows in enumerate(shown) for row in rows[number < MAX_OPENED_CHANGES :])
    for number, row, room in chain(firsts, others):
        around = groups.around(row)
        if full.get((around, signs[row])) == len(opened):
            continue
        fresh = [group for group in groups_around(around, signs[row], signs, closed) if group not in opened]
        more = sum(groups.boxes(group[-1]) for group in fresh)
        # A row that does not fit is skipped, as a later one may fit.
        if fresh and opened and boxes + more > room:
            full[around, signs[row]] = len(opened)
            continue
        unseen.discard(number)
        boxes += more
        opened.update(dict.fromkeys(fresh))
    return list(opened), len(unseen)


def rows_shown(
    hierarchy: Hierarchy, where: Sequence[Where | None], shown: Sequence[Sequence[tuple[Where, ...]]]
) -> list[list[int]]:
    """Return the rows of the places of each change: of each place the first that exists."""
    row_of = {("", hierarchy.name[row]): row for row, origin in enumerate(where) if origin is None}
    row_of.update({origin: row for row, origin in enumerate(where) if origin is not None})
    rows = (
        [next((row_of[place] for place in places if place in row_of), None) for places in dict.fromkeys(change)]
        for change in shown
    )
    return [[row for row in change if row is not None] for change in rows]


@dataclass(frozen=True, slots=True, eq=False)
class GroupPath:
    """A group, and the one around it; the root is in none and has the depth 0."""

    path: RowPath
    around: GroupPath | None
    depth: int


class GroupPaths:
    """The groups around each row, where it is shown first: through the first call of the function that it is in.

    All rows of a function share the way to it, which is walked once. Of a longer way only the `MAX_NESTED_OPEN_GROUPS`
    outer groups are known.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.callers = first_callers(hierarchy)
        # By row; None for what is shown nowhere, as nothing that is shown calls its function.
        self._known: dict[int, GroupPath | None] = {-1: None, 0: GroupPath((0,), None, 0)}
        self._boxes: dict[int, int] = {}

    def around(self, row: int) -> GroupPath | None:
        """The innermost group around a row of those that are known; None where the row is shown nowhere."""
        way: dict[int, None] = {}
        outer = self._outer(row)
        while outer not in self._known and outer not in way:
            way[outer] = None
            outer = self._outer(outer)
        # A function that only calls itself leads back to a row that the way has passed.
        group = self._known.get(outer)
        for inner in reversed(way):
            if group is not None and group.depth < MAX_NESTED_OPEN_GROUPS:
                group = GroupPath(child_path(self.hierarchy, group.path, inner), group, group.depth + 1)
            self._known[inner] = group
        return group

    def boxes(self, row: int) -> int:
        """How many boxes a group shows when it is open."""
        if row not in self._boxes:
            self._boxes[row] = len(content_rows(self.hierarchy, (row,)))
        return self._boxes[row]

    def _outer(self, row: int) -> int:
        """The row of the group around a row: as `parent_path` has it; -1 for none."""
        hierarchy = self.hierarchy
        parent = int(hierarchy.parent[row])
        function = row if hierarchy.kind[row] == FUNCTION_ROW else parent
        if function < 0 or hierarchy.kind[function] != FUNCTION_ROW:
            return parent
        call = self.callers.get(function, -1)
        # A call of several functions shows each of them as a group.
        return call if function == row or call < 0 or len(hierarchy.calls[call]) == 1 else function


def groups_around(
    around: GroupPath | None, own: str, signs: Sequence[str], closed: Collection[int]
) -> Iterator[RowPath]:
    """The groups around a node of sign `own`, from the outside in, up to one that is new, gone or renamed as a whole
    like it, or `closed`."""
    outwards: list[RowPath] = []
    # Without the root, which is always open.
    while around is not None and around.depth:
        outwards.append(around.path)
        around = around.around
    for group in reversed(outwards):
        if group[-1] in closed or (signs[group[-1]] == own and own in ("+", "−", "→")):
            return
        yield group


def first_callers(hierarchy: Hierarchy) -> dict[int, int]:
    """The first call of each function."""
    callers: dict[int, int] = {}
    for row, called in sorted(hierarchy.calls.items()):
        for _, body in called:
            callers.setdefault(body, row)
    return callers
