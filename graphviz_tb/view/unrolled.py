"""Layers that are repeated for each step of a sequence: a cell or a layer written out many times."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from graphviz_tb.limits import MAX_VISITED_WEIGHTS
from graphviz_tb.model.columns import sorted_value_range
from graphviz_tb.model.graph import WEIGHT_MARK
from graphviz_tb.model.hierarchy import SCOPE_ROW, STACK_KINDS, Hierarchy

MAX_STEP_USES = 2  # a variable used more often belongs to all steps


def unrolled_layers(hierarchy: Hierarchy, stacks: Iterable[int]) -> set[int]:
    """Return the stacks that repeat one layer: they are in a scope and use equal weights repeatedly.

    Stacks with scopes inside may be layers that share their weights. They repeat one layer if no repetition feeds
    another, and if a loop in the scope runs with equal weights.
    """
    inside = [row for row in stacks if is_in_scope(hierarchy, row)]
    if not inside:
        return set()
    used, loops = WeightUses(hierarchy), loop_calls_by_group(hierarchy)
    return {
        row
        for row in inside
        if reuses_weights(hierarchy, row, used)
        or runs_in_loop(hierarchy, row, loops.get(group_around_stack(hierarchy, row), ()), used)
    }


def reuses_weights(hierarchy: Hierarchy, row: int, used: WeightUses) -> bool:
    """Return whether a stack uses its weights more often than twice."""
    if has_scopes(hierarchy, row) and feeds_other_member(hierarchy, row):
        return False
    weights = used.used_between(row, int(hierarchy.end[row]))
    return len(weights) > MAX_STEP_USES * len(set(weights))


def runs_in_loop(hierarchy: Hierarchy, row: int, loops: Collection[int], used: WeightUses) -> bool:
    """Return whether one of the loops runs with all weights of a stack."""
    if not loops:
        return False
    weights = set(used.used_between(row, int(hierarchy.end[row])))
    return bool(weights) and any(weights.issubset(used.used_between(loop, loop + 1)) for loop in loops)


class WeightUses:
    """The variables used as weights, by the rows of their users."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.graph = hierarchy.graph
        beside = self.graph.beside
        pairs = np.flatnonzero(self.graph.mark[beside.mark] == WEIGHT_MARK)
        hosts = hierarchy.row_of_node[beside.host[pairs]]
        # Sorted by row: the marks of a group are one slice.
        order = np.argsort(hosts, kind="stable")
        self.hosts, self.marks = hosts[order], beside.mark[pairs[order]]

    def used_between(self, row: int, end: int) -> list[str]:
        """Return the variables used by rows `row … end-1`, with repetitions."""
        start, stop = sorted_value_range(self.hosts, row, end)
        marks = self.marks[start : min(stop, start + MAX_VISITED_WEIGHTS)].tolist()
        return [self.graph.meaning.weights[mark].variable for mark in marks]


def is_in_scope(hierarchy: Hierarchy, row: int) -> bool:
    """Return whether a stack is in a scope."""
    scope = group_around_stack(hierarchy, row)
    return scope > 0 and hierarchy.kind[scope] == SCOPE_ROW


def group_around_stack(hierarchy: Hierarchy, row: int) -> int:
    """Return the innermost group around a stack that is not a stack; 0 if there is none."""
    group = int(hierarchy.parent[row])
    while group > 0 and hierarchy.kind[group] in STACK_KINDS:
        group = int(hierarchy.parent[group])
    return max(group, 0)


def has_scopes(hierarchy: Hierarchy, row: int) -> bool:
    """Return whether a stack has more than ops inside."""
    return bool((hierarchy.kind[row : hierarchy.end[row]] == SCOPE_ROW).any())


def feeds_other_member(hierarchy: Hierarchy, row: int) -> bool:
    """Return whether data flows from one repetition to another."""
    owned = hierarchy.owned_edges(row)
    return bool((~hierarchy.graph.control[owned]).any())


def loop_calls_by_group(hierarchy: Hierarchy) -> dict[int, list[int]]:
    """Return the loops of a file by the group around each."""
    filed: dict[int, list[int]] = {}
    for call in sorted(hierarchy.calls):
        if {attr for attr, _ in hierarchy.calls[call]} == {"cond", "body"}:
            filed.setdefault(group_around_stack(hierarchy, call), []).append(call)
    return filed
