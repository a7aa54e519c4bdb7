"""The groups with the weights of a model, as opposed to groups that only prepare, measure or judge."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import numpy as np

from graphviz_tb.graphs.traversal import reachable_from
from graphviz_tb.model.columns import Bools, Ints, distinct_values, prefix_sums, sorted_value_range
from graphviz_tb.model.graph import WEIGHT_MARK
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import function_row_of
from graphviz_tb.open.repeats import group_around_stack

ASSIGN_TYPES = re.compile(r"Assign.*")


class WeightRows:
    """Rows that hold ops of the model that use weights, through calls; rows in `quiet` do not count.

    `layers` are the groups with such ops directly inside; a loop or a call may be one.
    """

    def __init__(self, hierarchy: Hierarchy, quiet: Bools) -> None:
        graph = hierarchy.graph
        beside = graph.beside
        users = distinct_values(beside.host[beside.inward & (graph.mark[beside.mark] == WEIGHT_MARK)])
        rows = hierarchy.row_of_node[users[~_counting_ops(hierarchy, users)]]
        inside = rows[(rows >= 0) & ~quiet[rows]].tolist()
        calls = [call for call in _calls_to_functions_with(hierarchy, inside) if not quiet[call]]
        self.hierarchy = hierarchy
        holding = np.zeros(len(hierarchy), bool)
        holding[[*inside, *calls]] = True
        self._sums = prefix_sums(holding)
        self.layers = frozenset(group_around_stack(hierarchy, row) for row in (*inside, *calls))
        self._layers = np.array(sorted(self.layers), np.int64)
        self._around = np.array(_innermost_around(hierarchy, self._layers.tolist()), np.int64)

    def holds_weight(self, row: int) -> bool:
        """Return whether a row holds an op that uses a weight."""
        return bool(self._sums[self.hierarchy.end[row]] > self._sums[row])  # prefix sums

    def layer_count(self, row: int) -> int:
        """Count the outermost layers below a row; calls are not followed."""
        # Rows are in preorder: layers below a row are a slice; skip those inside another layer of the slice.
        start, stop = sorted_value_range(self._layers, row + 1, self.hierarchy.end[row])
        return int(np.count_nonzero(self._around[start:stop] <= row))

    def children_without_weights(self, level: Metagraph) -> set[int]:
        """Return the positions of the children that hold no weight and lead to none (losses, measures, results); empty
        if the level holds no weight at all."""
        before: dict[int, list[int]] = {}
        for edge in level.edges:
            if edge.tensors:
                before.setdefault(edge.target, []).append(edge.source)
        leading = {position for position, row in enumerate(level.children) if self.holds_weight(row)}
        if not leading:
            return set()
        led = reachable_from(leading, before.get)
        return set(range(len(level.children))) - led


def _counting_ops(hierarchy: Hierarchy, users: Ints) -> Bools:
    """Mark the ops that only count with a variable, as metrics do: they write it, or their result is only written."""
    graph = hierarchy.graph
    stores = np.array([bool(ASSIGN_TYPES.fullmatch(op)) for op in graph.op_types], bool)[graph.op]
    gives = np.zeros(len(graph), bool)
    gives[graph.source[~graph.control]] = True
    used = np.zeros(len(graph), bool)
    used[graph.source[~graph.control & ~stores[graph.target]]] = True
    counted: Bools = stores[users] | (gives[users] & ~used[users])
    return counted


def _innermost_around(hierarchy: Hierarchy, rows: Iterable[int]) -> list[int]:
    """Return for each row of an ascending list the innermost other one around it, or -1."""
    outer: list[int] = []
    stack: list[int] = []
    for row in rows:
        while stack and hierarchy.end[stack[-1]] <= row:  # `stack`: candidates around the current row
            stack.pop()
        outer.append(stack[-1] if stack else -1)
        stack.append(row)
    return outer


def _calls_to_functions_with(hierarchy: Hierarchy, users: Collection[int]) -> set[int]:
    """Return the calls of functions that contain one of `users`, directly or through further calls."""
    callers: dict[int, list[int]] = {}
    for call, bodies in hierarchy.calls.items():
        for _, body in bodies:
            callers.setdefault(body, []).append(call)
    if not callers:
        return set()
    home = {row: function_row_of(hierarchy, row) for row in (*users, *hierarchy.calls)}
    around = reachable_from({home[row] for row in users}, lambda body: [home[call] for call in callers.get(body, ())])
    return {call for body in around for call in callers.get(body, ())}
