"""Opening calls costs what is written in the end: not the graph around them each time, nor a long name for each use."""

from __future__ import annotations

import pytest

from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import FunctionDef, GraphDef, RunMetadata, SavedModel
from graphviz_tb.read.source import read_source
from graphviz_tb.unwrap import signatures as body
from graphviz_tb.unwrap.traced_graphs import unwrap_calls
from tests.timing import seconds


def function(graph: GraphDef, name: str, *arguments: str, result: str = "c:o:0") -> FunctionDef:
    made = graph.library.function.add(ret={"y": result})
    made.signature.name = name
    made.signature.output_arg.add(name="y")
    for argument in arguments:
        made.signature.input_arg.add(name=argument, type=20)
    return made


def call(nodes: GraphDef | FunctionDef, name: str, function: str, *inputs: str) -> None:
    where = nodes.node if isinstance(nodes, GraphDef) else nodes.node_def
    where.add(name=name, op="PartitionedCall", input=inputs).attr["f"].func.name = function


def chain(graph: GraphDef, count: int) -> None:
    """f0 calls f1, that f2 …; the last is a Relu."""
    for number in range(count):
        inner = function(graph, f"f{number}")
        if number + 1 < count:
            call(inner, "c", f"f{number + 1}")
        else:
            inner.node_def.add(name="c", op="Relu")


def saved(graph: GraphDef, *signatures: str, **inputs: str) -> SavedModel:
    made = SavedModel()
    meta = made.meta_graphs.add(graph_def=graph)
    for signature in signatures:
        meta.signature_def[signature].outputs["y"].name = "out:0"
    return made


def letters(graph: GraphDef) -> int:
    return sum(len(text) for node in graph.node for text in node.input)


@pytest.mark.slow
@pytest.mark.parametrize("signatures", [1, 20])
def test_a_chain_of_calls_beside_thousands_of_nodes(signatures: int) -> None:
    count = 20_000 // signatures
    graph = GraphDef()
    for number in range(count):
        graph.node.add(name=f"k{number}", op="NoOp", input=[f"^k{number - 1}"] if number else [])
    call(graph, "call", "f0")
    graph.node.add(name="out", op="ReadVariableOp", input=["call", f"^k{count - 1}"])
    chain(graph, 90)
    with seconds(4):
        found = read_source(saved(graph, *map(str, range(signatures))).SerializeToString()).graph_def
    assert [node.op for node in found.node][-3:] == ["ReadVariableOp", "Relu", "Identity"]


def test_signatures_are_compared_as_far_as_that_takes_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GraphDef(node=[{"name": "x", "op": "Relu"}, {"name": "out", "op": "Relu", "input": ["x"]}])
    made = saved(graph, "a", "b")
    made.meta_graphs[0].signature_def["a"].outputs["y"].name = "x:0"
    assert read_source(made.SerializeToString()).signature == "b"  # x and out
    monkeypatch.setattr(body, "FREE_WALKED_NODES", 0)
    monkeypatch.setattr(body, "NODES_WALKED_FACTOR", 0)
    assert read_source(made.SerializeToString()).signature == "a"


@pytest.mark.slow
def test_a_chain_of_calls_in_a_trace() -> None:
    graph = GraphDef()
    for number in range(10_000):
        graph.node.add(name=f"k{number}", op="Const")
    call(graph, "call", "f0")
    chain(graph, 90)
    with seconds(3):
        found = unwrap_calls(graph)
    assert [node.op for node in found.node][-2:] == ["Const", "Relu"]


def argument_of_many(name: str, key: str, uses: int) -> SavedModel:
    graph = GraphDef()
    graph.node.add(name=name, op="Placeholder")
    call(graph, "out", "f", name)
    inner = function(graph, "f", "x", result="n0:o:0")
    for number in range(uses):
        inner.node_def.add(name=f"n{number}", op="Foo", input=["x", f"n{number + 1}:o:0"])
    made = saved(graph, "s")
    made.meta_graphs[0].signature_def["s"].inputs[key].name = f"{name}:0"
    return made


@pytest.mark.parametrize(("name", "key"), [(100, 100), (100_000, 1), (1, 100_000)])
def test_an_argument_of_a_long_name_that_many_use(name: int, key: int) -> None:
    found = read_source(argument_of_many("n" * name, "k" * key, 1000).SerializeToString()).graph_def
    assert ("y" in {node.name for node in found.node}) == (name == key)  # else no name of the signature is written
    assert letters(found) < 1_000_000


def test_outputs_that_are_all_one_result_of_a_long_name() -> None:
    graph = GraphDef()
    call(graph, "out", "f")
    function(graph, "f", result=f"{'c' * 100_000}:o:0").node_def.add(name="c" * 100_000, op="Relu")
    made = saved(graph, "s")
    for number in range(1000):
        made.meta_graphs[0].signature_def["s"].outputs[f"o{number}"].name = "out:0"
    assert letters(read_source(made.SerializeToString()).graph_def) < 1_000_000


def test_a_variable_of_a_long_name_that_thousands_of_handles_have() -> None:
    graph = GraphDef()
    handles = [f"h{number}" for number in range(1000)]
    for handle in handles:
        graph.node.add(name=handle, op="VarHandleOp")
    call(graph, "out", "f", *handles)
    function(graph, "f", *handles).node_def.add(name="c", op="Relu", input=handles)
    made = saved(graph, "s")
    made.meta_graphs[0].object_graph_def.MergeFromString(captured("f", "w" * 100_000, 1000))
    assert read_source(made.SerializeToString()).graph_def.ByteSize() < 1_000_000


def field(number: int, value: bytes) -> bytes:
    size, length = len(value), b""
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + value


def captured(function: str, variable: str, times: int) -> bytes:
    """An object graph: object 0 is a variable, which a function captures so many times."""
    bound = field(1, function.encode()) + field(2, field(2, bytes(times)))
    return field(1, field(7, field(6, variable.encode()))) + field(2, bound)


@pytest.mark.parametrize(("size", "opened"), [(10, True), (100_000, False)])
def test_a_result_of_a_long_name_in_a_trace(size: int, opened: bool) -> None:
    graph = GraphDef()
    call(graph, "call", "f")
    for number in range(100):
        graph.node.add(name=f"k{number}", op="Identity", input=["call"] * 50)
    function(graph, "f", result=f"{'c' * size}:o:0").node_def.add(name="c" * size, op="Relu")
    found = read_source(RunMetadata(partition_graphs=[graph]).SerializeToString()).graph_def
    assert any(node.op == "Relu" for node in found.node) == opened
    assert letters(found) < 1_000_000


def test_the_graphs_of_a_trace_together() -> None:
    graph = GraphDef()
    graph.node.add(name="n" * 10_000, op="_Arg")
    call(graph, "call", "f", "n" * 10_000)
    inner = function(graph, "f", "x", result="n0:o:0")
    for number in range(1000):
        inner.node_def.add(name=f"n{number}", op="Foo", input=["x"])
    found = read_source(RunMetadata(partition_graphs=[graph] * 10).SerializeToString()).graph_def
    assert sum(node.op == "PartitionedCall" for node in found.node) == 8  # of ten million letters each
    assert letters(found) < 25_000_000


def test_a_node_that_no_result_needs_frees_its_name() -> None:
    # x ─▶ call of f, which does not use it and has an x of its own
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
    call(graph, "out", "f", "x")
    call(function(graph, "f", "a"), "c", "g", "a")
    function(graph, "g", "a", result="x:o:0").node_def.add(name="x", op="Relu")
    found = read_source(saved(graph, "s").SerializeToString(), ReadOptions(signature="s")).graph_def
    assert [node.name for node in found.node] == ["x_1", "y"]  # taken until g is open


def test_effects_in_the_order_of_their_names() -> None:
    graph = GraphDef()
    call(graph, "call", "f")
    graph.node.add(name="out", op="ReadVariableOp", input=["call", "^call"])
    inner = function(graph, "f")
    for name in ("c", "e", "b", "d", "a"):
        inner.node_def.add(name=name, op="Print")
        inner.control_ret[name] = name
    found = read_source(saved(graph, "s").SerializeToString()).graph_def
    assert next(list(node.input) for node in found.node if node.name == "out")[1:] == ["^a", "^b", "^c", "^d", "^e"]
