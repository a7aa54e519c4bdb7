"""How fast graphs are read: `python -m tests.bench.read [FILE…] [--rounds N] [--events]`.

For each graph, medians of CPU seconds (3 rounds, one after the other, in this process): the binary message by
`FromString`, its text by `graphviz_tb.read.pbtxt.parse`, and the same text by
`google.protobuf.text_format.Parse`. Both messages are compared. Without files: the training graphs among the
fixtures. The text is what `text_format.MessageToString` prints.

Of exported programs (`.pt2`, `.onnx`, `.tflite`) the table has the CPU seconds of loading them and drawing a picture,
and of the same for the same graph from a GraphDef, the least of all rounds, which alternate; and how much of it is
decoding: the JSON of `.pt2`, the messages of `.onnx`, the tables of `.tflite`.

`--events` writes an event file of 1 GB beside the graph and scans it: seconds and peak memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import struct
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

from google.protobuf import text_format

from graphviz_tb import load
from graphviz_tb.caches import garbage_collection_paused
from graphviz_tb.formats.onnx_messages import decode_model
from graphviz_tb.formats.pbtxt import parse
from graphviz_tb.formats.records import masked_crc
from graphviz_tb.formats.tflite_file import decode_tflite
from graphviz_tb.proto import Event, GraphDef
from graphviz_tb.read.source import read_source

FIXTURES = Path(__file__).parents[2] / "fixtures" / "real"
TRAINING = ("mnist_cnn", "cifar10_shapes", "gan_scopes", "lstm_dynamic_rnn", "word2vec_nce", "func_library_v2")
PROGRAMS = (".pt2", ".onnx", ".tflite")
SLOW_BYTES = 20 << 20  # text_format is not asked for more


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", action="store_true")
    options = parser.parse_args()
    if options.events:
        events()
        return
    programs = [path for path in options.files if path.suffix in PROGRAMS]
    if programs:
        print("| program | nodes | draw s | decoding s | as a GraphDef s | times as long | less decoding |")
        print("|---|---|---|---|---|---|---|")
        for path in programs:
            print(program_row(path, options.rounds))
        return
    print("| graph | nodes | text MB | FromString s | ours s | MB/s | text_format s | MB/s | times as fast | equal |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for path in options.files or training_graphs():
        print(row(path, options.rounds))
    print(f"\npeak memory {peak():,.0f} MB")


def training_graphs() -> list[Path]:
    return [path for name in TRAINING for path in sorted(FIXTURES.glob(f"{name}.pb*"))]


def program_row(path: Path, rounds: int) -> str:
    graph = read_source(path).graph_def
    binary = graph.SerializeToString()
    decode = garbage_collection_paused()(decoder(path))  # as while loading
    taken: dict[str, list[float]] = {"ours": [], "plain": [], "decoding": []}
    for _ in range(rounds):
        for name, work in (("ours", lambda: draw(path)), ("plain", lambda: draw(binary)), ("decoding", decode)):
            taken[name].append(timed(work, 1)[0])
    ours, plain, decoding = (min(seconds) for seconds in taken.values())
    times = f"{ours / plain:.2f} | {(ours - decoding) / plain:.2f}"
    return f"| {path.name} | {len(graph.node):,} | {ours:.2f} | {decoding:.2f} | {plain:.2f} | {times} |"


def draw(source: Any) -> bytes:
    return load(source).render()


def decoder(path: Path) -> Callable[[], Any]:
    """What decodes a program, and nothing else."""
    if path.suffix == ".pt2":
        with zipfile.ZipFile(path) as archive:
            texts = [archive.read(name) for name in archive.namelist() if "models/" in name and name.endswith(".json")]
        return lambda: [json.loads(text) for text in texts]
    data = path.read_bytes()
    if path.suffix == ".tflite":
        return lambda: decode_tflite(data, path.name, bounded=False)
    return lambda: decode_model(data, path.name)


def row(path: Path, rounds: int) -> str:
    graph = read_source(path).graph_def
    text = text_format.MessageToString(graph)
    data, binary = text.encode(), graph.SerializeToString()
    decoded, _ = timed(lambda: GraphDef.FromString(binary), rounds)
    ours, made = timed(lambda: parse(data), rounds)
    size = len(data) / 1e6
    head = f"| {path.stem} | {len(graph.node):,} | {size:.2f} | {decoded:.4f} | {ours:.4f} | {size / ours:.0f} |"
    if len(data) > SLOW_BYTES:
        return f"{head} – | – | – | {made == graph} |"
    theirs, expected = timed(lambda: text_format.Parse(text, GraphDef()), rounds)
    return f"{head} {theirs:.3f} | {size / theirs:.1f} | {theirs / ours:.1f} | {made == expected} |"


def timed(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The median of CPU seconds, and the last result."""
    taken, made = [], None
    for _ in range(rounds):
        made = None
        start = process_time()
        made = work()
        taken.append(process_time() - start)
    return statistics.median(taken), made


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def events(size: int = 1_000_000_000) -> None:
    """A graph at the start of an event file, then histograms: what it costs to find the graph."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events.out.tfevents.1.host")
        count = write_events(path, size)
        before, start = peak(), process_time()
        loaded = read_source(path)
        seconds = process_time() - start
    nodes = len(loaded.graph_def.node)
    print(f"{count:,} events, {size / 1e6:,.0f} MB: {seconds:.2f} s, {size / seconds / 1e6:,.0f} MB/s, {nodes} nodes")
    print(f"peak memory {peak():,.0f} MB, {peak() - before:,.0f} MB of it for this")


def write_events(path: Path, size: int) -> int:
    graph = (FIXTURES / "cifar10_shapes.pb").read_bytes()
    summary = Event(wall_time=1.0, step=7)
    summary.summary.value.add(tag="weights", tensor={"float_val": [1.5] * 2000})
    dull = record(summary.SerializeToString())
    block = dull * 128
    with path.open("wb") as out:
        out.write(record(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString()))
        out.write(record(Event(wall_time=1.0, graph_def=graph).SerializeToString()))
        count = 0
        while out.tell() < size:
            out.write(block)
            count += 128
    return count + 2


def record(payload: bytes) -> bytes:
    header = struct.pack("<Q", len(payload))
    return header + struct.pack("<I", masked_crc(header)) + payload + struct.pack("<I", masked_crc(payload))


if __name__ == "__main__":
    main()
