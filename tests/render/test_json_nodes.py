"""What JSON says of single nodes: an op alone, a group of ops, a call of several functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.errors import RequestError
from graphviz_tb.proto import GraphDef
from tests.each import each
from tests.effort import part


def nodes(graph: GraphDef) -> dict[str, dict[str, Any]]:
    """The entries of a graph by name."""
    return {node["name"]: node for node in graphviz_tb.load(graph).to_json()["nodes"]}


def test_devices_and_op_types_are_counted_for_groups_alone() -> None:
    graph = GraphDef()
    graph.node.add(name="g/x", op="Relu", device="/device:GPU:0")
    graph.node.add(name="g/y", op="Relu", input=["g/x"])
    entries = nodes(graph)
    assert (entries["g"]["devices"], entries["g"]["op_types"]) == ({"/device:GPU:0": 1}, {"Relu": 2})
    assert (entries["g/x"]["devices"], entries["g/x"]["op_types"]) == ({}, {})
    assert (entries["g/x"]["device"], entries["g"]["device"]) == ("/device:GPU:0", "")


def test_a_call_names_its_first_function_and_all_of_them() -> None:
    graph = GraphDef()
    call = graph.node.add(name="if", op="If")
    for attr in ("then_branch", "else_branch"):
        call.attr[attr].func.name = attr.partition("_")[0]
        function = graph.library.function.add()
        function.signature.name = attr.partition("_")[0]
        function.node_def.add(name="x", op="NoOp")
    entries = nodes(graph)
    assert entries["if"]["functions"] == {
        "else_branch": entries["else"]["id"],
        "then_branch": entries["then"]["id"],
    }
    assert entries["if"]["function"] == entries["else"]["id"]
    assert [entries[name]["function_name"] for name in ("then", "else")] == ["then", "else"]


def test_the_first_node_of_a_file_has_its_device_and_its_type() -> None:
    graph = GraphDef()
    graph.node.add(name="x", op="Relu", device="/device:GPU:0")
    graph.node.add(name="y", op="Exp")
    entries = nodes(graph)
    assert (entries["x"]["device"], entries["x"]["op"]) == ("/device:GPU:0", "Relu")
    assert (entries["y"]["device"], entries["y"]["op"]) == ("", "Exp")


def test_every_layer_of_a_keras_file_is_told_with_its_shapes() -> None:
    container = Path(__file__).parents[2] / "fixtures" / "containers" / "keras3_functional.json"
    model = graphviz_tb.load(container)
    told = {node["name"]: node["layer"] for node in model.to_json()["nodes"] if "layer" in node}
    layers = model.hierarchy.graph.layers
    assert set(told) == {name for name in model.hierarchy.name if name in layers} != set()
    for name, layer in told.items():
        assert layer["outputs"] == [None if shape is None else list(shape) for shape in layers[name].outputs]
        assert layer["class"] == layers[name].class_name


def test_types_and_devices_that_make_gigabytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GraphDef()
    for number in range(2):
        graph.node.add(name=f"{'a/' * 300}x{number}", op="R" * 10_000, device="d" * 10_000)
    model = graphviz_tb.load(graph)
    model.save(tmp_path / "a.json")
    assert 6_000_000 < (tmp_path / "a.json").stat().st_size < 7_000_000
    monkeypatch.setattr("graphviz_tb.render.json.MAX_JSON_BYTES", 3_000_000)
    with pytest.raises(RequestError, match=r"(?m)^the JSON of this graph would be larger than 3 MB$"):
        model.save(tmp_path / "b.json")
    assert not (tmp_path / "b.json").exists()


def test_shapes_of_lines_that_make_gigabytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GraphDef()
    for number in range(20):
        node = graph.node.add(name=f"x{number}", op="Placeholder")
        node.attr["dtype"].type = 1
        for _ in range(200):
            node.attr["shape"].shape.dim.add(size=10**17)
    sources = [node.name for node in graph.node]
    for number in range(100):
        graph.node.add(name=f"y{number}", op=f"Op{number}", input=sources)
    model = graphviz_tb.load(graph, extract=False, folds=False)
    model.save(tmp_path / "a.json")
    assert 6_000_000 < (tmp_path / "a.json").stat().st_size < 9_000_000
    monkeypatch.setattr("graphviz_tb.render.json.MAX_JSON_BYTES", 3_000_000)
    with pytest.raises(RequestError, match=r"(?m)^the JSON of this graph would be larger than 3 MB$"):
        model.save(tmp_path / "b.json")
    assert not (tmp_path / "b.json").exists()


@each(
    "name",
    part(["real/func_library_v2.pb", "real/lstm_dynamic_rnn.pb", "shapes/DenseNet121.pb.gz", "real/while_v1.pb"], 3),
)
def test_what_is_encoded_once_for_equal_nodes_and_lines_is_what_each_of_them_has(name: str) -> None:
    model = graphviz_tb.load(Path(__file__).parents[2] / "fixtures" / name)
    assert json.loads(model.json_bytes()) == model.to_json()
