"""Boundaries: the first node of a graph, the first function, lists that are just too long, words that just fit."""

from __future__ import annotations

import random
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.exporters import DiffInput
from graphviz_tb.diff.picture.merge import _broken_lines
from graphviz_tb.diff.result import Changes
from graphviz_tb.diff.run import compare_sources
from graphviz_tb.model.measure import text_width
from graphviz_tb.model.sources import Signature, TensorSpec
from graphviz_tb.model.tensors import shape_proto_text
from graphviz_tb.options import DiffOptions
from graphviz_tb.proto import GraphDef
from tests.diff.pairs import FIXTURES, chain, copied, graph_def
from tests.diff.transforms import TRANSFORMS
from tests.each import each
from tests.flat import flatten

RULES = ("equal_blocks", "function_recursive", "input_spellings", "function_two_bodies", "bridges", "edge_kinds")
SMALL = [path for path in sorted((FIXTURES / "rules").glob("*.pbtxt")) if path.stem in RULES]


def rotated(graph: Any, by: int) -> Any:
    """The same nodes, others first."""
    made = copied(graph)
    for nodes in (made.node, *(function.node_def for function in made.library.function)):
        order = list(nodes)
        start = by % max(1, len(order))
        copies = [type(node).FromString(node.SerializeToString()) for node in order[start:] + order[:start]]
        del nodes[:]
        nodes.extend(copies)
    return made


@pytest.mark.slow
@each("word", list(TRANSFORMS))
@each("path", SMALL, ids=lambda path: path.stem)
def test_any_node_may_be_the_first(path: Any, word: str) -> None:
    old = graph_def(path)
    new = TRANSFORMS[word][0](old, random.Random(3))
    if new is None:
        return
    wanted = diff(old, new).items
    for by in range(1, min(12, len(old.node))):
        assert diff(rotated(old, by), new).items == wanted
        assert diff(old, rotated(new, by)).items == wanted


def test_forty_changes_are_listed_and_the_rest_is_counted() -> None:
    def ops(many: int, op: str) -> Any:
        made = GraphDef()
        for at in range(many):
            made.node.add(name=f"{chr(97 + at % 26)}{chr(97 + at // 26)}{'x' * at}", op=op + "y" * at)
        return made

    for many, rest in ((40, ""), (41, "1 other change")):
        text = diff(ops(many, "A"), ops(many, "B")).explain()
        assert sum(line.startswith("  ~ ") for line in text.splitlines()) == 40
        assert rest in text
        assert ("(--all)" in text) is bool(rest)


def test_a_size_of_nothing_is_known() -> None:
    shape = GraphDef().node.add().attr["shape"].shape
    for size in (0, -1, 3):
        shape.dim.add(size=size)
    assert shape_proto_text(shape) == "0×?×3"


def test_a_text_as_wide_as_its_place_is_not_broken() -> None:
    text = "conv/kernel: 3×3 → 5×5"
    room = text_width(text, 11)
    assert _broken_lines(text, room, 11) == [text]
    assert _broken_lines(text, room - 1, 11) != [text]


def of_signature(inputs: list[str], outputs: list[str]) -> DiffInput:
    """x ─▶ y, with a signature of these keys, all of them the same tensor."""
    graph = chain("Placeholder", "Relu", names=("x", "y"))
    tensors = ["x:0", "y:0"]
    specs = [
        tuple(TensorSpec(key, tensor, "float32", (-1, 8)) for key in keys)
        for keys, tensor in zip((inputs, outputs), tensors, strict=True)
    ]
    return DiffInput(flatten(graph), "", (Signature("serving_default", "predict", *specs),))


def between(old: DiffInput, new: DiffInput) -> Changes:
    return compare_sources(old, new, DiffOptions(), {})


def test_inputs_that_are_only_counted_anew_are_the_same() -> None:
    old = of_signature(["keras_tensor", "keras_tensor_1", "mask"], ["output_0"])
    assert between(old, of_signature(["keras_tensor_7", "keras_tensor_8", "mask"], ["output_0"])).same
    (change,) = between(old, of_signature(["keras_tensor_7", "image", "mask"], ["output_0"]))
    ports = {(port["key"], port["old"] is None, port["new"] is None) for port in change.detail["ports"]}
    assert ports == {("keras_tensor_1", False, True), ("image", True, False)}


def test_a_weight_of_unknown_size_leaves_parameters_unknown() -> None:
    def variable(*sizes: int) -> Any:
        made = GraphDef()
        node = made.node.add(name="dense/kernel", op="VariableV2")
        node.attr["dtype"].type = 1
        for size in sizes:
            node.attr["shape"].shape.dim.add(size=size)
        made.node.add(name="x", op="Placeholder")
        made.node.add(name="dense/MatMul", op="MatMul", input=["x", "dense/kernel"])
        return made

    assert diff(variable(4, 8), variable(4, 8)).to_json()["summary"]["parameters"] == {"old": 32, "new": 32}
    assert diff(variable(-1, 8), variable(-1, 8)).to_json()["summary"]["parameters"] == {"old": None, "new": None}
