"""Decide which groups of a picture are open."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from graphviz_tb.algorithms.calls import listed_functions
from graphviz_tb.limits import ADDRESS_LETTERS, MOST_LINES, MOST_OPEN
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import Path, child_path, parent_path
from graphviz_tb.model.stacks import shown_members, stack_in, usual_paths
from graphviz_tb.options import BY_LOG, PictureOptions
from graphviz_tb.view.first import ROOT, ExpandPath, first_picture, openable

OpenSet = dict[Path, None]


# Each box inside a call repeats the call's name in its address; names may be a megabyte long, and calls nested
# thousands deep. Each name counts as so many letters more.
PART = 8


class PatternFinder(Protocol):
    """Finds the paths of names and patterns (`RowFinder`)."""

    def find_each(self, patterns: Iterable[str], /) -> Iterator[list[Path]]:
        """Yield the paths that each pattern matches."""


def open_groups(
    hierarchy: Hierarchy, metagraph: ExpandPath, options: PictureOptions, names: PatternFinder
) -> tuple[OpenSet, tuple[Notice, ...]]:
    """Return the open groups, each after the group around it, the root first.

    Named groups and all around them are open; with `open_all` everything up to `max_open` boxes, or `MOST_OPEN`; with a
    depth every group down to it; otherwise those of a first picture.
    """
    opened: OpenSet = {ROOT: None}
    notices: tuple[Notice, ...] = ()
    most = min(options.max_open, MOST_OPEN)
    if options.open_all:
        notices = open_all(hierarchy, metagraph, opened, most)
    elif options.depth != "auto":
        notices = open_to_depth(hierarchy, metagraph, opened, options.depth, most)
    elif not options.open:
        opened.update(dict.fromkeys(first_picture(hierarchy, metagraph, shows_one(options))))
    # Named groups come last: what `--depth` or `--open-all` opened counts against the limit.
    shown = contents_size(hierarchy, metagraph, opened if options.open else ())
    for paths in names.find_each(options.open):
        shown, odd = open_found(hierarchy, metagraph, opened, paths, most, shown)
        notices += odd
    if options.open and shows_one(options):
        show_usual(hierarchy, opened)
    # Several patterns may meet the same limit: report the first place only.
    told = {(notice.code, notice.message): notice for notice in reversed(notices)}
    return opened, (*reversed(told.values()), *unlisted(hierarchy, opened))


def shows_one(options: PictureOptions) -> bool:
    """Return whether an open stack may show one member alone: not if all groups, or all down to a depth, are requested,
    nor if layers are compared by logged values."""
    listed = options.all_members or options.open_all or options.color_by == BY_LOG
    return not listed and options.depth in ("auto", 0)


def members_alone(hierarchy: Hierarchy, opened: Iterable[Path], options: PictureOptions) -> dict[Path, Path] | None:
    """Return the member that each open stack shows alone, by path of the stack; None if stacks list their members,
    because that is requested or because two members of one stack are open."""
    return shown_members(hierarchy, opened) if shows_one(options) else None


def unlisted(hierarchy: Hierarchy, opened: OpenSet) -> tuple[Notice, ...]:
    """Return the notice that there are more functions than the list next to the graph shows."""
    _, more = listed_functions(hierarchy, opened)
    if not more:
        return ()
    text = f"{more:,} more functions that nothing calls are not shown (--open NAME)"
    return (Notice("unlisted-functions", text, count=more, strict=False),)


def open_found(
    hierarchy: Hierarchy, metagraph: ExpandPath, opened: OpenSet, paths: list[Path], limit: int, shown: PictureSize
) -> tuple[PictureSize, tuple[Notice, ...]]:
    """Open the matches of a name or pattern; of several matches no more than fit into `limit` boxes.

    `shown` is the size of the picture before; its new size is returned.
    """
    for path in paths:
        closed = closed_around(hierarchy, path, opened)
        more = shown.plus(contents_size(hierarchy, metagraph, closed))
        if more.letters > ADDRESS_LETTERS:
            return shown, (too_long(hierarchy.name[path[-1]]),)
        if len(paths) > 1:  # a single named group is opened whatever its size
            if more.boxes > limit:
                return more._replace(boxes=limit), (too_many(limit, hierarchy.name[path[-1]]),)
            if more.lines > MOST_LINES:
                return shown, (too_dense(hierarchy.name[path[-1]]),)
        shown = more
        opened.update(dict.fromkeys(closed))
    return shown, ()


def show_usual(hierarchy: Hierarchy, opened: OpenSet) -> None:
    """Let open stacks without an open member show their usual one."""
    for path in list(opened):
        stack = stack_in(hierarchy, path[-1])
        members = hierarchy.children(stack).tolist() if stack >= 0 else []
        if members and not any((*path[:-1], member) in opened for member in members):
            opened.update(dict.fromkeys(usual_paths(hierarchy, path)))


def too_many(limit: int, where: str) -> Notice:
    """Return the notice for a picture where opening the next group would exceed the limit."""
    more = "the most of any picture" if limit == MOST_OPEN else "--max-open"
    text = f"not everything is open: the picture would pass {limit:,} boxes ({more})"
    return Notice("max-open", text, where, strict=False)


def too_long(where: str) -> Notice:
    """Return the notice for a picture that would repeat the names of calls too often."""
    text = "not everything is open: addresses that begin with the names of calls would be too long together"
    return Notice("long-addresses", text, where, strict=False)


def too_dense(where: str) -> Notice:
    """Return the notice for a picture where opening the next group would draw too many lines."""
    text = f"not everything is open: the picture would pass {MOST_LINES:,} lines"
    return Notice("max-lines", text, where, strict=False)


class PictureSize(NamedTuple):
    """Numbers of boxes, of letters of the names of calls in their addresses, and of lines."""

    boxes: int
    letters: int
    lines: int

    def plus(self, other: PictureSize) -> PictureSize:
        """Return the sum of both."""
        return PictureSize(self.boxes + other.boxes, self.letters + other.letters, self.lines + other.lines)


def contents_size(hierarchy: Hierarchy, metagraph: ExpandPath, groups: Iterable[Path]) -> PictureSize:
    """Return the size of the contents of groups."""
    boxes = letters = lines = 0
    for path in groups:
        level = metagraph(path)
        count = len(level.children)
        calls = path if path[-1] in hierarchy.calls else path[:-1]
        boxes += count
        letters += count * sum(len(hierarchy.name[call]) + PART for call in calls)
        lines += len(level.edges)
    return PictureSize(boxes, letters, lines)


def closed_around(hierarchy: Hierarchy, path: Path, opened: OpenSet) -> list[Path]:
    """Return the closed groups around `path`, from the outside in, and the group itself (an op is only made
    visible)."""
    chain: list[Path] = []
    group: Path | None = path if hierarchy.opens(path[-1]) else parent_path(hierarchy, path)
    while group is not None and group not in opened:  # all around an open group is open
        chain.append(group)
        group = parent_path(hierarchy, group)
    return chain[::-1]


def groups_below(hierarchy: Hierarchy, metagraph: Metagraph, path: Path) -> Iterator[Path]:
    """Return the children of an open group that can be opened."""
    paths = (child_path(hierarchy, path, row) for row in metagraph.children)
    return (child for child in paths if openable(hierarchy, child, path[-1]))


def open_all(hierarchy: Hierarchy, metagraph: ExpandPath, opened: OpenSet, limit: int) -> tuple[Notice, ...]:
    """Open everything, nearest levels first, until the next group would exceed `limit` boxes."""
    return breadth_first(hierarchy, metagraph, opened, limit, None)


def open_to_depth(
    hierarchy: Hierarchy, metagraph: ExpandPath, opened: OpenSet, depth: int, limit: int
) -> tuple[Notice, ...]:
    """Open every group of the first `depth` levels."""
    return breadth_first(hierarchy, metagraph, opened, limit, depth)


def breadth_first(
    hierarchy: Hierarchy, metagraph: ExpandPath, opened: OpenSet, limit: int, depth: int | None
) -> tuple[Notice, ...]:
    """Open groups breadth first from the root."""
    shown = contents_size(hierarchy, metagraph, [ROOT])
    queue: deque[tuple[Path, int]] = deque([(ROOT, 0)])
    while queue:
        path, level = queue.popleft()
        if depth is not None and level >= depth:  # the remaining ones are as deep
            break
        for child in groups_below(hierarchy, metagraph(path), path):
            shown = shown.plus(contents_size(hierarchy, metagraph, [child]))
            if shown.boxes > limit:
                return (too_many(limit, hierarchy.name[child[-1]]),)
            if shown.letters > ADDRESS_LETTERS:
                return (too_long(hierarchy.name[child[-1]]),)
            if shown.lines > MOST_LINES:
                return (too_dense(hierarchy.name[child[-1]]),)
            opened[child] = None
            queue.append((child, level + 1))
    return ()
