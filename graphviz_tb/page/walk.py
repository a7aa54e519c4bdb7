"""Walk through every group that a reader may open, from the outside in, with its drawing order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace

from graphviz_tb.arrange import PortConstraints, child_port_constraints
from graphviz_tb.expand import Expander
from graphviz_tb.limits import MAX_FUNCTION_NESTING, MAX_GROUPS_INSIDE_CALLS
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import RowPath, child_path
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.stacks import sole_stack
from graphviz_tb.page.copied import CopiedLevels

ArrangeLevel = Callable[[Metagraph, PortConstraints], Skeleton]
AsideLevel = tuple[RowPath, Metagraph, PortConstraints]  # a level that has an auxiliary area


def walk_levels(
    levels: Expander,
    arrange: ArrangeLevel,
    copied: CopiedLevels,
    first: Container[RowPath] = (),
) -> Iterator[tuple[RowPath, Metagraph, Skeleton, PortConstraints]]:
    """Yield the `first` groups with all around them, then the rest breadth first: a page that gets too large drops the
    deepest.

    Yields every group outside calls except copies; inside calls, recursive functions `MAX_FUNCTION_NESTING` times, and
    at
    most `MAX_GROUPS_INSIDE_CALLS` groups.
    """
    hierarchy, none = levels.hierarchy, PortConstraints()
    stacks: dict[RowPath, PortConstraints] = {}  # port constraints of groups drawn as stacks
    soon: deque[tuple[RowPath, PortConstraints]] = deque([((0,), none)])
    queue: deque[tuple[RowPath, PortConstraints]] = deque()
    for row in hierarchy.function_rows:
        (soon if (row,) in first else queue).append(((row,), none))
    inside = 0
    while soon or queue:
        path, outside = (soon or queue).popleft()  # the first picture comes first
        level = levels.metagraph(path)
        skeleton = arrange(level, outside)
        yield path, level, skeleton, outside
        if sole_stack(hierarchy, path[-1]) >= 0:
            stacks[path] = outside
        opening = {position for position, row in enumerate(level.children) if hierarchy.can_open(row)}
        found = child_port_constraints(level, skeleton, opening) if opening else {}
        copies = copied.copied_members(path, first)
        for position in sorted(opening):
            child = child_path(hierarchy, path, level.children[position])
            if is_nested_too_often(child) or child[-1] in copies:
                continue
            inside += len(child) > 1
            if len(child) == 1 or inside <= MAX_GROUPS_INSIDE_CALLS:
                # A single member is drawn in the place of its stack.
                box = levels.box_path(child)
                ports = found.get(position, none) if box == child else stacks[box]
                (soon if child in first else queue).append((child, ports))


def levels_without_aside(
    levels: Expander, away: Sequence[AsideLevel], arrange: ArrangeLevel
) -> Iterator[tuple[RowPath, Metagraph, Skeleton]]:
    """Yield the levels with an auxiliary area again, with everything in the main graph: the places of nodes that a
    reader moves back."""
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


def is_nested_too_often(path: RowPath) -> bool:
    """Return whether a function is inside itself too often.

    >>> is_nested_too_often((1, 9, 9)), is_nested_too_often((1, 9, 9, 9, 9))
    (False, True)
    """
    return path.count(path[-1]) > MAX_FUNCTION_NESTING
