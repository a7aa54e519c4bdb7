"""Keras writes a recurrent layer as a function for the CPU, which is called, and others that may take its place."""

from __future__ import annotations

from graphviz_tb import load
from graphviz_tb.proto import GraphDef


def function(name: str, implements: str = "") -> dict[str, object]:
    attr = {"api_implements": {"s": implements.encode()}} if implements else {}
    return {"signature": {"name": name}, "attr": attr, "node_def": [{"name": "x", "op": "Relu"}]}


def graph(*functions: dict[str, object]) -> GraphDef:
    call = {"name": "lstm", "op": "PartitionedCall", "attr": {"f": {"func": {"name": "standard"}}}}
    return GraphDef(node=[call, {"name": "y", "op": "Abs", "input": ["lstm"]}], library={"function": functions})


def listed(made: GraphDef) -> set[str]:
    scene = load(made).picture().scene
    return {box.address for box in scene.boxes if box.area == "functions"}


def test_other_forms_of_what_is_called_are_not_listed() -> None:
    gpu, backward = function("gpu", "lstm_1"), function("backward", "lstm_1")
    assert listed(graph(function("standard", "lstm_1"), gpu, backward, function("alone"))) == {"alone"}


def test_forms_of_what_nobody_calls_are_listed() -> None:
    assert listed(graph(function("standard"), function("one", "gru_2"), function("two", "gru_2"))) == {"one", "two"}


def test_they_can_be_found_and_opened() -> None:
    model = load(graph(function("standard", "lstm_1"), function("gpu", "lstm_1")))
    scene = model.picture(open=("gpu",)).scene
    assert "gpu" in {box.address for box in scene.boxes if box.area == "functions"}
