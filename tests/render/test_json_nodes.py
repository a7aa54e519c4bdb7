"""What JSON says of single nodes: an op alone, a group of ops, a call of several functions."""

from __future__ import annotations

from typing import Any

import graphviz_tb
from graphviz_tb.proto import GraphDef


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
