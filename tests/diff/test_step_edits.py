"""Edits of Keras programs, traced with their training or frozen: each is said in its words, and alone."""

from __future__ import annotations

import tarfile
from functools import cache
from pathlib import Path

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.proto import GraphDef
from tests.diff.test_causes import graph as graph_of_lines
from tests.effort import part

FOLDER = Path(__file__).resolve().parents[2] / "fixtures/step_edits"

# network.edit.form: the number of changes, and words of the text; with ` | `, all of them.
SAID = {
    "images.decay.step": (1, "+ weight decay"),
    "images.decay_and_norm.step": (2, "+ weight decay | + BatchNormalization"),
    "images.smooth.step": (1, "+ label smoothing"),
    "images.other_loss.step": (1, "loss categorical_crossentropy → mean_squared_error"),
    "images.stride.frozen": (1, "strides [1, 2, 2, 1] → [1, 1, 1, 1]"),
    "images.dilation.frozen": (1, "dilation [1, 1] → [2, 2]"),
    "images.half.frozen": (1, "dtype float32 → float16"),
    "images.averages.step": (1, "+ moving averages of weights"),
    "images.several_steps.step": (1, "accumulation of gradients false → true"),
    "images.schedule.step": (1, "learning rate variable → CosineDecay"),
    "images.separable.frozen": (1, "op Conv2D → SeparableConv2D"),
    "words.units.step": (1, "units 6 → 10"),
    "words.gru.step": (1, "op LSTM → GRU"),
    "words.gru.frozen": (1, "op LSTM → GRU"),
    "words.frozen_table.step": (1, "trainable true → false"),
    # One of both ways went; the other one has no scope around it any more, and gives half as much.
    "words.one_way.step": (3, "ReverseV2, ConcatV2 | forward_first_1 → net_1/first_1  renamed"),
}
UNSAID = ("averages", "padding", "rewired", "_output_shapes", "num_heads", "while_body")


@cache
def members(network: str) -> dict[str, bytes]:
    with tarfile.open(FOLDER / f"{network}.tar.xz") as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]


@cache
def graph(network: str, edit: str, form: str) -> GraphDef:
    return GraphDef.FromString(members(network)[f"{edit}.{form}"])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("pair", part(list(SAID), 6))
def test_an_edit_is_said_alone(pair: str, turned: bool) -> None:
    network, edit, form = pair.split(".")
    sides = graph(network, "base", form), graph(network, edit, form)
    changes = diff(*sides[::-1]).inverse() if turned else diff(*sides)
    most, words = SAID[pair]
    text = changes.explain()
    assert [word for word in words.split(" | ") if word not in text] == []
    assert [word for word in UNSAID if word in text and word not in words] == []
    assert len(list(changes)) <= most


def test_settings_of_an_optimizer_that_moves_into_a_branch_are_said_not_to_be_compared() -> None:
    base, several = graph("images", "base", "step"), graph("images", "several_steps", "step")
    assert any("clipping" in word for word in diff(base, several).left_out)
    assert not any("clipping" in word for word in (*diff(base, base).left_out, *diff(several, several).left_out))


@pytest.mark.parametrize("edit", ["batch_16", "wider_batch_16"])
def test_another_batch_of_several_inputs_is_one_change(edit: str) -> None:
    changes = diff(graph("images", "batch_8", "step"), graph("images", edit, "step"))
    (batch,) = [change for change in changes if change.detail.get("key") == "batch size"]
    assert (batch.detail["old"], batch.detail["new"], batch.place_count) == ("8", "16", 2)
    others = [change.detail["key"] for change in changes if change != batch]
    assert others == ([] if edit == "batch_16" else ["filters"])


def test_a_loop_is_matched_with_that_of_its_layer() -> None:
    changes = diff(graph("words", "base", "step"), graph("words", "one_way", "step"))
    assert changes.source is not None
    pairs = {new: old for old, new, _ in changes.source.matches() if "lstm_cell" in new}
    assert {"forward_first_1" in old for new, old in pairs.items() if "/first_1/" in new} == {True}
    assert {"/last_1/" in old for new, old in pairs.items() if "/last_1/" in new} == {True}


def normalization(own_scale: bool) -> bytes:
    """Return a layer and its gradient; without a scale of its own it takes its offset for that."""

    def node(name: str, op: str, *inputs: str) -> str:
        return f'node {{ name: "{name}" op: "{op}" ' + " ".join(f'input: "{text}"' for text in inputs) + " }"

    layer, scale = "net/norm", "scale" if own_scale else "offset"
    weights = [
        (
            node(f"{layer}/{name}/resource", "VarHandleOp"),
            node(f"{layer}/{name}/Read", "ReadVariableOp", f"{layer}/{name}/resource"),
        )
        for name in sorted({scale, "offset"})
    ]
    rest = [
        node("x", "Placeholder"),
        node(f"{layer}/mul", "Mul", "x", f"{layer}/{scale}/Read"),
        node(f"{layer}/sub", "Sub", f"{layer}/offset/Read", f"{layer}/mul"),
        node(f"{layer}/add", "AddV2", f"{layer}/mul", f"{layer}/sub"),
        node("loss", "Mean", f"{layer}/add"),
        node(f"gradient_tape/{layer}/mul", "Mul", "loss", f"{layer}/{scale}/Read"),
        node(f"gradient_tape/{layer}/Sum", "Sum", f"gradient_tape/{layer}/mul"),
    ]
    return "\n".join([*(text for pair in weights for text in pair), *rest]).encode()


@pytest.mark.parametrize("own_scale", [False, True])
def test_gradients_share_no_weights_with_their_layer(own_scale: bool) -> None:
    text = diff(normalization(own_scale), normalization(not own_scale)).explain()
    assert "shared" not in text
    assert "net/norm/scale" in text


def scaled_step(scaled: bool, act: str = "Relu") -> GraphDef:
    """x ─▶ two layers ─▶ a loss ─▶ gradients ─▶ updates; where the loss is scaled these are in a branch, which a call
    takes if all gradients are finite. `Const` is of a metric, or of the first test whether they are."""
    lines = ["x Placeholder", "y Placeholder", "rate Const", *(f"{name}/handle Placeholder" for name in ("w", "v"))]
    lines += [f"{name}/Read ReadVariableOp {name}/handle" for name in "wv"]
    lines += ["m/a/MatMul MatMul x w/Read", f"m/a/act {act} m/a/MatMul", "m/b/MatMul MatMul m/a/act v/Read",
              "loss/Sub Sub m/b/MatMul y", "loss/Mean Mean loss/Sub"]  # fmt: skip
    end = "Mul" if scaled else "loss/Mean"
    lines += ["scale/handle Placeholder", "Mul/Read ReadVariableOp scale/handle", "Mul Mul loss/Mean Mul/Read"] * scaled
    lines += [f"gradient_tape/v MatMul m/a/act {end}", "gradient_tape/w MatMul x gradient_tape/v"]
    if scaled:
        lines += [f"IsFinite_{name} IsFinite gradient_tape/{name}" for name in "wv"]
        lines += ["Const_1=1 Const", "Const=1 Const", "All All IsFinite_w Const", "All_1 All IsFinite_v Const_1",
                  "And LogicalAnd All All_1",
                  "cond If And scale/handle w/handle v/handle gradient_tape/w gradient_tape/v"]  # fmt: skip
    else:
        lines += ["Const=0 Const", "Cast Cast Const", "metric Identity Cast"]
        lines += [f"adam/mul_{name} Mul gradient_tape/{name} rate" for name in "wv"]
        lines += [f"adam/AssignSub_{name} AssignSubVariableOp {name}/handle adam/mul_{name}" for name in "wv"]
    made = graph_of_lines(*lines)
    for node in made.node:
        if node.name.endswith("/handle"):
            node.attr["dtype"].type = 20
        if node.op == "ReadVariableOp":
            node.attr["dtype"].type = 1
            shape = node.attr["_output_shapes"].list.shape.add()
            for _ in range(0 if node.name == "Mul/Read" else 2):
                shape.dim.add(size=4)
    if scaled:
        made.node[-1].attr["then_branch"].func.name = made.node[-1].attr["else_branch"].func.name = "update"
        body = made.library.function.add()
        body.signature.name = "update"
        for name in ("scale", "w", "v", "dw", "dv"):
            body.signature.input_arg.add(name=name, type=1 if name[0] == "d" else 20)
        for name in "wv":
            body.node_def.add(name=f"adam/mul_{name}", op="Mul", input=[f"d{name}", f"d{name}"])
            body.node_def.add(
                name=f"adam/AssignSub_{name}", op="AssignSubVariableOp", input=[name, f"adam/mul_{name}:z:0"]
            )
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_a_scaled_loss_is_one_change(turned: bool) -> None:
    def told(old: GraphDef, new: GraphDef) -> list[str]:
        return sorted(str(change.detail.get("key")) for change in (diff(new, old) if turned else diff(old, new)))

    assert told(scaled_step(False), scaled_step(True)) == ["loss scaling"]
    assert told(scaled_step(False), scaled_step(True, "Elu")) == ["loss scaling", "op"]
