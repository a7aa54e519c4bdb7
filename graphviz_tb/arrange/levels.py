"""Arrange every open group of a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from graphviz_tb.arrange import PortConstraints, around_children
from graphviz_tb.arrange.laying import Laying
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import Path, child_path
from graphviz_tb.model.skeleton import Skeleton


def arrange_levels(
    hierarchy: Hierarchy,
    metagraph: Callable[[Path], Metagraph],
    opened: Iterable[Path],
    lay: Laying,
    members: Mapping[Path, Path],
) -> dict[Path, Skeleton]:
    """Return a skeleton for each open group, from the outside in.

    An edge turned at one level arrives turned at the next; neighbouring edges arrive as neighbours. `opened` lists
    groups, each after the group around it. `members` are those that open stacks show alone, by path of the stack; such
    a stack gets no skeleton, because the content of its member is drawn in its place.
    """
    paths = dict.fromkeys(opened)
    skeletons: dict[Path, Skeleton] = {}
    outside: dict[Path, PortConstraints] = {}
    # Outermost first: each level constrains the ports of those open in it.
    for path in paths:
        if path in members:
            continue
        level = metagraph(path)
        skeleton = skeletons[path] = lay(level, outside.get(path))
        inside = {position: child_path(hierarchy, path, row) for position, row in enumerate(level.children)}
        inside = {position: members.get(child, child) for position, child in inside.items() if child in paths}
        for position, found in around_children(level, skeleton, inside).items():
            outside[inside[position]] = found
    return skeletons
