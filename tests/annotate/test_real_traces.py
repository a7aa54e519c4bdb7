"""Statistics of real steps: TensorBoard's numbers with its preset, names that TensorFlow makes when it inlines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphviz_tb.api.pipeline import Model, load
from graphviz_tb.errors import MissingFacts, UnknownChoice
from graphviz_tb.model.hierarchy import RowKind
from graphviz_tb.model.paths import RowPath as Place
from graphviz_tb.model.stats import RunFigures, Stats
from graphviz_tb.read.source import list_profiles

EXPECTED = Path(__file__).parent / "expected" / "mnist_cnn_step099.json"


@pytest.fixture(scope="module")
def numbers() -> dict[str, list]:  # type: ignore[type-arg]
    """By name: bytes, microseconds and output sizes that TensorBoard 2.21 computed for this step."""
    found: dict[str, list] = json.loads(EXPECTED.read_text())  # type: ignore[type-arg]
    return found


def mnist(fixtures: Path, preset: str) -> Model:
    step = str(fixtures / "run_metadata/mnist_cnn_step099.pb")
    return load(fixtures / "real/mnist_cnn.pbtxt", preset=preset, run_metadata=(step,))


def stats_of(model: Model) -> Stats:
    assert model.facts.stats is not None
    return model.facts.stats


def test_the_preset_has_tensorboards_numbers(fixtures: Path, numbers: dict[str, list]) -> None:  # type: ignore[type-arg]
    model = mnist(fixtures, "tensorboard")
    stats, found = stats_of(model), {}
    for row in range(len(model.hierarchy)):
        if model.hierarchy.mark[row]:
            continue
        figures = stats.figures(row)
        shapes = [[size or None for size in shape] for shape in figures.shapes] or None
        found[model.hierarchy.name[row]] = [figures.bytes, figures.span, shapes]
    same = {name: value for name, value in found.items() if name in numbers}
    assert same == {name: [value[0], value[1], value[2] or None] for name, value in numbers.items()}


def test_ops_have_the_same_numbers_by_default(fixtures: Path, numbers: dict[str, list]) -> None:  # type: ignore[type-arg]
    model = mnist(fixtures, "default")
    stats, seen = stats_of(model), 0
    for row in range(len(model.hierarchy)):
        name = model.hierarchy.name[row]
        if model.hierarchy.kind[row] == RowKind.OP and name in numbers:
            figures = stats.figures(row)
            assert figures.bytes == numbers[name][0], name
            assert figures.span == pytest.approx(numbers[name][1], abs=1.0), name  # nanoseconds are kept
            seen += 1
    assert seen > 150


def test_the_whole_is_the_sum_of_the_trace(fixtures: Path) -> None:
    """Told by the trace itself: all entries but those of names that no op bears."""
    model = mnist(fixtures, "default")
    stats = stats_of(model)
    (trace,) = list_profiles(fixtures / "run_metadata/mnist_cnn_step099.pb").values()
    every = sum(one.all_end_rel_nanos / 1000 for device in trace.step_stats.dev_stats for one in device.node_stats)
    assert stats.figures(0).time == pytest.approx(every - sum(time for _, time in stats.unmatched))
    assert all(name.startswith(("_", "ConstantFolding/")) for name, _ in stats.unmatched)


def calls(fixtures: Path, whole_file: bool = True) -> tuple[Model, Stats]:
    """A graph that is one call of a function, which is opened unless the whole file is asked for, and its step."""
    folder = fixtures / "run_metadata/calls_in_session"
    model = load(folder / "graph.pb", run_metadata=(str(folder / "step.pb"),), whole_file=whole_file)
    return model, stats_of(model)


def place(model: Model, address: str) -> Place:
    (path,) = model.names.find_paths(address)
    return path


def test_inlined_names_are_joined_to_their_calls(fixtures: Path) -> None:
    model, stats = calls(fixtures)
    outer = "main/PartitionedCall"
    first = stats.figures_at(place(model, f"{outer}::lay/PartitionedCall::deep"))
    second = stats.figures_at(place(model, f"{outer}::lay/PartitionedCall_1::deep"))
    looped = stats.figures_at(place(model, f"{outer}::while::body/PartitionedCall::deep"))
    chosen = stats.figures_at(place(model, f"{outer}::cond/(cond)::then_branch/PartitionedCall::deep"))
    matmul = next(row for row, name in enumerate(model.hierarchy.name) if name == "deep/MatMul")
    relu = next(row for row, name in enumerate(model.hierarchy.name) if name == "deep/Relu")
    together = stats.figures(matmul).time + stats.figures(relu).time
    assert together == pytest.approx(sum(each.time for each in (first, second, looped, chosen)))
    assert all(each.time > 0 and each.measured == 2 for each in (first, second, looped, chosen))


def test_a_branch_that_did_not_run_was_not_measured(fixtures: Path) -> None:
    model, stats = calls(fixtures)
    assert not stats.figures_at(place(model, "main/PartitionedCall::cond/(cond)::else_branch")).known
    assert stats.figures_at(place(model, "main/PartitionedCall::cond/(cond)::then_branch")).known


def test_a_call_has_the_time_of_its_inside_not_its_own_too(fixtures: Path) -> None:
    model, stats = calls(fixtures)
    call = place(model, "main/PartitionedCall")
    inside = model.metagraph(call)
    marks = sum(
        stats.figures_at((*call, row)).time
        for row in range(len(model.hierarchy))
        if model.hierarchy.mark[row] and int(model.hierarchy.parent[row]) == model.hierarchy.parent[inside.children[0]]
    )
    children: list[RunFigures] = [stats.figures_at((*call, row)) for row in inside.children]
    assert stats.figures_at(call).time == sum(each.time for each in children) + marks
    (trace,) = list_profiles(fixtures / "run_metadata/calls_in_session/step.pb").values()
    own = [one for one in trace.step_stats.dev_stats[0].node_stats if one.node_name == "main/PartitionedCall"]
    assert stats.figures_at(call).time < own[0].all_end_rel_micros


def test_what_ran_in_the_call_that_is_all_of_a_graph_is_measured_without_it_too(fixtures: Path) -> None:
    (whole, within), (model, stats) = calls(fixtures), calls(fixtures, whole_file=False)
    for address in ("lay/PartitionedCall::deep", "while::body/PartitionedCall::deep", "cond/(cond)::then_branch"):
        inside = stats.figures_at(place(model, address))
        assert inside.time > 0
        assert inside == within.figures_at(place(whole, f"main/PartitionedCall::{address}"))
    assert {name for name, _ in stats.unmatched} - {name for name, _ in within.unmatched} == {"main/PartitionedCall"}


def test_nearly_every_execution_finds_its_place(fixtures: Path) -> None:
    _, stats = calls(fixtures)
    assert stats.joined >= 0.9 * stats.executions
    assert {name for name, _ in stats.unmatched} <= {
        "_SOURCE", "_arg_p_0_0", "_retval_main/o2_0_0", "identity_retval_RetVal",
        *(name for name, _ in stats.unmatched if name.startswith("ConstantFolding")),
    }  # fmt: skip


def test_steps_of_a_log(fixtures: Path) -> None:
    log = fixtures / "logdirs/mnist_runs"
    both = stats_of(load(log, step="all"))
    one, two = (stats_of(load(log, step=step)) for step in ("2", "step004"))
    assert both.steps == ("step002", "step004")
    assert both.time.mean[0] == (one.time.mean[0] + two.time.mean[0]) / 2
    with pytest.raises(UnknownChoice, match="step002, step004"):
        load(log, step="7")


def test_a_colouring_without_statistics_says_how_to_give_some(fixtures: Path) -> None:
    model = load(fixtures / "real/hidden_scope.pbtxt")
    for choice in ({"color_by": "compute-time"}, {"color_by": "memory"}, {"stats": True}):
        with pytest.raises(MissingFacts) as caught:
            model.picture(**choice)
        assert "--run-metadata" in str(caught.value.hint)
    log = load(fixtures / "logdirs/mnist_runs")
    with pytest.raises(MissingFacts, match="the log holds step002, step004") as caught:
        log.picture(color_by="memory")
    assert "--step step002" in str(caught.value.hint)


def test_the_document_has_statistics_for_every_node(fixtures: Path) -> None:
    model = mnist(fixtures, "default")
    nodes = model.to_json()["nodes"]
    assert all(set(node["stats"]) == set(nodes[0]["stats"]) for node in nodes)
    root = nodes[0]["stats"]
    assert (root["compute_us_sum"], root["coverage"]) == (stats_of(model).figures(0).time, round(132 / 271, 4))
    total = sum(
        node["stats"]["compute_us_sum"] or 0 for node in nodes if node["kind"] == "op" and node["parent"] is not None
    )
    assert total == pytest.approx(root["compute_us_sum"])
    assert "stats" not in load(fixtures / "real/hidden_scope.pbtxt").to_json()["nodes"][0]
