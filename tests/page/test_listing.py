"""What the list of changes of a page calls nodes."""

from __future__ import annotations

import pytest

from graphviz_tb import load
from graphviz_tb.diff.comparison import Comparison
from graphviz_tb.page.changes import ChangeListing
from graphviz_tb.proto import GraphDef
from tests.each import each


def graph(*names: str) -> GraphDef:
    """Ops of these names, without edges."""
    return GraphDef(node=[{"name": name, "op": "NoOp"} for name in names])


@each("name", ["//d", "/d", "//", "a//d", "a/", "a//", "a///d", "/", "a/d"])
def test_nodes_of_scopes_without_a_name_keep_their_names(name: str) -> None:
    listing = ChangeListing(load(graph("b/c", name)), (), Comparison(()))
    assert listing.drawn.in_text(f"{name}: op NoOp → Elu") == f"{name}: op NoOp → Elu"


def test_groups_of_series_and_folds_are_not_in_names() -> None:
    names = [f"a//x_{number}" for number in range(6)]
    assert ChangeListing(load(graph(*names)), (), Comparison(())).drawn.in_text(names[3]) == names[3]


def test_functions_are_gone_through_once_for_all_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    message = graph("x")
    for number in range(30):
        function = message.library.function.add()
        function.signature.name = f"f{number}"
        function.node_def.add(name=f"y{number}", op="Elu")
    model = load(message)
    listing, index = ChangeListing(model, (), Comparison(())), model.names.index
    asked: list[int] = []
    monkeypatch.setattr(model.names, "index", lambda root: asked.append(root) or index(root))
    rows = [listing.rows_by_name.get(name, -1) for name in ("x", "y7", *(f"nowhere{number}" for number in range(50)))]
    assert [model.hierarchy.name[row] for row in rows[:2]] == ["x", "y7"]
    assert set(rows[2:]) == {-1}
    assert len(asked) <= 31
    called = [
        [model.hierarchy.name[row] for row in listing.functions_with_prefix(name)] for name in ("f2", "f29", "g", "")
    ]
    assert [len(each) for each in called] == [11, 1, 0, 30]
    assert called[0] == ["f2", *(f"f{number}" for number in range(20, 30))]


def test_a_word_that_is_the_name_of_a_group_without_a_label_stays() -> None:
    model = load(graph(*(f"gradients/x_{number}" for number in range(6))))
    listing = ChangeListing(model, (), Comparison(()))
    assert listing.drawn.in_text("clipping of gradients by norm") == "clipping of gradients by norm"
