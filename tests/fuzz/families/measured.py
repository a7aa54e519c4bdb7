"""Families of traces with two sizes each, of which the product is not to be taken: names × events, steps × nodes."""

from __future__ import annotations

import gzip
from random import Random
from typing import Any

from google.protobuf import text_format

from graphviz_tb.proto import Event, GraphDef, RunMetadata, XSpace
from tests.fuzz.families.grown import lie
from tests.fuzz.families.names import run_of
from tests.fuzz.families.records import framed

SIZES = ((1, 20_000), (20_000, 1), (3, 5000), (5000, 3), (300, 300), (1000, 1000), (7, 7))
LONGEST = 300_000  # characters of all names in a file
MEASURED = ("info", "render -o out/a.svg --color-by compute-time", "render -o out/a.json", "render -o out/a.html")
Made = tuple[dict[str, bytes], list[str]]


def asked(random: Random, *traces: str) -> list[str]:
    """A command line for a graph with its traces: added up, one against the other, a step of them."""
    command, *rest = random.choice(MEASURED).split()
    options = [word for each in traces[:-1] for word in ("--run-metadata", each)]
    last = "--against" if len(traces) > 1 and command == "render" and random.random() < 0.5 else "--run-metadata"
    more = random.choice(([], [], ["--step", "all"], ["--keep-warm-up"], ["--preset", "tensorboard"], ["--no-fold"]))
    return [command, "graph.pb", *options, last, traces[-1], *rest, *more]


def flat(count: int) -> GraphDef:
    """So many nodes, a hundred in a scope."""
    graph = GraphDef()
    for at in range(count):
        graph.node.add(name=f"a/b{at // 100}/c_{at}", op="Relu")
    return graph


def profiled(names: list[str], events: int, steps: int) -> XSpace:
    """A profile of ops that are named so in turn, in so many steps."""
    made = XSpace()
    plane = made.planes.add(name="/host:CPU")
    plane.stat_metadata[1].name, plane.event_metadata[1].name = "step_num", "train"
    for at, name in enumerate(names):
        plane.event_metadata[at + 2].name = name
    line = plane.lines.add(name="t")
    apart = 10**9 // max(1, steps)
    for step in range(steps):
        event = line.events.add(metadata_id=1, offset_ps=step * apart, duration_ps=apart)
        event.stats.add(metadata_id=1).int64_value = step
    for at in range(events):
        line.events.add(metadata_id=2 + at % len(names), offset_ps=at * 10**9 // events, duration_ps=9)
    return made


def shared_names(random: Random) -> Made:
    """Long names of ops, each of which very many events have."""
    length, events = random.choice(((100_000, 3000), (3000, 20_000), (30, 20_000)))
    unit = random.choice(("x", "a/", "a:", "x_1", ":Relu", "x = ", "(", run_of(random)[:200]))
    several = random.choice((1, 1, 3, 40))
    names = [unit * (min(length, LONGEST // several) // len(unit)) + end for end in (":Relu", "x", ":")] * several
    made = profiled(names[:several], events, random.choice((0, 1, 30)))
    return {"graph.pb": flat(30).SerializeToString(), "p.xplane.pb": made.SerializeToString()}, asked(
        random, "p.xplane.pb"
    )


def many_steps(random: Random) -> Made:
    """Very many steps of very many nodes: in a profile, or as tagged records of a log, some tags more than once."""
    steps, nodes = random.choice(SIZES)
    graph = flat(nodes)
    name = random.choice(("a/b0/c_0", f"a/b0/c_{nodes - 1}", "nowhere"))
    if random.random() < 0.4:
        files = {"graph.pb": graph.SerializeToString()}
        files["p.xplane.pb"] = profiled([f"{name}:Relu"], steps, steps).SerializeToString()
        return files, asked(random, "p.xplane.pb")
    tags = random.choice((1, 2, steps))
    metadata = RunMetadata()
    metadata.step_stats.dev_stats.add(device="/device:CPU:0").node_stats.add(node_name=name, all_end_rel_micros=5)
    events = [Event(graph_def=graph.SerializeToString())]
    for at in range(steps):
        events.append(Event(step=random.choice((at, at, -at, 2**62)), wall_time=random.choice((0, -1, float("nan")))))
        events[-1].tagged_run_metadata.tag = f"step{at % tags}"
        events[-1].tagged_run_metadata.run_metadata = metadata.SerializeToString()
    log = b"".join(framed(event.SerializeToString()) for event in events)
    step = random.choice(([], ["--step", "all"], ["--step", "step0"], ["--step", f"{steps}"]))
    command = random.choice((["info"], ["info", "--json"], ["render", "-o", "out/a.svg"], ["tree"]))
    return {"log.tfevents": log}, [*command, "log.tfevents", *step]


def deep_calls(random: Random) -> Made:
    """Names many calls deep in functions that call themselves or each other."""
    graph = GraphDef()
    count, nodes = random.choice(((1, 3000), (2, 300), (30, 30), (1, 1)))
    for number in range(count):
        function = graph.library.function.add()
        function.signature.name = f"f{number}"
        function.node_def.add(name="c", op=f"f{(number + 1) % count}")
        for at in range(nodes):
            function.node_def.add(name=f"n{at}", op="Relu")
    graph.node.add(name="call", op="f0")
    made = RunMetadata()
    stats = made.step_stats.dev_stats.add(device=random.choice(("/device:CPU:0", "/device:GPU:0/stream:all")))
    deepest = random.choice((3, 300, 1000))
    for at in range(random.choice((1, 30, 3000))):
        depth = random.choice((deepest, deepest, at % deepest))
        between = random.choice(("c/" * depth, "c/" * depth, f"_{at}/" * depth, "c/f0/" * depth))
        if len(between) * at < 10 * LONGEST:
            stats.node_stats.add(node_name=f"call/{between}n{at % nodes}", all_end_rel_micros=5)
    return {"graph.pb": graph.SerializeToString(), "step.pb": made.SerializeToString()}, asked(random, "step.pb")


def odd_times(random: Random) -> Made:
    """Some traces of one graph: times below zero and past counting, as messages, text, logs or gzip."""
    graph = flat(random.choice((1, 30)))
    traces = {f"step{at}{suffix}": _written(_odd_trace(graph, random), suffix)
              for at, suffix in enumerate(random.choices((".pb", ".pb", ".pbtxt", ".tfevents", ".pb.gz"),
                                                         k=random.choice((1, 2, 3))))}  # fmt: skip
    return {"graph.pb": graph.SerializeToString(), **traces}, asked(random, *traces)


def _odd_trace(graph: GraphDef, random: Random) -> RunMetadata:
    made = RunMetadata()
    for device in random.sample(("/device:CPU:0", "/gpu:0", "/device:GPU:0/stream:all", "", run_of(random)), 2):
        stats = made.step_stats.dev_stats.add(device=device)
        for _ in range(random.choice((1, 5, 60))):
            node = stats.node_stats.add()
            _lies(node, random)
            node.node_name = random.choice(graph.node).name + random.choice(("", "", ":Relu", "/_5__cf__3"))
            for each in range(random.choice((0, 1, 3))):
                _lies(node.memory.add(), random)
                node.output.add(slot=random.choice((0, each, -1, 2**31 - 1))).tensor_description.dtype = 1
    return made


def _lies(message: Any, random: Random) -> None:
    """Any numbers and texts for the fields that have one."""
    for field in message.DESCRIPTOR.fields:
        if field.message_type is None and random.random() < 0.6:
            setattr(message, field.name, lie(field, random))


def _written(trace: RunMetadata, suffix: str) -> bytes:
    if suffix == ".pbtxt":
        return text_format.MessageToString(trace).encode()
    if suffix == ".tfevents":
        event = Event(step=1)
        event.tagged_run_metadata.tag, event.tagged_run_metadata.run_metadata = "s", trace.SerializeToString()
        return framed(event.SerializeToString())
    data = trace.SerializeToString()
    return gzip.compress(data, mtime=0) if suffix.endswith(".gz") else data


SETS = {make.__name__: make for make in (shared_names, many_steps, deep_calls, odd_times)}
