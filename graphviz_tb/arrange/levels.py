"""The order of drawing of every open group of a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
) -> dict[Path, Skeleton]:
    """A skeleton for each open group, from the outside in: an edge turned at one level arrives turned at the next,
    edges side by side at one level arrive side by side.

    Before: `opened` lists groups, each after the group around it.
    """
    paths = dict.fromkeys(opened)
    skeletons: dict[Path, Skeleton] = {}
    outside: dict[Path, PortConstraints] = {}
    # Outermost first: each level tells those open in it how its lines lie.
    for path in paths:
        level = metagraph(path)
        skeleton = skeletons[path] = lay(level, outside.get(path))
        inside = {position: child_path(hierarchy, path, row) for position, row in enumerate(level.children)}
        inside = {position: child for position, child in inside.items() if child in paths}
        for position, found in around_children(level, skeleton, inside).items():
            outside[inside[position]] = found
    return skeletons
