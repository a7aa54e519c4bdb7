"""Where the repeats of a model are, and what is no part of the model: gradients, updates, initialisers, savers."""

from __future__ import annotations

import re
from bisect import bisect_left

import numpy as np

from graphviz_tb.model.hierarchy import Hierarchy, Kind
from graphviz_tb.model.through import OpsThroughCalls

FEWEST_OPS = 3  # of one repetition
FEW = 3  # repetitions; where each holds a longer repeat, that is what a reader looks for
SMALL = 0.05  # of the largest repeat: smaller ones are details
QUIET = 0.05  # of the ops: as many gradients, updates or savers make no part of the model
QUIET_TYPES = re.compile(
    r".*Grad(V[0-9])?|.*Backprop.*|(Resource)?(Sparse)?Apply.*|Assign.*|Save.*|Restore.*|VarIsInitializedOp"
)


class Repeats:
    """For each row how many ops the largest repeat of the model holds below it, through calls."""

    def __init__(self, hierarchy: Hierarchy, ops: OpsThroughCalls) -> None:
        self.hierarchy = hierarchy
        graph = hierarchy.graph
        quiet = np.array([bool(QUIET_TYPES.fullmatch(op)) for op in graph.op_types] or [False])
        leaves = (hierarchy.node >= 0) & (hierarchy.mark == 0)
        here = np.zeros(len(hierarchy), np.int64)
        here[leaves] = quiet[graph.op[hierarchy.node[leaves]]]
        self.quiet_total = np.concatenate(([0], np.cumsum(here)))
        self.found: dict[int, int] = {}
        self.at = {row: hierarchy.ops(row) for row in self._series()}
        for row, count in self.at.items():
            self._tell(row, count)
        calls = sorted(hierarchy.calls)
        for function in [*ops.memo, 0]:  # callees first
            for call in calls[bisect_left(calls, function) : bisect_left(calls, int(hierarchy.end[function]))]:
                self._tell(call, max(self.found.get(body, 0) for _, body in hierarchy.calls[call]))

    def most(self, row: int) -> int:
        """The ops of the largest repeat that `row` holds, or is."""
        return self.found.get(row, 0)

    def hides(self, row: int) -> bool:
        """Whether there is a larger repeat inside `row` than it is itself."""
        return self.most(row) > 0 and row not in self.at

    def tells(self, row: int) -> bool:
        """Whether a group hides a repeat that is not small beside the largest of the model."""
        return self.hides(row) and self.most(row) >= SMALL * max(self.at.values())

    def quiet(self, row: int) -> bool:
        """Whether a row is gradients, updates, initialisers or savers."""
        inside = self.quiet_total[self.hierarchy.end[row]] - self.quiet_total[row]
        return bool(inside > QUIET * self.hierarchy.ops(row))

    def _tell(self, row: int, count: int) -> None:
        while row >= 0 and count > self.found.get(row, 0):
            self.found[row] = count
            row = int(self.hierarchy.parent[row])

    def _series(self) -> list[int]:
        """Repeats of the model, but for few ones that hold longer ones."""
        hierarchy = self.hierarchy
        count = np.diff(hierarchy.child_start)
        rows = [
            row
            for row in np.flatnonzero(hierarchy.kind == Kind.SERIES).tolist()
            if hierarchy.ops(row) >= FEWEST_OPS * count[row] and not self.quiet(row)
        ]
        rows = [row for row in rows if not any(self.quiet(around) for around in hierarchy.ancestors(row)[1:])] or rows
        longer: set[int] = set()
        for row in rows:
            around = int(hierarchy.parent[row])
            while around >= 0:
                if hierarchy.kind[around] == Kind.SERIES and count[around] <= FEW and count[row] > count[around]:
                    longer.add(around)
                around = int(hierarchy.parent[around])
        return [row for row in rows if row not in longer]
