"""Small graphs and traces for tests of statistics."""

from __future__ import annotations

from typing import Any

from graphviz_tb.fold import fold_graph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.proto import GraphDef, RunMetadata
from tests.flat import flatten

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU = "/job:localhost/replica:0/task:0/device:GPU:0"


def graph_of(*names: str, **ops: str) -> Hierarchy:
    """Nodes without edges; `ops` gives op types by name, `NoOp` without."""
    return fold_graph(flatten(GraphDef(node=[{"name": name, "op": ops.get(name, "NoOp")} for name in names])))


def entry(name: str, start: int, time: int, *bytes_: int, shapes: list[list[int]] | None = None) -> dict[str, Any]:
    """One execution; `bytes_` are its allocations."""
    outputs = [{"tensor_description": {"shape": {"dim": [{"size": size} for size in shape]}}} for shape in shapes or []]
    return {
        "node_name": name,
        "all_start_micros": start,
        "all_end_rel_micros": time,
        "memory": [{"total_bytes": count} for count in bytes_],
        "output": outputs,
    }


def trace(**devices: list[dict[str, Any]]) -> RunMetadata:
    """A trace of the CPU alone (`cpu=[...]`)."""
    return trace_of({CPU: devices["cpu"]})


def trace_of(devices: dict[str, list[dict[str, Any]]]) -> RunMetadata:
    """A trace of any devices."""
    return RunMetadata(
        step_stats={"dev_stats": [{"device": name, "node_stats": found} for name, found in devices.items()]}
    )


def row(hierarchy: Hierarchy, name: str) -> int:
    """The first row of that name."""
    return hierarchy.name.index(name)
