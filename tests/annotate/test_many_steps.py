"""Traces of many steps: memory and time follow what was measured, not the steps by the rows."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from graphviz_tb.annotate import join_statistics
from graphviz_tb.annotate.columns import Folding
from tests.annotate.traces import entry, graph_of, trace


def test_steps_that_measured_one_of_many_ops() -> None:
    hierarchy = graph_of(*(f"x{number}" for number in range(5000)))
    steps = [trace(cpu=[entry("x7", 0, number)]) for number in range(400)]
    tracemalloc.start()
    stats = join_statistics(hierarchy, steps)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    found = stats.figures(hierarchy.name.index("x7"))
    assert (found.time, found.least, found.most, found.steps) == (199.5, 0, 399, 400)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 8])
def test_columns_over_the_steps(count: int) -> None:
    """Rows that some, all and none of the steps measured: as in a table with zeros."""
    random = np.random.default_rng(count)
    each = random.integers(0, 1000, (count, 40)) * (random.random((count, 40)) < random.random(40))
    folding = Folding(40, 1000)
    for values in each:
        folding.add(values)
    found, table = folding.result(), (each if count else np.zeros((1, 40), np.int64)) / 1000
    assert np.array_equal(found.mean, table.mean(axis=0))
    assert np.array_equal(found.least, table.min(axis=0))
    assert np.array_equal(found.most, table.max(axis=0))
    assert np.array_equal(found.median, np.median(table, axis=0))
