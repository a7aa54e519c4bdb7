"""Sizes that are expressions of sizes: however often they are multiplied, they stay small."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb import load
from graphviz_tb.annotate.infer.symbols import MAX_CALCULATED, SYMBOL_LIMIT, Symbols
from graphviz_tb.limits import MAX_FACTORS
from graphviz_tb.proto import GraphDef
from tests.timing import within

OPERATIONS = st.tuples(st.sampled_from(["add", "difference", "product", "quotient", "max", "floor", "span"]),
                       st.integers(0, 99), st.integers(0, 99))  # fmt: skip
NUMBERS = st.one_of(st.integers(-3, 9), st.sampled_from([MAX_CALCULATED - 1, 1 - MAX_CALCULATED, 2**40, -(2**61)]))


def calculated(symbols: Symbols, operation: str, a: int, b: int) -> int:
    """One operation of two numbers."""
    if operation == "product":
        return symbols.product([a, b])
    if operation == "quotient":
        return symbols.quotient([a], [b])
    if operation == "difference":
        return symbols.difference(a, b)
    return symbols.calculate(operation, a, b, *([1] if operation == "span" else []))


@given(st.lists(NUMBERS, min_size=1, max_size=5), st.lists(OPERATIONS, max_size=60), st.integers(1, 64))
def test_any_expression_has_a_value_that_is_no_symbol(
    numbers: list[int], steps: list[tuple[str, int, int]], size: int
) -> None:
    symbols = Symbols()
    values = [symbols.new_symbol(), symbols.new_symbol(), *numbers]
    for operation, left, right in steps:
        values.append(calculated(symbols, operation, values[left % len(values)], values[right % len(values)]))
    for value in values:
        assert -MAX_CALCULATED <= (value if value > SYMBOL_LIMIT else symbols.evaluate(value, size)) <= MAX_CALCULATED
        assert value > SYMBOL_LIMIT or symbols.evaluate(value, size) == symbols.evaluate(value, size)


def test_squares_of_squares() -> None:
    symbols = Symbols()
    value = symbols.new_symbol()
    for _ in range(200):
        value = symbols.product([value, value])
    assert symbols.product([value, value]) == symbols.product([value, value])
    assert symbols.evaluate(value, 1) == 1
    assert symbols.evaluate(value, 3) == MAX_CALCULATED


def test_a_product_of_few_factors_is_flat() -> None:
    symbols = Symbols()
    batch = symbols.new_symbol()
    flat = symbols.product([batch] * (MAX_FACTORS // 2))
    assert symbols.quotient([symbols.product([flat, batch])], [flat]) == batch


@pytest.mark.parametrize("step", [MAX_CALCULATED - 1, 1 - MAX_CALCULATED])
def test_what_is_added_to_a_symbol_never_looks_like_one(step: int) -> None:
    symbols = Symbols()
    batch = value = symbols.new_symbol()
    for _ in range(4):
        value = symbols.calculate("add", value, step)
    assert not value > SYMBOL_LIMIT
    assert SYMBOL_LIMIT < symbols.evaluate(value, 1) <= MAX_CALCULATED
    up, down = symbols.calculate("add", batch, MAX_CALCULATED - 1), symbols.calculate("add", batch, 1 - MAX_CALCULATED)
    assert symbols.difference(up, down) <= SYMBOL_LIMIT


@pytest.mark.slow
def test_a_graph_that_multiplies_a_size_by_itself() -> None:
    """1,300 bytes took gigabytes."""
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}, {"name": "s", "op": "Shape", "input": ["x"]}])
    graph.node[0].attr["shape"].shape.dim.add(size=-1)
    before = "s"
    for number in range(60):
        graph.node.add(name=f"m{number}", op="Mul" if number % 2 else "Add", input=[before, before])
        before = f"m{number}"
    graph.node.add(name="fill", op="Fill", input=[before, "x"])
    start = time.process_time()
    model = load(graph)
    assert model.cost.own
    assert model.picture().scene.boxes
    assert within(time.process_time() - start, 8)
