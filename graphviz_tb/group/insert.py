"""Insert new groups (series, folds) between rows of a numbered hierarchy."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np

from graphviz_tb.algorithms.preorder import number_tree
from graphviz_tb.group.build import build_hierarchy
from graphviz_tb.group.tree import HierarchyTree
from graphviz_tb.model.columns import Bytes, freeze_array, int32_column
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy, RowKind


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
    for held in members if not last else ():
        # Members that are new groups come earlier in the list.
        first.append(min([first[member - old] if member >= old else member for member in held]))
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
    built = build_hierarchy(
        hierarchy.graph, tree, numbered, functions, int32_column(template), None, hierarchy.notices, ends
    )
    row_of = numbered.row_of
    labels = {int(row_of[row]): label for row, label in hierarchy.labels.items()}
    labels |= {int(row_of[old + index]): group.label for index, group in enumerate(groups) if group.label}
    return mark_connected_groups(replace(built, how=freeze_array(how), labels=labels))


def mark_connected_groups(hierarchy: Hierarchy) -> Hierarchy:
    """Mark the series and folds with data edges inside."""
    data = ~hierarchy.graph.control[hierarchy.edge_order]
    before = np.concatenate(([0], np.cumsum(data)))  # data edges before each place of `edge_order`
    inside = before[hierarchy.owner_start[1:]] > before[hierarchy.owner_start[:-1]]
    stacks = (hierarchy.kind == RowKind.SERIES) | (hierarchy.kind == RowKind.FOLD)
    connected: Bytes = (inside & stacks).astype(np.uint8)
    return replace(hierarchy, connected=freeze_array(connected))
