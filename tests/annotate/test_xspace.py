"""Traces of TensorFlow 2: ops, steps, allocations of a real one (CPU), kernels of one made by hand (GPU)."""

from __future__ import annotations

import gzip
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.annotate.rankings import summarize_stats
from graphviz_tb.api.pipeline import Model
from graphviz_tb.commands.costs import statistics_lines
from graphviz_tb.commands.table import TextStyle
from graphviz_tb.errors import MalformedProto, TooLarge
from graphviz_tb.formats.profiler_traces import run_metadata_by_step
from graphviz_tb.proto import GraphDef, RunMetadata, XSpace
from graphviz_tb.read.source import list_contents, list_profiles
from tests.conftest import cpu_seconds
from tests.each import each
from tests.timing import within

CPU = "run_metadata/xplane_cpu"


def traced(fixtures: Path, **choices: Any) -> Model:
    return load(fixtures / CPU / "graph.pb", run_metadata=(str(fixtures / CPU / "host.xplane.pb"),), **choices)


def by_hand(space: XSpace, name: str) -> int:
    """Nanoseconds of all events of that name."""
    return sum(
        event.duration_ps // 1000
        for plane in space.planes
        for line in plane.lines
        for event in line.events
        if plane.event_metadata[event.metadata_id].name == name
    )


def test_a_trace_is_told_by_its_content_and_lists_its_steps(fixtures: Path) -> None:
    data = (fixtures / CPU / "host.xplane.pb").read_bytes()
    assert list(list_profiles(data)) == list(list_profiles(gzip.compress(data))) == ["0", "1", "2"]
    assert {entry.format for entry in list_contents(data)} == {"XSpace"}


def test_times_are_sums_of_the_events(fixtures: Path) -> None:
    model = traced(fixtures, keep_warm_up=True)
    space = XSpace.FromString((fixtures / CPU / "host.xplane.pb").read_bytes())
    stats = model.facts.stats
    assert stats is not None
    assert len(stats.steps) == 3
    for name in ("loss/Mean", "dense1/MatMul/ReadVariableOp"):
        row = model.hierarchy.row_of_node[model.hierarchy.graph.name.index(name)]
        op = name.rpartition("/")[2]
        assert stats.time.mean[row] * 3 == pytest.approx(by_hand(space, f"{name}:{op}") / 1000)


def test_allocations_give_bytes_and_shapes(fixtures: Path) -> None:
    model = traced(fixtures)
    stats = model.facts.stats
    assert stats is not None
    row = int(model.hierarchy.row_of_node[model.hierarchy.graph.name.index("dense1/MatMul")])
    assert stats.figures(row).shapes == ((16, 32),)
    assert stats.figures(row).bytes == 16 * 32 * 4


def test_one_step_is_apart_from_the_next(fixtures: Path) -> None:
    together = traced(fixtures, keep_warm_up=True).facts.stats
    assert together is not None
    alone = [traced(fixtures, step=str(step)).facts.stats for step in range(3)]
    assert sum(stats.figures(0).time for stats in alone if stats) == pytest.approx(together.time.mean[0] * 3)


def test_a_log_directory_tells_its_profiles(fixtures: Path, tmp_path: Path) -> None:
    profile = tmp_path / "train" / "plugins" / "profile" / "monday"
    profile.mkdir(parents=True)
    (profile / "host.xplane.pb").write_bytes((fixtures / CPU / "host.xplane.pb").read_bytes())
    assert list(list_profiles(tmp_path)) == ["monday:0", "monday:1", "monday:2"]
    (tmp_path / "graph.pb").write_bytes((fixtures / CPU / "graph.pb").read_bytes())
    model = load(tmp_path / "graph.pb", run_metadata=(str(tmp_path),), profile="monday", step="2")
    assert model.facts.stats is not None
    assert model.facts.stats.steps == (f"{tmp_path}:monday:2",)


def test_a_trace_beside_a_graph_is_not_decoded_to_draw_the_graph(fixtures: Path, tmp_path: Path) -> None:
    shutil.copytree(fixtures / "logdirs" / "keras2_callback" / "train", tmp_path / "train")
    profile = tmp_path / "train" / "plugins" / "profile" / "monday"
    profile.mkdir(parents=True)
    (profile / "host.xplane.pb").write_bytes(b"\x0a\xff")  # cut short: decoding it is an error
    assert load(tmp_path).picture().scene.boxes
    with pytest.raises(MalformedProto):
        list_contents(tmp_path)


class Plane:
    """A plane of a trace, event by event."""

    def __init__(self, space: XSpace, name: str) -> None:
        self.plane = space.planes.add(name=name)

    def number(self, name: str) -> int:
        known = {value.name: key for key, value in self.plane.stat_metadata.items()}
        if name not in known:
            known[name] = len(known) + 1
            self.plane.stat_metadata[known[name]].id = known[name]
            self.plane.stat_metadata[known[name]].name = name
        return known[name]

    def line(self, name: str, *events: tuple[str, int, int, dict[str, Any]]) -> None:
        line = self.plane.lines.add(name=name)
        for name, start, time, stats in events:
            key = len(self.plane.event_metadata) + 1
            self.plane.event_metadata[key].id = key
            self.plane.event_metadata[key].name = name
            event = line.events.add(metadata_id=key, offset_ps=start * 1000, duration_ps=time * 1000)
            for stat, value in stats.items():
                kind = "str_value" if isinstance(value, str) else "int64_value"
                event.stats.add(metadata_id=self.number(stat), **{kind: value})


def gpu() -> tuple[GraphDef, bytes]:
    # x ─▶ dense/MatMul; two kernels on a stream, told again by a derived line; the host only launches them
    space = XSpace()
    Plane(space, "/host:CPU").line("executor", ("dense/MatMul:MatMul", 100, 7, {}), ("x:Relu", 10, 5, {}))
    device = Plane(space, "/device:GPU:0")
    kernel = {"tf_op": "dense/MatMul:MatMul"}
    device.line("Stream #13(compute)", ("sgemm", 200, 300, kernel), ("bias", 500, 40, kernel))
    device.line("TensorFlow Ops", ("dense/MatMul:MatMul", 200, 340, {}))
    graph = GraphDef(node=[{"name": "x", "op": "Relu"}, {"name": "dense/MatMul", "op": "MatMul", "input": ["x"]}])
    return graph, space.SerializeToString()


def test_kernels_count_once_and_launching_apart(tmp_path: Path) -> None:
    graph, trace = gpu()
    (tmp_path / "t.xplane.pb").write_bytes(trace)
    model = load(graph, run_metadata=(str(tmp_path / "t.xplane.pb"),))
    stats = model.facts.stats
    assert stats is not None
    rows = {name: int(model.hierarchy.row_of_node[at]) for at, name in enumerate(model.hierarchy.graph.name)}
    figures = stats.figures(rows["dense/MatMul"])
    assert (figures.accelerator, figures.cpu, figures.enqueue) == ((300 + 40) / 1000, 0, 7 / 1000)
    assert stats.figures(rows["x"]).time == 5 / 1000  # nanoseconds are not nothing
    assert {use.name for use in stats.devices} == {"/host:CPU", "/device:GPU:0", "/device:GPU:0/stream:13"}


def hostile(*, at: int = 0, allocation: dict[str, Any] | None = None, marks: tuple[dict[str, Any], ...] = ()) -> XSpace:
    """A trace of one op, with an allocation and marks of steps as a damaged file may have them."""
    space = XSpace()
    Plane(space, "/host:CPU").line(
        "executor",
        *(("step", 0, 90, stats) for stats in marks),
        ("x:Relu", 10, 5, {}),
        ("MemoryAllocation", 11, 0, {"tf_op": "x:Relu", "region_type": "output", **(allocation or {})}),
    )
    space.planes[0].lines[0].timestamp_ns = at
    return space


@pytest.mark.parametrize(
    "space",
    [
        hostile(marks=({"step_num": 3}, {"step_num": 3, "group_id": 7})),
        hostile(allocation={"allocation_bytes": "many", "shape": "[2]", "data_type": "float"}),
        hostile(allocation={"allocation_bytes": 2**63 - 1, "shape": f"[{'9' * 5000}]", "data_type": 2**40}),
        hostile(at=2**63 - 1),
    ],
)
def test_a_trace_may_say_anything_in_its_statistics(space: XSpace) -> None:
    (step,) = list_profiles(space.SerializeToString()).values()
    (device,) = step.step_stats.dev_stats
    assert [entry.node_name for entry in device.node_stats] == ["x"]


def test_nor_do_events_before_all_time_count() -> None:
    space = hostile(at=-(2**63))
    for event in space.planes[0].lines[0].events:
        event.offset_ps = -(2**62)
    (step,) = list_profiles(space.SerializeToString()).values()
    assert step.step_stats.dev_stats[0].node_stats[0].all_start_nanos == 0


def steps(*times: int) -> list[RunMetadata]:
    entry = {"node_name": "x", "all_start_micros": 1}
    return [
        RunMetadata(
            step_stats={"dev_stats": [{"device": "/cpu:0", "node_stats": [{**entry, "all_end_rel_micros": time}]}]}
        )
        for time in times
    ]


def test_a_slow_first_step_is_warm_up() -> None:
    from graphviz_tb.annotate.statistics import StatsOptions, join_statistics

    hierarchy = load(GraphDef(node=[{"name": "x", "op": "Relu"}])).hierarchy
    stats = join_statistics(hierarchy, steps(100, 10, 30, 20), names=("a", "b", "c", "d"))
    assert (stats.warm_up, stats.steps, stats.figures(1).time) == ("a", ("b", "c", "d"), 20)
    assert (stats.time.least[1], stats.time.most[1], stats.time.mean[1]) == (10, 30, 20)
    kept = join_statistics(
        hierarchy, steps(100, 10, 30, 20), StatsOptions(keep_warm_up=True), names=("a", "b", "c", "d")
    )
    assert (kept.warm_up, kept.figures(1).time) == ("", 25)
    assert join_statistics(hierarchy, steps(50, 20, 30)).warm_up == ""


@pytest.mark.slow
def test_many_lines_of_a_device_that_has_no_streams() -> None:
    space = XSpace(planes=[{"name": "/device:GPU:0", "lines": [{"name": ""}] * 6000}])
    assert within(cpu_seconds(lambda: run_metadata_by_step(space)), 9)


@pytest.mark.slow
def test_a_kind_of_many_statistics_and_many_events() -> None:
    events = [{"metadata_id": 1, "duration_ps": 5000}] * 3000
    space = XSpace(planes=[{"name": "/host:CPU", "lines": [{"name": "t", "events": events}]}])
    plane = space.planes[0]
    kind = plane.event_metadata[1]
    kind.name = "x:Relu"
    for number in range(1, 3001):
        plane.stat_metadata[number].name = f"s{number}"
        kind.stats.add(metadata_id=number, int64_value=1)
    assert within(cpu_seconds(lambda: run_metadata_by_step(space)), 9)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["/host:CPU", "/device:GPU:0"])
def test_a_long_name_of_many_events(device: str) -> None:
    """Each entry of a step has its name by itself: a megabyte of a trace would become gigabytes."""
    events = [{"metadata_id": 1, "duration_ps": 5000}] * 3000
    space = XSpace(planes=[{"name": device, "lines": [{"name": "Stream #1", "events": events}]}])
    space.planes[0].event_metadata[1].name = "x" * 200_000 + ":Relu"
    with pytest.raises(TooLarge, match="a trace: it would take more than"):
        run_metadata_by_step(space, "a trace")
    del space.planes[0].lines[0].events[1000:]
    assert list(run_metadata_by_step(space)) == ["whole"]


@pytest.mark.slow
@each("device", ["/host:CPU", "/device:GPU:0"])
@each("long", ["kind", "op", "line", "device"])
def test_what_is_long_is_looked_at_once_for_all_its_events(long: str, device: str) -> None:
    """100,000 events of 20 bytes each share a kind, a line and a device: they do not go through its name again."""
    names = {part: "x" * 400_000 * (part == long) for part in ("kind", "op", "line", "device")}
    events = [{"metadata_id": 1, "duration_ps": 5000}] * 100_000
    line = {"name": "Stream #1" + names["line"].replace("x", "1"), "events": events}
    plane = XSpace(planes=[{"name": device + names["device"].replace("x", ":0"), "lines": [line]}]).planes[0]
    plane.event_metadata[1].name = names["kind"] + "::no op"
    plane.stat_metadata[1].name, plane.stat_metadata[2].name = "tf_op", "y" + names["op"] + ":Relu"
    plane.event_metadata[1].stats.add(metadata_id=1, ref_value=2)

    def read() -> None:
        with suppress(TooLarge):
            run_metadata_by_step(XSpace(planes=[plane]))

    assert within(cpu_seconds(read), 9)


def overlapping(count: int) -> XSpace:
    """Executions of one op at one time: each has the allocations of all."""
    run, allocation = {"metadata_id": 1, "duration_ps": 10**9}, {"metadata_id": 2, "offset_ps": 1000}
    space = XSpace(planes=[{"name": "/host:CPU", "lines": [{"events": [run, allocation] * count}]}])
    plane = space.planes[0]
    plane.event_metadata[1].name, plane.event_metadata[2].name = "x:Relu", "MemoryAllocation"
    plane.stat_metadata[1].name = "tf_op"
    plane.event_metadata[2].stats.add(metadata_id=1, str_value="x:Relu")
    return space


@pytest.mark.slow
def test_very_many_executions_that_share_their_allocations() -> None:
    with pytest.raises(TooLarge, match="it would take more than"):
        run_metadata_by_step(overlapping(5000))
    assert list(run_metadata_by_step(overlapping(500))) == ["whole"]
    assert list(run_metadata_by_step(overlapping(500), bounded=False)) == ["whole"]


def test_a_shape_that_no_tensor_has() -> None:
    """Of a shape that all allocations refer to, each size would be an object for each of them."""
    space = overlapping(1)
    plane = space.planes[0]
    for number, (name, value) in enumerate((("region_type", "output"), ("shape", f"[{'1,' * 100_000}1]")), 2):
        plane.stat_metadata[number].name = name
        plane.event_metadata[2].stats.add(metadata_id=number, str_value=value)
    (step,) = run_metadata_by_step(space).values()
    (output,) = step.step_stats.dev_stats[0].node_stats[0].output
    assert len(output.tensor_description.shape.dim) == 254


def message(*fields: tuple[int, bytes]) -> bytes:
    """A message of texts and messages, each shorter than 128 bytes."""
    return b"".join(bytes([number << 3 | 2, len(value)]) + value for number, value in fields)


def program(module: bytes, *instructions: tuple[bytes, bytes]) -> bytes:
    """A program of XLA, with the op of each instruction."""
    named = [message((1, name), (7, message((2, op)))) for name, op in instructions]
    computation = message((1, b"main"), *((2, each) for each in named))
    return message((1, message((1, module), (3, computation))))


def compiled_trace(folder: Path, *programs: bytes) -> Model:
    """A step of compiled code: three executions, two of them of instructions that the program may name."""
    space = XSpace()
    host = Plane(space, "/host:CPU")
    of_code = [("dot.4", 10), ("fusion", 30), ("copy.1", 70)]
    host.line("worker", *((name, at, 5, {"hlo_op": name, "hlo_module": "step"}) for name, at in of_code))
    kept = space.planes.add(name="/host:metadata")
    kept.stat_metadata[1].name = "Hlo Proto"
    for number, data in enumerate(programs, 1):
        kept.event_metadata[number].stats.add(metadata_id=1, bytes_value=data)
    nodes = [{"name": "dense/MatMul", "op": "MatMul"}, {"name": "dense/Relu", "op": "Relu", "input": ["dense/MatMul"]}]
    trace = folder / "t.xplane.pb"
    trace.write_bytes(space.SerializeToString())
    return load(GraphDef(node=nodes).SerializeToString(), run_metadata=(str(trace),))


def said_of_trace(model: Model) -> str:
    assert model.facts.stats is not None
    lines = statistics_lines(summarize_stats(model.hierarchy, model.facts.stats), 9, 2000, TextStyle())
    return " ".join(" ".join(lines).split())


def test_executions_of_compiled_code_are_joined_by_the_ops_that_its_program_names(tmp_path: Path) -> None:
    model = compiled_trace(tmp_path, program(b"step", (b"dot.4", b"dense/MatMul"), (b"fusion", b"dense/Relu")))
    stats = model.facts.stats
    assert stats is not None
    assert (stats.executions, stats.joined, stats.compiled) == (3, 2, 1)
    assert stats.figures(0).time == pytest.approx(0.010)
    assert "3 executions, 2 of them of ops of this graph; 1 are of compiled code" in said_of_trace(model)


def test_executions_of_compiled_code_that_nothing_names_are_said_to_be_such(tmp_path: Path) -> None:
    # Another module; a program that is cut short; none at all.
    full = program(b"step", (b"dot.4", b"dense/MatMul"))
    for programs in ((program(b"other", (b"dot.4", b"dense/MatMul")),), (full[:-3],), ()):
        stats = compiled_trace(tmp_path, *programs).facts.stats
        assert stats is not None
        assert (stats.executions, stats.joined, stats.compiled) == (3, 0, 3)
