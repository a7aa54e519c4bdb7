"""What groups are called whose names say nothing."""

from __future__ import annotations

import graphviz_tb
from graphviz_tb.model.hierarchy import Kind
from graphviz_tb.proto import GraphDef


def blocks(exit_name: str) -> GraphDef:
    """Six equal blocks with Keras's own names: normalisation, two products, and an op called `exit_name` at the end."""
    graph = GraphDef()
    graph.node.add(name="in", op="Placeholder")
    before = "in"
    for at in range(6):
        number = f"_{at}" if at else ""
        for name, op, inputs in (
            (f"layer_normalization{number}", "Rsqrt", [before]),
            (f"dense{number}", "MatMul", [f"layer_normalization{number}"]),
            (f"dense{number}_b", "MatMul", [f"dense{number}"]),
            (exit_name.format(at), "AddV2", [before, f"dense{number}_b"]),
        ):
            graph.node.add(name=name, op=op).input.extend(inputs)
        before = exit_name.format(at)
    graph.node.add(name="out", op="Softmax").input.append(before)
    return graph


def stacks(graph: GraphDef) -> list[str]:
    """The names of the stacks of a graph, without scopes around them."""
    hierarchy = graphviz_tb.load(graph).hierarchy
    return [hierarchy.leaf(row) for row in range(len(hierarchy)) if hierarchy.kind[row] == Kind.SERIES]


def test_a_block_that_ends_in_a_given_name_says_what_it_holds() -> None:
    assert stacks(blocks("add_{}")) == ["2 MatMul · Rsqrt"]


def test_a_block_that_ends_in_a_name_of_its_own_is_known_by_it() -> None:
    assert stacks(blocks("mixed{}")) == ["…mixed[0-5]"]


def test_blocks_whose_ops_have_no_type_are_called_by_their_end() -> None:
    graph = blocks("add_{}")
    for node in graph.node:
        node.op = ""
    assert "…add_[0-5]" in stacks(graph)
