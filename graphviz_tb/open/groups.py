"""Decide which groups of a picture are open."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from graphviz_tb.graphs.calls import listed_functions
from graphviz_tb.limits import FREE_ADDRESS_LETTERS, MAX_OPEN_BOXES, MAX_OPEN_LINES
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import (
    RowPath,
    child_path,
    joined_frames,
    parent_path,
    paths_to_usual_member,
    sole_open_members,
    sole_scope,
    sole_stack,
)
from graphviz_tb.open.first_picture import GRAPH_ROOT, ExpandPath, first_open_groups, opens_without_recursion
from graphviz_tb.options import COLOR_BY_LOGGED, PictureOptions

OpenSet = dict[RowPath, None]


# The address of each box inside a call repeats the call's name. Names may be a megabyte long, and calls nested
# thousands deep, so the letters of all addresses are limited.
ADDRESS_PART_LETTERS = 8  # per name, in addition to its length


class PatternFinder(Protocol):
    """Finds the paths of names and patterns (`RowFinder`)."""

    def find_each(self, patterns: Iterable[str], /) -> Iterator[list[RowPath]]:
        """Yield the paths that each pattern matches."""


def open_groups(
    hierarchy: Hierarchy, metagraph: ExpandPath, options: PictureOptions, names: PatternFinder
) -> tuple[OpenSet, tuple[Notice, ...]]:
    """Return the open groups, each after the group around it, the root first.

    With `open_all` everything is open, up to `max_open` boxes; with a depth, every group down to it; with neither and
    no named group, the groups of a first picture. Named groups and all groups around them are always open.
    """
    opened: OpenSet = {GRAPH_ROOT: None}
    notices: tuple[Notice, ...] = ()
    max_boxes = min(options.max_open, MAX_OPEN_BOXES)
    if options.open_all:
        notices = _open_breadth_first(hierarchy, metagraph, opened, max_boxes, None)
    elif options.depth != "auto":
        notices = _open_breadth_first(hierarchy, metagraph, opened, max_boxes, options.depth)
    elif not options.open:
        opened.update(dict.fromkeys(first_open_groups(hierarchy, metagraph, shows_one_member(options))))
    # Named groups come last: what `--depth` or `--open-all` opened counts against the limit.
    box_count = _contents_size(hierarchy, metagraph, opened if options.open else ())
    for paths in names.find_each(options.open):
        box_count, match_notices = _open_matches(hierarchy, metagraph, opened, paths, max_boxes, box_count)
        notices += match_notices
    if options.open and shows_one_member(options):
        _open_usual_members(hierarchy, opened)
        _open_scopes_inside(hierarchy, opened)
    # Several patterns may meet the same limit: report the first place only.
    distinct = {(notice.code, notice.message): notice for notice in reversed(notices)}
    return opened, (*reversed(distinct.values()), *unlisted_notices(hierarchy, opened))


def shows_one_member(options: PictureOptions) -> bool:
    """Return whether an open stack may show one member alone: no if all groups, or all down to a depth, are requested,
    or if layers are compared by logged values."""
    listed = options.all_members or options.open_all or options.color_by == COLOR_BY_LOGGED
    return not listed and options.depth in ("auto", 0)


def lone_members(
    hierarchy: Hierarchy, opened: Iterable[RowPath], options: PictureOptions
) -> dict[RowPath, RowPath] | None:
    """Return the member that each open stack shows alone, by path of the stack; None if stacks list their members,
    because that is requested or because two members of one stack are open."""
    return sole_open_members(hierarchy, opened) if shows_one_member(options) else None


def shown_contents(hierarchy: Hierarchy, opened: Iterable[RowPath], options: PictureOptions) -> dict[RowPath, RowPath]:
    """Return, for open groups that show the content of another group, that group: the shown member of a stack, or the
    innermost of nested scopes that contain nothing else."""
    opened = list(opened)
    return {**joined_frames(hierarchy, opened), **(lone_members(hierarchy, opened, options) or {})}


def unlisted_notices(hierarchy: Hierarchy, opened: OpenSet) -> tuple[Notice, ...]:
    """Return a notice if there are more functions than the list next to the graph shows."""
    _, more = listed_functions(hierarchy, opened)
    if not more:
        return ()
    text = f"{more:,} more functions that nothing calls are not shown (--open NAME)"
    return (Notice("unlisted-functions", text, count=more, strict=False),)


def _open_matches(
    hierarchy: Hierarchy, metagraph: ExpandPath, opened: OpenSet, paths: list[RowPath], limit: int, shown: PictureSize
) -> tuple[PictureSize, tuple[Notice, ...]]:
    """Open the matches of a name or pattern; of several matches no more than fit into `limit` boxes.

    `shown` is the size of the picture. Return its new size.
    """
    for path in paths:
        closed = _closed_chain(hierarchy, path, opened)
        more = shown.add_size(_contents_size(hierarchy, metagraph, closed))
        if more.letters > FREE_ADDRESS_LETTERS:
            return shown, (_long_addresses_notice(hierarchy.name[path[-1]]),)
        if len(paths) > 1:  # a single named group is opened whatever its size
            if more.boxes > limit:
                return more._replace(boxes=limit), (_max_open_notice(limit, hierarchy.name[path[-1]]),)
            if more.lines > MAX_OPEN_LINES:
                return shown, (_max_lines_notice(hierarchy.name[path[-1]]),)
        shown = more
        opened.update(dict.fromkeys(closed))
    return shown, ()


def _open_usual_members(hierarchy: Hierarchy, opened: OpenSet) -> None:
    """Open the usual member of each open stack that has no open member."""
    for path in list(opened):
        stack = sole_stack(hierarchy, path[-1])
        members = hierarchy.children(stack).tolist() if stack >= 0 else []
        if members and not any((*path[:-1], member) in opened for member in members):
            opened.update(dict.fromkeys(paths_to_usual_member(hierarchy, path)))


def _open_scopes_inside(hierarchy: Hierarchy, opened: OpenSet) -> None:
    """Open each scope that is the only child of an open scope, and so on inwards."""
    for path in list(opened):
        inner = (*path[:-1], sole_scope(hierarchy, path[-1]))
        while inner[-1] >= 0 and inner not in opened:
            opened[inner] = None
            inner = (*path[:-1], sole_scope(hierarchy, inner[-1]))


def _max_open_notice(limit: int, where: str) -> Notice:
    """Return the notice for a picture where opening the next group would exceed the limit."""
    more = "the most of any picture" if limit == MAX_OPEN_BOXES else "--max-open"
    text = f"not everything is open: the picture would pass {limit:,} boxes ({more})"
    return Notice("max-open", text, where, strict=False)


def _long_addresses_notice(where: str) -> Notice:
    """Return the notice for a picture that would repeat the names of calls too often."""
    text = "not everything is open: addresses that begin with the names of calls would be too long together"
    return Notice("long-addresses", text, where, strict=False)


def _max_lines_notice(where: str) -> Notice:
    """Return the notice for a picture where opening the next group would draw too many lines."""
    text = f"not everything is open: the picture would pass {MAX_OPEN_LINES:,} lines"
    return Notice("max-lines", text, where, strict=False)


class PictureSize(NamedTuple):
    """Numbers of boxes, of letters in their addresses, and of lines."""

    boxes: int
    letters: int
    lines: int

    def add_size(self, other: PictureSize) -> PictureSize:
        return PictureSize(self.boxes + other.boxes, self.letters + other.letters, self.lines + other.lines)


def _contents_size(hierarchy: Hierarchy, metagraph: ExpandPath, groups: Iterable[RowPath]) -> PictureSize:
    boxes = letters = lines = 0
    for path in groups:
        level = metagraph(path)
        count = len(level.children)
        calls = path if path[-1] in hierarchy.calls else path[:-1]
        boxes += count
        letters += count * sum(len(hierarchy.name[call]) + ADDRESS_PART_LETTERS for call in calls)
        lines += len(level.edges)
    return PictureSize(boxes, letters, lines)


def _closed_chain(hierarchy: Hierarchy, path: RowPath, opened: OpenSet) -> list[RowPath]:
    """Return the closed groups around `path`, from the outside in, then the group itself if it can be opened."""
    chain: list[RowPath] = []
    group: RowPath | None = path if hierarchy.can_open(path[-1]) else parent_path(hierarchy, path)
    while group is not None and group not in opened:  # all groups around an open group are open
        chain.append(group)
        group = parent_path(hierarchy, group)
    return chain[::-1]


def _openable_children(hierarchy: Hierarchy, metagraph: Metagraph, path: RowPath) -> Iterator[RowPath]:
    paths = (child_path(hierarchy, path, row) for row in metagraph.own_children())
    return (child for child in paths if opens_without_recursion(hierarchy, child))


def _open_breadth_first(
    hierarchy: Hierarchy, metagraph: ExpandPath, opened: OpenSet, limit: int, depth: int | None
) -> tuple[Notice, ...]:
    """Open groups breadth first from the root."""
    shown = _contents_size(hierarchy, metagraph, [GRAPH_ROOT])
    queue: deque[tuple[RowPath, int]] = deque([(GRAPH_ROOT, 0)])
    while queue:
        path, level = queue.popleft()
        if depth is not None and level >= depth:  # the rest of the queue is at least as deep
            break
        for child in _openable_children(hierarchy, metagraph(path), path):
            shown = shown.add_size(_contents_size(hierarchy, metagraph, [child]))
            if shown.boxes > limit:
                return (_max_open_notice(limit, hierarchy.name[child[-1]]),)
            if shown.letters > FREE_ADDRESS_LETTERS:
                return (_long_addresses_notice(hierarchy.name[child[-1]]),)
            if shown.lines > MAX_OPEN_LINES:
                return (_max_lines_notice(hierarchy.name[child[-1]]),)
            opened[child] = None
            queue.append((child, level + 1))
    return ()
