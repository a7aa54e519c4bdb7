"""Layers whose kernel is passed to a function are said as those beside it."""

from __future__ import annotations

from typing import Any

from graphviz_tb import load
from graphviz_tb.proto import GraphDef
from graphviz_tb.words.paper import PaperWords
from tests.words.test_paper_words import product, weight

Shape = dict[str, object]


def shape_attr(*sizes: int) -> dict[str, Any]:
    return {"list": {"shape": [{"dim": [{"size": size} for size in sizes]}]}}


def convolving_function(name: str, channels: int) -> dict[str, Any]:
    """(image, kernel) ─▶ Conv2D ─▶ result, with the shape of the image recorded."""
    signature = {
        "name": name,
        "input_arg": [{"name": "image", "type": 1}, {"name": "kernel", "type": 1}],
        "output_arg": [{"name": "result", "type": 1}],
    }
    conv = {"name": "conv", "op": "Conv2D", "input": ["image", "kernel"], "attr": {"strides": {"list": {"i": [1] * 4}}}}
    stated = {0: {"attr": {"_output_shapes": shape_attr(-1, 8, 8, channels)}}}
    return {"signature": signature, "node_def": [conv], "ret": {"result": "conv:output:0"}, "arg_attr": stated}


def call(name: str, function: str, *inputs: str) -> dict[str, object]:
    return {"name": name, "op": "PartitionedCall", "input": list(inputs), "attr": {"f": {"func": {"name": function}}}}


def words(*nodes: dict[str, object], channels: int = 24) -> dict[str, str | None]:
    library = {"function": [convolving_function("f", channels), convolving_function("g", channels)]}
    hierarchy = load(GraphDef(node=list(nodes), library=library)).hierarchy  # type: ignore[arg-type]
    paper = PaperWords(hierarchy)
    return {hierarchy.name[row]: paper.words_of_row(row) for row in range(1, len(hierarchy))}


IMAGE: dict[str, object] = {"name": "image", "op": "Placeholder"}
END: dict[str, object] = {"name": "end", "op": "Relu", "input": ["layer"]}  # a graph that is one call is its function


def test_a_call_says_the_layer_of_its_function() -> None:
    said = words(IMAGE, weight("kernel", 3, 3, 24, 48), call("layer", "f", "image", "kernel"), END)
    assert said["layer"] == "3×3, 48"


def test_a_kernel_with_one_input_channel_of_many_is_depthwise() -> None:
    nodes = [IMAGE, weight("kernel", 7, 7, 1, 24), call("layer", "f", "image", "kernel"), END]
    assert words(*nodes)["layer"] == "dw 7×7"
    assert words(*nodes, channels=1)["layer"] == "7×7, 24"  # of a grey image


def test_layers_before_and_behind_a_call_are_one_chain() -> None:
    # block: f ─▶ MatMul ─▶ MatMul
    first = [weight("block/k", 7, 7, 1, 24), call("block/a", "f", "image", "block/k")]
    said = words(IMAGE, *first, *product("block/b", "block/a", 24, 96), *product("block/c", "block/b", 96, 24))
    assert said["block"] == "dw 7×7, → 96, → 24"


def test_an_argument_that_is_sometimes_data_is_no_weight() -> None:
    nodes = [IMAGE, weight("kernel", 3, 3, 24, 48), call("layer", "f", "image", "kernel"), END]
    other: dict[str, object] = {"name": "made", "op": "Placeholder"}
    said = words(*nodes, other, call("second", "f", "image", "made"))
    assert said["layer"] == "10.4 k parameters"
