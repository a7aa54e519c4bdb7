"""The first block of a stage has no shortcut, but holds what the others do: it is one box, and counts with them."""

from __future__ import annotations

from graphviz_tb import load
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy, RowKind
from graphviz_tb.proto import GraphDef
from tests.fold.nameless import CHAIN, Network


def network(*stages: int, head: tuple[str, ...] = CHAIN) -> Hierarchy:
    """A stem, stages of so many blocks, and a classifier."""
    made = Network()
    top = made.chain(made.op("Placeholder"), ("Conv2D", "Tanh", "MaxPool"))
    for blocks in stages:
        top = made.stage(top, blocks, head)
    made.chain(top, ("Mean", "MatMul", "Softmax"))
    return made.hierarchy()


def counts(hierarchy: Hierarchy) -> list[int]:
    """How many blocks each stack of the network has."""
    stacks = [row for row in hierarchy.children(0).tolist() if hierarchy.kind[row] == RowKind.SERIES]
    return sorted(len(hierarchy.children(row)) for row in stacks)


def test_heads_count_with_the_blocks_of_their_stage() -> None:
    assert counts(network(3, 4, 6, 3)) == [3, 3, 4, 6]


def test_a_stage_of_one_block_behind_its_head() -> None:
    assert counts(network(2, 3, 5)) == [2, 3, 5]


def test_a_padding_in_the_head_is_no_matter() -> None:
    padded = (*CHAIN[:3], "Pad", *CHAIN[3:])
    assert counts(network(3, 4, 6, 3, head=padded)) == [3, 3, 4, 6]


def test_what_else_comes_before_a_stage_is_no_block() -> None:
    hierarchy = network(3, 4, 6, 3, head=("Elu", "Selu", "AvgPool", "LRN", "Elu"))
    stages = [row for row in range(len(hierarchy)) if hierarchy.how[row] == GroupOrigin.STAGE]
    assert stages
    assert all(len(hierarchy.children(row)) > 2 for row in stages)


def test_repetitions_behind_an_odd_one_begin_as_those_before_it() -> None:
    # (Conv2D Abs Neg) ×3   Conv2D Abs Sign Neg   (Conv2D Abs Neg) ×6
    made = Network()
    block = ("Conv2D", "Abs", "Neg")
    top = made.chain(made.op("Placeholder"), block * 3)
    made.chain(made.chain(top, ("Conv2D", "Abs", "Sign", "Neg")), (*block * 6, "Mean"))
    hierarchy = made.hierarchy()
    stacks = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES]
    types = hierarchy.graph.op_types

    def held(row: int) -> list[str]:
        return [types[hierarchy.graph.op[hierarchy.node[child]]] for child in hierarchy.children(row)]

    assert sorted(len(hierarchy.children(row)) for row in stacks) == [3, 6]
    first = [first_in_flow(hierarchy, repetition) for row in stacks for repetition in hierarchy.children(row)]
    assert {types[hierarchy.graph.op[hierarchy.node[row]]] for row in first} == {"Conv2D"}
    assert all(sorted(held(repetition)) == sorted(block) for row in stacks for repetition in hierarchy.children(row))


def first_in_flow(hierarchy: Hierarchy, group: int) -> int:
    """The child of a chain that no other child feeds."""
    fed = {int(hierarchy.edge_to[edge]) for edge in hierarchy.owned_edges(group)}
    (first,) = (child for child in hierarchy.children(group).tolist() if child not in fed)
    return int(first)


def residual_stages(*blocks: int) -> Hierarchy:
    """As many blocks in each stage; the first of each has a convolution in its shortcut, and all end in a Relu."""
    made = Network()
    top = made.chain(made.op("Placeholder"), ("Conv2D", "Tanh", "MaxPool"))
    for count in blocks:
        for block in range(count):
            around = top if block else made.op("Conv2D", top)
            inside = made.chain(top, ("Conv2D", "Rsqrt", "Elu", "Conv2D", "Rsqrt"))
            top = made.op("Relu", made.op("AddV2", inside, around))
    made.chain(top, ("Mean", "MatMul", "Softmax"))
    return made.hierarchy()


def test_a_stage_of_one_block_moves_no_border_of_the_next() -> None:
    """Two first blocks behind each other are a stack; those of later stages still begin their stage."""
    hierarchy = residual_stages(1, 3, 7, 5)
    stages = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES]
    shortcuts = [[with_convolution(hierarchy, row) for row in hierarchy.children(stage)] for stage in stages]
    assert sorted(shortcuts) == [[0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0], [1, 1]]


def with_convolution(hierarchy: Hierarchy, row: int) -> int:
    """How many shortcuts of a group have a convolution: a block has two others."""
    types = hierarchy.graph.op_types
    inside = [at for at in range(row, hierarchy.end[row]) if hierarchy.node[at] >= 0]
    convolutions = sum(types[hierarchy.graph.op[hierarchy.node[at]]] == "Conv2D" for at in inside)
    blocks = sum(types[hierarchy.graph.op[hierarchy.node[at]]] == "AddV2" for at in inside)
    return convolutions - 2 * blocks


def test_a_pooling_before_one_layer_is_no_head_where_there_is_room() -> None:
    # conv conv conv max conv conv' max conv" max mean dense softmax
    graph = GraphDef()
    top = graph.node.add(name="image", op="Placeholder").name

    def op(kind: str, *weights: int) -> None:
        nonlocal top
        inputs = [top]
        if weights:
            made = graph.node.add(name=f"n{len(graph.node)}", op="VariableV2")
            for size in weights:
                made.attr["shape"].shape.dim.add(size=size)
            inputs.append(made.name)
        top = graph.node.add(name=f"n{len(graph.node)}", op=kind, input=inputs).name

    for part in (3, 3, 3, "MaxPool", 3, 5, "MaxPool", 7, "MaxPool", "Mean"):
        if isinstance(part, str):
            op(part)
            continue
        op("Conv2D", part, part, 8, 8)
        op("BiasAdd", 8)
        op("Relu")
    op("MatMul", 8, 10)
    op("Softmax")
    hierarchy = load(graph).hierarchy
    assert not (hierarchy.how == GroupOrigin.STAGE).any()
    pools = [row for row in hierarchy.children(0).tolist() if hierarchy.name[row] and hierarchy.node[row] >= 0]
    assert [graph.node[int(hierarchy.node[row])].op for row in pools].count("MaxPool") == 3
