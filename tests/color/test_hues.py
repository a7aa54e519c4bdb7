"""Which structure gets which hue, on graphs small enough to count by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from unittest.mock import patch

from graphviz_tb import load
from graphviz_tb.color import structure as by_structure
from graphviz_tb.color.structure import StructureColouring, structure_colouring
from graphviz_tb.model.theme import THEMES
from tests.each import each

REAL = Path(__file__).parents[2] / "fixtures" / "real"

OPS = {"a": ("Relu", "Tanh"), "b": ("Exp", "Log"), "c": ("Sin", "Cos"), "d": ("Abs", "Neg")}


def coloured(*scopes: str, hues: int = 7) -> StructureColouring:
    """A scope for each name: what it holds follows from the letter that its last segment begins with."""
    nodes = []
    for scope in scopes:
        first, second = OPS[scope.rpartition("/")[2][0]]
        nodes.append(f'node {{ name: "{scope}/x" op: "{first}" }}')
        nodes.append(f'node {{ name: "{scope}/y" op: "{second}" input: "{scope}/x" }}')
    model = load("\n".join(nodes).encode(), folds=False, series_min=100)
    theme = THEMES["light"]
    return structure_colouring(model.hierarchy, dataclasses.replace(theme, hues=theme.hues[:hues]), model.facts)


def hue(found: StructureColouring, name: str) -> int:
    hierarchy = found.hierarchy
    return found.hue[int(hierarchy.template[hierarchy.name.index(name)])]


def test_structures_on_one_level_have_different_hues() -> None:
    found = coloured("a1", "a2", "b1", "b2", "c1", "c2")
    assert [hue(found, name) for name in ("a1", "b1", "c1")] == [0, 1, 2]
    assert hue(found, "a1") == hue(found, "a2")


def test_a_hue_comes_back_on_another_level_when_it_is_used_least() -> None:
    # a and b on top; c only inside of p, where a and b are not: hues go round before any is used twice
    found = coloured("a1", "a2", "b1", "b2", "p/c1", "p/c2", "p/d1", "p/d2")
    assert [hue(found, name) for name in ("a1", "b1", "p/c1", "p/d1")] == [0, 1, 2, 3]


def test_no_structure_has_the_hue_of_one_on_a_level_around_it_while_another_hue_is_free() -> None:
    # All three hues are used once when d has its turn; a's would be seen twice when p is open.
    found = coloured("a1", "a2", "q/b1", "q/b2", "q/c1", "q/c2", "p/d1", "p/d2", hues=3)
    assert [hue(found, name) for name in ("a1", "q/b1", "q/c1", "p/d1")] == [0, 1, 2, 1]


def test_what_occurs_once_or_is_one_op_has_no_rank() -> None:
    found = coloured("a1", "b1", "b2")
    hierarchy = found.hierarchy
    assert list(found.rank) == [int(hierarchy.template[hierarchy.name.index("b1")])]
    assert found.fill_of((hierarchy.name.index("a1"),)).hued is False


def test_of_two_structures_the_outer_ranks_first_then_that_which_covers_more() -> None:
    # a covers 2 × 2 ops, b 3 × 2 ops, both outermost; c lies deeper and covers 4 × 2
    found = coloured("a1", "a2", "b1", "b2", "b3", "p/c1", "p/c2", "p/c3", "p/c4")
    row = found.hierarchy.name.index
    order = [int(found.hierarchy.template[row(name)]) for name in ("b1", "a1", "p/c1")]
    assert [found.rank[template] for template in order] == [0, 1, 2]


def test_layers_have_one_hue_though_the_initialisers_in_their_scopes_differ() -> None:
    # TensorFlow 1 fills a large slot of an optimizer by an op of its own, a small one by a constant.
    layers = []
    for layer, given, fills in (("fc1", "x", False), ("fc2", "fc1/act", True)):
        slot = f"{layer}/W/Adam"
        zeros = 'op: "Fill" input: "dims" input: "zero"' if fills else 'op: "Const"'
        layers.append(
            f'''node {{ name: "{layer}/W" op: "VarHandleOp" }}
            node {{ name: "{layer}/MatMul/ReadVariableOp" op: "ReadVariableOp" input: "{layer}/W" }}
            node {{ name: "{layer}/MatMul" op: "MatMul" input: "{given}" input: "{layer}/MatMul/ReadVariableOp" }}
            node {{ name: "{layer}/act" op: "Relu" input: "{layer}/MatMul" }}
            node {{ name: "{slot}" op: "VarHandleOp" }}
            node {{ name: "{slot}/zeros" {zeros} }}
            node {{ name: "{slot}/Assign" op: "AssignVariableOp" input: "{slot}" input: "{slot}/zeros" }}'''
        )
    start = 'node { name: "x" op: "Placeholder" } node { name: "dims" op: "Const" } node { name: "zero" op: "Const" }'
    model = load("\n".join([start, *layers]).encode(), folds=False, series_min=100)
    found = structure_colouring(model.hierarchy, THEMES["light"], model.facts)
    rows = [model.hierarchy.name.index(name) for name in ("fc1", "fc2")]
    assert len({int(model.hierarchy.template[row]) for row in rows}) == 2
    assert {found.fill_of((row,)).badge for row in rows} == {"A"}


@each("file", sorted(REAL.glob("*.pb*")), ids=lambda file: file.name)
def test_layers_are_looked_for_wherever_that_changes_a_hue(file: Path) -> None:
    hierarchy = load(file).hierarchy
    looks = by_structure._template_looks(hierarchy)
    with patch.object(by_structure, "_may_share_looks", return_value=True):
        assert by_structure._template_looks(hierarchy).tolist() == looks.tolist()
