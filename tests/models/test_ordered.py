"""What TensorFlow writes in the order of a hash table is read in one of its own."""

from __future__ import annotations

from itertools import permutations

from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef
from graphviz_tb.read.source import read_source


def function(name: str, calls: str = "") -> FunctionDef:
    made = FunctionDef(node_def=[NodeDef(name="work", op="Relu")])
    made.signature.name = name
    if calls:
        made.node_def.add(name="call", op="PartitionedCall").attr["f"].func.name = calls
    return made


def test_functions_come_in_the_order_of_their_calls() -> None:
    # x ─▶ call of f, which calls g ─▶ loop of c and b; nothing calls a_9 and a_10
    graph = GraphDef(node=[NodeDef(name="x", op="Placeholder"), NodeDef(name="y", op="PartitionedCall", input=["x"])])
    graph.node[1].attr["f"].func.name = "f"
    loop = graph.node.add(name="z", op="While", input=["y", "x"])
    loop.attr["cond"].func.name, loop.attr["body"].func.name = "c", "b"
    functions = [function("f", "g"), *map(function, ("g", "b", "c", "a_9", "a_10"))]
    for order in list(permutations(functions))[::97]:
        del graph.library.function[:]
        graph.library.function.extend(order)
        asked = [each.signature.name for each in read_source(graph).graph_def.library.function]
        assert asked == ["f", "g", "b", "c", "a_9", "a_10"]
        as_it_is = read_source(graph, ReadOptions(whole_file=True)).graph_def.library.function
        assert [each.signature.name for each in as_it_is] == [each.signature.name for each in order]


SOURCES = [
    NodeDef(name="x", op="Placeholder"),
    NodeDef(name="net/a/ReadVariableOp/resource", op="Const"),
    NodeDef(name="net/b/ReadVariableOp/resource", op="Const"),
]
OPS = [
    NodeDef(name="net/a/MatMul", op="MatMul", input=["x", "net/a/ReadVariableOp/resource"]),
    NodeDef(name="net/b/MatMul", op="MatMul", input=["net/a/MatMul", "net/b/ReadVariableOp/resource"]),
    NodeDef(name="Identity", op="Identity", input=["net/b/MatMul", "^net/a/MatMul"]),
]


def names(*nodes: NodeDef) -> list[str]:
    return [each.name for each in read_source(GraphDef(node=nodes)).graph_def.node]


def test_frozen_nodes_come_in_the_order_of_demand() -> None:
    wanted = [SOURCES[0], SOURCES[1], OPS[0], SOURCES[2], OPS[1], OPS[2]]
    for order in permutations(SOURCES):
        assert names(*order, *OPS) == [each.name for each in wanted]


def test_other_files_keep_their_order() -> None:
    made = [SOURCES[0], SOURCES[2], SOURCES[1], OPS[0], NodeDef(name="net/more", op="Const"), *OPS[1:]]
    assert names(*made) == [each.name for each in made]
