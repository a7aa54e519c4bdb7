"""As many changes as nodes: each is told from its own nodes, and put together once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.changes import causes, compose, names
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match import scopes
from graphviz_tb.diff.match.numbered import count_op_types
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.model.change_content import Setting, Unit
from graphviz_tb.proto import GraphDef
from tests.conftest import cpu_seconds
from tests.diff.blocks import ODD, stack
from tests.diff.test_causes import graph
from tests.diff.test_limits import matching


def test_each_change_looks_at_its_own_nodes() -> None:
    old = b"".join(b'node { name: "a%d" op: "A%d" }' % (number, number) for number in range(300))
    changes = diff(old, b'node { name: "x" op: "X" }')
    assert changes.source is not None
    nodes = [len(ids) for change in changes for ids in changes.source.numbers.nodes_of_change(change)]
    assert len(nodes) >= 2 * 300
    assert sum(nodes) <= 2 * len(nodes)
    assert all(changes.numbers_of(change)["ops"] in ((1, 0), (0, 1)) for change in changes)


@pytest.mark.slow
def test_a_change_with_very_many_consequences() -> None:
    def change(count: int) -> Change:
        behind = tuple(Change("changed", "attribute", None, f"n{number}", 1, Setting("k", 1, 2),
                              edits=NodeEdits(ops=((number, number),)))
                       for number in range(count))  # fmt: skip
        return Change(
            "changed",
            "op",
            None,
            "x",
            1,
            Setting("op", "A", "B"),
            consequences=behind,
            edits=NodeEdits(ops=((-1, -1),)),
        )

    few, many = change(3000), change(30_000)
    assert many.all_edits().ops == tuple((number, number) for number in range(-1, 30_000))
    assert cpu_seconds(many.all_edits) < 40 * cpu_seconds(few.all_edits)


def trained_functions(count: int, new: bool) -> GraphDef:
    """Functions that hold gradients, each with one more in the new graph."""
    made = GraphDef()
    for at in range(count):
        function = made.library.function.add()
        function.signature.name = f"f{at}"
        function.node_def.add(name="r", op="Relu")
        for number in range(1 + new):
            function.node_def.add(name=f"gradients/g{number}", op=f"ReluGrad{at}", input=["r:activations:0"])
        made.node.add(name=f"x{at}", op=f"f{at}")
    return made


@pytest.mark.slow
def test_how_a_file_is_trained_is_asked_once_for_all_its_functions() -> None:
    few, many = ((trained_functions(count, False), trained_functions(count, True)) for count in (250, 1000))
    assert len(diff(*few)) == 250
    assert cpu_seconds(lambda: diff(*many)) < 9 * cpu_seconds(lambda: diff(*few))


def test_of_very_long_names_only_the_longest_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    m = matching(graph("x Relu"), graph("x Relu"))
    made = [Change("added", "op", None, name, 1, Unit()) for name in ("x", "long/name", "other/name")]
    behind = [Change("added", "op", None, f"gradients/{change.new}/grad", 1, Unit()) for change in made]
    given = [len(change.consequences) for change in compose.attach_consequences(m, made, behind)]
    letters = sum(len(change.name) for change in behind)
    monkeypatch.setattr(compose, "MAX_COMPARED_LETTERS", letters * len("other/name"))
    assert given == [1, 1, 1]
    assert [len(change.consequences) for change in compose.attach_consequences(m, made, behind)] == [2, 0, 1]


def test_what_a_scope_holds_is_counted_once_for_all_it_is_compared_with(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []

    def counting(side: GraphColumns, nodes: Sequence[int]) -> Counter[int]:
        counted.append(len(nodes))
        return count_op_types(side, nodes)

    monkeypatch.setattr(scopes, "count_op_types", counting)
    inside = "".join(f'node {{ name: "s_0/x{at}" op: "A{at}" }}' for at in range(50))
    beside = "".join(f'node {{ name: "s_{at}/y" op: "B{at}" }}' for at in range(1, 100))
    diff(inside.encode(), f'node {{ name: "s_0/z" op: "Z" }} {inside} {beside}'.encode())
    assert counted.count(50) == counted.count(51) < 5
    assert counted.count(1) >= 99


def ops(letter: str, count: int, types: int) -> bytes:
    """Ops by themselves, of some types in turn."""
    return b"".join(
        b'node { name: "%s%d/x" op: "%s%d" }' % (letter.encode(), at, letter.upper().encode(), at % types)
        for at in range(count)
    )


def test_very_many_changes_of_unrelated_graphs_are_one_for_what_is_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "MAX_SEPARATE_CHANGES", 20)
    changes = diff(ops("a", 12, 3), ops("b", 9, 2))
    assert [(change.kind, change.ops, change.place_count) for change in changes] == [
        *[("removed", 4, 4)] * 3, ("added", 5, 5), ("added", 4, 4),
    ]  # fmt: skip
    assert [change.detail["op_types"] for change in changes] == [{"A0": 4}, {"A1": 4}, {"A2": 4}, {"B0": 5}, {"B1": 4}]
    assert {notice.code for notice in changes.notices} >= {"unrelated", "alike"}
    assert changes.source is not None
    assert changes.numbers["ops"] == (12, 9)


def test_where_every_op_is_of_another_type_all_are_one_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "MAX_SEPARATE_CHANGES", 20)
    changes = diff(ops("a", 12, 12), ops("b", 12, 12))
    assert [(change.kind, change.ops, len(change.detail["op_types"])) for change in changes] == [
        ("removed", 12, 12),
        ("added", 12, 12),
    ]


@pytest.mark.parametrize(("most", "apart"), [(21, True), (20, False)])
def test_as_many_as_are_read_are_reported_one_by_one(monkeypatch: pytest.MonkeyPatch, most: int, apart: bool) -> None:
    monkeypatch.setattr(causes, "MAX_SEPARATE_CHANGES", most)
    assert (len(diff(ops("a", 12, 3), ops("b", 9, 2))) == 21) == apart


def test_edits_of_what_is_alike_still_make_the_new_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "MAX_SEPARATE_CHANGES", 20)
    changes = diff(ops("a", 12, 3), ops("b", 9, 2))
    assert sorted(node for change in changes for node in change.edits.removed) == list(range(12))
    assert sorted(node for change in changes for node in change.edits.added) == list(range(9))
    assert [change.kind for change in changes.inverse()] == ["removed"] * 2 + ["added"] * 3
    assert changes.inverse().items == diff(ops("b", 9, 2), ops("a", 12, 3)).items


def test_of_very_many_names_only_the_largest_edits_look_at_others(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (stack(*[ODD] * 3, prefix=prefix, training=True) for prefix in ("coder_", "net/reader_"))
    before = diff(old, new)
    monkeypatch.setattr(names, "MAX_EXCHANGED_LETTERS", 0)
    after = diff(old, new)
    assert len(before) < len(after)
    assert {change.kind for change in (*before, *after)} <= {"renamed", "moved"}
    assert sorted(node for change in before for node in change.all_edits().nodes) == sorted(
        node for change in after for node in change.all_edits().nodes
    )
