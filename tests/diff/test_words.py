"""One change in words: how many types are named, where the first part ends, which input of those gone is drawn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.changes.compose import name_loss_part
from graphviz_tb.diff.picture.merge import merge_graphs
from graphviz_tb.diff.picture.overlay import change_line
from graphviz_tb.diff.report.words import behind_words, change_head
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.model.change_content import InputWire, Rewiring, Setting, Unit
from graphviz_tb.model.interpretation import Part
from tests.diff.test_causes import graph, told

TYPES = ("Relu", "Tanh", "Exp", "Log", "Sin", "Cos", "Abs")


def added(types: int, *, consequences: tuple[Change, ...] = ()) -> Change:
    """A scope of so many ops of different types that came."""
    content = Unit(True, dict.fromkeys(TYPES[:types], 1))
    return Change("added", "op", None, "block", types, content, consequences=consequences)


@pytest.mark.parametrize(
    ("types", "shown"),
    [(5, "1 Relu, 1 Tanh, 1 Exp, 1 Log, 1 Sin"), (6, "1 Relu, 1 Tanh, 1 Exp, 1 Log and 2 other types")],
)
def test_a_report_names_four_types_or_five_where_that_is_all(types: int, shown: str) -> None:
    assert change_head(added(types)) == f"block  scope, {types} ops ({shown})"


@pytest.mark.parametrize(("types", "shown"), [(3, "1 Relu, 1 Tanh, 1 Exp"), (4, "1 Relu, 1 Tanh and 2 other types")])
def test_a_legend_names_two_types_or_three_where_that_is_all(types: int, shown: str) -> None:
    assert change_line(added(types)) == f"block: scope, {types} ops ({shown})"


def test_of_what_follows_one_type_is_named() -> None:
    assert behind_words(added(1)) == ""
    assert behind_words(added(1, consequences=(added(3),))) == (
        "1 consequence: block  scope, 3 ops (1 Relu and 2 other types)"
    )
    assert behind_words(added(1, consequences=(added(3), added(4)))) == "2 consequences in 7 ops"


def test_a_legend_names_two_wires() -> None:
    inputs = tuple(InputWire(number, "a", "b") for number in range(3))
    change = Change("rewired", "wiring", "x", "x", 1, Rewiring(inputs))
    assert change_line(change) == "x: rewired; input 0 (first): a → b; input 1 (second): a → b"


def test_only_the_first_gap_of_a_line_becomes_a_colon() -> None:
    change = Change("changed", "attribute", "x", "x", 1, Setting("label", "a  b", "c  d"))
    assert change_line(change) == "x: label a  b → c  d"


def test_values_that_a_tracer_numbered_are_renamed_where_their_words_differ() -> None:
    # x ─▶ input.3 ─▶ y
    def traced(name: str) -> object:
        return graph("x prim::Param", f"{name} aten::relu x", f"y aten::tanh {name}")

    assert diff(traced("input.3"), traced("input.35")).same
    assert told(diff(traced("input.3"), traced("weight.3"))) == [("renamed", "input.3", "weight.3")]


@pytest.mark.parametrize(("output", "lost"), [("x", "x"), ("x:1", "x:1"), ("x:2", "x:2")])
def test_an_input_that_is_gone_is_drawn_from_the_output_that_gave_it(output: str, lost: str) -> None:
    # x gives three tensors, of which y read one; z takes its place
    nodes = ("a Placeholder", "x Split a", "z Relu a", "u Neg x:0", "v Neg x:1", "w Neg x:2")
    merged = merge_graphs(diff(graph(*nodes, f"y Exp {output}"), graph(*nodes, "y Exp z")))
    (node,) = (node for node in merged.graph_def.node if node.name == "y")
    assert list(node.input) == ["z", lost]
    assert (("", "y"), 1) in merged.lost


@pytest.mark.parametrize(("scopes", "key"), [(("loss/net", "loss"), "op"), (("loss/mse", "loss/huber"), "loss")])
def test_a_scope_and_one_in_it_are_no_two_losses(scopes: tuple[str, str], key: str) -> None:
    meaning = SimpleNamespace(part=lambda: np.array([Part.LOSS]))
    layers: Any = SimpleNamespace(side=SimpleNamespace(graph=SimpleNamespace(meaning=meaning)))
    edits = NodeEdits(removed=(0,), added=(0,))
    for names in (scopes, scopes[::-1]):
        change = Change("changed", "op", *names, 1, Setting("op", "Tanh", "Exp"), edits=edits)
        assert name_loss_part((layers, layers), change).key == key
