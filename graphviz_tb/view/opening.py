"""Which groups of a picture are open."""

from __future__ import annotations

import heapq
import re
from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from graphviz_tb.model.hierarchy import Hierarchy, Kind
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import Path, child_path, parent_path
from graphviz_tb.model.through import OpsThroughCalls, listed_functions
from graphviz_tb.options import PictureOptions
from graphviz_tb.view.select import Names

Open = Callable[[Path], Metagraph]
OpenSet = dict[Path, None]

ROOT: Path = (0,)
SAVER = re.compile(r"_traced_(save|restore)")
TAPE = "gradient_tape"  # the scope that TensorFlow 2 keeps gradients in
FEWEST, MOST = 8, 40  # boxes of a first picture


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
        open_first_picture(hierarchy, metagraph, opened)
    boxes = sum(len(metagraph(path).children) for path in opened) if options.open else 0
    for pattern in options.open:
        found = names.find(pattern)
        boxes, odd = open_found(hierarchy, metagraph, opened, found, options.max_open, boxes)
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
    hierarchy: Hierarchy, metagraph: Open, opened: OpenSet, found: list[Path], limit: int, boxes: int
) -> tuple[int, tuple[Notice, ...]]:
    """Open what a name or pattern means; of several places no more than fit into `limit` boxes.

    `boxes` is how many are shown before; given back is how many afterwards.
    """
    for path in found:
        closed = closed_around(hierarchy, path, opened)
        boxes += sum(len(metagraph(group).children) for group in closed)
        if boxes > limit and len(found) > 1:
            return limit, (too_many(limit, hierarchy.name[path[-1]]),)
        opened.update(dict.fromkeys(closed))
    return boxes, ()


def too_many(limit: int, where: str) -> Notice:
    """What is told where the next group would be too much."""
    text = f"not everything is open: the picture would pass {limit:,} boxes (--max-open)"
    return Notice("max-open", text, where, strict=False)


def closed_around(hierarchy: Hierarchy, path: Path, opened: OpenSet) -> list[Path]:
    """What is still closed around `path`, from the outside in, and the group itself (an op is only made visible)."""
    chain: list[Path] = []
    at: Path | None = path if hierarchy.opens(path[-1]) else parent_path(hierarchy, path)
    while at is not None and at not in opened:  # around what is open all is
        chain.append(at)
        at = parent_path(hierarchy, at)
    return chain[::-1]


def openable(hierarchy: Hierarchy, path: Path, around: int) -> bool:
    """Whether a child opens without showing a function inside itself. `around` is the row of the group it is in."""
    row = path[-1]
    if row not in hierarchy.calls:
        return bool(hierarchy.kind[row] != Kind.OP)
    bodies = {body for _, body in hierarchy.calls[row]}
    on_path = {body for call in path[:-1] for _, body in hierarchy.calls[call]}
    return not bodies & on_path


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
    boxes = len(metagraph(ROOT).children)
    queue: deque[tuple[Path, int]] = deque([(ROOT, 0)])
    while queue:
        path, level = queue.popleft()
        if depth is not None and level >= depth:
            break
        for child in groups_below(hierarchy, metagraph(path), path):
            inside = len(metagraph(child).children)
            if boxes + inside > limit:
                return (too_many(limit, hierarchy.name[child[-1]]),)
            boxes += inside
            opened[child] = None
            queue.append((child, level + 1))
    return ()


def saves(hierarchy: Hierarchy, row: int) -> bool:
    """Whether a call writes or reads the variables of a saved model: large, and not what the model is about."""
    return any(SAVER.search(hierarchy.name[body]) for _, body in hierarchy.calls.get(row, ()))


def wrapped(ops: OpsThroughCalls, path: Path) -> bool:
    """Whether a group inside a call is most of it: the call only wraps what the reader looks for."""
    if len(path) < 2:
        return False
    inside, around = ops(path[-1]), ops(path[-2])
    return inside is not None and around is not None and 2 * inside > around


def open_first_picture(hierarchy: Hierarchy, metagraph: Open, opened: OpenSet) -> None:
    """Open the biggest groups until at least eight boxes show, and at most forty.

    Marks, stubs and the auxiliary area do not count, nor does the frame of an open group. What saves comes last;
    what is most of a call that was opened is opened too, and so is the model of a training step, if there is room.
    """
    ops = OpsThroughCalls(hierarchy)
    closed = len(metagraph(ROOT).core())
    queue: list[tuple[float, int, Path]] = []
    serial = 0

    def offer(path: Path) -> None:
        nonlocal serial
        for child in groups_below(hierarchy, metagraph(path), path, core_only=True):
            count = float("inf") if (found := ops(child[-1])) is None else found
            heapq.heappush(queue, (0 if saves(hierarchy, child[-1]) else -count, serial, child))
            serial += 1

    offer(ROOT)
    frames = 0
    while queue and (closed < FEWEST or wrapped(ops, queue[0][2])):
        _, _, path = heapq.heappop(queue)
        inside = len(metagraph(path).core())
        if closed - 1 + inside + frames + 1 > MOST and closed + frames > 1:
            continue
        closed += inside - 1
        frames += 1
        opened[path] = None
        offer(path)
    model = (trained(hierarchy, ops),)
    if model[0] > 0 and model not in opened and closed + len(metagraph(model).core()) + frames <= MOST:
        opened[model] = None


def trained(hierarchy: Hierarchy, ops: OpsThroughCalls) -> int:
    """The scope of the model that a training step of Keras trains, -1 where there is none.

    Its gradients bear its name below `gradient_tape`; so do those of losses, which are smaller.
    """
    scopes = {hierarchy.name[row]: row for row in hierarchy.children(0).tolist() if hierarchy.kind[row] == Kind.SCOPE}
    tape = scopes.get(TAPE)
    if tape is None:
        return -1
    inside = tape + 1 + np.flatnonzero(hierarchy.kind[tape + 1 : hierarchy.end[tape]] == Kind.SCOPE)
    mirrored = {hierarchy.name[row].removeprefix(f"{TAPE}/") for row in inside.tolist()}
    return max((scopes[name] for name in scopes if name in mirrored), key=lambda row: ops(row) or 0, default=-1)
