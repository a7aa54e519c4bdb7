"""Calls: the functions that a node names, and the ops below a row and in all functions called there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.graphs.traversal import reachable_from, topological_order
from graphviz_tb.limits import MAX_UNCALLED_FUNCTIONS
from graphviz_tb.model.columns import Bools, prefix_sums
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import RowPath, function_row_of
from graphviz_tb.model.stats import Stats

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

MAX_COUNTED_OPS = 10**9  # counts stop here: nested double calls may reach 2²⁰⁰ ops


def function_attributes(node: NodeDef) -> Iterator[tuple[str, str]]:
    """Yield `(attribute, function name)` for each function that the attributes of a node name, by attribute.

    >>> from graphviz_tb.proto import NodeDef
    >>> list(function_attributes(NodeDef(attr={"cond": {"func": {"name": "f"}}, "T": {"type": 1}})))
    [('cond', 'f')]
    """
    # Protobuf maps are unordered: sort, so that one file always gives one result.
    for key in sorted(node.attr):
        value = node.attr[key]
        if value.HasField("func"):
            yield key, value.func.name
        elif value.HasField("list"):
            yield from ((f"{key}[{index}]", func.name) for index, func in enumerate(value.list.func))


def functions_named_by(node: NodeDef, library: Container[str]) -> list[str]:
    """Return the functions of a library that a node calls or names."""
    names = (node.op, *(name for _, name in function_attributes(node)))
    return [name for name in names if name in library]


class OpCounter:
    """Counts the ops below a row, functions once per call; None if they call themselves.

    Counts stop at `MAX_COUNTED_OPS`. Rows in `without`, and the functions that they call, are not counted.
    """

    def __init__(self, hierarchy: Hierarchy, without: Bools | None = None) -> None:
        self.hierarchy = hierarchy
        # Sorted, so that a subtree is a slice.
        self.call_rows = sorted(call for call in hierarchy.calls if without is None or not without[call])
        self.total = hierarchy.op_prefix_sum if without is None else prefix_sums(hierarchy.is_ordinary_op & ~without)
        # The count of all ops is shared through the hierarchy.
        self.memo: dict[int, int | None] = hierarchy.ops_of_function if without is None else {}
        self.called: dict[int, int | None] = {}
        if not self.memo:
            for function in self._functions_callees_first():
                self.memo[function] = self._count_below(function)

    def __call__(self, row: int) -> int | None:
        """Return the number of ops below `row`, or 1 for an op; a call counts as its functions."""
        if row in self.memo:
            return self.memo[row]
        return self._count_below(row)

    def _count_below(self, row: int) -> int | None:
        total = int(self.total[self.hierarchy.end[row]] - self.total[row])
        for call in self._calls_below(row):
            if call not in self.called:  # once: a call may have thousands of branches
                self.called[call] = self._count_called(call)
            inside = self.called[call]
            if inside is None:
                return None
            total += inside - 1
        return min(total, MAX_COUNTED_OPS)

    def _count_called(self, call: int) -> int | None:
        """Count the ops of all functions of a call; None if one of them is recursive."""
        # A function named by two attributes of one op (both branches of an `If`) counts once.
        total = 0
        for function in dict.fromkeys(function for _, function in self.hierarchy.calls[call]):
            inside = self.memo.get(function)
            if inside is None:
                return None
            total += inside
        return total

    def _calls_below(self, row: int) -> list[int]:
        start = bisect_left(self.call_rows, row)
        return self.call_rows[start : bisect_left(self.call_rows, int(self.hierarchy.end[row]))]

    def _functions_callees_first(self) -> list[int]:
        """Return the functions, callees before callers, without recursive ones and their callers."""
        hierarchy = self.hierarchy
        rows = hierarchy.function_rows
        number = {row: index for index, row in enumerate(rows)}
        callers: list[list[int]] = [[] for _ in rows]
        for index, function in enumerate(rows):
            # The order does not matter: each callee has a separate list.
            for callee in {body for call in self._calls_below(function) for _, body in hierarchy.calls[call]}:
                callers[number[callee]].append(index)
        return [rows[index] for index in topological_order(callers)]


def lower_bound_sign(ops: int) -> str:
    """Return the sign before a count of ops: "≥ " if it may have ended early, else "".

    >>> lower_bound_sign(7), lower_bound_sign(MAX_COUNTED_OPS)
    ('', '≥ ')
    """
    return "≥ " if ops >= MAX_COUNTED_OPS else ""


def paths_with_children(paths: Sequence[RowPath]) -> set[RowPath]:
    """Return the paths that are a prefix of the next path. Before: `paths` are sorted.

    >>> paths_with_children([(1,), (1, 5), (1, 6), (2,)])
    {(1,)}
    """
    return {path for path, inner in pairwise(paths) if inner[: len(path)] == path}


def count_measured_ops(hierarchy: Hierarchy, stats: Stats) -> tuple[int, int | None]:
    """Return the number of ops with statistics, once per place where they run, and of all ops through calls."""
    ordinary = hierarchy.is_ordinary_op
    main = np.flatnonzero(stats.known & ordinary)
    # Ops of functions have statistics once per path of calls to them.
    rows = [*main[main < hierarchy.end[0]].tolist(), *(path[-1] for path in stats.measured_call_paths())]
    counted = sum(bool(ordinary[row]) and row not in hierarchy.calls for row in rows)
    return counted, OpCounter(hierarchy)(0)


def uncalled_functions(hierarchy: Hierarchy) -> list[int]:
    """Return the functions that are not called from the main graph, nor by another function in the result.

    After: every function is called, is in the list or called from it, or is an alternative form of a called function.
    """
    callees: dict[int, set[int]] = {0: set(), **{row: set() for row in hierarchy.function_rows}}
    for call, bodies in hierarchy.calls.items():
        callees[function_row_of(hierarchy, call)].update(body for _, body in bodies)
    reached = reachable_from([0], callees.get)
    called = {callee for row, inner in callees.items() if row not in reached for callee in inner - {row}}
    uncalled = []
    unreached = [row for row in hierarchy.function_rows if row not in reached]
    for row in sorted(unreached, key=lambda row: (row in called, row)):  # recursive ones last
        if row not in reached:
            uncalled.append(row)
            reached |= reachable_from([row], callees.get, reached)
    alternatives = _alternative_implementations(hierarchy)
    return sorted(row for row in uncalled if row not in alternatives)


def _alternative_implementations(hierarchy: Hierarchy) -> set[int]:
    """Return the functions that a runtime may use in place of a called one, such as for a GPU.

    Keras writes the interface that each function implements as the attribute `api_implements`.
    """
    library = hierarchy.graph.graph_def.library.function
    written = ((row, library[function.index].attr) for row, function in
               zip(hierarchy.function_rows, hierarchy.graph.functions, strict=True))  # fmt: skip
    implements = {row: attrs["api_implements"].s for row, attrs in written if "api_implements" in attrs}
    called = {body for bodies in hierarchy.calls.values() for _, body in bodies}
    used = {implements[row] for row in implements if row in called}
    return {row for row, what in implements.items() if what in used and row not in called}


def listed_functions(hierarchy: Hierarchy, opened: Container[tuple[int, ...]]) -> tuple[list[int], int]:
    """Return the functions to list next to the graph, in file order, and the number of uncalled functions left out.

    These are the functions in `opened` and the largest uncalled ones.
    """
    uncalled = uncalled_functions(hierarchy)
    by_itself = [row for row in hierarchy.function_rows if (row,) in opened]
    if len(uncalled) > MAX_UNCALLED_FUNCTIONS:
        ops = OpCounter(hierarchy)
        uncalled.sort(key=lambda row: (-(inf if (count := ops(row)) is None else count), row))
    shown = sorted({*by_itself, *uncalled[:MAX_UNCALLED_FUNCTIONS]})
    return shown, len(set(uncalled) - set(shown))
