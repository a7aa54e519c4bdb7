"""Tensors that signatures and outputs name: which are the same, and what is said of those that are not."""

from __future__ import annotations

from graphviz_tb.diff.changes.interface import (
    _differ,
    _is_same_result,
    _is_same_tensor,
    _tensor_words,
    signature_changes,
)
from graphviz_tb.diff.match.matching import Matching, Reason, node_pairs
from graphviz_tb.model.sources import Signature, TensorSpec
from graphviz_tb.model.tensors import Tensor
from tests.diff.test_causes import graph
from tests.diff.test_limits import matching
from tests.each import each


def renamed() -> Matching:
    """a is c now, b went, d came."""
    m = matching(graph("a Abs", "b Exp"), graph("c Abs", "d Log"))
    m.take(node_pairs([(0, 0)], Reason.ANCHOR))
    return m


@each(
    ("old", "new", "same"),
    [
        ("a:0", "c:0", True),
        ("a:0", "c:1", False),
        ("a:0", "d:0", False),
        ("b:0", "c:0", False),
        ("b:0", "d:0", False),
        ("b:0", "b:0", True),
        ("outside:0", "other:0", True),
        ("outside:0", "c:0", False),
        ("a:0", "other:0", False),
    ],
)
def test_a_tensor_is_that_of_a_matched_node(old: str, new: str, same: bool) -> None:
    assert _is_same_tensor(renamed(), old, new) == same


@each(
    ("old", "output", "new", "other", "same"),
    [
        (0, "y", 0, "y", True),
        (0, "y", 0, "z", False),
        (0, "y", 1, "y", False),
        (1, "y", 0, "y", False),
        (1, "y", 1, "z", True),
        (-1, "y", -1, "y", True),
        (-1, "y", -1, "z", False),
        (-1, "y", 0, "y", False),
        (0, "y", -1, "y", False),
    ],
)
def test_a_result_is_that_of_a_matched_node_or_of_one_in_its_place(
    old: int, output: str, new: int, other: str, same: bool
) -> None:
    assert _is_same_result(renamed(), old, output, new, other) == same


def signature(name: str, **shapes: tuple[int, ...] | None) -> Signature:
    """A signature whose outputs have such shapes, all given by one node."""
    specs = tuple(TensorSpec(key, "a:0", "float32", shape) for key, shape in shapes.items())
    return Signature(name, "predict", (), specs)


def test_signatures_that_changed_alike_are_one() -> None:
    old = [signature(name, y=(-1, 3), z=None) for name in ("first", "second", "third")]
    new = [signature(name, y=(-1, 4), z=None) for name in ("first", "second")] + [signature("third", y=(-1, 3), z=())]
    alike, other = signature_changes(renamed(), old, new)
    assert (alike.new, alike.also) == ("first", (("second", "second"),))
    assert alike.detail["ports"] == [{"side": "output", "key": "y", "old": "float32 ?×3", "new": "float32 ?×4"}]
    assert other.detail["ports"] == [
        {"side": "output", "key": "z", "old": "float32 unknown rank", "new": "float32 scalar"}
    ]


def test_signatures_come_and_go() -> None:
    gone, come = signature_changes(renamed(), [signature("b", y=())], [signature("c", y=(), z=())])
    assert [(change.kind, change.old, change.new) for change in (gone, come)] == [
        ("removed", "b", None),
        ("added", None, "c"),
    ]
    assert come.detail["tensors"] == ["y", "z"]
    assert signature_changes(renamed(), [signature("b", y=())], [signature("b", y=())]) == []


def test_tensors_that_only_have_numbers_are_those_at_the_same_place() -> None:
    old, new = signature("f", **{"163": (4,), "164": (8,)}), signature("f", **{"164": (4,), "163": (8,)})
    assert signature_changes(renamed(), [old], [new]) == []
    (change,) = signature_changes(renamed(), [old], [signature("f", **{"164": (4,), "163": (9,)})])
    assert [(port["key"], port["new"]) for port in change.detail["ports"]] == [("164", "float32 9")]


@each(
    ("old", "new", "others"),
    [
        (Tensor((1, 2), "float32"), Tensor((1, 2), "float32"), False),
        (Tensor((1, 2), "float32"), Tensor((1, 3), "float32"), True),
        (Tensor((1, None), "float32"), Tensor((1, 3), "float32"), False),
        (Tensor((1, 2), "float32"), Tensor((1, 2, 3), "float32"), True),
        (Tensor(None, "float32"), Tensor((1, 3), "float32"), False),
        (Tensor((1, 2), "float32"), Tensor(None, "float32"), False),
        (Tensor((1, 2), "float32"), Tensor((1, 2), "int32"), True),
        (Tensor((1, 2), ""), Tensor((1, 2), "int32"), False),
        (Tensor((1, 2), "int32"), Tensor((1, 2), ""), False),
    ],
)
def test_what_is_not_known_is_no_difference(old: Tensor, new: Tensor, others: bool) -> None:
    assert _differ([old], [new]) == others
    assert _differ([old], [new, new])
    assert _tensor_words([Tensor(None, "float32"), Tensor((None, 3), "")]) == "float32 unknown rank, ?×3"
