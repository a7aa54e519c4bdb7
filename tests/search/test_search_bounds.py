"""Patterns that mean very many places inside calls: a search ends, and says after how many."""

from __future__ import annotations

import time

import pytest

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.errors import RequestError, UnknownNode
from graphviz_tb.proto import GraphDef
from tests.timing import within


def doubling(depth: int) -> Model:
    """main ─▶ f0, twice; f0 ─▶ f1, twice; … : 2, 4, 8 … places, one function each."""
    graph = GraphDef()
    for name in ("a", "b"):
        graph.node.add(name=name, op="f0")
    for number in range(depth):
        function = graph.library.function.add()
        function.signature.name = f"f{number}"
        for name in ("a", "b"):
            function.node_def.add(name=name, op=f"f{number + 1}" if number + 1 < depth else "NoOp")
    return graphviz_tb.load(graph)


def test_a_search_everywhere_ends_at_fifty_thousand_places() -> None:
    with pytest.raises(RequestError, match=r"'\*\*/nothing' means none of 50,00[0-9] places"):
        doubling(17).names.find_paths("**/nothing")


def test_a_pattern_may_mean_as_many_places_as_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    names = doubling(4).names
    monkeypatch.setattr("graphviz_tb.search.names.MAX_MATCHED_PLACES", 8)
    assert len(names.find_paths("*::*::*")) == 2 * 2 * 2
    with pytest.raises(RequestError, match=r"means more than 8 places"):
        names.find_paths("*::*::*::*")


def test_what_was_found_before_the_search_ends_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    names = doubling(6).names
    monkeypatch.setattr("graphviz_tb.search.names.MAX_MATCHED_PLACES", 3)
    assert [len(path) for path in names.find_paths("**a")][:3] == [1, 2, 2]


@pytest.mark.slow
def test_very_many_patterns_are_looked_for_in_seconds_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # 10,000 groups of two levels: gI ─ aIxbI
    graph = GraphDef(node=[{"name": f"g{i}/a{i}xbyyyyyyyyyyyyyyyyyy{i}/n", "op": "X"} for i in range(5000)])
    model = graphviz_tb.load(graph, folds=False, series_min=9999)
    patterns = tuple(f"?*/a*{i}*b*" for i in range(300))
    start = time.process_time()
    assert len(list(model.names.find_each(patterns))) == 300
    assert within(time.process_time() - start, 5)
    monkeypatch.setattr("graphviz_tb.search.names.MAX_MATCHED_NAMES", 100 * 10_000)
    again = patterns[:100] * 2  # equal ones count once
    assert len(list(model.names.find_each(again))) == 100
    for choice in ({"open": patterns[:101]}, {"select": patterns[:101]}):
        with pytest.raises(RequestError, match="101 patterns for 10,000 groups are too many"):
            model.picture(**choice).render("svg")
    # What is no pattern is looked up.
    assert len(list(model.names.find_each([f"g{i}" for i in range(500)]))) == 500


@pytest.mark.slow
def test_places_inside_calls_are_listed_once_for_all_patterns() -> None:
    names = doubling(17).names
    start = time.process_time()
    for number in range(60):
        with pytest.raises(RequestError):
            names.find_paths(f"**/nothing{number}")
    assert within(time.process_time() - start, 10)


def test_long_addresses_inside_calls_are_listed_up_to_a_number_of_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    # Inside the call every address begins with its name.
    graph = GraphDef(node=[{"name": "a" * 1000, "op": "f"}])
    function = graph.library.function.add(signature={"name": "f"})
    for number in range(50):
        function.node_def.add(name=f"x{number}/y", op="Relu")
    names = graphviz_tb.load(graph, folds=False, series_min=99).names
    monkeypatch.setattr("graphviz_tb.search.names.MAX_PLACE_LETTERS", 20_000)
    with pytest.raises(RequestError, match=r"none of 20 places in calls that were looked at"):
        names.find_paths("**nothing")
    with pytest.raises(UnknownNode):
        names.find_paths("a" * 1000 + "::nothing")
    assert len(names._candidate_names([names.find_paths("a" * 1000)[0]])) == 20
