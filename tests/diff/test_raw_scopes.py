"""The tree of raw name scopes: odd names, and more of them than there is room for."""

from __future__ import annotations

from graphviz_tb.diff.columns.side import ScopeTree, _add_names, _build_scopes
from graphviz_tb.diff.columns.values import tensor_numbers
from graphviz_tb.model.paths import ScopeNameBudget
from graphviz_tb.proto import TensorProto
from tests.diff.test_causes import graph
from tests.each import each
from tests.flat import flatten


@each(
    ("name", "scopes", "leaf"),
    [
        ("a", [""], "a"),
        ("a/b", ["", "a"], "b"),
        ("a/b/c", ["", "a", "a/b"], "c"),
        ("/a", ["", ""], "a"),
        ("/a/b", ["", "", "/a"], "b"),
        ("a//b", ["", "a", "a/"], "b"),
        ("a/", ["", "a"], ""),
        ("/", ["", ""], ""),
    ],
)
def test_every_slash_ends_a_scope(name: str, scopes: list[str], leaf: str) -> None:
    made = graph("x Relu")
    made.node[0].name = name
    columns = _build_scopes(flatten(made))
    assert (columns.name, columns.node_leaf) == (scopes, [leaf])
    assert columns.parent.tolist() == list(range(-1, len(scopes) - 1))
    assert columns.of_node.tolist() == [len(scopes) - 1]


def test_scopes_for_which_there_is_no_room_stay_in_the_names() -> None:
    tree, of_node, leaves = ScopeTree(), list[int](), list[str]()
    root = tree.add(-1, "")
    room = ScopeNameBudget(6)
    _add_names(tree, root, ["a/b/c/d", "a/b/e", "b/x", "p/q", "b/c/y", "z"], of_node, leaves, room)
    assert tree.name == ["", "a", "a/b", "b", "p"]
    assert leaves == ["c/d", "e", "x", "q", "b/c/y", "z"]
    assert of_node == [2, 2, 3, 4, 0, 0]
    assert room.left == 0
    _add_names(tree, root, ["s/t"], of_node, leaves, room)
    assert (leaves[-1], of_node[-1]) == ("s/t", 0)


def test_names_below_a_scope_are_the_same_wherever_it_is() -> None:
    columns = _build_scopes(flatten(graph("a/p/x Relu", "b/c/p/x Relu", "b/c/p/y Relu", "b/p/x Relu")))
    rows = {name: row for row, name in enumerate(columns.name)}
    one, other = (columns.hashes_below(rows[name], columns.nodes(rows[name])) for name in ("a", "b/c"))
    assert one[0] == other[0] != other[1]
    (inner,), hashes = columns.scopes_below(rows["a"])
    assert columns.name[inner] == "a/p"
    assert hashes[0] == columns.scopes_below(rows["b/c"])[1][0]
    assert [columns.size(rows[name]) for name in ("a", "b", "b/c", "b/c/p")] == [1, 3, 2, 2]


def test_the_last_number_stands_for_all_that_follow() -> None:
    three = {"dim": [{"size": 3}]}
    assert tensor_numbers(TensorProto(dtype=10, tensor_shape=three, bool_val=[True])) == [True] * 3
    assert tensor_numbers(TensorProto(dtype=10, tensor_shape=three)) == [False] * 3
