"""Shares that decide whether two things are one: exactly so much, and just less or more."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.changes.settings import _attention_settings, _weight_words
from graphviz_tb.diff.columns.layers import Layers
from graphviz_tb.diff.match.matching import Member, Reason, node_pairs, scope_pairs
from graphviz_tb.diff.match.neighbours import _likely_layers, _plausible
from graphviz_tb.diff.match.scopes import FreeScopes, _align_scopes, _free_scopes, _is_same_inside
from graphviz_tb.diff.match.steps import _doubt_matches
from tests.diff.test_causes import graph
from tests.diff.test_limits import matching, side
from tests.each import each

LETTERS = "abcdefghij"


def flat(scope: str, *ops: str) -> list[str]:
    """Ops by themselves in a scope, named as their type."""
    return [f"{scope}/{op} {op}" for op in ops]


@pytest.mark.parametrize(("matched", "unrelated"), [(1, True), (2, False)])
def test_two_in_five_nodes_are_enough_to_be_related(matched: int, unrelated: bool) -> None:
    m = matching(graph(*flat("m", *LETTERS[:5])), graph(*flat("m", *LETTERS[:7])))
    m.take(node_pairs([(at, at) for at in range(matched)], Reason.NAME))
    for finding in _doubt_matches(m):
        m.take(finding)
    assert bool(m.notices) == unrelated


@pytest.mark.parametrize(("matched", "one"), [(1, False), (2, True)])
def test_scopes_are_one_where_half_of_their_nodes_are_matched(matched: int, one: bool) -> None:
    m = matching(graph(*flat("m", *LETTERS[:4])), graph(*flat("n", *LETTERS[:4])))
    m.take(node_pairs([(at, at) for at in range(matched)], Reason.NAME))
    assert FreeScopes(m, _free_scopes(m)[1][1:]).best_scope(1) == (1 if one else None)


@pytest.mark.parametrize(("shared", "pairs"), [(1, []), (2, [(0, 0)])])
def test_members_of_a_series_are_one_where_half_of_their_ops_are(shared: int, pairs: list[tuple[int, int]]) -> None:
    m = matching(graph(*flat("l_0", *"abcd")), graph(*flat("l_9", *"abcd"[:shared], *"pqrs"[shared:])))
    assert _align_scopes(m, ("l_", ""), [Member(0, 1)], [Member(9, 1)]) == pairs


def test_what_holds_most_of_a_scope_is_all_of_it() -> None:
    old = side(graph("a a", "b b"))
    for more, found in ((1, True), (2, False)):
        new = side(graph(*flat("q", "a", "b"), *(f"{op} {op}" for op in "xy"[:more])))
        assert (_is_same_inside(old, 0, new, 0) >= 0) == found


@pytest.mark.parametrize(("uses", "leaf", "kept"), [(2, "x", True), (1, "x", False), (1, "n", True), (0, "n", False)])
def test_a_node_without_a_neighbourhood_is_not_looked_for(uses: int, leaf: str, kept: bool) -> None:
    old = graph("p/n Relu", *(f"p/u{at} Abs p/n" for at in range(uses)))
    new = graph(f"q/{leaf} Relu", *(f"q/u{at} Abs q/{leaf}" for at in range(uses)))
    first = np.zeros(1, np.int32)
    m = matching(old, new)
    assert len(_plausible(m, first, first)[0]) == kept
    m.take(scope_pairs([(1, 1)], Reason.NAME))
    assert len(_plausible(m, first, first)[0]) == 1


def keras(*names: str) -> bytes:
    layers: list[dict[str, Any]] = [
        {"class_name": "Dense", "name": name, "config": {"name": name, "units": 2}} for name in names
    ]
    return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}}).encode()


@pytest.mark.parametrize(("shared", "kept"), [(1, 0), (2, 2)])
def test_names_with_numbers_say_something_where_half_are_the_same(shared: int, kept: int) -> None:
    old = keras("dense_1", "dense_2", "dense_3", "dense_4")
    new = keras(*["dense_9", "dense_2", "dense_1"][-shared:], *(f"other_{at}" for at in range(5 - shared)))
    source = diff(old, new).source
    assert source is not None
    assert len(_likely_layers(source.matching)) == kept


@pytest.mark.parametrize(("ops", "layers"), [(("MatMul", "Relu"), ["m/a", "m/b"]), (("MatMul", "Abs"), ["m"])])
def test_a_scope_of_two_layers_is_made_of_layers(ops: tuple[str, str], layers: list[str]) -> None:
    made = Layers(side(graph("x Placeholder", f"m/a/op {ops[0]} x", f"m/b/op {ops[1]} m/a/op")))
    assert [made.name(row) for row in np.unique(made.of_row[made.of_row >= 0])] == layers


WEIGHTS = [
    (["Conv2D"], "3×3×16×32", "5×5×16×32", (3, "kernel", "3×3", "5×5")),
    (["Conv2D"], "3×3×16×32", "3×3×16×64", (2, "filters", "32", "64")),
    (["Conv2D"], "3×3×16×32", "3×3×8×32", (0, "weight", "3×3×16×32", "3×3×8×32")),
    (["Conv2D"], "3×16×32", "5×16×32", (3, "kernel", "3", "5")),
    (["Conv2D"], "3×16×32", "3×16×64", (2, "filters", "32", "64")),
    (["DepthwiseConv2dNative"], "3×3×8×1", "3×3×8×2", (2, "filters", "1", "2")),
    (["Split"], "3×3×16×32", "5×5×16×32", (3, "kernel", "3×3", "5×5")),
    (["Split"], "3×3×16×32", "3×3×16×64", (1, "weight", "3×3×16×32", "3×3×16×64")),
    (["Einsum"], "3×16×32", "5×16×32", (0, "weight", "3×16×32", "5×16×32")),
    (["Einsum"], "3×16×32", "3×16×64", (1, "weight", "3×16×32", "3×16×64")),
    (["MatMul"], "32×64", "32×128", (2, "units", "64", "128")),
    (["MatMul"], "32×64", "16×64", (0, "weight", "32×64", "16×64")),
    (["GatherV2"], "32×64", "32×128", (2, "output_dim", "64", "128")),
    (["ResourceGather"], "32×64", "16×64", (2, "input_dim", "32", "16")),
    (["EmbeddingLookup", "Mul"], "32×64", "16×64", (2, "input_dim", "32", "16")),
    (["Mul"], "64", "128", (0, "weight", "64", "128")),
    (["MatMul"], "64", "64×64", (1, "weight", "64", "64×64")),
]


@each(("ops", "old", "new", "said"), WEIGHTS)
def test_shapes_of_weights_in_words(ops: list[str], old: str, new: str, said: tuple[int, str, str, str]) -> None:
    assert _weight_words(ops, old, new)[0] == said


def test_heads_and_their_sizes() -> None:
    assert _attention_settings([("32×4×8", "32×2×16"), ("4×8×32", "2×16×32")]) == [
        (4, "num_heads", "4", "2"),
        (3, "key_dim", "8", "16"),
    ]


def test_the_size_of_the_values_is_another_than_that_of_the_keys() -> None:
    of_values = ("16×2×8", "16×2×12")
    shapes = [of_values, ("2×8×16", "2×12×16")]
    assert _attention_settings(shapes, {of_values}) == [(3, "value_dim", "8", "12")]
    of_queries = ("16×4×8", "16×4×12")  # of grouped queries: keys and values have fewer heads
    shapes = [of_queries, of_values, ("4×8×16", "4×12×16")]
    assert _attention_settings(shapes, {of_queries}) == [(3, "key_dim", "8", "12")]
