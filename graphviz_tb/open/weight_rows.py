"""Find the groups that contain the weights of a model, as opposed to preprocessing, metrics and losses."""

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
    """Rows that contain ops that use weights, through calls; rows in `quiet` do not count.

    `layers` are the groups that contain such ops, or calls with such ops, as children.
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
        return bool(self._sums[self.hierarchy.end[row]] > self._sums[row])

    def layer_count(self, row: int) -> int:
        """Count the outermost layers below a row; calls are not followed."""
        # Rows are in preorder: layers below a row are a slice; skip those inside another layer of the slice.
        start, stop = sorted_value_range(self._layers, row + 1, self.hierarchy.end[row])
        return int(np.count_nonzero(self._around[start:stop] <= row))

    def children_without_weights(self, level: Metagraph) -> set[int]:
        """Return the positions of the children that contain no weight and lead to none (losses, metrics, results);
        empty if no child contains a weight."""
        before: dict[int, list[int]] = {}
        for edge in level.edges:
            if edge.tensors:
                before.setdefault(edge.target, []).append(edge.source)
        weighted = {position for position, row in enumerate(level.children) if self.holds_weight(row)}
        if not weighted:
            return set()
        leading = reachable_from(weighted, before.get)
        return set(range(len(level.children))) - leading


def _counting_ops(hierarchy: Hierarchy, users: Ints) -> Bools:
    """Mark the ops that use a variable as a counter, as metrics do: they write it, or only writes use their result."""
    graph = hierarchy.graph
    stores = np.array([bool(ASSIGN_TYPES.fullmatch(op)) for op in graph.op_types], bool)[graph.op]
    has_output = np.zeros(len(graph), bool)
    has_output[graph.source[~graph.control]] = True
    is_read = np.zeros(len(graph), bool)
    is_read[graph.source[~graph.control & ~stores[graph.target]]] = True
    counted: Bools = stores[users] | (has_output[users] & ~is_read[users])
    return counted


def _innermost_around(hierarchy: Hierarchy, rows: Iterable[int]) -> list[int]:
    """Return for each row of an ascending list the innermost other row of the list around it, or -1."""
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
    function = {row: function_row_of(hierarchy, row) for row in (*users, *hierarchy.calls)}
    around = reachable_from(
        {function[row] for row in users}, lambda body: [function[call] for call in callers.get(body, ())]
    )
    return {call for body in around for call in callers.get(body, ())}
