"""Parts of a training level: model, gradients, updates, evaluation, and bookkeeping.

Whatever gradients reach trains: their sums, clipping, the optimizer. What they are computed from and do not reach is
the model with its loss. The rest is drawn next to both: metrics, summaries, savers.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property

import numpy as np

from graphviz_tb.algorithms.components import union_root, unite_sets
from graphviz_tb.algorithms.quiet import count_ops_below, flag_op_rows, training_rows
from graphviz_tb.algorithms.reached import reachable_from
from graphviz_tb.model.columns import Bytes, Longs, distinct_values
from graphviz_tb.model.hierarchy import Hierarchy

MIN_FORWARD_OPS, MIN_FORWARD_SHARE = 3, 0.02  # of a level; smaller forward parts only help to compute gradients


class LevelPart(IntEnum):
    """Part of its level that a child belongs to."""

    MODEL = 0  # differentiated, with its inputs and outputs; everything if the level does not train
    GRADIENTS = 1  # gradients and what is computed from them, with what only they use
    UPDATES = 2  # from the first write of a variable on, with what only they use
    EVALUATION = 4  # a second forward pass with the model's weights that no gradient reaches
    BOOKKEEPING = 3  # metrics, counters, savers, initialisers: not fed by a model, or storing


class TrainingLevels:
    """Find the levels of a hierarchy that train, and the part of its level that each row is."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        meaning = hierarchy.graph.meaning
        self.quiet, self.forward = training_rows(hierarchy)
        self._sizes = flag_op_rows(hierarchy, meaning.sizes)
        writing = count_ops_below(hierarchy, meaning.writes) > 0
        self._writes = writing.copy()  # rows that write variables, through calls too
        for row, calls in hierarchy.calls.items():
            self._writes[row] |= any(writing[body] for _, body in calls)

    @cached_property
    def part(self) -> Bytes:
        """`LevelPart` of each row."""
        hierarchy = self.hierarchy
        part_of = np.zeros(len(hierarchy), np.uint8)
        size = hierarchy.op_prefix_sum[hierarchy.end] - hierarchy.op_prefix_sum[:-1]  # ops under each row
        trains = (self.forward >= np.maximum(MIN_FORWARD_OPS, MIN_FORWARD_SHARE * size)) & ~self.quiet
        # Only levels with enough of a model and a child that is gradients or updates.
        around = hierarchy.parent[self.quiet & (hierarchy.parent >= 0)]
        for row in distinct_values(around[trains[around]]).tolist():
            for part, rows in self._split_level(row).items():
                part_of[list(rows)] = part
        return part_of

    def _split_level(self, row: int) -> dict[LevelPart, set[int]]:
        """Return the parts of the level inside `row`, except the model."""
        rows = self.hierarchy.children(row)
        children = rows.tolist()
        # Parts are taken one after the other, each from what the earlier ones left.
        behind = set(rows[self.quiet[rows]].tolist())
        after = self._successors(row)
        # Shapes and zeros computed from the model, but used by gradients only.
        shapes = {
            candidate
            for candidate in rows[self._sizes[rows]].tolist()
            if after.get(candidate) and behind.issuperset(after[candidate])
        }
        model = set(rows[self.forward[rows] > 0].tolist()) - behind - shapes
        updates = reachable_from(behind.intersection(rows[self._writes[rows]].tolist()), after) & behind
        known = behind | model | shapes
        others = [child for child in children if child not in known]
        model |= self._model_inputs(row, others, model)
        others = [child for child in others if child not in model]
        updates |= rows_serving_only(others, after, updates)
        gradients = (behind | shapes) - updates
        gradients |= rows_serving_only([child for child in others if child not in updates], after, gradients | updates)
        beside = set(children) - model - gradients - updates
        books = self._bookkeeping_rows(row, beside, model, after)
        copies = {child for child in books if self._is_evaluation(child)}
        return {
            LevelPart.EVALUATION: copies,
            LevelPart.GRADIENTS: gradients,
            LevelPart.UPDATES: updates,
            LevelPart.BOOKKEEPING: books - copies,
        }

    def _is_evaluation(self, row: int) -> bool:
        """Return whether most of a row is a forward pass with the model's weights that no gradient reaches."""
        return bool(2 * self._copied_op_counts[row] > self.hierarchy.op_count(row) and not self._writes[row])

    @cached_property
    def _copied_op_counts(self) -> Longs:
        return count_ops_below(self.hierarchy, self.hierarchy.graph.meaning.copies())

    def _model_inputs(self, row: int, others: Sequence[int], model: set[int]) -> set[int]:
        """Return which of `others` lead into the model other than by writing its variables: readers that fill its
        queues."""
        after = self._successors(row, writes=False)
        before: dict[int, list[int]] = {}
        for child in others:
            for user in after.get(child, ()):
                before.setdefault(user, []).append(child)
        return reachable_from(model, before) - model

    def _bookkeeping_rows(self, row: int, beside: set[int], model: set[int], after: dict[int, list[int]]) -> set[int]:
        """Return connected rows next to a model that write variables, are fed by variables alone, or fill new ones."""
        # Decide for whole connected components next to the model.
        head = {child: child for child in beside}
        for child in sorted(beside):
            for user in after.get(child, ()):
                if user in head:
                    unite_sets(head, child, user)
        values = self._successors(row, values=True)
        fed = {union_root(head, user) for child in model for user in values.get(child, ()) if user in head}
        filling = {child for child in beside if not model.isdisjoint(after.get(child, ()))}
        writing = {union_root(head, child) for child in beside if child in filling or self._writes[child]}
        unused = {child for child in beside if self._sizes[child] and not after.get(child)}
        return unused | {child for child in beside if (top := union_root(head, child)) not in fed or top in writing}

    def _successors(self, row: int, values: bool = False, writes: bool = True) -> dict[int, list[int]]:
        """Return the children that each child of a level feeds.

        With `values`, without edges from its variables; without `writes`, without edges that only store its result.
        """
        hierarchy = self.hierarchy
        owned = hierarchy.owned_edges(row)
        start, stop = hierarchy.edge_from[owned], hierarchy.edge_to[owned]
        kept = (start >= 0) & (stop >= 0) & ~hierarchy.graph.control[owned]
        if values:
            kept &= ~hierarchy.graph.meaning.variable[hierarchy.graph.source[owned]]
        if not writes:
            kept &= ~hierarchy.graph.meaning.writes[hierarchy.graph.target[owned]]
        after: dict[int, list[int]] = {}
        # Pairs of rows as one number each.
        for pair in distinct_values(start[kept].astype(np.int64) << 32 | stop[kept].astype(np.int64)).tolist():
            after.setdefault(pair >> 32, []).append(pair & 0xFFFFFFFF)
        return after


def rows_serving_only(children: Sequence[int], after: dict[int, list[int]], users: set[int]) -> set[int]:
    """Return the children that only `users` need: rates, counters of steps."""
    helpers: set[int] = set()
    left = {child: len(after[child]) for child in children if after.get(child)}  # users not accounted for yet
    before: dict[int, list[int]] = {}
    for child in left:
        for user in after[child]:
            before.setdefault(user, []).append(child)
    todo = sorted(users)
    while todo:
        for child in before.get(todo.pop(), ()):
            left[child] -= 1
            if not left[child]:
                helpers.add(child)
                todo.append(child)
    return helpers
