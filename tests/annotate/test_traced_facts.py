"""What a traced step recorded is known: the device of each op, and the shapes that the graph leaves open."""

from __future__ import annotations

from pathlib import Path

from graphviz_tb import load
from graphviz_tb.proto import GraphDef, RunMetadata

FLOAT = {"type": 1}
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def test_a_trace_says_device_and_shape_where_the_graph_says_nothing(tmp_path: Path) -> None:
    # x [?, 3] ─▶ y, which ran on a CPU with 50 rows; z names its device itself
    open_shape = {"shape": {"dim": [{"size": -1}, {"size": 3}]}}
    graph = GraphDef(
        node=[
            {"name": "x", "op": "Placeholder", "attr": {"dtype": FLOAT, "shape": open_shape}},
            {"name": "y", "op": "Relu", "input": ["x"], "attr": {"T": FLOAT}},
            {"name": "z", "op": "Relu", "input": ["y"], "attr": {"T": FLOAT}, "device": "/gpu:0"},
        ]
    )
    output = {"tensor_description": {"dtype": 1, "shape": {"dim": [{"size": 50}, {"size": 3}]}}}
    ran = [{"node_name": name, "all_end_rel_micros": 3, "output": [output]} for name in ("y", "z")]
    trace = RunMetadata(step_stats={"dev_stats": [{"device": CPU, "node_stats": ran}]})
    path = tmp_path / "step.pb"
    path.write_bytes(trace.SerializeToString())
    model = load(graph, run_metadata=path)
    named = {model.hierarchy.graph.name[node]: node for node in range(3)}
    graph_of = model.hierarchy.graph
    devices = {name: graph_of.devices[graph_of.device[node]] for name, node in named.items()}
    assert devices == {"x": "", "y": CPU, "z": "/gpu:0"}
    assert model.facts.decode(named["y"])("0").shape == (50, 3)
