"""Patterns with many stars are read in one pass, and mean what a regular expression says they mean."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb import load
from graphviz_tb.errors import UnknownNode
from graphviz_tb.proto import GraphDef
from graphviz_tb.search.names import SEGMENT_PATTERN, NamePattern, _matches_tokens
from tests.timing import within

TOKENS = st.lists(st.sampled_from(["a", "b", "/", ":", "::", "*", "*", "**", "?"]), max_size=9).map("".join)


@given(TOKENS, st.text("ab/:", max_size=12))
def test_one_pass_and_a_regular_expression_agree(text: str, name: str) -> None:
    pattern = NamePattern(text)
    wild = {"**": ".*", "*": SEGMENT_PATTERN, "?": "[^/]"}
    regex = re.compile("".join(wild.get(token, re.escape(token)) for token in pattern.tokens), re.DOTALL)
    assert _matches_tokens(pattern.tokens, name) == pattern.matches_name(name) == bool(regex.fullmatch(name))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "name", "fits"),
    [
        ("*a*a*a*ab", "a" * 100_000, False),
        ("*a*a*a*ab", "a" * 100_000 + "b", True),
        ("**/**/**/**/b", "x/" * 50_000, False),
        ("**a*b", "a" * 100_000, False),
        ("*a*b" * 30, "ab" * 50_000, True),
    ],
)
def test_many_stars_and_a_long_name(text: str, name: str, fits: bool) -> None:
    start = time.process_time()
    assert NamePattern(text).matches_name(name) is fits
    assert within(time.process_time() - start, 5)


@pytest.mark.slow
def test_many_stars_and_a_name_of_many_levels() -> None:
    # Every level is a group, and its name is that of all levels around it.
    graph = GraphDef(node=[{"name": "a/" * 50_000 + "x", "op": "A"}])
    names = load(graph).names
    start = time.process_time()
    with pytest.raises(UnknownNode):
        names.find_paths("*a*a*/*/*a*/*/*a*a")
    assert within(time.process_time() - start, 10)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["*a*a*a*ab", "**/**/**/**/b", "**a**a**a**ab"])
def test_a_group_is_looked_for_with_many_stars(text: str) -> None:
    graph = GraphDef(node=[{"name": f"{'a' * 400}/x", "op": "A"}, {"name": "x/" * 2000 + "y", "op": "A"}])
    start = time.process_time()
    with pytest.raises(UnknownNode):
        load(graph).names.find_paths(text)
    assert within(time.process_time() - start, 5)
