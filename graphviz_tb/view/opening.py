"""Which groups of a picture are open."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from graphviz_tb.algorithms.calls import listed_functions
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import Path, child_path, parent_path
from graphviz_tb.options import PictureOptions
from graphviz_tb.view.first import ROOT, Open, first_picture, openable
from graphviz_tb.view.select import Names

OpenSet = dict[Path, None]

# Of the names of calls, which each box inside repeats in its address: a name may be a megabyte long.
LETTERS = 100 << 20


def open_groups(
    hierarchy: Hierarchy, metagraph: Open, options: PictureOptions, names: Names
) -> tuple[OpenSet, tuple[Notice, ...]]:
    """The open groups, each after the group around it; the root first.

    Before: what was asked for. After: named groups and all around them; with `open_all` everything up to `max_open`
    boxes; with a depth every group down to it; otherwise as many as make a first picture.
    """
    opened: OpenSet = {ROOT: None}
    notices: tuple[Notice, ...] = ()
    if options.open_all:
        notices = open_all(hierarchy, metagraph, opened, options.max_open)
    elif options.depth != "auto":
        notices = open_to_depth(hierarchy, metagraph, opened, options.depth, options.max_open)
    elif not options.open:
        opened.update(dict.fromkeys(first_picture(hierarchy, metagraph)))
    # Named groups come last: what `--depth` or `--open-all` opened counts against the limit.
    boxes = sum(len(metagraph(path).children) for path in opened) if options.open else 0
    for paths in names.find_each(options.open):
        boxes, odd = open_found(hierarchy, metagraph, opened, paths, options.max_open, boxes)
        notices += odd
    return opened, (*notices, *unlisted(hierarchy, opened))


def unlisted(hierarchy: Hierarchy, opened: OpenSet) -> tuple[Notice, ...]:
    """Tell that there are more functions than the list beside the graph shows."""
    _, more = listed_functions(hierarchy, opened)
    if not more:
        return ()
    text = f"{more:,} more functions that nothing calls are not shown (--open NAME)"
    return (Notice("unlisted-functions", text, count=more, strict=False),)


def open_found(
    hierarchy: Hierarchy, metagraph: Open, opened: OpenSet, paths: list[Path], limit: int, boxes: int
) -> tuple[int, tuple[Notice, ...]]:
    """Open what a name or pattern means; of several places no more than fit into `limit` boxes.

    `boxes` is how many are shown before; given back is how many afterwards.
    """
    letters = sum(letters_in(hierarchy, metagraph(path), path) for path in opened)
    for path in paths:
        closed = closed_around(hierarchy, path, opened)
        boxes += sum(len(metagraph(group).children) for group in closed)
        letters += sum(letters_in(hierarchy, metagraph(group), group) for group in closed)
        if letters > LETTERS:
            return boxes, (too_long(hierarchy.name[path[-1]]),)
        if boxes > limit and len(paths) > 1:  # a single place that was named is opened however large it is
            return limit, (too_many(limit, hierarchy.name[path[-1]]),)
        opened.update(dict.fromkeys(closed))
    return boxes, ()


def too_many(limit: int, where: str) -> Notice:
    """The notice for a picture where opening the next group would exceed the limit."""
    text = f"not everything is open: the picture would pass {limit:,} boxes (--max-open)"
    return Notice("max-open", text, where, strict=False)


def too_long(where: str) -> Notice:
    """The notice for a picture in which the names of calls would be repeated too often."""
    text = f"not everything is open: names of calls would take more than {LETTERS:,} letters in addresses"
    return Notice("long-addresses", text, where, strict=False)


def letters_in(hierarchy: Hierarchy, metagraph: Metagraph, path: Path) -> int:
    """How many letters of the names of calls the addresses of an open group's children have."""
    calls = path if path[-1] in hierarchy.calls else path[:-1]
    return len(metagraph.children) * sum(len(hierarchy.name[call]) for call in calls)


def closed_around(hierarchy: Hierarchy, path: Path, opened: OpenSet) -> list[Path]:
    """What is still closed around `path`, from the outside in, and the group itself (an op is only made visible)."""
    chain: list[Path] = []
    group: Path | None = path if hierarchy.opens(path[-1]) else parent_path(hierarchy, path)
    while group is not None and group not in opened:  # around what is open all is
        chain.append(group)
        group = parent_path(hierarchy, group)
    return chain[::-1]


def groups_below(hierarchy: Hierarchy, metagraph: Metagraph, path: Path, core_only: bool = False) -> Iterator[Path]:
    """The children of an open group that can be opened."""
    away = metagraph.mask.extracted if core_only else frozenset()
    for position, row in enumerate(metagraph.children):
        child = child_path(hierarchy, path, row)
        if position not in away and openable(hierarchy, child, path[-1]):
            yield child


def open_all(hierarchy: Hierarchy, metagraph: Open, opened: OpenSet, limit: int) -> tuple[Notice, ...]:
    """Open everything, nearest levels first, until the next group would pass `limit` boxes."""
    return spread(hierarchy, metagraph, opened, limit, None)


def open_to_depth(hierarchy: Hierarchy, metagraph: Open, opened: OpenSet, depth: int, limit: int) -> tuple[Notice, ...]:
    """Open every group of the first `depth` levels."""
    return spread(hierarchy, metagraph, opened, limit, depth)


def spread(hierarchy: Hierarchy, metagraph: Open, opened: OpenSet, limit: int, depth: int | None) -> tuple[Notice, ...]:
    """Breadth first from the root."""
    boxes, letters = len(metagraph(ROOT).children), 0
    queue: deque[tuple[Path, int]] = deque([(ROOT, 0)])
    while queue:
        path, level = queue.popleft()
        if depth is not None and level >= depth:  # breadth first: all that follow are as deep
            break
        for child in groups_below(hierarchy, metagraph(path), path):
            inside = len(metagraph(child).children)
            if boxes + inside > limit:
                return (too_many(limit, hierarchy.name[child[-1]]),)
            letters += letters_in(hierarchy, metagraph(child), child)
            if letters > LETTERS:
                return (too_long(hierarchy.name[child[-1]]),)
            boxes += inside
            opened[child] = None
            queue.append((child, level + 1))
    return ()
