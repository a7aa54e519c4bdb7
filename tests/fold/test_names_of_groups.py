"""What groups are called whose names say nothing."""

from __future__ import annotations

import tracemalloc

import pytest

import graphviz_tb
from graphviz_tb.fold.flow.names import Vocabulary
from graphviz_tb.model.hierarchy import GroupOrigin, RowKind
from graphviz_tb.model.paths import repetition_count, usual_member
from graphviz_tb.proto import GraphDef
from graphviz_tb.words.view import NodeLabels
from tests.each import each


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
    return [hierarchy.display_label(row) for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES]


def test_a_block_that_ends_in_a_given_name_says_what_it_holds() -> None:
    assert stacks(blocks("add_{}")) == ["2 MatMul · Rsqrt"]


def test_a_block_that_ends_in_a_name_of_its_own_is_known_by_it() -> None:
    assert stacks(blocks("mixed{}")) == ["mixed[0-5]"]


def test_blocks_whose_ops_have_no_type_are_called_by_their_end() -> None:
    graph = blocks("add_{}")
    for node in graph.node:
        node.op = ""
    assert "add_[0-5]" in stacks(graph)


def test_a_stage_of_layers_that_were_given_a_word_and_a_number_is_a_range_of_them() -> None:
    # Five layers alike and one of another kind, twice; `layer` is a word of types, too, but no type ends in it.
    graph = GraphDef()
    graph.node.add(name="in", op="Placeholder")
    top = "in"
    for at in range(12):
        for op in ("MatMul", "BiasAdd", "Softmax" if at % 6 == 5 else "Relu", "Mul"):
            top = graph.node.add(name=f"net_layer_{at}_{op.lower()}", op=op, input=[top]).name
    hierarchy = graphviz_tb.load(graph).hierarchy
    stages = [hierarchy.display_label(row) for row in range(len(hierarchy)) if hierarchy.how[row] == GroupOrigin.STAGE]
    assert stages == ["net_layer_[0-5]", "net_layer_[6-11]"]


def row_of_blocks(*layers: str) -> GraphDef:
    """Eight equal blocks in a row: `layers` are the names of their layers, with `{}` for the number of the block."""
    graph = GraphDef()
    graph.node.add(name="image", op="Placeholder")
    before = "image"
    for at in range(1, 9):
        entry = before
        for place, layer in enumerate(layers):
            scope = layer.format(at)
            ends = "AddV2" if place == len(layers) - 1 else "Relu"
            graph.node.add(name=f"{scope}/work", op=("Conv2D", "MatMul", "Mean")[place % 3]).input.append(before)
            graph.node.add(name=f"{scope}/out", op=ends).input.extend([f"{scope}/work", *[entry] * (ends == "AddV2")])
            before = f"{scope}/out"
    graph.node.add(name="scores", op="Softmax").input.append(before)
    return graph


@each(
    ("layers", "name"),
    [
        (("block35_{}_conv", "block35_{}_mixed", "block35_{}_ac"), "block35_[1-8]"),
        (("conv_dw_{}", "conv_pw_{}"), "conv_dw_[1-8] · conv_pw_[1-8]"),
        (
            ("net_stage0_block_{}_depthwise", "net_stage0_block_{}_norm", "net_stage0_block_{}_scale"),
            "net_stage0_block_[1-8]",
        ),
    ],
)
def test_a_block_is_called_by_the_words_of_its_layers(layers: tuple[str, ...], name: str) -> None:
    assert stacks(row_of_blocks(*layers)) == [name]


def tower(layers: int) -> GraphDef:
    """x ─▶ h0 ─▶ h1 ─▶ …: layers of three ops, each in a scope of its own."""
    graph = GraphDef()
    graph.node.add(name="x", op="Placeholder")
    before = "x"
    for at in range(layers):
        for op in ("MatMul", "Tanh", "Relu"):
            graph.node.add(name=f"h{at}/{op}", op=op).input.append(before)
            before = f"h{at}/{op}"
    return graph


def test_a_stack_of_groups_has_all_its_members_however_many_and_shows_a_whole_one() -> None:
    model = graphviz_tb.load(tower(96))
    hierarchy = model.hierarchy
    (stack,) = (row for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES)
    members = hierarchy.children(stack).tolist()
    assert len(members) == repetition_count(hierarchy, stack) == 96
    assert hierarchy.display_label(stack) == "h[0-95]"
    assert NodeLabels(hierarchy, lambda path: None).node_label((stack,)).badge == "×96"
    assert 96 * hierarchy.op_count(usual_member(hierarchy, stack)) == hierarchy.op_count(stack)


def test_a_stack_that_is_not_cut_counts_its_members() -> None:
    hierarchy = graphviz_tb.load(tower(12)).hierarchy
    (stack,) = (row for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES)
    assert repetition_count(hierarchy, stack) == len(hierarchy.children(stack)) == 12


def test_a_scope_that_is_most_of_a_block_gives_it_its_name() -> None:
    # x ─▶ pupil (4 ops) ─▶ Softmax ─▶ + ─▶ …, each + with a shortcut
    graph = GraphDef()
    graph.node.add(name="in", op="Placeholder")
    before = "in"
    for at in range(6):
        x, number = before, f"_{at}" if at else ""
        for op in ("Tanh", "Floor", "Neg", "Exp"):
            graph.node.add(name=f"pupil{number}/{op}", op=op, input=[x])
            x = f"pupil{number}/{op}"
        graph.node.add(name=f"Softmax{number}", op="Softmax", input=[x])
        graph.node.add(name=f"add{number}", op="AddV2", input=[before, f"Softmax{number}"])
        before = f"add{number}"
    assert "pupil · Softmax" in stacks(graph)


@pytest.mark.slow
def test_names_of_thousands_of_words() -> None:
    """All beginnings of a name of 20,000 words have 200 million words."""
    nodes: list[dict[str, object]] = []
    for number in range(60):
        inputs = [nodes[-1]["name"]] if nodes else []
        nodes.append({"name": f"{'word_' * 20_000}{number}x", "op": "ABC"[number % 3], "input": inputs})
    tracemalloc.start()
    vocabulary = Vocabulary([str(node["name"]) for node in nodes])
    assert len(vocabulary.model_words) < 60
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
    assert graphviz_tb.load(GraphDef(node=nodes)).picture().scene.boxes
