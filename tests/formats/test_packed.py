"""Binary graphs whose messages are not made: the same columns, the same nodes, the same errors."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import graphviz_tb
from graphviz_tb.annotate.shapes import DefinitionNumbers
from graphviz_tb.errors import MalformedProto
from graphviz_tb.flatten import flatten
from graphviz_tb.formats.packed_graph import PackedGraph, PackedNodes, _node_end_offsets, _pack_graph, decode_graph
from graphviz_tb.model.graph import Graph
from graphviz_tb.proto import GraphDef, NodeDef
from graphviz_tb.read.source import read_source
from tests.each import each

FIXTURES = Path(__file__).parents[2] / "fixtures"
GRAPHS = sorted((FIXTURES / "rules").glob("*.pbtxt"))
NODE = GraphDef(node=[NodeDef(name="x", op="Relu")]).SerializeToString()
REST = GraphDef(versions={"producer": 9}).SerializeToString()
WITH_FUNCTION = GraphDef(library={"function": [{"signature": {"name": "f"}}]}).SerializeToString()
BARRIER = GraphDef(node=[NodeDef(name="NoOp", op="NoOp")]).SerializeToString()


def columns(graph: Graph) -> dict[str, object]:
    """All that a graph says, but its messages."""
    given = {field.name: getattr(graph, field.name) for field in fields(graph) if field.name != "graph_def"}
    return {name: each.tolist() if isinstance(each, np.ndarray) else str(each) for name, each in given.items()}


@each("path", GRAPHS, ids=lambda path: path.stem)
def test_a_packed_graph_has_the_columns_of_its_message(path: Path) -> None:
    message = graphviz_tb.load(path, whole_file=True).loaded.graph_def
    stops = _node_end_offsets(data := message.SerializeToString())
    nodes = PackedNodes(data, stops)
    rest = GraphDef.FromString(data[stops[-1] :] if stops else data)
    if rest.library.function or not stops:
        assert _pack_graph(data) is None
        return
    packed = PackedGraph(nodes, rest)
    assert columns(flatten(packed)) == columns(flatten(message))
    assert list(packed.node) == list(message.node) == packed.node[:]
    assert packed.whole_message() == message


@each("path", GRAPHS, ids=lambda path: path.stem)
def test_equal_definitions_are_equal_in_bytes(path: Path) -> None:
    message = graphviz_tb.load(path, whole_file=True).loaded.graph_def
    nodes = message.node
    if not nodes:
        return
    packed = PackedGraph(PackedNodes(data := message.SerializeToString(), stops := _node_end_offsets(data)), GraphDef())
    assert len(stops) == len(nodes)
    numbers = [DefinitionNumbers(flatten(graph)) for graph in (GraphDef(node=nodes), packed)]
    ends = [[each.number_of(node) for node in range(len(nodes))] for each in numbers]
    one, other = ([all_of.index(number) for number in all_of] for all_of in ends)
    assert one == other


@each("extra", [b"", b"\xfa\x7f\x04\xff\xff\xff\xff", b"\x40\x01"], ids=["attributes", "a long tag", "a number"])
def test_definitions_are_equal_whatever_the_order_of_attributes(extra: bytes) -> None:
    attrs = [NodeDef(attr={key: {"i": 1}}).SerializeToString() for key in "ab"]
    named = [NodeDef(name=name, op="Relu", device=f"/cpu:{name}").SerializeToString() for name in "xy"]
    bodies = [named[0] + attrs[0] + attrs[1] + extra, named[1] + attrs[1] + attrs[0] + extra]
    graph = decode_graph(b"".join(b"\n" + bytes([len(body)]) + body for body in bodies), "x.pb")
    numbers = DefinitionNumbers(flatten(graph))
    assert numbers.number_of(0) == numbers.number_of(1)


@each("key", [b"\n\x06_class", b"\n\x06_class\x12\x00"], ids=["a key", "a key and a value"])
def test_an_attribute_that_names_another_key_behind_that_of_the_colocation_is_the_other(key: bytes) -> None:
    ops = [NodeDef(name=name, op="MatMul").SerializeToString() for name in "xy"]
    values = [NodeDef(attr={"t": {"b": given}}).SerializeToString()[2:] for given in (False, True)]
    bodies = [op + b"*" + bytes([len(key + value)]) + key + value for op, value in zip(ops, values, strict=True)]
    graph = decode_graph(b"".join(b"\n" + bytes([len(body)]) + body for body in bodies), "x.pb")
    numbers = DefinitionNumbers(flatten(graph))
    assert numbers.number_of(0) != numbers.number_of(1)


@each("behind", [b"", b"\x12\x04Relu"], ids=["nothing", "a field"])
def test_a_colocation_without_a_value_ends_where_it_ends(behind: bytes) -> None:
    body = NodeDef(name="x", op="Neg").SerializeToString() + b"*\x08\n\x06_class" + behind
    graph = decode_graph(b"\n" + bytes([len(body)]) + body, "x.pb")
    assert DefinitionNumbers(flatten(graph)).number_of(0) == 0


def test_nodes_are_found_from_either_end() -> None:
    data = GraphDef(node=[NodeDef(name=name) for name in "abc"]).SerializeToString()
    nodes = PackedNodes(data, _node_end_offsets(data))
    assert [nodes[at].name for at in (0, 2, -1, -3)] == ["a", "c", "c", "a"]
    assert [node.name for node in nodes[1:]] == ["b", "c"]
    for beyond in (3, -4):
        with pytest.raises(IndexError):
            nodes[beyond]


def test_a_message_is_not_made_where_nothing_is_changed() -> None:
    loaded = read_source(NODE + REST)
    assert isinstance(loaded.graph, PackedGraph)
    assert loaded.graph_def == GraphDef.FromString(NODE + REST)


@each("data", [REST, REST + NODE, NODE + REST + NODE, NODE + WITH_FUNCTION, NODE + BARRIER, b""])
def test_other_graphs_are_decoded_whole(data: bytes) -> None:
    assert decode_graph(data, "x.pb") == GraphDef.FromString(data)


@each("data", [NODE[:-1], NODE + b"\n", NODE + b"\n\xff\xff\xff\xff\xff\xff", NODE + b"\n\x03\n\x01\xff", NODE + b"\0"])
def test_damage_is_told_as_for_any_message(data: bytes) -> None:
    with pytest.raises(MalformedProto, match="GraphDef"):
        decode_graph(data, "x.pb")


def test_a_length_without_end_is_no_length() -> None:
    assert not _node_end_offsets(NODE + b"\n" + b"\xff" * 400_000)


def test_graphs_of_large_constants_are_decoded_whole() -> None:
    node = {"name": "x", "op": "Const", "attr": {"value": {"tensor": {"tensor_content": bytes(9000)}}}}
    assert _pack_graph(GraphDef(node=[node]).SerializeToString()) is None


def test_the_whole_message_is_made_once_and_has_the_nodes() -> None:
    graph = decode_graph(data := NODE * 9 + REST, "x.pb")
    assert isinstance(graph, PackedGraph)
    assert graph.node[3] == NodeDef(name="x", op="Relu")
    message = graph.whole_message()
    assert graph.whole_message() is message
    assert message == GraphDef.FromString(data)
    message.node[3].op = "Elu"
    assert [node.op for node in graph.node][2:5] == ["Relu", "Elu", "Relu"]
    assert graph.node[-6].op == "Elu"


def test_equal_files_are_equal() -> None:
    first, second = read_source(NODE + REST), read_source(NODE + REST)
    assert first == second
    assert first != read_source(NODE + NODE + REST)
    assert first.graph_def == second.graph_def
    assert first == second


def test_a_packed_model_can_be_pickled() -> None:
    model = graphviz_tb.load(NODE + REST)
    assert pickle.loads(pickle.dumps(model)).render() == model.render()
    assert len(pickle.dumps(model.loaded.graph)) < len(NODE + REST) + 200


def test_threads_make_one_message_whole() -> None:
    for _ in range(20):
        graph = decode_graph(NODE * 400 + REST, "x.pb")
        with ThreadPoolExecutor(8) as pool:
            assert {node.name for node in pool.map(graph.node.__getitem__, range(400))} == {"x"}
        assert len(graph.node[:]) == len(list(graph.node)) == 400


def test_nodes_that_are_encoded_on_demand_are_those_of_their_bytes() -> None:
    graph = read_source(FIXTURES / "onnx" / "quantised.onnx").graph
    assert isinstance(graph, PackedGraph)
    packed = PackedNodes(graph.node.data, _node_end_offsets(graph.node.data))
    assert len(packed) == len(graph.node) > 2
    assert list(graph.node) == list(packed) == list(graph.whole_message().node)
    for at in range(len(packed)):
        assert graph.node.definition(at) == packed.definition(at)
        assert graph.node.attributes(at) == packed.attributes(at)


@each("name", ["exported/vit.pt2", "onnx/quantised.onnx"])
def test_nodes_decoded_together_are_those_decoded_alone(name: str) -> None:
    together, alone = read_source(FIXTURES / name).graph.node, read_source(FIXTURES / name).graph.node
    together.decode_together([3, 1, 2, 1])
    assert [together[at] for at in range(5)] == [alone[at] for at in range(5)]


def test_of_an_exported_program_weights_are_decoded_and_few_other_nodes() -> None:
    graph = graphviz_tb.load(FIXTURES / "exported" / "vit.pt2").hierarchy.graph
    weights = [at for at, op in enumerate(graph.op_types[number] for number in graph.op) if op == "Parameter"]
    nodes = graph.graph_def.node
    assert nodes._message is None
    assert len(weights) <= len(nodes._kept) <= len(weights) + 5
    assert set(weights) <= nodes._kept.keys()


@each("name", ["real/cifar10_shapes.pb", "onnx/quantised.onnx"])
def test_nodes_with_an_attribute_are_those_of_the_message(name: str) -> None:
    graph = flatten(read_source(FIXTURES / name).graph)
    messages = [graph.node_def(node) for node in range(len(graph))]
    for key in ("shape", "dtype", "T", "nothing"):
        has = [node for node, held in enumerate(messages) if held is not None and key in held.attr]
        assert graph.nodes_having(key, range(len(graph))) == has
