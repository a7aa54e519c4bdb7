"""Every group of a model, from the outside in, with its order of drawing: what a reader may open."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace

from graphviz_tb.arrange import PortConstraints, around_children
from graphviz_tb.expand import Expander
from graphviz_tb.limits import FUNCTION_IN_ITSELF, GROUPS_INSIDE_CALLS
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import Path, child_path
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.stacks import stack_in
from graphviz_tb.page.copied import CopiedLevels

Arrange = Callable[[Metagraph, PortConstraints], Skeleton]
Away = tuple[Path, Metagraph, PortConstraints]  # a level that has an auxiliary area


def walk(
    levels: Expander,
    arrange: Arrange,
    copied: CopiedLevels,
    first: Container[Path] = (),
) -> Iterator[tuple[Path, Metagraph, Skeleton, PortConstraints]]:
    """The `first` groups with all around them, then the others breadth first: what is left out of a page that gets
    too large is what lies deepest.

    After: every group outside calls but those of copies; inside calls, functions in themselves `FUNCTION_IN_ITSELF`
    times, up to `GROUPS_INSIDE_CALLS`.
    """
    hierarchy, none = levels.hierarchy, PortConstraints()
    stacks: dict[Path, PortConstraints] = {}  # how the lines of groups lie that are drawn as stacks
    soon: deque[tuple[Path, PortConstraints]] = deque([((0,), none)])
    queue: deque[tuple[Path, PortConstraints]] = deque()
    for row in hierarchy.function_rows:
        (soon if (row,) in first else queue).append(((row,), none))
    inside = 0
    while soon or queue:
        path, outside = (soon or queue).popleft()  # what the first picture needs comes before all else
        level = levels.metagraph(path)
        skeleton = arrange(level, outside)
        yield path, level, skeleton, outside
        if stack_in(hierarchy, path[-1]) >= 0:
            stacks[path] = outside
        opening = {position for position, row in enumerate(level.children) if hierarchy.opens(row)}
        found = around_children(level, skeleton, opening) if opening else {}
        copies = copied.members(path, first)
        for position in sorted(opening):
            child = child_path(hierarchy, path, level.children[position])
            if nested(child) or child[-1] in copies:
                continue
            inside += len(child) > 1
            if len(child) == 1 or inside <= GROUPS_INSIDE_CALLS:
                # A member that is shown alone is where its stack is.
                box = levels.box_of(child)
                lies = found.get(position, none) if box == child else stacks[box]
                (soon if child in first else queue).append((child, lies))


def all_in_main(levels: Expander, away: Sequence[Away], arrange: Arrange) -> Iterator[tuple[Path, Metagraph, Skeleton]]:
    """Levels that have an auxiliary area once more, with everything in the main graph: what a reader moves back is
    in its place there."""
    hierarchy = levels.hierarchy
    rows = {level.children[place]: None for _, level, _ in away for place in sorted(level.mask.extracted)}
    names = tuple(dict.fromkeys(hierarchy.name[row] for row in rows))
    whole = levels.with_options(replace(levels.options, main=names))
    for path, _, outside in away:
        level = whole.metagraph(path)
        yield path, level, arrange(level, outside)


def has_aside(level: Metagraph, skeleton: Skeleton) -> bool:
    """Whether a level is written once more, with everything in the main graph: it has an auxiliary area, and is not of
    very many lines."""
    return bool(level.mask.extracted) and not skeleton.plain


def nested(path: Path) -> bool:
    """Return whether a function is inside itself too often.

    >>> nested((1, 9, 9)), nested((1, 9, 9, 9, 9))
    (False, True)
    """
    return path.count(path[-1]) > FUNCTION_IN_ITSELF
