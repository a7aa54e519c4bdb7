"""Statistics of steps: what each op took, sums and spans of groups, several steps, what was not measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.annotate.rankings import summarize_stats
from graphviz_tb.annotate.statistics import StatsOptions, join_statistics
from graphviz_tb.model.hierarchy import Hierarchy
from tests.annotate.traces import CPU, entry, graph_of, row, trace, trace_of

TENSORBOARD = StatsOptions(tensorboard=True)


def test_executions_add_up_and_bytes_are_those_of_the_largest() -> None:
    # a/x runs at 10-15 (30 bytes) and 30-35 (20 bytes), a/y at 100-150
    hierarchy = graph_of("a/x", "a/y")
    stats = join_statistics(
        hierarchy, [trace(cpu=[entry("a/x", 10, 5, 10, 20), entry("a/x", 30, 5, 20), entry("a/y", 100, 50)])]
    )
    x, scope = stats.figures(row(hierarchy, "a/x")), stats.figures(row(hierarchy, "a"))
    assert (x.time, x.span, x.bytes) == (5 + 5, 35 - 10, 10 + 20)
    assert (scope.time, scope.span, scope.bytes) == (5 + 5 + 50, 150 - 10, 30)


def test_tensorboard_too_has_the_span_of_the_first_start_and_last_end() -> None:
    hierarchy = graph_of("a/x", "a/y")
    found = [entry("a/x", 10, 5), entry("a/x", 30, 5), entry("a/y", 100, 50)]
    assert join_statistics(hierarchy, [trace(cpu=found)], TENSORBOARD).figures(1).span == 140


def test_negative_and_empty_allocations_do_not_count() -> None:
    hierarchy = graph_of("x")
    stats = join_statistics(hierarchy, [trace(cpu=[entry("x", 0, 1, -5, 0, 7)])])
    assert stats.figures(1).bytes == 7


def test_outputs_are_those_of_the_first_execution() -> None:
    hierarchy = graph_of("x")
    found = [entry("x", 0, 1), entry("x", 5, 1, shapes=[[2, 0], []]), entry("x", 9, 1, shapes=[[3]])]
    assert join_statistics(hierarchy, [trace(cpu=found)]).figures(1).shapes == ((2, 0), ())


def test_an_op_that_is_a_scope_is_found_by_its_own_name_and_its_strict_one() -> None:
    hierarchy = graph_of("foo", "foo/bar")
    for name in ("foo", "foo/(foo)"):
        stats = join_statistics(hierarchy, [trace(cpu=[entry(name, 0, 4)])])
        assert stats.figures(row(hierarchy, "foo/(foo)")).time == 4


def test_constants_count_in_groups_but_not_for_tensorboard() -> None:
    hierarchy = constants()
    found = [entry("s/c", 0, 3, 8), entry("s/x", 5, 4)]
    assert join_statistics(hierarchy, [trace(cpu=found)]).figures(row(hierarchy, "s")).time == 3 + 4
    boards = join_statistics(hierarchy, [trace(cpu=found)], TENSORBOARD).figures(row(hierarchy, "s"))
    assert (boards.time, boards.bytes, boards.span) == (4, 0, 4)


def constants() -> Hierarchy:
    """s/c ─▶ s/x, where s/c is a constant drawn as a mark."""
    from graphviz_tb.fold import fold_graph
    from graphviz_tb.proto import GraphDef
    from tests.flat import flatten

    nodes = [{"name": "s/c", "op": "Const"}, {"name": "s/x", "op": "Relu", "input": ["s/c"]}]
    return fold_graph(flatten(GraphDef(node=nodes)))


def test_tensorboard_takes_devices_of_the_canonical_form_only() -> None:
    hierarchy = graph_of("x", "y")
    read = trace_of({"/cpu:0": [entry("x", 0, 2)], CPU: [entry("y", 0, 3)]})
    assert join_statistics(hierarchy, [read], TENSORBOARD).figures(0).time == 3
    assert join_statistics(hierarchy, [read]).figures(0).time == 2 + 3


def test_several_steps_have_mean_least_and_most() -> None:
    hierarchy = graph_of("a/x", "a/y")
    steps = [trace(cpu=[entry("a/x", 0, 4, 100)]), trace(cpu=[entry("a/x", 0, 8, 300), entry("a/y", 10, 2)])]
    stats = join_statistics(hierarchy, steps, names=["one", "two"])
    scope = row(hierarchy, "a")
    assert stats.steps == ("one", "two")
    assert (stats.time.mean[scope], stats.time.least[scope], stats.time.most[scope]) == (7, 4, 10)
    assert (stats.bytes.mean[scope], stats.span.mean[scope]) == (200, (4 + 12) / 2)
    assert stats.time.least[row(hierarchy, "a/y")] == 0


def test_what_was_not_measured_is_known_and_unmatched_names_are_listed() -> None:
    hierarchy = graph_of("a/x", "a/y", "b/z")
    stats = join_statistics(hierarchy, [trace(cpu=[entry("a/x", 0, 4), entry("_SOURCE", 0, 9)])])
    assert [stats.figures(row(hierarchy, name)).coverage for name in ("a", "b", "a/x")] == [0.5, 0, 1]
    assert [bool(stats.known[row(hierarchy, name)]) for name in ("a", "a/y", "b")] == [True, False, False]
    assert stats.unmatched == (("_SOURCE", 9.0),)
    assert (stats.joined, stats.executions) == (1, 2)


def test_the_document_has_null_where_nothing_was_measured() -> None:
    hierarchy = graph_of("x", "y")
    stats = join_statistics(hierarchy, [trace(cpu=[entry("x", 3, 4, 8, shapes=[[2, 3]])])])
    assert stats.json_entry(1) == {
        "compute_us_sum": 4, "compute_us_span": 4, "bytes": 8, "output_shapes": [[2, 3]], "coverage": 1.0,
    }  # fmt: skip
    assert stats.json_entry(2)["compute_us_sum"] is None
    assert stats.json_entry(2)["coverage"] == 0


def test_no_trace_at_all_is_no_error() -> None:
    stats = join_statistics(graph_of("x"), [trace(cpu=[])])
    assert stats.figures(0).time == 0
    assert not stats.known.any()


def test_depth_does_not_matter() -> None:
    name = "/".join("s" * 5000)
    hierarchy = graph_of(name)
    stats = join_statistics(hierarchy, [trace(cpu=[entry(name, 7, 4)])])
    assert stats.figures(0).span == stats.figures(len(hierarchy) - 1).span == 4


names = st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map("/".join)
executions = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 99), st.integers(0, 9), st.integers(0, 50)))


@given(st.lists(names, min_size=1, max_size=30, unique=True), executions)
def test_sums_are_those_of_an_independent_sum(found: list[str], runs: list[tuple[int, int, int, int]]) -> None:
    hierarchy = graph_of(*found)
    entries = [entry(found[at % len(found)], start, time, size) for at, start, time, size in runs]
    stats = join_statistics(hierarchy, [trace(cpu=entries)])
    for at in range(len(hierarchy)):
        below = {
            hierarchy.graph.name[hierarchy.node[one]]
            for one in range(at, int(hierarchy.end[at]))
            if hierarchy.node[one] >= 0
        }
        mine = [one for one in entries if one["node_name"] in below]
        figures = stats.figures(at)
        assert figures.time == sum(one["all_end_rel_micros"] for one in mine)
        assert figures.bytes == sum(
            max(one["memory"][0]["total_bytes"] for one in mine if one["node_name"] == name)
            for name in {one["node_name"] for one in mine}
        )
        ends = [one["all_start_micros"] + one["all_end_rel_micros"] for one in mine]
        assert figures.span == (max(ends) - min(one["all_start_micros"] for one in mine) if mine else 0)
        assert figures.measured == len({one["node_name"] for one in mine})


def test_two_scopes_of_one_time_are_both_listed_and_a_wrapper_is_not() -> None:
    # a and b take the same time; all of wrap's time lies in wrap/inner
    hierarchy = graph_of("a/x", "b/y", "wrap/inner/z")
    stats = join_statistics(hierarchy, [trace(cpu=[entry(name, 0, 4) for name in ("a/x", "b/y", "wrap/inner/z")])])
    assert [each.address for each in summarize_stats(hierarchy, stats).scopes_by_time] == ["a", "b", "wrap/inner"]


@pytest.mark.parametrize("options", [StatsOptions(), TENSORBOARD])
def test_numbers_that_nobody_measured(options: StatsOptions) -> None:
    """Whatever a trace says, every sum is a number from 0 on that 64 bits hold."""
    hierarchy = graph_of("a/x", "a/y", "a/z")
    most = 2**63 - 1
    found = [entry(name, at, time, most, most) for name in ("a/x", "a/y") for at, time in ((-most, most), (most, most))]
    stats = join_statistics(hierarchy, [trace(cpu=found), trace(cpu=[entry("a/z", most, -most, -most)])], options)
    for here in range(len(hierarchy)):
        figures = stats.figures(here)
        assert all(0 <= (number or 0) < 2**63 for number in (figures.time, figures.span, figures.bytes))
