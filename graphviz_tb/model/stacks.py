"""Stacks: series of groups, of which an open one shows a single member."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from graphviz_tb.model.hierarchy import OP, SERIES, Hierarchy
from graphviz_tb.model.paths import Path, parent_path


def is_stack(hierarchy: Hierarchy, row: int) -> bool:
    """Whether a row is a series of groups. Calls are ops: a series of them is none."""
    if hierarchy.kind[row] != SERIES:
        return False
    members = hierarchy.children(row)
    return len(members) > 1 and bool(hierarchy.kind[members[0]] != OP)


def stack_of(hierarchy: Hierarchy, path: Path) -> Path | None:
    """The stack of which a path is a member; None where it is no member of one."""
    around = parent_path(hierarchy, path)
    return around if around is not None and is_stack(hierarchy, around[-1]) else None


def usual_member(hierarchy: Hierarchy, row: int) -> int:
    """The member that shows what a stack repeats: the first of those that have the most common template."""
    members = hierarchy.children(row).tolist()
    templates = [int(hierarchy.template[member]) for member in members]
    counts = Counter(templates)
    return int(members[templates.index(max(counts, key=lambda template: counts[template]))])  # a tie: what comes first


def usual_path(hierarchy: Hierarchy, stack: Path) -> Path:
    """The path of the usual member of a stack."""
    return (*stack[:-1], usual_member(hierarchy, stack[-1]))


def shown_members(hierarchy: Hierarchy, opened: Iterable[Path]) -> dict[Path, Path] | None:
    """The member that each open stack shows alone, by the path of the stack.

    After: None where two members of one stack are open: then each open stack lists its members.
    """
    members: dict[Path, Path] = {}
    for path in opened:
        stack = stack_of(hierarchy, path)
        if stack is not None:
            if stack in members:
                return None
            members[stack] = path
    return members


