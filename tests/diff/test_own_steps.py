"""Training steps that a program writes itself, without an optimizer's op: what changed in them is said in its word."""

from __future__ import annotations

from typing import Any

import pytest

from graphviz_tb.diff import diff
from tests.diff.test_causes import FLOAT, graph

MODEL = ("x Placeholder", "w VarHandleOp", "w/Read ReadVariableOp w", "b VarHandleOp", "b/Read ReadVariableOp b",
         "MatMul MatMul x w/Read", "zero Const", "gradients/w MatMul x add", "gradients/b Sum add",
         "random_normal/RandomStandardNormal RandomStandardNormal", "random_normal/stddev Const",
         "random_normal/mul Mul random_normal/RandomStandardNormal random_normal/stddev",
         "noisy AddV2 gradients/w random_normal/mul")  # fmt: skip
MOMENTUM = ("m VarHandleOp", "m/Read ReadVariableOp m", "m/decay Const", "m/Mul Mul m/decay m/Read",
            "m/Sum AddV2 m/Mul noisy", "m/Assign AssignVariableOp m m/Sum",
            "m/Now ReadVariableOp m ^m/Assign")  # fmt: skip
AHEAD = ("ahead/Mul Mul m/decay m/Now", "ahead/Sum AddV2 ahead/Mul noisy")
SQUARES = ("v VarHandleOp", "v/Read ReadVariableOp v", "v/decay Const", "v/Mul Mul v/decay v/Read",
           "v/Square Square noisy", "v/Sum AddV2 v/Mul v/Square", "v/Assign AssignVariableOp v v/Sum",
           "v/Now ReadVariableOp v ^v/Assign", "root Sqrt v/Now", "epsilon Const",
           "deep AddV2 root epsilon")  # fmt: skip
SCALED, ROOTED = ("divided RealDiv m/Now deep",), ("divided RealDiv noisy deep",)
AGAIN = ("n VarHandleOp", "n/Read ReadVariableOp n", "n/Mul Mul m/decay n/Read", "n/Sum AddV2 n/Mul noisy",
         "n/Assign AssignVariableOp n n/Sum")  # fmt: skip
LARGEST = ("hat VarHandleOp", "hat/Read ReadVariableOp hat", "hat/Max Maximum hat/Read v/Now",
           "hat/Assign AssignVariableOp hat hat/Max", "hat/Now ReadVariableOp hat ^hat/Assign")  # fmt: skip
CENTERED = ("mean VarHandleOp", "mean/Read ReadVariableOp mean", "mean/decay Const",
            "mean/Mul Mul mean/decay mean/Read", "mean/rest Const",
            "mean/Rest Mul mean/rest noisy", "mean/Sum AddV2 mean/Mul mean/Rest",
            "mean/Assign AssignVariableOp mean mean/Sum", "mean/Now ReadVariableOp mean ^mean/Assign",
            "center Square mean/Now", "around Sub v/Now center")  # fmt: skip
RATIO = ("Square Square w/Read", "Sum Sum Square", "Sqrt Sqrt Sum", "ratio Mul m/Now Sqrt")


def step(direction: str = "m/Now", more: tuple[str, ...] = (), biased: bool = True, noise: float = 0.5) -> Any:
    """x · w + b ─▶ gradients ─▶ a momentum of each weight ─▶ what is subtracted from the weights."""
    updates = ["rate Const", f"rated Mul rate {direction}", "update AssignSubVariableOp w rated"]
    add = f"add AddV2 MatMul {'b/Read' if biased else 'zero'}"
    of_bias = ["b/rated Mul rate gradients/b", "b/update AssignSubVariableOp b b/rated"]
    made = graph(*MODEL, add, *MOMENTUM, *more, *updates, *of_bias)
    for node in made.node:
        if node.op == "Const":
            tensor = node.attr["value"].tensor
            tensor.Clear()
            tensor.dtype = FLOAT
            tensor.float_val.append(noise if node.name.endswith("stddev") else 0.25)
    kept = made.__class__()
    unused = {"zero"} if biased else {"b", "b/Read", "b/rated", "b/update", "gradients/b"}
    kept.node.extend(node for node in made.node if node.name not in unused)
    return kept


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("direction", "more", "word"), [("ahead/Sum", AHEAD, "Nesterov momentum"), ("ratio", RATIO, "trust ratio")]
)
def test_another_direction_of_the_update_is_said_in_its_word(
    direction: str, more: tuple[str, ...], word: str, turned: bool
) -> None:
    pair = step(), step(direction, more)
    changes = diff(*(pair[::-1] if turned else pair))
    assert len(changes) == 1
    assert word in changes.explain()
    assert "weight" not in changes.explain().replace("shapes of weights", "")


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("old", "new", "more", "word"),
    [
        ("m/Now", "divided", SQUARES + SCALED, "adaptive learning rates (Adam)"),
        ("noisy", "divided", SQUARES + ROOTED, "adaptive learning rates"),
        ("noisy", "n/Sum", AGAIN, "momentum"),
    ],
)
def test_an_update_from_averages_of_gradients_is_said_in_its_word(
    old: str, new: str, more: tuple[str, ...], word: str, turned: bool
) -> None:
    pair = step(old), step(new, more)
    (change,) = diff(*(pair[::-1] if turned else pair))
    assert change.unit is not None
    assert change.unit.training == word


def with_root_of(lines: tuple[str, ...], average: str) -> tuple[str, ...]:
    """Return the lines of a step in which the root of another average is taken."""
    return tuple(line.replace("root Sqrt v/Now", f"root Sqrt {average}") for line in lines)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("more", "average", "word"),
    [(LARGEST, "hat/Now", "largest averages of gradients (AMSGrad)"), (CENTERED, "around", "centered second moment")],
)
def test_a_variant_of_an_optimizer_is_one_change(more: tuple[str, ...], average: str, word: str, turned: bool) -> None:
    adaptive = SQUARES + ROOTED
    pair = step("divided", adaptive), step("divided", with_root_of(adaptive, average) + more)
    (change,) = diff(*(pair[::-1] if turned else pair))
    assert change.unit is not None
    assert change.unit.training == word


@pytest.mark.parametrize("turned", [False, True])
def test_another_update_of_a_weight_replaces_the_one_before(turned: bool) -> None:
    """A plain step subtracts from the weight; with momentum, the stored step is added."""
    pair = step("noisy"), step("noisy", AGAIN)
    for node in pair[1].node:
        if node.name == "update":
            node.name, node.op, node.input[1] = "update_with_momentum", "AssignAddVariableOp", "n/Sum"
    (change,) = diff(*(pair[::-1] if turned else pair))
    assert change.setting is not None
    assert (change.setting.key, change.setting.old, change.setting.new) == ("momentum", turned, not turned)


@pytest.mark.parametrize("turned", [False, True])
def test_a_number_in_the_place_of_a_weight_hides_behind_no_edit_of_the_training(turned: bool) -> None:
    pair = step(), step(biased=False, noise=0.75)
    changes = diff(*(pair[::-1] if turned else pair))
    assert len(changes) == 2
    assert any(change.name == "add" for change in changes)
    assert "stddev 0.75 → 0.5" in changes.explain() if turned else "stddev 0.5 → 0.75" in changes.explain()


@pytest.mark.parametrize("turned", [False, True])
def test_the_largest_gradient_of_a_table_is_no_clip_of_all_gradients(turned: bool) -> None:
    """The gradient of a table has rows and their numbers, which are two gradients of one variable."""
    dense = ("gradients/rows Reshape x", "dense UnsortedSegmentSum noisy gradients/rows")
    largest = ("u VarHandleOp", "u/Read ReadVariableOp u", "u/Mul Mul m/decay u/Read", "u/Max Maximum u/Mul dense",
               "u/Assign AssignVariableOp u u/Max", "divided RealDiv dense u/Max")  # fmt: skip
    pair = step("dense", dense), step("divided", dense + largest)
    for each in pair:
        next(node for node in each.node if node.name == "gradients/rows").attr["T"].type = 3
    changes = diff(*(pair[::-1] if turned else pair))
    assert len(changes) == 1
    assert "clipping" not in changes.explain()
