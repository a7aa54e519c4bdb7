"""What a model learns with is opened before what judges it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphviz_tb import load
from graphviz_tb.open.weight_rows import WeightRows, _calls_to_functions_with
from graphviz_tb.proto import GraphDef


def judged(layer_ops: int, loss_ops: int) -> GraphDef:
    """x ─▶ net: three dense layers of a few ops ─▶ loss: a longer chain without weights."""
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
    add, last = graph.node.add, "x"
    for layer in "abc":
        kernel = f"net/{layer}/kernel"
        add(name=kernel, op="VarHandleOp")
        add(name=f"{kernel}/Read", op="ReadVariableOp", input=[kernel])
        add(name=f"net/{layer}/MatMul", op="MatMul", input=[last, f"{kernel}/Read"])
        last = f"net/{layer}/MatMul"
        for at in range(layer_ops):
            add(name=f"net/{layer}/act_{at}", op=("Relu", "Tanh", "Elu")["abc".index(layer)], input=[last])
            last = f"net/{layer}/act_{at}"
    kinds = ("Sub", "Square", "Abs", "Log", "Exp", "Neg", "Sqrt", "Mean", "Sign", "Floor", "Ceil", "Round")
    for at in range(loss_ops):
        add(name=f"loss/{kinds[at].lower()}", op=kinds[at], input=[last])
        last = f"loss/{kinds[at].lower()}"
    return graph


def opened(graph: GraphDef | Path) -> set[str]:
    return {box.address for box in load(graph).picture().scene.boxes if box.open}


def test_a_longer_loss_stays_closed_beside_a_small_network() -> None:
    shown = opened(judged(layer_ops=2, loss_ops=12))
    assert "net" in shown
    assert "loss" not in shown


def test_a_loss_is_opened_where_nothing_else_fills_the_picture() -> None:
    assert "loss" in opened(judged(layer_ops=0, loss_ops=12))


def test_real_networks_open_before_their_losses(fixtures: Path) -> None:
    assert opened(fixtures / "real/keras2_mnist.pb") == {"sequential"}
    assert "Cost" not in opened(fixtures / "real/xor.pbtxt")


def test_weights_in_functions_are_found_through_calls_of_calls() -> None:
    # a calls block, which calls layer; b calls layer; c calls another function
    def function(name: str, *nodes: dict[str, object]) -> dict[str, object]:
        return {"signature": {"name": name}, "node_def": nodes}

    def call(name: str, body: str) -> dict[str, object]:
        return {"name": name, "op": "PartitionedCall", "attr": {"f": {"func": {"name": body}}}}

    library = [
        function("layer", {"name": "op", "op": "A"}),
        function("block", call("inner", "layer")),
        function("other"),
    ]
    hierarchy = load(
        GraphDef(node=[call("a", "block"), call("b", "layer"), call("c", "other")], library={"function": library})
    ).hierarchy
    user = hierarchy.name.index("op")
    assert sorted(hierarchy.name[row] for row in _calls_to_functions_with(hierarchy, [user])) == ["a", "b", "inner"]
    assert _calls_to_functions_with(hierarchy, []) == set()


def test_layers_are_counted_below_a_group_and_not_itself() -> None:
    hierarchy = load(judged(layer_ops=2, loss_ops=3)).hierarchy
    weights = WeightRows(hierarchy, np.zeros(len(hierarchy), bool))
    rows = {name: hierarchy.name.index(name) for name in ("net", "net/a", "loss")}
    assert weights.layer_count(0) == weights.layer_count(rows["net"]) == 3
    assert weights.layer_count(rows["net/a"]) == weights.layer_count(rows["loss"]) == 0
