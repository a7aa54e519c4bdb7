"""Traces of many steps: memory and time follow what was measured, not the steps by the rows."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from graphviz_tb import load
from graphviz_tb.annotate.statistics import NEVER_STARTED, MeasuredChains, join_statistics
from graphviz_tb.fold import fold_graph
from graphviz_tb.model.hierarchy import SCOPE_ROW, Hierarchy
from graphviz_tb.model.stats import Sample, Samples
from graphviz_tb.options import PictureOptions
from graphviz_tb.page import build
from graphviz_tb.page.build import page_data
from graphviz_tb.proto import GraphDef
from tests.annotate.traces import entry, graph_of, trace
from tests.conftest import cpu_seconds
from tests.each import each
from tests.flat import flatten
from tests.fuzz.families.measured import profiled
from tests.timing import seconds, within


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
    hierarchy = graph_of(*(f"x{number}" for number in range(40)))
    ops = np.flatnonzero(hierarchy.is_ordinary_op)
    step, place = each.nonzero()
    around = MeasuredChains(hierarchy, step, ops[place])
    found = around.measure_rows(around.sums_by_place(each[step, place]), count, 1000)
    table = (each if count else np.zeros((1, 40))) / 1000
    assert np.array_equal(found.mean[ops], table.mean(axis=0))
    assert np.array_equal(found.least[ops], table.min(axis=0))
    assert np.array_equal(found.most[ops], table.max(axis=0))
    assert np.array_equal(found.median[ops], np.median(table, axis=0))


def test_a_page_shows_as_many_steps_by_themselves_as_it_has_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / str(number) for number in range(4)]
    for file in files:
        file.write_bytes(trace(cpu=[entry("x", 0, 5)]).SerializeToString())
    model = load(GraphDef(node=[{"name": "x", "op": "Relu"}]), run_metadata=tuple(map(str, files)))
    head, _ = page_data(model, PictureOptions())
    assert (head["steps"], head["notices"]) == ([f"{file}:run" for file in files], [])
    monkeypatch.setattr(build, "MAX_STEP_ROWS", 2 * (build.STEP_COST_ROWS + len(model.hierarchy)))
    head, blocks = page_data(model, PictureOptions())
    assert head["steps"] == [f"{file}:run" for file in files[:2]]
    assert head["notices"] == ["only the first 2 of 4 steps are shown by themselves"]
    assert {block.name.partition("@")[2][:1] for block in blocks if "@" in block.name} == {"0", "1"}


@pytest.mark.slow
def test_a_page_of_a_small_graph_with_very_many_steps(tmp_path: Path) -> None:
    """Each step has its own colours, however little it measured: so many that the page is made in seconds."""
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(profiled(["x:Relu"], 5000, 5000).SerializeToString())
    model = load(GraphDef(node=[{"name": "x", "op": "Relu"}]), run_metadata=str(path))
    start = process_time()
    head, _ = page_data(model, PictureOptions())
    assert within(process_time() - start, 20)  # about 4
    assert len(head["steps"]) == build.MAX_STEP_ROWS // (build.STEP_COST_ROWS + len(model.hierarchy))


@pytest.mark.slow
def test_calls_of_which_each_ran_in_one_step() -> None:
    graph = GraphDef(library={"function": [{"signature": {"name": "f"}, "node_def": [{"name": "y", "op": "Relu"}]}]})
    for number in range(2500):
        node = graph.node.add(name=f"c{number}", op="PartitionedCall")
        node.attr["f"].func.name = "f"
    hierarchy = fold_graph(flatten(graph))
    steps = [trace(cpu=[entry(f"c{number}/y", 0, number)]) for number in range(2500)]
    stats = join_statistics(hierarchy, steps)
    path = next(iter(stats.inside[700]))
    start = process_time()
    assert (stats.figures_at(path).most, stats.figures_at(path).steps, stats.figures_at(path[1:]).steps) == (
        700,
        1,
        2500,
    )
    assert within(process_time() - start, 4)


@pytest.mark.slow
def test_calls_in_calls_take_time_for_their_names() -> None:
    # f: c ─▶ f, and ops: names lead through it as often as they like
    graph = GraphDef(node=[{"name": "c", "op": "f"}])
    function = graph.library.function.add(signature={"name": "f"})
    function.node_def.add(name="c", op="f")
    for number in range(1000):
        function.node_def.add(name=f"x{number}", op="Relu")
    hierarchy = fold_graph(flatten(graph))
    step = trace(cpu=[entry("c/" * 300 + f"x{number}", 0, number) for number in range(1000)])
    stats = join_statistics(hierarchy, [step])
    path = max(stats.inside[0])
    start = process_time()
    assert stats.figures_at(path).time == stats.inside[0][path].time / 1000
    assert stats.figures_at(path[:200]).time == sum(range(1000))
    assert within(process_time() - start, 0.5)


def nested(seed: int) -> Hierarchy:
    """Ops in scopes of some depth."""
    random = np.random.default_rng(seed)
    scopes = ("/".join(random.choice(list("abc"), depth)) for depth in random.integers(1, 6, 30))
    return graph_of(*(f"{scope}/x{number}" for number, scope in enumerate(scopes)))


@each("seed", range(10))
def test_groups_have_the_sum_and_the_span_of_all_under_them_in_each_step(seed: int) -> None:
    hierarchy, random = nested(seed), np.random.default_rng(seed)
    step, row = (random.random((5, len(hierarchy))) < 0.2).nonzero()
    start, length = random.integers(0, 100, len(row)), random.integers(0, 100, len(row))
    never = random.random(len(row)) < 0.3
    start[never], length[never] = NEVER_STARTED, -1 - NEVER_STARTED
    around = MeasuredChains(hierarchy, step, row)
    spans, sums = around.spans_by_place(start, start + length), around.sums_by_place(row)
    rows = {chain: np.flatnonzero(around.chain_of == chain).tolist() for chain in around.chain.tolist()}
    chains = iter(zip(around.chain.tolist(), spans.tolist(), sums.tolist(), around.first.tolist(), strict=True))
    places = [(place, *figures) for chain, *figures in chains for place in rows[chain]]
    for place, span, total, first in places:
        under = (step == step[first]) & (row >= place) & (row < hierarchy.end[place])
        last = max((start + length)[under])
        assert span == (last - min(*start[under], last) if last >= 0 else 0)
        assert total == sum(row[under])
    # Each row around something that was measured is there once for each step.
    entries = zip(step.tolist(), row.tolist(), strict=True)
    wanted = {(which, place) for which, op in entries for place in (op, *up(hierarchy, op))}
    found = [(int(step[first]), place) for place, _, _, first in places]
    assert len(found) == len(wanted)
    assert set(found) == wanted
    assert [which for which, _ in found] == sorted(which for which, _ in found)


def test_scopes_that_hold_only_the_next_are_counted_once_in_each_step() -> None:
    hierarchy = graph_of("a/" * 3000 + "x", "b/x")
    (op, _), steps = np.flatnonzero(hierarchy.is_ordinary_op), 3000
    around = MeasuredChains(hierarchy, np.arange(steps), np.full(steps, op))
    assert len(around.chain) == steps
    measure = around.measure_rows(around.sums_by_place(np.arange(steps)), steps)
    assert measure.median[1:op].tolist() == [(steps - 1) / 2] * 3000
    assert measure.mean[op + 1] == 0


def up(hierarchy: Hierarchy, row: int) -> list[int]:
    """The rows around a row."""
    around = []
    while (row := int(hierarchy.parent[row])) >= 0:
        around.append(row)
    return around


@pytest.mark.slow
def test_the_depth_of_scopes_is_not_walked_for_each_step() -> None:
    """Of as many rows, one chain of scopes with an op takes no longer than ops side by side that all ran."""

    def seconds(hierarchy: Hierarchy, *names: str) -> float:
        steps = [trace(cpu=[entry(name, 0, 1) for name in names])] * 30
        return cpu_seconds(lambda: join_statistics(hierarchy, steps))

    chain, ops = "a/" * 1000 + "x", [f"x{number}" for number in range(1000)]
    assert seconds(graph_of(chain), chain) < 3 * seconds(graph_of(*ops), *ops)


@pytest.mark.slow
def test_steps_of_one_op_of_many_do_not_take_the_time_of_all() -> None:
    """Of as many executions, many steps of a large graph take little longer than one step."""
    names = [f"x{number}" for number in range(5000)]
    hierarchy = graph_of(*names)
    each = [trace(cpu=[entry(name, 0, 1)]) for name in names]
    together = [trace(cpu=[entry(name, 0, 1) for name in names])]
    apart = cpu_seconds(lambda: join_statistics(hierarchy, each))
    assert apart < 5 * cpu_seconds(lambda: join_statistics(hierarchy, together))


@pytest.mark.slow
def test_samples_below_many_scopes_and_calls() -> None:
    # Each of 50 steps ran each of 200 ops: they lie in 500 scopes, each in the next, of a function with 500 calls.
    graph = GraphDef()
    function = graph.library.function.add(signature={"name": "f"})
    names = [f"{'s/' * 500}x{number}" for number in range(200)]
    for name in names:
        function.node_def.add(name=name, op="Relu")
    for number in range(500):
        graph.node.add(name=f"c{number}", op="f")
    hierarchy = fold_graph(flatten(graph))
    steps = [trace(cpu=[entry(name, number, number) for name in names]) for number in range(1, 51)]
    stats = join_statistics(hierarchy, steps)
    (body,), calls = hierarchy.function_rows, sorted(hierarchy.calls)
    scopes = np.flatnonzero((hierarchy.kind == SCOPE_ROW) & (np.arange(len(hierarchy)) > body)).tolist()
    with seconds(5):  # about 0.3
        found = [stats.figures_at((call, row)) for call in calls for row in scopes[:: 1 + (call > calls[0]) * 100]]
    assert {(figures.time, figures.measured, figures.ops, figures.steps) for figures in found} == {
        (200 * 25.5, 200, 200, 50)
    }


@pytest.mark.slow
def test_samples_of_scopes_one_in_the_other_with_an_op_in_each() -> None:
    # Each of 60 steps ran the op of each of 500 scopes of a function: each scope has samples that no other has.
    graph = GraphDef(library={"function": [{"signature": {"name": "f"}}]}, node=[{"name": "c", "op": "f"}])
    names = ["s/" * depth + "x" for depth in range(1, 501)]
    for name in names:
        graph.library.function[0].node_def.add(name=name, op="Relu")
    hierarchy = fold_graph(flatten(graph))
    steps = [trace(cpu=[entry(f"c/{name}", number, number) for name in names]) for number in range(1, 61)]
    stats = join_statistics(hierarchy, steps)
    (body,), (call,) = hierarchy.function_rows, hierarchy.calls
    scopes = np.flatnonzero((hierarchy.kind == SCOPE_ROW) & (np.arange(len(hierarchy)) > body)).tolist()
    with seconds(4):  # about 0.5
        found = [stats.figures_at((call, row)) for row in scopes]
    assert [(figures.time, figures.least, figures.measured, figures.steps) for figures in found] == [
        (count * 30.5, count, count, 60) for count in range(500, 0, -1)
    ]


def test_samples_of_any_size_add_up() -> None:
    huge = Sample(time=2**63, start=-(2**63), end=2**63, bytes=3)
    samples = Samples([{(0, 5): huge, (0, 6): huge}, {(0, 6): Sample(1, start=2, end=3), (1, 6): huge}])
    sums = samples.step_sums(samples.run_below(5, 7, (0,)))
    assert (sums.time, sums.span, sums.bytes) == ([2**64, 1], [2**64, 1], [6, 0])
    assert samples.rows_at_depth(samples.run_below(5, 7, (0,)), 1).tolist() == [5, 6]
    assert not samples.step_sums(samples.run_below(7, 9, (0,))).time


@pytest.mark.slow
def test_boxes_inside_calls_count_towards_the_steps_of_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GraphDef(library={"function": [{"signature": {"name": "f"}}]})
    for number in range(100):
        graph.library.function[0].node_def.add(name=f"x{number}", op="Relu")
        graph.node.add(name=f"c{number}", op="f")
    path = tmp_path / "host.xplane.pb"
    path.write_bytes(profiled(["c0/x0:Relu"], 20, 20).SerializeToString())
    model = load(graph, run_metadata=str(path))
    monkeypatch.setattr(build, "MAX_STEP_ROWS", 5 * build.CALL_BOX_COST_ROWS * 100 * 100)
    head, _ = page_data(model, PictureOptions())
    assert 1 < len(head["steps"]) < 5  # folds and rows count, too
