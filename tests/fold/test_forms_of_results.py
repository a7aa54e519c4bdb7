"""What gives data another form before and behind a stack belongs to its first and last member; masks are one box."""

from __future__ import annotations

import numpy as np
import pytest

from graphviz_tb import Model, load
from graphviz_tb.model.hierarchy import GroupOrigin, RowKind
from graphviz_tb.proto import GraphDef
from tests.fold.nameless import Network

LAYERS = 5


def encoder(form: str = "Reshape") -> Model:
    """ids ─▶ Gather ─▶ Reshape ─▶ layer_0 ─▶ … ─▶ layer_4 ─▶ Reshape ─▶ head
    mask ─▶ Cast ─▶ Reshape ─▶ Mul ─▶ all layers"""
    graph = GraphDef()

    def op(name: str, kind: str, *inputs: str) -> str:
        node = graph.node.add(name=name, op=kind, input=inputs)
        node.attr["T"].type = node.attr["dtype"].type = 1
        return name

    def weight(name: str, *sizes: int) -> str:
        op(name, "VariableV2")
        for size in sizes:
            graph.node[-1].attr["shape"].shape.dim.add(size=size)
        return op(f"{name}/read", "Identity", name)

    for name in ("ids", "mask"):
        op(name, "Placeholder")
        graph.node[-1].attr["dtype"].type = 3
    x = op("embed/lookup", "GatherV2", weight("embed/table", 100, 8), op("embed/ids", "Identity", "ids"))
    cast = op("enc/Cast", "Cast", "mask")
    graph.node[-1].attr["SrcT"].type, graph.node[-1].attr["DstT"].type = 3, 1
    mask = op("enc/Mul", "Mul", op("enc/Reshape", "Reshape", cast, op("enc/sizes", "Const")), op("enc/ones", "Const"))
    x = op("enc/flat", "Reshape", x, op("enc/flat/shape", "Const"))
    for number in range(LAYERS):
        scope = f"enc/layer_{number}"
        y = op(f"{scope}/att/MatMul", "MatMul", x, weight(f"{scope}/att/w", 8, 8))
        y = op(f"{scope}/att/masked", "AddV2", y, mask)
        y = op(f"{scope}/att/sum", "AddV2", op(f"{scope}/att/act", "Softmax", y), x)
        z = op(f"{scope}/out/MatMul", "MatMul", y, weight(f"{scope}/out/w", 8, 8))
        x = op(f"{scope}/out/sum", "AddV2", op(f"{scope}/out/act", "Relu", z), y)
    x = op("enc/back", form, x, op("enc/back/shape", "Const"))
    op("head/MatMul", "MatMul", x, weight("head/w", 8, 2))
    op("head/Softmax", "Softmax", "head/MatMul")
    return load(graph)


def children(model: Model, name: str) -> list[str]:
    hierarchy = model.hierarchy
    return [hierarchy.display_label(row) for row in hierarchy.children(hierarchy.name.index(name)).tolist()]


def test_a_form_behind_the_last_layer_is_part_of_it() -> None:
    model = encoder()
    hierarchy = model.hierarchy
    assert sorted(children(model, "enc")) == ["layer_[0-4]", "mask"]
    stack = np.flatnonzero(hierarchy.kind == RowKind.SERIES).tolist()
    assert [len(hierarchy.children(row)) for row in stack] == [LAYERS]
    last = int(hierarchy.children(stack[0])[-1])
    inside = [hierarchy.name[row] for row in range(last, int(hierarchy.end[last]))]
    assert "enc/back" in inside
    assert "enc/layer_4" in inside


def test_an_op_that_computes_behind_the_last_layer_is_no_part_of_it() -> None:
    assert "back" in children(encoder("AddV2"), "enc")


def test_a_mask_of_casts_is_one_box() -> None:
    hierarchy = encoder().hierarchy
    (row,) = np.flatnonzero(hierarchy.how == GroupOrigin.INDEX).tolist()
    assert hierarchy.display_label(row) == "mask"
    assert hierarchy.op_count(row) == 3  # Cast, Reshape, Mul


def test_all_layers_take_the_mask_and_one_tensor() -> None:
    model = encoder()
    texts = [text.full for text in model.picture().scene.texts]
    assert not any(text.startswith("in ") or text == "2 tensors" for text in texts)
    assert not any(" of 5" in text for text in texts)


@pytest.mark.parametrize("form", ["Transpose", "Reshape", "Cast"])
def test_a_form_beside_a_layer_a_norm_or_a_sum_is_no_box_of_a_graph_without_scopes(form: str) -> None:
    made = Network()
    x = made.op("Placeholder")
    for _ in range(6):
        y = made.op(form, made.chain(x, ("Conv2D",)))
        x = made.op(form, made.op("AddV2", x, made.chain(made.op("Tanh", y), ("Conv2D",))))
    hierarchy = made.hierarchy()
    nodes = np.flatnonzero(hierarchy.graph.nodes_of_types(form.__eq__))
    inside = hierarchy.parent[hierarchy.row_of_node[nodes]].tolist()
    assert inside
    assert all(hierarchy.how[row] == GroupOrigin.LAYER for row in inside)
