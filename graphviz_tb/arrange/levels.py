"""Arrange every open group of a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from graphviz_tb.arrange import PortConstraints, child_port_constraints
from graphviz_tb.arrange.laying import LevelArranger
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import RowPath, child_path
from graphviz_tb.model.skeleton import Skeleton


def arrange_levels(
    hierarchy: Hierarchy,
    metagraph: Callable[[RowPath], Metagraph],
    opened: Iterable[RowPath],
    lay: LevelArranger,
    members: Mapping[RowPath, RowPath],
) -> dict[RowPath, Skeleton]:
    """Return a skeleton for each open group, from the outside in.

    An edge turned at one level arrives turned at the next; neighbouring edges arrive as neighbours. `opened` lists
    groups, each after the group around it. `members` are those that open stacks show alone, by path of the stack; such
    a stack gets no skeleton, because the content of its member is drawn in its place.
    """
    paths = dict.fromkeys(opened)
    skeletons: dict[RowPath, Skeleton] = {}
    outside: dict[RowPath, PortConstraints] = {}
    # Outermost first: each level constrains the ports of those open in it.
    for path in paths:
        if path in members:
            continue
        level = metagraph(path)
        skeleton = skeletons[path] = lay(level, outside.get(path))
        inside = {position: child_path(hierarchy, path, row) for position, row in enumerate(level.children)}
        inside = {position: members.get(child, child) for position, child in inside.items() if child in paths}
        for position, found in child_port_constraints(level, skeleton, inside).items():
            outside[inside[position]] = found
    return skeletons
