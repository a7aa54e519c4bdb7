"""Sums of many steps over groups, in time proportional to the measurements, not to steps times rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Floats, Longs, freeze_array
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.stats import StepMeasure


class MeasuredChains:
    """Every row that is or contains a measured row, once per step.

    Rows that contain the same measured rows, such as nested scopes with a single child, form one chain: their figures
    are equal in every step.

    Before: entries of a `step` and a `row`, sorted, none twice. After: at place i, `chain[i]` contains the entries
    `first[i] … stop[i]-1` of one step; places are sorted by step; `chain_of[row]` is the chain of a row, -1 if nothing
    was measured.

    >>> from graphviz_tb.flatten import flatten
    >>> from graphviz_tb.interpret import interpret
    >>> from graphviz_tb.group import fold_graph
    >>> from graphviz_tb.proto import GraphDef
    >>> hierarchy = fold_graph(interpret(flatten(GraphDef(node=[{"name": "a/x"}, {"name": "a/y"}]))))
    >>> # rows: 0 the whole, 1 a, 2 a/x, 3 a/y
    >>> around = MeasuredChains(hierarchy, np.array([0, 0, 1]), np.array([2, 3, 3]))
    >>> around.chain_of.tolist(), around.chain.tolist(), around.sums_by_place(np.array([5, 6, 7])).tolist()
    ([0, 0, 1, 2], [1, 2, 0, 2, 0], [5, 6, 11, 7, 7])
    """

    def __init__(self, hierarchy: Hierarchy, step: Longs, row: Longs) -> None:
        # Rows are numbered in preorder: a row holds a slice of the measured rows.
        measured, own = np.unique(row, return_inverse=True)
        holds = np.searchsorted(measured, np.arange(len(hierarchy)))
        ends = np.searchsorted(measured, hierarchy.end)
        some = np.flatnonzero(ends > holds)
        # Chains in preorder too: of two that begin with the same measured row, the outer one ends later.
        slices = holds[some] * (len(measured) + 1) + len(measured) - ends[some]
        _, outermost, chain_of_some = np.unique(slices, return_index=True, return_inverse=True)
        self.chain_of = np.full(len(hierarchy), -1, np.int64)
        self.chain_of[some] = chain_of_some
        begins, stops = holds[some][outermost], ends[some][outermost]
        above = hierarchy.parent[some[outermost]].astype(np.int64)
        self.chains = len(outermost)
        parent = np.where(above >= 0, self.chain_of[above], -1)

        entry, key = np.arange(len(row)), step * len(measured) + own
        before = np.full(len(row), -1, np.int64)
        same = step[1:] == step[:-1]
        before[1:][same] = own[:-1][same]
        chain = self.chain_of[row]
        found, entries = [chain], [entry]
        # Follow each entry outwards, up to a chain that contains the previous entry too, which has covered the rest.
        while len(chain):
            chain = parent[chain]
            further = (chain >= 0) & (begins[chain] > before)
            chain, before, entry = chain[further], before[further], entry[further]
            found.append(chain)
            entries.append(entry)
        first = np.concatenate(entries)
        order = np.argsort(step[first], kind="stable")
        # The entry from which a chain was reached is its first: earlier entries precede the chain.
        self.chain, self.first = np.concatenate(found)[order], first[order]
        self.stop = np.searchsorted(key, step[self.first] * len(measured) + stops[self.chain])

    def sums_by_place(self, values: Longs) -> Longs:
        """Return the sum over the entries of each place."""
        total = np.concatenate(([0], np.cumsum(values)))
        sums: Longs = total[self.stop] - total[self.first]
        return sums

    def spans_by_place(self, start: Longs, end: Longs) -> Longs:
        """Return the time from the first start to the last end of each place; 0 if nothing started (`end` is -1)."""
        last = slice_maxima(end, self.first, self.stop)
        before = -slice_maxima(-start, self.first, self.stop)
        lengths: Longs = np.where(last >= 0, last - np.minimum(before, last), 0)
        return lengths

    def step_counts_by_row(self) -> Longs:
        """Return the number of steps that measured each row of the graph."""
        counts: Longs = self.chains_to_rows(np.bincount(self.chain, minlength=self.chains))
        return counts

    def measure_rows(self, values: Longs, steps: int, unit: int = 1) -> StepMeasure:
        """Return mean, median, least and most of the values of each place over `steps` steps, divided by `unit`; a step
        without a row counts as 0."""
        some = np.flatnonzero(values)
        chain, value = self.chain[some], values[some] / unit
        count, found = max(1, steps), np.bincount(chain, minlength=self.chains)
        in_order = value[np.lexsort((value, chain))]
        first, zeros = np.cumsum(found) - found, count - found

        def value_at_rank(rank: int) -> Floats:
            """Return the value of each chain at a rank among all steps: first zeros, then measured values."""
            column = np.zeros(self.chains)
            beyond = zeros <= rank
            column[beyond] = in_order[(first + rank - zeros)[beyond]]
            return column

        mean = np.bincount(chain, value, self.chains) / count
        middle = (value_at_rank((count - 1) // 2) + value_at_rank(count // 2)) / 2
        columns = (mean, value_at_rank(0), value_at_rank(count - 1), middle)
        return StepMeasure(*(freeze_array(self.chains_to_rows(column)) for column in columns))

    def chains_to_rows(self, column: NDArray[Any]) -> NDArray[Any]:
        """Convert a column of chains to one of rows, 0 if nothing was measured."""
        return np.append(column, column.dtype.type(0))[self.chain_of]


def slice_maxima(values: Longs, first: Longs, stop: Longs) -> Longs:
    """Return the greatest value of each slice `first … stop-1`; no slice is empty. Two slices of a power-of-two width
    cover it, and their maxima are computed by doubling the width (a sparse table).

    >>> slice_maxima(np.array([3, 1, 4, 1, 5]), np.array([0, 1, 3]), np.array([3, 2, 5])).tolist()
    [4, 1, 5]
    """
    found, width, most = np.zeros(len(first), np.int64), 1, int(np.max(stop - first, initial=0))
    while width <= most:
        held = np.flatnonzero((stop - first >= width) & (stop - first < 2 * width))
        found[held] = np.maximum(values[first[held]], values[stop[held] - width])
        values = np.maximum(values[:-width], values[width:])
        width *= 2
    return found
