"""Counts through calls: what lies under a row and in all functions that are called below it."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import Hierarchy, Kind
from graphviz_tb.model.paths import function_of
from graphviz_tb.model.stats import Stats


class OpsThroughCalls:
    """How many ops lie under a row, functions counted at each call; None where recursion makes it endless."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.call_rows = sorted(hierarchy.calls)
        self.memo: dict[int, int | None] = {}
        for function in self._callees_first():
            self.memo[function] = self._sum(function)

    def __call__(self, row: int) -> int | None:
        """The count under `row`; a call counts its functions instead of itself.

        After: an op counts 1, a group the sum of what is in it.
        """
        if row in self.memo:
            return self.memo[row]
        return self._sum(row) if self.call_rows else self.hierarchy.ops(row)

    def _sum(self, row: int) -> int | None:
        total = self.hierarchy.ops(row)
        for call in self._calls_below(row):
            total -= 1
            for function in dict.fromkeys(function for _, function in self.hierarchy.calls[call]):
                inside = self.memo.get(function)
                if inside is None:
                    return None
                total += inside
        return total

    def _calls_below(self, row: int) -> list[int]:
        start = bisect_left(self.call_rows, row)
        return self.call_rows[start : bisect_left(self.call_rows, int(self.hierarchy.end[row]))]

    def _callees_first(self) -> list[int]:
        """Functions in an order in which callees come first; those on cycles and above are left out."""
        hierarchy = self.hierarchy
        callees = {
            function: {body for call in self._calls_below(function) for _, body in hierarchy.calls[call]}
            for function in hierarchy.function_rows
        }
        callers: dict[int, list[int]] = {function: [] for function in callees}
        for function, inside in callees.items():
            for callee in inside:
                callers[callee].append(function)
        waiting = {function: len(inside) for function, inside in callees.items()}
        order = [function for function in callees if not waiting[function]]
        for function in order:
            for caller in callers[function]:
                waiting[caller] -= 1
                if not waiting[caller]:
                    order.append(caller)
        return order


def measured_through(hierarchy: Hierarchy, stats: Stats) -> tuple[int, int | None]:
    """How many ops have statistics, counted in each place, of how many through calls (None where that is endless)."""
    ordinary = (hierarchy.kind == Kind.OP) & (hierarchy.mark == Mark.NONE)
    main = np.flatnonzero(stats.known & ordinary)
    inside = {path for step in stats.inside for path in step}
    rows = [*main[main < hierarchy.end[0]].tolist(), *(path[-1] for path in inside)]
    counted = sum(bool(ordinary[row]) and row not in hierarchy.calls for row in rows)
    return counted, OpsThroughCalls(hierarchy)(0)


def called_functions(hierarchy: Hierarchy) -> set[int]:
    """Function rows that some call outside of themselves opens to."""
    return {
        body for call, bodies in hierarchy.calls.items() for _, body in bodies if function_of(hierarchy, call) != body
    }
