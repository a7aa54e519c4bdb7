"""Real graphs, changed: the list of changes is as short as the list of what was done, and tells all of it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.result import Changes
from tests.diff.apply import apply
from tests.diff.pairs import REAL, graph_def, renamed, shuffled
from tests.diff.transforms import TRANSFORMS
from tests.each import each
from tests.effort import part

FEW = [path for path in REAL if path.stem in ("mnist_cnn", "lstm_static_unrolled", "keras2_mnist", "func_library_v2")]
IDS = [path.stem for path in REAL]


def checked(old: Any, new: Any) -> Changes:
    """The changes, after both laws were tried on them."""
    changes = diff(old, new)
    assert diff(new, old).items == changes.inverse().items
    assert diff(apply(changes), new).same
    return changes


def changed(graph: Any, words: list[str], seed: int) -> tuple[Any, int]:
    """A graph with some transformations made to it, and how many changes that is at most."""
    luck, most = random.Random(seed), 0
    for word in words:
        made = TRANSFORMS[word][0](graph, luck)
        if made is not None:
            graph, most = made, most + TRANSFORMS[word][1]
    return graph, most


@each("path", part(FEW, 12), ids=lambda path: path.stem)
@each("word", part(TRANSFORMS, 3))
def test_one(path: Any, word: str) -> None:
    graph = graph_def(path)
    for seed in part(range(2), 2):
        new, most = changed(graph, [word], seed)
        assert len(checked(graph, new)) <= most


@each("path", part(REAL, 12), ids=lambda path: path.stem)
def test_three_at_once(path: Any) -> None:
    graph = graph_def(path)
    seed = IDS.index(path.stem)
    words = random.Random(seed).sample(list(TRANSFORMS), 3)
    new, most = changed(graph, words, seed)
    assert len(checked(graph, new)) <= most


@each("path", part(REAL, 12), ids=lambda path: path.stem)
def test_order_is_nothing(path: Any) -> None:
    graph = graph_def(path)
    assert diff(graph, graph).same
    assert diff(graph, shuffled(graph)).same


@each("path", part(REAL, 12), ids=lambda path: path.stem)
def test_prefix_is_one_move(path: Any) -> None:
    graph = graph_def(path)
    changes = checked(graph, renamed(graph, lambda name: f"outer/inner/{name}"))
    assert [change.kind for change in changes] == ["moved"] * bool(graph.node)


def test_same_change_is_one() -> None:
    graph, new = (graph_def(REAL[IDS.index("mnist_cnn")]) for _ in range(2))
    convs = [node for node in new.node if "strides" in node.attr and "Conv2D" in node.op]
    for node in convs:
        node.attr["strides"].list.i[1] = 3
    assert len(convs) > 1
    (change,) = checked(graph, new)
    assert (change.kind, change.detail["key"]) == ("changed", "strides")
    assert change.ops + sum(one.ops for one in change.consequences) == len(convs)  # gradients have the attribute too
    assert len(change.also) == change.ops - 1


def test_constants_count_when_asked() -> None:
    graph, new = (graph_def(REAL[IDS.index("frozen_mlp")]) for _ in range(2))
    const = next(node for node in new.node if node.op == "Const" and node.attr["value"].tensor.tensor_content)
    data = bytearray(const.attr["value"].tensor.tensor_content)
    data[0] ^= 1
    const.attr["value"].tensor.tensor_content = bytes(data)
    changes = diff(graph, new)
    assert changes.same
    assert changes.ignored == {"constants": 1}
    (change,) = diff(graph, new, include=["constants"])
    assert change.detail["key"] == "value"
    assert change.detail["old"].split("#")[0] == change.detail["new"].split("#")[0]


@pytest.mark.parametrize(
    ("old", "new"), [("xor", "word2vec_nce"), ("func_trace", "mnist_cnn"), ("while_v1", "gan_scopes")]
)
def test_unrelated(old: str, new: str) -> None:
    changes = checked(graph_def(REAL[IDS.index(old)]), graph_def(REAL[IDS.index(new)]))
    assert not changes.same
    assert all(reason for _, _, reason in changes.matches())
