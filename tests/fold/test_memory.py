"""What an encoder gives is read in every layer of its decoder: it hides no narrow place, and all layers are equal."""

from __future__ import annotations

import random

import pytest

from graphviz_tb import load
from graphviz_tb.fold.flow.box import Dag
from graphviz_tb.fold.flow.order import _select_memories
from graphviz_tb.model.hierarchy import RowKind
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
    series = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES]
    return {len(hierarchy.children(row)) for row in series}


def test_all_layers_of_encoder_and_decoder_are_counted() -> None:
    assert stacks(coded(7, 9)) == {7, 9}


def test_a_decoder_deeper_than_its_encoder() -> None:
    assert stacks(coded(4, 12)) == {4, 12}


def rotary(layers: int) -> GraphDef:
    """One table of positions ─▶ its sine and cosine ═▶ each layer, which is a scope; tokens ─▶ the layers."""
    nodes: list[Node] = [{"name": "tokens", "op": "Placeholder"}, {"name": "range", "op": "Range"}]
    for at, kind in enumerate(["Cast", *["Mul", "Pow", "Neg"] * 4]):
        nodes.append({"name": f"angle{at}", "op": kind, "input": [f"angle{at - 1}" if at else "range"]})
    nodes += [{"name": kind.lower(), "op": kind, "input": ["angle12"]} for kind in ("Sin", "Cos")]
    top = "tokens"
    for at in range(layers):
        inputs = {"q": ("MatMul", [top]), "turn": ("Mul", [f"l{at}/q", "sin"]), "other": ("Mul", [f"l{at}/q", "cos"])}
        inputs["end"] = ("AddN", [f"l{at}/turn", f"l{at}/other", top])
        nodes += [{"name": f"l{at}/{name}", "op": op, "input": given} for name, (op, given) in inputs.items()]
        top = f"l{at}/end"
    return GraphDef(node=nodes)


def test_tables_that_one_part_gives_to_all_layers_hide_none() -> None:
    assert 9 in stacks(rotary(9))


@pytest.mark.parametrize("layers", [4, 12, 28])
def test_layers_without_scopes_are_counted_behind_one_table_of_positions(layers: int) -> None:
    """tokens ─▶ attention ─▶ + ─▶ two products ─▶ + ─▶ …, sine and cosine of one table ═▶ each attention."""
    nodes: list[Node] = []

    def op(kind: str, *inputs: str) -> str:
        nodes.append({"name": f"n{len(nodes)}", "op": kind, "input": list(inputs)})
        return f"n{len(nodes) - 1}"

    top, table = op("GatherV2", op("Placeholder")), op("Range")
    for at in range(14):
        table = op(("Mul", "Pow", "Neg", "Cast")[at % 4], table)
    sine, cosine, mask = op("Sin", table), op("Cos", table), op("Greater", table)
    for _ in range(layers):
        norm = op("MatMul", op("Rsqrt", op("Mean", top)))
        query, key = (op("Mul", op("MatMul", norm), given) for given in (sine, cosine))
        share = op("Softmax", op("SelectV2", mask, op("BatchMatMul", query, key)))
        top = op("AddV2", op("MatMul", op("BatchMatMul", share, op("MatMul", norm))), top)
        top = op("AddV2", op("MatMul", op("Sigmoid", op("MatMul", top))), top)
    op("MatMul", top)
    assert layers in stacks(GraphDef(node=nodes))


def test_of_equal_inputs_none_is_the_stem() -> None:
    nodes: list[Node] = []
    for at in range(12):
        nodes.append({"name": f"n{3 * at}", "op": "Placeholder"})
        nodes.append({"name": f"n{3 * at + 1}", "op": "GatherV2", "input": [f"n{3 * at}"]})
        nodes.append({"name": f"n{3 * at + 2}", "op": "Mean", "input": [f"n{3 * at + 1}"]})
    nodes.append({"name": "n36", "op": "ConcatV2", "input": [f"n{3 * at + 2}" for at in range(12)]})
    top = "n36"
    for at in range(40, 100):
        nodes.append({"name": f"n{at}", "op": ("MatMul", "BiasAdd", "Relu", "Tanh")[at % 4], "input": [top]})
        top = f"n{at}"
    assert stacks(GraphDef(node=nodes)) == {12, 15}


def test_the_first_layer_is_one_of_its_stack_though_it_reads_one_value_twice() -> None:
    # joined ─▶ cross_0 ─▶ cross_1 ─▶ …, and joined ═▶ each of them
    nodes: list[Node] = [{"name": "joined", "op": "Placeholder"}]
    top = "joined"
    for at in range(6):
        inputs = {"w": ("MatMul", [top]), "b": ("BiasAdd", [f"cross_{at}_w"]), "f": ("Relu", [f"cross_{at}_b"])}
        inputs["by"] = ("Mul", ["joined", f"cross_{at}_f"])
        inputs["add"] = ("AddV2", [f"cross_{at}_by", top])
        nodes += [{"name": f"cross_{at}_{name}", "op": op, "input": given} for name, (op, given) in inputs.items()]
        top = f"cross_{at}_add"
    nodes.append({"name": "out", "op": "Sigmoid", "input": [top]})
    assert stacks(GraphDef(node=nodes)) == {6}


class Counted(list[bool]):
    """A list that counts how often it is asked."""

    asked = 0

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        self.asked += 1
        return super().__getitem__(place)


def test_users_are_counted_once_however_many_boxes_share_their_sources() -> None:
    count = 80
    after = [list(range(box + 1, count)) for box in range(count)]  # each box feeds all behind it
    before = [list(range(box)) for box in range(count)]
    side = Counted([False] * count)
    assert not _select_memories(Dag([], before, after), list(range(1, count - 1)), set(), side)
    assert side.asked <= count * count
