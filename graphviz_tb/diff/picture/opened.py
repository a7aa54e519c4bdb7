"""Which groups of the merged picture are open: the way to each change, the gravest first, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from graphviz_tb.diff.picture.merge import Where
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import Path, function_of, parent_path

MOST_BOXES = 40  # boxes that may be shown before a way to one more change stays closed: what one look takes in
MOST_NESTED = 100  # groups in each other: the titles of more are higher than a screen on which names can be read


def ways(
    hierarchy: Hierarchy,
    metagraph: Callable[[Path], Metagraph],
    signs: Sequence[str],
    shown: Sequence[int],
    most: int = MOST_BOXES,
    closed: Collection[int] = (),
) -> tuple[list[Path], int]:
    """The groups to open so that `shown` is seen in `most` boxes, and how much of it is not for want of room.

    Before: `shown` are rows, the gravest first. After: what is new, gone or renamed as a whole stays closed,
    and so do the rows `closed`.
    """
    callers = first_callers(hierarchy)
    opened: dict[Path, None] = {}
    boxes, left = len(metagraph((0,)).children), 0
    # The gravest first; one that does not fit is passed over, as a later one may.
    for row in shown:
        path = path_of(hierarchy, row, callers)
        chain = groups_around(hierarchy, path, signs, closed)[:MOST_NESTED] if path else []
        fresh = [group for group in chain if group not in opened]
        more = sum(len(metagraph(group).children) for group in fresh)
        if fresh and opened and boxes + more > most:
            left += 1
            continue
        boxes += more
        opened.update(dict.fromkeys(fresh))
    return list(opened), left


def rows_shown(hierarchy: Hierarchy, where: Sequence[Where | None], shown: Sequence[tuple[Where, ...]]) -> list[int]:
    """The row of the first place that there is of each tuple; tuples of which there is none are left out."""
    row_of = {("", hierarchy.name[row]): row for row, origin in enumerate(where) if origin is None}
    row_of.update({origin: row for row, origin in enumerate(where) if origin is not None})
    rows = (next((row_of[place] for place in places if place in row_of), None) for places in dict.fromkeys(shown))
    return [row for row in rows if row is not None]


def groups_around(hierarchy: Hierarchy, path: Path, signs: Sequence[str], closed: Collection[int]) -> list[Path]:
    """The groups around a node, from the outside in, up to one that is new, gone or renamed as a whole, or `closed`."""
    chain: list[Path] = []
    around = parent_path(hierarchy, path)
    while around is not None:
        chain.append(around)
        around = parent_path(hierarchy, around)
    paths = []
    own = signs[path[-1]]
    # From the outside in, without the root, which is always open.
    for group in reversed(chain[:-1]):
        if group[-1] in closed or (signs[group[-1]] == own and own in ("+", "−", "→")):
            break
        paths.append(group)
    return paths


def heights(hierarchy: Hierarchy, opened: Sequence[Path]) -> list[int]:
    """For each of some open groups, how many of them are in each other below it: 0 for those that hold no other."""
    height = dict.fromkeys(opened, 0)
    for path in sorted(opened, reverse=True):  # a group comes after what it holds
        around = parent_path(hierarchy, path)
        if around is not None and around in height:
            height[around] = max(height[around], height[path] + 1)
    return [height[path] for path in opened]


def first_callers(hierarchy: Hierarchy) -> dict[int, int]:
    """The first call of each function."""
    callers: dict[int, int] = {}
    for row, called in sorted(hierarchy.calls.items()):
        for _, body in called:
            callers.setdefault(body, row)
    return callers


def path_of(hierarchy: Hierarchy, row: int, callers: dict[int, int]) -> Path | None:
    """Where a row is shown first: through the first call of the function that it lies in."""
    path: Path = (row,)
    seen: set[int] = set()
    while root := function_of(hierarchy, path[0]):
        if root in seen or root not in callers:
            return None
        seen.add(root)
        path = (callers[root], *path)
    return path
