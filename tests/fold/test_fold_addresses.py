"""Addresses of groups: each means one place, and an insertion elsewhere leaves them as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.fold.flow.box import FlowBox
from graphviz_tb.fold.flow.titles import group_addresses
from graphviz_tb.model.hierarchy import GroupOrigin
from graphviz_tb.model.paths import path_address
from graphviz_tb.proto import GraphDef
from tests.effort import examples

HOSTILE = [
    "a_0", "a_1", "a_2", "a_3", "a_4", "a_5", "a_[0-5]", "a", "a/b", "x::y", "x::::y", "…c", "c", "c (2)", "gradients",
    "gradients/x", "loop", "b_1/p", "b_2/p", "b_3/p", "b_[1-3]", "b_1 → b_3", "2 Relu", "updates", "d/e/f", "d|e",
]  # fmt: skip
TYPES = ["Relu", "MatMul", "ReluGrad", "AssignSubVariableOp", "Sin"]


def chain(count: int) -> GraphDef:
    """x ─▶ 60 × (Conv2D ─▶ Relu ─▶ Sin); names are numbers."""
    graph = GraphDef(node=[{"name": "n0", "op": "Placeholder"}])
    for at in range(1, 3 * count):
        graph.node.add(name=f"n{at}", op=("Conv2D", "Relu", "Sin")[at % 3], input=[f"n{at - 1}"])
    return graph


def places(model: Model) -> dict[str, int]:
    """The row of each address."""
    hierarchy = model.hierarchy
    return {path_address(hierarchy, (row,)): row for row in range(1, int(hierarchy.end[0])) if hierarchy.node[row] < 0}


@examples(60)
@given(st.lists(st.tuples(st.sampled_from(HOSTILE), st.sampled_from(TYPES)), unique_by=lambda one: one[0], min_size=4))
def test_each_address_means_one_group(nodes: list[tuple[str, str]]) -> None:
    graph = GraphDef()
    for at, (name, op) in enumerate(nodes):
        graph.node.add(name=name, op=op, input=[nodes[at - 1][0]] if at else [])
    model = load(graph, series_min=3)
    found = places(model)
    groups = [row for row in range(1, int(model.hierarchy.end[0])) if model.hierarchy.node[row] < 0]
    assert sorted(found.values()) == groups
    for one, row in found.items():
        assert model.names.find_paths(one) == [(row,)]


def test_labels_are_short_and_addresses_tell_apart() -> None:
    one, two, three = (FlowBox(name, 0, 1, at) for at, name in enumerate(("first", "second", "third")))
    groups = [
        FlowBox("2 Relu", 0, 2, how=GroupOrigin.REGION, members=held)
        for held in ([one, two], [two, three], [one, three])
    ]
    named = group_addresses(groups, ["2 Relu"])
    assert [named[id(box)] for box in groups] == [
        "2 Relu (second)",
        "2 Relu (second → third)",
        "2 Relu (first → third)",
    ]


def test_an_insertion_before_renumbers_nothing() -> None:
    """A group with the same label is put in at the beginning of the file; addresses behind it stay."""
    plain, more = chain(30), GraphDef()
    for at in range(9):
        before = [f"m{at - 1}"] if at else []
        more.node.add(name=f"m{at}", op=("Conv2D", "Relu", "Sin")[at % 3], input=before)
    more.node.extend(plain.node)
    before, after = places(load(plain)), places(load(more))
    assert before
    assert len(before.keys() - after.keys()) <= 2  # what had its name alone says more now


def test_thousands_of_one_name_are_numbered_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    class Number(int):
        def __format__(self, spec: str) -> str:
            tried.append(spec)
            return int.__format__(self, spec)

        def __add__(self, other: int) -> Number:
            return Number(int(self) + other)

    monkeypatch.setitem(group_addresses.__globals__, "FIRST_AGAIN", Number(2))
    member = FlowBox("m", 0, 1, 0)
    groups = [FlowBox("same", 0, 2, how=GroupOrigin.REGION, members=[member, member]) for _ in range(500)]
    named = group_addresses(groups, [])
    assert len(set(named.values())) == 500
    assert len(tried) < 2 * 500
