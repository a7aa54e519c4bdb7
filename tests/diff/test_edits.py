"""A table of truth: each edit of one small model is told once, by the layer and in the words of the program.

The graphs are in `fixtures/edits`: Keras JSON, frozen for inference, one traced training step.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.commands import _run_command_line
from graphviz_tb.diff import assert_same, diff
from graphviz_tb.diff.baseline import lines_of
from graphviz_tb.diff.changes.names import scope_replacement
from graphviz_tb.diff.result import Changes
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import Rename, Setting, Sides
from graphviz_tb.proto import GraphDef
from graphviz_tb.read.source import read_source
from tests.diff.apply import apply
from tests.diff.pairs import FIXTURES, shuffled
from tests.each import each
from tests.effort import part

EDITS = FIXTURES / "edits"
JSON, FROZEN, TRAIN = "json", "frozen.pb", "train.pb"

# Edit, form, the change (kind, layer, and what it says).
TABLE: list[tuple[str, str, str, str, str]] = [
    ("gelu", JSON, "changed", "activation", "activation relu → gelu"),
    ("gelu", FROZEN, "changed", "activation", "op Relu → Gelu"),
    ("gelu", TRAIN, "changed", "activation", "op Relu → Gelu"),
    ("units", JSON, "changed", "fc", "units 8 → 16"),
    ("units", FROZEN, "changed", "fc", "units 8 → 16"),
    ("kernel", JSON, "changed", "conv2d", "kernel_size [3, 3] → [5, 5]"),
    ("kernel", FROZEN, "changed", "conv2d", "kernel 3×3 → 5×5"),
    ("rate", JSON, "changed", "dropout", "rate 0.1 → 0.3"),
    ("rate", TRAIN, "changed", "dropout", "rate 0.1 → 0.3"),
    ("no_norm", JSON, "removed", "batch_normalization", "BatchNormalization  small"),
    ("no_norm", FROZEN, "removed", "batch_normalization", "BatchNormalization  small"),
    ("inserted", JSON, "added", "extra", "Conv2D(4, 1×1)  small"),
    ("inserted", FROZEN, "added", "extra", "Conv2D(4, 1×1)  small"),
    ("inserted", TRAIN, "added", "extra", "Conv2D(4, 1×1)  small"),
    ("renamed", JSON, "renamed", "features", "renamed"),
    ("renamed", FROZEN, "renamed", "features", "renamed"),
    ("sgd", JSON, "changed", "small", "optimizer Adam → SGD"),
    ("sgd", TRAIN, "changed", "sgd", "optimizer adam → sgd"),
    ("regularized", JSON, "changed", "conv2d", "kernel_regularizer nothing → L2(l2=0.01)"),
    ("regularized", TRAIN, "added", "Square", "on small_1/conv2d"),
    ("swapped", JSON, "rewired", "", "activation, batch_normalization  in another order"),
    ("swapped", FROZEN, "rewired", "", "in another order"),
    ("frozen_layer", JSON, "changed", "conv2d", "trainable true → false"),
    ("frozen_layer", TRAIN, "changed", "conv2d", "trainable true → false"),
]
SAME = [("rebuilt", form) for form in (JSON, FROZEN, TRAIN)] + [
    (edit, FROZEN) for edit in ("rate", "sgd", "regularized", "frozen_layer")
]


def changes_of(edit: str, form: str) -> Changes:
    return diff(EDITS / f"base.{form}", EDITS / f"{edit}.{form}")


@each(("edit", "form", "kind", "layer", "words"), part(TABLE, 2))
def test_an_edit_is_one_change(edit: str, form: str, kind: str, layer: str, words: str) -> None:
    changes = changes_of(edit, form)
    assert len(changes) == 1, changes.explain()
    told = changes.explain().splitlines()[3]
    assert changes[0].kind == kind
    assert re.search(rf"\b{layer}", told)
    assert words in re.sub(r"_\d+", "", told) or words in told


@each(("edit", "form"), part(SAME, 3))
def test_what_a_form_cannot_show_is_the_same(edit: str, form: str) -> None:
    assert changes_of(edit, form).same
    assert_same(EDITS / f"base.{form}", EDITS / f"{edit}.{form}")
    assert _run_command_line(["diff", "-q", str(EDITS / f"base.{form}"), str(EDITS / f"{edit}.{form}")]) == 0


@each(("edit", "form"), part([(row[0], row[1]) for row in TABLE if row[1] != JSON], 9))
def test_the_laws_hold_on_models(edit: str, form: str) -> None:
    old, new = EDITS / f"base.{form}", EDITS / f"{edit}.{form}"
    changes = diff(old, new)
    assert diff(new, old).items == changes.inverse().items
    assert diff(old, old).same
    assert diff(apply(changes), new).same
    again = diff(old, shuffled(changes.source.new.graph_def))
    assert [replace(one, consequences=()) for one in again] == [replace(one, consequences=()) for one in changes]


def test_consequences_stand_behind_their_cause() -> None:
    (change,) = changes_of("units", FROZEN)
    assert [one.name for one in change.consequences] == ["small_1/classes_1"]
    (change,) = changes_of("sgd", TRAIN)
    assert len(change.consequences) > 50
    assert len(change.to_json()["consequences"]) == len(change.consequences)
    told = diff(EDITS / "base.train.pb", EDITS / "sgd.train.pb")
    assert "consequences in" in told.explain()
    assert len(told.explain(limit=None)) > 10 * len(told.explain())


@pytest.mark.parametrize("form", [FROZEN, TRAIN])
def test_numbers_before_and_after(form: str) -> None:
    # one more convolution 1×1×4×4 and its bias of 4
    changes = changes_of("inserted", form)
    old, new = changes.numbers["parameters"]
    assert old is not None
    assert new == old + 4 * 4 + 4
    assert "parameters (+20)" in changes.explain()
    assert changes.inverse().summary["parameters"] == {"old": new, "new": old}
    layer = changes.numbers_of(changes[0])
    assert layer["parameters"][1] - layer["parameters"][0] == 20  # type: ignore[operator]
    for word in ("ops", "flops"):  # what a change comes to is all there is, where it is the only one
        before, after = changes.numbers[word]
        assert layer[word][1] - layer[word][0] == after - before > 0  # type: ignore[operator]


@pytest.mark.parametrize("form", [JSON, FROZEN, TRAIN])
def test_numbers_are_those_of_the_model(form: str) -> None:
    model = load(EDITS / f"base.{form}")
    changes = changes_of("kernel" if form != TRAIN else "gelu", form)
    assert changes.numbers["ops"][0] == model.hierarchy.op_count(0)
    cost = model.cost.under(0)
    if form != JSON:
        assert changes.numbers["flops"][0] == cost.flops > 0
    if form == FROZEN:
        assert changes.numbers["parameters"][0] == cost.parameters > 0


def test_each_change_has_its_own_numbers() -> None:
    old, new = (read_source(EDITS / f"{edit}.frozen.pb").graph_def for edit in ("base", "inserted"))
    next(node for node in new.node if node.op == "Conv2D" and "extra" not in node.name).attr["padding"].s = b"VALID"
    changes = diff(old, new)
    (added,) = changes.filter(kind="added")
    assert len(changes) == 2
    told = changes.numbers_of(added)["parameters"]
    assert told[1] - told[0] == 20  # type: ignore[operator]
    assert all("parameters" not in changes.numbers_of(one) for one in changes if one is not added)


@each("word", ["attributes", "signature"])
@each(("edit", "form"), part(sorted({(row[0], row[1]) for row in TABLE}), 4))
def test_what_fails(edit: str, form: str, word: str) -> None:
    code = _run_command_line(
        ["diff", "-q", "--fail-on", word, *(str(EDITS / f"{one}.{form}") for one in ("base", edit))]
    )
    assert code == (word == "attributes" and edit != "renamed")


def test_two_forms_are_refused(capfd: Any) -> None:
    assert _run_command_line(["diff", str(EDITS / "base.json"), str(EDITS / "base.frozen.pb")]) == 2
    assert "cannot be compared" in capfd.readouterr().err


def test_git_is_never_ended(capfd: Any, tmp_path: Any) -> None:
    (tmp_path / "no.pb").write_text("nothing of a graph: {")
    assert _run_command_line(["diff", "--git", str(tmp_path / "no.pb")]) == 0
    assert capfd.readouterr().out.startswith("no graph: ")
    assert (
        _run_command_line(
            ["diff", "--git", "m.pb", str(tmp_path / "no.pb"), "0", "1", str(EDITS / "base.frozen.pb"), "0", "1"]
        )
        == 0
    )
    assert capfd.readouterr().out.splitlines()[1].startswith("no graph: ")
    assert _run_command_line(["diff", "--git", str(EDITS / "base.json")]) == 0
    assert "\nsmall/activation activation=relu\n" in capfd.readouterr().out


def test_folders_are_paired_by_path(capfd: Any, tmp_path: Any) -> None:
    for folder, edit in (("old", "base"), ("new", "gelu")):
        (tmp_path / folder / "deep").mkdir(parents=True)
        (tmp_path / folder / "deep" / "m.json").write_bytes((EDITS / f"{edit}.json").read_bytes())
    (tmp_path / "new" / "more.pb").write_bytes((EDITS / "base.frozen.pb").read_bytes())
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    assert _run_command_line(["diff", old, new]) == 1
    told = capfd.readouterr().out
    assert "deep/m.json: 1 change" in told
    assert "more.pb: added" in told
    assert _run_command_line(["diff", old, old]) == 0
    assert _run_command_line(["diff", old, new, "-f", "markdown"]) == 1
    assert "## deep/m.json" in capfd.readouterr().out


def test_from_python(tmp_path: Any) -> None:
    changes = changes_of("gelu", FROZEN)
    assert changes
    assert len(changes) == 1
    assert changes.to_json()["changes"][0]["detail"]["new"] == "Gelu"
    assert changes.to_markdown().startswith("### Graph diff: 1 change")
    changes.save(tmp_path / "a.svg")
    changes.save(tmp_path / "a.md")
    assert (tmp_path / "a.svg").read_bytes() == changes.picture().render("svg")
    with pytest.raises(AssertionError, match="op Relu → Gelu"):
        assert_same(EDITS / "base.frozen.pb", EDITS / "gelu.frozen.pb")
    assert not changes_of("rebuilt", FROZEN)


@pytest.mark.parametrize(("edit", "form"), [("gelu", FROZEN), ("units", FROZEN), ("inserted", TRAIN), ("sgd", TRAIN)])
def test_a_picture_opens_the_way_to_the_cause(edit: str, form: str) -> None:
    changes = changes_of(edit, form)
    scene = changes.picture().scene
    assert 8 <= len(scene.boxes) <= 48


def test_lines_for_git_name_the_function_that_a_node_is_in() -> None:
    made = GraphDef()
    made.node.add(name="a", op="f")
    made.node.add(name="b", op="g", input=["a"])
    made.node.add(name="c", op="Relu", input=["b"])
    for name in ("f", "g"):
        function = made.library.function.add()
        function.signature.name = name
        function.node_def.add(name="inner", op="Relu")
    heads = [line.split(" ")[:2] for line in lines_of(made).splitlines()]
    assert heads == [["a", "f"], ["b", "g"], ["c", "Relu"], ["f::inner", "Relu"], ["g::inner", "Relu"]]


def test_a_replaced_scope_keeps_the_weights_that_show_it() -> None:
    name = Change("renamed", "rename", "both/memory", "memory", 1, Rename("both", ""))
    weights = (Sides("8×24", "8×32"),)
    change = Change("changed", "op", "both/memory", "memory", 2, Setting("op", "GRU", "LSTM", weights=weights))
    replaced = scope_replacement(name, change, ("GRU", "LSTM"))
    assert replaced.setting == change.setting
