"""A made-up training: two traced steps of a small network, in the second of which one op is slow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphviz_tb.proto import Event, GraphDef, RunMetadata
from tests.event_files import record
from tests.serve.writing import BEGIN, Writer

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
THREADS = {1: "tf_Compute/11", 2: "tf_Compute/<img src=x onerror=window.hacked=1>"}
SLOW = 420  # microseconds


def network() -> GraphDef:
    """input ─▶ encoder/block_0 … block_3, each a product and a Relu ─▶ head; a gradient beside each block."""
    nodes: list[dict[str, Any]] = [{"name": "input/IteratorGetNext", "op": "IteratorGetNext"}]
    before = nodes[0]["name"]
    for number in range(4):
        scope = f"encoder/block_{number}"
        nodes.append({"name": f"{scope}/MatMul", "op": "MatMul", "input": [before]})
        nodes.append({"name": f"{scope}/Relu", "op": "Relu", "input": [f"{scope}/MatMul"]})
        before = f"{scope}/Relu"
    nodes += [
        {"name": "head/MatMul", "op": "MatMul", "input": [before]},
        {"name": "head/Softmax", "op": "Softmax", "input": ["head/MatMul"]},
        {"name": "<script>window.hacked=1</script>", "op": "Identity", "input": ["head/Softmax"]},
    ]
    return GraphDef(node=nodes)


def traced(slow: int) -> RunMetadata:
    """A step that waits 100 µs for its input; `slow` is what block 2 takes. A second thread runs small ops."""
    trace = RunMetadata()
    device = trace.step_stats.dev_stats.add(device=DEVICE)
    device.thread_names.update(THREADS)
    now = 1_000_000
    for number, node in enumerate(network().node):
        time = (
            100 if number == 0 else slow if node.name == "encoder/block_2/MatMul" else 40 if node.op == "MatMul" else 12
        )
        entry = device.node_stats.add(node_name=node.name, thread_id=1)
        entry.all_start_micros, entry.all_end_rel_micros, entry.scheduled_micros = now, time, now - 5
        used = entry.memory.add(allocator_name="cpu", total_bytes=1024 * time)
        used.allocation_records.add(alloc_micros=now + 1, alloc_bytes=1024 * time)
        used.allocation_records.add(alloc_micros=now + time + 30, alloc_bytes=-1024 * time)
        now += time + 4
    for number in range(12):
        at = 1_000_120 + 11 * number
        entry = device.node_stats.add(node_name="_small", thread_id=2, all_start_micros=at, all_end_rel_micros=6)
    return trace


def write_slow_step(folder: Path) -> None:
    """A log of the run `run` with the graph and both steps."""
    writer = Writer(folder / "run")
    writer.graph(network())
    for step, slow in ((1, 60), (2, SLOW)):
        event = Event(wall_time=BEGIN + step, step=step)
        event.tagged_run_metadata.tag = f"step{step}"
        event.tagged_run_metadata.run_metadata = traced(slow).SerializeToString()
        writer.raw(record(event.SerializeToString()))
