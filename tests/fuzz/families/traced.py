"""Families of graphs with what was measured of them: traces and profiles of other names, other steps, other sizes."""

from __future__ import annotations

from random import Random
from typing import Any

from graphviz_tb.proto import Event, GraphDef, RunMetadata, XSpace
from tests.fuzz.families import calls, graphs, products
from tests.fuzz.families.grown import GRAPHS, MOST, changed, good, graph, profile, run_metadata
from tests.fuzz.families.records import framed

DEVICES = (
    "/device:CPU:0",
    "/device:GPU:0/stream:all",
    "/job:w/task:1/device:GPU:3",
    "/gpu:0/stream:9",
    "",
    "/host:CPU",
)
STATISTICS = ("step_num", "group_id", "tf_op", "hlo_op", "bytes", "shape", "dtype", "region_type", "step_name", "other")
NUMBERS = (0, 1, -1, 10**6, 2**62, 2**63 - 1, -(2**63))
Made = tuple[dict[str, bytes], list[str]]


def asked(random: Random, step: str) -> list[str]:
    """A command line for a graph and its trace."""
    command = random.choice(
        (
            ["info"],
            ["info", "--json"],
            ["render", "-o", "out/a.svg", "--color-by", random.choice(("compute-time", "memory"))],
            ["render", "-o", "out/a.json"],
            ["render", "-o", "out/a.svg", "--stats", "--open", "*"],
            ["render", "-o", "out/a.html", "--color-by", "compute-time"],
            ["render", "-o", "out/a.svg", "--against", step, "--open-all"],
        )
    )
    more = random.choice(([], [], ["--keep-warm-up"], ["--profile", "host"], ["--preset", "tensorboard"], ["-q"]))
    return [*command, "graph.pb", "--run-metadata", step, *more]


def a_graph(random: Random) -> GraphDef:
    """A graph that a trace is made for."""
    make = random.choice((*calls.MAKERS[:2], graphs.shape, graphs.deep, graphs.odd_names, products.fans, graph, graph))
    made: GraphDef = make(random)
    return made if made.ByteSize() < 400_000 else graph(random)


def names_of(graph: GraphDef, random: Random) -> list[str]:
    """Names of the graph, of its functions below a call, and of nothing in it."""
    here = [node.name for node in graph.node]
    inner = [node.name for function in graph.library.function[:50] for node in function.node_def[:50]]
    deep = random.choice(("a/" * 9, "a/" * 20_000, "x" * 100_000, "c0/" * 300, "/" * 5000))
    below = [f"{one}/{other}" for one in here[:9] for other in (*inner[:9], deep) if len(one) + len(other) < 10**5]
    odd = [each for each in (*graphs.ODD, "conv1/Conv2D:Conv2D", "x/_0__cf__3") if "\ud7ff" not in each]
    return [*here[:300], *inner[:100], *below, deep + "z", *odd]


def steps(random: Random) -> Made:
    """A RunMetadata, or an event file of many, with names that are there and names that are not."""
    graph = a_graph(random)
    names = names_of(graph, random)
    made, room = RunMetadata(), MOST
    for at in range(random.choice((1, 3, 2000))):
        stats = made.step_stats.dev_stats.add(device=random.choice((*DEVICES, f"/d{at}/stream:{at}")))
        for _ in range(random.choice((1, 30, 3000)) if at < 3 else 1):
            node = stats.node_stats.add(node_name=random.choice(names) if room > 0 else "x")
            room -= len(node.node_name)
            node.all_start_micros, node.all_end_rel_micros = random.choices(NUMBERS, k=2)
            node.timeline_label = random.choice(("", f"{node.node_name[:99]} = Op({node.node_name[:99]})", "x = " * 99))
            if random.random() < 0.2:
                node.memory.add(total_bytes=random.choice(NUMBERS), peak_bytes=random.choice(NUMBERS))
    changed(made, random, random.choice((0, 0, 1, 3)))
    data = made.SerializeToString()
    if random.random() < 0.3 and len(data) < 20_000:
        events = [Event(file_version="brain.Event:2"), Event(graph_def=graph.SerializeToString())]
        for at in range(random.choice((1, 30, 300))):
            events.append(Event(step=at))
            events[-1].tagged_run_metadata.tag = f"step{at}"
            events[-1].tagged_run_metadata.run_metadata = data
        files = {"log.tfevents": b"".join(framed(event.SerializeToString()) for event in events)}
        return files, [*random.choice((["info"], ["render", "-o", "out/a.svg", "--step", "all"])), "log.tfevents"]
    return {"graph.pb": graph.SerializeToString(), "step.pb": _torn(data, random)}, asked(random, "step.pb")


def profiles(random: Random) -> Made:
    """A profile: planes, lines, kinds of events and statistics by the thousand; or a good one that was changed."""
    graph = a_graph(random)
    names = names_of(graph, random)
    made = XSpace()
    planes = random.choice((1, 1, 5, 300))
    for _ in range(planes):
        plane = made.planes.add(name=random.choice((*DEVICES, "/device:TPU:0", "/device:CUSTOM:x")))
        kinds, several = random.choice(((1, 3000), (3000, 1), (60, 60), (3, 3)) if planes < 9 else ((1, 1), (3, 3)))
        for at, statistic in enumerate(random.choices(STATISTICS, k=min(several, 12))):
            plane.stat_metadata[at].name = statistic
        few = [*random.sample(names, min(len(names), 9 if planes < 9 else 1)), *STATISTICS]
        for at in range(kinds):
            name = few[at] if at < len(few) else f"n{at}"
            plane.event_metadata[at].name = name + random.choice(("", ":Relu", ":", "::x"))
            for _ in range(random.choice((0, 1, several)) if at < 3 else 0):
                _statistic(plane.event_metadata[at].stats.add(), random)
        for line in range(lines := random.choice((1, 3, 300)) if planes < 9 else 1):
            _line(
                plane.lines.add(name=random.choice(("Steps", "XLA Ops", f"Stream #{line}", "", "tf"))),
                kinds,
                3000 // lines // planes,
                random,
            )
    if random.random() < 0.2:
        made, graph = (
            changed(profile(random), random, 3),
            GraphDef.FromString(random.choice(good(GraphDef, GRAPHS[-1]))),
        )
    data = _torn(made.SerializeToString(), random)
    return {"graph.pb": graph.SerializeToString(), "host.xplane.pb": data}, asked(random, "host.xplane.pb")


def _line(line: Any, kinds: int, most: int, random: Random) -> None:
    """Events that follow, hold or cross each other."""
    form = random.choice(("after", "within", "any"))
    for at in range(min(random.choice((1, 30, most)), most)):
        event = line.events.add(metadata_id=random.choice((at % kinds, 0, random.randrange(kinds + 1))))
        event.offset_ps = {"after": at * 10**6, "within": at}.get(form, random.choice(NUMBERS))
        event.duration_ps = {"after": 10**5, "within": 10**9 - 2 * at}.get(form, random.choice(NUMBERS))
        if random.random() < 0.3:
            _statistic(event.stats.add(), random)


def _statistic(statistic: Any, random: Random) -> None:
    statistic.metadata_id = random.randrange(13)
    kind = random.choice(("int64_value", "uint64_value", "str_value", "double_value", "ref_value"))
    value: Any = random.choice(NUMBERS)
    if kind in ("uint64_value", "ref_value"):
        value = abs(value)
    elif kind == "str_value":
        value = random.choice(("1", "float32[3,?]", "9" * 5000, "x", "[" * 300))
    elif kind == "double_value":
        value = random.choice((float("nan"), 1e300, 1.0))
    setattr(statistic, kind, value)


def grown_trace(random: Random) -> Made:
    """A good trace of a good graph, either of them changed."""
    one, other = graph(random), run_metadata(random)
    changed(random.choice((one, other)), random, random.choice((1, 2, 6)))
    return {"graph.pb": one.SerializeToString(), "step.pb": other.SerializeToString()}, asked(random, "step.pb")


def _torn(data: bytes, random: Random) -> bytes:
    """Now and then: cut, or with a bit of it turned."""
    if random.random() < 0.85 or not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + random.choice((b"", bytes([data[at] ^ 4]) + data[at + 1 :]))


SETS = {make.__name__: make for make in (steps, profiles, grown_trace)}
