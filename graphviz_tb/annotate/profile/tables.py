"""Tables of ops: by place, by type, by group. The self times of each sum to the time of the step."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from graphviz_tb.annotate.tops import op_type_of_row
from graphviz_tb.model.hierarchy import FUNCTION_ROW, SCOPE_ROW, Hierarchy
from graphviz_tb.model.paths import RowPath, path_address
from graphviz_tb.model.profile import OpTime
from graphviz_tb.model.samples import Sample
from graphviz_tb.model.stats import median_with_zeros

OpTables = tuple[tuple[OpTime, ...], tuple[OpTime, ...], tuple[OpTime, ...]]


class SumsBelow:
    """Time, executions and bytes below any path: in path order, paths with a common prefix are contiguous."""

    def __init__(self, hierarchy: Hierarchy, samples: Mapping[RowPath, Sample]) -> None:
        self.hierarchy = hierarchy
        self.paths = sorted(samples)
        each = [samples[path] for path in self.paths]
        self._time = [0, *accumulate(sample.time for sample in each)]
        self._count = [0, *accumulate(sample.executions for sample in each)]
        self._bytes = [0, *accumulate(sample.bytes for sample in each)]

    def total_under(self, path: RowPath) -> tuple[int, int, int]:
        """Return time in nanoseconds, executions and bytes of a group or call, contents included."""
        first = bisect_left(self.paths, path)
        stop = bisect_left(self.paths, (*path[:-1], int(self.hierarchy.end[path[-1]])), first)
        columns = (self._time, self._count, self._bytes)
        time, count, size = (column[stop] - column[first] for column in columns)
        return time, count, size


def op_tables(hierarchy: Hierarchy, samples: Mapping[RowPath, Sample]) -> OpTables:
    """Return the tables by op, by type and by group, most self time first. A call has only its own executions."""
    sums = SumsBelow(hierarchy, samples)
    ops = []
    for path, sample in samples.items():
        total = sums.total_under(path)[0] if path[-1] in hierarchy.calls else sample.time
        name, op = path_address(hierarchy, path), op_type_of_row(hierarchy, path[-1])
        ops.append(OpTime(name, op, path, sample.time, total, sample.executions, sample.bytes))
    return sort_by_self_time(ops), op_type_table(ops), sort_by_self_time(group_table(hierarchy, sums, samples))


def sort_by_self_time(rows: Iterable[OpTime]) -> tuple[OpTime, ...]:
    """Sort rows by self time, then total time, both descending; ties by their place in the graph."""
    return tuple(sorted(rows, key=lambda row: (-row.self_time, -row.total, row.path, row.name)))


def median_table(tables: Sequence[Sequence[OpTime]]) -> tuple[OpTime, ...]:
    """Merge tables of several steps: medians of each row. A step without a row counts as 0 for it, so medians need not
    add up.

    >>> one, other = (OpTime("x", "Relu", (1,), time, time, 2) for time in (10, 30))
    >>> median_table([[one], [other], [other]]) == (other,), median_table([[one], []])[0].self_time
    (True, 5)
    """
    rows: dict[tuple[RowPath, str], list[OpTime]] = {}
    for table in tables:
        for row in table:
            rows.setdefault((row.path, row.name), []).append(row)

    def middle(values: Iterable[int]) -> int:
        return round(median_with_zeros(values, len(tables)))

    return sort_by_self_time(
        replace(
            found[0],
            self_time=middle(row.self_time for row in found),
            total=middle(row.total for row in found),
            count=middle(row.count for row in found),
            bytes=middle(row.bytes for row in found),
        )
        for found in rows.values()
    )


def op_type_table(ops: Sequence[OpTime]) -> tuple[OpTime, ...]:
    """Return a row for each op type."""
    sums: dict[str, list[int]] = {}
    for row in ops:
        known = sums.setdefault(row.op, [0, 0, 0, 0])
        for place, value in enumerate((row.self_time, row.total, row.count, row.bytes)):
            known[place] += value
    return sort_by_self_time(OpTime(op, op, (), *values) for op, values in sums.items())


def group_table(hierarchy: Hierarchy, sums: SumsBelow, samples: Mapping[RowPath, Sample]) -> list[OpTime]:
    """Return a row for each scope, call and function with measurements; its self time is that of the ops directly in
    it."""
    own: dict[RowPath, list[int]] = {}
    for path, sample in samples.items():
        group = nearest_group(hierarchy, path)
        known = own.setdefault(group, [0])
        known[0] += sample.time
    for group in list(own):
        # Walk outwards until a known group: each group is walked once.
        around = group_around(hierarchy, group)
        while around is not None and around not in own:
            own[around] = [0]
            around = group_around(hierarchy, around)
    rows = []
    for group, (time,) in own.items():
        total, count, size = sums.total_under(group)
        rows.append(
            OpTime(
                path_address(hierarchy, group), op_type_of_row(hierarchy, group[-1]), group, time, total, count, size
            )
        )
    return rows


def nearest_group(hierarchy: Hierarchy, path: RowPath) -> RowPath:
    """Return the group of an op; a call is its own group, since the time of its machinery is its own."""
    return path if path[-1] in hierarchy.calls else group_around(hierarchy, path) or (0,)


def group_around(hierarchy: Hierarchy, path: RowPath) -> RowPath | None:
    """Return the scope, call or function around a path; None for the whole graph, and for a function outside of any
    call."""
    row = int(hierarchy.parent[path[-1]])
    while row >= 0 and hierarchy.kind[row] not in (SCOPE_ROW, FUNCTION_ROW) and row:
        row = int(hierarchy.parent[row])
    if row < 0:
        return None
    if hierarchy.kind[row] == FUNCTION_ROW and len(path) > 1:
        return path[:-1]
    return (*path[:-1], row)
