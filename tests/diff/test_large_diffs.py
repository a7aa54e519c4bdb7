"""Changes of thousands of parts: no part is compared with all others."""

from __future__ import annotations

import time
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.match.scopes import _match_ops, heaviest_ascending
from graphviz_tb.options import DiffOptions
from graphviz_tb.proto import GraphDef
from tests.bench.diff import multiples, pairs
from tests.flat import flatten
from tests.timing import within


def seconds(old: Any, new: Any) -> float:
    """CPU seconds that the comparison of two graphs takes."""
    start = time.process_time()
    diff(old, new)
    return time.process_time() - start


def nested(word: str, depth: int) -> Any:
    """A chain of ops, each a scope deeper than the one before."""
    made = GraphDef()
    name = ""
    for at in range(depth):
        inputs = [name] if name else []
        name = f"{f'{word}/' * (at + 1)}x{at}"
        made.node.add(name=name, op=f"Op{at}", input=inputs)
    return made


@pytest.mark.slow
def test_scopes_in_one_another_are_each_looked_at_once() -> None:
    assert within(seconds(nested("a", 500), nested("b", 500)), 9)


@pytest.mark.slow
def test_functions_called_are_filed_by_attribute() -> None:
    def calling(value: int) -> Any:
        made = GraphDef()
        node = made.node.add(name="x", op="Op")
        node.attr["value"].i = value
        for at in range(9000):
            node.attr[f"f{at}"].func.name = "f"
        made.library.function.add().signature.name = "f"
        return made

    assert within(seconds(calling(1), calling(2)), 6)


@pytest.mark.slow
def test_equal_members_of_a_series_are_counted_once() -> None:
    def series(many: int) -> Any:
        made = GraphDef()
        for number in range(many):
            made.node.add(name=f"s_{number + 1}/x", op="Relu")
        return made

    assert within(seconds(series(12_000), series(5)), 12)


@pytest.mark.slow
def test_members_of_many_series_are_taken_out_one_by_one() -> None:
    def series(first: int) -> GraphColumns:
        made = GraphDef()
        for at in range(20_000):
            # Letters alone: each pair is a series of its own.
            word = "".join(chr(ord("a") + int(digit)) for digit in str(at))
            if at < 5000:
                made.node.add(name=f"{word}_2", op="Op").attr["value"].i = first + at
            made.node.add(name=word, op="Op")
        return GraphColumns(flatten(made), DiffOptions())

    m = Matching(series(1), series(2))
    start = time.process_time()
    for found in _match_ops(m, 0, 0):
        m.take(found)
    assert within(time.process_time() - start, 6)
    assert len(m.matched_pairs()[0]) == 25_000


@pytest.mark.slow
def test_the_heaviest_chain_is_found_without_a_look_at_all_pairs_before_each() -> None:
    pairs = [(at, at) for at in range(16_000)]
    start = time.process_time()
    assert heaviest_ascending(dict.fromkeys(pairs, 1.0)) == pairs
    assert within(time.process_time() - start, 3)


def test_of_chains_of_one_weight_the_first_pairs_count() -> None:
    crossed = {(0, 1): 1.0, (1, 0): 1.0, (2, 2): 1.0, (3, 3): 0.5, (3, 4): 0.5, (4, 3): 0.5}
    assert heaviest_ascending(crossed) == [(0, 1), (2, 2), (3, 3)]
    assert heaviest_ascending({}) == []


@pytest.mark.slow
def test_edits_are_compared_only_with_renames_around_them() -> None:
    def layers(prefix: str, suffix: str, stride: int) -> Any:
        made = GraphDef()
        name = ""
        for at in range(1500):
            word = "".join(chr(ord("a") + int(digit)) for digit in str(at))
            inputs = [name] if name else []
            name = f"{prefix}{word}{suffix}/m"
            made.node.add(name=name, op="MatMul", input=inputs).attr["k"].i = at
            made.node.add(name=f"e{word}k", op="Conv2D", input=[name]).attr["strides"].i = at + stride
        return made

    assert within(seconds(layers("z", "", 0), layers("", "q", 100_000)), 12)


@pytest.mark.slow
@pytest.mark.parametrize("word", ["one op", "another type of all", "an op in seven"])
def test_the_text_of_a_diff_takes_a_few_times_as_long_as_loading_both(word: str) -> None:
    old, new = (graph.SerializeToString() for graph in pairs(11_000)[word]())
    assert multiples(old, new)[0] < 4.5  # 1.7 to 3.3 where it was measured
