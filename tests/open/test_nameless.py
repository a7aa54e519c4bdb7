"""Where names are numbers, boxes say what they do."""

from __future__ import annotations

import random

from graphviz_tb import load
from graphviz_tb.proto import GraphDef

LAYER = ("Conv2D", "BiasAdd", "Relu")


def chain(count: int, name: str = "op_{}") -> GraphDef:
    """x ─▶ Conv2D ─▶ BiasAdd ─▶ Relu ─▶ Conv2D …, in any order of the file."""
    nodes = [{"name": name.format(0), "op": "Placeholder"}]
    nodes += [
        {"name": name.format(at), "op": LAYER[at % 3 - 1], "input": [name.format(at - 1)]}
        for at in range(1, 3 * count + 1)
    ]
    random.Random(3).shuffle(nodes)
    return GraphDef(node=nodes)


def second_lines(graph: GraphDef) -> dict[str, str]:
    """What closed ops say below their names."""
    view = load(graph, folds=False).picture().view
    return {node_label.full: node_label.second for node_label in view.node_labels if not node_label.openable}


def test_ops_with_numbers_for_names_say_their_type() -> None:
    lines = second_lines(chain(10))
    assert lines["op_0"] == "Placeholder"
    assert {lines["op_1"], lines["op_2"], lines["op_3"]} == set(LAYER)


def test_ops_with_names_do_not() -> None:
    names = ["alpha", "beta", "gamma", "delta"]
    graph = GraphDef(node=[{"name": f"{names[at % 4]}{'x' * at}", "op": "Relu"} for at in range(30)])
    assert set(second_lines(graph).values()) == {""}


def test_the_stack_of_a_nameless_network_says_what_repeats() -> None:
    hierarchy = load(chain(10)).hierarchy
    assert "Conv2D · Relu" in {hierarchy.display_label(row) for row in range(len(hierarchy))}
