"""The order of drawing of every open group of a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from graphviz_tb.arrange import Arrangements, ArrangeOptions, arrange, turned_inside
from graphviz_tb.arrange.lines import Turned
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import Path, child_path
from graphviz_tb.model.skeleton import Skeleton


def arrange_levels(
    hierarchy: Hierarchy,
    metagraph: Callable[[Path], Metagraph],
    opened: Iterable[Path],
    options: ArrangeOptions,
    known: Arrangements,
) -> dict[Path, Skeleton]:
    """A skeleton for each open group, from the outside in: an edge turned at one level arrives turned at the next.

    Before: `opened` lists groups, each after the group around it.
    """
    paths = dict.fromkeys(opened)
    skeletons: dict[Path, Skeleton] = {}
    turned: dict[Path, Turned] = {}
    for path in paths:
        level = metagraph(path)
        skeleton = skeletons[path] = arrange(level, options, turned.get(path, frozenset()), known)
        for position, row in enumerate(level.children):
            child = child_path(hierarchy, path, row)
            if child in paths:
                turned[child] = turned_inside(level, skeleton, position)
    return skeletons
