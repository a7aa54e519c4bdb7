"""The tree of groups as a flat list of lines, in preorder. Nothing recurses: scopes may be 10,000 levels deep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from graphviz_tb.algorithms.along import children_in_ranks, unconnected_children
from graphviz_tb.algorithms.calls import OpCounter
from graphviz_tb.errors import RequestError, UnknownNode
from graphviz_tb.model.hierarchy import (
    FOLD_ROW,
    FUNCTION_ROW,
    OP_ROW,
    SCOPE_ROW,
    SERIES_ROW,
    GroupOrigin,
    Hierarchy,
    RowKind,
)
from graphviz_tb.model.paths import content_rows, path_address
from graphviz_tb.pipeline import Model
from graphviz_tb.view import quiet_rows

ROW_KIND_WORDS = {SCOPE_ROW: "scope", OP_ROW: "op", SERIES_ROW: "series", FOLD_ROW: "fold", FUNCTION_ROW: "function"}


@dataclass(frozen=True, slots=True)
class Branch:
    """One line: a group, a call or an op (`row`), or the ops of a group together (`row` of the group, `loose` ops).

    `depth` counts from the root shown; `last` marks the last line below its parent.
    """

    row: int
    depth: int
    last: bool
    loose: tuple[int, ...] = ()


def tree_roots(model: Model, under: str | None) -> list[int]:
    """Return the roots: the whole graph and its functions, or the rows named by `under` (the bodies of a call)."""
    hierarchy = model.hierarchy
    if under is None:
        return [0, *hierarchy.function_rows]
    functions = [row for row in hierarchy.function_rows if hierarchy.name[row] == under]
    # Names of nodes have priority over those of functions.
    try:
        rows = [path[-1] for path in model.names.find_paths(under)]
    except UnknownNode:
        if not functions:
            raise
        return functions
    roots: dict[int, None] = {}
    for row in rows:
        # The bodies of a call are roots themselves.
        roots.update(
            dict.fromkeys((body for _, body in hierarchy.calls.get(row, ())) if row in hierarchy.calls else [row])
        )
    kept = [row for row in roots if hierarchy.can_open(row)]
    if not kept:
        raise RequestError(f"{under!r} is an op and holds nothing", hint="name a scope, or a call of a function")
    return kept


def inner_groups(hierarchy: Hierarchy, row: int) -> list[int]:
    """Return the groups and calls directly below a group; nothing below a call: functions are listed separately."""
    if row in hierarchy.calls:
        return []
    return [child for child in content_rows(hierarchy, (row,)) if hierarchy.can_open(child)]


def single_ops_below(hierarchy: Hierarchy, row: int) -> list[int]:
    """Return the ops directly below a group that do not open."""
    if row in hierarchy.calls:
        return []
    return [child for child in content_rows(hierarchy, (row,)) if not hierarchy.can_open(child)]


def open_to_depth(hierarchy: Hierarchy, roots: Iterable[int], depth: int) -> set[int]:
    """Return the groups to open so that `depth` levels are shown."""
    opened: set[int] = set()
    level = list(roots)
    for _ in range(depth):
        opened.update(level)
        level = [child for row in level for child in inner_groups(hierarchy, row)]
        if not level:
            break
    return opened


def open_screenful(hierarchy: Hierarchy, root: int, lines: int) -> set[int]:
    """Return the groups to open so that about `lines` lines are shown.

    Whole levels while they fit; of the first that does not, the largest groups. Groups with the structure of an open
    one, and groups of one op, stay closed.
    """
    opened, level = {root}, [root]
    room = lines - lines_added(hierarchy, root)
    seen: set[int] = set()
    while level and room > 0:
        level = [child for row in level if row in opened for child in inner_groups(hierarchy, row)]
        level = [row for row in level if hierarchy.op_count(row) > 1 and is_new_structure(hierarchy, row, seen)]
        costs = {row: lines_added(hierarchy, row) for row in level}
        # The level as a whole, if it fits.
        whole = sum(costs.values()) <= room
        for row in level if whole else sorted(level, key=lambda row: -hierarchy.op_count(row)):
            if 0 < costs[row] <= room:
                opened.add(row)
                room -= costs[row]
        if not whole:
            break
    return opened


def is_new_structure(hierarchy: Hierarchy, row: int, seen: set[int]) -> bool:
    """Return whether the structure of a group is new, and add it to `seen`."""
    template = int(hierarchy.template[row])
    if template >= 0 and template in seen:
        return False
    seen.add(template)
    return True


def lines_added(hierarchy: Hierarchy, row: int) -> int:
    """Return the number of lines that opening a group adds."""
    return len(inner_groups(hierarchy, row)) + bool(single_ops_below(hierarchy, row))


def open_distinct_structures(hierarchy: Hierarchy, roots: Iterable[int]) -> set[int]:
    """Return the groups to open so that every structure of the model is shown once; gradients and the like stay
    closed."""
    quiet = quiet_rows(hierarchy)
    opened: set[int] = set()
    seen: set[int] = set()
    level = list(roots)
    # Level by level, to open the outermost of equal structures.
    while level:
        opened.update(level)
        below = [child for row in level for child in inner_groups(hierarchy, row) if not quiet[child]]
        level = [row for row in below if hierarchy.op_count(row) > 1 and is_new_structure(hierarchy, row, seen)]
    return opened


def walk_branches(
    hierarchy: Hierarchy, root: int, opened: set[int], ops: bool = False, by_flow: bool = False
) -> Iterator[Branch]:
    """Yield the lines of `root` and below, in preorder; `ops` lists ops one by one.

    Siblings are in the order of the file, or `by_flow` along the flow of data.
    """
    waiting = [Branch(root, 0, True)]
    # A stack: lines are pushed from the last to the first, and popped in preorder.
    while waiting:
        branch = waiting.pop()
        yield branch
        if branch.loose or branch.row not in opened:
            continue
        depth = branch.depth + 1
        groups, loose = inner_groups(hierarchy, branch.row), single_ops_below(hierarchy, branch.row)
        rows = [*groups, *loose] if ops else groups
        if by_flow and rows:
            path = (branch.row,)
            along = chain(*children_in_ranks(hierarchy, path), unconnected_children(hierarchy, path))
            place = {row: index for index, row in enumerate(along)}
            rows = distinct_members(hierarchy, branch.row, sorted(rows, key=place.__getitem__))
        below = [Branch(row, depth, False) for row in rows]
        if loose and not ops:
            below.append(Branch(branch.row, depth, False, tuple(loose)))
        if below:
            below[-1] = Branch(below[-1].row, depth, True, below[-1].loose)  # the last line has a different corner
        waiting.extend(reversed(below))


def distinct_members(hierarchy: Hierarchy, row: int, rows: list[int]) -> list[int]:
    """Return the first of equal members of a stack; for other groups, all children."""
    if hierarchy.kind[row] != SERIES_ROW:
        return rows
    first: dict[int, int] = {}
    for child in rows:
        template = int(hierarchy.template[child])
        # Negative: a row without a template is unique.
        first.setdefault(template if template >= 0 else -1 - child, child)
    return list(first.values())


def op_type_frequencies(hierarchy: Hierarchy, rows: Iterable[int]) -> list[tuple[str, int]]:
    """Return the op types of these ops with their counts, the most frequent first."""
    graph = hierarchy.graph
    return Counter(graph.op_types[graph.op[hierarchy.node[row]]] for row in rows).most_common()


def row_kind_word(hierarchy: Hierarchy, row: int) -> str:
    """Return the word for the kind of a row in JSON."""
    return "call" if row in hierarchy.calls else ROW_KIND_WORDS[RowKind(hierarchy.kind[row])]


def branch_values(hierarchy: Hierarchy, branch: Branch, through: OpCounter) -> dict[str, Any]:
    """Return a line as plain values; `id` is that of the JSON of `render`."""
    row, graph = branch.row, hierarchy.graph
    parent, template, node = int(hierarchy.parent[row]), int(hierarchy.template[row]), int(hierarchy.node[row])
    where = path_address(hierarchy, (row,))
    return {
        "id": row,
        "name": hierarchy.name[row],
        **({"address": where} if where != hierarchy.name[row] else {}),
        "kind": row_kind_word(hierarchy, row),
        "parent": parent if parent >= 0 else None,
        "depth": branch.depth,
        "op": graph.op_types[graph.op[node]] if node >= 0 else None,
        "ops": hierarchy.op_count(row),
        "ops_through_calls": through(row),
        "children": len(hierarchy.children(row)),
        "template": template if template >= 0 else None,
        "how": GroupOrigin(hierarchy.how[row]).name.lower() if hierarchy.how[row] else None,
        "functions": {attr or "body": hierarchy.name[body] for attr, body in hierarchy.calls.get(row, ())},
    }
