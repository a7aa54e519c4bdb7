"""Stages of two streams: each block maps a pair of values to the next pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from graphviz_tb.fold.flow.order import compute_flow_order
from graphviz_tb.fold.flow.streams import order_by_blocks
from tests.fold.boxes import rows, wired
from tests.fold.nameless import Network
from tests.fold.stage_reader import score

DENSE = ("Rsqrt", "MatMul", "Relu", "MatMul")


def add(made: Network, x: str, y: str) -> str:
    return made.op("AddV2", x, y)


def joint_blocks(made: Network, x: str, y: str, count: int) -> tuple[str, str]:
    """Blocks of two streams that attend together (Esser et al. 2024)."""
    for _ in range(count):
        given = [made.chain(each, ("Rsqrt", "MatMul", "Reshape")) for each in (x, y)]
        mixed = made.chain(made.op("ConcatV2", *given), ("Softmax", "BatchMatMulV2"))
        x, y = (add(made, made.chain(mixed, ("Slice", "MatMul")), each) for each in (x, y))
        x, y = (add(made, made.chain(each, DENSE), each) for each in (x, y))
    return x, y


def pair_blocks(made: Network, x: str, y: str, count: int) -> tuple[str, str]:
    """Blocks of rows that attend with a bias from pairs, and of pairs that get the products of rows (Jumper et al.
    2021)."""
    for _ in range(count):
        bias = made.chain(y, ("Rsqrt", "MatMul", "Transpose"))
        row = made.op("AddV2", made.chain(x, ("Rsqrt", "MatMul", "BatchMatMulV2")), bias)
        x = add(made, made.chain(row, ("Softmax", "BatchMatMulV2", "MatMul")), x)
        x = add(made, made.chain(x, DENSE), x)
        y = add(made, made.chain(made.chain(x, ("Rsqrt", "MatMul")), ("Einsum", "MatMul")), y)
        y = add(made, made.chain(y, ("Rsqrt", "MatMul", "Sigmoid", "Einsum", "MatMul")), y)
        y = add(made, made.chain(y, DENSE), y)
    return x, y


@pytest.mark.parametrize("count", [4, 6])
@pytest.mark.parametrize("blocks", [joint_blocks, pair_blocks])
def test_blocks_of_two_streams_are_one_stack(blocks: Callable[..., tuple[str, str]], count: int) -> None:
    made = Network()
    x = made.chain(made.op("Placeholder"), ("Conv2D", "Reshape"))
    y = made.chain(made.op("Placeholder"), ("MatMul",))
    x, y = blocks(made, x, y, count)
    made.chain(made.op("ConcatV2", x, y), ("Mean", "MatMul", "Softmax"))
    assert score(made.model(), [count]) == (1, 1)


def test_blocks_of_two_streams_and_then_of_one_are_two_stacks() -> None:
    made = Network()
    x = made.chain(made.op("Placeholder"), ("Conv2D", "Reshape"))
    x, y = joint_blocks(made, x, made.chain(made.op("Placeholder"), ("MatMul",)), 4)
    x = made.op("ConcatV2", x, y)
    for _ in range(6):
        mixed = made.chain(x, ("Rsqrt", "MatMul", "Softmax", "BatchMatMulV2", "MatMul"))
        x = add(made, mixed, x)
        x = add(made, made.chain(x, DENSE), x)
    made.chain(x, ("Mean", "MatMul"))
    assert score(made.model(), [4, 6]) == (2, 2)


def test_both_streams_end_a_block_before_the_next_begins() -> None:
    # x (0) and y (1) meet in 3 n + 2, and go on as 3 n + 3 and 3 n + 4, each with a shortcut.
    pairs = []
    for start in range(0, 12, 3):
        x, y, meet = start, start + 1, start + 2
        pairs += [(x, meet), (y, meet), (meet, x + 3), (meet, y + 3), (x, x + 3), (y, y + 3)]
    dag = wired(15, *pairs, (12, 14), (13, 14))
    dag = replace(dag, boxes=rows(*(box.name for box in dag.boxes), symbol=0))
    found = order_by_blocks(dag, compute_flow_order(dag))
    assert found is not None
    order, ends = found
    assert [sorted(order.line[end - 1 : end + 1]) for end in ends[1:4]] == [[3, 4], [6, 7], [9, 10]]
    assert all(order.place[one] < order.place[other] for one, other in pairs)


def test_a_level_of_one_stream_has_no_blocks_of_two() -> None:
    dag = wired(20, *((box, box + 1) for box in range(19)), *((box, box + 2) for box in range(0, 18, 2)))
    assert order_by_blocks(dag, compute_flow_order(dag)) is None
