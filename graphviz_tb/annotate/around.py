"""Sums of many steps over groups: work follows what was measured, not the steps by the rows of the graph."""

from __future__ import annotations

import numpy as np

from graphviz_tb.model.columns import Longs, freeze
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.stats import Floats, Measure


class Around:
    """Every row that something was measured at or under, once for each step.

    Before: entries, each with its `step` and its `row`, in this order and none twice. After: of place i, `row[i]` lies
    at or around the entries `first[i] … stop[i]-1` of one step; places are in the order of steps.

    >>> from graphviz_tb.flatten import flatten
    >>> from graphviz_tb.group import group
    >>> from graphviz_tb.proto import GraphDef
    >>> hierarchy = group(flatten(GraphDef(node=[{"name": "a/x"}, {"name": "a/y"}])))
    >>> # rows: 0 the whole, 1 a, 2 a/x, 3 a/y
    >>> around = Around(hierarchy, np.array([0, 0, 1]), np.array([2, 3, 3]))
    >>> around.row.tolist(), around.sums(np.array([5, 6, 7])).tolist()
    ([2, 3, 1, 0, 3, 1, 0], [5, 6, 11, 11, 7, 7, 7])
    """

    def __init__(self, hierarchy: Hierarchy, step: Longs, row: Longs) -> None:
        self.rows = len(hierarchy)
        entry, key = np.arange(len(row)), step * self.rows + row
        before = np.full(len(row), -1, np.int64)
        same = step[1:] == step[:-1]
        before[1:][same] = row[:-1][same]
        found, entries = [row], [entry]
        # Outwards, each entry until a row that holds the entry before it too: from there on that one has all.
        while len(row):
            row = hierarchy.parent[row].astype(np.int64)
            further = row > before
            row, before, entry = row[further], before[further], entry[further]
            found.append(row)
            entries.append(entry)
        first = np.concatenate(entries)
        order = np.argsort(step[first], kind="stable")
        # The entry that a row was found from is the first under it: those before lie before the row.
        self.row, self.first = np.concatenate(found)[order], first[order]
        self.stop = np.searchsorted(key, step[self.first] * self.rows + hierarchy.end[self.row])

    def sums(self, values: Longs) -> Longs:
        """For each place the sum over its entries."""
        total = np.concatenate(([0], np.cumsum(values)))
        sums: Longs = total[self.stop] - total[self.first]
        return sums

    def spans(self, start: Longs, end: Longs) -> Longs:
        """For each place the time from the first start to the last end; 0 where nothing started (`end` is -1)."""
        last = greatest(end, self.first, self.stop)
        before = -greatest(-start, self.first, self.stop)
        lengths: Longs = np.where(last >= 0, last - np.minimum(before, last), 0)
        return lengths

    def counts(self) -> Longs:
        """For each row of the graph the steps that have it."""
        return np.bincount(self.row, minlength=self.rows)

    def measure(self, values: Longs, steps: int, unit: int = 1) -> Measure:
        """Mean, median, least and most over so many steps of what each place has, in a unit of `unit`; a step that does
        not have a row counts as 0."""
        some = np.flatnonzero(values)
        row, value = self.row[some], values[some] / unit
        count, found = max(1, steps), np.bincount(row, minlength=self.rows)
        in_order = value[np.lexsort((value, row))]
        first, zeros = np.cumsum(found) - found, count - found

        def ranked(rank: int) -> Floats:
            """The value of each row at a rank among those of all steps: its zeros, then what was found."""
            column = np.zeros(self.rows)
            beyond = zeros <= rank
            column[beyond] = in_order[(first + rank - zeros)[beyond]]
            return column

        mean = np.bincount(row, value, self.rows) / count
        middle = (ranked((count - 1) // 2) + ranked(count // 2)) / 2
        return Measure(*(freeze(column) for column in (mean, ranked(0), ranked(count - 1), middle)))


def greatest(values: Longs, first: Longs, stop: Longs) -> Longs:
    """The greatest of each slice `first … stop-1`, none of them empty: two slices of one width cover it, and those of
    twice a width are made of two.

    >>> greatest(np.array([3, 1, 4, 1, 5]), np.array([0, 1, 3]), np.array([3, 2, 5])).tolist()
    [4, 1, 5]
    """
    found, width, most = np.zeros(len(first), np.int64), 1, int(np.max(stop - first, initial=0))
    while width <= most:
        held = np.flatnonzero((stop - first >= width) & (stop - first < 2 * width))
        found[held] = np.maximum(values[first[held]], values[stop[held] - width])
        values = np.maximum(values[:-width], values[width:])
        width *= 2
    return found
