"""Small inputs stand beside their only consumer, but for what a program is run on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphviz_tb import load
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy
from graphviz_tb.proto import GraphDef
from tests.each import each
from tests.fold.networks import network

EXPORTED = Path(__file__).parents[2] / "fixtures" / "exported"


def decoder(layers: int) -> Hierarchy:
    """ids ─▶ look-up ─▶ add ─▶ layer ─▶ layer …, and a mask that is made of constants for every layer."""
    graph = GraphDef(node=[{"name": "ones", "op": "Fill"}, {"name": "mask", "op": "MatrixBandPart", "input": ["ones"]}])
    graph.node.add(name="ids", op="Placeholder")
    graph.node.add(name="lookup", op="GatherV2", input=["ids"])
    graph.node.add(name="add", op="AddV2", input=["lookup"])
    top = "add"
    for layer in range(layers):
        graph.node.add(name=f"h{layer}/scores", op="MatMul", input=[top])
        graph.node.add(name=f"h{layer}/masked", op="Mul", input=[f"h{layer}/scores", "mask"])
        graph.node.add(name=f"h{layer}/out", op="AddV2", input=[f"h{layer}/masked", top])
        top = f"h{layer}/out"
    graph.node.add(name="head", op="Softmax", input=[top])
    return load(graph).hierarchy


def test_what_a_program_is_run_on_is_no_part_of_the_first_layer() -> None:
    """The mask is used by all layers, so it is no feeder; yet the way through the network begins at the ids."""
    hierarchy = decoder(10)
    (stack,) = (row for row in range(len(hierarchy)) if hierarchy.how[row] == GroupOrigin.REPEAT)
    assert hierarchy.name[stack] == "h[0-9]"
    assert {"ids", "lookup", "add", "mask"} <= {hierarchy.name[row] for row in hierarchy.children(0)}


@each("seed", [1, 2, 7])
def test_what_a_program_is_run_on_is_in_no_group_that_flow_makes(seed: int) -> None:
    """An encoder and a decoder each have their ids, though the decoder's are beside what it takes of the encoder."""
    graph, _ = network(seed, "nameless", "encoder_decoder")
    hierarchy = load(graph).hierarchy
    given = [
        row
        for row in range(len(hierarchy))
        if hierarchy.graph.op_types[hierarchy.graph.op[hierarchy.node[row]]] == "Placeholder"
    ]
    assert len(given) > 1
    assert not np.any(hierarchy.parent[given])


def test_a_small_constant_way_is_beside_its_consumer() -> None:
    """Where another input brings what is given, what only one box uses is folded with it."""
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
    top = "x"
    for layer in range(40):
        graph.node.add(name=f"n{layer}", op=f"Op{layer}", input=[top])
        graph.node.add(name=f"r{layer}", op="Range")
        graph.node.add(name=f"s{layer}", op="AddV2", input=[f"n{layer}", f"r{layer}"])
        top = f"s{layer}"
    hierarchy = load(graph).hierarchy
    row = {name: number for number, name in enumerate(hierarchy.name)}
    for layer in range(40):
        assert hierarchy.parent[row[f"r{layer}"]] == hierarchy.parent[row[f"s{layer}"]]


def test_a_layer_is_no_feeder_of_the_block_that_alone_uses_it() -> None:
    """The table of an embedding is a layer of the network, though one op reads it and one block uses the result."""
    graph = GraphDef(node=[{"name": "embed/table", "op": "VarHandleOp"}])
    table = graph.node[0]
    table.attr["dtype"].type = 1
    for size in (100, 8):
        table.attr["shape"].shape.dim.add(size=size)
    graph.node.add(name="model/mask/range", op="Range")
    graph.node.add(name="ids", op="Placeholder")
    lookup = graph.node.add(name="model/embed/lookup", op="ResourceGather", input=["model/embed/table", "ids"])
    lookup.attr["dtype"].type = 1
    table.name = "model/embed/table"
    top = lookup.name
    for layer in range(4):
        name = f"model/layer_{layer}"
        for step, op in enumerate(("Elu", "Tanh", "Softplus", "Erf")):
            graph.node.add(name=f"{name}/{step}", op=op, input=[top])
            top = f"{name}/{step}"
        graph.node.add(name=f"{name}/masked", op="Mul", input=[top, "model/mask/range"])
        top = f"{name}/masked"
    hierarchy = load(graph).hierarchy
    row = {name: number for number, name in enumerate(hierarchy.name)}
    assert hierarchy.name[hierarchy.parent[row["model/embed"]]] == "model"


def test_a_second_call_of_a_layer_is_a_box_as_the_first_is() -> None:
    """The table of an encoder's embedding is read again for its decoder: each call is a layer of the network."""
    graph = GraphDef()
    table = graph.node.add(name="model/embed/table", op="VarHandleOp")
    table.attr["dtype"].type = 1
    for size in (100, 8):
        table.attr["shape"].shape.dim.add(size=size)
    top: dict[str, str] = {}
    for side, call in (("encoder", "embed"), ("decoder", "embed_1")):
        graph.node.add(name=f"{side}_ids", op="Placeholder")
        lookup = graph.node.add(
            name=f"model/{call}/lookup", op="ResourceGather", input=["model/embed/table", f"{side}_ids"]
        )
        lookup.attr["dtype"].type = 1
        top[side] = lookup.name
    for side in ("encoder", "decoder"):
        for layer in range(12):
            name = f"model/{side}_{layer}"
            for step, op in enumerate(("Elu", "Tanh", "Softplus", "Erf")):
                graph.node.add(name=f"{name}/{step}", op=op, input=[top[side]])
                top[side] = f"{name}/{step}"
            if side == "decoder":
                graph.node.add(name=f"{name}/cross", op="Mul", input=[top[side], top["encoder"]])
                top[side] = f"{name}/cross"
    hierarchy = load(graph).hierarchy
    row = {name: number for number, name in enumerate(hierarchy.name)}
    for call in ("embed", "embed_1"):
        assert hierarchy.name[hierarchy.parent[row[f"model/{call}"]]] == "model"


def test_a_sum_of_two_embeddings_is_in_sight() -> None:
    """A group of two boxes hides one at most: the sum of tokens and positions is no part of either table."""
    hierarchy = load(EXPORTED / "gpt.pt2").hierarchy
    row = {name: number for number, name in enumerate(hierarchy.name)}
    for name in ("GPT/Embedding[wte]", "GPT/Embedding[wpe]", "GPT/add"):
        assert hierarchy.name[hierarchy.parent[row[name]]] == "GPT"


def test_a_group_of_inputs_alone_keeps_them() -> None:
    nodes = [{"name": name, "op": "Placeholder"} for name in "abc"]
    for at in range(40):
        nodes.append({"name": f"x{at}", "op": "Conv2D", "input": ["a", "b", "c"]})
        nodes.append({"name": f"y{at}", "op": "Neg", "input": [f"x{at}", f"x{at}:1"]})
    hierarchy = load(GraphDef(node=nodes)).hierarchy
    assert all(len(hierarchy.children(row)) for row in range(len(hierarchy)) if hierarchy.can_open(row))
