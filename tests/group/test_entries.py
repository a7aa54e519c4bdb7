"""A level's first block forks what comes from outside, as the others fork what the block before gives."""

from __future__ import annotations

import pytest

from graphviz_tb import load
from graphviz_tb.model.hierarchy import Hierarchy, Kind
from graphviz_tb.proto import GraphDef


def blocks(count: int, *, memory: bool, first: bool) -> Hierarchy:
    """query ─▶ read ─▶ + ─▶ norm ─▶ grow ─▶ shrink ─▶ + ─▶ norm ─▶ …, each + with a shortcut; `memory` goes to each
    read, and `first` is an op before the blocks."""
    graph = GraphDef()

    def op(name: str, kind: str, *inputs: str) -> str:
        graph.node.add(name=name, op=kind, input=inputs)
        return name

    x, given = op("query", "Placeholder"), op("memory", "Placeholder")
    if first:
        x = op("net/first", "Exp", x)
    for number in range(count):
        read = op(f"net/read_{number}/product", "BatchMatMul", x, given if memory else x)
        x = op(f"net/add_{number}/sum", "AddV2", x, op(f"net/read_{number}/share", "Softmax", read))
        x = op(f"net/norm_{number}/less", "Sub", op(f"net/norm_{number}/mean", "Mean", x))
        wide = op(f"net/grow_{number}/act", "Tanh", op(f"net/grow_{number}/more", "Relu", x))
        slim = op(f"net/shrink_{number}/act", "Erf", op(f"net/shrink_{number}/more", "Sigmoid", wide))
        x = op(f"net/last_{number}/sum", "AddV2", x, slim)
        x = op(f"net/last_norm_{number}/less", "Sub", op(f"net/last_norm_{number}/mean", "Mean", x))
    op("net/out/result", "Elu", op("net/mean/most", "Max", x))
    return load(graph).hierarchy


@pytest.mark.parametrize("count", [3, 6])
@pytest.mark.parametrize("memory", [False, True], ids=["alone", "memory"])
@pytest.mark.parametrize("first", [False, True], ids=["given", "made"])
def test_all_blocks_are_counted(count: int, memory: bool, first: bool) -> None:
    hierarchy = blocks(count, memory=memory, first=first)
    stacks = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == Kind.SERIES]
    assert count in [len(hierarchy.children(row)) for row in stacks]
    largest = max(stacks, key=hierarchy.ops)
    assert hierarchy.ops(largest) == 12 * count  # read 2, sum, norm 2, grow 2, shrink 2, sum, norm 2
