"""Stacks: series of groups. An open stack shows a single member."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import takewhile

from graphviz_tb.model.hierarchy import FOLD_ROW, OP_ROW, SCOPE_ROW, SEGMENT_ORIGIN, SERIES_ROW, Hierarchy
from graphviz_tb.model.paths import RowPath, parent_path


def is_stack(hierarchy: Hierarchy, row: int) -> bool:
    """Return whether a row is a series of groups. A series of calls is none, as calls are ops."""
    return bool(hierarchy.kind[row] == SERIES_ROW) and bool(hierarchy.kind[hierarchy.children(row)[0]] != OP_ROW)


def sole_stack(hierarchy: Hierarchy, row: int) -> int:
    """Return the row itself if it is a stack, else the stack that is its only content; -1 if neither."""
    known, way = hierarchy.stack_inside, []
    while row > 0 and row not in known and hierarchy.kind[row] in (SCOPE_ROW, FOLD_ROW):
        way.append(row)
        children = hierarchy.children(row)
        row = int(children[0]) if len(children) == 1 else -1
    found = known[row] if row in known else row if row > 0 and is_stack(hierarchy, row) else -1
    known.update(dict.fromkeys(way, found))
    return found


def stack_around(hierarchy: Hierarchy, path: RowPath) -> RowPath | None:
    """Return the stack of which a path is a member; None if there is none."""
    around = parent_path(hierarchy, path)
    return around if around is not None and is_stack(hierarchy, around[-1]) else None


def stack_boxes(hierarchy: Hierarchy, stack: RowPath) -> list[RowPath]:
    """Return a stack and the enclosing groups that contain nothing else, from the inside out: all are drawn as one box.
    Members of another stack are excluded: they are drawn as that stack."""
    found = [stack]
    while (row := int(hierarchy.parent[found[-1][-1]])) > 0 and sole_stack(hierarchy, row) == stack[-1]:
        if is_stack(hierarchy, int(hierarchy.parent[row])):
            break
        found.append((*stack[:-1], row))
    return found


def usual_member(hierarchy: Hierarchy, stack: int) -> int:
    """Return the first member with the most common template: the representative of the stack."""
    members = hierarchy.children(stack).tolist()
    templates = hierarchy.template[members].tolist()
    counts = Counter(templates)
    return int(members[templates.index(max(counts, key=lambda template: counts[template]))])  # a tie: the first


def paths_to_usual_member(hierarchy: Hierarchy, path: RowPath) -> list[RowPath]:
    """Return the groups that open together with a stack, or with a group that contains only a stack: the groups in
    between, and the usual member.

    Empty for any other group.
    """
    stack = sole_stack(hierarchy, path[-1])
    if stack < 0:
        return []
    inner = [*takewhile(lambda box: box != path, stack_boxes(hierarchy, (*path[:-1], stack)))][::-1]
    return [*inner, (*path[:-1], usual_member(hierarchy, stack))]


def sole_open_members(hierarchy: Hierarchy, opened: Iterable[RowPath]) -> dict[RowPath, RowPath] | None:
    """Return the only open member of each open stack, by the path of the stack and of the groups that contain nothing
    else.

    None if two members of one stack are open: then each open stack lists its members.
    """
    members: dict[RowPath, RowPath] = {}
    for path in opened:
        stack = stack_around(hierarchy, path)
        if stack is not None:
            if stack in members:
                return None
            members.update(dict.fromkeys(stack_boxes(hierarchy, stack), path))
    return members


def box_of_path(hierarchy: Hierarchy, path: RowPath, members: Mapping[RowPath, RowPath]) -> RowPath:
    """Return the group whose box represents a path while open stacks show `members`: the stack for its shown member,
    and for a stack the outermost group that contains nothing else."""
    around = stack_around(hierarchy, path)
    shown = around if around is not None and members.get(around) == path else path
    stack = sole_stack(hierarchy, shown[-1])
    return stack_boxes(hierarchy, (*shown[:-1], stack))[-1] if stack >= 0 else shown


def repetition_count(hierarchy: Hierarchy, row: int) -> int:
    """Return the number of members of a series, or of children of a fold."""
    return len(repeated_rows(hierarchy, row))


def repeated_rows(hierarchy: Hierarchy, row: int) -> list[int]:
    """Return the members of a series, through its ranges if it has any; the children of a fold."""
    if hierarchy.kind[row] != SERIES_ROW:
        return [*hierarchy.children(row).tolist()]
    found: list[int] = []
    todo = [row]
    while todo:
        held = hierarchy.children(todo.pop())
        ranges = (hierarchy.kind[held] == FOLD_ROW) & (hierarchy.how[held] == SEGMENT_ORIGIN)
        if ranges.all():
            todo += held.tolist()
        else:
            found += held.tolist()
    return found
