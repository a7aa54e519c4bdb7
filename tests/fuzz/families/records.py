"""Families of event files and run statistics."""

from __future__ import annotations

import struct
from random import Random

from graphviz_tb.formats.records import masked_crc
from graphviz_tb.proto import Event, GraphDef, RunMetadata
from tests.fuzz.families import graphs
from tests.fuzz.families.damage import FIXTURES

PLUGINS = [
    "graphs",
    "graph_keras_model",
    "graph_run_metadata",
    "graph_run_metadata_graph",
    "graph_tagged_run_metadata",
    "x",
]


def framed(payload: bytes) -> bytes:
    """One record."""
    length = struct.pack("<Q", len(payload))
    return length + struct.pack("<I", masked_crc(length)) + payload + struct.pack("<I", masked_crc(payload))


def events(random: Random) -> tuple[str, bytes]:
    """Records that are sound, with contents that are not; or the other way round."""
    payloads = [_event(random) for _ in range(random.choice((1, 3, 20)))]
    data = framed(Event(file_version="brain.Event:2").SerializeToString()) + b"".join(map(framed, payloads))
    if random.random() < 0.4:
        damaged = bytearray(data)
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
        data = bytes(damaged)
    return "tfevents", data + random.choice((b"", b"", framed(b""), struct.pack("<Q", 2**60), random.randbytes(11)))


def _event(random: Random) -> bytes:
    content = random.choice(
        (
            b"",
            random.randbytes(50),
            _graph(random),
            _metadata(random).SerializeToString(),
            b"{}",
            b"null",
            b'{"class_name":"Sequential","config":{"layers":[{}]}}',
        )
    )
    event = Event(step=random.choice((0, -1, 2**62)))
    way = random.randrange(4)
    if way == 0:
        event.graph_def = content
    elif way == 1:
        event.meta_graph_def = content
    elif way == 2:
        event.tagged_run_metadata.tag = random.choice(graphs.ODD)
        event.tagged_run_metadata.run_metadata = content
    else:
        value = event.summary.value.add(tag=random.choice(graphs.ODD))
        value.metadata.plugin_data.plugin_name = random.choice(PLUGINS)
        value.metadata.plugin_data.content = random.choice((b"", b"1"))
        value.tensor.string_val.extend([content] * random.choice((0, 1, 2)))
    return event.SerializeToString()


def _graph(random: Random) -> bytes:
    return graphs.odd_names(random).SerializeToString()


def _metadata(random: Random) -> RunMetadata:
    made = RunMetadata()
    huge = random.choice((0, -1, 2**63 - 1, -(2**63), 10**6))
    for _ in range(random.choice((0, 1, 4))):
        device = made.step_stats.dev_stats.add(
            device=random.choice(["/device:CPU:0", "/gpu:0/stream:all", *graphs.ODD])
        )
        for _ in range(random.choice((0, 1, 40))):
            stats = device.node_stats.add(node_name=random.choice(["conv1/Conv2D", *graphs.ODD]))
            stats.all_start_micros, stats.all_end_rel_micros, stats.op_end_rel_micros = (
                huge,
                -huge if huge > -(2**63) else 0,
                huge,
            )
            stats.memory.add(total_bytes=huge, peak_bytes=huge)
            stats.output.add(slot=random.choice((0, -1, 2**31 - 1))).tensor_description.shape.dim.add(size=huge)
    for _ in range(random.choice((0, 1, 3))):
        made.partition_graphs.add().CopyFrom(graphs.odd_names(random))
        made.function_graphs.add().post_optimization_graph.CopyFrom(GraphDef())
    return made


def statistics(random: Random) -> tuple[str, bytes]:
    """A RunMetadata with numbers past every bound; or a good one for a graph that it is not of."""
    if random.random() < 0.2:
        return "pb", (FIXTURES / "run_metadata/mnist_cnn_step099.pb").read_bytes()
    return "pb", _metadata(random).SerializeToString()


FAMILIES = {"events": events, "statistics": statistics}
