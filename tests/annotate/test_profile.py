"""The profile of a step: its tables add up to `info`'s, its slices keep their laws, its parts add up to the step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb import load
from graphviz_tb.annotate.step_profile import NO_LEVEL, _covered_length, _nested_levels, _packed_levels, build_profile
from graphviz_tb.commands import _run_command_line
from graphviz_tb.formats.profiler_traces import run_metadata_by_step
from graphviz_tb.limits import MAX_LANE_LEVELS
from graphviz_tb.logs.run_statistics import profiles_by_step
from graphviz_tb.model.profile import Profile, SliceKind
from graphviz_tb.ops.roles import INPUT_PIPELINE_OPS
from graphviz_tb.proto import XSpace
from graphviz_tb.render.exports import trace_json_bytes
from tests.annotate.test_accelerators import gpu_trace
from tests.annotate.test_xspace import Plane, compiled_trace, program
from tests.annotate.traces import CPU, entry, graph_of, trace_of
from tests.each import each

FIXTURES = Path(__file__).parents[2] / "fixtures"
CALLS = "run_metadata/calls_in_session"
REAL: list[tuple[str, dict[str, Any]]] = [
    ("real/mnist_cnn.pbtxt", {"run_metadata": "run_metadata/mnist_cnn_step099.pb"}),
    (f"{CALLS}/graph.pb", {"run_metadata": f"{CALLS}/step.pb"}),
    ("run_metadata/xplane_cpu/graph.pb", {"run_metadata": "run_metadata/xplane_cpu/host.xplane.pb"}),
    ("logdirs/mnist_runs", {"run": "train"}),
]


def profiles(source: str, **choices: Any) -> tuple[Any, list[Profile]]:
    """A model, and the profile of each of its steps."""
    if "run_metadata" in choices:
        choices["run_metadata"] = (str(FIXTURES / choices["run_metadata"]),)
    model = load(FIXTURES / source, keep_warm_up=True, **choices)
    found = profiles_by_step(model.source, model.loaded, model.hierarchy, model.options)
    return model, [make() for make in found.values()]


@each(("source", "choices"), REAL)
def test_the_tables_add_up_to_what_info_says(source: str, choices: dict[str, Any]) -> None:
    model, steps = profiles(source, **choices)
    assert steps
    for step in steps:
        one = load(model.source, keep_warm_up=True, **{**choices, **alone(step, choices)})
        stats = one.facts.stats
        assert stats is not None
        assert step.whole == round(1000 * stats.figures(0).time)
        for table in (step.ops, step.types, step.groups):
            assert sum(row.self_time for row in table) == step.time
        assert sum(row.self_time for row in step.ops if not row.in_graph) == step.unmatched
        for row in (*step.groups, *step.ops):
            # Of functions without a call, `info` has all calls together.
            if row.in_graph and row.path[0] < model.hierarchy.end[0]:
                assert row.total == pytest.approx(1000 * stats.figures_at(row.path).time)


# `total_self_time` in µs over three steps, of the tool `framework_op_stats` of xprof 2.24.2 for the same trace.
TENSORBOARD_SELF_TIMES = {
    "loss/while::cond/loss/while/Less": 109.447,
    "dense1/MatMul": 106.824,
    "loss/Mean": 26.42,
    "dense2/MatMul": 16.1,
    "dense2/MatMul/ReadVariableOp": 15.629,
    "loss/while::body/loss/while/add_1": 12.681,
    "dense1/PartitionedCall::Relu": 10.629,
    "loss/while::body/loss/while/add": 5.756,
    "loss/while::body/loss/while/mul": 5.239,
    "loss/Square": 4.762,
    "dense1/MatMul/ReadVariableOp": 2.428,
}


def test_self_times_are_those_of_tensorboards_op_table() -> None:
    source, choices = REAL[2]
    times: dict[str, float] = {}
    for step in profiles(source, **choices)[1]:
        for row in step.ops:
            times[row.name] = times.get(row.name, 0) + row.self_time / 1000
    assert times == pytest.approx(TENSORBOARD_SELF_TIMES)


def alone(step: Profile, choices: dict[str, Any]) -> dict[str, Any]:
    """The choices that join this step alone."""
    if "run_metadata" not in choices:
        return {"step": step.step}
    file = str(FIXTURES / choices["run_metadata"])
    return (
        {"run_metadata": (file,), "step": step.step.removeprefix(f"{file}:")}
        if "xplane" in file
        else {"run_metadata": (file,)}
    )


@each(("source", "choices"), REAL)
def test_slices_keep_their_laws(source: str, choices: dict[str, Any]) -> None:
    for step in profiles(source, **choices)[1]:
        check_laws(step)


def check_laws(step: Profile) -> None:
    line = step.timeline
    end = line.start + line.duration
    inside = line.parent >= 0
    around = line.parent[inside]
    assert np.all(line.start[inside] >= line.start[around])
    assert np.all(end[inside] <= end[around])
    assert np.all(line.level[inside] > line.level[around])
    assert np.all(line.lane[inside] == line.lane[around])
    track = line.lane.astype(np.int64) * 1000 + line.level
    assert np.all(np.diff(track) >= 0)
    same = np.diff(track) == 0
    assert np.all((line.start[1:] >= end[:-1])[same])  # on one level of one lane nothing overlaps
    counted = np.isin(line.kind, (SliceKind.COMPUTE, SliceKind.INPUT))
    if not step.unmatched and not line.left_out:
        assert int(np.sum(line.duration[counted])) == step.whole + step.outside
    shares = step.shares
    assert shares.compute + shares.input + shares.launch + shares.idle == shares.length == line.end_time
    assert min(shares.compute, shares.input, shares.launch, shares.idle) >= 0


def test_kernels_are_under_their_ops_and_launching_is_apart() -> None:
    hierarchy = graph_of("conv/Conv2D", "host")
    step = build_profile(hierarchy, gpu_trace())
    check_laws(step)
    line = step.timeline
    kernels = np.flatnonzero((line.parent >= 0) & (line.kind == SliceKind.COMPUTE))
    for number in kernels.tolist():
        around = int(line.parent[number])
        assert line.kind[around] == SliceKind.KERNELS
        assert line.node[around] == line.node[number]
    assert SliceKind.LAUNCH in line.kind
    assert [lane.accelerator for lane in line.lanes][-1]


def test_several_kernels_of_an_op_have_one_slice_around_them() -> None:
    space = XSpace()
    kernels = [("cut<float>", 10, 5, {"tf_op": "conv:Conv2D"}), ("multiply<float>", 16, 9, {"tf_op": "conv:Conv2D"})]
    Plane(space, "/device:GPU:0").line("Stream #7(Compute)", *kernels, ("add<float>", 30, 2, {"tf_op": "sum:AddV2"}))
    (trace,) = run_metadata_by_step(space).values()
    step = build_profile(graph_of("conv", "sum"), trace)
    check_laws(step)
    line = step.timeline
    assert [line.names[number] for number in line.name] == [
        "conv",
        "sum",
        "cut<float>",
        "multiply<float>",
        "add<float>",
    ]
    assert line.parent.tolist() == [-1, -1, 0, 0, 1]
    assert (step.ops[0].name, step.ops[0].self_time, step.ops[0].count) == ("conv", 14, 2)
    assert line.lanes[0].thread == "stream:7"


def test_threads_of_a_trace_of_tensorflow_2_are_lanes() -> None:
    space = XSpace()
    host = Plane(space, "/host:CPU")
    host.line("tf_Compute/1", ("a:Relu", 0, 10, {}), ("b:Relu", 12, 3, {}))
    host.line("tf_Compute/2", ("c:Relu", 2, 4, {}))
    (trace,) = run_metadata_by_step(space).values()
    step = build_profile(graph_of("a", "b", "c"), trace)
    assert [(lane.thread, lane.levels) for lane in step.timeline.lanes] == [("tf_Compute/1", 1), ("tf_Compute/2", 1)]


def test_a_step_that_waits_for_its_input_says_so() -> None:
    """input ████████░░░░  model ░░░░░░████░░ : four of the twelve only fetch, two nothing runs."""
    nodes = graph_of("next", "model", next="IteratorGetNext", model="MatMul")
    step = build_profile(nodes, trace_of({CPU: [entry("next", 0, 8), entry("model", 6, 4), entry("model", 11, 1)]}))
    shares = step.shares
    assert (shares.length, shares.input, shares.compute, shares.idle) == (12_000, 6_000, 5_000, 1_000)
    assert {"IteratorGetNext", "TFRecordDatasetV2", "DecodeJpeg", "QueueDequeueV2"} <= INPUT_PIPELINE_OPS
    assert not {"Conv2D", "MatMul", "Placeholder"} & INPUT_PIPELINE_OPS


def test_memory_over_the_step() -> None:
    records = [{"alloc_micros": 3, "alloc_bytes": 100}, {"alloc_micros": 8, "alloc_bytes": -100}]
    other = [{"alloc_micros": 5, "alloc_bytes": 50}]
    entries = [entry("a", 2, 4), entry("b", 5, 4)]
    for one, found in zip(entries, (records, other), strict=True):
        one["memory"] = [{"allocator_name": "gpu", "allocation_records": found}]
    step = build_profile(graph_of("a", "b"), trace_of({CPU: entries}))
    (curve,) = step.memory
    assert (curve.allocator, curve.peak) == ("gpu", 150)
    assert list(zip(curve.time.tolist(), curve.bytes.tolist(), strict=True)) == [(1000, 100), (3000, 150), (6000, 50)]
    assert not build_profile(graph_of("a"), trace_of({CPU: [entry("a", 0, 1)]})).memory


def test_allocations_of_tensorflow_2_are_freed_where_their_address_is() -> None:
    space = XSpace()
    of = {"tf_op": "x:Relu", "allocation_bytes": 256, "addr": 7, "allocator_name": "cpu"}
    taken = [("MemoryAllocation", 1100, 0, of), ("MemoryDeallocation", 3000, 0, {"addr": 7})]
    Plane(space, "/host:CPU").line("t", ("x:Relu", 1000, 500, {}), *taken, ("y:Relu", 4000, 500, {}))
    (trace,) = run_metadata_by_step(space).values()
    (curve,) = build_profile(graph_of("x", "y"), trace).memory
    assert curve.bytes.tolist() == [256, 0]


def test_compiled_code_is_under_the_ops_that_its_program_names(tmp_path: Path) -> None:
    model = compiled_trace(tmp_path, program(b"step", (b"dot.4", b"dense/MatMul"), (b"fusion", b"dense/Relu")))
    found = profiles_by_step(model.source, model.loaded, model.hierarchy, model.options)  # type: ignore[arg-type]
    (step,) = (make() for make in found.values())
    assert {row.name for row in step.ops if row.in_graph} == {"dense/MatMul", "dense/Relu"}
    assert sum(row.count for row in step.ops) == 3
    assert "1 of compiled code" in step.missing[0]


intervals = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=60).map(
    lambda found: sorted(((start, start + length) for start, length in found), key=lambda each: (each[0], -each[1]))
)


@given(times=intervals)
def test_levels_never_overlap(times: list[tuple[int, int]]) -> None:
    levels, parents = _nested_levels(times)
    for found in (levels, _packed_levels(times)):
        last: dict[int, int] = {}
        for level, (start, end) in zip(found, times, strict=True):
            assert last.get(level, 0) <= start
            last[level] = end
    for number, parent in enumerate(parents):
        if parent >= 0:
            assert times[parent][0] <= times[number][0]
            assert times[number][1] <= times[parent][1]
            assert levels[parent] < levels[number]


def test_no_more_levels_than_a_lane_has() -> None:
    times = [(0, 10)] * (MAX_LANE_LEVELS + 5)
    assert _nested_levels(times)[0].count(NO_LEVEL) == _packed_levels(times).count(NO_LEVEL) == 5
    step = build_profile(graph_of("a"), trace_of({CPU: [entry("a", 0, 10)] * len(times)}))
    check_laws(step)
    assert step.timeline.left_out == 5
    assert "5 slices too deep" in " ".join(step.missing)


@given(times=intervals)
def test_what_is_covered_is_counted_once(times: list[tuple[int, int]]) -> None:
    start, end = np.array(times, np.int64).reshape(-1, 2).T
    assert _covered_length(start, end) == len({moment for first, last in times for moment in range(first, last)})


def test_hostile_names_are_text_in_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = 'a\u202e</script>"\x1b[31m'
    graph, trace = tmp_path / "graph.pb", tmp_path / "step.pb"
    from graphviz_tb.proto import GraphDef

    graph.write_bytes(GraphDef(node=[{"name": name, "op": "Relu"}]).SerializeToString())
    made = trace_of({CPU: [entry(name, 0, 5), entry("\U0001f600", 3, 9)]})
    trace.write_bytes(made.SerializeToString())
    target = tmp_path / "trace.json"
    assert (
        _run_command_line(["info", str(graph), "--run-metadata", str(trace), "--profile", "--trace", str(target)]) == 0
    )
    told = capsys.readouterr().out
    assert "\x1b[31m" not in told
    assert "\u202e" not in told
    events = json.loads(target.read_bytes())["traceEvents"]
    assert {event["name"] for event in events if event["ph"] == "X"} == {name, "\U0001f600"}


def test_the_trace_is_nested_and_the_same_each_time() -> None:
    _, steps = profiles(REAL[2][0], **REAL[2][1])
    data = trace_json_bytes(steps)
    assert data == trace_json_bytes(profiles(REAL[2][0], **REAL[2][1])[1])
    open_until: dict[tuple[int, int], list[float]] = {}
    events = [event for event in json.loads(data)["traceEvents"] if event["ph"] == "X"]
    assert len(events) == sum(len(step.timeline) for step in steps)
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        stack = open_until.setdefault((event["pid"], event["tid"]), [])
        while stack and stack[-1] <= event["ts"]:
            stack.pop()
        assert not stack or round(event["ts"] + event["dur"], 3) <= stack[-1]
        stack.append(round(event["ts"] + event["dur"], 3))


def test_the_profile_of_a_log_is_printed_and_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    log = str(FIXTURES / "logdirs/mnist_runs")
    assert (
        _run_command_line(["info", "--profile", log, "--run", "train", "-q"])
        == _run_command_line(["info", log, "--run", "train", "--profile"])
        == 0
    )
    told = capsys.readouterr().out
    assert "Op types" in told
    assert "input" in told
    assert _run_command_line(["info", log, "--run", "train", "--step", "4", "--profile", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == "tbgraph-profile"
    assert _run_command_line(["info", log, "--run", "train", "--step", "4", "--json"]) == 0
    stats = json.loads(capsys.readouterr().out)["graph"]["statistics"]
    for table in ("ops", "types", "groups"):
        everything = stats["compute_us_sum"] + stats["unmatched_us"]
        assert sum(row["self_us"] for row in found[table]) == pytest.approx(everything)


def test_what_the_graph_has_not_is_in_every_table() -> None:
    executions = [entry("dense/MatMul", 0, 10), entry("gradient_tape/conv/Conv2DBackpropFilter", 10, 30)]
    executions[1]["timeline_label"] = "gradient_tape/conv/Conv2DBackpropFilter = Conv2DBackpropFilter(x, y)"
    step = build_profile(graph_of("dense/MatMul"), trace_of({CPU: executions}))
    assert [(row.name, row.op, row.self_time, row.in_graph) for row in step.ops] == [
        ("gradient_tape/conv/Conv2DBackpropFilter", "Conv2DBackpropFilter", 30_000, False),
        ("dense/MatMul", "NoOp", 10_000, True),
    ]
    assert ("not in this graph", 30_000, 1) in [(row.name, row.self_time, row.count) for row in step.groups]
    assert {row.name: row.self_time for row in step.types} == {"Conv2DBackpropFilter": 30_000, "NoOp": 10_000}
    assert (step.whole, step.unmatched, step.time) == (10_000, 30_000, 40_000)


def test_a_source_without_traces_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run_command_line(["info", str(FIXTURES / "real/mnist_cnn.pbtxt"), "--profile"]) == 2
    assert "--run-metadata" in capsys.readouterr().err
