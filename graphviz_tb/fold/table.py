"""Assemble a `Hierarchy` from a numbered tree and the graph's edges; rebuild it with some series ungrouped."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.errors import UnknownNode
from graphviz_tb.fold.labels import ShortLabels
from graphviz_tb.graphs.rows import Preorder, number_tree
from graphviz_tb.model.columns import Bytes, Ints, Longs, freeze_array, group_by_key, int32_column, prefix_sums
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy, RowKind
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import join_address, possible_node_names
from graphviz_tb.options import GroupOptions

# Hierarchy under construction: parents by id, unordered.


@dataclass(frozen=True, slots=True, eq=False)
class HierarchyTree:
    """Columns by id. `parent` is -1 for the root and functions, `node` -1 for groups; siblings are sorted by `key`."""

    kind: NDArray[np.uint8]
    parent: NDArray[np.int64]
    node: NDArray[np.int64]
    name: NDArray[np.object_]
    key: NDArray[np.int64]


# File every edge under the group that owns it: the lowest common ancestor of its ends.


def lowest_common_owners(parent: Ints, depth: Ints, source: Ints, target: Ints) -> tuple[Ints, Ints, Ints]:
    """Return, for each pair of leaf rows, the owner and the owner's children that hold the two ends.

    Equal ends are owned by their parent. Both ends climb in jumps of 2ᵏ levels (binary lifting), since scopes may be
    thousands of levels deep.
    """
    source, target = source.copy(), target.copy()
    active = np.flatnonzero(parent[source] != parent[target])
    if not len(active):
        return parent[source], source, target
    s, t = source[active], target[active]
    jumps = _ancestor_jumps(parent, int(max(np.max(depth[s]), np.max(depth[t]))))
    # The deeper end climbs to the depth of the other end.
    for levels, up in jumps:
        gap = depth[s] - depth[t]
        s, t = np.where(gap >= levels, up[s], s), np.where(-gap >= levels, up[t], t)
    # Both climb while their parents differ, and once more.
    for _, up in jumps:
        apart = parent[up[s]] != parent[up[t]]
        s, t = np.where(apart, up[s], s), np.where(apart, up[t], t)
    apart = parent[s] != parent[t]
    source[active], target[active] = np.where(apart, parent[s], s), np.where(apart, parent[t], t)
    return parent[source], source, target


def _ancestor_jumps(parent: Ints, deepest: int) -> list[tuple[int, Ints]]:
    """Return, for each power of two from the largest up to `deepest` down to 1, the ancestors that many levels up.

    >>> [(levels, up.tolist()) for levels, up in _ancestor_jumps(np.array([-1, 0, 1, 2]), 3)]
    [(2, [0, 0, 0, 1]), (1, [0, 0, 1, 2])]
    """
    # Roots are their own ancestors.
    jumps = [(1, np.where(parent < 0, np.arange(len(parent), dtype=parent.dtype), parent))]
    while (levels := 2 * jumps[-1][0]) <= deepest:
        up = jumps[-1][1]
        jumps.append((levels, up[up]))
    return jumps[::-1]


def _file_edges_by_owner(owner: Ints, rows: int) -> tuple[Ints, Longs]:
    """Return the ids of edges with an owner, sorted by owner row, and where each row's run starts."""
    owned = np.flatnonzero(owner >= 0)
    order, start = group_by_key(owner[owned], rows)
    return int32_column(owned[order]), start


def build_hierarchy(
    graph: Graph,
    tree: HierarchyTree,
    numbered: Preorder,
    functions: list[int],
    template: Ints | None = None,
    notices: tuple[Notice, ...] = (),
    ends: tuple[Ints, Ints] | None = None,
) -> Hierarchy:
    """File every edge between ordinary ops under its owner and freeze the table.

    `ends`, if known, are the ids of the siblings that hold the two ends of each edge; -1 for edges of marks.
    """
    order = numbered.order
    node = int32_column(tree.node[order])
    row_of_node = np.full(len(graph), -1, np.int32)  # -1 remains for nodes that the TensorBoard preset leaves out
    leaves = np.flatnonzero(node >= 0)
    row_of_node[node[leaves]] = leaves
    rows = _edge_op_rows(graph, row_of_node) if ends is None else [np.append(numbered.row_of, -1)[end] for end in ends]
    edge_from, edge_to, owner = _owned_edge_ends(numbered, *rows)
    edge_order, owner_start = _file_edges_by_owner(owner, len(order))
    return Hierarchy(
        graph=graph,
        kind=freeze_array(tree.kind[order]),
        parent=numbered.parent,
        end=numbered.end,
        depth=numbered.depth,
        node=node,
        name=tree.name[order].tolist(),
        template=template if template is not None else int32_column(np.full(len(order), -1)),
        connected=freeze_array(np.zeros(len(order), np.uint8)),
        how=freeze_array(np.zeros(len(order), np.uint8)),
        row_of_node=freeze_array(row_of_node),
        edge_from=freeze_array(edge_from),
        edge_to=freeze_array(edge_to),
        edge_order=edge_order,
        owner_start=owner_start,
        function_rows=tuple(int(numbered.row_of[id]) for id in functions),
        calls=_functions_by_call_row(graph, row_of_node, [int(numbered.row_of[id]) for id in functions]),
        notices=notices,
    )


def _edge_op_rows(graph: Graph, row_of_node: Ints) -> tuple[Ints, Ints]:
    """Return the rows of the ends of each edge; -1 if an end is a mark."""
    # Marks (constants, summaries, weights) are drawn next to the ops that use them, so their edges belong to no level.
    marked = (graph.mark[graph.source] > 0) | (graph.mark[graph.target] > 0)
    return (
        np.where(marked, np.int32(-1), row_of_node[graph.source]),
        np.where(marked, np.int32(-1), row_of_node[graph.target]),
    )


def _owned_edge_ends(numbered: Preorder, source: Ints, target: Ints) -> tuple[Ints, Ints, Ints]:
    """Return, for each edge, the owner's children that hold its ends, and the owner; -1 for edges of marks."""
    edge_from, edge_to, owner = (np.full(len(source), -1, np.int32) for _ in range(3))
    with_rows = np.flatnonzero(source >= 0)
    owner[with_rows], edge_from[with_rows], edge_to[with_rows] = lowest_common_owners(
        numbered.parent, numbered.depth, source[with_rows], target[with_rows]
    )
    return edge_from, edge_to, owner


def _functions_by_call_row(
    graph: Graph, row_of_node: Ints, function_rows: list[int]
) -> dict[int, tuple[tuple[str, int], ...]]:
    """Return (attribute, function row) pairs for each op that calls functions."""
    bodies_of: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for call in graph.calls:
        row = int(row_of_node[call.node])
        if row >= 0:
            bodies_of[row].append((call.attr, function_rows[call.function]))
    return {row: tuple(bodies) for row, bodies in sorted(bodies_of.items())}


# Insert new groups (series, folds) between rows of a numbered hierarchy.


@dataclass(frozen=True, slots=True)
class NewGroup:
    """A group to insert. `members` are rows of the old hierarchy, or `-1 - i` for the i-th new group.

    `label` is its label if that differs from its name.
    """

    kind: RowKind
    parent: int
    name: str
    members: tuple[int, ...]
    how: GroupOrigin = GroupOrigin.NAME
    label: str = ""


def insert_groups(hierarchy: Hierarchy, groups: list[NewGroup], last: bool = False) -> Hierarchy:
    """Return the hierarchy with `groups` inserted, renumbered.

    Before: each row is a member of at most one new group; a member that is a new group comes earlier in the list.
    After: a new group takes the place of its first member (or comes after its siblings if `last`, as in TensorBoard);
    templates stay with their rows.
    """
    if not groups:
        return hierarchy
    old, new = len(hierarchy), len(groups)
    parent = np.concatenate((hierarchy.parent.astype(np.int64), [group.parent for group in groups]))
    key = np.arange(old + new, dtype=np.int64)
    # Ids: rows of the old hierarchy, then the new groups; member -1 - i is id old + i.
    members = [[member if member >= 0 else old - 1 - member for member in group.members] for group in groups]
    parent[[*chain.from_iterable(members)]] = np.repeat(np.arange(old, old + new), [*map(len, members)])
    first: list[int] = []  # row of each new group
    for member_ids in members if not last else ():
        # Members that are new groups come earlier in the list.
        first.append(min([first[member - old] if member >= old else member for member in member_ids]))
    key[old : old + len(first)] = first
    names = np.empty(old + new, object)
    names[:old] = hierarchy.name
    names[old:] = [group.name for group in groups]
    tree = HierarchyTree(
        np.concatenate((hierarchy.kind, np.array([group.kind for group in groups], np.uint8))),
        parent,
        np.concatenate((hierarchy.node.astype(np.int64), np.full(new, -1))),
        names,
        key,
    )
    numbered = number_tree(tree.parent, tree.key)
    template = np.concatenate((hierarchy.template, np.full(new, -1, np.int32)))[numbered.order]
    how = np.concatenate((hierarchy.how, np.array([group.how for group in groups], np.uint8)))[numbered.order]
    functions = list(hierarchy.function_rows)
    ends = hierarchy.edge_from, hierarchy.edge_to  # most are still siblings
    built = build_hierarchy(hierarchy.graph, tree, numbered, functions, int32_column(template), hierarchy.notices, ends)
    row_of = numbered.row_of
    labels = {int(row_of[row]): label for row, label in hierarchy.labels.items()}
    labels |= {int(row_of[old + index]): group.label for index, group in enumerate(groups) if group.label}
    return _mark_connected_groups(replace(built, how=freeze_array(how), labels=labels))


def _mark_connected_groups(hierarchy: Hierarchy) -> Hierarchy:
    """Mark the series and folds with data edges inside."""
    data = ~hierarchy.graph.control[hierarchy.edge_order]
    before = prefix_sums(data)  # data edges before each place of `edge_order`
    inside = before[hierarchy.owner_start[1:]] > before[hierarchy.owner_start[:-1]]
    stacks = (hierarchy.kind == RowKind.SERIES) | (hierarchy.kind == RowKind.FOLD)
    connected: Bytes = (inside & stacks).astype(np.uint8)
    return replace(hierarchy, connected=freeze_array(connected))


@dataclass(frozen=True, slots=True)
class Regrouping:
    """A raw hierarchy and the groups to insert into it."""

    raw: Hierarchy
    groups: Sequence[NewGroup]
    options: GroupOptions

    def without_series(self, names: Sequence[str]) -> Hierarchy:
        """Return the hierarchy without the series in `names` and in `options.ungroup`."""
        kept = _remove_ungrouped_series(
            self.raw, self.groups, (*self.options.ungroup, *(join_address([name]) for name in names))
        )
        built = insert_groups(self.raw, kept, last=self.options.tensorboard)
        if self.options.tensorboard:
            return replace(built, joins_scopes=False)
        return replace(built, short=ShortLabels(built))

    def drop_series(self, names: Sequence[str]) -> Regrouping:
        """Return the grouping without the series of these names."""
        unwanted = set(names)
        stop = {i for i, group in enumerate(self.groups) if group.kind == RowKind.SERIES and group.name in unwanted}
        return replace(self, groups=_drop_groups(self.groups, stop))

    def series_names(self) -> set[str]:
        """Return the names that identify exactly one series."""
        counts = Counter(group.name for group in self.groups if group.kind == RowKind.SERIES)
        return {name for name, count in counts.items() if count == 1}


def _remove_ungrouped_series(hierarchy: Hierarchy, groups: Sequence[NewGroup], names: Sequence[str]) -> list[NewGroup]:
    """Remove each series that has, or has a member with, one of these names (`--ungroup NAME`).

    Before: inner groups come before the groups around them. After: the members of a removed series are members of the
    group around it.
    """
    if not names:
        return list(groups)
    # Reversed, so that the first of several series with one name wins.
    series = {group.name: index for index, group in reversed(list(enumerate(groups))) if group.kind == RowKind.SERIES}
    stop: set[int] = set()
    for name in names:
        named = next((series[each] for each in possible_node_names(name) if each in series), None)
        stop.add(_find_series_of_member(hierarchy, groups, name) if named is None else named)
    return _drop_groups(groups, stop)


def _drop_groups(groups: Sequence[NewGroup], stop: set[int]) -> list[NewGroup]:
    """Return groups without those in `stop`, whose members move to the group around them."""
    renumbered: dict[int, int] = {}
    kept: list[NewGroup] = []
    for index, group in enumerate(groups):
        members = _expand_members(groups, group.members, stop)
        if index not in stop:
            # Members that are new groups come earlier: their new numbers are known.
            renumbered[-1 - index] = -1 - len(kept)
            kept.append(replace(group, members=tuple(renumbered.get(member, member) for member in members)))
    return kept


def _expand_members(groups: Sequence[NewGroup], members: Sequence[int], stop: set[int]) -> list[int]:
    """Replace removed series in `members` by their members."""
    rows: list[int] = []
    todo = list(reversed(members))
    while todo:
        member = todo.pop()
        if -1 - member in stop:
            todo.extend(reversed(groups[-1 - member].members))
        else:
            rows.append(member)
    return rows


def _find_series_of_member(hierarchy: Hierarchy, groups: Sequence[NewGroup], name: str) -> int:
    series = [index for index, group in enumerate(groups) if group.kind == RowKind.SERIES]
    names = [*hierarchy.name, *(group.name for group in reversed(groups))]  # -1 - i is the name of new group i
    for each in possible_node_names(name):
        for index in series:
            if any(names[member] == each for member in groups[index].members):
                return index
    raise UnknownNode.among(name, [join_address([groups[index].name]) for index in series], "series")
