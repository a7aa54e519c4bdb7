"""Traces of many steps: memory and time follow what was measured, not the steps by the rows."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from graphviz_tb import load
from graphviz_tb.annotate import join_statistics
from graphviz_tb.annotate.columns import NEVER, Folding, span
from graphviz_tb.flatten import flatten
from graphviz_tb.group import group
from graphviz_tb.model.columns import Longs
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.options import PictureOptions
from graphviz_tb.page import build
from graphviz_tb.page.build import data
from graphviz_tb.proto import GraphDef
from tests.annotate.traces import entry, graph_of, trace
from tests.conftest import cpu_seconds


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


def test_a_page_shows_as_many_steps_by_themselves_as_it_has_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / str(number) for number in range(4)]
    for file in files:
        file.write_bytes(trace(cpu=[entry("x", 0, 5)]).SerializeToString())
    model = load(GraphDef(node=[{"name": "x", "op": "Relu"}]), run_metadata=tuple(map(str, files)))
    head, _ = data(model, PictureOptions())
    assert (head["steps"], head["notices"]) == ([f"{file}:run" for file in files], [])
    monkeypatch.setattr(build, "STEPWISE", 2 * len(model.hierarchy))
    head, blocks = data(model, PictureOptions())
    assert head["steps"] == [f"{file}:run" for file in files[:2]]
    assert head["notices"] == ["only the first 2 of 4 steps are shown by themselves"]
    assert {block.name.partition("@")[2][:1] for block in blocks if "@" in block.name} == {"0", "1"}


def test_calls_of_which_each_ran_in_one_step() -> None:
    graph = GraphDef(library={"function": [{"signature": {"name": "f"}, "node_def": [{"name": "y", "op": "Relu"}]}]})
    for number in range(2500):
        node = graph.node.add(name=f"c{number}", op="PartitionedCall")
        node.attr["f"].func.name = "f"
    hierarchy = group(flatten(graph))
    steps = [trace(cpu=[entry(f"c{number}/y", 0, number)]) for number in range(2500)]
    stats = join_statistics(hierarchy, steps)
    path = next(iter(stats.inside[700]))
    start = process_time()
    assert (stats.at(path).most, stats.at(path).steps, stats.at(path[1:]).steps) == (700, 1, 2500)
    assert process_time() - start < 4


def started(hierarchy: Hierarchy, seed: int) -> tuple[Longs, Longs]:
    """When some of the rows started and ended."""
    random = np.random.default_rng(seed)
    start, end = random.integers(0, 100, len(hierarchy)), random.integers(0, 200, len(hierarchy))
    never = random.random(len(hierarchy)) < 0.6
    start[never], end[never] = NEVER, -1
    return start, end


@pytest.mark.parametrize("seed", range(10))
def test_the_span_of_a_group_is_that_of_all_under_it(seed: int) -> None:
    random = np.random.default_rng(seed)
    scopes = ("/".join(random.choice(list("abc"), depth)) for depth in random.integers(1, 6, 30))
    hierarchy = graph_of(*(f"{scope}/x{number}" for number, scope in enumerate(scopes)))
    start, end = started(hierarchy, seed)
    spans = span(hierarchy, start, end)
    for row, stop in enumerate(hierarchy.end.tolist()):
        last = max(end[row:stop])
        assert spans[row] == (last - min(*start[row:stop], last) if last >= 0 else 0)


def test_the_depth_of_scopes_is_not_walked_for_each_step() -> None:
    """Of as many rows, one chain of scopes takes no longer than ops side by side."""

    def seconds(hierarchy: Hierarchy) -> float:
        columns = started(hierarchy, 0)
        return cpu_seconds(lambda: [span(hierarchy, *columns) for _ in range(30)])

    deep, flat = graph_of("a/" * 3000 + "x"), graph_of(*(f"x{number}" for number in range(3000)))
    assert seconds(deep) < 10 * seconds(flat)
