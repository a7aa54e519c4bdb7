"""Find the size of the largest repeat in each row, and decide whether two groups are alike."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable

import numpy as np

from graphviz_tb.graphs.calls import OpCounter
from graphviz_tb.graphs.rows import loop_functions
from graphviz_tb.limits import MAX_VISITED_WEIGHTS
from graphviz_tb.model.columns import Bools, sorted_value_range
from graphviz_tb.model.graph import WEIGHT_MARK
from graphviz_tb.model.hierarchy import OP_ROW, SCOPE_ROW, SERIES_ROW, STACK_KINDS, Hierarchy
from graphviz_tb.model.paths import last_segment, sole_stack, usual_member, without_digits

# An unrolled layer: one cell or layer that the file contains once for each step of a sequence.

MAX_STEP_USES = 2  # uses of a variable per stack; an unrolled layer uses its variables more often


def _unrolled_layers(hierarchy: Hierarchy, stacks: Iterable[int]) -> set[int]:
    """Return the stacks in scopes that are one unrolled layer: their members share their weights.

    Different layers may share weights, too. A stack whose members contain scopes is an unrolled layer only if no member
    feeds another, or if a loop in the same scope uses the same weights.
    """
    inside = [row for row in stacks if _is_in_scope(hierarchy, row)]
    if not inside:
        return set()
    used, loops = WeightUses(hierarchy), _loop_calls_by_group(hierarchy)
    return {
        row
        for row in inside
        if _reuses_weights(hierarchy, row, used)
        or _runs_in_loop(hierarchy, row, loops.get(group_around_stack(hierarchy, row), ()), used)
    }


def _reuses_weights(hierarchy: Hierarchy, row: int, used: WeightUses) -> bool:
    """Return whether a stack uses its weights more than `MAX_STEP_USES` times, on average."""
    if (hierarchy.kind[row : hierarchy.end[row]] == SCOPE_ROW).any() and _feeds_other_member(hierarchy, row):
        return False
    weights = used.used_between(row, int(hierarchy.end[row]))
    return len(weights) > MAX_STEP_USES * len(set(weights))


def _runs_in_loop(hierarchy: Hierarchy, row: int, loops: Collection[int], used: WeightUses) -> bool:
    """Return whether one of the loops uses all weights of a stack."""
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


def _is_in_scope(hierarchy: Hierarchy, row: int) -> bool:
    scope = group_around_stack(hierarchy, row)
    return scope > 0 and hierarchy.kind[scope] == SCOPE_ROW


def group_around_stack(hierarchy: Hierarchy, row: int) -> int:
    """Return the innermost group around a stack that is not a stack; 0 if there is none."""
    group = int(hierarchy.parent[row])
    while group > 0 and hierarchy.kind[group] in STACK_KINDS:
        group = int(hierarchy.parent[group])
    return max(group, 0)


def _feeds_other_member(hierarchy: Hierarchy, row: int) -> bool:
    """Return whether data flows from one member of a stack to another."""
    owned = hierarchy.owned_edges(row)
    return bool((~hierarchy.graph.control[owned]).any())


def _loop_calls_by_group(hierarchy: Hierarchy) -> dict[int, list[int]]:
    by_group: dict[int, list[int]] = {}
    for call in sorted(hierarchy.calls):
        if {attr for attr, _ in hierarchy.calls[call]} == {"cond", "body"}:
            by_group.setdefault(group_around_stack(hierarchy, call), []).append(call)
    return by_group


MIN_MEMBER_OPS = 3  # ops per member of a repeat, on average
MAX_OUTER_MEMBERS = 3  # a repeat of so few members does not count if it contains a repeat of more
# A repeat in the body of a loop counts from this share of the model's ops; a smaller one is part of one layer (an RNN).
MIN_LOOPED_SHARE = 0.25
NOTABLE_REPEAT_SHARE = 0.05  # of the ops of the largest repeat; smaller repeats are details


def _loop_body_rows(hierarchy: Hierarchy) -> Bools:
    repeated = np.zeros(len(hierarchy), bool)
    for loop in loop_functions(hierarchy):
        for function in loop.values():
            repeated[function : hierarchy.end[function]] = True
    return repeated


class ModelRepeats:
    """The number of ops of the largest repeat in each row, through calls."""

    def __init__(self, hierarchy: Hierarchy, ops: OpCounter, quiet: Bools) -> None:
        self.hierarchy = hierarchy
        self.quiet = quiet
        self.found: dict[int, int] = {}
        self.at = {row: hierarchy.op_count(row) for row in self._model_series()}
        looped, model = _loop_body_rows(hierarchy), ops(0) or 0
        self.at = {row: count for row, count in self.at.items() if count >= MIN_LOOPED_SHARE * model or not looped[row]}
        for row, count in self.at.items():
            self._record_repeat(row, count)
        calls = sorted(hierarchy.calls)
        for function in [*ops.memo, 0]:  # callees first
            for call in calls[bisect_left(calls, function) : bisect_left(calls, int(hierarchy.end[function]))]:
                self._record_repeat(call, max(self.found.get(body, 0) for _, body in hierarchy.calls[call]))

    def largest_repeat(self, row: int) -> int:
        """Return the number of ops of the largest repeat that `row` is or contains; 0 if there is none."""
        return self.found.get(row, 0)

    def holds_larger_repeat(self, row: int) -> bool:
        return self.largest_repeat(row) > 0 and row not in self.at

    def holds_notable_repeat(self, row: int) -> bool:
        """Return whether `row` contains a repeat that is not small next to the largest of the model."""
        least = NOTABLE_REPEAT_SHARE * max(self.at.values(), default=0)
        return self.holds_larger_repeat(row) and self.largest_repeat(row) >= least

    def _record_repeat(self, row: int, count: int) -> None:
        # Stop where a larger repeat is recorded: all groups around it have it, too.
        while row >= 0 and count > self.found.get(row, 0):
            self.found[row] = count
            row = int(self.hierarchy.parent[row])

    def _model_series(self) -> list[int]:
        """Return the series of the model, except unrolled layers and series of few members that contain a series of
        more."""
        hierarchy = self.hierarchy
        count = np.diff(hierarchy.child_start)
        rows = [
            row
            for row in np.flatnonzero(hierarchy.kind == SERIES_ROW).tolist()
            if hierarchy.op_count(row) >= MIN_MEMBER_OPS * count[row] and not self.quiet[row]
        ]
        excluded: set[int] = set()
        for row in rows:
            around = int(hierarchy.parent[row])
            while around >= 0:
                is_shorter = count[around] <= MAX_OUTER_MEMBERS and count[row] > count[around]
                if is_shorter and hierarchy.kind[around] == SERIES_ROW:
                    excluded.add(around)
                around = int(hierarchy.parent[around])
        excluded |= _unrolled_layers(hierarchy, rows)
        return [row for row in rows if row not in excluded]


# Groups of one level that are alike open together.

MIN_COMMON_SHARE = 0.5  # share of common children in groups that are alike


def are_alike(hierarchy: Hierarchy, one: int, other: int) -> bool:
    """Return whether two siblings are equal, are stacks of equal members, or have the same kind, the same name apart
    from digits, and half of their children in common."""
    if hierarchy.kind[one] != hierarchy.kind[other] or hierarchy.kind[one] == OP_ROW:
        return False
    if hierarchy.template[one] == hierarchy.template[other]:
        return True
    stacks = sole_stack(hierarchy, one), sole_stack(hierarchy, other)
    if min(stacks) >= 0:
        templates = hierarchy.template[[usual_member(hierarchy, stack) for stack in stacks]].tolist()
        if len(set(templates)) == 1:
            return True
    if without_digits(hierarchy.display_label(one)) != without_digits(hierarchy.display_label(other)):
        return False
    first, second = _child_structures(hierarchy, one), _child_structures(hierarchy, other)
    names = _child_names(hierarchy, one), _child_names(hierarchy, other)
    return _have_common_half(first, second) or _have_common_half(*names)


def _have_common_half(one: Counter[str], other: Counter[str]) -> bool:
    return (one & other).total() >= MIN_COMMON_SHARE * max(one.total(), other.total()) > 0


def _child_structures(hierarchy: Hierarchy, row: int) -> Counter[str]:
    """Count the children of a group by op type or template."""
    children, graph = hierarchy.children(row).tolist(), hierarchy.graph
    kinds = (hierarchy.kind[child] == OP_ROW for child in children)
    return Counter(
        graph.op_types[graph.op[hierarchy.node[child]]] if op else f"#{hierarchy.template[child]}"
        for child, op in zip(children, kinds, strict=True)
    )


def _child_names(hierarchy: Hierarchy, row: int) -> Counter[str]:
    """Count the children of a group by name without digits."""
    return Counter(without_digits(last_segment(hierarchy.name[child])) for child in hierarchy.children(row).tolist())
