"""Shapes, parameters and FLOPs of real graphs, beside those of TensorFlow 2.21.

`tests/annotate/expected/shapes/NAME.json.gz` holds what TensorFlow's own inference says of each output when it imports
the graph without `_output_shapes`, `count_params()` of the Keras model, and what TensorFlow's profiler counts, batch 1.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.proto import GraphDef
from tests.each import each
from tests.effort import part

ROOT = Path(__file__).parents[3]
EXPECTED = sorted((ROOT / "tests/annotate/expected/shapes").glob("*.json.gz"))
FIXTURES = {
    path.name.partition(".")[0]: path
    for folder in ("real", "shapes")
    for path in (ROOT / "fixtures" / folder).iterdir()
}
NAMES = [path.name.partition(".")[0] for path in EXPECTED]

# Keras counts the mean, the variance and the count of its Normalization layer; frozen, they are plain constants.
NORMALIZED = {"EfficientNetB0": 7, "EfficientNetB3": 7}


def expected(name: str) -> dict[str, Any]:
    data = gzip.decompress((ROOT / f"tests/annotate/expected/shapes/{name}.json.gz").read_bytes())
    found: dict[str, Any] = json.loads(data)
    return found


@cache
def model(name: str) -> Model:
    """The graph without listed shapes."""
    stripped = GraphDef()
    stripped.CopyFrom(load(FIXTURES[name]).loaded.graph_def)  # type: ignore[union-attr]
    for node in [*stripped.node, *(node for function in stripped.library.function for node in function.node_def)]:
        if "_output_shapes" in node.attr:
            del node.attr["_output_shapes"]
    return load(stripped)


def pairs(name: str) -> list[tuple[str, Any, Any]]:
    """Op type, TensorFlow's shape, ours, for each output."""
    ours = model(name).shapes()
    graph = model(name).hierarchy.graph
    ops = {name: graph.op_types[op] for name, op in zip(graph.name, graph.op.tolist(), strict=True)}
    return [
        (ops[node], shape if shape is None else tuple(shape), ours.get((node, at)))
        for node, shapes in expected(name)["shapes"].items()
        for at, shape in enumerate(shapes)
    ]


def agree(theirs: Any, ours: Any) -> bool:
    """Whether both may be true of one tensor."""
    if theirs is None or ours is None:
        return True
    return len(theirs) == len(ours) and all(None in (a, b) or a == b for a, b in zip(theirs, ours, strict=True))


@each("name", part(NAMES, 9))
def test_no_shape_is_wrong(name: str) -> None:
    assert [pair for pair in pairs(name) if not agree(*pair[1:])] == []


@pytest.mark.slow
def test_nearly_all_that_tensorflow_knows_is_known() -> None:
    every = [pair for name in NAMES for pair in pairs(name)]
    ranks = [pair for pair in every if pair[1] is not None]
    missed = Counter(op for op, _, ours in ranks if ours is None)
    assert sum(missed.values()) <= 0.001 * len(ranks), missed
    whole = [pair for pair in ranks if None not in pair[1]]
    missed = Counter(op for op, theirs, ours in whole if theirs != ours)
    assert sum(missed.values()) <= 0.001 * len(whole), missed


@each("name", [name for name in part(NAMES, 9) if "parameters" in expected(name)])
def test_parameters_are_those_that_keras_counts(name: str) -> None:
    assert model(name).cost.under(0).parameters == expected(name)["parameters"] - NORMALIZED.get(name, 0)


@each("name", part((name for name in NAMES if "flops" in expected(name)), 4))
def test_flops_are_those_of_tensorflows_profiler(name: str) -> None:
    costs = model(name).costs()
    assert {node: costs[node].flops for node in expected(name)["flops"]} == expected(name)["flops"]
