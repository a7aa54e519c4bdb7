"""Numbered blocks: what was inserted, where, and what is only another number."""

from __future__ import annotations

import re
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.proto import GraphDef
from tests.diff.apply import apply
from tests.diff.blocks import ODD, SAME, stack
from tests.diff.pairs import renamed

TWELVE = [SAME] * 12


def told(old: Any, new: Any) -> list[tuple[str, str | None, str | None]]:
    changes = diff(old, new)
    assert diff(new, old).items == changes.inverse().items
    assert diff(apply(changes), new).same
    return [(change.kind, change.old, change.new) for change in changes]


@pytest.mark.parametrize("training", [False, True])
class TestTwelve:
    """layer_0 ─▶ layer_1 ─▶ … ─▶ layer_11, also with gradients and slots of every layer"""

    def test_a_distinguishable_one_in_the_middle(self, training: bool) -> None:
        old, new = stack(*TWELVE, training=training), stack(*[SAME] * 6, ODD, *[SAME] * 6, training=training)
        assert told(old, new) == [("added", None, "encoder/layer_6")]
        change = diff(old, new)[0]
        assert "equal" not in change.detail
        assert len(change.consequences) == (3 if training else 0)

    def test_two_in_the_middle(self, training: bool) -> None:
        old = stack(*TWELVE, training=training)
        new = stack(*[SAME] * 3, ODD, *[SAME] * 6, ODD, *[SAME] * 3, training=training)
        (change,) = diff(old, new)  # one kind of layer at two places
        assert told(old, new) == [("added", None, "encoder/layer_10")]
        assert change.also == ((None, "encoder/layer_3"),)

    def test_an_identical_one(self, training: bool) -> None:
        old, new = stack(*TWELVE, training=training), stack(*TWELVE, SAME, training=training)
        assert [kind for kind, _, _ in told(old, new)] == ["added"]
        change = diff(old, new)[0]
        assert change.detail["equal"] == 13
        assert "position not determinable" in diff(old, new).explain()

    def test_one_less(self, training: bool) -> None:
        old, new = stack(*TWELVE, training=training), stack(*TWELVE[1:], training=training)
        assert [kind for kind, _, _ in told(old, new)] == ["removed"]

    def test_all_in_a_new_scope(self, training: bool) -> None:
        old = stack(*TWELVE, training=training)
        assert [kind for kind, _, _ in told(old, renamed(old, lambda name: f"model/{name}"))] == ["moved"]

    def test_another_name_for_one(self, training: bool) -> None:
        old = stack(*TWELVE, training=training)
        new = renamed(old, lambda name: name.replace("layer_3/", "special/"))
        assert told(old, new) == [("renamed", "encoder/layer_3", "encoder/special")]
        assert len(diff(old, new)[0].also) == (3 if training else 0)

    def test_another_name_for_all(self, training: bool) -> None:
        old = stack(*TWELVE, training=training)
        new = renamed(old, lambda name: name.replace("layer_", "block_"))
        assert [kind for kind, _, _ in told(old, new)] == ["renamed"]
        assert diff(old, new)[0].detail["part"] == {"old": "layer", "new": "block"}

    def test_other_numbers_without_a_cause(self, training: bool) -> None:
        old = stack(*TWELVE, training=training)
        new = renamed(old, lambda name: re.sub(r"layer_(\d+)", lambda found: f"layer_{int(found[1]) + 1}", name))
        changes = diff(old, new)
        assert changes.same
        assert changes.renumbered


def headed(*heads: str) -> Any:
    """x ─▶ head ─▶ loss ─▶ sum for each head; the gradients of the last loss are named before those of the first."""
    made = GraphDef()
    made.node.add(name="x", op="Placeholder", attr={"dtype": {"type": 1}})
    before = made.node.add(name="zero", op="Const").name
    losses = ["loss" if not number else f"loss_{number}" for number in range(len(heads))]
    for number, (head, loss) in enumerate(zip(heads, losses, strict=True)):
        last = made.node.add(name=f"net/{head}/MatMul", op="MatMul", input=["x"]).name
        for op in ("Square", "Mean"):
            last = made.node.add(name=f"{loss}/{op}", op=op, input=[last]).name
        name = "add" if not number else f"add_{number}"
        before = made.node.add(name=name, op="AddV2", input=[before, last]).name
    made.node.add(name="out", op="Identity", input=[before])
    for scope, loss in zip(losses, reversed(losses), strict=True):
        for number in range(6):
            made.node.add(name=f"gradients/{scope}/mul_{number}", op="Mul", input=[f"{loss}/Square", f"{loss}/Mean"])
    return made


def test_the_loss_of_a_new_head_belongs_to_the_head() -> None:
    changes = diff(headed("a"), headed("a", "b"))
    assert [(change.kind, change.detail["parts"]) for change in changes] == [("added", ["net/b", "loss_1", "add_1"])], (
        changes.explain()
    )


def reported(*heads: str, measured: bool = False) -> Any:
    """x ─▶ head ─▶ loss ─▶ sum; of the sum, of each loss where there are several, and of what is `measured` beside
    them a metric keeps total and count, as Keras writes it."""
    made = GraphDef()
    kind = {"dtype": {"type": 1}}

    def op(name: str, op: str, *inputs: str, **more: Any) -> str:
        return str(made.node.add(name=name, op=op, input=inputs, attr={**kind, **more}).name)

    op("x", "Placeholder")
    op("one", "Const")
    losses = []
    for head in heads:
        net, loss = f"net/{head}", f"losses/{head}"
        op(f"{net}/w", "VarHandleOp", shape={"shape": {"dim": [{"size": 4}, {"size": 4}]}})
        op(f"{net}/MatMul", "MatMul", "x", op(f"{net}/Read", "ReadVariableOp", f"{net}/w"))
        losses.append(op(f"{loss}/Mean", "Mean", op(f"{loss}/Square", "Square", f"{net}/MatMul")))
        gradient = op(f"gradients/{head}/MatMul", "MatMul", "x", f"{loss}/Square")
        op(f"update/{head}", "ResourceApplyGradientDescent", f"{net}/w", "one", gradient)
    kept = [("losses", op("losses/AddN", "AddN", *losses))]
    kept += [("losses", loss) for loss in losses if len(losses) > 1]
    kept += [("metrics", "net/a/MatMul")] if measured else []
    for number, (scope, value) in enumerate(kept):
        now = []
        for word, more in (("total", value), ("count", "one")):
            name = f"{scope}/{word}_{number}"
            variable = op(f"{name}/v", "VarHandleOp", shape={"shape": {}})
            op(name, "AddV2", op(f"{name}/Read", "ReadVariableOp", variable), more)
            written = op(f"{name}/Assign", "AssignVariableOp", variable, name)
            now.append(op(f"{name}/Now", "ReadVariableOp", variable, f"^{written}"))
        op(f"out_{number}", "Identity", op(f"{scope}/div_{number}", "DivNoNan", *now))
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_what_reports_a_new_loss_follows_from_its_head(turned: bool) -> None:
    pair = reported("a"), reported("a", "b")
    (change,) = diff(*pair[::-1]) if turned else diff(*pair)
    assert set(change.detail["parts"]) == {"net/b", "losses/b"}
    sums = {f"losses/{word}_{number}" for word in ("total", "count") for number in (1, 2)}
    assert sums <= {inner.name for inner in change.consequences}


@pytest.mark.parametrize("heads", ["a", "ab"])
def test_another_metric_is_told_beside_a_new_head_too(heads: str) -> None:
    changes = diff(reported("a"), reported(*heads, measured=True))
    assert len(changes) == len(heads)
    assert "metrics" in [change.name for change in changes]
