"""The levels of a file as columns: children by name, data edges by target and slot, and which levels are equal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from graphviz_tb import load
from graphviz_tb.fold.flow.levels import Siblings, _number_by_place, first_equal_levels, level_columns
from graphviz_tb.fold.flow.plan import fold_by_flow
from graphviz_tb.fold.series import SeriesRun
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.options import GroupOptions
from graphviz_tb.proto import GraphDef
from tests.each import each
from tests.effort import part

FIXTURES = Path(__file__).parents[2] / "fixtures"
GRAPHS = sorted(path for folder in ("real", "steps", "shapes") for path in (FIXTURES / folder).glob("*.pb*"))
Node = tuple[str, str, list[str]]
PLAIN: list[Node] = [("p", "Abs", []), ("q", "Neg", ["p"]), ("r", "Exp", ["q", "p"])]


def hierarchy(**scopes: list[Node]) -> Hierarchy:
    """Scopes of such ops; inputs are names in the same scope, or "/outside"."""
    graph = GraphDef(node=[{"name": name, "op": "Placeholder"} for name in ("m", "n")])
    for scope, nodes in scopes.items():
        for name, op, inputs in nodes:
            found = [one[1:] if one[0] == "/" else f"^{scope}/{one[1:]}" if one[0] == "^" else f"{scope}/{one}"
                     for one in inputs]  # fmt: skip
            graph.node.add(name=f"{scope}/{name}", op=op, input=found)
    return load(graph, folds=False, series_min=10_000).hierarchy


def same(made: Hierarchy, runs: list[SeriesRun] = []) -> bool:  # noqa: B006
    """Whether scopes a and b are one kind of level."""
    held = level_columns(made)
    number = {
        made.name[row]: int(kind)
        for row, kind in zip(held.parent.tolist(), first_equal_levels(held, runs), strict=True)
    }
    return number["a"] == number["b"]


@each(
    ("other", "equal"),
    [
        (PLAIN, True),
        (PLAIN[::-1], True),
        ([*PLAIN[:2], ("r", "Exp", ["q", "p", "^p"])], True),  # control is no flow
        ([*PLAIN[:2], ("s", "Exp", ["q", "p"])], False),
        ([*PLAIN[:2], ("r", "Abs", ["q", "p"])], False),
        ([*PLAIN[:2], ("r", "Exp", ["p", "q"])], False),
        ([*PLAIN[:2], ("r", "Exp", ["q"])], False),
        ([PLAIN[0], ("q", "Neg", []), PLAIN[2]], False),
        ([*PLAIN, ("s", "Exp", [])], False),
    ],
)
def test_levels_of_equal_names_types_and_edges_are_one_kind(other: list[Node], equal: bool) -> None:
    assert same(hierarchy(a=PLAIN, b=other)) is equal


def inner(op: str) -> list[Node]:
    """Two ops and a scope of two."""
    return [("p", "Abs", []), ("q", "Neg", ["p"]), ("s/x", "Exp", ["q"]), ("s/y", op, ["s/x"])]


def test_scopes_inside_must_be_of_one_structure() -> None:
    assert same(hierarchy(a=inner("Exp"), b=inner("Exp")))
    assert not same(hierarchy(a=inner("Exp"), b=inner("Log")))
    pair: list[Node] = [("x", "Exp", []), ("y", "Exp", ["x"])]  # the first structure of the file
    assert same(hierarchy(s=pair, a=inner("Exp"), b=inner("Exp")))
    assert same(hierarchy(z=inner("Log"), a=inner("Exp"), b=inner("Exp")))


def test_what_no_structure_is_known_of_equals_nothing() -> None:
    made = hierarchy(a=inner("Exp"), b=inner("Exp"))
    assert not same(replace(made, template=np.full(len(made), -1, np.int32)))


def test_series_and_parts_of_training_must_be_the_same() -> None:
    nodes: list[Node] = [(f"n_{number}", "Abs", []) for number in range(6)]
    made = hierarchy(a=nodes, b=nodes)
    rows = {scope: [made.name.index(f"{scope}/n_{number}") for number in range(6)] for scope in "ab"}
    parent = {scope: made.name.index(scope) for scope in "ab"}

    def run(scope: str, *members: int) -> SeriesRun:
        return SeriesRun(parent[scope], "", tuple(rows[scope][member] for member in members))

    assert same(made, [run("a", 0, 1, 2), run("b", 0, 1, 2)])
    assert not same(made, [run("a", 0, 1, 2)])
    assert not same(made, [run("a", 0, 1, 2), run("b", 0, 1)])
    assert not same(made, [run("a", 0, 1, 2), run("b", 1, 0, 2)])
    assert not same(made, [run("a", 0, 1), run("b", 0, 1), run("a", 2, 3, 4), run("b", 3, 4, 2)])
    assert not same(made, [run("a", 0, 1), run("a", 2, 3), run("b", 2, 3), run("b", 0, 1)])
    first_of_all = load(
        GraphDef(node=[{"name": f"{scope}/n_{number}", "op": "Abs"} for scope in "ab" for number in range(6)]),
        folds=False,
        series_min=100,
    ).hierarchy
    assert not same(first_of_all, [SeriesRun(1, "", (2, 3, 4))])
    held = level_columns(made)
    first = int(held.child_start[held.parent.tolist().index(parent["a"])])
    part = held.part.copy()
    part[first] = 1
    numbers = first_equal_levels(replace(held, part=part), []).tolist()
    assert len(set(numbers)) == len(set(first_equal_levels(held, []).tolist())) + 1


def level(made: Hierarchy, scope: str) -> Siblings:
    """One level of a file."""
    held = level_columns(made)
    return held.level(held.parent.tolist().index(made.name.index(scope)))


def test_children_are_in_the_order_of_their_names_and_edges_in_that_of_slots() -> None:
    nodes: list[Node] = [("x10", "Abs", []), ("x2", "Neg", ["x10"]), ("w", "Exp", ["x10", "x2"]), ("w2", "Log", ["w"])]
    found = level(hierarchy(before=nodes, a=nodes), "a")
    assert found.labels == ["w", "w2", "x2", "x10"]
    assert list(zip(found.edges.source, found.edges.target, strict=True)) == [(3, 0), (2, 0), (0, 1), (3, 2)]
    assert not found.edges.handle.any()
    assert not found.edges.store.any()
    some = found.select_children([3, 0, 1])
    assert some.labels == ["x10", "w", "w2"]
    assert list(zip(some.edges.source, some.edges.target, strict=True)) == [(0, 1), (1, 2)]


def test_names_of_the_main_graph_are_whole() -> None:
    made = hierarchy(ab=PLAIN, ba=PLAIN, c=PLAIN)
    assert level_columns(made).level(0).labels == ["ab", "ba", "c", "m", "n"]


def test_edges_of_handles_and_into_storage_say_so() -> None:
    nodes: list[Node] = [("v", "RestoreV2", []), ("x", "Abs", []), ("y", "Assign", ["v", "x"]), ("z", "Neg", ["x"])]
    found = level(hierarchy(a=nodes), "a").edges
    lines = list(
        zip(*(column.tolist() for column in (found.source, found.target, found.handle, found.store)), strict=True)
    )
    assert lines == [(0, 2, True, True), (1, 2, False, True), (1, 3, False, False)]


def level_of(*labels: str) -> list[str]:
    """The labels of a level as they are compared with those of others, in the order of names."""
    return _number_by_place(sorted(labels))


@each(
    ("labels", "others", "equal"),
    [
        (("avg_7", "mul", "sub_1"), ("avg_9", "mul", "sub_3"), True),
        (("avg_7", "sub_7"), ("avg_7", "sub_9"), False),  # equal, and not
        (("a_2", "a_10"), ("a_2", "a_3"), False),  # texts and numbers come in another order
        (("a_1", "b_2"), ("a_2", "b_1"), False),
        (("a1b", "c"), ("a7b", "c"), True),
        (("a1b",), ("a<0.0>b",), False),
        (("x",), ("y",), False),
    ],
)
def test_numbers_in_labels_count_by_their_order(labels: tuple[str, ...], others: tuple[str, ...], equal: bool) -> None:
    assert (level_of(*labels) == level_of(*others)) is equal


@each("path", part(GRAPHS, 6), ids=lambda path: path.stem)
def test_a_level_without_groups_tells_of_those_that_differ_in_numbers(path: Path) -> None:
    made = load(path, folds=False).hierarchy
    groups, notices = fold_by_flow(made, [], GroupOptions())
    with pytest.MonkeyPatch.context() as each_level:
        each_level.setattr("graphviz_tb.fold.flow.plan.replace_label_numbers", lambda held, levels: held)
        assert fold_by_flow(made, [], GroupOptions()) == (groups, notices)
