"""Layers of a model stay in the main area, whatever hangs on them: control edges, weights that are copied, nothing."""

from __future__ import annotations

from typing import Any

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.graphs.rows import computing_rows
from graphviz_tb.proto import GraphDef
from tests.annotate.test_costs import node, placeholder, variable


def net(scope: str, given: str) -> list[dict[str, Any]]:
    """given ─▶ MatMul ◀─ w, in a scope of its own."""
    return [
        variable(f"{scope}/w", 8, 4, op="VariableV2"),
        node(f"{scope}/w/read", "Identity", f"{scope}/w"),
        node(f"{scope}/MatMul", "MatMul", given, f"{scope}/w/read"),
        node(f"{scope}/Relu", "Relu", f"{scope}/MatMul"),
    ]


def main_area(found: Model) -> set[str]:
    level = found.metagraph((0,))
    return {found.hierarchy.name[level.children[child]] for child in level.core_children()}


def opened(*nodes: dict[str, Any]) -> Model:
    return load(GraphDef(node=nodes))


def test_two_nets_of_which_one_takes_the_weights_of_the_other_are_both_the_model() -> None:
    # x ─▶ online, x ─▶ target; target's weights are set to those of online by `sync`
    found = opened(
        placeholder("online/x", 1, 8),
        placeholder("target/x", 1, 8),
        *net("online", "online/x"),
        *net("target", "target/x"),
        node("sync/Assign", "Assign", "target/w", "online/w/read"),
        {"name": "init", "op": "NoOp", "input": ["^sync/Assign"]},
    )
    assert {"online", "target"} <= main_area(found)


def test_a_model_that_only_others_wait_for_is_drawn() -> None:
    # dnn ┄▶ report, by control edges alone
    found = opened(
        placeholder("dnn/x", 1, 8),
        *net("dnn", "dnn/x"),
        {"name": "report/a", "op": "IsVariableInitialized", "input": ["dnn/w", "^dnn/Relu"]},
        {"name": "report/b", "op": "LogicalNot", "input": ["report/a"]},
        {"name": "init", "op": "NoOp", "input": ["^dnn/Relu"]},
    )
    assert "dnn" in main_area(found)


def test_gradients_and_what_has_no_weights_compute_no_model() -> None:
    found = opened(
        placeholder("x", 8, 8),
        *net("layer", "x"),
        node("measure/y", "MatMul", "x", "x"),
        node("measure/z", "Relu", "measure/y"),
    )
    rows = computing_rows(found.hierarchy)
    assert {found.hierarchy.name[row] for row in range(1, len(found.hierarchy)) if rows[row]} == {"layer"}
