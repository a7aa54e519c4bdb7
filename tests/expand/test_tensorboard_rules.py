"""TensorBoard's own ways, kept under its preset only."""

from __future__ import annotations

import pytest

import graphviz_tb
from graphviz_tb.proto import GraphDef


def body_with_a_hub(size: int) -> GraphDef:
    """A function of `size` nodes: five sources ─▶ hub, and lonely ones."""
    names = [f"{letter}_node" for letter in "abcdefghijklmnopqrstuvwxyz"[: size - 1]]
    graph = GraphDef(node=[{"name": "x", "op": "Relu"}])
    function = graph.library.function.add()
    function.signature.name = "f"
    function.node_def.add(name="hub", op="AddN", input=names[:5])
    for name in names:
        function.node_def.add(name=name, op=f"Op{name[0]}")
    return graph


@pytest.mark.parametrize(("size", "extracted"), [(13, False), (14, True)])
def test_a_function_counts_itself_among_its_nodes(size: int, extracted: bool) -> None:
    """Hubs are looked for from 15 nodes on; TensorBoard has an op for the function inside the function's scope."""
    model = graphviz_tb.load(body_with_a_hub(size), preset="tensorboard")
    (function,) = model.hierarchy.function_rows
    level = model.metagraph((function,))
    away = {model.hierarchy.name[level.children[at]] for at in level.mask.extracted_children}
    assert ("hub" in away) == extracted


def test_only_under_its_preset() -> None:
    model = graphviz_tb.load(body_with_a_hub(14))
    (function,) = model.hierarchy.function_rows
    assert not model.metagraph((function,)).mask.extracted_children
