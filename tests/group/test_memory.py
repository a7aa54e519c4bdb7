"""What an encoder gives is read in every layer of its decoder: it hides no narrow place, and all layers are equal."""

from __future__ import annotations

import random

from graphviz_tb import load
from graphviz_tb.model.hierarchy import Kind
from graphviz_tb.proto import GraphDef

Node = dict[str, object]


def layer(nodes: list[Node], source: str, memory: str | None = None) -> str:
    """source ─▶ MatMul ─▶ [memory ─▶ MatMul ─▶ Softmax ─▶] Mul ─▶ Relu ─▶ Add ◀─ source"""
    first = len(nodes)

    def op(kind: str, *inputs: str) -> str:
        nodes.append({"name": f"op_{len(nodes)}", "op": kind, "input": list(inputs)})
        return f"op_{len(nodes) - 1}"

    work = op("MatMul", source)
    if memory is not None:
        work = op("Mul", work, op("Softmax", op("MatMul", memory)))
    assert len(nodes) > first
    return op("Add", op("Relu", op("Tanh", work)), source)


def coded(encoder: int, decoder: int) -> GraphDef:
    """x ─▶ encoder layers ─▶ memory ═▶ each of the decoder layers ◀─ y; every op a number for a name."""
    nodes: list[Node] = [{"name": "op_0", "op": "Placeholder"}, {"name": "op_1", "op": "Placeholder"}]
    memory, top = "op_0", "op_1"
    for _ in range(encoder):
        memory = layer(nodes, memory)
    for _ in range(decoder):
        top = layer(nodes, top, memory)
    random.Random(1).shuffle(nodes)
    return GraphDef(node=nodes)


def stacks(graph: GraphDef) -> set[int]:
    """How high the stacks of layers are."""
    hierarchy = load(graph).hierarchy
    series = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == Kind.SERIES]
    return {len(hierarchy.children(row)) for row in series}


def test_all_layers_of_encoder_and_decoder_are_counted() -> None:
    assert stacks(coded(7, 9)) == {7, 9}


def test_a_decoder_deeper_than_its_encoder() -> None:
    assert stacks(coded(4, 12)) == {4, 12}
