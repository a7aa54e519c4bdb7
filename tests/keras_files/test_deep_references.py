"""Models in each other, and many references to the outermost: each is followed inwards once, not once a reference."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphviz_tb.errors import TooLarge
from graphviz_tb.keras.calls import call_inputs, input_layers
from graphviz_tb.keras.model import conceptual_graph
from graphviz_tb.keras.tree import build_layer_tree, walk_layers
from tests.conftest import cpu_seconds
from tests.timing import within

DEPTH, MANY = 180, 100_000


def layer(name: str, feeds: Any = (), kind: str = "Dense") -> Any:
    return {"class_name": kind, "config": {"name": name}, "inbound_nodes": feeds}


def model(name: str, layers: list[Any], made: str, feeds: Any = (), given: tuple[str, ...] = ()) -> Any:
    config = {"name": name, "layers": layers, "output_layers": [[made, 0, 0]]}
    config |= {"input_layers": [[each, 0, 0] for each in given]} if given else {}
    return {"class_name": "Functional", "config": config, "inbound_nodes": feeds}


# root: n[n[n[… x]]] ─▶ sum, MANY times
@pytest.mark.slow
def test_many_references_to_what_is_deep_inside() -> None:
    inside = layer("x", [])
    for _ in range(DEPTH):
        inside = model("n", [inside], inside["config"]["name"], [])
    root = build_layer_tree(model("root", [inside, layer("sum", [[["n", 0, 0]] * MANY])], "sum"))
    last = list(walk_layers(root))[-1]
    assert {source.path for source in input_layers(last)} == {"root/" + "n/" * DEPTH + "x"}
    assert len(call_inputs(last)[0]) == MANY
    assert within(cpu_seconds(lambda: input_layers(last)), 3)


# root: a ─▶ n[n[n[… i0, i1, …]]]
@pytest.mark.slow
def test_many_inputs_that_are_deep_inside() -> None:
    names = tuple(f"i{number}" for number in range(MANY // 10))
    inside = model("n", [layer(name, []) for name in names], names[0], [], names)
    for level in range(DEPTH):
        inside = model("n", [inside], "n", [[["a", 0, 0]]] if level == DEPTH - 1 else [], ("n",))
    root = build_layer_tree(model("root", [layer("a", []), inside], "n"))
    first, *rest = walk_layers(root)
    assert all(input_layers(each) == [first] for each in rest)
    assert within(cpu_seconds(lambda: [input_layers(each) for each in rest]), 2)


def test_a_layer_that_is_no_input_takes_nothing_from_outside() -> None:
    inside = model("n", [layer("i", []), layer("loose", [])], "i", [], ("i",))
    inside = model("n", [inside], "n", [[["a", 0, 0]]], ("n",))
    a, i, loose = walk_layers(build_layer_tree(model("root", [layer("a", []), inside], "n")))
    assert (input_layers(i), input_layers(loose)) == ([a], [])


def test_a_position_that_a_model_lacks_is_the_nearest() -> None:
    inside = model("n", [layer("x", []), layer("y", [])], "x")
    inside["config"]["output_layers"] = [["x", 0, 0], ["y", 0, 1]]
    *_, last = walk_layers(
        build_layer_tree(model("root", [inside, layer("sum", [[["n", 0, 9], ["n", 0, -1], ["n", 0, 1]]])], "sum"))
    )
    assert [(source.layer.name, source.output) for source in call_inputs(last)[0]] == [("y", 1), ("x", 0), ("y", 1)]


# Short references to a layer of a long name: each edge is written with the whole path.
def test_edges_with_long_paths_are_bounded() -> None:
    inside = model("n", [layer("x" * 1_000_000, [])], "x" * 1_000_000, [])
    text = json.dumps(model("root", [inside, layer("sum", [[["n", 0, 0]] * 10_000])], "sum")).encode()
    with pytest.raises(TooLarge, match="more than"):
        conceptual_graph(text, "x.json", on_disk=len(text))


# a × 3,000 ─▶ n, whose input is a model of 3,000 inputs: nine million edges
@pytest.mark.slow
def test_edges_that_multiply_are_bounded() -> None:
    names = tuple(f"i{number}" for number in range(3_000))
    sources = [layer(f"a{number}", []) for number in range(3_000)]
    inside = model("n", [layer(name, []) for name in names], names[0], [], names)
    inside = model("n", [inside], "n", [[[each["config"]["name"], 0, 0]] for each in sources], ("n",))
    text = json.dumps(model("root", [*sources, inside], "n")).encode()
    with pytest.raises(TooLarge, match="more than"):
        conceptual_graph(text, "x.json", on_disk=len(text))
