"""Sizes that one place does not say and another does, and numbers that are less than the truth."""

from __future__ import annotations

from typing import Any

import pytest

from graphviz_tb.pipeline import Model
from tests.annotate.test_costs import FLOAT, model, node, placeholder, weights

INT = {"type": 3}


def number(name: str, value: int) -> dict[str, Any]:
    tensor = {"dtype": 3, "tensor_shape": {}, "int_val": [value]}
    return {"name": name, "op": "Const", "attr": {"dtype": INT, "value": {"tensor": tensor}}}


@pytest.mark.parametrize("attrs", [{}, {"transpose_b": {"b": True}}], ids=["plain", "turned"])
def test_the_weight_says_along_which_size_a_product_runs(attrs: dict[str, Any]) -> None:
    # x [1, ?] · w [61, 128]
    sizes = (128, 61) if attrs else (61, 128)
    costs = model(placeholder("x", 1, -1), weights("w", *sizes), node("y", "MatMul", "x", "w", **attrs)).costs()
    assert costs["y"].macs == 61 * 128


def test_a_variable_that_is_handed_in_has_the_shape_that_others_state() -> None:
    # w, an argument without a shape ─▶ read ─▶ y = x · w; another read says that it is 16×4
    handle = {"name": "w", "op": "_Arg", "attr": {"T": {"type": 20}}}
    stated = {"_output_shapes": {"list": {"shape": [{"dim": [{"size": 16}, {"size": 4}]}]}}}
    found = model(
        *(placeholder("x", 8, 16), handle),
        node("read", "ReadVariableOp", "w", dtype=FLOAT),
        node("again", "ReadVariableOp", "w", dtype=FLOAT, **stated),
        *(node("y", "MatMul", "x", "read"), node("z", "MatMul", "x", "again")),
    )
    assert found.shapes()["y", 0] == (8, 4)
    assert found.costs()["y"].macs == 8 * 16 * 4


def test_a_size_that_a_check_leaves_open_is_that_of_its_input() -> None:
    # x [2, 6] ─▶ boxes [3?] … : a size of the batch times 32 stays one, behind a check that says "any"
    checked = {"shape": {"shape": {"dim": [{"size": -1}, {"size": 4}]}}}
    flat = {"tensor": {"dtype": 3, "tensor_shape": {"dim": [{"size": 2}]}, "int_val": [-1, 4]}}
    nodes = (
        placeholder("x", -1, 32, 4),
        {"name": "flat", "op": "Const", "attr": {"dtype": INT, "value": flat}},
        *(node("rows", "Reshape", "x", "flat"), node("checked", "EnsureShape", "rows", **checked)),
        *(weights("w", 4, 5), node("y", "MatMul", "checked", "w")),
    )
    assert model(*nodes).costs()["y"].macs == 32 * 4 * 5


def old(producer: int) -> Model:
    # x, of an empty shape ─▶ y = x · w [4, 8]
    from graphviz_tb import load
    from graphviz_tb.proto import GraphDef

    nodes = (placeholder("x"), weights("w", 4, 8), node("y", "MatMul", "x", "w"), node("r", "Relu", "x"))
    return load(GraphDef(node=nodes, versions={"producer": producer}))


def test_programs_that_could_not_write_an_unknown_shape_wrote_an_empty_one() -> None:
    assert old(21).shapes()["x", 0] is None
    assert old(21).shapes()["y", 0] == (None, 8)
    assert old(22).shapes()["x", 0] == ()
    assert old(21).costs()["y"].macs == 4 * 8
    assert [notice.code for notice in old(21).notices] == []
