"""Names beside edits: a name that says what the edit is, names that only follow, what else is said of a Keras model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphviz_tb.diff import diff
from tests.diff.test_causes import graph, told

BODY = ("Conv2D", "BiasAdd", "Mul", "Sub", "Exp", "Log", "Sin", "Cos")


def block(scope: str, *ends: str) -> Any:
    """x ─▶ many ops in a scope, the last ones given ─▶ m/after ─▶ m/end."""
    lines, before = ["x Placeholder"], "x"
    for op in (*BODY, *ends):
        lines.append(f"m/{scope}/{op} {op} {before}")
        before = f"m/{scope}/{op}"
    return graph(*lines, f"m/after/MatMul MatMul {before}", "m/end/Softmax Softmax m/after/MatMul")


def test_the_name_of_a_layer_says_what_many_other_ops_are() -> None:
    (change,) = diff(block("gelu", "Relu", "Abs"), block("silu", "Tanh", "Neg"))
    assert (change.old, change.new, change.detail) == ("m/gelu", "m/silu", {"key": "op", "old": "gelu", "new": "silu"})
    assert not change.consequences


def test_one_other_op_says_itself_what_it_is() -> None:
    (change,) = changes = diff(block("gelu", "Relu"), block("silu", "Tanh"))
    assert (change.detail["old"], change.detail["new"]) == ("Relu", "Tanh")
    assert told(change.consequences) == [("renamed", "m/gelu", "m/silu")]  # type: ignore[arg-type]
    assert "renamed" not in changes.explain()  # `m/silu (was m/gelu)` says it


def encoder(scope: str, padding: bytes) -> Any:
    """Two layers in a scope, and more behind it."""
    made = graph("x Placeholder", f"m/{scope}/a/Conv2D Conv2D x", f"m/{scope}/a/Relu Relu m/{scope}/a/Conv2D",
                 f"m/{scope}/b/Conv2D Conv2D m/{scope}/a/Relu", f"m/{scope}/b/Relu Relu m/{scope}/b/Conv2D",
                 f"m/end/MatMul MatMul m/{scope}/b/Relu", "m/out/Softmax Softmax m/end/MatMul")  # fmt: skip
    for node in made.node:
        if node.op == "Conv2D":
            node.attr["padding"].s = padding
    return made


def test_a_name_around_layers_that_all_changed_follows() -> None:
    (change,) = diff(encoder("enc", b"SAME"), encoder("dec", b"VALID"))
    assert (change.detail["key"], change.place_count) == ("padding", 2)
    assert told(change.consequences) == [("renamed", "m/enc", "m/dec")]  # type: ignore[arg-type]
    assert told(diff(encoder("enc", b"SAME"), encoder("dec", b"SAME"))) == [("renamed", "m/enc", "m/dec")]


@pytest.mark.parametrize(("name", "words"), [("g/other", "1 renamed of 3 ops"), ("h/b", "1 moved")])
def test_a_group_says_how_many_of_its_ops_have_other_names(name: str, words: str) -> None:
    old, new = (
        graph("x Placeholder", "g/a Relu x", f"{each} Tanh g/a", f"g/c Exp {each}", "h/d Log x", "y Abs g/c h/d")
        for each in ("g/b", name)
    )
    assert words in diff(old, new).picture().render("svg").decode()


def keras(outputs: str = "b", units: int = 2, rate: float = 0.1, loss: str = "mse") -> bytes:
    """in ─▶ a ─▶ b, compiled; `outputs` are what the model gives."""
    layers: list[dict[str, Any]] = [
        {"class_name": "InputLayer", "name": "in", "config": {"name": "in", "batch_shape": [None, 4]},
         "inbound_nodes": []}
    ]  # fmt: skip
    for before, name, size in (("in", "a", units), ("a", "b", 2)):
        config = {"name": name, "units": size}
        layers.append({"class_name": "Dense", "name": name, "config": config, "inbound_nodes": [[[before, 0, 0, {}]]]})
    config = {"name": "m", "layers": layers, "input_layers": [["in", 0, 0]],
              "output_layers": [[output, 0, 0] for output in outputs]}  # fmt: skip
    optimizer = {"class_name": "Adam", "config": {"learning_rate": rate}}
    compiled = {"optimizer": optimizer, "loss": loss}
    return json.dumps({"class_name": "Functional", "config": config, "compile_config": compiled}).encode()


def test_the_rate_of_an_optimizer_is_an_edit_of_its_own() -> None:
    changes = diff(keras(), keras(units=4, rate=0.2))
    assert {change.detail["key"] for change in changes} == {"units", "optimizer.learning_rate"}
    (alone,) = diff(keras(), keras(rate=0.2))
    assert (alone.detail["old"], alone.detail["new"]) == (0.1, 0.2)


def test_the_name_of_an_optimizer_is_no_edit_beside_its_rate() -> None:
    old, new = (
        keras(rate=rate).replace(b'"config": {"learning_rate"', b'"config": {"name": "%s", "learning_rate"' % name)
        for rate, name in ((0.1, b"adam"), (0.2, b"adam_1"))
    )
    assert b"adam_1" in new
    assert [change.detail["key"] for change in diff(old, new)] == ["optimizer.learning_rate"]


def test_a_loss_is_an_edit_of_its_own_beside_a_layer_or_an_output() -> None:
    (alone,) = diff(keras(), keras(loss="mae"))
    assert (alone.detail["key"], alone.detail["new"]) == ("loss", "mae")
    for new in (keras(units=4, loss="mae"), keras(outputs="ab", loss="mae")):
        changes = diff(keras(), new)
        assert len(changes) == 2
        assert "loss" in {change.detail.get("key") for change in changes}


def sequential(names: str, units: str, *more: str) -> bytes:
    """Layers in a row, each of so many units."""
    layers = [
        {"class_name": "Dense", "config": {"name": name, "units": int(each)}}
        for name, each in zip([*names.split(), *more], [*units.split(), *["7"] * len(more)], strict=True)
    ]
    return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}}).encode()


@pytest.mark.parametrize("names", ["alpha beta gamma", "dense dense_1 dense_2", "enc1 enc2 enc3"])
def test_each_layer_changed_in_its_place_though_another_one_is_like_it_now(names: str) -> None:
    changes = diff(sequential(names, "16 32 64"), sequential(names, "32 64 128"))
    units = [(change.new, change.detail["old"], change.detail["new"]) for change in changes]
    assert sorted(units, key=str) == [(f"m/{name}", 16 << at, 32 << at) for at, name in enumerate(names.split())]
    assert all(change.kind == "changed" and change.old == change.new for change in changes)


def test_names_that_somebody_gave_count_also_where_a_layer_came() -> None:
    changes = diff(sequential("a b c", "16 32 64"), sequential("a b c", "32 64 128", "d"))
    assert sorted((change.kind, change.new) for change in changes) == [
        ("added", "m/d"), ("changed", "m/a"), ("changed", "m/b"), ("changed", "m/c"),
    ]  # fmt: skip


def test_numbers_that_nobody_gave_count_for_nothing_where_a_layer_came() -> None:
    old, new = (
        sequential(names, units) for names, units in (("d d_1 d_2", "16 32 64"), ("d d_1 d_2 d_3", "8 16 32 64"))
    )
    assert [(change.kind, change.new) for change in diff(old, new) if change.kind != "renamed"] == [("added", "m/d")]


@pytest.mark.parametrize("more", ["", "end/Softmax Softmax e2/MatMul"])
def test_each_scope_of_a_series_changed_in_its_place(more: str) -> None:
    lines = ["x Placeholder", *(f"e{at}/MatMul MatMul {f'e{at - 1}/MatMul' if at else 'x'}" for at in range(3))]
    old, new = graph(*lines), graph(*lines, *[more] * bool(more))
    for which, made in enumerate((old, new)):
        for node in made.node:
            if node.op == "MatMul":
                node.attr["size"].i = 16 << int(node.name[1]) + which
    changed = [change for change in diff(old, new) if change.kind == "changed"]
    assert sorted((change.new, change.detail["old"]) for change in changed) == [
        ("e0/MatMul", 16), ("e1/MatMul", 32), ("e2/MatMul", 64),
    ]  # fmt: skip
    assert len(diff(old, new)) == 3 + bool(more)
