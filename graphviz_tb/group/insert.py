"""New groups (series, folds) are put between rows of a numbered hierarchy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from graphviz_tb.group.build import build
from graphviz_tb.group.tree import Tree, number
from graphviz_tb.model.columns import Bytes, freeze, ints
from graphviz_tb.model.hierarchy import Hierarchy, Kind


@dataclass(frozen=True, slots=True)
class NewGroup:
    """A group to insert. `members` are rows of the old hierarchy, or `-1 - i` for the i-th new group."""

    kind: Kind
    parent: int
    name: str
    members: tuple[int, ...]


def insert(hierarchy: Hierarchy, groups: list[NewGroup], last: bool = False) -> Hierarchy:
    """The hierarchy with `groups` in it, numbered anew.

    Before: each row is a member of one new group at most; a member that is a new group stands earlier in the list.
    After: a new group stands where its first member stood (or after its siblings, as TensorBoard has it, if `last`);
    templates stay with their rows.
    """
    if not groups:
        return hierarchy
    old = len(hierarchy)
    tree = Tree(
        hierarchy.kind.tolist(),
        hierarchy.parent.tolist(),
        hierarchy.node.tolist(),
        list(hierarchy.name),
        list(range(old)),
    )
    for at, group in enumerate(groups):
        members = [row if row >= 0 else old - 1 - row for row in group.members]
        key = old + at if last else min(tree.key[row] for row in members)
        tree.add(group.kind, group.parent, group.name, key=key)
        for row in members:
            tree.parent[row] = old + at
    numbered = number(tree)
    template = np.concatenate((hierarchy.template, np.full(len(groups), -1, np.int32)))[numbered.order]
    built = build(
        hierarchy.graph, tree, numbered, list(hierarchy.function_rows), ints(template), None, hierarchy.notices
    )
    return with_connected(built)


def with_connected(hierarchy: Hierarchy) -> Hierarchy:
    """Say which series and folds have data edges inside."""
    from dataclasses import replace

    connected: Bytes = np.zeros(len(hierarchy), np.uint8)
    for row in stacks(hierarchy):
        edges = hierarchy.owned(row)
        connected[row] = bool((~hierarchy.graph.control[edges]).any())
    return replace(hierarchy, connected=freeze(connected))


def stacks(hierarchy: Hierarchy) -> Iterable[int]:
    """Rows of series and folds."""
    found: list[int] = np.flatnonzero((hierarchy.kind == Kind.SERIES) | (hierarchy.kind == Kind.FOLD)).tolist()
    return found
